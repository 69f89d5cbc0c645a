"""Cronus's estimator: equal to the reference, for trees of this package and of other libraries."""

from __future__ import annotations

import functools
import itertools
import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score

from algorithms import costs
from algorithms.cronus import CronusClassifier, initialise
from algorithms.exits.weighted_walk import BLOCK_ROWS
from algorithms.gbrt import GBRTRegressor
from algorithms.kernels import decorators
from algorithms.reweighted_trees import mixed_norms, soft_objective
from algorithms.reweighted_trees.soft_objective import NothingSavedWarning, tree_prices
from algorithms.reweighted_trees.tree_outputs import TreeOutputs, tree_outputs
from reference import cascades, cronus
from reference import mixed_norms as naive
from reference import soft_objective as naive_soft
from tests.test_early_exit import queries_of

PRICES = np.array([1.0, 5.0, 20.0, 0.0, 100.0])
LOSS_OF_ZERO = 0.5  # of a score of 0: weights of the loss sum to 1
SMALL = {"n_stages": 3, "tradeoff": 3e-4, "penalty": 1e-3, "rejection": 0.3}


def draw(seed, n=300):
    """Rows with ties, few positives, whole weights."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 5)), 1)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + X[:, 4] + 0.7 * rng.normal(size=n)
    y = np.where(signal > np.quantile(signal, 0.8), "yes", "no")
    return X, y, rng.integers(1, 11, n).astype(float)


def trees(**options):
    return GBRTRegressor(**{"n_estimators": 25, "max_leaves": 6, "min_samples_leaf": 5} | options)


def outputs_of(forest, X):
    """H (n, T): leaf values, by walking down each tree."""
    H = np.empty((len(X), forest.n_trees))
    for i, x in enumerate(X):
        for t in range(forest.n_trees):
            node = forest.tree[t]
            while forest.left[node] >= 0:
                node = forest.left[node] + (x[forest.feature[node]] > forest.threshold[node])
            H[i, t] = forest.value[node]
    return H


def uses_of(forest, n_features):
    uses = np.zeros((n_features, forest.n_trees))
    for t in range(forest.n_trees):
        feature = forest.feature[forest.tree[t] : forest.tree[t + 1]]
        uses[feature[feature >= 0], t] = 1
    return uses


def twin_of(model, X, prices=PRICES, tree_cost=1.0):
    """What the reference knows of a fitted cascade's trees: H, F, e, c."""
    forest = model._responses_.forest
    seen = model._responses_.meter._check_X(X)
    is_split = forest.left[forest.tree[:-1]] >= 0
    return outputs_of(forest, seen), uses_of(forest, X.shape[1]), tree_cost * is_split, prices


def cascade_of(model):
    beta = np.column_stack([model.intercept_, model.coef_])
    return cascades.Cascade(beta, model.thresholds_)


def assert_same_exits(model, X, prices=PRICES):
    """Assert equal exits, scores and bills, given equal parameters; return the reference's."""
    H, uses, e, c = twin_of(model, X, prices)
    cascade = cascade_of(model)
    expected = cascades.leave(cascade, H)
    exits = model.exits(X)
    np.testing.assert_array_equal(exits.stage, expected.stage)
    np.testing.assert_array_equal(exits.scores, expected.scores)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision)
    np.testing.assert_array_equal(
        model.forest_cost_until_exit(X), cascades.paper_bill(cascade, expected, uses, e, c)
    )
    np.testing.assert_array_equal(model.stage_bills(), cascades.stage_bills(cascade, uses, e, c))
    assert np.all(model.prediction_cost(X) <= model.forest_cost_until_exit(X))
    return expected


def reference_options(model):
    known = cronus.fit.__kwdefaults__
    return {k: v for k, v in model.get_params(deep=False).items() if k in known} | {
        "tree_costs": None,
        "feature_costs": None,
    }


SEEDS = [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(2, marks=pytest.mark.slow)]
"""Of what takes seconds for each."""


@pytest.fixture(scope="module")
def fitted():
    X, y, weights = draw(0)
    model = CronusClassifier(trees(), feature_costs=PRICES, **SMALL)
    return model.fit(X, y, sample_weight=weights), X, y, weights


