"""AND-OR: blocks against LIBLINEAR and their own gap, falls, twins, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import LinearSVC

from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.reweighted_trees import dual_ascent
from algorithms.reweighted_trees.tree_outputs import tree_outputs
from reference import and_or_cascade
from tests.test_cronus import PRICES, assert_same_exits, draw, trees, twin_of
from tests.test_raykar_cascade import LIMITS


def cascade(**options):
    options = {"ridge": 3e-2, "max_sweeps": 20_000} | options
    inner = trees(n_estimators=6)
    return AndOrCascadeClassifier(inner, price_limits=LIMITS, feature_costs=PRICES, **options)


@pytest.fixture(scope="module")
def fitted():
    X, y, weights = draw(0, n=150)
    return cascade().fit(X, y, sample_weight=weights), X, y, weights


def block_of(fitted, seed):
    """A block's problem, with rows that have no cap and targets below 1."""
    model, X, y, weights = fitted
    rng = np.random.default_rng(seed)
    signs = np.where(y == "yes", 1.0, -1.0)
    H = np.column_stack([np.ones(len(X)), twin_of(model, X)[0]])
    caps = rng.random(len(X)) * (rng.random(len(X)) < 0.9) * weights / weights.sum()
    targets = np.where((signs > 0) & (rng.random(len(X)) < 0.3), 0.2, 1.0)
    return H, signs, caps, targets, tree_outputs(model._responses_.forest, X, 2)


@pytest.mark.parametrize(("seed", "ridge"), [(0, 0.3), (1, 3e-2)])
def test_blocks_equal_the_reference_and_close_their_gap(fitted, seed, ridge):
    H, signs, caps, targets, outputs = block_of(fitted, seed)
    w = and_or_cascade.solve_block(H, signs, caps, targets, ridge)
    value = and_or_cascade.hinge_loss(w, H, signs, caps, targets, ridge)
    found = dual_ascent.solve_block(outputs, signs, caps, targets, ridge, 20_000)
    np.testing.assert_allclose(found.loss, value, rtol=1e-8)
    assert -1e-12 <= found.gap <= 1e-9 * caps.sum()
    rng = np.random.default_rng(seed)
    for size in 10.0 ** np.arange(-5, 1):
        other = w + size * rng.normal(size=len(w))
        assert and_or_cascade.hinge_loss(other, H, signs, caps, targets, ridge) >= value - 1e-9


def every_row_in_every_sweep(outputs, signs, caps, targets, ridge, max_sweeps):
    """Coordinate ascent that leaves nothing out, and computes the loss after each sweep."""
    n_trees = outputs.n_trees
    answers = outputs.values[np.arange(n_trees), outputs.codes.T].tolist()
    squares = dual_ascent._squares(outputs) + 1.0
    of_rows = list(
        zip(answers, *(v.tolist() for v in (signs, caps, targets, squares / ridge)), strict=True)
    )
    dual, w = np.zeros(len(signs)), [0.0] * (n_trees + 1)
    at_zero = float(caps @ np.maximum(targets, 0.0))
    gap, sweep, loss = at_zero, 0, at_zero
    while sweep < max_sweeps and gap > dual_ascent.GAP * at_zero:
        for i, (answer, sign, cap, target, square) in enumerate(of_rows):
            score = w[0]
            for value, weight in zip(answer, w[1:], strict=True):
                score += value * weight
            new = min(max(dual[i] + (target - sign * score) / square, 0.0), cap)
            change = (new - dual[i]) * sign / ridge
            if cap > 0 and change != 0.0:
                w = [w[0] + change, *(v + change * x for v, x in zip(w[1:], answer, strict=True))]
            dual[i] = new
        sweep, weights = sweep + 1, np.array(w)
        norm = ridge * float(weights @ weights)
        scores = outputs.times(np.arange(n_trees), weights[1:], weights[0])
        loss = 0.5 * norm + float(caps @ np.maximum(targets - signs * scores, 0.0))
        gap = loss - (float(dual @ targets) - 0.5 * norm)
    return np.array(w), loss, gap, sweep


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("ridge", "max_sweeps"), [(0.3, 500), (3e-2, 500), (1e-3, 60), (1e-2, 7)])
def test_what_is_left_out_would_have_changed_no_bit(fitted, seed, ridge, max_sweeps):
    _, signs, caps, targets, outputs = block_of(fitted, seed)
    expected = every_row_in_every_sweep(outputs, signs, caps, targets, ridge, max_sweeps)
    found = dual_ascent.solve_block(outputs, signs, caps, targets, ridge, max_sweeps)
    assert found.sweeps == expected[3] > 5
    np.testing.assert_array_equal(found.weights, expected[0])
    assert (found.loss, found.gap) == expected[1:3]


