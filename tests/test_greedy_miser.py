"""Greedy Miser: the estimator against its reference, decision by decision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from algorithms.kernels.decorators import available_threads
from reference import forest_costs
from reference import greedy_miser as reference
from tests.twins import assert_twins, awkward_data, draw_validation, draw_weights, with_missing

LOSSES = ("squared", "logistic", "multinomial")
BILL = ("feature_costs", "feature_groups", "group_costs", "tree_cost")


def estimator_of(loss):
    return GreedyMiserRegressor if loss == "squared" else GreedyMiserClassifier


def assert_miser_twins(estimator, X, y, new_rows=(), **fit):
    """Assert equal decisions, predictions and bills; return the reference model."""
    model = assert_twins(estimator, reference, X, y, new_rows, **fit)
    prices = {name: getattr(estimator, name) for name in BILL}
    d = np.shape(X)[1]
    bills = list(forest_costs.staged_forest_cost(model, d, **prices))
    assert list(estimator.staged_forest_cost()) == bills
    assert estimator.forest_cost() == forest_costs.forest_cost(model, d, **prices)
    if estimator.budget is not None:
        assert all(bill <= estimator.budget for bill in bills)
    return model


def draw_prices(rng, n_features):
    """Prices of features, or of groups, or of groups with remainders."""
    kind = rng.integers(4)
    costs = rng.choice([0.0, 0.1, 1.0, 1.0, 5.0, 20.0], n_features)
    if kind < 2:
        return {"feature_costs": costs if kind else None}
    groups = rng.integers(0, max(1, n_features // 2), n_features)
    if kind == 2:
        return {"feature_costs": costs[groups], "feature_groups": groups}
    by_group = {int(g): float(rng.choice([0.0, 0.3, 2.0, 7.1])) for g in np.unique(groups)}
    return {
        "feature_costs": costs if rng.random() < 0.7 else None,
        "feature_groups": groups,
        "group_costs": by_group,
    }


def draw_parameters(rng, n_features, scale):
    """One random setting of everything Greedy Miser has; `scale` is that of its gains."""
    return draw_prices(rng, n_features) | {
        "n_estimators": int(rng.integers(1, 8)),
        "learning_rate": float(rng.choice([1.0, 0.1, 0.3])),
        "max_depth": rng.choice([None, 1, 3, 4, 4]),
        "min_samples_leaf": int(rng.choice([1, 1, 2, 5, 20])),
        "tradeoff": float(rng.choice([0.0, 1e-3, 1e-2, 0.1, 1.0])) * scale,
        "budget": rng.choice([None, None, np.inf, 0.0, 1.3, 6.0, 14.2, 33.0]),
        "tree_cost": float(rng.choice([0.0, 0.3, 1.0, 2.5])),
        "charging": str(rng.choice(["first_use", "authors"])),
        "split_cost": float(rng.choice([0.0, 0.25])),
        "feature_sharing": rng.choice([1.0, 4.0], n_features) if rng.random() < 0.2 else None,
        "max_bins": int(rng.choice([2, 3, 16, 255])),
        "init": str(rng.choice(["mean", "zero"])),
    }


def draw_case(rng, loss):
    n_samples, n_features = int(rng.integers(30, 250)), int(rng.integers(1, 10))
    X, y = awkward_data(rng, n_samples, n_features, loss)
    scale = 0.1 * float(np.sum((y - y.mean()) ** 2)) if loss == "squared" else 1.0
    weights = draw_weights(rng, n_samples)
    return X, y, weights, draw_parameters(rng, n_features, scale)


@pytest.mark.parametrize("seed", range(18))
def test_equals_reference(seed):
    rng = np.random.default_rng([2012, seed])
    loss = LOSSES[seed % 3]
    X, y, weights, parameters = draw_case(rng, loss)
    new_rows = [rng.normal(size=(17, X.shape[1]))]
    assert_miser_twins(estimator_of(loss)(**parameters), X, y, new_rows, weights=weights)


@pytest.mark.parametrize("seed", range(6))
def test_equals_reference_with_missing_values(seed):
    rng = np.random.default_rng([2014, seed])
    loss = LOSSES[seed % 3]
    X, y, weights, parameters = draw_case(rng, loss)
    X, new_rows = with_missing(rng, X), [with_missing(rng, rng.normal(size=(17, X.shape[1])))]
    assert_miser_twins(estimator_of(loss)(**parameters), X, y, new_rows, weights=weights)


@pytest.mark.parametrize("seed", range(9))
def test_equals_reference_with_a_validation_set(seed):
    rng = np.random.default_rng([2013, seed])
    loss = LOSSES[seed % 3]
    X, y, _, parameters = draw_case(rng, loss)
    eval_set, watch = draw_validation(rng, X, y, loss)
    estimator = estimator_of(loss)(**parameters | watch | {"n_estimators": 8})
    model = assert_miser_twins(estimator, X, y, eval_set=eval_set)
    if watch["early_stopping_rounds"] is not None and model.best_round is not None:
        assert estimator.n_estimators_ == model.best_round


NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, 2.0, 3.0, -5.0, np.nextafter(1, 2), 0.1, 5e-324, 1.7e308, -1.7e308, np.nan]
)
PRICE = st.sampled_from([0.0, 0.1, 1.0, 3.0, 5e-324, 1e270])


@st.composite
def small_cases(draw):
    """A few rows of awkward numbers, and prices."""
    n_samples, n_features = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    rows = st.lists(NUMBERS, min_size=n_features, max_size=n_features)
    X = np.array(draw(st.lists(rows, min_size=n_samples, max_size=n_samples)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n_samples, max_size=n_samples)))
    weights = st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n_samples, max_size=n_samples)
    groups = draw(
        st.none() | st.lists(st.sampled_from("ab"), min_size=n_features, max_size=n_features)
    )
    prices = st.lists(PRICE, min_size=n_features, max_size=n_features)
    parameters = {
        "n_estimators": draw(st.integers(1, 3)),
        "learning_rate": 0.5,
        "min_samples_leaf": 1,
        "max_depth": draw(st.sampled_from([1, 2, None])),
        "max_bins": draw(st.sampled_from([2, 3, 255])),
        "tradeoff": draw(st.sampled_from([0.0, 0.02, 0.2])),
        "budget": draw(
            st.none() | st.sampled_from([0.0, 0.1, 1.1, 2.2, 4.0, 1e-323, 2e270, np.inf])
        ),
        "tree_cost": draw(PRICE),
        "charging": draw(st.sampled_from(["first_use", "authors"])),
        "feature_costs": draw(st.none() | prices),
    }
    if groups is not None:
        by_group = {label: draw(PRICE) for label in dict.fromkeys(groups)}
        parameters |= {"feature_groups": groups, "group_costs": by_group}
    return X, y, draw(st.none() | weights), parameters, draw(st.booleans())


# scikit-learn's look for infinities adds up numbers near the largest.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")
@given(small_cases())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_equals_reference_on_few_rows(case):
    X, y, weights, parameters, classify = case
    estimator = GreedyMiserClassifier if classify else GreedyMiserRegressor
    weights = None if weights is None else np.array(weights)
    y = y if classify else y.astype(np.float64)
    assert_miser_twins(estimator(**parameters), X, y, weights=weights)


PLAIN = {"n_estimators": 3, "min_samples_leaf": 1, "learning_rate": 0.5, "tradeoff": 0.01}


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0]], [3.0]),
        ([[1.0], [2.0]], [0.0, 1.0]),
        ([[1.0], [1.0]], [0.0, 1.0]),
        ([[7.0, 7.0]] * 9, [0.0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ([[0.0], [1.0], [2.0]] * 5, [4.0] * 15),
        ([[0.0, 3.0]] * 4 + [[1.0, 2.0]] * 4, [0.0, 1, 0, 1, 5, 6, 5, 6]),
        ([[-0.0], [0.0], [5e-324], [-5e-324]] * 3, [0.0, 0, 1, 2] * 3),
        (np.arange(300.0)[:, None], np.arange(300) % 7.0),
    ],
    ids=[
        "one row", "two rows", "two equal rows", "constant X", "constant y", "duplicates",
        "around zero", "300 distinct values",
    ],
)  # fmt: skip
@pytest.mark.parametrize("classify", [False, True])
@pytest.mark.parametrize("charging", ["first_use", "authors"])
def test_degenerate_data(X, y, classify, charging):
    X, y = np.array(X), np.array(y)
    estimator = GreedyMiserClassifier if classify else GreedyMiserRegressor
    y = np.minimum(y, 3).astype(int) if classify else y
    costs = np.arange(X.shape[1]) + 1.0
    assert_miser_twins(estimator(**PLAIN, charging=charging, feature_costs=costs), X, y)
    assert_miser_twins(estimator(**PLAIN, charging=charging, budget=3.0, init="mean"), X, y)


def test_one_class_left_by_the_weights():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 2])
    model = GreedyMiserClassifier(**PLAIN)
    assert_miser_twins(model, X, y, weights=np.array([1.0, 2, 1, 0, 0, 0]))
    np.testing.assert_array_equal(model.classes_, [0])
    assert (model.n_estimators_, model.forest_cost()) == (0, 0.0)


needs_threads = pytest.mark.skipif(
    available_threads() < 2, reason="only one thread: NUMBA_NUM_THREADS=2 makes two of any machine"
)


@pytest.mark.parametrize("charging", ["first_use", "authors"])
@needs_threads
def test_large_on_one_and_two_threads(charging):
    """Enough rows for every parallel path; weights and groups with remainders."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20_000, 12))
    X[:, :5] = np.round(X[:, :5])
    y = np.digitize(X[:, 0] + X[:, 5] * X[:, 6] + rng.normal(size=20_000), [-0.7, 0.7])
    options = {
        "n_estimators": 2, "max_depth": 4, "tradeoff": 2.0, "budget": 60.0, "charging": charging,
        "feature_costs": np.arange(12) % 4.0, "feature_groups": np.arange(12) // 3,
        "group_costs": {0: 1.0, 1: 30.0, 2: 4.0, 3: 0.0},
    }  # fmt: skip
    weights = rng.integers(1, 4, 20_000).astype(float)
    one = GreedyMiserClassifier(n_threads=1, **options)
    assert_miser_twins(one, X, y, weights=weights)
    two = GreedyMiserClassifier(n_threads=2, **options).fit(X, y, sample_weight=weights)
    for name, values in one.trees_._asdict().items():
        np.testing.assert_array_equal(getattr(two.trees_, name), values, name)
    for name in ("_raw_scores", "prediction_cost", "evaluations", "acquired_features"):
        np.testing.assert_array_equal(getattr(one, name)(X), getattr(two, name)(X))
    assert np.count_nonzero(one.trees_.feature >= 0) > 10
