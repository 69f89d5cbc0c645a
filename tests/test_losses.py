"""Losses: derivatives, initial scores and grids against the reference, bit for bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from algorithms.gbrt import GBRTClassifier
from algorithms.grid import round_to_grid, row_weights, value_exponent
from algorithms.kernels.decorators import available_threads, threads
from algorithms.losses import Loss, allocate_gh, class_numbers
from reference import grid as reference_grid
from reference import losses as reference

KINDS = ["squared", "logistic", "multinomial"]


def draw_weights(rng, n, kind):
    return {
        "none": None,
        "whole": rng.integers(1, 9, n).astype(float),
        "fractional": rng.random(n) + 1e-3,
        "small": rng.random(n) * 1e-9 + 1e-30,
        "large": rng.random(n) * 1e9,
    }[kind]


WEIGHTS = ["none", "whole", "fractional", "small", "large"]


def draw_case(rng, loss, n, n_classes=4):
    """Targets and scores, some of them extreme."""
    n_columns = n_classes if loss == "multinomial" else 1
    F = rng.normal(size=(n, n_columns)) * 10.0 ** rng.integers(-2, 2)
    F[:: max(1, n // 7)] *= 400  # exp overflows and underflows
    if loss == "squared":
        return rng.normal(size=n) * 10.0 ** rng.integers(-5, 6), F
    y = rng.integers(0, n_columns if n_columns > 1 else 2, n)
    y[: 2 if n_columns == 1 else n_columns] = np.arange(2 if n_columns == 1 else n_columns)[:n]
    return y.astype(np.int32), F


# --- weights and grids -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("n", [1, 2, 100, 5000])
def test_row_weights(kind, n):
    weights = draw_weights(np.random.default_rng(n), n, kind)
    ours = row_weights(weights, n)
    theirs = reference_grid.row_weights(np.ones(n) if weights is None else weights)
    assert ours.exponent == theirs.exponent
    assert ours.sum == theirs.total
    assert ours.total == theirs.counts.sum()
    if weights is None:
        assert ours.counts is None
        np.testing.assert_array_equal(theirs.counts, 1)
    else:
        np.testing.assert_array_equal(ours.counts, theirs.counts)
        assert ours.counts.dtype == np.int64
        assert np.all(ours.counts >= 1)
    assert ours.total < 2**53


def test_weights_by_hand():
    weights = row_weights(np.array([0.5, 0.25, 1e-30]), 3)
    assert (weights.exponent, weights.bits, weights.sum) == (52, 52, 0.75)
    np.testing.assert_array_equal(weights.counts, [2**51, 2**50, 1])
    weights = row_weights(np.array([2.0, 3.0]), 2)
    assert (weights.exponent, weights.bits, weights.total) == (0, 30, 5)
    assert row_weights(None, 2**23).bits == 52 - 24


@pytest.mark.parametrize("kind", WEIGHTS)
def test_grid_equals_the_reference_and_sums_are_exact(kind):
    rng = np.random.default_rng(1)
    for scale in (1e-300, 1e-9, 1.0, 1e100):
        values = rng.normal(size=3000) * scale * 10.0 ** rng.integers(-6, 1, 3000)
        real = draw_weights(rng, 3000, kind)
        weights = row_weights(real, 3000)
        ours, k = round_to_grid(values, weights)
        one = np.ones(3000) if real is None else real
        theirs = reference_grid.round_to_grid(values, reference_grid.row_weights(one))
        np.testing.assert_array_equal(ours, theirs.ints)
        assert k == theirs.exponent <= 1000
        assert np.abs(ours).sum() < 2**53
        error = sum(Fraction(int(v)) for v in ours) / Fraction(2) ** k - sum(
            Fraction(float(w)) * Fraction(float(v)) for w, v in zip(one, values, strict=True)
        )
        largest = float(np.abs(values).max())
        if scale > 1e-290:  # the grid is never finer than 2**-1000
            # Whole weights: half a step a row times its weight. Others: at most a step a row.
            steps = one.sum() / 2 if kind in ("none", "whole") else 3000.0
            assert abs(error) <= Fraction(float(steps)) / Fraction(2) ** k
            # However large or small the weights are, beside the largest sum it is next to nothing.
            assert steps * 2.0**-k <= 2.0**-29 * largest * one.sum()


def test_grid_of_zeros_and_of_the_tiniest():
    weights = row_weights(None, 4)
    assert value_exponent(0.0, weights) == 0
    values, k = round_to_grid(np.array([5e-324, 0.0]), weights)
    assert k == 1000
    np.testing.assert_array_equal(values, 0)
    np.testing.assert_array_equal(round_to_grid(np.zeros(3), weights)[0], 0)
    # 0.75 has exponent 0 and keeps 30 bits; 2**-31 is half a step and rounds to even.
    values, k = round_to_grid(np.array([0.75, -0.5, 2.0**-31, 3 * 2.0**-32]), weights)
    assert k == 30
    np.testing.assert_array_equal(values, [0.75 * 2**30, -0.5 * 2**30, 0, 1])


# --- derivatives -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_threads_share_out_what_numpy_prepares_and_change_no_bit(name):
    """Beside the whole in one piece, which NumPy may go through in other steps."""
    loss = Loss(name, 3)
    shape = (2**17 + 3, loss.n_trees)
    scores = np.asfortranarray(np.random.default_rng(1).normal(scale=5, size=shape))
    one, two = (loss.prepare(scores, np.empty_like(scores), k).copy() for k in (1, 2))
    np.testing.assert_array_equal(one, two)
    if name == "logistic":
        np.testing.assert_array_equal(one, np.exp(-scores))
    else:
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        total = (powers[:, 0] + powers[:, 1]) + powers[:, 2]
        np.testing.assert_array_equal(one, powers / total[:, None])


def assert_same_derivatives(loss_name, y, F, real, second_order, n_classes=4):
    n = len(y)
    loss = Loss(loss_name, n_classes)
    weights = row_weights(real, n)
    scores = np.asfortranarray(F)
    prepared = loss.prepare(scores, np.empty_like(scores))
    kept = reference_grid.row_weights(np.ones(n) if real is None else real)
    theirs = reference.derivatives(loss_name, F, y)
    assert len(theirs) == loss.n_trees
    for tree, (g, h) in enumerate(theirs):
        gh = allocate_gh(weights, n)
        gh[:] = -1
        ours = loss.derivatives(prepared, y, tree, weights, second_order, gh)
        assert ours.gh is gh
        h = h if second_order else np.ones(n)
        gradients = reference_grid.round_to_grid(g, kept)
        hessians = reference_grid.round_to_grid(h, kept, positive=True)
        # 32-bit rows leave the weight in its column.
        by = gh[:, 2].astype(np.int64) if gh.shape == (n, 3) and gh.dtype == np.int32 else 1
        np.testing.assert_array_equal(gh[:, 0] * by, gradients.ints)
        np.testing.assert_array_equal(gh[:, 1] * by, hessians.ints)
        assert ours.gradient_step == 2.0**-gradients.exponent
        assert ours.hessian_step == 2.0**-hessians.exponent
        assert np.all(gh[:, 1] >= 1)
        if real is None:
            assert gh.dtype == np.int32
            assert gh.shape == (n, 2)
        else:
            np.testing.assert_array_equal(gh[:, 2], kept.counts)


@pytest.mark.parametrize("loss", KINDS)
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("second_order", [True, False])
def test_derivatives(loss, kind, second_order):
    rng = np.random.default_rng(2)
    for n in (2, 5, 333):
        y, F = draw_case(rng, loss, max(n, 4))
        assert_same_derivatives(loss, y, F, draw_weights(rng, len(y), kind), second_order)


@pytest.mark.parametrize("loss", KINDS)
def test_derivatives_in_chunks_and_threads(loss):
    rng = np.random.default_rng(3)
    for n in (65_535, 65_536, 98_305):  # the last row of one chunk, and two and three
        y, F = draw_case(rng, loss, n)
        for n_threads in {1, available_threads()}:
            with threads(n_threads, 10**6):
                assert_same_derivatives(loss, y, F, None, True)


@pytest.mark.parametrize("n_classes", [3, 9, 40])
def test_many_classes_are_summed_in_class_order(n_classes):
    rng = np.random.default_rng(4)
    y, F = draw_case(rng, "multinomial", 200, n_classes)
    assert_same_derivatives("multinomial", y, F, None, True, n_classes)


def test_scores_are_left_alone():
    rng = np.random.default_rng(5)
    for name in KINDS:
        _, F = draw_case(rng, name, 50)
        scores = np.asfortranarray(F)
        before = scores.copy()
        Loss(name, 4).prepare(scores, np.empty_like(scores))
        np.testing.assert_array_equal(scores, before)


def test_derivatives_by_hand():
    # F = 0: p = ½, g = ±½, h = ¼; the largest are ½ (exponent 0) and ¼ (exponent -1).
    y, scores = np.array([0, 1], dtype=np.int32), np.zeros((2, 1), order="F")
    loss, weights = Loss("logistic"), row_weights(None, 2)
    gh = allocate_gh(weights, 2)
    prepared = loss.prepare(scores, np.empty_like(scores))
    d = loss.derivatives(prepared, y, 0, weights, True, gh)
    np.testing.assert_array_equal(gh, [[2**29, 2**29], [-(2**29), 2**29]])
    assert (d.gradient_step, d.hessian_step) == (2.0**-30, 2.0**-31)
    # Three classes: p = 1/3, h = 3/2 * 2/9.
    loss, scores = Loss("multinomial", 3), np.zeros((2, 3), order="F")
    prepared = loss.prepare(scores, np.empty_like(scores))
    d = loss.derivatives(prepared, y, 1, weights, True, gh)
    np.testing.assert_allclose(gh[:, 0] * d.gradient_step, [1 / 3, -2 / 3], rtol=1e-8)
    np.testing.assert_allclose(gh[:, 1] * d.hessian_step, 1 / 3, rtol=1e-8)


def numerical(loss_name, F, y, k, step=1e-4):
    """First and second difference quotients of the rows' losses."""
    up, down = F.copy(), F.copy()
    up[:, k] += step
    down[:, k] -= step
    a, b, c = (reference.row_losses(loss_name, Z, y) for Z in (up, F, down))
    return (a - c) / (2 * step), (a - 2 * b + c) / step**2


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("n", [50, 20_000])
def test_a_single_column_holds_what_two_hold(name, n):
    """Where hessians are equal: the gradients and the one hessian, or the true hessians."""
    rng = np.random.default_rng(8)
    loss, weights = Loss(name, 4), row_weights(None, n)
    scores = np.asfortranarray(rng.normal(size=(n, loss.n_trees)))
    y = rng.normal(size=n) if name == "squared" else rng.integers(0, 2, n).astype(np.uint8)
    prepared = loss.prepare(scores, np.empty_like(scores))
    two, one = allocate_gh(weights, n), allocate_gh(weights, n, equal_hessians=True)
    assert (two.nbytes, one.nbytes) == (8 * n, 4 * n + 4)
    for second_order, hessians in ((False, False), (True, True)):
        row = prepared, y, 0, weights, second_order
        of_two, of_one = loss.derivatives(*row, two), loss.derivatives(*row, one, hessians)
        assert of_two[1:] == of_one[1:]
        np.testing.assert_array_equal(one[:n, 0], two[:, int(hessians)])
        if not hessians:
            assert np.all(two[:, 1] == one[n, 0])