@pytest.mark.parametrize("ridge", [0.3, 3e-2])
def test_a_block_is_a_support_vector_machine(fitted, ridge):
    H, signs, caps, _, _ = block_of(fitted, 0)
    caps = caps + 1e-4  # LIBLINEAR leaves out rows without weight
    targets = np.ones(len(signs))
    w = and_or_cascade.solve_block(H, signs, caps, targets, ridge)
    machine = LinearSVC(loss="hinge", C=1.0, dual=True, tol=1e-10, max_iter=10**6)
    machine.fit(H[:, 1:], signs, sample_weight=caps / ridge)
    theirs = np.append(machine.intercept_, machine.coef_[0])
    values = [and_or_cascade.hinge_loss(v, H, signs, caps, targets, ridge) for v in (w, theirs)]
    np.testing.assert_allclose(*values, rtol=1e-6)
    assert np.any(np.abs(w) > 0.01)


def test_a_block_is_the_objective_by_its_weights(fitted):
    """Up to what the other stages contribute alone."""
    *_, weights = fitted
    rng = np.random.default_rng(0)
    H, signs, *_ = block_of(fitted, 0)
    copies = weights / weights.sum()
    beta = 0.5 * rng.normal(size=(3, H.shape[1]))
    caps, targets = and_or_cascade.block(1, beta, H, signs, copies, 0.7, 2.0)
    apart = []
    for _ in range(5):
        beta[1] = rng.normal(size=H.shape[1])
        whole = and_or_cascade.objective(beta, H, signs, copies, 0.1, 0.7, 2.0)
        apart.append(whole - and_or_cascade.hinge_loss(beta[1], H, signs, caps, targets, 0.1))
    np.testing.assert_allclose(apart, apart[0], rtol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_equals_the_reference(seed):
    X, y, weights = draw(seed, n=150)
    options = {"negative_weight": 1.5, "positive_weight": 3.0, "max_cycles": 4}
    model = cascade(**options).fit(X, y, sample_weight=weights)
    H, *_ = twin_of(model, X)
    twin = and_or_cascade.fit(
        H, np.where(y == "yes", 1.0, -1.0), model.pools_, n_stages=3, ridge=3e-2,
        sample_weight=weights, **options,
    )  # fmt: skip
    assert len(model.objectives_) == len(twin.objectives)
    np.testing.assert_allclose(model.objectives_[:2], twin.objectives[:2], rtol=1e-8)
    np.testing.assert_allclose(model.objective_, twin.objectives[-1], rtol=0.01)
    assert np.all(np.diff(model.objectives_) <= 0)
    assert np.all(np.diff(twin.objectives) <= 0)
    assert model.objective_ < 0.8 * model.objectives_[0]
    np.testing.assert_array_equal(model.thresholds_, 0)
    assert_same_exits(model, X)


def test_limits_are_reported(fitted):
    model, X, y, weights = fitted
    short = clone(model).set_params(max_sweeps=1, max_cycles=1).fit(X, y, sample_weight=weights)
    assert short.capped_
