"""Boosted trees of every kind against their references, decision by decision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.kernels.decorators import available_threads
from tests.twins import (
    KINDS,
    LOSSES,
    assert_equal_arrays,
    assert_same_predictions,
    assert_same_trees,
    assert_twins,
    awkward_data,
    draw_validation,
    draw_weights,
    estimator_of,
    fit_twins,
    meter_prices,
    with_missing,
)

GROWTHS = ["best_first", "breadth_first"]
CHARGINGS = ["first_use", "authors"]


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


def draw_parameters(rng, kind, n_features, scale):
    """One random setting of everything a kind has; `scale` is that of Greedy Miser's gains."""
    drawn = draw_prices(rng, n_features) | {
        "n_estimators": int(rng.integers(1, 8)),
        "learning_rate": float(rng.choice([1.0, 0.1, 0.3])),
        "max_depth": rng.choice([None, None, 1, 3, 4, 4]),
        "min_samples_leaf": int(rng.choice([1, 1, 2, 5, 20])),
        "split_cost": float(rng.choice([0.0, 0.25, 0.1])),
        "feature_sharing": rng.choice([1.0, 4.0, 64.0], n_features) if rng.random() < 0.3 else None,
        "max_bins": int(rng.choice([2, 3, 16, 255])),
        "init": str(rng.choice(["mean", "zero"])),
    }
    if kind == "miser":
        return drawn | {
            "tradeoff": float(rng.choice([0.0, 1e-3, 1e-2, 0.1, 1.0])) * scale,
            "budget": rng.choice([None, None, np.inf, 0.0, 1.3, 6.0, 14.2, 33.0]),
            "tree_cost": float(rng.choice([0.0, 0.3, 1.0, 2.5])),
            "charging": str(rng.choice(CHARGINGS)),
        }
    drawn |= {
        "max_leaves": rng.choice([2, 3, 8, 16, None]),
        "growth": str(rng.choice(GROWTHS)),
        "min_hessian_leaf": float(rng.choice([1e-3, 0.0, 0.5, 3.0])),
    }
    if kind == "gbrt":
        return drawn
    of_model = rng.choice([0.0, 1.0, 10.0, 50.0, 200.0], n_features)
    of_model = of_model[drawn.get("feature_groups", np.arange(n_features))]
    return drawn | {
        "tradeoff": float(rng.choice([0.0, 1e-4, 1e-2, 0.1, 1.0])),
        "model_feature_costs": of_model if rng.random() < 0.5 else None,
        "stop_on_negative_gain": bool(rng.random() < 0.8),
        "second_order": bool(rng.random() < 0.7),
    }


def draw_case(rng, kind, loss):
    n_samples, n_features = int(rng.integers(2, 300)), int(rng.integers(1, 10))
    X, y = awkward_data(rng, n_samples, n_features, loss, n_classes=int(rng.integers(3, 6)))
    scale = 0.1 * float(np.sum((y - y.mean()) ** 2)) if loss == "squared" else 1.0
    parameters = draw_parameters(rng, kind, n_features, scale)
    return X, y, draw_weights(rng, n_samples), parameters


def drawing(year, kind, seed):
    return np.random.default_rng([year, list(KINDS).index(kind), seed])


def cases(**n_seeds):
    """So many seeds of each kind."""
    return [(kind, seed) for kind, n in n_seeds.items() for seed in range(n)]


@pytest.mark.parametrize(("kind", "seed"), cases(cegb=24, gbrt=18, miser=18))
def test_equals_reference(kind, seed):
    rng, loss = drawing(2017, kind, seed), LOSSES[seed % 3]
    X, y, weights, parameters = draw_case(rng, kind, loss)
    new_rows = [rng.normal(size=(17, X.shape[1]))]
    estimator = estimator_of(kind, loss)(**parameters)
    assert_twins(estimator, KINDS[kind][2], X, y, new_rows, weights=weights)


