"""Cronus's convex problems and AND-OR's blocks against a conic solver."""

from __future__ import annotations

import math

import cvxpy
import numpy as np
import pytest

from reference import and_or_cascade, cronus, mixed_norms
from tests.test_mixed_norms import draw

EXACT = {"solver": cvxpy.CLARABEL, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def conic_stage(problem, stage) -> float:
    """The smallest loss of a stage, its roots exact: norms of a weight and what is paid already."""
    beta = cvxpy.Variable(problem.outputs.shape[1])
    residuals = cvxpy.multiply(np.sqrt(stage.weights), problem.y - problem.outputs @ beta)
    loss = 0.5 * cvxpy.sum_squares(residuals) + stage.penalty * cvxpy.norm1(beta[1:])
    moved = stage.remaining * beta

    own = cvxpy.norm(cvxpy.vstack([np.sqrt(stage.before), moved]), 2, axis=0)
    loss += stage.tradeoff * (problem.tree_costs @ own)
    for price, row in zip(problem.feature_costs, problem.uses, strict=True):
        if price > 0 and np.any(row):
            paid = np.array([math.sqrt(float(row @ stage.before))])
            together = cvxpy.hstack([paid, moved[np.flatnonzero(row).tolist()]])
            loss += stage.tradeoff * price * cvxpy.norm2(together)
    return cvxpy.Problem(cvxpy.Minimize(loss)).solve(**EXACT)


@pytest.mark.parametrize(("seed", "n_trees"), [(0, 12), (1, 20)])
def test_the_single_stage(seed, n_trees):
    problem, _ = draw(seed, n_trees=n_trees)
    for penalty, tradeoff in [(1e-3, 2e-3), (0.0, 1e-3), (1e-2, 0.0)]:
        first = np.zeros(n_trees + 1)
        stage = mixed_norms.Stage(problem.omega, 1.0, first, penalty, tradeoff)
        beta = mixed_norms.single_stage(problem, penalty, tradeoff)
        ours = mixed_norms.relaxed_loss(beta, problem, penalty, tradeoff)
        np.testing.assert_allclose(ours, conic_stage(problem, stage), rtol=1e-6)


@pytest.mark.parametrize(("rule", "seed"), [("soft", 0), ("quantile", 2)])
def test_each_stage_of_the_initialisation(seed, rule, monkeypatch):
    problem, _ = draw(seed, n_trees=30)
    seen, solve = [], cronus.solve_stage

    def remembered(problem, stage):
        beta, iterations = solve(problem, stage)
        seen.append((stage, beta))
        return beta, iterations

    monkeypatch.setattr(cronus, "solve_stage", remembered)
    penalties = np.geomspace(1e-4, 1e-3, 4)
    terms = cronus.Terms(penalties=penalties, tradeoff=1e-3, steepness=5.0)
    cronus.initialise(problem, terms, 1.3, 0.2, rule, [])
    assert len(seen) == 4
    assert np.any(seen[-1][0].before > 0)  # a later stage has trees that are paid for
    for stage, beta in seen:
        value = mixed_norms.stage_loss(beta, problem, stage)
        np.testing.assert_allclose(value, conic_stage(problem, stage), rtol=1e-6)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ridge", [0.3, 3e-2])
def test_a_block_of_and_or(seed, ridge):
    problem, rng = draw(seed, n_trees=20)
    H, y = problem.outputs, problem.y
    beta = 0.3 * rng.normal(size=(3, H.shape[1]))
    caps, targets = and_or_cascade.block(1, beta, H, y, problem.copies, 0.7, 2.0)
    w = and_or_cascade.solve_block(H, y, caps, targets, ridge)
    ours = and_or_cascade.hinge_loss(w, H, y, caps, targets, ridge)
    theirs = cvxpy.Variable(H.shape[1])
    margins = cvxpy.pos(targets - cvxpy.multiply(y, H @ theirs))
    loss = 0.5 * ridge * cvxpy.sum_squares(theirs) + caps @ margins
    np.testing.assert_allclose(ours, cvxpy.Problem(cvxpy.Minimize(loss)).solve(**EXACT), rtol=1e-6)
