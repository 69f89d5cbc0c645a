"""What the rows of a decision process answer, lose and pay, and the states they come to.

Scores are whole steps of a grid of which a row's span has 2**41, so that they are exact whatever
the path to them. Losses are whole steps of a grid of their own, and so are prices: sums over rows
are exact, in any order. These are the rewards of :mod:`algorithms.mddag`; the reference is
:mod:`reference.mddag`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..kernels.decorators import kernel, small_kernel

SPAN_BITS = 41  # scores lie in [-2**40, 2**40]: the sizes of the base classifiers sum to 2**40
ZERO_ONE, EXPONENTIAL, CUSTOM = range(3)
LARGEST_LOSS = 2.0**20  # of a user's function
NEVER = 2**31 - 1  # of a base classifier at which something is bought
WRONG = np.iinfo(np.int64).min  # in the place of a loss that is no number, or too large
_POINTS, _LOW, _HIGH = 1 << 20, -30.0, 20.0
_HALF = 10  # bits of each of the two tables of exponentials
_SUM_BITS = 61


class Losses(NamedTuple):
    """What quitting costs."""

    kind: int  # ``ZERO_ONE``, ``EXPONENTIAL`` or ``CUSTOM``
    label: np.ndarray  # (n_samples,) int64: class of each row
    unit: float  # Value of a step of the scores
    scale: float  # Steps of a loss of 1, a power of two
    upper: np.ndarray  # upper, lower: (1024,) float64: exponentials are products of two of these
    lower: np.ndarray
    factor: float  # factor, offset: From a score to its place among the exponentials
    offset: float
    negative_weight: float  # By which losses of rows of class 0 are multiplied


class Prices(NamedTuple):
    """What evaluating costs, by the leaf in which a row ends."""

    each: np.ndarray  # (n_trees, n_codes) int64: steps that are paid every time
    start: np.ndarray  # (n_trees * n_codes + 1,) int64: where the items of each leaf begin
    item: np.ndarray  # What the path to the leaf asks for
    price: np.ndarray  # (n_items,) int64: steps paid once for each item


class Cells(NamedTuple):
    """How scores become a part of the state."""

    initial: np.ndarray  # (n_columns,) int64: scores before any base classifier
    sizes: np.ndarray  # (n_base,) int64: largest answer of each base classifier
    margin: bool  # Whether the state is the winning class and its margin, or else the only score
    n_bins: int
    running: bool  # Whether scores are divided by the sizes of what was evaluated, or else of all

    @property
    def n_base(self) -> int:
        """Number N of base classifiers."""
        return len(self.sizes)

    @property
    def n_cells(self) -> int:
        """Cells of the scores for one base classifier."""
        return self.n_bins * (len(self.initial) if self.margin else 1)


class Environment(NamedTuple):
    """What the rows of a training set meet."""

    # (n_samples, n_trees) unsigned: leaf of each row in each tree. A base classifier has
    # ``n_parts`` trees, one after the other
    codes: np.ndarray
    # (n_trees, n_codes, n_columns) int64: what each leaf adds to the scores, in steps
    values: np.ndarray
    n_parts: int
    cells: Cells
    losses: Losses
    prices: Prices


def loss_exponent(kind: int, total: int, negative_weight: float = 1.0) -> int:
    """Exponent k of the grid 2**-k of losses whose sum over rows fits 61 bits."""
    if kind == ZERO_ONE and negative_weight.is_integer():
        return 0
    bound = {ZERO_ONE: 1.0, EXPONENTIAL: math.exp(_HIGH), CUSTOM: LARGEST_LOSS}[kind]
    return _SUM_BITS - total.bit_length() - math.frexp(bound * max(negative_weight, 1.0))[1]


def losses(
    kind: int,
    label: NDArray[np.int64],
    unit: float,
    exponent: int,
    negative_weight: float = 1.0,
) -> Losses:
    """Losses of rows; see :class:`Losses`."""
    per_unit, half = _POINTS / (_HIGH - _LOW), 1 << _HALF
    step = (_HIGH - _LOW) / _POINTS
    upper = np.ldexp(np.exp(_LOW + np.arange(half) * (step * half)), exponent)
    lower = np.exp(np.arange(half) * step)
    scale = math.ldexp(1.0, exponent)
    places = unit * per_unit, -_LOW * per_unit
    return Losses(kind, read_only(label), unit, scale, upper, lower, *places, negative_weight)


class Scratch(NamedTuple):
    """Memory for one row on its way."""

    g: np.ndarray  # (n_columns,) int64: its scores
    room: np.ndarray  # (n_columns,) float64: the same, for a reward of the user's
    # (n_items,) int64: stamp of the walk that last paid for an item; see :func:`pay`
    owned: np.ndarray
    bought: np.ndarray  # (n_items,) int32: :data:`NEVER`


def scratch_for(environment: Environment) -> Scratch:
    """Memory for one row; nothing is owned."""
    n_columns, n_items = len(environment.cells.initial), len(environment.prices.price)
    return Scratch(
        np.empty(n_columns, dtype=np.int64),
        np.empty(n_columns),
        np.full(n_items, -1, dtype=np.int64),
        np.full(n_items, NEVER, dtype=np.int32),
    )


@small_kernel
def set_scores(g: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
    """Write scores, one by one: where arrays may overlap, numba makes a copy of one."""
    for k in range(g.shape[0]):
        g[k] = scores[k]


@small_kernel
def _margin(g, label):
    """How far the label's score is above the largest other one."""
    if g.shape[0] == 1:
        return g[0] if label == 1 else -g[0]
    largest = np.iinfo(np.int64).min
    for k in range(g.shape[0]):
        if k != label and g[k] > largest:
            largest = g[k]
    return g[label] - largest


