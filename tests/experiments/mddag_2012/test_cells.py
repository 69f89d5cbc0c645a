"""What the cells of MDDAG's figures measure, computed another way."""

import itertools
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.frozen import FrozenEstimator

import datasets
from algorithms.adaboost_mh import AdaBoostMH
from algorithms.metrics import ndcg_letor_at_k
from experiments.cell import Cell
from experiments.mddag_2012.cells import (
    cascades,
    dags,
    documents,
    gap_filling,
    paths,
    shares,
    variants,
    windows,
)
from experiments.mddag_2012.cells.measure import FAMILIES, run_cell
from experiments.mddag_2012.cells.ndcg import MeanNDCG
from experiments.mddag_2012.cells.operating import FPRS
from experiments.mddag_2012.show import panels
from experiments.mddag_2012.show.panels import PANELS, make_cell

PANEL = PANELS[0]
EPISODES = 5_000


def tiny(n=300):
    """Four Haar-like features and one that is none; 40 % objects."""
    rng = np.random.default_rng(5)
    parts = {}
    for part in ("train", "valid", "test"):
        y = (rng.random(n) < 0.4).astype(np.int64)
        X = rng.integers(0, 40, (n, 5)) + np.outer(y, [9, 0, 12, 4, 90])
        parts |= {f"X_{part}": X.astype(float), f"y_{part}": y}
    return datasets.Dataset(
        name="tiny",
        task="binary",
        feature_costs=np.ones(5),
        cost_unit="features",
        cost_origin="a test",
        feature_names=("haar_a", "haar_b", "haar_c", "haar_d", "hog_0"),
        **parts,
    )


@pytest.fixture(scope="module")
def dataset():
    return tiny()


def cell_of(family, **changed):
    if family == "mddag":
        changed = {
            "n_episodes": EPISODES,
            "betas": [0.05, 0.005],
            "betas_of_shares": [0.05, 0.005],
            **changed,
        }
    return make_cell("smoke", PANEL, family, 0, **changed)


@pytest.fixture(scope="module")
def tables(dataset):
    return {family: pd.DataFrame(run_cell(cell_of(family), dataset)) for family in FAMILIES}


# --- windows --------------------------------------------------------------------------------------


def test_only_haar_features_as_bytes(dataset):
    train = windows.windows_of(dataset, "train")
    assert train.X.dtype == np.uint8
    np.testing.assert_array_equal(train.X, dataset.X_train[:, :4])
    np.testing.assert_array_equal(train.background, dataset.y_train == 0)
    half = datasets.Dataset(**{**vars(dataset), "X_train": dataset.X_train + 0.5})
    with pytest.raises(ValueError, match="no bytes"):
        windows.windows_of(half, "train")
    none = datasets.Dataset(**{**vars(dataset), "feature_names": tuple("abcde")})
    with pytest.raises(ValueError, match="no Haar-like features"):
        windows.haar_columns(none)


def test_boosting_the_tested_columns_alone_gives_the_same_stumps():
    rng = np.random.default_rng(2)
    X = np.asfortranarray(rng.integers(0, 9, (200, 30)).astype(np.uint8))
    X[:, 7] = X[:, 3]  # a tie between columns
    y = (X[:, 3].astype(int) + X[:, 9] + rng.integers(0, 6, 200) > 10).astype(np.int64)
    train = windows.Windows(X, y)
    model, used = windows.boosted(train, 12)
    whole = AdaBoostMH(n_estimators=12).fit(X, y)
    assert len(used) < 30
    np.testing.assert_array_equal(used[model.stumps_.feature], whole.stumps_.feature)
    np.testing.assert_array_equal(model.decision_function(X[:, used]), whole.decision_function(X))


