"""CEGB: the estimator against its reference, decision by decision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.kernels.decorators import available_threads
from reference import cegb as reference
from tests.twins import (
    assert_same_predictions,
    assert_same_trees,
    assert_twins,
    awkward_data,
    draw_validation,
    draw_weights,
    fit_twins,
    with_missing,
)

LOSSES = ("squared", "logistic", "multinomial")


def draw_parameters(rng, n_features):
    """One random setting of everything CEGB has."""
    groups = rng.integers(0, max(1, n_features // 2), n_features) if rng.random() < 0.3 else None

    def prices(scale):
        drawn = rng.choice([0.0, 0.1, 1.0, 1.0, 5.0, 20.0], n_features) * scale
        if groups is not None:
            for group in np.unique(groups):
                drawn[groups == group] = drawn[groups == group][0]
        return drawn

    parameters = {
        "n_estimators": int(rng.integers(1, 7)),
        "learning_rate": float(rng.choice([1.0, 0.1, 0.3])),
        "max_leaves": rng.choice([2, 3, 8, 16, None]),
        "max_depth": rng.choice([None, None, 1, 3, 4]),
        "min_samples_leaf": int(rng.choice([1, 1, 2, 5, 20])),
        "growth": str(rng.choice(["best_first", "breadth_first"])),
        "tradeoff": float(rng.choice([0.0, 1e-4, 1e-2, 0.1, 1.0])),
        "split_cost": float(rng.choice([0.0, 0.25, 0.1])),
        "feature_costs": prices(1.0) if rng.random() < 0.7 else None,
        "model_feature_costs": prices(10.0) if rng.random() < 0.5 else None,
        "feature_groups": groups,
        "feature_sharing": rng.choice([1.0, 4.0, 64.0], n_features) if rng.random() < 0.3 else None,
        "max_bins": int(rng.choice([2, 3, 16, 255])),
        "stop_on_negative_gain": bool(rng.random() < 0.8),
        "second_order": bool(rng.random() < 0.7),
        "init": str(rng.choice(["mean", "zero"])),
        "min_hessian_leaf": float(rng.choice([1e-3, 0.0, 0.5])),
    }
    if groups is not None and rng.random() < 0.5:  # each feature's price is what remains
        own = rng.choice([0.0, 0.1, 1.0, 5.0], n_features)
        by_group = {int(g): float(rng.choice([0.0, 0.3, 2.0])) for g in np.unique(groups)}
        parameters |= {"feature_costs": own, "group_costs": by_group}
    return parameters


def estimator_of(loss):
    return CEGBRegressor if loss == "squared" else CEGBClassifier


def draw_case(rng, loss):
    n_samples, n_features = int(rng.integers(30, 300)), int(rng.integers(1, 10))
    X, y = awkward_data(rng, n_samples, n_features, loss)
    return X, y, draw_weights(rng, n_samples), draw_parameters(rng, n_features)


@pytest.mark.parametrize("seed", range(24))
def test_equals_reference(seed):
    rng = np.random.default_rng([2017, seed])
    loss = LOSSES[seed % 3]
    X, y, weights, parameters = draw_case(rng, loss)
    new_rows = [rng.normal(size=(17, X.shape[1]))]
    estimator = estimator_of(loss)(**parameters)
    assert_twins(estimator, reference, X, y, new_rows, weights=weights)


@pytest.mark.parametrize("seed", range(12))
def test_equals_reference_with_missing_values(seed):
    rng = np.random.default_rng([2021, seed])
    loss = LOSSES[seed % 3]
    X, y, weights, parameters = draw_case(rng, loss)
    parameters["max_leaves"] = rng.choice([2, 8, 16])  # prediction by bit-vectors
    eval_set = (with_missing(rng, X[:40]), y[:40]) if seed % 2 else None
    estimator = estimator_of(loss)(n_threads=1 + seed % 2, **parameters)
    new_rows = [with_missing(rng, rng.normal(size=(17, X.shape[1]))) for _ in range(2)]
    X = with_missing(rng, X)
    assert_twins(estimator, reference, X, y, new_rows, weights=weights, eval_set=eval_set)


@pytest.mark.parametrize("seed", range(9))
def test_equals_reference_with_a_validation_set(seed):
    rng = np.random.default_rng([2018, seed])
    loss = LOSSES[seed % 3]
    X, y, _, parameters = draw_case(rng, loss)
    eval_set, watch = draw_validation(rng, X, y, loss)
    parameters |= watch | {"n_estimators": 8, "tradeoff": float(rng.choice([1e-4, 1e-2]))}
    estimator = estimator_of(loss)(**parameters)
    model = assert_twins(estimator, reference, X, y, eval_set=eval_set)
    if watch["early_stopping_rounds"] is not None and model.best_round is not None:
        assert estimator.n_estimators_ == model.best_round


NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, 2.0, 3.0, -5.0, np.nextafter(1, 2), 0.1, 5e-324, 1.7e308, -1.7e308, np.nan]
)
PRICE = st.sampled_from([0.0, 0.1, 1.0, 3.0])


@st.composite
def small_cases(draw):
    """A few rows of awkward numbers, and prices."""
    n_samples, n_features = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    rows = st.lists(NUMBERS, min_size=n_features, max_size=n_features)
    X = np.array(draw(st.lists(rows, min_size=n_samples, max_size=n_samples)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n_samples, max_size=n_samples)))
    some = st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n_samples, max_size=n_samples)
    costs = st.none() | st.lists(PRICE, min_size=n_features, max_size=n_features)
    parameters = {
        "n_estimators": 2,
        "learning_rate": 0.5,
        "min_samples_leaf": 1,
        "min_hessian_leaf": 0.0,
        "max_leaves": draw(st.sampled_from([2, 4, None])),
        "growth": draw(st.sampled_from(["best_first", "breadth_first"])),
        "max_bins": draw(st.sampled_from([2, 3, 255])),
        "tradeoff": draw(st.sampled_from([0.0, 0.02, 0.2])),
        "split_cost": draw(PRICE),
        "feature_costs": draw(costs),
        "model_feature_costs": draw(costs),
        "stop_on_negative_gain": draw(st.booleans()),
    }
    return X, y, draw(st.none() | some), parameters, draw(st.booleans())


# scikit-learn's look for infinities adds up numbers near the largest.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")
@given(small_cases())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_equals_reference_on_few_rows(case):
    X, y, weights, parameters, classify = case
    estimator = CEGBClassifier if classify else CEGBRegressor
    weights = None if weights is None else np.array(weights)
    y = y if classify else y.astype(np.float64)
    assert_twins(estimator(**parameters), reference, X, y, weights=weights)


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


needs_threads = pytest.mark.skipif(
    available_threads() < 2, reason="only one thread: NUMBA_NUM_THREADS=2 makes two of any machine"
)


@pytest.fixture(scope="module")
def large():
    """Enough rows for every parallel path: chunks of rows, tiles, prediction tasks."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20_000, 20))
    X[:, :5] = np.round(X[:, :5])
    X[:, 15:] = np.eye(5)[rng.integers(0, 5, 20_000)]
    score = X[:, 0] + np.sin(2 * X[:, 6]) * X[:, 17] + 0.3 * rng.normal(size=20_000)
    return X, score, rng.integers(0, 4, 20_000).astype(float), rng.random(20_000)


