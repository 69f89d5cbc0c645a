"""Selection: what is chosen within a budget, by hand; curves; the scorer; the assertion."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTRegressor
from algorithms.greedy_miser import GreedyMiserRegressor
from algorithms.pipelines import PricedPipeline
from algorithms.selection import (
    BudgetSearchCV,
    TotalCostScorer,
    assert_budget,
    cost_curve,
    cost_scorer,
    prediction_cost,
    total_cost,
)
from algorithms.selection.curve import on_frontier
from algorithms.selection.search import best_within

COSTS = [1.0, 4.0, 10.0]
GRID = {"tradeoff": [1e-4, 3e-3, 1e-2, 4.6e-2]}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=240)
    noise = rng.normal(size=(3, 240)) * np.array([[2.0], [1.0], [0.2]])
    return (truth + noise).T, truth > 0, np.repeat(np.arange(24), 10)


def classifier(**options):
    given = {"n_estimators": 8, "max_leaves": 4, "feature_costs": COSTS, "n_threads": 1}
    return CEGBClassifier(**given | options)


# --- search -----------------------------------------------------------------------------------


def accuracy(model, X, y, weight):
    return accuracy_score(y, model.predict(X), sample_weight=weight)


def measured_by_hand(X, y, folds, candidates, weight=None, score=accuracy):
    """Mean validation score and cost of each candidate."""
    weight, table = np.ones(len(y)) if weight is None else weight, []
    for params in candidates:
        fits = [
            (classifier(**params).fit(X[a], y[a], sample_weight=weight[a]), X[b], y[b], weight[b])
            for a, b in folds
        ]
        cost = [np.average(model.prediction_cost(Z), weights=w) for model, Z, _, w in fits]
        table.append((np.mean([score(*fit) for fit in fits]), np.mean(cost)))
    return np.array(table).T


def test_the_choice_is_what_one_finds_by_hand(data):
    X, y, _ = data
    folds = list(StratifiedKFold(3).split(X, y))
    score, cost = measured_by_hand(X, y, folds, [{"tradeoff": t} for t in GRID["tradeoff"]])
    assert np.ptp(cost) > 1  # else nothing is chosen by cost
    chosen = []
    for budget in (cost.min(), np.median(cost), np.inf):
        search = BudgetSearchCV(classifier(), GRID, budget=budget, cv=folds).fit(X, y)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], score)
        np.testing.assert_array_equal(search.cv_results_["mean_test_cost"], cost)
        allowed = [i for i in range(4) if cost[i] <= budget]
        best = max(allowed, key=lambda i: (score[i], -cost[i]))
        assert search.best_index_ == best
        assert search.best_params_ == {"tradeoff": GRID["tradeoff"][best]}
        assert (search.best_score_, search.best_cost_) == (score[best], cost[best])
        assert search.cv_results_["rank_test_score"][best] == 1
        assert search.cv_results_["within_budget"].sum() == len(allowed)
        whole = classifier(**search.best_params_).fit(X, y)
        np.testing.assert_array_equal(search.predict(X), whole.predict(X))
        np.testing.assert_array_equal(search.prediction_cost(X), whole.prediction_cost(X))
        assert search.score(X, y) == whole.score(X, y)
        chosen.append(best)
    assert len(set(chosen)) > 1


def test_rounds_are_measured_without_further_fits(data):
    X, y, _ = data
    fits = []

    class Counted(CEGBClassifier):
        def fit(self, X, y, **options):
            fits.append(len(X))
            return super().fit(X, y, **options)

    model = Counted(max_leaves=4, feature_costs=COSTS, n_estimators=8)
    grid = {"tradeoff": [1e-4, 1e-2]}
    each = BudgetSearchCV(model, {**grid, "n_estimators": [1, 3, 8]}, budget=10, cv=3).fit(X, y)
    fits.clear()
    search = BudgetSearchCV(model, grid, budget=10, rounds=[8, 1, 3], cv=3).fit(X, y)
    assert len(fits) == 2 * 3 + 1
    by_params = [
        {
            (p["tradeoff"], p["n_estimators"]): (score, cost)
            for p, score, cost in zip(
                s.cv_results_["params"],
                s.cv_results_["mean_test_score"],
                s.cv_results_["mean_test_cost"],
                strict=True,
            )
        }
        for s in (each, search)
    ]
    assert by_params[0] == by_params[1]
    assert search.best_params_ == each.best_params_
    assert search.cv_results_["param_n_estimators"].tolist() == [1, 3, 8] * 2
    assert len(pd.DataFrame(search.cv_results_)) == 6


def test_groups_weights_clone_and_draws(data):
    X, y, groups = data
    seen = []

    class Spy(CEGBClassifier):
        def fit(self, X, y, *, sample_weight=None):
            seen.append((frozenset(X[:, 0]), len(sample_weight)))
            return super().fit(X, y, sample_weight=sample_weight)

    search = BudgetSearchCV(
        Spy(n_estimators=2, feature_costs=COSTS),
        {"tradeoff": np.geomspace(1e-4, 1e-2, 50)},
        budget=20,
        n_iter=2,
        random_state=3,
        cv=GroupKFold(4),
    )
    again = clone(search)
    assert again.get_params()["budget"] == 20
    search.fit(X, y, groups=groups, sample_weight=np.ones(len(y)))
    for values, n_weights in seen[:-1]:
        inside = np.isin(X[:, 0], list(values))
        assert n_weights == inside.sum() == 180
        for group in range(24):  # whole or not at all
            assert inside[groups == group].all() or not inside[groups == group].any()
    assert not hasattr(again, "best_params_")
    again.fit(X, y, groups=groups, sample_weight=np.ones(len(y)))
    assert again.best_params_ == search.best_params_
    assert len(search.cv_results_["params"]) == 2


ERRORS = [[0, 9], [9, 0]]


def minus_total_cost(model, X, y, weight):
    return -np.average(total_cost(model, X, y, ERRORS), weights=weight)


def share_right(ask):
    return ask(make_scorer(accuracy_score))


# What is searched by, if `ask` makes scorers ask for weights; the same by hand; other options.
WEIGHTED = {
    "accuracy": (share_right, accuracy, {}),
    "total cost": (lambda ask: ask(TotalCostScorer(ERRORS)), minus_total_cost, {}),
    "its own score": (lambda ask: None, accuracy, {}),
    "one of several": (
        lambda ask: {"auc": ask(get_scorer("roc_auc")), "right": share_right(ask)},
        accuracy, {"refit": "right"},
    ),
    "groups": (share_right, accuracy, {"cv": GroupKFold(3)}),
    "two jobs": (share_right, accuracy, {"n_jobs": 2}),
    "rounds": (share_right, accuracy, {"rounds": [8]}),
}  # fmt: skip


def asking(routing):
    """What makes a scorer, or a model, ask for the weights of its score."""
    return lambda it: it.set_score_request(sample_weight=True) if routing else it


@pytest.mark.parametrize(
    ("case", "routing"), [(case, k % 2 == 0) for k, case in enumerate(WEIGHTED)]
)
def test_weights_reach_fit_score_and_cost(data, case, routing):
    """With metadata routing whoever asks for them gets them; without it all who take them."""
    (X, y, groups), (scoring, score, options) = data, WEIGHTED[case]
    weight, table = np.where(y, 5.0, 1.0), pd.DataFrame(X, columns=["a", "b", "c"])
    options = {"cv": StratifiedKFold(3)} | options
    given = {"sample_weight": weight} | ({"groups": groups} if case == "groups" else {})
    with sklearn.config_context(enable_metadata_routing=routing):
        model = classifier().set_params(feature_costs=dict(zip(table, COSTS, strict=True)))
        if routing:
            model.set_fit_request(sample_weight=True)
        options["scoring"] = scoring(asking(routing))
        search = BudgetSearchCV(asking(routing)(model), GRID, budget=99, **options)
        search.fit(table, y, **given)
        by_all = search.score(table, y)
    folds, candidates = options["cv"].split(X, y, groups), search.cv_results_["params"]
    wanted = measured_by_hand(X, y, list(folds), candidates, weight, score)
    name = options.get("refit", "score")
    np.testing.assert_array_equal(search.cv_results_[f"mean_test_{name}"], wanted[0])
    np.testing.assert_array_equal(search.cv_results_["mean_test_cost"], wanted[1])
    assert np.ptp(wanted[1]) > 0.1
    assert by_all == score(search.best_estimator_, table, y, np.ones(len(y)))


@pytest.mark.parametrize("scoring", [share_right, lambda ask: None], ids=["scorer", "own score"])
def test_weights_reach_the_end_of_a_pipeline(data, scoring):
    X, y, _ = data
    results = []
    with sklearn.config_context(enable_metadata_routing=True):
        ask = asking(True)
        model = ask(classifier()).set_fit_request(sample_weight=True)
        inner = make_pipeline(FunctionTransformer(), classifier(feature_costs=None))
        priced = ask(PricedPipeline(inner, feature_costs=COSTS))
        for estimator, name in (
            (model, "tradeoff"),
            (make_pipeline(FunctionTransformer(), model), "cegbclassifier__tradeoff"),
            (priced.set_fit_request(sample_weight=True), "pipeline__cegbclassifier__tradeoff"),
        ):
            grid = {name: GRID["tradeoff"]}
            search = BudgetSearchCV(estimator, grid, budget=99, scoring=scoring(ask), cv=3)
            results.append(search.fit(X, y, sample_weight=np.where(y, 5.0, 1.0)).cv_results_)
    for what in ("mean_test_score", "mean_test_cost"):
        np.testing.assert_array_equal(results[0][what], results[1][what])
        np.testing.assert_array_equal(results[0][what], results[2][what])


def test_weights_that_nobody_asked_for_are_an_error(data):
    """As of all of scikit-learn's scorers; asking is a copy's, for the scorer is everybody's."""
    X, y, _ = data
    with sklearn.config_context(enable_metadata_routing=True):
        assert cost_scorer.set_score_request(sample_weight=True) is not cost_scorer
        model = classifier().set_fit_request(sample_weight=True)
        for scorer in (cost_scorer, TotalCostScorer(ERRORS)):
            for search in (
                GridSearchCV(model, GRID, scoring={"cost": scorer}, refit=False),
                BudgetSearchCV(model, GRID, budget=9, scoring=scorer),
            ):
                with pytest.raises(UnsetMetadataPassedError, match=f"for {type(scorer).__name__}"):
                    search.fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.filterwarnings("ignore:The scoring .* does not support sample_weight")