@small_kernel
def is_error(losses: Losses, g: NDArray[np.int64], i: int) -> bool:
    """Whether row i is not given its label; a tie is an error."""
    return _margin(g, losses.label[i]) <= 0


@small_kernel
def _weight(losses, label):
    return losses.negative_weight if label == 0 else 1.0


@small_kernel
def _zero_one(losses, label, margin):
    lost = np.int64(np.rint(_weight(losses, label) * losses.scale))
    return lost if margin <= 0 else np.int64(0)


@small_kernel
def _exponential(losses, label, above):
    """From two tables; `above` is how far the other scores are above the label's."""
    place = np.floor(np.float64(above) * losses.factor + losses.offset)
    point = np.int64(min(max(place, 0.0), _POINTS - 1.0))
    lower = losses.lower[point & (1 << _HALF) - 1]
    return np.int64(np.rint(losses.upper[point >> _HALF] * lower * _weight(losses, label)))


@small_kernel
def loss_of_score(losses: Losses, f: int, i: int) -> int:
    """As :func:`quit_loss`, for the only score f and without a function of the user's."""
    label = losses.label[i]
    margin = f if label == 1 else -f
    if losses.kind == ZERO_ONE:
        return _zero_one(losses, label, margin)
    return _exponential(losses, label, -margin)


@small_kernel
def is_error_of_score(losses: Losses, f: int, i: int) -> bool:
    """As :func:`is_error`, for the only score f."""
    return (f if losses.label[i] == 1 else -f) <= 0


@small_kernel
def quit_loss(
    losses: Losses,
    custom: Callable[[np.ndarray, int], float] | None,
    g: NDArray[np.int64],
    i: int,
    room: NDArray[np.float64],
) -> int:
    """Loss of row i at scores g, in steps."""
    label = losses.label[i]
    if custom is not None:
        for k in range(g.shape[0]):
            room[k] = np.float64(g[k]) * losses.unit
        value = custom(room, label)
        if not abs(value) <= LARGEST_LOSS:
            return WRONG
        return np.int64(np.rint(value * _weight(losses, label) * losses.scale))
    if g.shape[0] == 1:
        return loss_of_score(losses, g[0], i)
    if losses.kind == ZERO_ONE:
        return _zero_one(losses, label, _margin(g, label))
    above = -g[label]
    for k in range(g.shape[0]):
        if k != label:
            above += g[k]
    return _exponential(losses, label, above)


@small_kernel
def answer(environment: Environment, i: int, j: int, g: NDArray[np.int64]) -> None:
    """Add what base classifier j answers to row i."""
    for t in range(j * environment.n_parts, (j + 1) * environment.n_parts):
        code = environment.codes[i, t]
        for k in range(g.shape[0]):
            g[k] += environment.values[t, code, k]


@small_kernel
def pay(
    environment: Environment,
    i: int,
    j: int,
    owned: NDArray[np.int64],
    stamp: int,
    bought: NDArray[np.int32],
    since: int,
) -> int:
    """Steps that row i pays for base classifier j; what it buys is marked.

    Parameters
    ----------
    owned : ndarray of shape (n_items,), int64
        What is marked with the `stamp` is owned.
    bought : ndarray of shape (n_items,), int32
    since : int64
        What was bought before it is owned, too.
    """
    prices, n_codes = environment.prices, environment.values.shape[1]
    steps = np.int64(0)
    for t in range(j * environment.n_parts, (j + 1) * environment.n_parts):
        code = np.int64(environment.codes[i, t])
        steps += prices.each[t, code]
        leaf = t * n_codes + code
        for at in range(prices.start[leaf], prices.start[leaf + 1]):
            item = prices.item[at]
            if owned[item] != stamp and bought[item] >= since:
                owned[item] = stamp
                steps += prices.price[item]
    return steps


# --- states in a table, and the best actions there ---------------------------------------------

# A state is the number of the next base classifier and a cell of the scores so far.

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
