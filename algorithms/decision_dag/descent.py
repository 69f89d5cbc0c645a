"""Exact coordinate descent on the objective of a decision process, over a table of actions.

From the last base classifier to the first, each cell takes the action of least total cost over the
rows that come there, while all other actions stay: (8) never rises. What a row's own action leads
to is known from the base classifier behind; only the other action must be followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel, small_kernel
from .episodes import BadReward, Learned, Objective, totals
from .one_score import OneScore, blocked, first_walk_of_one, one_score, visits_of_one
from .rewards import (
    EVAL,
    N_ACTIONS,
    NEVER,
    QUIT,
    SKIP,
    WRONG,
    Environment,
    answer,
    cell_of,
    pay,
    quit_loss,
    scratch_for,
    set_scores,
)


class Walks(NamedTuple):
    """Where rows are in a sweep."""

    g: np.ndarray  # (n_samples, n_columns) int64: scores before the current base classifier
    ran: np.ndarray  # (n_samples,) int64: sum of the sizes of what was evaluated until there
    # (n_samples, n_base) int8: action of each row at each base classifier, by the policy before the
    # sweep
    taken: np.ndarray
    # (n_samples,) int64: base classifier at which each row quits; n_base if it never does
    length: np.ndarray
    bought: np.ndarray  # (n_samples, n_items) int32: base classifier at which each item is bought
    # lost, paid: (n_samples,) int64: what each row loses and pays from the current base classifier
    # on
    lost: np.ndarray
    paid: np.ndarray
    cells: np.ndarray  # (n_samples,) int64: cell of each row there
    each: np.ndarray  # (n_samples, 3, 2) int64: what it loses and pays by its action there
    total: np.ndarray  # (n_cells, 3, 2) int64: the same for all rows of a cell


def _room(environment: Environment) -> Walks:
    """Memory for the rows of an environment."""
    n_rows, n_base, n_columns = (
        len(environment.codes),
        environment.cells.n_base,
        len(environment.cells.initial),
    )
    ran, length, lost, paid, cells = np.empty((5, n_rows), dtype=np.int64)
    return Walks(
        np.empty((n_rows, n_columns), dtype=np.int64),
        ran,
        np.empty((n_rows, n_base), dtype=np.int8),
        length,
        np.empty((n_rows, len(environment.prices.price)), dtype=np.int32),
        lost,
        paid,
        cells,
        np.empty((n_rows, N_ACTIONS, 2), dtype=np.int64),
        np.empty((environment.cells.n_cells, N_ACTIONS, 2), dtype=np.int64),
    )


@kernel
def _first_walk(environment, custom, policy, walks, room):
    """Walk all rows; write scores and actions, and when what was bought."""
    n_rows, n_base = walks.taken.shape
    for i in range(n_rows):
        g, ran = walks.g[i], np.int64(0)
        set_scores(g, environment.cells.initial)
        walks.length[i], walks.paid[i] = n_base, 0
        cell = cell_of(environment.cells, g, ran)
        for j in range(n_base):
            action = policy[j, cell]
            walks.taken[i, j] = action
            if action == QUIT:
                walks.length[i] = j
                break
            if action == EVAL:
                _note(environment, i, j, walks.bought)
                answer(environment, i, j, g)
                ran += environment.cells.sizes[j]
                cell = cell_of(environment.cells, g, ran)
        walks.ran[i] = ran
        walks.lost[i] = quit_loss(environment.losses, custom, g, i, room)


@small_kernel
def _note(environment, i, j, bought):
    """Note what row i buys at base classifier j, unless it did before."""
    n_codes = environment.values.shape[1]
    for t in range(j * environment.n_parts, (j + 1) * environment.n_parts):
        leaf = t * n_codes + np.int64(environment.codes[i, t])
        for at in range(environment.prices.start[leaf], environment.prices.start[leaf + 1]):
            item = environment.prices.item[at]
            bought[i, item] = min(bought[i, item], j)


@kernel
def _rest(environment, custom, policy, i, j, g, ran, owned, stamp, bought, since, room):
    """Loss and price of row i from base classifier j on, by the policy; g is used up."""
    n_base, steps = policy.shape[0], np.int64(0)
    cell = cell_of(environment.cells, g, ran)
    while j < n_base:
        action = policy[j, cell]
        if action == QUIT:
            break
        if action == EVAL:
            answer(environment, i, j, g)
            steps += pay(environment, i, j, owned, stamp, bought, since)
            ran += environment.cells.sizes[j]
            cell = cell_of(environment.cells, g, ran)
        j += 1
    return quit_loss(environment.losses, custom, g, i, room), steps


@kernel
def _visits(environment, custom, policy, j, copies, walks, stamp, scratch):
    """What each action at base classifier j leads to, for all rows that come there.

    Returns the last stamp, or -1 at a bad reward.
    """
    n_columns, (there, room, owned, _) = walks.g.shape[1], scratch
    for i in range(walks.length.shape[0]):
        if walks.length[i] < j:
            continue
        own, g, each = walks.taken[i, j], walks.g[i], walks.each[i]
        if own == EVAL:  # back to the state before it
            there[:] = 0
            answer(environment, i, j, there)
            for k in range(n_columns):
                g[k] -= there[k]
            walks.ran[i] -= environment.cells.sizes[j]
        cell = cell_of(environment.cells, g, walks.ran[i])
        walks.cells[i] = cell
        each[QUIT, 0], each[QUIT, 1] = quit_loss(environment.losses, custom, g, i, room), 0
        for action in (EVAL, SKIP):
            stamp += 1
            steps, after = np.int64(0), walks.ran[i]
            set_scores(there, g)
            if action == EVAL:
                answer(environment, i, j, there)
                steps = pay(environment, i, j, owned, stamp, walks.bought[i], j)
                after += environment.cells.sizes[j]
            end = walks.lost[i], walks.paid[i]
            if action != own:
                at = (owned, stamp, walks.bought[i], j)
                end = _rest(environment, custom, policy, i, j + 1, there, after, *at, room)
            each[action, 0], each[action, 1] = end[0], steps + end[1]
        for action in range(N_ACTIONS):
            if each[action, 0] == WRONG:
                return np.int64(-1)
            walks.total[cell, action, 0] += copies[i] * each[action, 0]
            walks.total[cell, action, 1] += copies[i] * each[action, 1]
    return stamp


@kernel
def _decide(loss_step, beta_step, j, policy, walks):
    """Let each cell at base classifier j take its best action.

    Of equal ones its own, or else the last of EVAL, SKIP and QUIT. A cell to which no row comes
    keeps its own: there all cost nothing.
    """
    total = walks.total
    for cell in range(policy.shape[1]):
        best = policy[j, cell]
        least = loss_step * np.float64(total[cell, best, 0])
        least += beta_step * np.float64(total[cell, best, 1])
        for action in (QUIT, SKIP, EVAL):  # who quits as well as skips is not followed further
            value = loss_step * np.float64(total[cell, action, 0])
            value += beta_step * np.float64(total[cell, action, 1])
            if value < least:
                best, least = action, value
        policy[j, cell] = best
    for i in range(walks.length.shape[0]):
        if walks.length[i] >= j:
            action = policy[j, walks.cells[i]]
            walks.lost[i], walks.paid[i] = walks.each[i, action, 0], walks.each[i, action, 1]


def _sweep(
    environment: Environment,
    plain: OneScore | None,
    custom,
    objective: Objective,
    policy,
    walks: Walks,
) -> np.ndarray:
    """Let each cell take its best action, from the last base classifier to the first."""
    swept, stamp, scratch = policy.copy(), 0, scratch_for(environment)
    if plain is None:
        walks.bought[:] = NEVER
        _first_walk(environment, custom, policy, walks, scratch.room)
    else:
        one = (walks.g[:, 0], walks.taken, walks.length, walks.lost, walks.paid)
        first_walk_of_one(plain, policy, *one)
    if np.any(walks.lost == WRONG):
        raise BadReward
    for j in range(len(policy) - 1, -1, -1):
        walks.total[:] = 0
        if plain is None:
            stamp = _visits(environment, custom, swept, j, objective.copies, walks, stamp, scratch)
            if stamp < 0:
                raise BadReward
        else:
            visits = (walks.cells, walks.each, walks.total)
            visits_of_one(plain, swept, j, objective.copies, *one, *visits)
        _decide(objective.loss_step, objective.beta_step, j, swept, walks)
    return swept


def descend(
    environment: Environment,
    custom: Callable | None,
    objective: Objective,
    start: np.ndarray,
    n_threads: int,
) -> Learned:
    """Sweep until (8) falls no more."""

    def value(policy):
        ordered = policy if plain is None else blocked(policy)
        sums = totals(environment, plain, custom, ordered, objective.copies, n_threads)
        return objective.value(*sums[:2])

    walks, plain = _room(environment), one_score(environment)
    policy, history = start, [value(start)]
    while True:
        swept = _sweep(environment, plain, custom, objective, policy, walks)
        after = value(swept)
        if not after < history[-1]:
            return Learned(policy, history[-1], np.array(history))
        policy = swept
        history.append(after)