def test_weights_give_objects_their_share():
    rng = np.random.default_rng(0)
    part = windows.Windows(np.zeros((2000, 1), dtype=np.uint8), (rng.random(2000) < 0.67) * 1)
    assert windows.weights_of(part, None) is None
    weights = windows.weights_of(part, 0.49)
    assert np.average(part.y, weights=weights) == pytest.approx(0.49, abs=0.01)
    heavy = windows.weights_of(part, 0.49, 5.0)
    ratio = [w[part.y == 0][0] / w[part.y == 1][0] for w in (weights, heavy)]
    assert ratio[1] / ratio[0] == pytest.approx(5, rel=0.05)
    only_heavy = windows.weights_of(part, None, 5.0)
    assert set(only_heavy) == {16.0, 80.0}


def test_gaps_at_few_evaluations_are_filled():
    """A method that evaluates 100 λ²: of λ = 0.1 and 0.5, costs of 1 and 25, those between."""
    lines = {("a",): {x: gap_filling.trace(100 * x * x) for x in (0.1, 0.5, 0.7)}}
    lines["b",] = {0.9: gap_filling.trace(81.0)}
    tried = list(gap_filling.filled(lines, lambda line, at: 100 * at * at))
    assert {line for line, _ in tried} == {("a",)}
    costs = gap_filling.known_costs(lines)
    assert all(gap[0] >= 6 or gap[1] <= 1.5 for gap in gap_filling.gaps_between(costs))
    assert len(tried) <= 6


def test_a_gap_without_models_is_given_up():
    """Of a method that evaluates one or ten, whatever it is given."""
    lines = {("a",): {x: gap_filling.trace(1.0 if x < 0.3 else 10.0) for x in (0.1, 0.5)}}
    tried = list(gap_filling.filled(lines, lambda line, at: 1.0 if at < 0.3 else 10.0))
    assert len(tried) == 8


# --- Figure 2 -------------------------------------------------------------------------------------


def operated(train, test, scores_train, scores_test):
    """TPR at every rate by trying every threshold there is."""
    rates = {}
    for suffix, rate in FPRS.items():
        background = scores_test[test.background]
        theta = min(t for t in background if np.mean(background > t) <= rate + 1e-12)
        p = (rate - np.mean(background > theta)) / np.mean(background == theta)
        for name, part, scores in (("train", train, scores_train), ("test", test, scores_test)):
            mine = scores[~part.background]
            found = [1.0 if s > theta else p if s == theta else 0.0 for s in mine]
            rates[f"{name}_tpr_{suffix}"] = np.mean(found)
    return rates


def test_adaboost_rows_are_those_of_shorter_models(dataset, tables):
    rows = tables["adaboost"]
    assert rows["size"].tolist() == list(range(1, 21))
    train, test = (windows.windows_of(dataset, part) for part in ("train", "test"))
    for j in (1, 4, 20):
        model = AdaBoostMH(n_estimators=j).fit(train.X, train.y)
        expected = operated(
            train, test, model.decision_function(train.X), model.decision_function(test.X)
        )
        row = rows[rows["setting"] == j].iloc[0]
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, rel=1e-5)
        assert row["test_evaluations"] == row["train_evaluations"] == j


def test_every_family_has_its_settings(tables):
    for family in ("viola_jones", "fcboost", "bourdev_cascade"):
        settings = tables[family]["setting"].tolist()
        assert settings == list(range(len(settings)))
        assert len(settings) >= panels.settings("smoke") == 4
        assert set(tables[family]["method"]) == {family}
    runs = tables["mddag"][tables["mddag"]["node"] < 0]
    assert set(runs["method"]) == set(dags.DETECTORS)
    grid = runs[runs["setting"] < 4]
    for _, mine in grid.groupby("method"):
        pairs = zip(mine["negative_weight"], mine["tradeoff"], strict=True)
        assert list(pairs) == [(1.0, 0.05), (1.0, 0.005), (5.0, 0.05), (5.0, 0.005)]


