"""CEGB by hand, at its limits, and what must hold for any model."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from reference import cegb as reference
from tests.twins import assert_twins

# Sixteen rows, two of each combination of three features in {1, 2}; y = u + v + w with
#   u = -10 or 10 by x0;  v = -½ or ½ by x1;  w = -b or b by x2, b = 1 where x0 = 1, else 2.
# A factor ±a splits n rows for half a gain of ½ n a² (T_0 = 0, squared loss):
#   root on x0 800, on x1 2, on x2 (±1½) 18; node 1 (x0 = 1) on x1 1, on x2 4;
#   node 2 (x0 = 2) on x1 1, on x2 16.
X16 = np.array([[a, b, c] for a in (1, 2) for b in (1, 2) for c in (1, 2) for _ in range(2)], float)
Y16 = (
    np.where(X16[:, 0] == 1, -10.0, 10.0)
    + np.where(X16[:, 1] == 1, -0.5, 0.5)
    + np.where(X16[:, 2] == 1, -1.0, 1.0) * np.where(X16[:, 0] == 1, 1.0, 2.0)
)
ONE_TREE = {
    "n_estimators": 1,
    "learning_rate": 1.0,
    "init": "zero",
    "min_samples_leaf": 1,
    "tradeoff": 1.0,
}


def splits(model):
    """(node, feature, net gain) of every split of a one-tree model, in the order of creation."""
    forest = model.trees_
    nodes = np.flatnonzero(forest.feature >= 0)
    order = nodes[np.argsort(forest.left[nodes])]
    return [(int(n), int(forest.feature[n]), float(forest.gain[n])) for n in order]


def fit16(**options):
    return CEGBRegressor(**(ONE_TREE | options)).fit(X16, Y16)


def test_plain_by_hand():
    assert splits(fit16(max_leaves=4)) == [(0, 0, 800.0), (2, 2, 16.0), (1, 2, 4.0)]


def test_a_feature_that_becomes_free_changes_the_best_split_of_another_leaf():
    # γ of x2 is 3½. Node 1 would take x1 (1 > 4 - 3½); node 2 takes x2 (16 - 3½) and pays for it,
    # and then x2 is node 1's best.
    gamma = [0.0, 0.0, 3.5]
    free_later = fit16(max_leaves=4, model_feature_costs=gamma)
    assert splits(free_later) == [(0, 0, 800.0), (2, 2, 12.5), (1, 2, 4.0)]
    # Without node 2's rows nobody pays for x2.
    alone = CEGBRegressor(**ONE_TREE, max_leaves=2, model_feature_costs=gamma)
    half = X16[:, 0] == 1
    assert splits(alone.fit(X16[half], Y16[half] + 10.0)) == [(0, 1, 1.0)]


def test_other_penalties_still_count_when_a_feature_becomes_free():
    # α = 1/8: a root split costs 2, its children's 1 each. β of x2 is ¼: 8 rows cost 2.
    model = fit16(
        max_leaves=4, model_feature_costs=[0, 0, 3.5], split_cost=0.125, feature_costs=[0, 0, 0.25]
    )
    # Node 2: 16 - 1 - 3½ - 2; node 1 then: 4 - 1 - 2 on x2 (1, not 4), 1 - 1 = 0 on x1.
    assert splits(model) == [(0, 0, 798.0), (2, 2, 9.5), (1, 2, 1.0)]
    # One eighth more for x2 and node 1 gains nothing: it must not be split.
    model = fit16(
        max_leaves=9, model_feature_costs=[0, 0, 3.5], split_cost=0.25, feature_costs=[0, 0, 0.25]
    )
    assert splits(model) == [(0, 0, 796.0), (2, 2, 8.5)]


def test_a_group_with_remainders_by_hand():
    # x1 and x2 are a group for 1/8 a row; x1 costs 1/16 a row besides, x2 1/8, x0 nothing. Node 2
    # (8 rows) takes x2: 16 - 1 - 1. Node 1: x2 4 - 1 - 1, x1 1 - 1 - ½ < 2.
    prices = {
        "feature_groups": ["a", "b", "b"], "group_costs": {"a": 0.0, "b": 0.125},
        "feature_costs": [0.0, 0.0625, 0.125],
    }  # fmt: skip
    model = fit16(max_leaves=4, **prices)
    assert splits(model) == [(0, 0, 800.0), (2, 2, 14.0), (1, 2, 2.0)]
    np.testing.assert_array_equal(model.prediction_cost(X16), 0.25)
    # Below them the rows own the group: x1 costs its own 1/16 only, 4 rows ½ - ¼.
    assert splits(fit16(max_leaves=6, **prices))[3:] == [(3, 1, 0.25), (4, 1, 0.25)]


def test_breadth_first_does_not_look_back():
    # Node 1 comes first, when x2 still costs 3½ and x1 is the better choice.
    model = fit16(max_leaves=4, growth="breadth_first", model_feature_costs=[0.0, 0.0, 3.5])
    assert splits(model) == [(0, 0, 800.0), (1, 1, 1.0), (2, 2, 12.5)]


def test_features_paid_for_stay_free_in_later_trees_and_classes():
    # Three classes of two rows at x = 0, 1, 2. Half gains of round one: 2, ½, 2. Class 0 pays
    # λ β for its six rows, 0.1 * 2 * 6 = 1.2, and nobody does after it.
    X, y = np.repeat([0.0, 1, 2], 2)[:, None], np.repeat([0, 1, 2], 2)
    options = {"n_estimators": 2, "max_leaves": 2, "min_samples_leaf": 1, "init": "zero"}
    paid = CEGBClassifier(**options, tradeoff=0.1, feature_costs=[2.0]).fit(X, y)
    free = CEGBClassifier(**options).fit(X, y)
    roots = free.trees_.tree[:-1]
    assert len(roots) == paid.trees_.n_trees == 6
    np.testing.assert_allclose(free.trees_.gain[roots[:3]], [2, 0.5, 2], rtol=1e-8)
    difference = free.trees_.gain[roots] - paid.trees_.gain[roots]
    np.testing.assert_allclose(difference, [1.2, 0, 0, 0, 0, 0], rtol=0, atol=1e-15)


# --- the defect of LightGBM 4.7.0 that must not be here ---------------------------------------


def test_a_tiny_coupled_price_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (400, 4)).astype(float)
    y = X[:, 0] + (X[:, 1] > 3) * X[:, 2] + rng.normal(size=400)
    for costs in ({"split_cost": 0.2}, {"feature_costs": [0.2, 0.5, 1.0, 0.0]}):
        options = {"n_estimators": 5, "tradeoff": 1.0, "min_samples_leaf": 1} | costs
        without = CEGBRegressor(**options).fit(X, y)
        tiny = CEGBRegressor(**options, model_feature_costs=np.full(4, 1e-9)).fit(X, y)
        assert without.trees_.n_trees > 1
        np.testing.assert_array_equal(without.trees_.feature, tiny.trees_.feature)
        np.testing.assert_array_equal(without.trees_.threshold, tiny.trees_.threshold)
        np.testing.assert_array_equal(without.predict(X), tiny.predict(X))
        assert np.all(tiny.trees_.gain >= 0)


# --- limits ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 6))
    y = X[:, 0] + X[:, 3] * (X[:, 1] > 0) + np.abs(X[:, 5]) + 0.3 * rng.normal(size=400)
    return X, y


COSTS = {
    "feature_costs": np.array([4.0, 1, 1, 2, 0, 0.3]),
    "model_feature_costs": np.array([5.0, 3, 3, 0, 9, 0.1]),
    "feature_groups": [0, 1, 1, 3, 4, 8],
    "split_cost": 0.5,
    "feature_sharing": [1, 1, 4, 4, 1, 1],
}
SHORT = {"n_estimators": 5, "max_leaves": 8, "min_samples_leaf": 5}


def same_trees(a, b):
    for name, values in a.trees_._asdict().items():
        np.testing.assert_array_equal(values, getattr(b.trees_, name), name)


@pytest.mark.parametrize("growth", ["best_first", "breadth_first"])
def test_no_costs_or_no_tradeoff_is_plain_boosting(data, growth):
    X, y = data
    plain = GBRTRegressor(**SHORT, growth=growth).fit(X, y)
    nothing = {name: np.zeros(6) for name in ("feature_costs", "model_feature_costs")}
    same_trees(CEGBRegressor(**SHORT, growth=growth).fit(X, y), plain)
    same_trees(CEGBRegressor(**SHORT, growth=growth, tradeoff=5.0, **nothing).fit(X, y), plain)
    same_trees(CEGBRegressor(**SHORT, growth=growth, tradeoff=0.0, **COSTS).fit(X, y), plain)
    paid = CEGBRegressor(**SHORT, growth=growth, tradeoff=0.02, **COSTS).fit(X, y)
    assert not np.array_equal(paid.predict(X), plain.predict(X))


@pytest.mark.parametrize("cls", [CEGBRegressor, CEGBClassifier])
def test_prohibitive_costs_leave_a_constant_and_say_so(data, cls):
    X, y = data
    y = y if cls is CEGBRegressor else (y > 0).astype(int)
    for costs in ({"split_cost": 1.0}, {"feature_costs": np.ones(6)}):
        with pytest.warns(ConstantModelWarning, match="No split is worth its cost"):
            model = cls(tradeoff=1e9, **SHORT, **costs).fit(X, y)
        assert model.n_estimators_ == 0
        assert len(set(model.predict(X))) == 1
        assert not model.model_features().any()
        np.testing.assert_array_equal(model.prediction_cost(X), 0)
        np.testing.assert_array_equal(model.evaluations(X), 0)
        assert list(model.staged_cost(X)) == list(model.staged_predict(X)) == []
        assert model.model_cost() == 0
    with pytest.warns(ConstantModelWarning, match="min_samples_leaf=300 counts row weight"):
        cls(min_samples_leaf=300).fit(X, y)


def test_a_constant_target_says_so(data):
    X, _ = data
    with pytest.warns(ConstantModelWarning, match="y is constant \\(2.5\\)"):
        model = CEGBRegressor().fit(X, np.full(400, 2.5))
    np.testing.assert_array_equal(model.predict(X[:3]), 2.5)
    with pytest.warns(ConstantModelWarning, match="y is constant \\('a'\\)"):
        model = CEGBClassifier().fit(X, np.full(400, "a"))
    assert set(model.predict(X)) == {"a"}
    np.testing.assert_array_equal(model.predict_proba(X[:3]), np.ones((3, 1)))


def test_no_rounds(data):
    X, y = data
    model = CEGBRegressor(n_estimators=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-9)
    assert (model.n_estimators_, model.trees_.n_trees, model.model_cost()) == (0, 0, 0.0)


def test_a_leaf_without_hessian_has_the_value_zero():
    """A class that all rows are sure of: -G/H would be anything, as large as 1e246 on digits."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, (300, 4)).astype(float)
    y = np.where(X[:, 0] == 0, 0, 1 + (rng.random(300) < 0.2 + 0.2 * X[:, 1]))
    model = CEGBClassifier(n_estimators=6, learning_rate=10.0, min_samples_leaf=5, max_leaves=5)
    assert_twins(model, reference, X, y)
    forest = model.trees_
    alone = forest.tree[:-1][np.diff(forest.tree) == 1]
    assert np.sum(forest.value[alone] == 0) >= 2
    # Whatever is not 0 has at least 1e-3 of hessian under it, and 300 rows of gradient above.
    assert np.max(np.abs(forest.value)) <= 300 / 1e-3