@pytest.mark.parametrize(("kind", "seed"), cases(cegb=12, gbrt=9, miser=6))
def test_equals_reference_with_missing_values(kind, seed):
    rng, loss = drawing(2021, kind, seed), LOSSES[seed % 3]
    X, y, weights, parameters = draw_case(rng, kind, loss)
    if kind == "cegb":
        parameters["max_leaves"] = rng.choice([2, 8, 16])  # prediction by bit-vectors
    eval_set = (with_missing(rng, X[:40]), y[:40]) if seed % 2 else None
    estimator = estimator_of(kind, loss)(n_threads=1 + seed % 2, **parameters)
    new_rows = [with_missing(rng, rng.normal(size=(17, X.shape[1]))) for _ in range(2)]
    X = with_missing(rng, X)
    assert_twins(estimator, KINDS[kind][2], X, y, new_rows, weights=weights, eval_set=eval_set)


@pytest.mark.parametrize(("kind", "seed"), cases(cegb=9, gbrt=9, miser=9))
def test_equals_reference_with_a_validation_set(kind, seed):
    rng, loss = drawing(2018, kind, seed), LOSSES[seed % 3]
    X, y, _, parameters = draw_case(rng, kind, loss)
    eval_set, watch = draw_validation(rng, X, y, loss)
    parameters |= watch | {"n_estimators": 8}
    if kind == "cegb":
        parameters["tradeoff"] = float(rng.choice([1e-4, 1e-2]))
    estimator = estimator_of(kind, loss)(**parameters)
    model = assert_twins(estimator, KINDS[kind][2], X, y, eval_set=eval_set)
    if watch["early_stopping_rounds"] is not None and model.best_round is not None:
        assert estimator.n_estimators_ == model.best_round


NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, 2.0, 3.0, -5.0, np.nextafter(1, 2), 0.1, 5e-324, 1.7e308, -1.7e308, np.nan]
)
PRICE = st.sampled_from([0.0, 0.1, 1.0, 3.0, 5e-324, 1e270])
USUAL_PRICE = st.sampled_from([0.0, 0.1, 1.0, 3.0])


@st.composite
def small_cases(draw, kind):
    """A few rows of awkward numbers, and prices."""
    n_samples, n_features = draw(st.integers(1, 12)), draw(st.integers(1, 3))

    def several(values, n=n_features):
        return st.lists(values, min_size=n, max_size=n)

    X = np.array(draw(several(several(NUMBERS), n_samples)))
    y = np.array(draw(several(st.integers(0, 2), n_samples)))
    weights = draw(st.none() | several(st.sampled_from([1.0, 2.0, 0.5]), n_samples))
    costs = st.none() | several(USUAL_PRICE if kind == "cegb" else PRICE)
    parameters = {
        "n_estimators": draw(st.integers(1, 3)),
        "learning_rate": 0.5,
        "min_samples_leaf": 1,
        "max_bins": draw(st.sampled_from([2, 3, 255])),
        "feature_costs": draw(costs),
    }
    if kind != "miser":
        parameters |= {
            "min_hessian_leaf": 0.0,
            "max_leaves": draw(st.sampled_from([2, 4, None])),
            "growth": draw(st.sampled_from(GROWTHS)),
            "split_cost": draw(USUAL_PRICE),
        }
    if kind == "cegb":
        parameters |= {
            "tradeoff": draw(st.sampled_from([0.0, 0.02, 0.2])),
            "model_feature_costs": draw(costs),
            "stop_on_negative_gain": draw(st.booleans()),
        }
    if kind == "miser":
        budgets = st.sampled_from([0.0, 0.1, 1.1, 2.2, 4.0, 1e-323, 2e270, np.inf])
        groups = draw(st.none() | several(st.sampled_from("ab")))
        parameters |= {
            "max_depth": draw(st.sampled_from([1, 2, None])),
            "tradeoff": draw(st.sampled_from([0.0, 0.02, 0.2])),
            "budget": draw(st.none() | budgets),
            "tree_cost": draw(PRICE),
            "charging": draw(st.sampled_from(CHARGINGS)),
            "feature_groups": groups,
            "group_costs": groups and {label: draw(PRICE) for label in dict.fromkeys(groups)},
        }
    return X, y, None if weights is None else np.array(weights), parameters