def test_policies_are_measured_row_by_row(dataset, tables):
    cell = cell_of("mddag")
    train = windows.windows_of(dataset, "train")
    pool, used = windows.boosted(train, cell.params["n_estimators"])
    train, test = (windows.windows_of(dataset, p).of_columns(used) for p in ("train", "test"))
    rows = tables["mddag"]
    for method in ("mddag_i", "mddag_exp_slow"):
        for setting, (weight, beta) in enumerate(itertools.product((1.0, 5.0), (0.05, 0.005))):
            given = {**dags.METHODS[method], "beta": beta, "negative_weight": weight}
            model, _ = dags.policy(cell, pool, train, None, given)
            row = rows[(rows["method"] == method) & (rows["setting"] == setting)].iloc[0]
            answers = (
                pool.stumps_.alpha
                * np.where(test.X[:, pool.stumps_.feature] > pool.stumps_.threshold, 1.0, -1.0)
                * pool.stumps_.votes[:, 0]
            )
            taken = np.asarray(model.classification_path(test.X).todense())
            scores = (answers * taken).sum(axis=1)
            np.testing.assert_allclose(model.decision_function(test.X), scores, atol=1e-6)
            evaluated = taken.sum(axis=1)
            assert row["test_evaluations"] == pytest.approx(
                evaluated[test.background].mean(), rel=1e-5
            )
            margin = np.where(test.y == 1, scores, -scores)
            zero_one = dags.METHODS[method]["reward"] == "zero_one"
            losses = (margin < 1e-9) if zero_one else np.exp(-margin)
            losses = np.where(test.y == 1, 1.0, weight) * losses
            expected = losses.mean() + beta * evaluated.mean()
            assert row["test_objective"] == pytest.approx(expected, abs=1e-4)
            assert row["train_objective"] == pytest.approx(model.objective_, rel=1e-4)


def test_windows_of_cascades_rank_by_stage_then_score(dataset):
    parts = windows.windows_of(dataset, "train"), windows.windows_of(dataset, "test")
    model = cascades.BourdevCascadeClassifier(n_stages=5, detection_rate=0.9)
    model.fit(parts[0].X, parts[0].y)
    seen = cascades.seen_by(model, parts)
    pairs, ranks = [], []
    for part, scored in zip(parts, seen, strict=True):
        exits = model.exits(part.X)
        pairs += list(zip(exits.stage.tolist(), exits.scores.tolist(), strict=True))
        ranks += scored.scores.tolist()
        np.testing.assert_array_equal(scored.evaluations, model.evaluations(part.X))
    order = np.argsort(ranks, kind="stable")
    ordered = [pairs[i] for i in order]
    assert ordered == sorted(ordered)
    for i, j in pairwise(order):
        assert (ranks[i] == ranks[j]) == (pairs[i] == pairs[j])


# --- paths ----------------------------------------------------------------------------------------


def test_multiplicities_are_paths_counted_naively():
    rng = np.random.default_rng(0)
    taken = rng.random((50, 9)) < 0.4
    lists = paths.node_lists(sparse.csr_matrix(taken))
    assert lists == [tuple(np.flatnonzero(row).tolist()) for row in taken]
    counted = Counter()
    for row in taken:
        for a in range(9):
            for b in range(a + 1, 9):
                counted[a, b] += bool(row[a] and row[b] and not row[a + 1 : b].any())
    assert paths.edges(lists) == Counter({e: n for e, n in counted.items() if n})
    np.testing.assert_array_equal(paths.visits(lists, 9), taken.sum(axis=0))


def test_edges_of_the_dag_are_those_of_the_positives(dataset):
    rows = pd.DataFrame(run_cell(cell_of("mddag", dag=[1]), dataset))
    listed = rows[rows["node"] >= 0]
    assert set(listed["setting"]) <= {1}
    assert (listed["node"] >= 1).all()
    assert (listed["next"] > listed["node"]).all()
    cell, train = cell_of("mddag"), windows.windows_of(dataset, "train")
    pool, used = windows.boosted(train, cell.params["n_estimators"])
    train = train.of_columns(used)
    model, _ = dags.policy(cell, pool, train, None, {**dags.METHODS["mddag_i"], "beta": 0.005})
    evaluated = model.evaluations(train.X[train.y == 1])
    assert listed["paths"].sum() == np.maximum(evaluated - 1, 0).sum()


