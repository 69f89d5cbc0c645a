"""CEGB by hand, at its limits, and at the sizes at which its kernels take another way."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from reference import cegb as reference
from tests.twins import assert_equal_arrays, assert_twins

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


GAMMA = {"max_leaves": 4, "model_feature_costs": [0.0, 0.0, 3.5]}
BETA = {"feature_costs": [0.0, 0.0, 0.25]}
GROUPED = {
    "feature_groups": ["a", "b", "b"], "group_costs": {"a": 0.0, "b": 0.125},
    "feature_costs": [0.0, 0.0625, 0.125],
}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"max_leaves": 4}, [(0, 0, 800.0), (2, 2, 16.0), (1, 2, 4.0)]),
        # γ of x2 is 3½. Node 1 would take x1 (1 > 4 - 3½); node 2 takes x2 (16 - 3½) and pays for
        # it, and then x2 is node 1's best.
        (GAMMA, [(0, 0, 800.0), (2, 2, 12.5), (1, 2, 4.0)]),
        # Breadth first does not look back: node 1 comes when x2 still costs 3½.
        (GAMMA | {"growth": "breadth_first"}, [(0, 0, 800.0), (1, 1, 1.0), (2, 2, 12.5)]),
        # α = 1/8: a root split costs 2, its children's 1 each. β of x2 is ¼: 8 rows cost 2.
        # Node 2: 16 - 1 - 3½ - 2; node 1 then: 4 - 1 - 2 on x2 (1, not 4), 1 - 1 = 0 on x1.
        (GAMMA | BETA | {"split_cost": 0.125}, [(0, 0, 798.0), (2, 2, 9.5), (1, 2, 1.0)]),
        # One eighth more for x2 and node 1 gains nothing: it must not be split.
        (GAMMA | BETA | {"split_cost": 0.25, "max_leaves": 9}, [(0, 0, 796.0), (2, 2, 8.5)]),
        # x1 and x2 are a group for 1/8 a row; x1 costs 1/16 a row besides, x2 1/8, x0 nothing.
        # Node 2 (8 rows) takes x2: 16 - 1 - 1. Node 1: x2 4 - 1 - 1, x1 1 - 1 - ½ < 2. Below them
        # the rows own the group: x1 costs its own 1/16 only, 4 rows ½ - ¼.
        (
            GROUPED | {"max_leaves": 6},
            [(0, 0, 800.0), (2, 2, 14.0), (1, 2, 2.0), (3, 1, 0.25), (4, 1, 0.25)],
        ),
    ],
)
def test_by_hand(options, expected):
    assert splits(fit16(**options)) == expected


def test_bill_of_a_group_by_hand():
    np.testing.assert_array_equal(fit16(max_leaves=4, **GROUPED).prediction_cost(X16), 0.25)


def test_without_the_rows_of_another_leaf_nobody_pays_for_its_feature():
    half = X16[:, 0] == 1
    alone = CEGBRegressor(**ONE_TREE | GAMMA | {"max_leaves": 2})
    assert splits(alone.fit(X16[half], Y16[half] + 10.0)) == [(0, 1, 1.0)]


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
    assert_equal_arrays(a.trees_, b.trees_)


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


def test_stopping_on_negative_gain(data):
    X, y = data
    options = SHORT | {"n_estimators": 1, "tradeoff": 0.5, "split_cost": 0.5}
    stops = CEGBRegressor(**options).fit(X, y)
    goes_on = CEGBRegressor(**options, stop_on_negative_gain=False).fit(X, y)
    assert np.all(stops.trees_.gain >= 0)
    assert np.any(goes_on.trees_.gain < 0)
    assert (goes_on.trees_.feature < 0).sum() == 8 > (stops.trees_.feature < 0).sum() > 1


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


# --- what the meter says of a fixed model ----------------------------------------------------


@pytest.fixture(scope="module", params=["features", "groups"])
def fitted(request, data):
    X, y = data
    costs = dict(COSTS) if request.param == "groups" else {**COSTS, "feature_groups": None}
    return CEGBRegressor(**SHORT | {"n_estimators": 9}, tradeoff=0.01, **costs).fit(X, y), X


def test_cost_never_rises_when_a_feature_becomes_free(fitted):
    """A cheaper list may have a finer grid; other prices must not rise by being rounded to it."""
    model, X = fitted[0], fitted[1][:50]
    rng, fell = np.random.default_rng(12), 0
    groups = np.arange(6) if model.feature_groups is None else np.array(model.feature_groups)
    drawn = [(rng.random(9) * 10.0 ** rng.integers(-4, 5, 9))[groups] for _ in range(150)]
    for costs in (model.feature_costs, *drawn):
        before = np.array(list(model.staged_cost(X, feature_costs=costs, split_cost=0.1)))
        for group in np.unique(groups):
            free = np.where(groups == group, 0.0, costs)
            after = np.array(list(model.staged_cost(X, feature_costs=free, split_cost=0.1)))
            assert np.all(after <= before)
            fell += np.any(after < before)
        assert np.all(model.prediction_cost(X, feature_costs=costs, split_cost=0.0) < before[-1])
    assert fell >= 3 * 150


def test_training_rows_acquire_all_that_the_model_pays_for(fitted):
    model, X = fitted
    np.testing.assert_array_equal(model.acquired_features(X).any(axis=0), model.model_features())


# --- sizes at which the kernels take another way ---------------------------------------------


def test_many_priced_features_need_several_words_of_marks():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, (120, 150)).astype(float)
    y = X[:, [3, 71, 92, 143]].sum(axis=1) + rng.normal(size=120)
    costs = np.where(np.arange(150) % 5 == 0, 0.0, rng.choice([0.1, 0.5, 1.0], 150))
    for weights in (None, rng.integers(1, 4, 120).astype(float)):
        model = CEGBRegressor(
            n_estimators=3, max_leaves=10, min_samples_leaf=4, tradeoff=0.02, feature_costs=costs
        )
        assert_twins(model, reference, X, y, weights=weights)
        used = np.flatnonzero(model.model_features() & (costs > 0))
        assert used[0] < 40
        assert used[-1] > 110  # third word: a fifth of the features has no mark


def test_more_than_256_features_are_acquired_sparsely():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 5, (90, 300)).astype(float)
    y = X[:, 0] + X[:, 280] + rng.normal(size=90)
    groups = np.arange(300) // 3
    costs = (groups % 4).astype(float)
    model = CEGBRegressor(
        n_estimators=3, max_leaves=6, min_samples_leaf=5, feature_costs=costs,
        feature_groups=groups, split_cost=0.25, tradeoff=0.01,
    )  # fmt: skip
    assert_twins(model, reference, X, y)
    acquired = model.acquired_features(X)
    assert acquired.format == "csr"
    assert acquired.dtype == bool
    assert acquired.shape == (90, 300)
    assert acquired.nnz == np.count_nonzero(acquired.toarray()) > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_with_remainders_need_marks_of_their_own(weighted):
    """Forty groups and 120 features with prices: three words of marks."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 6, (200, 120)).astype(float)
    y = X[:, [3, 5, 92, 113]].sum(axis=1) + rng.normal(size=200)
    model = CEGBRegressor(
        n_estimators=3, max_leaves=8, min_samples_leaf=4, tradeoff=0.02,
        feature_costs=rng.choice([0.0, 0.1, 0.5, 1.0], 120), feature_groups=np.arange(120) // 3,
        group_costs={g: float(rng.choice([0.0, 0.2, 0.6])) for g in range(40)},
    )  # fmt: skip
    weights = rng.integers(1, 4, 200).astype(float) if weighted else None
    assert_twins(model, reference, X, y, weights=weights)
    assert model.model_features().sum() > 3


@pytest.mark.parametrize("growth", ["best_first", "breadth_first"])
def test_unlimited_leaves(growth):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(160, 4))
    y = rng.normal(size=160)
    model = CEGBRegressor(
        n_estimators=2, max_leaves=None, min_samples_leaf=1, growth=growth, tradeoff=1e-4,
        feature_costs=[0.1, 0.2, 0.0, 0.4], model_feature_costs=[9.0, 3.0, 8.0, 1.0],
    )  # fmt: skip
    assert_twins(model, reference, X, y)
    assert model._bit_vectors == []  # more than 64 leaves: prediction walks
    assert np.max(np.diff(model.trees_.tree)) > 128
