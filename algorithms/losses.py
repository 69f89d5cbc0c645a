"""Losses of gradient boosting: first and second derivatives, Eq. (9a) and Eq. (9b), on exact grids.

exp and log run in NumPy, never in a kernel; kernels add, subtract, multiply, divide, compare and
round, so both twins get the same bits (DESIGN §4).
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .grid import RowWeights, in_steps, value_exponent
from .kernels.arrays import read_only
from .kernels.decorators import kernel
from .kernels.loops import for_each
from .trees.histogram import MOST_PACKED, in_halves

SQUARED, LOGISTIC, MULTINOMIAL = 0, 1, 2
_ROWS_AT_ONCE = 2**15  # of 8 bytes: half of a second-level cache
_CHUNK_BITS = 15  # of the rows whose derivatives one thread computes
_WORTH_SHARING = 2**17  # rows for which starting threads pays
_LAST_BITS = 2.0**-48  # of a float: what several roundings leave of it
_KINDS = {"squared": SQUARED, "logistic": LOGISTIC, "multinomial": MULTINOMIAL}


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Class probabilities of raw scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_columns), float64
        Log-odds of the second class, or a score for each of three classes or more.

    Returns
    -------
    ndarray of shape (n_samples, n_classes), float64
    """
    if scores.shape[1] == 1:
        with np.errstate(over="ignore"):
            p = 1.0 / (1.0 + np.exp(-scores[:, 0]))
        return np.column_stack([1.0 - p, p])
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)


@kernel
def _derivatives(loss, s, y, target, factor):  # Eq. (9a), Eq. (9b)
    """Gradient and hessian of one row.

    `s` is what NumPy has prepared: the score (squared), exp(-score) (logistic), or the probability
    of class `target` (multinomial). A `factor` of 0 stands for "first-order terms only", h = 1.
    """
    if loss == SQUARED:
        return s - y, 1.0
    if loss == LOGISTIC:
        p = 1.0 / (1.0 + s)
        return p - (1.0 if y == target else 0.0), p * (1.0 - p) if factor > 0.0 else 1.0
    h = factor * (s * (1.0 - s)) if factor > 0.0 else 1.0
    return s - (1.0 if y == target else 0.0), h