def test_class_numbers_are_bytes_where_a_byte_holds_them():
    assert class_numbers(256) == np.uint8
    assert class_numbers(257) == np.int32
    for n_classes in (256, 258):
        y = np.repeat(np.arange(n_classes), 4)
        X = np.column_stack([y // 16, y % 16]).astype(float)
        options = {"n_estimators": 1, "min_samples_leaf": 1, "max_leaves": 8}
        predicted = GBRTClassifier(**options).fit(X, y).predict(X)
        assert np.mean(predicted == y) > 0.9
        assert predicted.max() == n_classes - 1


@pytest.mark.parametrize("name", KINDS)
def test_derivatives_are_those_of_the_loss(name):
    rng = np.random.default_rng(6)
    n = 60
    F = rng.normal(size=(n, 4 if name == "multinomial" else 1))
    y = rng.normal(size=n) if name == "squared" else rng.integers(0, max(2, F.shape[1]), n)
    y = y if name == "squared" else y.astype(np.int32)
    loss, weights = Loss(name, 4), row_weights(None, n)
    scores = np.asfortranarray(F)
    prepared = loss.prepare(scores, np.empty_like(scores))
    for k in range(loss.n_trees):
        gh = allocate_gh(weights, n)
        d = loss.derivatives(prepared, y, k, weights, True, gh)
        first, second = numerical(name, F, y, k)
        factor = 4 / 3 if name == "multinomial" else 1.0
        np.testing.assert_allclose(gh[:, 0] * d.gradient_step, first, atol=1e-7)
        np.testing.assert_allclose(gh[:, 1] * d.hessian_step, factor * second, atol=1e-6)


# --- the constant to start from --------------------------------------------------------------


@pytest.mark.parametrize("loss", KINDS)
@pytest.mark.parametrize("kind", WEIGHTS)
def test_initial_scores(loss, kind):
    rng = np.random.default_rng(7)
    y, _ = draw_case(rng, loss, 501)
    real = draw_weights(rng, 501, kind)
    ours = Loss(loss, 4).initial_score(y, row_weights(real, 501))
    kept = reference_grid.row_weights(np.ones(501) if real is None else real)
    np.testing.assert_array_equal(ours, reference.initial_scores(loss, y, kept, "mean"))
    one = np.ones(501) if real is None else real
    if loss == "squared":
        bound = (1e-9 if kind in ("none", "whole") else 1e-12) * np.abs(y).max()
        assert ours[0] == pytest.approx(np.average(y, weights=one), abs=bound)
    elif loss == "logistic":
        share = math.fsum(one[y == 1]) / math.fsum(one)
        assert ours[0] == pytest.approx(math.log(share / (1 - share)), abs=1e-9)
    else:
        shares = [math.fsum(one[y == k]) / math.fsum(one) for k in range(4)]
        np.testing.assert_allclose(ours, np.log(shares), rtol=1e-9)
