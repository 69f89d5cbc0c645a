"""Exact coordinate descent on the objective of a decision process, over a table of actions.

From the last base classifier to the first, each cell takes the action of least total cost over the
rows that come there, while all other actions stay: (8) never rises. What a row's own action leads
to is known from the base classifier behind; only the other action must be followed.
"""

from __future__ import annotations

import numpy as np

from ..kernels.decorators import kernel
from .episodes import BadReward, Learned, Objective, totals
from .rewards import NEVER, WRONG, World, answer, pay, quit_loss
from .values import EVAL, N_ACTIONS, QUIT, SKIP, cell_of


@kernel
def _first_walk(world, custom, policy, g, ran, taken, length, bought, lost, paid):
    """Walk all rows; write scores and actions, and when what was bought. False: a bad reward."""
    n_rows, n_base = taken.shape
    room = np.empty(g.shape[1])
    for i in range(n_rows):
        g[i] = world.cells.initial
        ran[i], length[i], paid[i] = 0, n_base, 0
        cell = cell_of(world.cells, g[i], ran[i])
        for j in range(n_base):
            action = policy[j, cell]
            taken[i, j] = action
            if action == QUIT:
                length[i] = j
                break
            if action == EVAL:
                _note(world, i, j, bought)
                answer(world, i, j, g[i])
                ran[i] += world.cells.sizes[j]
                cell = cell_of(world.cells, g[i], ran[i])
        lost[i] = quit_loss(world.losses, custom, g[i], i, room)
        if lost[i] == WRONG:
            return False
    return True


@kernel
def _note(world, i, j, bought):
    """Note what row i buys at base classifier j, unless it did before."""
    n_codes = world.values.shape[1]
    for t in range(j * world.n_parts, (j + 1) * world.n_parts):
        leaf = t * n_codes + np.int64(world.codes[i, t])
        for at in range(world.prices.start[leaf], world.prices.start[leaf + 1]):
            item = world.prices.item[at]
            bought[i, item] = min(bought[i, item], j)


@kernel
def _rest(world, custom, policy, i, j, g, ran, owned, stamp, bought, since, room):
    """Loss and price of row i from base classifier j on, by the policy; g is used up."""
    n_base, steps = policy.shape[0], np.int64(0)
    cell = cell_of(world.cells, g, ran)
    while j < n_base:
        action = policy[j, cell]
        if action == QUIT:
            break
        if action == EVAL:
            answer(world, i, j, g)
            steps += pay(world, i, j, owned, stamp, bought, since)
            ran += world.cells.sizes[j]
            cell = cell_of(world.cells, g, ran)
        j += 1
    return quit_loss(world.losses, custom, g, i, room), steps


@kernel
def _sweep(world, custom, policy, loss_step, beta_step, copies, g, ran, taken, length, bought,
           lost, paid):  # fmt: skip
    """Let each cell take its best action, from the last base classifier to the first.

    `lost` and `paid` are what each row loses and pays from the current base classifier on; `g` and
    `ran` its state there. False: a bad reward.
    """
    n_rows, n_base = taken.shape
    n_cells, n_columns = policy.shape[1], g.shape[1]
    total = np.zeros((n_cells, N_ACTIONS, 2), dtype=np.int64)
    reached = np.empty(n_cells, dtype=np.bool_)
    cells = np.empty(n_rows, dtype=np.int64)
    each = np.empty((n_rows, N_ACTIONS, 2), dtype=np.int64)
    there, room = np.empty(n_columns, dtype=np.int64), np.empty(n_columns)
    owned = np.full(world.prices.price.shape[0], -1, dtype=np.int64)
    stamp = np.int64(0)
    for j in range(n_base - 1, -1, -1):
        total[:] = 0
        reached[:] = False
        for i in range(n_rows):
            if length[i] < j:
                continue
            own = taken[i, j]
            if own == EVAL:  # back to the state before it
                for k in range(n_columns):
                    there[k] = -g[i, k]
                answer(world, i, j, there)
                for k in range(n_columns):
                    g[i, k] = -there[k]
                ran[i] -= world.cells.sizes[j]
            cell = cell_of(world.cells, g[i], ran[i])
            cells[i] = cell
            each[i, QUIT, 0] = quit_loss(world.losses, custom, g[i], i, room)
            each[i, QUIT, 1] = 0
            for action in (EVAL, SKIP):
                stamp += 1
                steps = np.int64(0)
                there[:] = g[i]
                after = ran[i]
                if action == EVAL:
                    answer(world, i, j, there)
                    steps = pay(world, i, j, owned, stamp, bought[i], j)
                    after += world.cells.sizes[j]
                if action == own:
                    each[i, action, 0] = lost[i]
                    each[i, action, 1] = steps + paid[i]
                    continue
                end = _rest(
                    world, custom, policy, i, j + 1, there, after, owned, stamp, bought[i], j, room
                )
                each[i, action, 0] = end[0]
                each[i, action, 1] = steps + end[1]
            for action in range(N_ACTIONS):
                if each[i, action, 0] == WRONG:
                    return False
                total[cell, action, 0] += copies[i] * each[i, action, 0]
                total[cell, action, 1] += copies[i] * each[i, action, 1]
            reached[cell] = True
        for cell in range(n_cells):
            if reached[cell]:
                policy[j, cell] = _least(total[cell], policy[j, cell], loss_step, beta_step)
        for i in range(n_rows):
            if length[i] >= j:
                action = policy[j, cells[i]]
                lost[i], paid[i] = each[i, action, 0], each[i, action, 1]
    return True


@kernel
def _least(total, own, loss_step, beta_step):
    """Action of least cost; of equal ones a cell's own, or else the first."""
    best = own
    least = loss_step * np.float64(total[own, 0]) + beta_step * np.float64(total[own, 1])
    for action in range(N_ACTIONS):
        value = loss_step * np.float64(total[action, 0]) + beta_step * np.float64(total[action, 1])
        if value < least:
            best, least = action, value
    return best


def descend(
    world: World, custom, objective: Objective, start: np.ndarray, n_threads: int
) -> Learned:
    """Sweep until (8) falls no more.

    Parameters
    ----------
    world : World
    custom : None or compiled function
    objective : Objective
    start : ndarray of shape (n_base, n_cells), int8
        Policy to begin with. A cell to which no row comes keeps its action.
    n_threads : int
        For scoring alone.

    Returns
    -------
    Learned

    Raises
    ------
    BadReward
    """
    n_rows, n_base = len(objective.copies), world.cells.n_base
    n_columns, n_items = len(world.cells.initial), len(world.prices.price)
    g, ran = np.empty((n_rows, n_columns), dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    taken = np.empty((n_rows, n_base), dtype=np.int8)
    length, lost, paid = np.empty((3, n_rows), dtype=np.int64)
    bought = np.empty((n_rows, n_items), dtype=np.int32)

    def value(policy):
        return objective.value(*totals(world, custom, policy, objective.copies, n_threads)[:2])

    policy, history = start, [value(start)]
    while True:
        bought[:] = NEVER
        state = (g, ran, taken, length, bought, lost, paid)
        swept = policy.copy()
        steps = (objective.loss_step, objective.beta_step, objective.copies)
        if not _first_walk(world, custom, policy, *state):
            raise BadReward
        if not _sweep(world, custom, swept, *steps, *state):
            raise BadReward
        after = value(swept)
        if not after < history[-1]:
            return Learned(policy, history[-1], np.array(history))
        policy = swept
        history.append(after)