@kernel
def _largest_of_chunk(c, loss, s, y, target, factor, largest):
    n, n_chunks = s.shape[0], largest.shape[0]
    top_g = top_h = 0.0
    for i in range(n * c // n_chunks, n * (c + 1) // n_chunks):
        g, h = _derivatives(loss, s[i], y[i], target, factor)
        top_g = max(top_g, abs(g))
        top_h = max(top_h, h)
    largest[c, 0] = top_g
    largest[c, 1] = top_h


@kernel
def _largest(loss, s, y, target, factor, largest):
    """Largest gradient and hessian by chunk."""
    captured = loss, s, y, target, factor, largest
    for_each(_largest_of_chunk, largest.shape[0], True, captured)


@kernel
def _write_row(i, loss, s, y, target, factor, steps, hessians, gh):
    g, h = _derivatives(loss, s[i], y[i], target, factor)
    g_steps = np.int64(np.rint(g * steps[0]))
    h_steps = np.int64(max(1.0, np.rint(h * steps[1])))
    gh[i, 0] = h_steps if hessians and gh.shape[1] == 1 else g_steps
    if gh.shape[1] == 2:
        gh[i, 1] = h_steps


@kernel
def _write(loss, s, y, target, factor, steps, hessians, gh):
    """Unweighted pairs of 32-bit integers; a hessian rounded to 0 counts as one step.

    Into a single column go the gradients, and the hessian of all behind them, or the `hessians`.
    """
    n = s.shape[0]
    for_each(_write_row, n, n >> _CHUNK_BITS > 1, (loss, s, y, target, factor, steps, hessians, gh))
    if gh.shape[1] == 1:
        gh[n, 0] = np.int64(max(1.0, np.rint(steps[1])))


@kernel
def _write_weighted(loss, s, y, target, factor, steps, weights, counts, whole, gh):
    for i in range(s.shape[0]):
        g, h = _derivatives(loss, s[i], y[i], target, factor)
        g *= steps[0]
        h *= steps[1]
        if whole:  # so that a weight of 3 equals three copies
            g = np.rint(g)
            h = max(1.0, np.rint(h))
        if gh.itemsize == 8:
            g = np.rint(weights[i] * g)
            h = max(1.0, np.rint(weights[i] * h))
        gh[i, 0] = np.int64(g)
        gh[i, 1] = np.int64(h)
        gh[i, 2] = counts[i]


class Derivatives(NamedTuple):
    """Gradients and hessians of one tree on their grids."""

    gh: np.ndarray  # See :func:`allocate_gh` for its shapes
    gradient_step: float  # gradient_step, hessian_step: Values of one grid step
    hessian_step: float

    @property
    def halves(self) -> np.ndarray:
        """A view for the kernels that grow trees, see :func:`~.trees.histogram.in_halves`."""
        return in_halves(self.gh)


def class_numbers(n_classes: int) -> type[np.integer]:
    """Type of the rows' class numbers: a byte holds 256."""
    return np.uint8 if n_classes <= 256 else np.int32


def allocate_gh(weights: RowWeights, n_samples: int, equal_hessians: bool = False) -> np.ndarray:
    """Memory for the derivatives of one tree, whose hessians may all be equal."""
    if weights.values is None and equal_hessians:
        return np.empty((n_samples + 1, 1), dtype=np.int32)
    if weights.values is None:
        return np.empty((n_samples, 2), dtype=np.int32)
    packed = weights.whole and weights.counts.max() <= MOST_PACKED
    return np.empty((n_samples, 3), dtype=np.int32 if packed else np.int64)


class Loss:
    """A loss and what boosting needs of it."""

    def __init__(self, name: str, n_classes: int = 0) -> None:
        self.name = name
        self.kind = kind = _KINDS[name]
        self.n_trees = n_classes if kind == MULTINOMIAL else 1
        # K/(K-1) makes -G/H Friedman's (K-1)/K * sum(r) / sum(|r| (1 - |r|)).
        self.factor = n_classes / (n_classes - 1) if kind == MULTINOMIAL else 1.0

    def initial_score(self, y: np.ndarray, weights: RowWeights) -> np.ndarray:
        """Best constant score, shape (n_trees,)."""
        k = value_exponent(self.largest_target(y), weights)
        return self.score_of_sums(self.target_sums(y, weights, k), k, weights)

    def largest_target(self, y: np.ndarray) -> float:
        """Largest target in magnitude; 0 for classes, which are counted."""
        if self.kind != SQUARED:
            return 0.0
        return float(max(np.max(y, initial=0.0), -np.min(y, initial=0.0)))  # and no copy of all

    def target_sums(self, y: np.ndarray, weights: RowWeights, k: int) -> np.ndarray:
        """Sum of the targets in steps of ``2.0 ** -k``, or weight of each class; int64."""
        if self.kind == SQUARED:
            return in_steps(y, weights, k).sum(keepdims=True)
        n_classes = 2 if self.kind == LOGISTIC else self.n_trees
        counts = weights.counts
        return np.array(
            [
                int(np.count_nonzero(y == c)) if counts is None else int(counts[y == c].sum())
                for c in range(n_classes)
            ]
        )

    def score_of_sums(self, sums: np.ndarray, k: int, weights: RowWeights) -> np.ndarray:
        """Best constant score of what :meth:`target_sums` gave for all rows, (n_trees,)."""
        if self.kind == SQUARED:
            return np.array([math.ldexp(int(sums[0]), -k) / weights.sum])
        p = sums / weights.total
        return np.log(p[1:] / (1.0 - p[1:])) if self.kind == LOGISTIC else np.log(p)

    def rounding(self, first_step: float, largest_target: float) -> float:
        """Size up to which a gradient may be what rounding has left, and is no reason to split.

        A residual is known no better than to half a grid step of the first round's residuals, as
        the first leaf values are, and to ``2**-48`` of the largest target; a probability to
        ``2**-48``.
        """
        if self.kind == SQUARED:
            return max(0.5 * first_step, _LAST_BITS * largest_target)
        return _LAST_BITS

    @property
    def prepared_is_lost(self) -> bool:
        """Whether growing a tree overwrites what :meth:`prepare` wrote to :meth:`scratch`."""
        return self.kind == LOGISTIC

    def scratch(self, scores: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Memory for :meth:`prepare`, where possible none of its own."""
        if self.kind == SQUARED:
            return scores
        if self.kind == LOGISTIC:
            return words.reshape(-1).view(np.float64)[: len(scores)].reshape(scores.shape)
        return np.empty_like(scores)

    def prepare(self, scores: np.ndarray, out: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Transcendental part of the derivatives."""
        if self.kind == SQUARED:
            return scores
        starts = range(0, len(scores), _ROWS_AT_ONCE)
        parts = [slice(start, start + _ROWS_AT_ONCE) for start in starts]
        if n_threads == 1 or len(scores) < _WORTH_SHARING:
            for part in parts:
                self._prepare_rows(scores[part], out[part])
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(lambda part: self._prepare_rows(scores[part], out[part]), parts))
        return out

    def _prepare_rows(self, scores: np.ndarray, out: np.ndarray) -> None:
        with np.errstate(over="ignore"):
            if self.kind == LOGISTIC:
                np.negative(scores, out=out)
                np.exp(out, out=out)
                return
        largest = scores[:, 0].copy()
        for k in range(1, self.n_trees):
            np.maximum(largest, scores[:, k], out=largest)
        total = np.zeros(len(scores))
        for k in range(self.n_trees):  # in class order: the sum must not depend on the layout
            np.subtract(scores[:, k], largest, out=out[:, k])
            np.exp(out[:, k], out=out[:, k])
            total += out[:, k]
        for k in range(self.n_trees):
            out[:, k] /= total

    def derivatives(
        self,
        prepared: np.ndarray,
        y: np.ndarray,
        tree: int,
        weights: RowWeights,
        second_order: bool,
        gh: np.ndarray,
        hessians: bool = False,
    ) -> Derivatives:
        """Gradients and hessians of one tree of the round, rounded to their grids into `gh`."""
        largest = self.largest_derivatives(prepared, y, tree, second_order)
        exponents = tuple(value_exponent(float(m), weights) for m in largest)
        row = prepared, y, tree
        return self.derivatives_on_grid(*row, weights, second_order, exponents, gh, hessians)

    def _of_rows(self, prepared, y, tree, second_order) -> tuple:
        """What the kernels are told of a tree's rows."""
        target = 1 if self.kind == LOGISTIC else tree
        factor = self.factor if second_order else 0.0
        return self.kind, prepared[:, tree], read_only(y), target, factor

    def largest_derivatives(
        self, prepared: Any, y: ArrayLike, tree: int, second_order: bool
    ) -> np.ndarray:
        """Largest gradient, in magnitude, and hessian of the rows, shape (2,)."""
        largest = np.empty((max(1, len(y) >> _CHUNK_BITS), 2))
        _largest(*self._of_rows(prepared, y, tree, second_order), largest)
        return largest.max(axis=0)

    def derivatives_on_grid(
        self,
        prepared: Any,
        y: ArrayLike,
        tree: int,
        weights: RowWeights,
        second_order: bool,
        exponents: tuple[int, int],
        gh: np.ndarray,
        hessians: bool = False,
    ) -> Derivatives:
        """As :meth:`derivatives`, on the grids ``2.0 ** -k`` of two given exponents k."""
        row, (k_g, k_h) = self._of_rows(prepared, y, tree, second_order), exponents
        if weights.values is None:
            _write(*row, (2.0**k_g, 2.0**k_h), hessians, gh)
        else:
            values, counts = read_only(weights.values), read_only(weights.counts)
            _write_weighted(*row, (2.0**k_g, 2.0**k_h), values, counts, weights.whole, gh)
        return Derivatives(gh, 2.0**-k_g, 2.0**-k_h)