LARGE = {
    "n_estimators": 2,
    "max_leaves": 12,
    "learning_rate": 0.5,
    "tradeoff": 1e-3,
    "split_cost": 0.1,
    "feature_costs": np.arange(20) % 4.0,
    "model_feature_costs": np.arange(20) % 3 * 100.0,
}


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["rows", "whole weights", "fractional weights"])
@needs_threads
def test_large_on_one_and_two_threads(large, loss, kind):
    X, score, whole, fractional = large
    weights = {"rows": None, "whole weights": whole, "fractional weights": fractional}[kind]
    bounds = {"squared": [], "logistic": [0.0], "multinomial": [-0.7, 0.7]}[loss]
    y = score if loss == "squared" else np.digitize(score, bounds)
    one = estimator_of(loss)(n_threads=1, **LARGE)
    two = estimator_of(loss)(n_threads=2, **LARGE)
    model = fit_twins(one, reference, X, y, weights=weights)
    assert_same_trees(one, model)
    two.fit(X, y, sample_weight=weights)
    for name, values in one.trees_._asdict().items():
        np.testing.assert_array_equal(getattr(two.trees_, name), values, name)
    Z = X[::13]
    prices = {name: LARGE[name] for name in ("feature_costs", "split_cost")}
    for each in (one, two):
        assert_same_predictions(each, model, Z, prices)
    for name in ("_raw_scores", "prediction_cost", "evaluations", "acquired_features"):
        np.testing.assert_array_equal(getattr(one, name)(X), getattr(two, name)(X))
    assert sum(tree.n_splits for round_ in model.rounds for tree in round_) > 10


# --- degenerate data -------------------------------------------------------------------------

PLAIN = {"n_estimators": 3, "min_samples_leaf": 1, "learning_rate": 0.5}


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0]], [3.0]),
        ([[1.0], [2.0]], [0.0, 1.0]),
        ([[1.0], [1.0]], [0.0, 1.0]),
        ([[7.0, 7.0]] * 9, [0.0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ([[0.0], [1.0], [2.0]] * 5, [4.0] * 15),
        ([[0.0, 3.0]] * 4 + [[1.0, 2.0]] * 4, [0.0, 1, 0, 1, 5, 6, 5, 6]),
        ([[1.0], [np.nextafter(1.0, 2.0)]] * 4, [0.0, 1] * 4),
        ([[-0.0], [0.0], [5e-324], [-5e-324]] * 3, [0.0, 0, 1, 2] * 3),
        ([[-1.7e308], [1.7e308], [0.0]] * 3, [0.0, 1, 2] * 3),
        (np.arange(300.0)[:, None], np.arange(300) % 7.0),
    ],
    ids=[
        "one row", "two rows", "two equal rows", "constant X", "constant y", "duplicates",
        "adjacent floats", "around zero", "extremes", "300 distinct values",
    ],
)  # fmt: skip
@pytest.mark.parametrize("classify", [False, True])
def test_degenerate_data(X, y, classify):
    X, y = np.array(X), np.array(y)
    estimator = CEGBClassifier if classify else CEGBRegressor
    y = np.minimum(y, 3).astype(int) if classify else y
    assert_twins(estimator(**PLAIN), reference, X, y)
    assert_twins(estimator(**PLAIN, init="zero", max_bins=4), reference, X, y)


def test_one_class_left_by_the_weights():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 2])
    weights = np.array([1.0, 2, 1, 0, 0, 0])
    model = CEGBClassifier(**PLAIN)
    assert_twins(model, reference, X, y, weights=weights)
    np.testing.assert_array_equal(model.classes_, [0])
    assert model.n_estimators_ == 0
