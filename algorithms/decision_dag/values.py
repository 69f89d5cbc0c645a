"""The states of a decision process in a table, and the best actions there.

A state is the number of the next base classifier and a cell of the scores so far. The reference is
:mod:`reference.mddag`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel, small_kernel
from .rewards import SPAN_BITS

if TYPE_CHECKING:
    from .rewards import Cells

EVAL, SKIP, QUIT = 0, 1, 2
N_ACTIONS = 3
# Of the Gaussians, as the authors have them: scores of a span of 1 are looked at in so many cells.
GAUSSIAN_CELLS, WIDTH = 1001, 0.01
ERROR_TO_GROW, ACTIVATION_TO_GROW = 0.1, 0.4  # a centre is added above, and below
_FEWEST_BINS, _MOST_BINS = 101, 1001
_MOST_CENTRES = 72  # nearer than 14 cells an older centre is too active


def bins_for(n_base: int) -> int:
    """Bins of a score by N: the largest odd number up to N + 1, from 101 to 1,001.

    What all base classifiers answer spans them, and grows with N. So a bin is twice the mean vote
    wide at most, up to N = 1,000; f = 0 is in the middle of one. Beyond, the table would grow with
    the square of N.
    """
    return min(max(n_base + 1 - n_base % 2, _FEWEST_BINS), _MOST_BINS)


class Gaussians(NamedTuple):
    """Values as sums of Gaussians whose centres grow, for each base classifier and action."""

    centre: np.ndarray  # (n_base + 1, 3, 72) int64: cells
    weight: np.ndarray  # (n_base + 1, 3, 72) float64
    count: np.ndarray  # (n_base + 1, 3) int64: how many there are
    bump: np.ndarray  # (1001,) float64: A Gaussian by the distance from its centre in cells


def no_gaussians(n_base: int) -> Gaussians:
    """Values of 0: no centres yet."""
    shape = (n_base + 1, N_ACTIONS)
    distance = np.arange(GAUSSIAN_CELLS) / (GAUSSIAN_CELLS - 1)
    return Gaussians(
        np.zeros((*shape, _MOST_CENTRES), dtype=np.int64),
        np.zeros((*shape, _MOST_CENTRES)),
        np.zeros(shape, dtype=np.int64),
        np.exp(-0.5 * (distance / WIDTH) ** 2),
    )


@small_kernel
def _uniform(value, n_bins, ran):
    """Bin of a value among those of [0, span]: of 2**41, or twice what ran if it is not 0."""
    span = np.int64(1) << SPAN_BITS if ran == 0 else 2 * ran
    if value >= span:
        return n_bins - 1
    at = (value * n_bins) >> SPAN_BITS if ran == 0 else (value * n_bins) // span
    return max(at, 0)


@small_kernel
def cell_of(cells: Cells, g: NDArray[np.int64], ran: int) -> int:
    """Cell of scores."""
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


@small_kernel
def value_of(
    q: NDArray[np.float64], net: Gaussians | None, j: int, cell: int, action: int
) -> float:
    """Value of an action in a state, by the table, or by the Gaussians if there are any."""
    if net is not None:
        value = 0.0
        for k in range(net.count[j, action]):
            value += net.weight[j, action, k] * net.bump[abs(cell - net.centre[j, action, k])]
        return value
    return q[j, cell, action]


@small_kernel
def add_to_value(
    q: NDArray[np.float64],
    net: Gaussians | None,
    j: int,
    cell: int,
    action: int,
    step: float,
    delta: float,
) -> None:
    """Move the value of an action in a state by a step; `delta` is the TD error there."""
    if net is not None:
        n = net.count[j, action]
        active = 0.0
        for k in range(n):
            active += net.bump[abs(cell - net.centre[j, action, k])]
        if abs(delta) > ERROR_TO_GROW and active < ACTIVATION_TO_GROW:
            net.centre[j, action, n], net.weight[j, action, n] = cell, 0.0
            n += 1
            net.count[j, action] = n
        for k in range(n):
            net.weight[j, action, k] += step * net.bump[abs(cell - net.centre[j, action, k])]
        return
    q[j, cell, action] += step


@small_kernel
def best_action(q: NDArray[np.float64], net: Gaussians | None, j: int, cell: int) -> int:
    """Action of the largest value; of equal ones the first of EVAL, SKIP and QUIT."""
    best, value = EVAL, value_of(q, net, j, cell, EVAL)
    for action in (SKIP, QUIT):
        other = value_of(q, net, j, cell, action)
        if other > value:
            best, value = action, other
    return best


@kernel
def greedy(q: NDArray[np.float64], net: Gaussians | None, policy: NDArray[np.int8]) -> None:
    """Write the policy of the largest values."""
    for j in range(policy.shape[0]):
        for cell in range(policy.shape[1]):
            policy[j, cell] = best_action(q, net, j, cell)