def test_a_function_that_takes_no_weights(data):
    """The cost is not weighted, either, though the fits are."""
    X, y, _ = data
    weights = {"sample_weight": np.where(y, 5.0, 1.0)}
    scoring = lambda model, X, y: accuracy_score(y, model.predict(X))  # noqa: E731
    search = BudgetSearchCV(classifier(), {}, budget=99, scoring=scoring, cv=3).fit(X, y, **weights)
    got = cross_validate(classifier(), X, y, scoring=cost_scorer, cv=3, params=weights)
    assert search.best_cost_ == -got["test_score"].mean()


def test_a_search_in_a_search(data):
    """The weights that the outer one is given reach the inner one's fits, scores and costs."""
    X, y, _ = data
    weight = np.where(y, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = asking(True)(classifier()).set_fit_request(sample_weight=True)
        inner = BudgetSearchCV(model, GRID, budget=9, cv=2)
        scoring = {"cost": asking(True)(cost_scorer)}
        folds = list(StratifiedKFold(2).split(X, y))
        got = cross_validate(
            inner, X, y, cv=folds, scoring=scoring, params={"sample_weight": weight},
            return_estimator=True,
        )  # fmt: skip
        for (a, b), search, cost in zip(folds, got["estimator"], got["test_cost"], strict=True):
            again = clone(inner).fit(X[a], y[a], sample_weight=weight[a])
            assert search.best_params_ == again.best_params_
            np.testing.assert_array_equal(
                search.cv_results_["mean_test_cost"], again.cv_results_["mean_test_cost"]
            )
            assert cost == -np.average(again.prediction_cost(X[b]), weights=weight[b])


def test_training_rows_are_measured_too(data):
    X, y, _ = data
    options = {"cv": 3, "refit": False, "return_train_score": True}
    search = BudgetSearchCV(classifier(), GRID, budget=99, **options).fit(X, y)
    for name, scorer in (("score", None), ("cost", cost_scorer)):
        theirs = GridSearchCV(classifier(), GRID, scoring=scorer, **options).fit(X, y).cv_results_
        measured = search.cv_results_[f"mean_train_{name}"]
        np.testing.assert_array_equal(np.abs(measured), np.abs(theirs["mean_train_score"]))
    assert not hasattr(search, "best_estimator_")
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]