# --- twins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rule", ["soft", "quantile"])
def test_equals_the_reference(seed, rule):
    X, y, weights = draw(seed)
    options = SMALL | {"threshold_rule": rule, "max_cycles": 3}
    model = CronusClassifier(trees(), feature_costs=PRICES, last_penalty=2e-3, **options)
    model.fit(X, y, sample_weight=weights)
    H, uses, e, c = twin_of(model, X)
    options = reference_options(model) | {"tree_costs": e, "feature_costs": c}
    signs = np.where(y == "yes", 1.0, -1.0)
    twin = cronus.fit(H, signs, uses, sample_weight=weights, **options)
    np.testing.assert_allclose(model.initial_objective_, twin.initial_objective, rtol=1e-8)
    initial = model.initialised()
    np.testing.assert_allclose(initial.coef_, twin.initial.beta[:, 1:], atol=1e-5)
    np.testing.assert_allclose(initial.intercept_, twin.initial.beta[:, 0], atol=1e-5)
    np.testing.assert_allclose(initial.thresholds_, twin.initial.theta, atol=1e-5)
    assert model.objective_ < model.initial_objective_
    assert twin.objective < twin.initial_objective  # from equal starts to 1 %, see below
    for cascade in (model, initial):
        expected = assert_same_exits(cascade, X)
    assert len(set(expected.stage)) > 1


def draw_tiny(rng):
    """A few rows, weights if any, and prices."""
    n, d = int(rng.integers(6, 60)), int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, d)), int(rng.integers(0, 3)))
    signal = X @ rng.normal(size=d) + rng.choice([0, 0.5, 2]) * rng.normal(size=n)
    y = signal > np.quantile(signal, rng.uniform(0.2, 0.9))
    if y.all() or not y.any():
        y[0] = ~y[0]
    weights = rng.integers(1, 5, n).astype(float) if rng.random() < 0.3 else None
    return X, y, weights, rng.choice([0.0, 1, 5, 20, 100], size=d)


def tiny_trees(rng):
    return GBRTRegressor(
        n_estimators=int(rng.integers(1, 7)), max_leaves=int(rng.integers(2, 5)),
        min_samples_leaf=int(rng.integers(1, 4)), n_threads=1,
    )  # fmt: skip


def tiny_twins(seed):
    """Fit both twins to a few rows."""
    rng = np.random.default_rng(seed)
    X, y, weights, prices = draw_tiny(rng)
    options = {
        "n_stages": int(rng.integers(1, 4)),
        "tradeoff": float(10 ** rng.uniform(-5, -1) * (rng.random() < 0.9)),
        "penalty": float(10 ** rng.uniform(-5, -1) * (rng.random() < 0.9)),
        "positive_weight": float(10 ** rng.uniform(-1, 1)),
        "steepness": float(rng.choice([5.0, 50.0])),
        "rejection": float(rng.choice([0.0, 0.15, 0.4])),
        "threshold_rule": str(rng.choice(["soft", "quantile"])),
        "max_cycles": 3,
        "support": str(rng.choice(["stage", "stage", "cascade"])),
    }
    model = CronusClassifier(tiny_trees(rng), feature_costs=prices, n_threads=1, **options)
    model.fit(X, y, sample_weight=weights)
    H, uses, e, c = twin_of(model, X, prices)
    options = reference_options(model) | {"tree_costs": e, "feature_costs": c}
    return model, cronus.fit(H, np.where(y, 1.0, -1.0), uses, sample_weight=weights, **options)


def assert_ends_as_low(model, twin, rtol=0.01):
    """Within the tolerance that the reference states (deviations 12 and 13)."""
    np.testing.assert_allclose(
        model.initial_objective_, twin.initial_objective, rtol=0, atol=1e-5 * LOSS_OF_ZERO
    )
    np.testing.assert_allclose(
        model.objective_, twin.objective, rtol=rtol, atol=1e-4 * LOSS_OF_ZERO
    )


@pytest.mark.parametrize("seed", range(8))
def test_tiny_problems_end_within_the_stated_tolerance(seed):
    assert_ends_as_low(*tiny_twins(seed))