# scikit-learn's look for infinities adds up numbers near the largest.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")
@pytest.mark.parametrize("kind", list(KINDS))
@given(data=st.data(), classify=st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_equals_reference_on_few_rows(kind, data, classify):
    X, y, weights, parameters = data.draw(small_cases(kind))
    estimator = KINDS[kind][classify](**parameters)
    y = y if classify else y.astype(np.float64)
    assert_twins(estimator, KINDS[kind][2], X, y, weights=weights)


# --- degenerate data -------------------------------------------------------------------------

PLAIN = {"n_estimators": 3, "min_samples_leaf": 1, "learning_rate": 0.5}
VARIANTS = {
    "cegb": [{}, {"init": "zero", "max_bins": 4}],
    "gbrt": [{}],
    "miser": [
        {"tradeoff": 0.01, "charging": charging} | options
        for charging in CHARGINGS
        for options in ({}, {"budget": 3.0, "init": "mean", "feature_costs": None})
    ],
}
DEGENERATE = {
    "one row": ([[1.0, 2.0]], [3.0]),
    "two rows": ([[1.0], [2.0]], [0.0, 1.0]),
    "two equal rows": ([[1.0], [1.0]], [0.0, 1.0]),
    "constant X": ([[7.0, 7.0]] * 9, [0.0, 1, 2, 3, 4, 5, 6, 7, 8]),
    "constant y": ([[0.0], [1.0], [2.0]] * 5, [4.0] * 15),
    "duplicates": ([[0.0, 3.0]] * 4 + [[1.0, 2.0]] * 4, [0.0, 1, 0, 1, 5, 6, 5, 6]),
    "adjacent floats": ([[1.0], [np.nextafter(1.0, 2.0)]] * 4, [0.0, 1] * 4),
    "around zero": ([[-0.0], [0.0], [5e-324], [-5e-324]] * 3, [0.0, 0, 1, 2] * 3),
    "extremes": ([[-1.7e308], [1.7e308], [0.0]] * 3, [0.0, 1, 2] * 3),
    "300 distinct values": (np.arange(300.0)[:, None], np.arange(300) % 7.0),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("classify", [False, True])
@pytest.mark.parametrize("kind", list(KINDS))
def test_degenerate_data(kind, classify, name):
    X, y = map(np.array, DEGENERATE[name])
    y = np.minimum(y, 3).astype(int) if classify else y
    costs = {} if kind == "cegb" else {"feature_costs": np.arange(X.shape[1]) + 1.0}
    for options in VARIANTS[kind]:
        assert_twins(KINDS[kind][classify](**PLAIN | costs | options), KINDS[kind][2], X, y)


@pytest.mark.parametrize("kind", list(KINDS))
def test_one_class_left_by_the_weights(kind):
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 2])
    model = KINDS[kind][1](**PLAIN)
    assert_twins(model, KINDS[kind][2], X, y, weights=np.array([1.0, 2, 1, 0, 0, 0]))
    np.testing.assert_array_equal(model.classes_, [0])
    assert model.n_estimators_ == 0


# --- threads and copies ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    """Enough rows for every parallel path: chunks of rows, tiles, prediction tasks."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20_000, 20))
    X[:, :5] = np.round(X[:, :5])
    X[:, 15:] = np.eye(5)[rng.integers(0, 5, 20_000)]
    score = X[:, 0] + np.sin(2 * X[:, 6]) * X[:, 17] + 0.3 * rng.normal(size=20_000)
    whole, fractional = rng.integers(0, 4, 20_000).astype(float), rng.random(20_000)
    return X, score, {"no": None, "whole": whole, "fractional": fractional}


