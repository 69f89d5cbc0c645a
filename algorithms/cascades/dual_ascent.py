"""A weighted hinge loss with a ridge, by coordinate ascent on its dual (Hsieh et al. 2008).

The convex blocks of AND-OR, see :mod:`reference.and_or_cascade`. Rows answer by leaf codes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from .tree_outputs import TreeOutputs

GAP = 1e-9  # of a block, relative to its loss at w = 0


class Block(NamedTuple):
    """Weights (1 + n_trees,), constant first, their loss, its duality gap, and sweeps."""

    weights: np.ndarray
    loss: float
    gap: float
    sweeps: int


@kernel
def _score(codes, values, i, w):
    """Score of a row: w[0] and the trees' answers times their weights."""
    score = w[0]
    for t in range(codes.shape[1]):
        score += values[t, codes[i, t]] * w[t + 1]
    return score


@kernel
def _sweep(codes, values, signs, caps, targets, squares, ridge, dual, w):
    """Improve each row's dual variable once, in order."""
    for i in range(codes.shape[0]):
        if caps[i] <= 0.0:
            continue
        step = (targets[i] - signs[i] * _score(codes, values, i, w)) / squares[i]
        new = min(max(dual[i] + step, 0.0), caps[i])
        change = (new - dual[i]) * signs[i] / ridge
        if change != 0.0:
            w[0] += change
            for t in range(codes.shape[1]):
                w[t + 1] += change * values[t, codes[i, t]]
        dual[i] = new


def solve_block(
    outputs: TreeOutputs,
    signs: np.ndarray,
    caps: np.ndarray,
    targets: np.ndarray,
    ridge: float,
    max_sweeps: int,
) -> Block:
    """Minimise ½τ‖w‖² + Σ_i a_i (b_i - s_i f(x_i))₊.

    Parameters
    ----------
    outputs : TreeOutputs
    signs, caps, targets : ndarray of shape (n_samples,), float64
        s in {-1, +1}, a >= 0, b.
    ridge : float
        τ > 0.
    max_sweeps : int

    Returns
    -------
    Block
    """
    codes = np.ascontiguousarray(outputs.codes.T)
    squares = (1.0 + _squares(outputs)) / ridge
    dual, w = np.zeros(len(signs)), np.zeros(outputs.n_trees + 1)
    at_zero = float(caps @ np.maximum(targets, 0.0))
    trees = np.arange(outputs.n_trees)
    loss, gap, sweep = at_zero, at_zero, 0
    while sweep < max_sweeps and gap > GAP * at_zero:
        _sweep(codes, outputs.values, signs, caps, targets, squares, ridge, dual, w)
        sweep += 1
        norm = ridge * float(w @ w)
        errors = np.maximum(targets - signs * outputs.times(trees, w[1:], w[0]), 0.0)
        loss = 0.5 * norm + float(caps @ errors)
        gap = loss - (float(dual @ targets) - 0.5 * norm)
    return Block(w, loss, gap, sweep)


def _squares(outputs: TreeOutputs) -> np.ndarray:
    """Σ_t h_t(x_i)² of each row."""
    of_squares = outputs._replace(values=outputs.values**2)
    return of_squares.times(np.arange(outputs.n_trees), np.ones(outputs.n_trees))
