"""The kernels of a decision process again, for the paper's own case, in less time.

One score in bins of a fixed width, one tree for each base classifier, the same price for all: a
row's state is a number, and stays in a register. What they compute is what the kernels of
:mod:`algorithms.decision_dag.episodes` and :mod:`algorithms.decision_dag.descent` compute, to the
last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel, small_kernel
from ..kernels.pcg64 import next_below, next_double
from ..kernels.simd import prefetch
from .rewards import (
    CUSTOM,
    EVAL,
    N_ACTIONS,
    QUIT,
    SKIP,
    SPAN_BITS,
    Environment,
    Losses,
    is_error_of_score,
    loss_of_score,
)

_HALF = np.int64(1) << (SPAN_BITS - 1)
TOGETHER = 256  # rows that go side by side: what they look at fits the first-level cache
_SHIFT = 3
_STEPS = 1 << _SHIFT  # base classifiers whose states lie together


class Leaves(NamedTuple):
    """Leaves of rows in 1, 2, 4, 8 or 16 bits each.

    Of 1,000 stumps a row has 125 bytes: thousands of rows fit the second-level cache.
    """

    # (n_samples, n_words) uint8 or uint16: leaves of a word from its lowest bits on
    words: np.ndarray
    together: int  # Binary logarithm of the leaves in a word
    bits: int  # Of a leaf


def packed(codes: NDArray[np.unsignedinteger], n_codes: int) -> Leaves:
    """Put the leaves of each row into as few bits as their number allows."""
    bits = 8 * codes.itemsize
    while bits > 1 and n_codes <= 1 << bits // 2:
        bits //= 2
    together = 8 * codes.itemsize // bits
    words = np.zeros((len(codes), -(-codes.shape[1] // together)), dtype=codes.dtype)
    for k in range(together):
        some = codes[:, k::together]
        words[:, : some.shape[1]] |= some << codes.dtype.type(k * bits)
    return Leaves(words, together.bit_length() - 1, bits)


@small_kernel
def _leaf(leaves, i, j):
    """Leaf of row i in base classifier j."""
    word = np.int64(leaves.words[i, j >> leaves.together])
    place = (j & ((1 << leaves.together) - 1)) * leaves.bits
    return (word >> place) & ((1 << leaves.bits) - 1)


class OneScore(NamedTuple):
    """What rows meet in this case."""

    leaves: Leaves
    values: np.ndarray  # (n_base, n_codes) int64: answers of the leaves
    initial: int  # Score before any base classifier
    n_bins: int
    price: int  # Steps that an evaluation costs
    losses: Losses


def one_score(environment: Environment) -> OneScore | None:
    """Give an environment in this form; None if it has none."""
    cells, prices = environment.cells, environment.prices
    plain = len(cells.initial) == 1 and environment.n_parts == 1 and not cells.running
    uniform = len(prices.price) == 0 and np.ptp(prices.each) == 0
    if not plain or not uniform or environment.losses.kind == CUSTOM:
        return None
    values = np.ascontiguousarray(environment.values[:, :, 0])
    initial, price = int(cells.initial[0]), int(prices.each[0, 0])
    leaves = packed(environment.codes, len(values[0]))
    return OneScore(leaves, values, initial, cells.n_bins, price, environment.losses)


@small_kernel
def _bin(f, n_bins):
    """Bin of a score that is counted from the lowest possible one."""
    return min(max((f * n_bins) >> SPAN_BITS, 0), n_bins - 1)


@kernel
def follow_one(
    environment: OneScore,
    policy: NDArray[np.int8],
    begin: int,
    end: int,
    lost: NDArray[np.int64],
    paid: NDArray[np.int64],
    wrong: NDArray[np.bool_],
    places: NDArray[np.int64],
) -> None:
    """As ``_follow`` of :mod:`algorithms.decision_dag.episodes`.

    Rows go side by side from one base classifier to the next: where one is sent is known late, and
    meanwhile the processor is at work on the others.
    """
    leaves, values, n_bins = environment.leaves, environment.values, environment.n_bins
    n_base = values.shape[0]
    waiting, f, first, n_evaluated = places[0], places[1], places[2], places[3]
    for start in range(begin, end, TOGETHER):
        n_rows = min(TOGETHER, end - start)
        for r in range(n_rows):
            waiting[r] = r
            f[r], first[r], n_evaluated[r] = _HALF, _bin(_HALF, n_bins) << _SHIFT, 0
        n_waiting = n_rows
        for j in range(n_base):
            n_now, n_waiting, of_step = n_waiting, 0, _of_step(j, n_bins)
            for w in range(n_now):
                r = waiting[w]
                action = policy[of_step + first[r]]
                evaluates = np.int64(action == EVAL)
                f[r] += evaluates * values[j, _leaf(leaves, start + r, j)]
                n_evaluated[r] += evaluates
                first[r] = _bin(f[r], n_bins) << _SHIFT
                waiting[n_waiting] = r
                n_waiting += np.int64(action != QUIT)
            if n_waiting == 0:
                break
        for r in range(n_rows):
            i = start + r
            score = f[r] - _HALF + environment.initial
            lost[i] = loss_of_score(environment.losses, score, i)
            paid[i] = n_evaluated[r] * environment.price
            wrong[i] = is_error_of_score(environment.losses, score, i)


class Table(NamedTuple):
    """Values of actions and the policy they give, for :func:`episodes_of_one`."""

    q: np.ndarray  # Of three actions at each place; places as in :func:`blocked`
    policy: np.ndarray  # Of the largest values


def no_values(n_cells: int, n_base: int) -> Table:
    """Values of 0; of equal ones the first action is taken, EVAL."""
    n_places = (n_base // _STEPS + 1) * n_cells * _STEPS
    return Table(np.zeros(n_places * N_ACTIONS), np.full(n_places, EVAL, dtype=np.int8))


def blocked(policy: NDArray[np.int8]) -> NDArray[np.int8]:
    """Put a policy in the order of its places, as rows that go through it meet them.

    The states of eight base classifiers come first, cell by cell, then those of the next eight: the
    few base classifiers that most rows evaluate fit the first-level cache.
    """
    n_base, n_cells = policy.shape
    whole = np.zeros((n_base // _STEPS + 1, _STEPS, n_cells), dtype=np.int8)
    whole.reshape(-1, n_cells)[:n_base] = policy
    return whole.transpose(0, 2, 1).ravel()


def unblocked(policy: NDArray[np.int8], n_base: int) -> NDArray[np.int8]:
    """Give a policy by base classifier and cell again, see :func:`blocked`."""
    whole = policy.reshape(n_base // _STEPS + 1, -1, _STEPS).transpose(0, 2, 1)
    return whole.reshape(-1, whole.shape[2])[:n_base].copy()


@small_kernel
def _of_step(j, n_bins):
    """First place of base classifier j; its cells are eight places apart."""
    return (j >> _SHIFT) * (n_bins << _SHIFT) + (j & (_STEPS - 1))


@small_kernel
def _best_action(flat, place):
    """Action of the largest value at a place; the first of equal ones.

    By arithmetic and not by branches: which action is best is guessed wrongly too often.
    """
    state = place * N_ACTIONS
    evaluate, skip, stop = flat[state + EVAL], flat[state + SKIP], flat[state + QUIT]
    skips = np.int64(skip > evaluate)
    quits = np.int64(stop > max(evaluate, skip))
    return quits << 1 | skips & quits - 1


@kernel
def episodes_of_one(
    environment: OneScore,
    rows: Any,
    table: Table,
    beta_step: float,
    loss_step: float,
    rate: float,
    decay: float,
    exploration: float,
    off_policy: bool,
    draws: NDArray[np.uint64],
    path: NDArray[np.int64],
    changes: NDArray[np.float64],
    rewards: NDArray[np.float64],
) -> int:
    """As ``_episodes`` of :mod:`algorithms.decision_dag.episodes`; keeps the policy up to date."""
    leaves, values, n_bins = environment.leaves, environment.values, environment.n_bins
    flat, policy, n_base = table.q, table.policy, values.shape[0]
    places, actions, deltas, decays = path[0], path[1], changes[0], changes[1]
    rewards[EVAL], rewards[SKIP] = -(beta_step * np.float64(environment.price)), 0.0
    start = _bin(_HALF, n_bins) << _SHIFT
    n_steps = np.int64(0)
    for e in range(rows.shape[0]):
        i = rows[e]
        coming = rows[min(e + 1, rows.shape[0] - 1)]
        prefetch(leaves.words, coming * leaves.words.shape[1])
        prefetch(environment.losses.label, coming)
        f, j = _HALF, 0
        place = start
        reward = value = 0.0
        while True:
            # The policy is known sooner than the values that it was read from.
            action = np.int64(policy[place])
            if j == n_base:
                action = np.int64(QUIT)
            elif next_double(draws) < exploration:
                action = next_below(draws, N_ACTIONS)
            follows = flat[place * N_ACTIONS + action]
            best, back = follows, decay
            if off_policy and j < n_base:
                best = flat[place * N_ACTIONS + policy[place]]
                back = decay if follows == best else 0.0
            if j > 0:
                deltas[j - 1] = reward + best - value
                decays[j - 1] = back
            places[j], actions[j] = place, action
            value = follows
            if action == QUIT:
                break
            # Without branches: which action is taken is guessed wrongly too often.
            evaluates = (action - 1) >> 63
            f += evaluates & values[j, _leaf(leaves, i, j)]
            reward = rewards[action]
            j += 1
            place = _of_step(j, n_bins) + (_bin(f, n_bins) << _SHIFT)
        lost = loss_of_score(environment.losses, f - _HALF + environment.initial, i)
        n_steps += j + 1
        back = -(loss_step * np.float64(lost)) - value
        flat[places[j] * N_ACTIONS + QUIT] += rate * back
        policy[places[j]] = _best_action(flat, places[j])
        for t in range(j - 1, -1, -1):
            back = deltas[t] + decays[t] * back
            flat[places[t] * N_ACTIONS + actions[t]] += rate * back
            policy[places[t]] = _best_action(flat, places[t])
    return n_steps


@small_kernel
def _rest(leaves, values, n_bins, policy, i, j, f):
    """Score of row i at quitting, from base classifier j on, and evaluations until then."""
    cell, n_evaluated = _bin(f, n_bins), np.int64(0)
    while j < policy.shape[0]:
        action = policy[j, cell]
        if action == QUIT:
            break
        if action == EVAL:
            f += values[j, _leaf(leaves, i, j)]
            n_evaluated += 1
            cell = _bin(f, n_bins)
        j += 1
    return f, n_evaluated


@kernel
def first_walk_of_one(
    environment: OneScore,
    policy: NDArray[np.int8],
    f: NDArray[np.int64],
    taken: NDArray[np.int8],
    length: NDArray[np.int64],
    lost: NDArray[np.int64],
    paid: NDArray[np.int64],
) -> None:
    """As ``_first_walk`` of :mod:`algorithms.decision_dag.descent`."""
    n_rows, n_base = taken.shape
    for i in range(n_rows):
        f[i], length[i], paid[i] = _HALF, n_base, 0
        cell = _bin(_HALF, environment.n_bins)
        for j in range(n_base):
            action = policy[j, cell]
            taken[i, j] = action
            if action == QUIT:
                length[i] = j
                break
            if action == EVAL:
                f[i] += environment.values[j, _leaf(environment.leaves, i, j)]
                cell = _bin(f[i], environment.n_bins)
        lost[i] = loss_of_score(environment.losses, f[i] - _HALF + environment.initial, i)


@kernel
def visits_of_one(
    environment: OneScore,
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
    """What each action at base classifier j leads to, for all rows that come there."""
    leaves, values, n_bins = environment.leaves, environment.values, environment.n_bins
    for i in range(length.shape[0]):
        if length[i] < j:
            continue
        own, vote = taken[i, j], values[j, _leaf(leaves, i, j)]
        if own == EVAL:
            f[i] -= vote
        cell = _bin(f[i], n_bins)
        cells[i] = cell
        each[i, QUIT, 0] = loss_of_score(environment.losses, f[i] - _HALF + environment.initial, i)
        each[i, QUIT, 1] = 0
        for action in (EVAL, SKIP):
            before = environment.price if action == EVAL else np.int64(0)
            if action == own:
                each[i, action, 0] = lost[i]
                each[i, action, 1] = before + paid[i]
                continue
            start = f[i] + vote if action == EVAL else f[i]
            end, n_evaluated = _rest(leaves, values, n_bins, policy, i, j + 1, start)
            each[i, action, 0] = loss_of_score(
                environment.losses, end - _HALF + environment.initial, i
            )
            each[i, action, 1] = before + n_evaluated * environment.price
        for action in range(N_ACTIONS):
            total[cell, action, 0] += copies[i] * each[i, action, 0]
            total[cell, action, 1] += copies[i] * each[i, action, 1]