@pytest.mark.parametrize("error_score", [np.nan, 0.0, -1.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_what_cannot_be_fitted_costs_nobody_knows_what(data, error_score):
    X, y, _ = data
    grid = {"max_leaves": [-1, 4]}
    options = {"cv": 3, "scoring": lambda model, X, y: -2.0, "error_score": error_score}
    search = BudgetSearchCV(classifier(), grid, budget=np.inf, **options).fit(X, y)
    assert search.best_params_ == {"max_leaves": 4}
    assert np.isnan(search.cv_results_["mean_test_cost"]).tolist() == [True, False]
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    np.testing.assert_equal(search.cv_results_["mean_test_score"], [error_score, -2.0])
    with pytest.raises(ValueError, match="max_leaves must be None or a whole number"):
        search.set_params(error_score="raise").fit(X, y)


def test_through_a_pipeline(data):
    X, y, _ = data
    pipeline = make_pipeline(StandardScaler(), classifier())
    grid = {"cegbclassifier__tradeoff": GRID["tradeoff"]}
    search = BudgetSearchCV(pipeline, grid, budget=9, rounds=[2, 8], cv=3).fit(X, y)
    best = search.best_estimator_
    assert best[-1].n_estimators == search.best_params_["cegbclassifier__n_estimators"]
    scaled = best[0].transform(X)
    np.testing.assert_array_equal(search.prediction_cost(X), best[-1].prediction_cost(scaled))
    # A search is itself a step and a metered model.
    outer = make_pipeline(FunctionTransformer(), search).fit(X, y)
    np.testing.assert_array_equal(prediction_cost(outer, X), search.prediction_cost(X))
    assert search.best_cost_ <= 9


def test_missing_values_are_learned_from_or_refused(data):
    """Here they tell the class; what does not take them says so, also through pipelines."""
    X, y, _ = data
    X = np.where(y[:, None] & (np.arange(3) == 0), np.nan, X)
    search = BudgetSearchCV(classifier(), GRID, budget=3, rounds=[2, 8], cv=3).fit(X, y)
    assert (search.best_score_, search.best_cost_) == (1.0, 1.0)
    model = search.best_estimator_
    curve = cost_curve(make_pipeline(StandardScaler(), model).fit(X, y), X, y)
    assert curve["score"].iloc[-1] == model.score(X, y) == 1.0
    assert curve["cost"].tolist() == [1.0] * len(curve)
    whole = AdaBoostMH(n_estimators=2, feature_costs=COSTS)
    for step, rows in (
        (whole, X),
        (make_pipeline("passthrough", whole), pd.DataFrame(X)),
        (whole, X.astype(object).tolist()),
    ):
        with pytest.raises(ValueError, match="contains NaN"):
            BudgetSearchCV(step, {}, budget=9, cv=2).fit(rows, y)
    with pytest.raises(ValueError, match="contains NaN"):
        cost_curve(whole.fit(data[0], y), X, y)
    filled = make_pipeline(SimpleImputer(), whole)
    assert BudgetSearchCV(filled, {}, budget=np.inf, cv=2).fit(X, y).best_score_ > 0.5


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (classifier(), {"budget": 0.5}, ValueError, r"below the cheapest candidate, \{.*prediction "
         r"cost is 1"),
        (classifier(), {"budget": -1}, ValueError, "budget must be a finite number >= 0"),
        (classifier(), {"budget": 5, "rounds": [0]}, ValueError, "rounds must be a whole number"),
        (classifier(), {"budget": 5, "rounds": 3}, ValueError, "rounds must be None or a list"),
        (classifier(), {"budget": 5, "scoring": ["f1"]}, ValueError, "to choose by, 'f1'; got T"),
        (classifier(), {"budget": 5, "refit": len}, ValueError, "refit must be True or False, or"),
        (classifier(), {"budget": 5, "scoring": {"cost": "f1"}, "refit": "cost"}, ValueError,
         "call no score 'cost'"),
        (LogisticRegression(), {"budget": 5}, TypeError, "LogisticRegression has no prediction_c"),
    ],
)  # fmt: skip
def test_refusals_are_sentences(data, model, options, error, message):
    X, y, _ = data
    grid = {"tradeoff": [3e-2]} if isinstance(model, CEGBClassifier) else {"C": [1.0]}
    with pytest.raises(error, match=message):
        BudgetSearchCV(model, grid, cv=2, **options).fit(X, y)


