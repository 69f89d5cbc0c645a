"""Every method of the one list: it trains, predicts and is billed; or says why it cannot."""

import dataclasses
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from experiments.compare.metrics import mean_cost, units
from experiments.methods import cascades, facts, libraries, optimal_trees, two_classes
from experiments.methods.facts import Facts
from experiments.methods.problem import Part, Problem
from experiments.methods.subsets import price_of, prices_of
from experiments.methods.table import METHODS
from experiments.methods.users_class import of_the_user
from tests.experiments.compare.own_methods import Careless

DRAW = {"u": [0.5, 0.5, 0.5, 0.5, 0.5], "rounds": 12, "seed": 3}


def made(task="classification", n_classes=2, n=240, groups=None, prices=(1.0, 3.0, 8.0)):
    """A problem of three features, the dearest of which tells most."""
    rng = np.random.default_rng(n_classes)
    truth, parts = rng.normal(size=n), {}
    X = np.round(truth[:, None] + rng.normal(size=(n, 3)) * [2.0, 0.8, 0.1], 2)
    edges = np.quantile(truth, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.digitize(truth, edges)
    y = y.astype(np.float64) if task == "ranking" else np.array(list("abcdefg"))[y]
    query = np.arange(n) // 6 if task == "ranking" else None
    for k, part in enumerate(("train", "valid", "test")):
        rows = slice(k * n // 3, (k + 1) * n // 3)
        of = None if query is None else query[rows]
        frame = pd.DataFrame(X[rows], columns=["cheap", "middling", "dear"])
        parts[part] = Part(frame, y[rows], of, of, None)
    metric = "ndcg@5" if task == "ranking" else "accuracy"
    group_costs = None if groups is None else dict.fromkeys(groups, 2.0)
    return Problem(task, metric, parts, np.array(prices), groups, group_costs, 0.0, {})


PROBLEMS = {
    "two classes": made(),
    "three classes": made(n_classes=3),
    "ranking": made("ranking", 3),
    "in groups": made(groups=["a", "b", "b"]),
}


def read_by_trials(problem):
    """Bytes of all rows and prices."""
    rows = [np.asarray(v) for part in problem.parts.values() for v in vars(part).values()]
    return pickle.dumps((rows, problem.names, problem.prices))


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_method_trains_or_says_why_not(name):
    problem = PROBLEMS[name]
    before = read_by_trials(problem)
    known, trained = Facts.of(problem), []
    valid, total = problem.parts["valid"], float(problem.feature_costs.sum()) + 4.0
    for method in METHODS.values():
        if method.why_not(known):
            continue
        draw = DRAW | ({"tradeoff": 1e-4} if method.has_tradeoff else {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = method.train(problem, draw)
            assert model.cuts, method.slug
            last, score = model.cuts[-1], 0.0
            for answer, costs in model.follow(valid):
                assert len(answer) == len(costs) == len(valid)
                assert 0 <= mean_cost(valid, costs) <= total
                score = max(score, units(problem.metric, valid, answer).score())
            model.only(last)
            ((again, paid),) = model.follow(valid)
        np.testing.assert_array_equal(again, answer)
        np.testing.assert_array_equal(paid, costs)
        if not method.chooses_features:  # the little that was drawn may buy what tells least
            trained.append((method.slug, score))
    worst = {"ranking": 0.5, "three classes": 0.4}.get(name, 0.6)
    assert [known for known in trained if known[1] <= worst] == []
    assert len(trained) >= 8  # of the suite, without other libraries
    assert read_by_trials(problem) == before


def test_what_a_users_class_writes_into_is_its_own():
    problem = made("ranking", 3, groups=["a", "b", "b"])
    parts = {
        name: dataclasses.replace(part, weight=np.full(len(part), 2.0))
        for name, part in problem.parts.items()
    }
    problem = dataclasses.replace(problem, parts=parts)
    before = read_by_trials(problem)
    train, draw = problem.parts["train"], {"method": f"{Careless.__module__}:Careless", "seed": 0}
    for _ in range(2):
        careless = of_the_user(problem, draw)
        model = careless.model(0.0)
        sums = (train.X["dear"].sum(), train.y.sum(), train.weight.sum(), train.query.sum())
        assert (model.read, model.paid) == (sums, (12.0 + 4.0, ("a", "b", "b")))
        for part in (train, problem.parts["valid"], problem.parts["test"]):
            ((answer, costs),) = careless.follow(part)
            np.testing.assert_array_equal(answer, part.X["dear"])
            np.testing.assert_array_equal(costs, np.abs(answer))
    assert read_by_trials(problem) == before


def test_reasons_in_a_few_words():
    two, three, ranking, grouped = (Facts.of(problem) for problem in PROBLEMS.values())
    assert METHODS["cronus"].why_not(three) == "it tells 2 classes apart, and there are 3"
    assert METHODS["cronus"].why_not(ranking) == ""
    assert METHODS["mddag"].why_not(ranking) == "not for ranking"
    missing = dataclasses.replace(two, some_missing=True)
    assert METHODS["fcboost"].why_not(missing) == "it does not support missing values"
    alike = dataclasses.replace(two, n_prices=1)
    why = "all features have one price, by which its stages differ"
    assert METHODS["raykar_cascade"].why_not(alike) == why
    weighted = dataclasses.replace(two, weighted=True)
    assert METHODS["budget_prune"].why_not(weighted) == facts.no_weights(weighted) != ""
    for slug in ("catboost_per_object", "lightgbm_cegb"):  # at the price of feature and group
        assert not METHODS[slug].installed() or METHODS[slug].why_not(grouped) == ""
    wide = dataclasses.replace(two, n_features=31)
    assert facts.optimal_tree(wide) == "its search takes too long on 31 columns: 30 at most"
    assert facts.optimal_tree(weighted) == "it takes no weights of rows"
    assert (two.n_prices, grouped.n_prices) == (3, 3)


@pytest.mark.slow
def test_versions_of_libraries():
    """Also of one whose package has another name, as XGBoost's has."""
    assert METHODS["cegb"].its_version() == {}
    for slug in ("xgboost", "catboost", "lightgbm", "streed"):
        if METHODS[slug].installed():
            (version,) = METHODS[slug].its_version().values()
            assert version[0].isdigit()


def test_what_is_relevant_is_cut_nearest_to_halves():
    grades = np.array([0, 0, 0, 0, 1, 1, 2, 3])
    np.testing.assert_array_equal(two_classes.relevant(grades), grades >= 1)
    np.testing.assert_array_equal(two_classes.relevant(np.array([0, 1, 2, 2, 2])), [0, 0, 1, 1, 1])


def test_price_limits_rise_and_end_at_the_dearest():
    limits = cascades.price_limits(PROBLEMS["two classes"], 1.0)["price_limits"]
    assert limits == sorted(set(limits))
    assert limits[-1] == 8.0
    assert cascades.price_limits(PROBLEMS["in groups"], 0.0)["price_limits"][-1] == 10.0


def test_the_early_stop_is_lightgbms_own():
    lightgbm = pytest.importorskip("lightgbm")
    problem = PROBLEMS["two classes"]
    early = libraries.lightgbm_early_stop(problem, DRAW)
    rows = problem.parts["test"].X.to_numpy()
    shape = early.parameters
    options = {"learning_rate": shape["learning_rate"], "num_leaves": shape["max_leaves"]}
    model = lightgbm.LGBMClassifier(
        **options, min_child_samples=shape["min_samples_leaf"], n_estimators=12, random_state=3,
        deterministic=True, force_col_wise=True, n_jobs=1, verbosity=-1,
    )  # fmt: skip
    model.fit(problem.parts["train"].X.to_numpy(), problem.parts["train"].y == "b")
    margin, every = 1.0, early.parameters["every"]
    likelihood = float(libraries.likelihoods(np.array([margin]))[0])
    own = model.booster_.predict(
        rows, pred_early_stop=True, pred_early_stop_freq=every, pred_early_stop_margin=margin
    )
    ours = early.model(likelihood)
    assert (ours.exits(rows).rounds < 12).any()
    np.testing.assert_array_equal(ours.predict(rows) == "b", own > 0.5)


def _cheapest(X, y, depth, asked, price, fewest):
    """Least errors and price of any tree of a depth, by trying all; `asked` was paid already."""
    least = len(y) - np.unique(y, return_counts=True)[1].max(initial=0)
    for m in range(X.shape[1] if depth else 0):
        for cut in np.unique(X[:, m])[:-1]:
            left = X[:, m] <= cut
            if min(left.sum(), (~left).sum()) < fewest:
                continue
            paid = price(asked | {m}) - price(asked)
            below = (depth - 1, asked | {m}, price, fewest)
            parts = [_cheapest(X[side], y[side], *below) for side in (left, ~left)]
            least = min(least, paid * len(y) + sum(parts))
    return least


def test_no_tree_errs_and_costs_less_than_streeds():
    pytest.importorskip("pystreed")
    prices = prices_of(made(groups=["a", "b", "b"]))
    for seed, tradeoff in enumerate([1e-4, 1e-3, 0.02]):
        problem = made(groups=["a", "b", "b"])
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, size=(40, 3)).astype(np.float64)
        y = np.where(rng.random(40) < 0.2, rng.integers(0, 3, 40), X[:, 0] * X[:, 2] % 3)
        train = Part(pd.DataFrame(X, columns=problem.names), y, None, None, None)
        problem = dataclasses.replace(problem, parts={**problem.parts, "train": train})
        draw = DRAW | {"tradeoff": tradeoff, "u": [0.5, 0.3, 0.0, 0.5, 0.5]}  # 2 deep, 2 rows
        model = optimal_trees.streed(problem, draw)
        ((answer, costs),) = model.follow(train)  # none is a lone leaf
        found = np.sum(answer != y) + tradeoff * costs.sum()
        best = _cheapest(
            X, y, 2, frozenset(), lambda asked, t=tradeoff: t * price_of(prices, sorted(asked)), 2
        )
        assert found == pytest.approx(best)


def test_cuts_are_where_answers_change():
    column = np.array([0.0, 1.0, 1.0, 2.0, 3.0, 4.0])
    cuts = optimal_trees.cuts_of(column, np.array([0, 0, 0, 1, 1, 0]), 2)
    np.testing.assert_array_equal(cuts, [1.5, 3.5])
    assert len(optimal_trees.cuts_of(np.ones(6), np.arange(6) % 2, 3)) == 0


def test_a_deep_optimal_tree_has_as_many_cuts_as_can_be_searched():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 30)), rng.integers(0, 2, size=400)
    for depth, n in ((2, 12), (3, 12), (4, 2)):
        found, cuts = optimal_trees.affordable_cuts(X, y, 12, depth)
        assert found == n
        assert max(map(len, cuts)) == n
    assert optimal_trees.affordable_cuts(X[:, :3], y, 12, 4)[0] == 12
