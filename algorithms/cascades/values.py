"""The states of a decision process in a table, and the best actions there.

A state is the number of the next base classifier and a cell of the scores so far. The reference is
:mod:`reference.mddag`.
"""

from __future__ import annotations

import numpy as np

from ..kernels.decorators import kernel
from .rewards import SPAN_BITS

EVAL, SKIP, QUIT = 0, 1, 2
N_ACTIONS = 3


@kernel
def _uniform(value, n_bins, ran):
    """Bin of a value among those of [0, span]: of 2**41, or twice what ran if it is not 0."""
    span = np.int64(1) << SPAN_BITS if ran == 0 else 2 * ran
    if value >= span:
        return n_bins - 1
    at = (value * n_bins) >> SPAN_BITS if ran == 0 else (value * n_bins) // span
    return max(at, 0)


@kernel
def cell_of(cells, g, ran):
    """Cell of scores.

    Parameters
    ----------
    cells : Cells
    g : ndarray of shape (n_columns,), int64
    ran : int64
        Sum of the sizes of the base classifiers evaluated; looked at if the cells are `running`.
    """
    n_bins = cells.n_bins
    if cells.margin:
        winner = 0
        for k in range(1, g.shape[0]):
            if g[k] > g[winner]:
                winner = k
        second = np.iinfo(np.int64).min
        for k in range(g.shape[0]):
            if k != winner and g[k] > second:
                second = g[k]
        if not cells.running:
            return winner * n_bins + _uniform(g[winner] - second, n_bins, 0)
        at = _uniform(g[winner] - second, n_bins, ran) if ran > 0 else 0
        return winner * n_bins + at
    if not cells.running:
        half = np.int64(1) << (SPAN_BITS - 1)
        return _uniform(g[0] - cells.initial[0] + half, n_bins, 0)
    return _uniform(g[0] - cells.initial[0] + ran, n_bins, ran) if ran > 0 else n_bins // 2


@kernel
def best_action(q, j, cell):
    """Action of the largest value; of equal ones the first of EVAL, SKIP and QUIT."""
    best = EVAL
    if q[j, cell, SKIP] > q[j, cell, EVAL]:
        best = SKIP
    return QUIT if q[j, cell, QUIT] > q[j, cell, best] else best


@kernel
def greedy(q, policy):
    """Write the policy of the largest values.

    Parameters
    ----------
    q : ndarray of shape (n_base + 1, n_cells, 3), float64
    policy : ndarray of shape (n_base, n_cells), int8
    """
    for j in range(policy.shape[0]):
        for cell in range(policy.shape[1]):
            policy[j, cell] = best_action(q, j, cell)