def test_a_fit_that_diverges_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    model = GBRTClassifier(
        learning_rate=10.0, n_estimators=30, min_hessian_leaf=0, min_samples_leaf=1, max_leaves=8
    )
    with pytest.raises(ValueError, match=r"scores diverge .* smaller learning_rate"):
        model.fit(X, y)


def test_a_higher_tradeoff_costs_less(data):
    X, y = data
    costs = [
        CEGBRegressor(tradeoff=t, feature_costs=COSTS["feature_costs"], **SHORT)
        .fit(X, y)
        .prediction_cost(X)
        .mean()
        for t in (0.0, 0.02, 0.2, 2.0)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < 0.5 * costs[0]


def test_stopping_on_negative_gain(data):
    X, y = data
    options = SHORT | {"n_estimators": 1, "tradeoff": 0.5, "split_cost": 0.5}
    stops = CEGBRegressor(**options).fit(X, y)
    goes_on = CEGBRegressor(**options, stop_on_negative_gain=False).fit(X, y)
    assert np.all(stops.trees_.gain >= 0)
    assert np.any(goes_on.trees_.gain < 0)
    assert (goes_on.trees_.feature < 0).sum() == 8 > (stops.trees_.feature < 0).sum() > 1


@pytest.mark.parametrize("cls", [CEGBRegressor, CEGBClassifier])
def test_whole_weights_equal_copies(data, cls):
    X, y = data
    y = y if cls is CEGBRegressor else np.digitize(y, [0.3, 1.2])
    copies = np.random.default_rng(7).integers(0, 4, 400)
    for options in ({}, {"max_bins": 9}, {"growth": "breadth_first", "max_leaves": None}):
        parameters = SHORT | COSTS | {"tradeoff": 0.01} | options
        weighted = cls(**parameters).fit(X, y, sample_weight=copies)
        repeated = cls(**parameters).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
        same_trees(weighted, repeated)
        np.testing.assert_array_equal(weighted.initial_scores_, repeated.initial_scores_)
        assert len(weighted.trees_.feature) > 10


# --- what the meter says of a fixed model ----------------------------------------------------


@pytest.fixture(scope="module", params=["features", "groups"])
def fitted(request, data):
    X, y = data
    costs = dict(COSTS) if request.param == "groups" else {**COSTS, "feature_groups": None}
    return CEGBRegressor(**SHORT | {"n_estimators": 9}, tradeoff=0.01, **costs).fit(X, y), X


def test_cost_never_rises_when_a_feature_becomes_free(fitted):
    model, X = fitted
    before = model.prediction_cost(X)
    groups = np.arange(6) if model.feature_groups is None else np.array(model.feature_groups)
    fell = 0
    for group in np.unique(groups):
        free = np.where(groups == group, 0.0, model.feature_costs)
        after = model.prediction_cost(X, feature_costs=free)
        assert np.all(after <= before)
        fell += np.any(after < before)
        stages = zip(model.staged_cost(X, feature_costs=free), model.staged_cost(X), strict=True)
        assert all(np.all(a <= b) for a, b in stages)
    assert fell >= 3
    assert np.all(model.prediction_cost(X, split_cost=0.0) < before)
    everything = model.prediction_cost(X, feature_costs=np.zeros(6), split_cost=0.0)
    np.testing.assert_array_equal(everything, 0)


def test_cost_never_rises_whatever_the_prices(fitted):
    """A cheaper list may have a finer grid; other prices must not rise by being rounded to it."""
    model, X = fitted
    rng = np.random.default_rng(12)
    groups = np.arange(6) if model.feature_groups is None else np.array(model.feature_groups)
    for _ in range(150):
        costs = (rng.random(9) * 10.0 ** rng.integers(-4, 5, 9))[groups]
        before = model.prediction_cost(X[:50], feature_costs=costs, split_cost=0.1)
        for group in np.unique(groups):
            free = np.where(groups == group, 0.0, costs)
            after = model.prediction_cost(X[:50], feature_costs=free, split_cost=0.1)
            assert np.all(after <= before)


def test_stages_of_the_meter(fitted):
    model, X = fitted
    stages = list(model.staged_cost(X))
    assert len(stages) == model.n_estimators_ == 9
    assert all(np.all(a <= b) for a, b in pairwise(stages))
    assert np.any(stages[0] < stages[-1])
    np.testing.assert_array_equal(stages[-1], model.prediction_cost(X))
    for prices in ({"split_cost": 1.0, "feature_costs": np.zeros(6)},):
        nodes = list(model.staged_cost(X, **prices))
        weights = 1.0 / np.array(model.feature_sharing)
        assert np.all(nodes[-1] <= model.evaluations(X))
        assert np.all(nodes[-1] >= weights.min() * model.evaluations(X))


def test_meter_by_walking_every_tree(fitted):
    """Bills written out by hand from the trees, feature by feature."""
    model, X = fitted
    forest = model.trees_
    groups = np.arange(6) if model.feature_groups is None else np.array(model.feature_groups)
    for i in range(0, 400, 41):
        seen, nodes, cost = set(), 0, 0.0
        for tree in range(forest.n_trees):
            node = forest.tree[tree]
            while forest.feature[node] >= 0:
                feature = forest.feature[node]
                seen.add(int(feature))
                cost += model.split_cost / model.feature_sharing[feature]
                nodes += 1
                node = forest.left[node] + (X[i, feature] > forest.threshold[node])
        first = [int(np.flatnonzero(groups == g)[0]) for g in {groups[m] for m in seen}]
        cost += sum(model.feature_costs[m] for m in first)
        row = X[i : i + 1]
        assert model.prediction_cost(row)[0] == pytest.approx(cost, rel=1e-12)
        assert model.evaluations(row)[0] == nodes
        assert set(np.flatnonzero(model.acquired_features(row)[0])) == seen


def test_acquired_features_are_among_the_models(fitted):
    model, X = fitted
    acquired, used = model.acquired_features(X), model.model_features()
    assert acquired.shape == X.shape
    np.testing.assert_array_equal(acquired.any(axis=0) <= used, True)
    np.testing.assert_array_equal(acquired.any(axis=0), used)  # training rows reach every node
    units = np.unique(np.array(model.feature_groups or range(6))[used], return_index=True)[1]
    gammas = np.asarray(model.model_feature_costs)[np.flatnonzero(used)[units]]
    assert model.model_cost() == pytest.approx(gammas.sum(), rel=1e-15)
    np.testing.assert_array_equal(model.evaluations(X) >= 1, True)
