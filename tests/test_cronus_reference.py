"""Cronus's equations: gradients by finite differences, falls of (8), exits and bills by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from reference import cascades, cronus, soft_objective
from reference.cascades import Cascade
from tests.test_mixed_norms import draw

GAMMA = 10.0  # soft enough that all rows have something to say


def draw_cascade(seed, n_stages=4, n_trees=12):
    problem, rng = draw(seed, n_trees=n_trees)
    beta = rng.normal(size=(n_stages, n_trees + 1)) * 0.3
    beta[:, 3] = 0.0  # used by nobody
    beta[1, 4:] = 0.0
    cascade = Cascade(beta, rng.normal(size=n_stages - 1) * 0.2)
    terms = soft_objective.Terms(2e-3, rng.random(n_stages) * 1e-3, GAMMA)
    return problem, cascade, terms


def derivative(function, step=1e-6):
    return (function(step) - function(-step)) / (2 * step)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", range(4))
def test_gradients_are_those_of_the_smoothed_objective(seed, k):
    problem, cascade, terms = draw_cascade(seed)
    beta_k, theta_k = cascade.beta[k], cascade.theta[k] if k < 3 else 0.0
    fixed = soft_objective.fix_others(cascade, problem, terms, k)
    root = soft_objective.current_roots(cascade, problem, terms, k)
    _, by_beta, by_theta = soft_objective.surrogate(beta_k, theta_k, fixed, root, problem, terms)

    def objective(beta_k, theta_k):
        return soft_objective.objective(
            soft_objective.replaced(cascade, k, beta_k, theta_k), problem, terms
        )

    for t in np.flatnonzero(beta_k):  # where the root of a weight is not a kink
        unit = np.eye(len(beta_k))[t]
        expected = derivative(lambda s, unit=unit: objective(beta_k + s * unit, theta_k))
        np.testing.assert_allclose(by_beta[t], expected, rtol=1e-6, atol=1e-9)
    expected = derivative(lambda s: objective(beta_k, theta_k + s))
    np.testing.assert_allclose(by_theta, expected, rtol=1e-6, atol=1e-9)
    assert (by_theta == 0) == (k == 3)


def test_the_costs_of_later_stages_turn_the_sign():
    """Without the derivative of d_j, j > k, ∂θ has another sign: (9) alone is not enough."""
    problem, cascade, terms = draw_cascade(3)
    terms = soft_objective.Terms(1.0, terms.penalties, GAMMA)
    root = soft_objective.current_roots(cascade, problem, terms, 0)
    fixed = soft_objective.fix_others(cascade, problem, terms, 0)
    at = (cascade.beta[0], cascade.theta[0], fixed, root, problem)
    with_costs = soft_objective.surrogate(*at, terms)[2]
    loss_alone = soft_objective.surrogate(*at, soft_objective.Terms(0.0, terms.penalties, GAMMA))[2]
    assert with_costs < 0 < loss_alone


@pytest.mark.parametrize("k", range(4))
def test_the_surrogate_lies_above_and_touches(k):
    problem, cascade, terms = draw_cascade(5)
    rng = np.random.default_rng(k)
    fixed = soft_objective.fix_others(cascade, problem, terms, k)
    root = soft_objective.current_roots(cascade, problem, terms, k)
    theta_k = cascade.theta[k] if k < 3 else 0.0
    here = soft_objective.surrogate(cascade.beta[k], theta_k, fixed, root, problem, terms)[0]
    value = soft_objective.objective(cascade, problem, terms)
    for size in 10.0 ** np.linspace(-4, 0, 20):
        beta_k = cascade.beta[k] + size * rng.normal(size=cascade.beta.shape[1])
        moved = theta_k + size * rng.normal()
        rise = soft_objective.surrogate(beta_k, moved, fixed, root, problem, terms)[0] - here
        changed = soft_objective.objective(
            soft_objective.replaced(cascade, k, beta_k, moved), problem, terms
        )
        assert changed - value <= rise + 1e-12


FIT = {"n_stages": 3, "tradeoff": 1e-3, "penalty": 1e-3}


def fit(seed, **options):
    problem, _ = draw(seed)
    weights = problem.copies * 100
    return problem, cronus.fit(
        problem.outputs[:, 1:],
        problem.y,
        problem.uses[:, 1:],
        tree_costs=problem.tree_costs[1:],
        feature_costs=problem.feature_costs,
        sample_weight=weights,
        **FIT | options,
    )


@pytest.mark.parametrize("seed", range(2))
def test_the_objective_never_rises(seed):
    problem, model = fit(seed)
    problem = replace(problem, smoothing=0.0)  # the roots of (11) as printed
    terms = soft_objective.Terms(1e-3, np.full(3, 1e-3), 50.0)
    values = [s.objective for s in model.trace if s.phase == "optimise"]
    assert np.all(np.diff([model.initial_objective, *values]) <= 0)
    assert model.objective < model.initial_objective
    again = soft_objective.objective(model.cascade, problem, terms)
    np.testing.assert_allclose(again, model.objective, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_soft_thresholds_cut_what_is_expected_to_remain(seed):
    problem, model = fit(seed, rejection=0.3, max_cycles=0)
    assert model.cascade == model.initial
    passes = soft_objective.passing(model.initial.beta, model.initial.theta, problem, 50.0)
    d = soft_objective.remaining(passes, problem.copies)
    np.testing.assert_allclose(d, 0.7 ** np.arange(3), rtol=1e-9)
    np.testing.assert_allclose(soft_objective.exiting(passes).sum(axis=0), 1)


@pytest.mark.parametrize("rejection", [0.05, 0.15, 0.5])
def test_quantile_thresholds_never_cut_ties(rejection):
    problem, _ = draw(0)
    scores = np.round(problem.outputs[:, 1] * 2)
    alive = scores < 2
    theta = cronus.quantile_threshold(scores, alive, problem, rejection)
    share = problem.copies[alive & (scores < theta)].sum() / problem.copies[alive].sum()
    assert share <= rejection
    above = scores[alive & (scores >= theta)].min()
    more = problem.copies[alive & (scores <= above)].sum() / problem.copies[alive].sum()
    assert more > rejection
    nothing = cronus.quantile_threshold(np.zeros(len(scores)), alive, problem, rejection)
    assert nothing == -math.inf


def test_a_tradeoff_that_empties_all_stages():
    problem, model = fit(0, tradeoff=100.0)
    assert not np.any(model.cascade.beta[:, 1:])
    np.testing.assert_array_equal(model.cascade.theta, -math.inf)
    exits = cascades.leave(model.cascade, problem.outputs[:, 1:])
    np.testing.assert_array_equal(exits.stage, 3)
    bill = cascades.paper_bill(
        model.cascade, exits, problem.uses[:, 1:], problem.tree_costs[1:], problem.feature_costs
    )
    np.testing.assert_array_equal(bill, 0)
    mean = problem.omega @ problem.y
    np.testing.assert_allclose(exits.decision, mean, rtol=1e-6)


def test_exits_and_bills_by_hand():
    # Tree 0 on feature 0, tree 1 on both; stage 1 has tree 0, stage 2 nothing, stage 3 both.
    beta = np.array([[0.5, 1.0, 0.0], [0.25, 0.0, 0.0], [0.0, 2.0, -1.0]])
    cascade = Cascade(beta, np.array([0.0, -math.inf]))
    outputs = np.array([[-1.0, 5.0], [-0.5, 1.0], [1.0, 3.0]])
    exits = cascades.leave(cascade, outputs)
    np.testing.assert_array_equal(exits.stage, [1, 3, 3])
    np.testing.assert_array_equal(exits.scores, [-0.5, -2.0, -1.0])
    np.testing.assert_array_equal(exits.decision, [-1.0, -2.0, -1.0])
    uses, prices = np.array([[1, 1], [0, 1]]), np.array([10.0, 100.0])
    bills = cascades.stage_bills(cascade, uses, [1.0, 2.0], prices)
    np.testing.assert_array_equal(bills, [11, 11, 113])
    bill = cascades.paper_bill(cascade, exits, uses, [1.0, 2.0], prices)
    np.testing.assert_array_equal(bill, [11, 113, 113])


def test_the_papers_bill_is_the_unrelaxed_cost():
    problem, model = fit(0, rejection=0.3)
    prices = (problem.uses[:, 1:], problem.tree_costs[1:], problem.feature_costs)
    for cascade in (model.initial, model.cascade):
        exits = cascades.leave(cascade, problem.outputs[:, 1:])
        bill = cascades.paper_bill(cascade, exits, *prices)
        unrelaxed = cascades.unrelaxed_cost(cascade, exits, problem.copies, *prices)
        np.testing.assert_allclose(problem.copies @ bill, unrelaxed, rtol=1e-12)


def test_copies_are_rows():
    problem, _ = draw(2, n=60)
    weights = np.rint(problem.copies / problem.copies.min())
    data = (problem.outputs[:, 1:], problem.y, problem.uses[:, 1:])
    prices = {"tree_costs": problem.tree_costs[1:], "feature_costs": problem.feature_costs}
    weighted = cronus.fit(*data, **prices, **FIT, max_cycles=0, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights.astype(int))
    copied = cronus.fit(data[0][rows], data[1][rows], data[2], **prices, **FIT, max_cycles=0)
    np.testing.assert_allclose(weighted.initial.beta, copied.initial.beta, atol=1e-4)
    np.testing.assert_allclose(weighted.initial_objective, copied.initial_objective, rtol=1e-7)