def test_ties_go_to_the_cheaper_then_the_first():
    assert best_within([1.0, 2.0, 2.0, 2.0], [1.0, 5.0, 4.0, 4.0], 5) == 2
    assert best_within([1.0, np.nan], [1.0, 0.5], 1) == 0
    assert best_within([1.0], [2.0], 1.9) == -1


# --- scorer, curve, assertion -------------------------------------------------------------------


def test_the_scorer_stands_beside_others(data):
    X, y, _ = data
    results = cross_validate(
        classifier(), X, y, cv=2, scoring={"accuracy": "accuracy", "cost": cost_scorer}
    )
    trained, held_out = next(StratifiedKFold(2).split(X, y))
    model = classifier().fit(X[trained], y[trained])
    assert results["test_cost"][0] == -model.prediction_cost(X[held_out]).mean()

    class Wrong(LogisticRegression):
        def prediction_cost(self, X):
            return [1.0]

    with pytest.raises(ValueError, match="one number for each of 240 rows"):
        cost_scorer(Wrong().fit(X, y), X)


def test_a_curve_is_the_model_cut_short(data):
    X, y, _ = data
    model = make_pipeline(StandardScaler(), classifier()).fit(X, y)
    scaled = model[0].transform(X)
    for scoring, score_of in (
        (None, lambda m: accuracy_score(y, m.predict(scaled))),
        ("roc_auc", lambda m: roc_auc_score(y, m.decision_function(scaled))),
        (lambda m, X, y: -np.mean(m.predict_proba(X)[:, 0]), None),
    ):
        curve = cost_curve(model, X, y, scoring=scoring)
        assert curve["rounds"].tolist() == list(range(1, 9))
        if score_of is None:
            score_of = lambda m: -np.mean(m.predict_proba(scaled)[:, 0])  # noqa: E731
        for row in curve.itertuples():
            shorter = model[-1].first_rounds(row.rounds)
            assert row.score == score_of(shorter)
            assert row.cost == shorter.prediction_cost(scaled).mean()
        for row in curve.itertuples():
            better = (curve.score >= row.score) & (curve.cost <= row.cost)
            better &= (curve.score > row.score) | (curve.cost < row.cost)
            assert row.on_frontier == (not better.any())
    dearer = cost_curve(model, X, y, feature_costs=np.multiply(COSTS, 2))
    np.testing.assert_allclose(dearer["cost"], 2 * curve["cost"])


