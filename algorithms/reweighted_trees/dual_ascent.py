"""A weighted hinge loss with a ridge, by coordinate ascent on its dual (Hsieh et al. 2008).

The convex blocks of AND-OR, see :mod:`reference.and_or_cascade`. Rows answer by leaf codes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from .tree_outputs import TreeOutputs

GAP = 1e-9  # of a block, relative to its loss at w = 0
_ROUNDING = 1e-10  # more than rounding can add up to, relative


class Block(NamedTuple):
    """Weights (1 + n_trees,), constant first, their loss, its duality gap, and sweeps."""

    weights: np.ndarray
    loss: float
    gap: float
    sweeps: int


class _Plane(NamedTuple):
    """Σ_i a_i (b_i - s_i f(x_i))₊ at some weights, and its slope there: it lies above, everywhere.

    Attributes
    ----------
    at : ndarray of shape (1 + n_trees,), float64
    value : float
    slope : ndarray of shape (1 + n_trees,), float64
    """

    at: np.ndarray
    value: float
    slope: np.ndarray

    def below(self, w: np.ndarray) -> float:
        """What the sum is at other weights, or less."""
        steps = self.slope * (w - self.at)
        rounded = _ROUNDING * (self.value + float(np.abs(steps).sum()))
        return self.value + float(steps.sum()) - rounded


def _plane(outputs: TreeOutputs, signs, caps, targets, w) -> _Plane:
    """Sum the rows' hinges."""
    trees = np.arange(outputs.n_trees)
    errors = np.maximum(targets - signs * outputs.times(trees, w[1:], w[0]), 0.0)
    value = float(caps @ errors)
    of_scores = np.where(errors > 0.0, -caps * signs, 0.0)
    slope = np.concatenate([[of_scores.sum()], outputs.correlations(of_scores, trees)])
    return _Plane(w.copy(), value, slope)


@kernel
def _score(codes, values, i, w):
    """Score of a row: w[0] and the trees' answers times their weights."""
    score = w[0]
    for t in range(codes.shape[1]):
        score += values[t, codes[i, t]] * w[t + 1]
    return score


@kernel
def _sweep(
    codes, values, signs, caps, targets, squares, lengths, ridge, start, dual, w, safe, seen
):
    """Improve each row's dual variable once, in order, and give the length of w's path.

    Rows that cannot change are left out. A row whose variable is at a bound stays there until its
    score has come back to its target, and a step of length r moves it by r times the length of
    the row's answers at most: ``safe`` holds the length up to which nothing can change. ``start``
    has that length now, and of w. What is left out for being safe would have changed no bit.
    """
    path = 0.0
    for i in range(codes.shape[0]):
        if caps[i] <= 0.0 or safe[i] > start[0] + path:
            continue
        score = _score(codes, values, i, w)
        ahead = targets[i] - signs[i] * score
        new = min(max(dual[i] + ahead / squares[i], 0.0), caps[i])
        change = (new - dual[i]) * signs[i] / ridge
        safe[i] = -np.inf
        if change != 0.0:
            w[0] += change
            for t in range(codes.shape[1]):
                w[t + 1] += change * values[t, codes[i, t]]
            path += abs(change) * lengths[i] * (1.0 + _ROUNDING)
        elif (ahead < 0.0 and new == 0.0) or (ahead > 0.0 and new == caps[i]):
            rounded = _ROUNDING * (abs(score) + abs(targets[i]) + lengths[i] * (start[1] + path))
            safe[i] = start[0] + path + (abs(ahead) - rounded) / lengths[i]
            seen[i] = True
        dual[i] = new
    return path


@kernel
def _settle(excess, safe, seen):
    """Count the path of the sweep that saw these rows whole, where others count its ends."""
    for i in range(safe.shape[0]):
        if seen[i]:
            safe[i] -= excess
            seen[i] = False


def solve_block(
    outputs: TreeOutputs,
    signs: np.ndarray,
    caps: np.ndarray,
    targets: np.ndarray,
    ridge: float,
    max_sweeps: int,
) -> Block:
    """Minimise ½τ‖w‖² + Σ_i a_i (b_i - s_i f(x_i))₊."""
    codes = np.ascontiguousarray(outputs.codes.T)
    squares = (1.0 + _squares(outputs)) / ridge
    lengths = np.sqrt(squares * ridge) * (1.0 + _ROUNDING)
    dual, w = np.zeros(len(signs)), np.zeros(outputs.n_trees + 1)
    safe, seen = np.full(len(signs), -np.inf), np.zeros(len(signs), dtype=bool)
    at_zero = float(caps @ np.maximum(targets, 0.0))
    loss, gap, sweep = at_zero, at_zero, 0
    plane, moved = _plane(outputs, signs, caps, targets, w), 0.0
    while sweep < max_sweeps and gap > GAP * at_zero:
        before = w.copy()
        start = np.array([moved, np.linalg.norm(w)])
        path = _sweep(
            codes, outputs.values, signs, caps, targets, squares, lengths, ridge, start, dual, w,
            safe, seen,
        )  # fmt: skip
        length = min(path, float(np.linalg.norm(w - before)) * (1.0 + _ROUNDING))
        _settle(path - length, safe, seen)
        moved += length
        sweep += 1
        norm = ridge * float(w @ w)
        bound = float(dual @ targets) - 0.5 * norm
        gap = 0.5 * norm + plane.below(w) - bound
        if sweep < max_sweeps and gap > (GAP + _ROUNDING) * at_zero:
            continue  # the loss is no less than that: this is not the end
        plane = _plane(outputs, signs, caps, targets, w)
        loss = 0.5 * norm + plane.value
        gap = loss - bound
    return Block(w, loss, gap, sweep)


def _squares(outputs: TreeOutputs) -> np.ndarray:
    """Σ_t h_t(x_i)² of each row."""
    of_squares = outputs._replace(values=outputs.values**2)
    return of_squares.times(np.arange(outputs.n_trees), np.ones(outputs.n_trees))
