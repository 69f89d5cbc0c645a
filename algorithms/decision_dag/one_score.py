"""The kernels of a decision process again, for the paper's own case, in a third of the time.

One score in bins of a fixed width, one tree for each base classifier, the same price for all: a
row's state is a number, and stays in a register. What they compute is what the kernels of
:mod:`algorithms.decision_dag.episodes` and :mod:`algorithms.decision_dag.descent` compute, to the
last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel
from .rewards import CUSTOM, SPAN_BITS, Losses, World, is_error, quit_loss
from .values import EVAL, N_ACTIONS, QUIT, SKIP

_HALF = np.int64(1) << (SPAN_BITS - 1)
_TOGETHER = 256  # rows that go side by side: what they look at fits the first-level cache


class OneScore(NamedTuple):
    """What rows meet in this case.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_base), uint8 or uint16
        Leaf of each row.
    values : ndarray of shape (n_base, n_codes), int64
        Answers of the leaves.
    initial : int
        Score before any base classifier.
    n_bins : int
    price : int
        Steps that an evaluation costs.
    losses : Losses
    """

    codes: np.ndarray
    values: np.ndarray
    initial: int
    n_bins: int
    price: int
    losses: Losses


def one_score(world: World) -> OneScore | None:
    """Give a world in this form; None if it has none.

    Parameters
    ----------
    world : World
    """
    cells, prices = world.cells, world.prices
    plain = len(cells.initial) == 1 and world.n_parts == 1 and not cells.running
    uniform = len(prices.price) == 0 and np.ptp(prices.each) == 0
    if not plain or not uniform or world.losses.kind == CUSTOM:
        return None
    values = np.ascontiguousarray(world.values[:, :, 0])
    initial, price = int(cells.initial[0]), int(prices.each[0, 0])
    return OneScore(world.codes, values, initial, cells.n_bins, price, world.losses)


@kernel
def _bin(f, n_bins):
    """Bin of a score that is counted from the lowest possible one."""
    return min(max((f * n_bins) >> SPAN_BITS, 0), n_bins - 1)


@kernel
def follow_one(
    world: OneScore,
    by_cell: NDArray[np.int8],
    begin: int,
    end: int,
    lost: NDArray[np.int64],
    paid: NDArray[np.int64],
    wrong: NDArray[np.bool_],
) -> None:
    """As ``_follow`` of :mod:`algorithms.decision_dag.episodes`.

    Rows go side by side from one base classifier to the next: where one is sent is known late, and
    meanwhile the processor is at work on the others.

    Parameters
    ----------
    by_cell : ndarray of shape (n_cells, n_base), int8
        The policy, transposed: a row that keeps its cell reads neighbouring places.
    """
    codes, values, n_bins = world.codes, world.values, world.n_bins
    n_base = by_cell.shape[1]
    policy = by_cell.reshape(by_cell.size)
    g, room = np.empty(1, dtype=np.int64), np.empty(1)
    waiting = np.empty(_TOGETHER, dtype=np.int64)
    f, first = np.empty(_TOGETHER, dtype=np.int64), np.empty(_TOGETHER, dtype=np.int64)
    n_evaluated = np.empty(_TOGETHER, dtype=np.int64)
    for start in range(begin, end, _TOGETHER):
        n_rows = min(_TOGETHER, end - start)
        for r in range(n_rows):
            waiting[r] = r
            f[r], first[r], n_evaluated[r] = _HALF, _bin(_HALF, n_bins) * n_base, 0
        n_waiting = n_rows
        for j in range(n_base):
            n_now, n_waiting = n_waiting, 0
            for w in range(n_now):
                r = waiting[w]
                action = policy[first[r] + j]
                evaluates = np.int64(action == EVAL)
                f[r] += evaluates * values[j, codes[start + r, j]]
                n_evaluated[r] += evaluates
                first[r] = _bin(f[r], n_bins) * n_base
                waiting[n_waiting] = r
                n_waiting += np.int64(action != QUIT)
            if n_waiting == 0:
                break
        for r in range(n_rows):
            i = start + r
            g[0] = f[r] - _HALF + world.initial
            lost[i] = quit_loss(world.losses, None, g, i, room)
            paid[i] = n_evaluated[r] * world.price
            wrong[i] = is_error(world.losses, g, i)


class Table(NamedTuple):
    """Values of actions and the policy they give, for :func:`episodes_of_one`.

    Both are by cell first: what a row that keeps its cell looks at lies side by side.

    Attributes
    ----------
    q : ndarray of shape (n_cells, n_base + 1, 3), float64
    policy : ndarray of shape (n_cells, n_base + 1), int8
        Of the largest values.
    """

    q: np.ndarray
    policy: np.ndarray


def no_values(n_cells: int, n_base: int) -> Table:
    """Values of 0; of equal ones the first action is taken, EVAL."""
    places = (n_cells, n_base + 1)
    return Table(np.zeros((*places, N_ACTIONS)), np.full(places, EVAL, dtype=np.int8))


@kernel
def _best(flat, place):
    """Largest value at a place, and its action; the first of equal ones.

    Without branches: which action is best is guessed wrongly too often.
    """
    state = place * N_ACTIONS
    skip, stop = flat[state + SKIP], flat[state + QUIT]
    best = flat[state]
    skips = skip > best
    best = skip if skips else best
    quits = stop > best
    best = stop if quits else best
    action = QUIT if quits else (SKIP if skips else EVAL)
    return best, np.int64(action)


@kernel
def episodes_of_one(
    world: OneScore,
    rows: Any,
    table: Table,
    beta_step: float,
    loss_step: float,
    rate: float,
    decay: float,
    exploration: float,
    off_policy: bool,
    rng: np.random.Generator,
) -> int:
    """As ``_episodes`` of :mod:`algorithms.decision_dag.episodes`; keeps the policy up to date."""
    codes, values, n_bins = world.codes, world.values, world.n_bins
    width = table.q.shape[1]
    n_base = width - 1
    flat, policy = table.q.reshape(table.q.size), table.policy.reshape(table.policy.size)
    places, actions = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    deltas, decays = np.empty(n_base + 1), np.empty(n_base + 1)
    g, room = np.empty(1, dtype=np.int64), np.empty(1)
    reward_of_eval = -(beta_step * np.float64(world.price))
    start = _bin(_HALF, n_bins) * width
    n_steps = np.int64(0)
    for e in range(rows.shape[0]):
        i = rows[e]
        f, j = _HALF, 0
        place = start
        reward = value = 0.0
        while True:
            best, action = _best(flat, place)
            back = decay
            if j == n_base:
                action = np.int64(QUIT)
                best = flat[place * N_ACTIONS + QUIT]
            elif rng.random() < exploration:
                action = np.int64(rng.integers(0, N_ACTIONS))
            follows = flat[place * N_ACTIONS + action]
            if not off_policy:
                best = follows
            elif follows != best:
                back = 0.0
            if j > 0:
                deltas[j - 1] = reward + best - value
                decays[j - 1] = back
            places[j], actions[j] = place, action
            value = follows
            if action == QUIT:
                break
            evaluates = action == EVAL
            f += np.int64(evaluates) * values[j, codes[i, j]]
            reward = reward_of_eval if evaluates else 0.0
            j += 1
            place = _bin(f, n_bins) * width + j
        g[0] = f - _HALF + world.initial
        lost = quit_loss(world.losses, None, g, i, room)
        n_steps += j + 1
        back = -(loss_step * np.float64(lost)) - value
        flat[places[j] * N_ACTIONS + QUIT] += rate * back
        policy[places[j]] = _best(flat, places[j])[1]
        for t in range(j - 1, -1, -1):
            back = deltas[t] + decays[t] * back
            flat[places[t] * N_ACTIONS + actions[t]] += rate * back
            policy[places[t]] = _best(flat, places[t])[1]
    return n_steps


@kernel
def _rest(codes, values, n_bins, policy, i, j, f):
    """Score of row i at quitting, from base classifier j on, and evaluations until then."""
    cell, n_evaluated = _bin(f, n_bins), np.int64(0)
    while j < policy.shape[0]:
        action = policy[j, cell]
        if action == QUIT:
            break
        if action == EVAL:
            f += values[j, codes[i, j]]
            n_evaluated += 1
            cell = _bin(f, n_bins)
        j += 1
    return f, n_evaluated


@kernel
def first_walk_of_one(
    world: OneScore,
    policy: NDArray[np.int8],
    f: NDArray[np.int64],
    taken: NDArray[np.int8],
    length: NDArray[np.int64],
    lost: NDArray[np.int64],
    paid: NDArray[np.int64],
) -> None:
    """As ``_first_walk`` of :mod:`algorithms.decision_dag.descent`."""
    n_rows, n_base = taken.shape
    g, room = np.empty(1, dtype=np.int64), np.empty(1)
    for i in range(n_rows):
        f[i], length[i], paid[i] = _HALF, n_base, 0
        cell = _bin(_HALF, world.n_bins)
        for j in range(n_base):
            action = policy[j, cell]
            taken[i, j] = action
            if action == QUIT:
                length[i] = j
                break
            if action == EVAL:
                f[i] += world.values[j, world.codes[i, j]]
                cell = _bin(f[i], world.n_bins)
        g[0] = f[i] - _HALF + world.initial
        lost[i] = quit_loss(world.losses, None, g, i, room)


@kernel
def visits_of_one(
    world: OneScore,
    policy: NDArray[np.int8],
    j: int,
    copies: NDArray[np.int64],
    f: NDArray[np.int64],
    taken: NDArray[np.int8],
    length: NDArray[np.int64],
    lost: NDArray[np.int64],
    paid: NDArray[np.int64],
    cells: NDArray[np.int64],
    each: NDArray[np.int64],
    total: NDArray[np.int64],
) -> None:
    """What each action at base classifier j leads to, for all rows that come there.

    Parameters
    ----------
    cells : ndarray of shape (n_samples,), int64
        Written: the cell of each row.
    each : ndarray of shape (n_samples, 3, 2), int64
        Written: its loss and price by action.
    total : ndarray of shape (n_cells, 3, 2), int64
        Added to: the same for all rows of a cell.
    """
    codes, values, n_bins = world.codes, world.values, world.n_bins
    g, room = np.empty(1, dtype=np.int64), np.empty(1)
    for i in range(length.shape[0]):
        if length[i] < j:
            continue
        own, vote = taken[i, j], values[j, codes[i, j]]
        if own == EVAL:
            f[i] -= vote
        cell = _bin(f[i], n_bins)
        cells[i] = cell
        g[0] = f[i] - _HALF + world.initial
        each[i, QUIT, 0] = quit_loss(world.losses, None, g, i, room)
        each[i, QUIT, 1] = 0
        for action in (EVAL, SKIP):
            before = world.price if action == EVAL else np.int64(0)
            if action == own:
                each[i, action, 0] = lost[i]
                each[i, action, 1] = before + paid[i]
                continue
            start = f[i] + vote if action == EVAL else f[i]
            end, n_evaluated = _rest(codes, values, n_bins, policy, i, j + 1, start)
            g[0] = end - _HALF + world.initial
            each[i, action, 0] = quit_loss(world.losses, None, g, i, room)
            each[i, action, 1] = before + n_evaluated * world.price
        for action in range(N_ACTIONS):
            total[cell, action, 0] += copies[i] * each[i, action, 0]
            total[cell, action, 1] += copies[i] * each[i, action, 1]