def test_curves_of_regressors_and_refusals(data):
    X, _, _ = data
    model = GreedyMiserRegressor(n_estimators=3, feature_costs=COSTS).fit(X, X[:, 1])
    assert cost_curve(model, X, X[:, 1])["score"].iloc[-1] == model.score(X, X[:, 1])
    with pytest.raises(TypeError, match="LogisticRegression has no staged_predict"):
        cost_curve(LogisticRegression(), X, X[:, 1])
    with pytest.raises(ValueError, match="has no rounds"):
        cost_curve(CEGBRegressor(n_estimators=0).fit(X, X[:, 1]), X, X[:, 1])
    assert on_frontier([1, 1, 1, 0, np.nan], [2, 2, 3, 1, 0]).tolist() == [True] * 2 + [
        False, True, False]  # fmt: skip


def test_the_assertion_says_what_it_measured(data):
    X, y, _ = data
    model = classifier().fit(X, y)
    score, cost = assert_budget(model, X, y, min_score=0.5, max_cost=15)
    assert (score, cost) == (model.score(X, y), model.prediction_cost(X).mean())
    with pytest.raises(AssertionError, match=rf"cost {cost:.6g} is above max_cost=0.5 \(score "):
        assert_budget(model, X, y, max_cost=0.5)
    with pytest.raises(AssertionError, match=r"score .* below min_score=1.5 and the mean"):
        assert_budget(model, X, y, min_score=1.5, max_cost=0)
    assert_budget(model, X, y, min_score=-1, scoring=lambda m, X, y: -0.5)
    with pytest.raises(ValueError, match="needs min_score, max_cost or both"):
        assert_budget(model, X, y)
    with pytest.raises(ValueError, match="min_score must be a number"):
        assert_budget(model, X, y, min_score="high")


def test_prices_in_decimals_are_within_their_sum():
    """Three features of 0.1 are within 0.3, in the assertion and in the search."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + X[:, 1] + X[:, 2]
    model = GBRTRegressor(n_estimators=5, feature_costs=[0.1, 0.1, 0.1], min_samples_leaf=2)
    model.fit(X, y)
    np.testing.assert_allclose(model.prediction_cost(X), 0.3)
    assert assert_budget(model, X, y, max_cost=0.3).cost > 0.3
    with pytest.raises(AssertionError, match="above max_cost"):
        assert_budget(model, X, y, max_cost=0.2999999)
    assert best_within([0.5, 0.6], [0.1, 0.1 + 0.2], 0.3) == 1
    assert best_within([0.5, 0.6], [0.1, 0.3001], 0.3) == 0
    search = BudgetSearchCV(model, {"max_depth": [3]}, budget=0.3, n_iter=1, cv=2)
    assert search.fit(X, y).cv_results_["within_budget"].all()
