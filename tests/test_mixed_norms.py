"""The convex problems of Cronus against independent solvers and their own duality gap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from reference import mixed_norms


def draw(seed, n=150, n_trees=12, n_features=6, duplicates=True):
    """Tree outputs with a duplicate and a constant, features of all prices, whole weights."""
    rng = np.random.default_rng(seed)
    outputs = np.round(rng.normal(size=(n, n_trees)), 1)
    if duplicates:
        outputs[:, 5] = outputs[:, 4]
    outputs[:, -1] = 0.25
    uses = rng.random((n_features, n_trees)) < 0.3
    uses[:, -1] = False
    y = np.where(outputs[:, :4].sum(axis=1) + rng.normal(size=n) > 1, 1.0, -1.0)
    prices = np.array([0.0, 1.0, 5.0, 20.0, 100.0, 1.0])[:n_features]
    tree_costs = np.append(np.ones(n_trees - 1), 0.0)
    weights = rng.integers(1, 11, n).astype(float)
    problem = mixed_norms.make_problem(outputs, y, uses, tree_costs, prices, weights)
    return problem, rng


def draw_stage(problem, rng, *, is_first=False, tradeoff=2e-3, penalty=1e-3):
    """A first stage, or one behind others that use some trees."""
    width = problem.outputs.shape[1]
    if is_first:
        return mixed_norms.Stage(problem.omega, 1.0, np.zeros(width), penalty, tradeoff)
    reach = rng.random(len(problem.y))
    before = (rng.random(width) < 0.3) * rng.random(width) ** 2
    d = float(problem.copies @ reach)
    return mixed_norms.Stage(problem.omega * reach, d, before, penalty, tradeoff)


def prox(v, weight, before):
    """The x that minimises weight √(before + ‖x‖²) + ½‖x - v‖², by bisection of its factor."""
    size = float(v @ v)
    if before == 0:
        return v * max(0.0, 1 - weight / math.sqrt(size)) if size > 0 else v
    low, high = 0.0, 1.0
    for _ in range(50):
        factor = (low + high) / 2
        if factor * (1 + weight / math.sqrt(before + factor**2 * size)) > 1:
            high = factor
        else:
            low = factor
    return v * (low + high) / 2


def by_admm(problem, stage, n_steps=2000, step=0.02):
    """Minimise a stage's loss, without smoothing, by ADMM: an own copy of β for each root."""
    H, d = problem.outputs, stage.remaining
    roots = []
    for t in range(1, H.shape[1]):
        roots.append((np.array([t]), stage.penalty, 1.0, 0.0))
        roots.append((np.array([t]), stage.tradeoff * problem.tree_costs[t], d, stage.before[t]))
    for price, row in zip(problem.feature_costs, problem.uses, strict=True):
        trees = np.flatnonzero(row)
        if len(trees):
            roots.append((trees, stage.tradeoff * price, d, float(stage.before[trees].sum())))
    gram, moments = (H.T * stage.weights) @ H, H.T @ (stage.weights * problem.y)
    counts = np.zeros(H.shape[1])
    for trees, _, scale, _ in roots:
        counts[trees] += scale**2
    inverse = np.linalg.pinv(gram + step * np.diag(counts))
    z, u = [np.zeros(len(r[0])) for r in roots], [np.zeros(len(r[0])) for r in roots]
    for _ in range(n_steps):
        right = moments.copy()
        for (trees, _, scale, _), z_g, u_g in zip(roots, z, u, strict=True):
            right[trees] += step * scale * (z_g - u_g)
        beta = inverse @ right
        for g, (trees, weight, scale, before) in enumerate(roots):
            x = scale * beta[trees]
            z[g] = prox(x + u[g], weight / step, before)
            u[g] += x - z[g]
    residuals = problem.y - H @ beta
    value = 0.5 * float(stage.weights @ residuals**2)
    for trees, weight, scale, before in roots:
        value += weight * math.sqrt(before + float(np.sum((scale * beta[trees]) ** 2)))
    return value


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_first", [True, False])
def test_a_stage_equals_admm(seed, is_first):
    problem, rng = draw(seed)
    stage = draw_stage(problem, rng, is_first=is_first)
    beta, _ = mixed_norms.solve_stage(problem, stage)
    value = mixed_norms.stage_loss(beta, problem, stage)
    other = by_admm(problem, stage)
    assert value <= other * (1 + 1e-6)
    assert other <= value * (1 + 1e-6)
    assert np.any(mixed_norms.without_traces(beta, problem) == 0)  # the penalties decide something


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("tradeoff", "penalty"), [(1e-3, 0), (0, 1e-3), (0, 0), (10.0, 1.0)])
def test_the_gap_certifies_the_minimum(seed, tradeoff, penalty):
    problem, rng = draw(seed, n_trees=20)
    stage = draw_stage(problem, rng, tradeoff=tradeoff, penalty=penalty)
    beta, _ = mixed_norms.solve_stage(problem, stage)
    value = mixed_norms.stage_loss(beta, problem, stage)
    gap = value - mixed_norms.stage_bound(beta, problem, stage)
    assert -1e-12 * value <= gap <= 1e-9
    for _ in range(50):  # a bound it is, anywhere
        other = beta + rng.normal(size=len(beta)) * 10.0 ** rng.integers(-6, 1)
        assert mixed_norms.stage_bound(other, problem, stage) <= value * (1 + 1e-12)
        assert mixed_norms.stage_loss(other, problem, stage) >= value - 1e-9


