"""The soft cascade: gradients, twins, pools by price, bad input."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from algorithms.raykar_cascade import RaykarCascadeClassifier, SoftLikelihood
from algorithms.reweighted_trees import pools as pooling
from algorithms.reweighted_trees.tree_outputs import tree_outputs
from reference import cascades, raykar_cascade
from reference.mixed_norms import make_problem
from tests.test_cronus import (
    PRICES,
    assert_same_exits,
    draw,
    draw_tiny,
    tiny_trees,
    trees,
    twin_of,
    uses_of,
)

LIMITS = (1, 20, 200)


def cascade(**options):
    return RaykarCascadeClassifier(
        trees(n_estimators=8), price_limits=LIMITS, feature_costs=PRICES, **options
    )


def problem_of(model, X, y, weights, *, tradeoff=1e-3, ridge=1e-2):
    """The same objective for both twins."""
    H, uses, e, c = twin_of(model, X)
    signs = np.where(y == "yes", 1.0, -1.0)
    problem = make_problem(H, signs, uses, e, c, weights)
    prices = cascades.pool_prices(model.pools_, 3, uses, e, c)
    outputs = tree_outputs(model._responses_.forest, X, 2)
    ours = SoftLikelihood(
        outputs, model.pools_, signs, problem.omega, problem.copies, prices, tradeoff, ridge
    )
    return problem, prices, ours


@pytest.fixture(scope="module")
def fitted():
    X, y, weights = draw(0)
    return cascade().fit(X, y, sample_weight=weights), X, y, weights


def test_the_derivatives_are_those_of_the_value(fitted):
    model, X, y, weights = fitted
    problem, prices, _ = problem_of(model, X, y, weights)
    rng = np.random.default_rng(0)
    x = rng.normal(size=3 + len(model.pools_)) * 0.5

    def value(x):
        return raykar_cascade.objective(x, problem, model.pools_, prices, 1e-3, 1e-2)

    _, gradient = value(x)
    for j in range(len(x)):
        unit = 1e-6 * np.eye(len(x))[j]
        expected = (value(x + unit)[0] - value(x - unit)[0]) / 2e-6
        np.testing.assert_allclose(gradient[j], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("size", [0.0, 0.5, 20.0])
def test_values_and_gradients_equal_the_reference(fitted, size):
    model, X, y, weights = fitted
    problem, prices, ours = problem_of(model, X, y, weights)
    x = size * np.random.default_rng(1).normal(size=3 + len(model.pools_))
    value, gradient = raykar_cascade.objective(x, problem, model.pools_, prices, 1e-3, 1e-2)
    found, by_weight = ours(x)
    assert np.all(np.isfinite(gradient))
    np.testing.assert_allclose(found, value, rtol=1e-10)
    np.testing.assert_allclose(by_weight, gradient, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("tradeoff", "reject_below"), [(1e-3, 0.1), (3e-2, 0.5)])
def test_equals_the_reference(seed, tradeoff, reject_below):
    X, y, weights = draw(seed)
    options = {"tradeoff": tradeoff, "ridge": 1e-2, "reject_below": reject_below}
    model = cascade(**options).fit(X, y, sample_weight=weights)
    H, uses, e, c = twin_of(model, X)
    signs = np.where(y == "yes", 1.0, -1.0)
    twin = raykar_cascade.fit(
        H, signs, uses, model.pools_, n_stages=3, tree_costs=e, feature_costs=c,
        sample_weight=weights, **options,
    )  # fmt: skip
    np.testing.assert_allclose(model.objective_, twin.objective, rtol=0.01)
    np.testing.assert_array_equal(model.thresholds_, twin.cascade.theta)
    np.testing.assert_allclose(model.thresholds_, math.log(reject_below / (1 - reject_below)))
    expected = assert_same_exits(model, X)
    # A likelihood of the product does not care where a row is rejected: the costs do.
    assert np.any(expected.stage < 3) == (tradeoff > 1e-2)


def tiny(seed):
    """A model of a few rows; pools that may use the same features have the same trees."""
    rng = np.random.default_rng(seed)
    X, y, weights, prices = draw_tiny(rng)
    n_stages = int(rng.integers(1, 4))
    limits = tuple(sorted(rng.choice([0, 1, 5, 20, 100, 200], n_stages, replace=False).tolist()))
    options = {
        "tradeoff": float(10 ** rng.uniform(-5, 0) * (rng.random() < 0.9)),
        "ridge": float(10 ** rng.uniform(-4, 0)),
        "positive_weight": float(10 ** rng.uniform(-1, 1)),
    }
    model = RaykarCascadeClassifier(
        tiny_trees(rng), price_limits=limits, feature_costs=prices, n_threads=1, **options
    ).fit(X, y, sample_weight=weights)
    return model, X, y, weights, prices, options


def tiny_twins(seed):
    """Fit both twins to a tiny problem."""
    model, X, y, weights, prices, options = tiny(seed)
    H, uses, e, c = twin_of(model, X, prices)
    return model, raykar_cascade.fit(
        H, np.where(y, 1.0, -1.0), uses, model.pools_, n_stages=len(model.price_limits),
        tree_costs=e, feature_costs=c, sample_weight=weights, **options,
    )  # fmt: skip


# In the last three, two stages are alike at a saddle, at which one twin ended and the other not.
@pytest.mark.parametrize("seed", [*range(15), 671, 11808, 12990])
def test_tiny_problems_end_at_the_same_optimum(seed):
    model, twin = tiny_twins(seed)
    np.testing.assert_allclose(model.objective_, twin.objective, rtol=1e-6)


@pytest.mark.slow
def test_a_thousand_tiny_problems_end_at_the_same_optimum():
    for seed in range(1000):
        model, twin = tiny_twins(seed)
        np.testing.assert_allclose(model.objective_, twin.objective, rtol=1e-6, err_msg=seed)


def test_stages_that_are_alike_are_told_apart():
    """Two stages of the same trees: the second descent is lower, and its evaluations count."""
    model, X, y, weights, *_ = tiny(671)
    assert model.objective_ < 0.29  # 0.306 at the saddle
    capped = clone(model).set_params(max_evaluations=5).fit(X, y, sample_weight=weights)
    assert capped.n_evaluations_ <= 5 + 20  # one line search beyond
    assert capped.capped_


def test_pools_by_price(fitted):
    model, *_ = fitted
    forest = model._responses_.forest
    uses = uses_of(forest, 5)
    np.testing.assert_array_equal(model.pools_, np.repeat([0, 1, 2], 8))
    for k, limit in enumerate(LIMITS):
        assert np.any(uses[:, model.pools_ == k])
        assert not np.any(uses[PRICES > limit][:, model.pools_ == k])
    pools = cascades.pools_by_price(uses, PRICES, LIMITS)
    np.testing.assert_array_equal(pooling.pools_by_price(forest, PRICES, LIMITS), pools)
    prices = model._price_list(model._priced(model._responses_).meter)
    expected = cascades.pool_prices(model.pools_, 3, uses, np.ones(24), PRICES)
    ours = pooling.pool_prices(forest, model.pools_, 3, prices, 1.0)
    np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(model.coef_[model.pools_ != np.arange(3)[:, None]], 0)


def test_fitted_trees_are_shared_out(fitted):
    _, X, y, weights = fitted
    inner = trees(max_leaves=2).fit(X, np.where(y == "yes", 1.0, -1.0))
    model = clone(cascade()).set_params(estimator=FrozenEstimator(inner), price_limits=(1, 20))
    model.fit(X, y, sample_weight=weights)
    uses = uses_of(inner.trees_, 5)
    expected = cascades.pools_by_price(uses, PRICES, (1, 20))
    assert {0, 2} <= set(expected)  # 2: of no stage
    np.testing.assert_array_equal(model.pools_, expected)
    np.testing.assert_array_equal(model.coef_[:, expected == 2], 0)
    assert not model.acquired_features(X)[:, PRICES == 100].any()
    assert_same_exits(model, X)


def test_dearer_cascades_reject_earlier(fitted):
    _, X, y, weights = fitted
    spent = []
    for tradeoff in (0.0, 3e-3, 1.0):
        model = cascade(tradeoff=tradeoff).fit(X, y, sample_weight=weights)
        spent.append(model.forest_cost_until_exit(X).mean())
    assert spent[0] > spent[1] > spent[2]


def test_prices_of_the_trees_by_name(fitted):
    model, X, y, weights = fitted
    frame = pd.DataFrame(X, columns=list("pqrst"))
    prices = dict(zip("tsrqp", PRICES[::-1], strict=True))
    inner = clone(model).set_params(feature_costs=None)
    inner.set_params(estimator__feature_costs=prices).fit(frame, y, sample_weight=weights)
    np.testing.assert_array_equal(inner.coef_, model.coef_)