# --- Figure 3 -------------------------------------------------------------------------------------


def test_averaged_ndcg_is_the_mean_over_places():
    rng = np.random.default_rng(1)
    sizes = [1, 6, 25, 40]
    query = np.repeat([4, 0, 9, 2], sizes)
    grades, scores = rng.integers(0, 3, 72), rng.integers(0, 8, 72).astype(float)
    grades[1:7] = 0  # a query without a relevant document
    each = [
        np.mean(
            [ndcg_letor_at_k(grades, scores, query, k, per_query=True)[q] for k in range(1, n + 1)]
        )
        for q, n in enumerate(sizes)
    ]
    assert each[1] == 0
    assert MeanNDCG(grades, query)(scores) == pytest.approx(np.mean(each), rel=1e-12)


def documents_of(n=240):
    """Queries of twelve documents of three grades, in all parts alike."""
    rng = np.random.default_rng(8)
    grade = rng.choice(3, n, p=[0.6, 0.25, 0.15])
    X = rng.normal(size=(n, 4)) + np.outer(grade, [1.0, 0.4, 0.0, 0.7])
    parts = ("train", "valid", "test")
    return datasets.Dataset(
        name="ranked",
        task="ranking",
        feature_costs=np.ones(4),
        cost_unit="features",
        cost_origin="a test",
        feature_names=tuple("abcd"),
        **{f"X_{part}": X for part in parts},
        **{f"y_{part}": grade.astype(float) for part in parts},
        **{f"query_{part}": np.arange(n) // 12 for part in parts},
    )


def test_half_of_a_documents_first_weight_is_on_its_own_grade():
    """The first base classifier is best for such weights, by the reference."""
    ranked = documents_of()
    pool = documents.ranking_pool(ranked, 3)
    given = {"n_estimators": 3, "weak_learner": "hamming_tree", "n_leaves": 8}
    grades = ranked.y_train.astype(np.int64)
    balanced, uniform = (
        AdaBoostMH(**given, initial_weights=kind).fit(ranked.X_train, grades)
        for kind in ("balanced", "uniform")
    )
    scores = pool.decision_function(ranked.X_train)
    np.testing.assert_array_equal(scores, balanced.decision_function(ranked.X_train))
    assert not np.array_equal(scores, uniform.decision_function(ranked.X_train))
    # Half on the own grade lets f = 0 mean log-odds of -log 2: all grades are as likely.
    likely = 1 / (1 + 2 * np.exp(-2 * scores))
    expected = (likely * [0, 1, 2]).sum(axis=1) / likely.sum(axis=1)
    np.testing.assert_allclose(documents.grades_of(scores, pool.classes_), expected, rtol=1e-10)


@pytest.mark.parametrize("method", ["mddag_exp", "mddag_exp_shares"])
def test_documents_are_ranked_by_scores_that_are_no_shares(method):
    ranked = documents_of()
    params = {"panel": "b", "n_estimators": 20, "methods": [method], "n_episodes": EPISODES}
    params |= {"betas": [1e-3], "betas_of_shares": [1e-3]}
    cell = Cell("ranked", "mddag", params, 0)
    (row,) = documents.run_cell(cell, ranked)
    pool = documents.ranking_pool(ranked, 20)
    total = pool.trees_.alpha.sum() if method == "mddag_exp_shares" else 1.0
    asked, given = shares.as_asked(pool, dags.METHODS[method])
    assert asked.trees_.alpha.sum() == pytest.approx(pool.trees_.alpha.sum() / total)
    model = dags.MDDAGClassifier(
        FrozenEstimator(asked), beta=1e-3, n_episodes=EPISODES, random_state=0, **given
    )
    model.fit(ranked.X_train, ranked.y_train.astype(np.int64))
    taken = np.asarray(model.classification_path(ranked.X_test).todense())
    stages = [s.copy() for s in pool.staged_decision_function(ranked.X_test)]
    votes = np.diff([np.zeros_like(stages[0]), *stages], axis=0)  # of each base classifier
    scores = np.einsum("jnk,nj->nk", votes, taken.astype(float))
    by_hand = documents.grades_of(np.round(scores, 9), pool.classes_)
    judge = MeanNDCG(ranked.y_test, ranked.query_test)
    assert row["test_ndcg"] == pytest.approx(judge(np.round(by_hand, 6)), abs=1e-3)
    assert row["test_evaluations"] == pytest.approx(model.evaluations(ranked.X_test).mean())


# --- choices --------------------------------------------------------------------------------------


LOSSES_OF_OUR_OWN = ("tie_is_right", "literal_exponential")  # each compiles a solver of its own


def test_variants_of_the_choices_are_measured_by_the_same_objective(dataset):
    names = [name for name in variants.VARIANTS if name not in LOSSES_OF_OUR_OWN]
    params = {"panel": "a", "n_estimators": 20, "n_episodes": 40_000, "betas": [0.005]}
    cell = Cell("tiny", "mddag", params | {"variants": names}, 0)
    rows = {row["variant"]: row for row in variants.varied(cell, dataset)}
    assert list(rows) == names
    for row in rows.values():
        expected = row["test_error"] + 0.005 * row["test_evaluations"]
        assert row["test_objective"] == pytest.approx(expected, rel=1e-4)
        assert row["n_paths"] >= 1
    found = {name: str({**row, "variant": "", "fit_seconds": 0}) for name, row in rows.items()}
    alike = [name for name in names if found[name] == found["ours"]]
    # 101 bins are what 20 base classifiers have anyway; the policy of the least objective has the
    # fewest errors here, too, and descent finds nothing better.
    assert alike == ["ours", "bins_101", "by_accuracy", "descent_from_sarsa"]


def test_losses_of_our_own_by_hand():
    (tie, literal) = (variants.VARIANTS[name]["reward"].py_func for name in LOSSES_OF_OUR_OWN)
    scores = np.array([0.5]), np.array([0.0]), np.array([-0.5])
    assert [tie(f, 1) for f in scores] == [0.0, 0.0, 1.0]
    assert [tie(f, 0) for f in scores] == [1.0, 0.0, 0.0]
    assert [literal(f, 0) for f in scores] == pytest.approx([np.e, 1.0, 1 / np.e])


def test_the_exponential_loss_of_shares_is_of_the_normalised_output(dataset):
    """Footnote 1: f/Σα, by the votes of the stumps on each window's own path."""
    train = windows.windows_of(dataset, "train")
    pool, used = windows.boosted(train, 20)
    train = train.of_columns(used)
    asked, given = shares.as_asked(pool, variants.VARIANTS["exponential_of_shares"])
    assert shares.total_of(asked) == pytest.approx(1.0)
    model = dags.MDDAGClassifier(
        FrozenEstimator(asked), beta=0.002, n_episodes=EPISODES, random_state=0, **given
    ).fit(train.X, train.y)
    stumps = pool.stumps_
    above = np.where(train.X[:, stumps.feature] > stumps.threshold, 1.0, -1.0)
    answers = stumps.alpha * above * stumps.votes[:, 0]
    taken = np.asarray(model.classification_path(train.X).todense())
    margin = np.where(train.y == 1, 1.0, -1.0) * (answers * taken).sum(axis=1)
    losses = np.exp(-margin / np.abs(stumps.alpha).sum())
    by_hand = losses.mean() + 0.002 * taken.sum(axis=1).mean()
    assert model.objective_ == pytest.approx(by_hand, rel=1e-4)