@pytest.mark.slow
def test_five_hundred_tiny_problems_end_within_the_stated_tolerance():
    """All but one; that one's ends are two minima, 2 % apart."""
    elsewhere = []
    for seed in range(500):
        twins = tiny_twins(seed)
        try:
            assert_ends_as_low(*twins)
        except AssertionError:
            elsewhere.append(seed)
            assert_ends_as_low(*twins, rtol=0.03)
    assert len(elsewhere) <= 1, elsewhere


def test_a_feature_that_no_tree_uses_has_no_price_in_the_reference():
    outputs, uses = np.array([[1.0], [-1.0]]), np.array([[1.0], [0.0]])
    problem = naive.make_problem(outputs, [1, -1], uses, [1.0], np.array([2.0, 5.0]))
    np.testing.assert_array_equal(problem.feature_costs, [2.0, 0.0])


def problem_of(seed, n_trees=25):
    """The same problem for both twins, and a drawn cascade with all kinds of stages."""
    X, y, weights = draw(seed)
    rng = np.random.default_rng(seed)
    model = trees(n_estimators=n_trees).fit(X, y == "yes")
    forest = model.trees_
    signs = np.where(y == "yes", 1.0, -1.0)
    H, uses = outputs_of(forest, X), uses_of(forest, 5)
    problem = naive.make_problem(H, signs, uses, np.ones(n_trees), PRICES, weights)
    prices = tree_prices(forest, costs.price_list(PRICES, None, None, 5), 1.0)
    outputs = tree_outputs(forest, X, 2)
    beta = rng.normal(size=(4, n_trees + 1)) * 0.3
    beta[1, 1:] = 0.0
    beta[:, 3] = 0.0
    theta = np.array([-0.2, 0.1, -math.inf])
    terms = naive_soft.Terms(3e-3, rng.random(4) * 1e-2, 10.0)
    soft = soft_objective.Soft(
        outputs, signs, problem.omega, problem.copies, prices, terms.tradeoff, terms.penalties,
        terms.steepness, mixed_norms.smoothing_of(outputs, weights),
    )  # fmt: skip
    cascade = soft_objective.Weights(beta[:, 1:], beta[:, 0], theta)
    return problem, terms, cascades.Cascade(beta, theta), soft, cascade, rng


@pytest.mark.parametrize("smoothed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_values_and_gradients_equal_the_reference(seed, smoothed):
    """Also with the roots of (11) as printed, where a stage sees the trees of its support alone."""
    problem, terms, theirs, soft, ours, rng = problem_of(seed)
    np.testing.assert_allclose(soft.smoothing, problem.smoothing, rtol=1e-12)
    if not smoothed:
        problem, soft = replace(problem, smoothing=0.0), soft._replace(smoothing=0.0)
    now = soft_objective.values(ours, soft)
    value = naive_soft.objective(theirs, problem, terms)
    np.testing.assert_allclose(now.objective, value, rtol=1e-10)
    for k in range(3):
        fixed = naive_soft.fix_others(theirs, problem, terms, k)
        root = naive_soft.current_roots(theirs, problem, terms, k)
        support = np.arange(25) if smoothed else np.flatnonzero(theirs.beta[k, 1:])
        seen = np.concatenate([[0], 1 + support])
        own = soft.outputs.take(support).paired()
        surrogate = soft_objective.StageSurrogate(soft, ours, now, k, support, own)
        beta_k, theta_k = theirs.beta[k].copy(), theirs.theta[k] + 0.1
        beta_k[seen] += rng.normal(size=len(seen)) * 0.1
        value, by_beta, by_theta = naive_soft.surrogate(
            beta_k, theta_k, fixed, root, problem, terms
        )
        found, gradient = surrogate(np.append(beta_k[seen], theta_k))
        np.testing.assert_allclose(found, value, rtol=1e-10)
        expected = np.append(by_beta[seen], by_theta)
        size = np.max(np.abs(expected))
        np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-10 * size)
        scale = naive_soft.scales(fixed, root, theirs.beta[k], theirs.theta[k], problem, terms)
        np.testing.assert_allclose(surrogate.scales(), scale[np.append(seen, -1)], rtol=1e-10)
        out = np.setdiff1d(np.arange(26), seen)
        np.testing.assert_array_equal(by_beta[out], 0.0)