def test_without_costs_a_single_stage_is_the_lasso():
    problem, _ = draw(0, n_trees=30, duplicates=False)
    for penalty in (0.003, 0.03, 0.3):
        beta = mixed_norms.single_stage(problem, penalty, 0.0)
        lasso = Lasso(alpha=penalty, tol=1e-14, max_iter=10**6)
        lasso.fit(problem.outputs[:, 1:], problem.y, sample_weight=problem.omega)
        np.testing.assert_allclose(beta[0], lasso.intercept_, atol=1e-5)
        np.testing.assert_allclose(beta[1:], lasso.coef_, atol=2e-5)
        theirs = np.append(lasso.intercept_, lasso.coef_)
        ours = mixed_norms.relaxed_loss(beta, problem, penalty, 0.0)
        np.testing.assert_allclose(
            ours, mixed_norms.relaxed_loss(theirs, problem, penalty, 0.0), rtol=1e-6
        )


def test_more_trees_than_rows():
    problem, rng = draw(1, n=15, n_trees=40)
    for tradeoff, penalty in [(0.0, 0.0), (1e-3, 1e-3)]:
        stage = draw_stage(problem, rng, is_first=True, tradeoff=tradeoff, penalty=penalty)
        beta, _ = mixed_norms.solve_stage(problem, stage)
        value = mixed_norms.stage_loss(beta, problem, stage)
        assert value - mixed_norms.stage_bound(beta, problem, stage) <= 1e-9
    assert mixed_norms.squared_loss(beta, problem) > 1e-4


def test_costs_by_hand():
    # Two trees on feature 0 (price 5), one on features 0 and 1 (price 7); a tree costs 2.
    uses = np.array([[1, 1, 1], [0, 0, 1]])
    outputs = np.zeros((2, 3))
    problem = mixed_norms.make_problem(outputs, [1, -1], uses, np.full(3, 2.0), [5.0, 7.0])
    assert mixed_norms.cost(np.array([9, 0, 0, 0]), problem) == 0
    assert mixed_norms.cost(np.array([9, 3, 0, 0]), problem) == 7
    assert mixed_norms.cost(np.array([9, 3, -4, 0]), problem) == 9  # Eq. (1), feature 0 once
    assert mixed_norms.cost(np.array([9, 3, -4, 1]), problem) == 18
    beta = np.array([0.0, 3.0, -4.0, 0.0])
    squared = mixed_norms.squared_loss(beta, problem)
    assert squared == 0.5
    # Eq. (7): 0.1 (3 + 4) + 0.01 [2 (3 + 4) + 5 √(9 + 16)].
    np.testing.assert_allclose(mixed_norms.relaxed_loss(beta, problem, 0.1, 0.01), 0.5 + 0.7 + 0.39)
    np.testing.assert_allclose(mixed_norms.loss(beta, problem, 0.1, 0.01), 0.5 + 0.7 + 0.09)


def test_smoothing_follows_the_size_of_the_answers():
    ones = np.ones(2)
    for size, expected in [(1e-3, 1e-7), (1.0, 1e-7), (1e6, 1e-13)]:
        outputs = size * np.array([[1.0], [-1.0]])
        problem = mixed_norms.make_problem(outputs, [1, -1], np.ones((1, 1)), ones[:1], ones[:1])
        np.testing.assert_allclose(problem.smoothing, expected)