LARGE = {
    "cegb": {
        "max_leaves": 12, "tradeoff": 1e-3, "split_cost": 0.1, "feature_costs": np.arange(20) % 4.0,
        "model_feature_costs": np.arange(20) % 3 * 100.0,
    },
    "gbrt": {"max_leaves": 12, "min_samples_leaf": 5},
    "miser": {
        "max_depth": 4, "tradeoff": 2.0, "budget": 60.0, "feature_costs": np.arange(20) % 4.0,
        "feature_groups": np.arange(20) // 5, "group_costs": {0: 1.0, 1: 30.0, 2: 4.0, 3: 0.0},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "loss", "weights", "options"),
    [
        *(pytest.param("cegb", loss, weights, {}, marks=pytest.mark.slow)
          for loss in LOSSES for weights in ("no", "whole", "fractional")),
        *(("gbrt", loss, "no", {}) for loss in LOSSES),
        *(("miser", "multinomial", "whole", {"charging": charging}) for charging in CHARGINGS),
    ],
)  # fmt: skip
@pytest.mark.skipif(available_threads() < 2, reason="only one thread: set NUMBA_NUM_THREADS=2")
def test_large_on_one_and_two_threads(large, kind, loss, weights, options):
    X, score, weights_of = large
    bounds = {"squared": [], "logistic": [0.0], "multinomial": [-0.7, 0.7]}[loss]
    y, weights = score if loss == "squared" else np.digitize(score, bounds), weights_of[weights]
    options = {"n_estimators": 2, "learning_rate": 0.5} | LARGE[kind] | options
    one, two = (estimator_of(kind, loss)(n_threads=n, **options) for n in (1, 2))
    model = fit_twins(one, KINDS[kind][2], X, y, weights=weights)
    assert_same_trees(one, model)
    two.fit(X, y, sample_weight=weights)
    assert_equal_arrays(one.trees_, two.trees_)
    for each in (one, two):
        assert_same_predictions(each, model, X[::13], meter_prices(each))
    for name in ("_raw_scores", "prediction_cost", "evaluations", "acquired_features"):
        np.testing.assert_array_equal(getattr(one, name)(X), getattr(two, name)(X))
    assert sum(tree.n_splits for round_ in model.rounds for tree in round_) > 10


COPIED = {
    "cegb": [
        {
            "tradeoff": 1e-4, "split_cost": 0.5, "feature_costs": [4.0, 1, 1, 2, 0, 0.3, 1],
            "model_feature_costs": [5.0, 3, 3, 0, 9, 0.1, 1],
            "feature_groups": [0, 1, 1, 3, 4, 8, 9], "feature_sharing": [1, 1, 4, 4, 1, 1, 1],
        } | options
        for options in ({}, {"max_bins": 9}, {"growth": "breadth_first", "max_leaves": None})
    ],
    "gbrt": [{"max_leaves": 5}, {"max_bins": 5}, {"max_leaves": 5, "growth": "breadth_first"}],
    "miser": [
        {
            "tradeoff": 1e-3, "budget": 9.0, "charging": charging,
            "feature_costs": [0.1, 0.2, 0.3, 0.0, 0.7, 1.0, 0.5], "feature_groups": list("abbccdd"),
            "group_costs": {"a": 1.1, "b": 0.0, "c": 2.3, "d": 1.0},
        }
        for charging in CHARGINGS
    ],
}  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("kind", "options"), [(k, o) for k in COPIED for o in COPIED[k]])
def test_whole_weights_equal_copies(kind, options, loss):
    rng = np.random.default_rng(10)
    X, y = awkward_data(rng, 150, 7, loss)
    y = y / np.abs(y).max() if loss == "squared" else y
    copies = rng.integers(0, 4, 150)
    rows = np.repeat(np.arange(150), copies)
    options = {"n_estimators": 4, "min_samples_leaf": 6} | options
    weighted = estimator_of(kind, loss)(**options).fit(X, y, sample_weight=copies)
    repeated = estimator_of(kind, loss)(**options).fit(X[rows], y[rows])
    assert_equal_arrays(weighted.trees_, repeated.trees_)
    np.testing.assert_array_equal(weighted.initial_scores_, repeated.initial_scores_)
    np.testing.assert_array_equal(weighted._raw_scores(X), repeated._raw_scores(X))
    assert len(weighted.trees_.feature) > 10