@pytest.mark.parametrize("support", ["stage", "cascade"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimisation_ends_as_low_as_the_references(seed, support):
    """The objective is not convex: from equal starts only the end's value agrees, to 1 %."""
    problem, _, _, soft, _, _ = problem_of(seed)
    terms = naive_soft.Terms(3e-4, np.full(4, 1e-3), 50.0)
    soft = soft._replace(tradeoff=3e-4, penalties=terms.penalties, steepness=50.0)
    start = cronus.initialise(problem, terms, 1.3, 0.3, "soft", [])
    mu = problem.smoothing
    if support == "stage":
        problem, soft = replace(problem, smoothing=0.0), soft._replace(smoothing=0.0)
    limits = (10, 1e-4, 200)
    theirs = cronus.optimise(start, problem, terms, *limits, [], mu)
    theirs = naive_soft.objective(theirs, problem, terms)
    ours = soft_objective.Weights(start.beta[:, 1:], start.beta[:, 0], start.theta)
    begin = soft_objective.values(ours, soft).objective
    ours, trace = soft_objective.optimise(ours, soft, *limits, mu)
    ours = soft_objective.values(ours, soft).objective
    np.testing.assert_allclose(ours, theirs, rtol=0.01)
    assert np.all(np.diff([begin, *(step.objective for step in trace)]) <= 1e-6 * begin)
    assert ours < 0.7 * begin


def by_loops(weights, constants, thresholds, outputs, y, omega, copies, uses, e, c, terms):
    """(8) with the roots as printed, row by row and tree by tree."""
    K, n, T = len(weights), len(y), len(e)
    remaining, loss = [0.0] * K, 0.0
    for i in range(n):
        reach = 1.0
        for k in range(K):
            remaining[k] += copies[i] * reach
            score = constants[k] + sum(weights[k][t] * outputs[i][t] for t in range(T))
            passes = 0.0
            if k < K - 1:
                passes = 1.0 / (1.0 + math.exp(-terms.steepness * (score - thresholds[k])))
            loss += 0.5 * omega[i] * reach * (1.0 - passes) * (y[i] - score) ** 2
            reach *= passes
    for k in range(K):
        loss += terms.penalties[k] * sum(abs(weights[k][t]) for t in range(T))
    paid = [sum((weights[k][t] * remaining[k]) ** 2 for k in range(K)) for t in range(T)]
    trees = sum(e[t] * math.sqrt(paid[t]) for t in range(T))
    items = sum(
        price * math.sqrt(sum(paid[t] for t in range(T) if uses[m][t])) for m, price in enumerate(c)
    )
    return loss + terms.tradeoff * (trees + items)


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_that_of_plain_loops(seed):
    problem, terms, theirs, soft, ours, _ = problem_of(seed, n_trees=7)
    theta = theirs.theta.copy()
    theta[-1] = -0.4
    theirs, ours = cascades.Cascade(theirs.beta, theta), ours._replace(thresholds=theta)
    problem, soft = replace(problem, smoothing=0.0), soft._replace(smoothing=0.0)
    expected = by_loops(
        ours.weights.tolist(), ours.constants.tolist(), theta.tolist(),
        problem.outputs[:, 1:].tolist(), problem.y, problem.omega, problem.copies,
        problem.uses[:, 1:], problem.tree_costs[1:], problem.feature_costs, terms,
    )  # fmt: skip
    naively = naive_soft.objective(theirs, problem, terms)
    np.testing.assert_allclose(naively, expected, rtol=1e-12)
    np.testing.assert_allclose(soft_objective.values(ours, soft).objective, expected, rtol=1e-10)


def of_many_features(seed, support, **options):
    """A cascade of stumps on forty features, and what the reference knows of its problem."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 40))
    signal = X[:, :12] @ np.linspace(1, 0.3, 12) + rng.normal(size=600)
    y = signal > np.quantile(signal, 0.9)
    prices = rng.choice([1.0, 5.0, 20.0], 40)
    model = CronusClassifier(
        trees(n_estimators=60, max_leaves=2), n_stages=5, tradeoff=1e-3, penalty=1e-5,
        feature_costs=prices, support=support, n_threads=1, **options,
    )  # fmt: skip
    model.fit(X, y)
    H, uses, e, c = twin_of(model, X, prices)
    problem = naive.make_problem(H, np.where(y, 1, -1), uses, e, c)
    terms = naive_soft.Terms(1e-3, np.full(5, 1e-5), 50.0)
    return model, problem, terms


@pytest.mark.parametrize("seed", range(1))
def test_zeros_stay_zeros(seed):
    """What a live stage buys differs, and the unrelaxed objective does not end above its start."""
    model, problem, terms = of_many_features(seed, "stage")
    initial = model.initialised()
    assert not np.any((initial.coef_ == 0) & (model.coef_ != 0))
    before, after = (
        naive_soft.unrelaxed_objective(cascade_of(m), problem, terms) for m in (initial, model)
    )
    assert after < before
    live = np.flatnonzero(model.coef_.any(axis=1))
    assert len(live) > 1
    bought = [model.stage_bills()[k] for k in live]
    assert bought[0] < bought[-1]  # not everything at once
    largest = np.abs(model.coef_).max(axis=1, keepdims=True)
    used = model.coef_ != 0
    assert np.all(np.abs(model.coef_)[used] >= (1e-5 * largest * used)[used])


@pytest.mark.slow
def test_with_smoothed_roots_zeros_come_back():
    """The first stage then buys everything: more than it had, and all that is ever bought."""
    model, _, _ = of_many_features(0, "cascade")
    initial, bills = model.initialised(), model.stage_bills()
    assert np.any((initial.coef_ == 0) & (model.coef_ != 0))
    assert initial.stage_bills()[0] < bills[0] == bills[-1]


@functools.cache
def reference_optimum(seed, tradeoff, penalty):
    """A stage as both twins are given it, and the loss at the reference's optimum."""
    problem, _, _, soft, _, rng = problem_of(seed)
    reach = rng.random(len(problem.y))
    before = np.append(0.0, (rng.random(25) < 0.3) * rng.random(25))
    d = float(problem.copies @ reach)
    stage = naive.Stage(problem.omega * reach, d, before, penalty, tradeoff)
    beta, _ = naive.solve_stage(problem, stage)
    value = naive.stage_loss(beta, problem, stage)
    ours = mixed_norms.Stage(
        soft.outputs, problem.y, stage.weights, d, before[1:], penalty, tradeoff, soft.prices,
        soft.smoothing,
    )  # fmt: skip
    return problem, soft, stage, value, ours


@pytest.mark.parametrize(
    ("first_trees", "seed", "tradeoff", "penalty"),
    [
        *((200, 0, *both) for both in [(1e-4, 1e-4), (1e-3, 0), (0, 1e-2), (0, 0), (5, 1)]),
        *((4, 1, *both) for both in [(1e-4, 1e-4), (0, 0)]),
    ],
)
def test_convex_optima_equal_the_reference(monkeypatch, seed, first_trees, tradeoff, penalty):
    """Also from a working set that begins with four trees."""
    monkeypatch.setattr(mixed_norms, "_FIRST_TREES", first_trees)
    problem, soft, stage, value, ours = reference_optimum(seed, tradeoff, penalty)
    found = mixed_norms.solve_stage(ours)
    scale = 0.5 * float(stage.weights.sum())
    smoothed = 0 if first_trees == 200 else 25 * soft.smoothing * (tradeoff + penalty)
    if first_trees == 200:  # Newton steps; (11) and (14) in turn take thousands
        assert found.iterations <= 30
    assert found.gap <= mixed_norms.GAP * scale + smoothed
    np.testing.assert_allclose(found.loss, value, rtol=1e-8 if first_trees == 200 else 2e-8)
    at = naive.stage_loss(np.append(found.constant, found.weights), problem, stage)
    np.testing.assert_allclose(at, value, rtol=2e-8)


@pytest.mark.parametrize("n_stages", [1, 3])
def test_the_first_of_some_stages_is_one_alone_at_an_inflated_tradeoff(n_stages):
    """At λ δ^(K - 1): with one stage, the last, there is nothing to inflate."""
    problem, terms, _, soft, _, _ = problem_of(1)
    decay, penalties = 2.0, np.full(n_stages, 1e-3)
    one, inflated = penalties[:1], 3e-4 * {1: 1.0, 3: 4.0}[n_stages]
    several, alone, further = (
        initialise(
            soft._replace(tradeoff=tradeoff, penalties=each), delta, 0.3, "soft"
        )[0].weights[0]
        for tradeoff, each, delta in (
            (3e-4, penalties, decay), (inflated, one, 1.0), (decay * inflated, one, 1.0)
        )
    )  # fmt: skip
    np.testing.assert_array_equal(several, alone)
    assert np.abs(several - further).max() > 1e-3 * np.abs(several).max()
    theirs, their_one = (
        cronus.initialise(
            problem, replace(terms, tradeoff=tradeoff, penalties=each), delta, 0.3, "soft", []
        ).beta[0]
        for tradeoff, each, delta in ((3e-4, penalties, decay), (inflated, one, 1.0))
    )
    np.testing.assert_array_equal(theirs, their_one)


def test_thresholds_equal_the_reference():
    problem, _, _, _, _, rng = problem_of(0)
    reach, alive = rng.random(len(problem.y)), rng.random(len(problem.y)) < 0.7
    for digits in (0, 1, 8):
        scores = np.round(rng.normal(size=len(problem.y)), digits)
        for share in (0.0, 0.1, 0.5, 0.9):
            soft = (scores, reach, problem, 50.0, share)
            ours = soft_objective.soft_threshold(scores, reach, problem.copies, 50.0, share)
            np.testing.assert_allclose(ours, cronus.soft_threshold(*soft), rtol=1e-12)
            cut = soft_objective.quantile_threshold(scores, alive, problem.copies, share)
            assert cut == cronus.quantile_threshold(scores, alive, problem, share)


def test_a_working_set_grows_to_what_all_trees_give(monkeypatch):
    X, y, _ = draw(1, n=400)
    options = {"n_stages": 2, "tradeoff": 1e-4, "penalty": 3e-4, "max_cycles": 0}
    frozen = FrozenEstimator(trees(n_estimators=150).fit(X, np.where(y == "yes", 1.0, -1.0)))
    whole = CronusClassifier(frozen, feature_costs=PRICES, **options).fit(X, y)
    monkeypatch.setattr(mixed_norms, "_FIRST_TREES", 10)
    grown = CronusClassifier(frozen, feature_costs=PRICES, **options).fit(X, y)
    np.testing.assert_allclose(grown.initial_objective_, whole.initial_objective_, rtol=1e-6)
    assert np.all(grown.gaps_ <= mixed_norms.GAP)


@pytest.mark.parametrize("max_leaves", [6, 100])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_neither_threads_nor_blocks_matter(monkeypatch, fitted, max_leaves, n_threads):
    _, X, y, weights = fitted
    options = SMALL | {"max_cycles": 1, "penalty": 1e-4}
    inner = trees(n_estimators=6, max_leaves=max_leaves, min_samples_leaf=1)
    inner = FrozenEstimator(inner.fit(X, X[:, 0] + X[:, 1] * X[:, 2]))
    once = CronusClassifier(inner, feature_costs=PRICES, n_threads=1, **options)
    once.fit(X, y, sample_weight=weights)
    monkeypatch.setattr(decorators, "_PARALLEL_VALUES", 0)
    again = clone(once).set_params(n_threads=n_threads).fit(X, y, sample_weight=weights)
    for name in ("coef_", "intercept_", "thresholds_", "objective_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(once, name), name)
    assert (again._hard_.tiled is not None) == (max_leaves == 6)
    many = np.tile(X, (2 * BLOCK_ROWS // len(X) + 2, 1))
    assert_same_exits(again, np.random.default_rng(0).permutation(many))


# --- what it promises -----------------------------------------------------------------------------


def test_one_stage_is_the_single_stage(fitted):
    _, X, y, weights = fitted
    model = CronusClassifier(trees(), n_stages=1, penalty=5e-3, tradeoff=0.0)
    model.fit(X, y, sample_weight=weights)
    H, uses, e, c = twin_of(model, X)
    problem = naive.make_problem(H, np.where(y == "yes", 1, -1), uses, e, c, weights)
    beta = naive.single_stage(problem, 5e-3, 0.0)
    np.testing.assert_allclose(model.coef_[0], beta[1:], atol=1e-5)
    assert model.thresholds_.shape == (0,)
    np.testing.assert_array_equal(model.exit_stage(X), 1)


def test_the_objective_never_rises(fitted):
    model, *_ = fitted
    values = [model.initial_objective_, *(step.objective for step in model.trace_)]
    assert len(values) > 3
    assert np.all(np.diff(values) <= 1e-6 * values[0])  # what a cycle drops is tiny
    assert model.n_evaluations_ == sum(step.evaluations for step in model.trace_)
    initial = model.initialised()
    assert initial.objective_ == model.initial_objective_
    assert model.objective_ < model.initial_objective_


def test_limits_are_reported(fitted):
    _, X, y, _ = fitted
    model = CronusClassifier(trees(), max_cycles=1, max_evaluations=3, **SMALL).fit(X, y)
    assert model.capped_
    assert max(step.evaluations for step in model.trace_) <= 3 + 20  # one line search beyond
    assert not CronusClassifier(trees(), max_cycles=0, **SMALL).fit(X, y).capped_


def test_another_start_can_only_help(fitted):
    model, X, y, weights = fitted
    frozen = FrozenEstimator(model.estimator_)
    options = SMALL | {"tradeoff": 4e-4, "max_cycles": 1}
    alone = CronusClassifier(frozen, feature_costs=PRICES, **options)
    alone.fit(X, y, sample_weight=weights)
    both = clone(alone).fit(X, y, sample_weight=weights, start=model)
    assert both.objective_ <= alone.objective_
    assert both.n_evaluations_ > alone.n_evaluations_
    assert both.initial_objective_ == alone.initial_objective_
    two = CronusClassifier(trees(), n_stages=2, max_cycles=0).fit(X, y)
    with pytest.raises(ValueError, match="start must have 3 stages and 25 trees"):
        clone(alone).fit(X, y, start=two)
    with pytest.raises(ValueError, match="start must be a fitted CronusClassifier"):
        clone(alone).fit(X, y, start=CronusClassifier())


def test_both_bills(fitted):
    model, X, _, weights = fitted
    H, uses, e, c = twin_of(model, X)
    copies = weights / weights.sum()
    exits = cascades.leave(cascade_of(model), H)
    unrelaxed = cascades.unrelaxed_cost(cascade_of(model), exits, copies, uses, e, c)
    np.testing.assert_allclose(copies @ model.forest_cost_until_exit(X), unrelaxed, rtol=1e-12)
    staged = [*model.staged_cost(X)]
    assert len(staged) == 3
    assert all(np.all(a <= b) for a, b in itertools.pairwise(staged))
    np.testing.assert_array_equal(staged[-1], model.prediction_cost(X))
    # The meter by hand: what is acquired, and one unit for each tree until the exit.
    acquired = model.acquired_features(X)
    n_trees = model.stage_bills(feature_costs=np.zeros(5))[exits.stage - 1]
    np.testing.assert_array_equal(model.prediction_cost(X), acquired @ PRICES + n_trees)
    dear = model.prediction_cost(X, feature_costs=2 * PRICES, split_cost=0.5, tree_cost=0.0)
    np.testing.assert_array_equal(dear, acquired @ PRICES * 2 + 0.5 * model.evaluations(X))


def test_rankings(fitted):
    model, X, _, _ = fitted
    query = queries_of(np.random.default_rng(2), len(X))
    exits, ranking = model.exits(X), model.ranking_score(X, query)
    few = 0
    for label in set(query):
        rows = np.flatnonzero(query == label)
        keys = [(exits.stage[i], exits.scores[i]) for i in rows]
        lower = [sum(other < key for other in keys) for key in keys]
        np.testing.assert_array_equal(ranking[rows], lower)
        few += np.count_nonzero(exits.stage[rows] == 3) < 5
    assert few > 0  # queries of which fewer than five rows survive are ranked whole
    with pytest.raises(ValueError, match="one label for each"):
        model.ranking_score(X, query[1:])


def test_predictions(fitted):
    model, X, y, _ = fitted
    decision = model.decision_function(X)
    assert np.all(decision[model.exit_stage(X) < 3] == -1)
    np.testing.assert_array_equal(model.predict(X), np.where(decision > 0, "yes", "no"))
    assert roc_auc_score(y == "yes", model.initialised().ranking_score(X)) > 0.95
    assert roc_auc_score(y == "yes", model.ranking_score(X)) > 0.85
    with pytest.raises(NotFittedError):
        CronusClassifier().predict(X)


@pytest.mark.parametrize("n_trees", [1, 2, 24, 25])
@pytest.mark.parametrize("n_rows", [3, 5000])
def test_trees_looked_up_two_at_a_time_answer_the_same(n_trees, n_rows):
    rng = np.random.default_rng(n_trees)
    codes = rng.integers(0, 16, (n_trees, n_rows)).astype(np.uint8)
    outputs = TreeOutputs(codes, rng.normal(size=(n_trees, 16)), 2)
    paired = outputs.paired()
    assert paired.pairs.nbytes == n_rows * -(-n_trees // 2)
    w, v = rng.normal(size=n_trees), rng.normal(size=n_rows)
    H = outputs.values[np.arange(n_trees), codes.T]
    for one in (outputs, paired):
        np.testing.assert_allclose(one.times(None, w, 0.5), 0.5 + H @ w, rtol=0, atol=1e-13)
        np.testing.assert_allclose(one.correlations(v), v @ H, rtol=0, atol=1e-10)
        squares = one.correlations(v, squared=True)
        np.testing.assert_allclose(squares, v @ H**2, rtol=0, atol=1e-10)
    alone = paired._replace(n_threads=1)
    np.testing.assert_array_equal(alone.times(None, w), paired.times(None, w))
    np.testing.assert_array_equal(alone.correlations(v), paired.correlations(v))
    large = outputs._replace(values=np.zeros((n_trees, 17)))
    assert large.paired() is large  # a byte holds two codes below 16


def priced(model, X, prices):
    """What rows pay for features until their exits, and what all would that the trees use."""
    used = uses_of(model._responses_.forest, X.shape[1]).any(axis=1)
    return model.forest_cost_until_exit(X, tree_cost=0.0).mean(), math.fsum(prices[used])


@pytest.mark.parametrize(
    "case", [pytest.param("defaults", marks=pytest.mark.slow), "one stage", "three stages"]
)
def test_who_saves_nothing_is_told_a_tradeoff_that_would_save(case):
    X, y, _ = draw(0)
    prices, model = PRICES, CronusClassifier(trees(max_leaves=2), tradeoff=1e-7, n_stages=3)
    if case == "defaults":  # 100 trees, and λ of the paper for 5,000
        X, y = load_breast_cancer(return_X_y=True)
        prices, model = np.ones(30), CronusClassifier()
    model.set_params(feature_costs=prices, **({"n_stages": 1} if case == "one stage" else {}))
    with pytest.warns(NothingSavedWarning, match="saves no feature.* is too little") as caught:
        model.fit(X, y)
    paid, whole = priced(model, X, prices)
    assert paid == pytest.approx(whole)
    said = re.search(
        r"With tradeoff=(\S+) its first stage pays (\S+) of (\S+)\.", str(caught[0].message)
    )
    tradeoff, first, of = map(float, said.groups())
    assert tradeoff > model.tradeoff
    with warnings.catch_warnings():
        warnings.simplefilter("error", NothingSavedWarning)
        again = clone(model).set_params(tradeoff=tradeoff).fit(X, y)
    assert priced(again, X, prices)[0] < paid
    begin = again.initialised().stage_bills(tree_cost=0.0)[0]
    assert (begin, whole) == pytest.approx((first, of), rel=1e-5)
    assert 0 < first < of


def test_where_nothing_can_be_saved_it_says_so():
    """With one feature that costs anything a first stage needs all or nothing."""
    X, y, _ = draw(0)
    model = CronusClassifier(trees(), tradeoff=1e-7, feature_costs=[0, 0, 20, 0, 0], n_stages=2)
    with pytest.warns(NothingSavedWarning, match="A larger one does not help: .* shallower ones"):
        model.fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"tradeoff": 3e-3},
        {"tradeoff": 0.0},
        {"feature_costs": None},
        {"tradeoff": 10.0},
        {"max_cycles": 0},
    ],
)
def test_no_other_cascade_is_warned_of(options):
    X, y, _ = draw(0)
    given = {**SMALL, "feature_costs": PRICES, "tradeoff": 1e-7, **options}
    model = CronusClassifier(trees(max_leaves=2), **given)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NothingSavedWarning)
        model.fit(X, y)
