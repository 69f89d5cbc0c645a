"""BudgetRF: a tree by hand, twins, impurities, copies of rows, bad input."""

from __future__ import annotations

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import is_regressor
from sklearn.tree import DecisionTreeClassifier

from algorithms.budget_forest import BudgetForestClassifier, BudgetForestRegressor
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.forests.growing import MOST_WEIGHT, PAIRS, Rules, impurity
from reference import budget_forest as reference

PRICES = ("feature_costs", "feature_groups", "group_costs", "split_cost", "feature_sharing")
GROWING = (
    "n_estimators", "impurity", "impurity_threshold", "max_features", "max_depth", "bootstrap",
    "max_bins", "feature_costs", "feature_groups", "group_costs", "random_state",
)  # fmt: skip


def draw(seed: int, n_rows: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, dict]:
    """Rows with ties, duplicates and constants, few classes, whole weights, prices of all kinds."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, n_rows)), int(rng.integers(1, 5))
    X = rng.integers(0, 5, (n, d)) + 0.0 if seed % 2 else rng.normal(size=(n, d))
    X[:, 0] = X[0, 0] if seed % 7 == 0 else X[:, 0]
    X, y = np.concatenate([X, X[: n // 3]]), rng.integers(0, rng.integers(1, 4), n + n // 3)
    weights = rng.integers(0, 4, len(y)) if seed % 3 == 0 else None
    if weights is not None:
        weights[0] = 1
    y = y if weights is None else np.where(weights > 0, y, y[0])
    costs = rng.integers(0, 3, d) + 0.0 if seed % 4 else rng.random(d)
    entropy = seed % 5 in (1, 3)
    options = {
        "n_estimators": int(rng.integers(1, 4)),
        "impurity": "entropy" if entropy else "pairs",
        "impurity_threshold": float(rng.choice([0.0, 0.0, 0.3] if entropy else [0.0, 0.0, 1.0])),
        "max_features": None if seed % 3 else int(rng.integers(1, d + 1)),
        "max_depth": None if seed % 5 else 2,
        "bootstrap": bool(seed % 6),
        "max_bins": int(rng.choice([4, 255])),
        "feature_costs": costs,
        "split_cost": float(rng.choice([0.0, 0.25])),
        "random_state": seed,
    }
    if seed % 4 == 2:
        groups = rng.integers(0, 2, d).tolist()
        options |= {"feature_groups": groups, "group_costs": {g: 1.5 * g for g in set(groups)}}
    return X, y, weights, options


def fit_twins(cls, seed: int, **others):
    """Both twins on a drawn table; its rows and encoded labels."""
    X, y, weights, options = draw(seed)
    options |= others
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        model = cls(**options).fit(X, y, sample_weight=weights)
    names = model.grades_ if is_regressor(model) else model.classes_
    encoded = np.searchsorted(names, y).clip(0, len(names) - 1)
    growing = {name: options[name] for name in GROWING if name in options}
    return model, reference.fit(X, encoded, sample_weight=weights, **growing), X, encoded


def assert_same_trees(model, twin):
    forest = model.trees_
    assert forest.n_trees == len(twin.trees)
    np.testing.assert_array_equal(model.training_counts_, twin.totals)
    for t, tree in enumerate(twin.trees):
        nodes = slice(forest.tree[t], forest.tree[t + 1])
        for name in ("feature", "threshold", "gain", "depth"):
            np.testing.assert_array_equal(getattr(forest, name)[nodes], getattr(tree, name), name)
        left = forest.left[nodes]
        np.testing.assert_array_equal(np.where(left >= 0, left - nodes.start, -1), tree.left)
        np.testing.assert_array_equal(model.class_counts_[nodes], tree.counts)
        np.testing.assert_array_equal(model.out_of_bag_counts_[nodes], tree.out_of_bag)


# --- by hand ---------------------------------------------------------------------------------

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
CORNER = np.array([0, 0, 0, 1, 0])


def test_a_tree_by_hand():
    """F = 4·1. Feature 0 leaves (3, 0) and (1, 1), feature 1 (2, 0) and (2, 1).

    Reductions are 4 - 1 and 4 - 2. At prices 2 and 1 risks are 2/3 and 1/2: feature 1 is the root.
    Its right child has F = 2, which feature 0 reduces to 0.
    """
    for prices, root, reductions in (([2.0, 1.0], 1, (2, 2)), ([1.0, 1.0], 0, (3, 1))):
        model = BudgetForestClassifier(n_estimators=1, bootstrap=False, feature_costs=prices)
        model.fit(SQUARE, CORNER)
        twin = reference.fit(SQUARE, CORNER, n_estimators=1, bootstrap=False, feature_costs=prices)
        assert_same_trees(model, twin)
        assert [each["feature"] for each in twin.trace] == [root, 1 - root]
        assert tuple(each["reduction"] for each in twin.trace) == reductions
        assert {each["threshold"] for each in twin.trace} == {0.5}


def test_a_free_feature_that_reduces_more_wins():
    for prices, root in (([0.0, 0.0], 0), ([0.0, 1e-300], 0), ([1e-300, 0.0], 1)):
        model = BudgetForestClassifier(n_estimators=1, bootstrap=False, feature_costs=prices)
        assert model.fit(SQUARE, CORNER).trees_.feature[0] == root
    swapped = SQUARE[:, ::-1].copy()  # the first of two free features reduces less
    model = BudgetForestClassifier(n_estimators=1, bootstrap=False).fit(swapped, CORNER)
    assert model.trees_.feature[0] == 1


# --- twins -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_twins(seed):
    vote = ("labels", "counts", "distributions")[seed % 3]
    model, twin, X, _ = fit_twins(BudgetForestClassifier, seed, vote=vote)
    assert_same_trees(model, twin)
    Z = np.concatenate([X, X + 0.3])
    np.testing.assert_array_equal(model._scores(Z), reference.scores(twin, Z, vote))
    np.testing.assert_array_equal(
        model.predict(Z), model.classes_[reference.predict(twin, Z, vote)]
    )
    passed = reference.passed(twin, Z)
    np.testing.assert_array_equal(model.evaluations(Z), passed.sum(axis=1))
    np.testing.assert_array_equal(model.acquired_features(Z), passed > 0)
    prices = {name: value for name, value in model.get_params().items() if name in PRICES}
    np.testing.assert_array_equal(
        model.prediction_cost(Z), reference.prediction_cost(twin, Z, **prices)
    )


@pytest.mark.parametrize("vote", ["labels", "counts", "distributions"])
def test_twins_of_mean_labels(vote):
    model, twin, X, _ = fit_twins(BudgetForestRegressor, 8, vote=vote)
    assert len(model.grades_) > 1
    assert_same_trees(model, twin)
    expected = reference.mean_labels(twin, X, model.grades_, vote)
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], expected)


@pytest.mark.parametrize("budget", [0.0, 1.0, 1.5, 99.0])
def test_twins_within_a_budget(budget):
    rng = np.random.default_rng(5)
    X, V = rng.normal(size=(40, 6)), rng.normal(size=(25, 6))
    y, costs = (X[:, 0] * X[:, 1] > 0).astype(int), [1.0, 1.0, 0.5, 0.25, 2.0, 0.125]
    options = {"n_estimators": 6, "max_depth": 2, "max_features": 2, "random_state": 2,
               "feature_costs": costs}  # fmt: skip
    model = BudgetForestClassifier(**options, budget=budget).fit(X, y, eval_set=(V, y[:25]))
    twin = reference.fit(X, y, **options)
    twin = reference.within_budget(twin, V, budget, feature_costs=costs)
    assert_same_trees(model, twin)
    assert model.prediction_cost(V).mean() <= budget
    np.testing.assert_array_equal(model.predict(V), reference.predict(twin, V))
    assert (model.n_estimators_ == 0) == (budget == 0)
    trained = BudgetForestClassifier(**options, budget=budget).fit(X, y)
    assert trained.prediction_cost(X).mean() <= budget


# --- impurities ------------------------------------------------------------------------------


def threshold_pairs(counts, alpha):
    """As the paper writes it."""
    above = [max(n - alpha, 0) for n in counts]
    return sum(max(a * b - alpha**2, 0) for a, b in combinations(above, 2))


def test_impurities_against_their_formulas():
    rng = np.random.default_rng(0)
    table = reference.log_table(100)
    for _ in range(200):
        counts, alpha = rng.integers(0, 12, rng.integers(1, 5)), int(rng.integers(0, 5))
        n = int(counts.sum())
        rules = Rules(PAIRS, float(alpha), 1, -1, np.ones(1), np.zeros(1))
        expected = threshold_pairs(counts.tolist(), alpha)
        assert reference.pairs(counts, alpha) == impurity(counts, n, rules) == expected
        if n:
            bits = n * stats.entropy(counts)
            assert math.isclose(reference.entropy(counts, 0, table), bits, abs_tol=1e-11)
            assert reference.entropy(counts, bits / n + 1e-9, table) == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_entropy_at_equal_prices_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 5)).astype(np.float32)  # what scikit-learn reads
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=150) > 0.5).astype(int)
    ours = BudgetForestClassifier(
        n_estimators=1, impurity="entropy", bootstrap=False, max_depth=2, feature_costs=np.ones(5)
    ).fit(X, y)
    theirs = DecisionTreeClassifier(criterion="entropy", max_depth=2, random_state=0).fit(X, y)
    assert ours.trees_.feature[0] == theirs.tree_.feature[0]
    assert math.isclose(ours.trees_.threshold[0], theirs.tree_.threshold[0], rel_tol=1e-12)
    # Of equally good thresholds further down each takes its own: the entropy left is the same.
    leaf = theirs.tree_.feature < 0
    bits = theirs.tree_.n_node_samples[leaf] @ theirs.tree_.impurity[leaf] * math.log(2.0)
    left = sum(n.sum() * stats.entropy(n) for n in ours.class_counts_[ours.trees_.left < 0])
    assert math.isclose(left, bits, rel_tol=1e-9)


# --- rows, samples, threads ------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 4))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])]


def same_forest(a, b, X):
    for name, values in a.trees_._asdict().items():
        np.testing.assert_array_equal(values, getattr(b.trees_, name), name)
    np.testing.assert_array_equal(a.class_counts_, b.class_counts_)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_weight_is_so_many_copies_side_by_side(table, bootstrap):
    X, y = table
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    options = {"n_estimators": 3, "bootstrap": bootstrap, "random_state": 4, "impurity": "entropy"}
    weighted = BudgetForestClassifier(**options).fit(X, y, sample_weight=weights)
    copied = BudgetForestClassifier(**options, max_features=4).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert weighted.trees_.count[0] == weights.sum()
    same_forest(weighted, copied, X)


def test_a_longer_forest_begins_with_a_shorter_one_and_threads_change_nothing(table):
    X, y = table
    options = {"max_features": 2, "random_state": 3, "feature_costs": [1.0, 2.0, 3.0, 4.0]}
    long = BudgetForestClassifier(n_estimators=6, n_threads=2, **options).fit(X, y)
    short = BudgetForestClassifier(n_estimators=4, n_threads=1, **options).fit(X, y)
    ended = long.trees_.tree[4]
    np.testing.assert_array_equal(long.trees_.threshold[:ended], short.trees_.threshold)
    same_forest(long.first_rounds(4), short, X)
    np.testing.assert_array_equal(list(long.staged_predict(X))[3], short.predict(X))
    np.testing.assert_array_equal(list(long.staged_cost(X))[3], short.prediction_cost(X))
    same_forest(BudgetForestClassifier(n_estimators=6, n_threads=1, **options).fit(X, y), long, X)
    other = BudgetForestClassifier(n_estimators=4, **options | {"random_state": 5}).fit(X, y)
    assert not np.array_equal(other.trees_.threshold[:9], short.trees_.threshold[:9])


def test_rows_are_in_the_bag_or_out_of_it(table):
    X, y = table
    model = BudgetForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    roots = model.trees_.tree[:-1]
    outside = model.out_of_bag_counts_[roots].sum(axis=1)
    np.testing.assert_array_equal(model.class_counts_[roots].sum(axis=1), len(y))
    assert np.all((outside > 0.25 * len(y)) & (outside < 0.5 * len(y)))  # 1/e of the rows


def test_prices_make_cheap_features_likelier(table):
    X, y = table
    bills = [
        BudgetForestClassifier(n_estimators=5, random_state=0, feature_costs=costs)
        .fit(X, y)
        .prediction_cost(X, feature_costs=[0.0, 0.0, 1.0, 0.0])
        .mean()
        for costs in ([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 50.0, 1.0])
    ]
    assert bills[1] < bills[0]


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "fit", "match"),
    [
        ({"impurity_threshold": 0.5}, {}, "impurity_threshold must be a whole number of rows"),
        ({"impurity_threshold": 2.0 * MOST_WEIGHT}, {}, "impurity_threshold must be a whole"),
        ({"impurity": "gini"}, {}, "impurity must be 'pairs' or 'entropy'"),
        ({"vote": "mean"}, {}, "vote must be"),
        ({"budget": -1.0}, {}, "budget must be a finite number >= 0"),
        ({"max_features": 0}, {}, "max_features must be None or a whole number >= 1"),
        ({}, {"sample_weight": [0.5] * 5}, r"sample_weight must be whole numbers.*row 0 has 0\.5"),
        ({}, {"sample_weight": [1e9] * 5}, "must sum to at most 67108864 for a forest"),
        ({}, {"X": np.where(SQUARE > 0, np.nan, 0.0)}, "NaN"),
        ({}, {"query_id": [1, 2, 1, 2, 1]}, "recurs"),
        ({}, {"eval_set": (SQUARE, CORNER + 1)}, "class that the training data lack: 2"),
        ({}, {"eval_set": SQUARE}, r"eval_set must be \(X, y\)"),
        ({"feature_costs": [1.0, -1.0]}, {}, "feature_costs must"),
    ],
)
def test_what_is_refused(options, fit, match):
    with pytest.raises(ValueError, match=match):
        BudgetForestClassifier(**options).fit(**{"X": SQUARE, "y": CORNER} | fit)


def test_too_many_grades_are_refused():
    y = np.arange(1025.0)
    with pytest.raises(ValueError, match="at most 1024 different values"):
        BudgetForestRegressor().fit(y[:, None], y)
    with pytest.raises(ValueError, match="y is too large"):
        BudgetForestRegressor().fit(SQUARE, 1e200 * CORNER)


@pytest.mark.parametrize("n_estimators", [0, 3])
def test_one_class_one_row_and_no_trees(n_estimators):
    model = BudgetForestClassifier(n_estimators=n_estimators, feature_costs=[1.0, 2.0])
    with pytest.warns(ConstantModelWarning, match=r"y is constant \('x'\)"):
        model.fit(SQUARE[:1], ["x"])
    assert model.predict(SQUARE).tolist() == ["x"] * 5
    assert model.prediction_cost(SQUARE).tolist() == [0.0] * 5
    np.testing.assert_array_equal(model.predict_proba(SQUARE), np.ones((5, 1)))
    model = BudgetForestClassifier(n_estimators=0).fit(SQUARE, CORNER)
    assert model.predict(SQUARE).tolist() == [0] * 5


def test_a_class_that_no_sample_holds_is_never_voted_for():
    X, y = np.arange(40.0)[:, None], np.array([0, 2] * 20)
    y[7] = 1
    model = BudgetForestClassifier(n_estimators=1, random_state=0)
    seeds = (seed for seed in range(20) if 1 not in drawn_labels(model, X, y, seed))
    model.set_params(random_state=next(seeds)).fit(X, y)
    assert model.class_counts_[0, 1] == 0
    assert model.classes_.tolist() == [0, 1, 2]
    assert 1 not in model.predict(X)
    assert model.predict_proba(X).shape == (40, 3)


def drawn_labels(model, X, y, seed):
    counts = model.set_params(random_state=seed).fit(X, y).class_counts_[0]
    return np.flatnonzero(counts)
