"""Rows on their way through a decision process: by a policy, and while SARSA(λ) learns one.

The reference, equation by equation, is :mod:`reference.mddag`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel, small_kernel
from ..kernels.pcg64 import next_below, next_double, put_back, words_of
from .one_score import (
    TOGETHER,
    OneScore,
    episodes_of_one,
    follow_one,
    no_values,
    one_score,
    unblocked,
)
from .rewards import (
    EVAL,
    N_ACTIONS,
    QUIT,
    WRONG,
    Environment,
    add_to_value,
    answer,
    best_action,
    cell_of,
    greedy,
    is_error,
    no_gaussians,
    pay,
    quit_loss,
    scratch_for,
    set_scores,
    value_of,
)

_ROWS = 4096  # that one thread takes at a time


class Objective(NamedTuple):
    """How losses and prices become (8)."""

    loss_step: float  # Value of a step of the losses
    beta_step: float  # β times the value of a step of the prices
    copies: np.ndarray  # (n_samples,) int64: weight of each row
    total: int  # Their sum

    def value(self, lost: int, paid: int) -> float:
        """(8) of losses and prices summed over rows with their copies, in steps."""
        return (self.loss_step * float(lost) + self.beta_step * float(paid)) / float(self.total)


class Learning(NamedTuple):
    """How SARSA(λ) learns.

    Attributes
    ----------
    n_episodes, score_every : int
    exploration, rate, decay : float
        ε, until the policy is scored for the first time; learning rate; λ.
    decreasing : bool
        Whether the rate falls with the number of scorings.
    off_policy : bool
        Q(λ) in the place of SARSA(λ).
    by_errors : bool
        Whether the policy with fewest errors is kept, or else that of the least (8).
    gaussians : bool
        Whether values are sums of Gaussians, or else a table.
    """

    n_episodes: int
    score_every: int
    exploration: float
    rate: float
    decay: float
    decreasing: bool
    off_policy: bool
    by_errors: bool
    gaussians: bool = False


class Learned(NamedTuple):
    """What was learned."""

    policy: np.ndarray  # (n_base, n_cells) int8
    objective: float  # Its (8)
    history: np.ndarray  # (8) of what was tried before, in order
    n_steps: int = 0  # Actions of all episodes


class BadReward(ValueError):
    """A reward of the user's is no number, or too large."""


@kernel
def _follow(environment, custom, policy, begin, end, lost, paid, wrong, scratch):
    """Let rows follow a policy; write what each loses and pays, and whether it is an error."""
    g, room, owned, bought = scratch
    for i in range(begin, end):
        set_scores(g, environment.cells.initial)
        ran, steps = np.int64(0), np.int64(0)
        cell = cell_of(environment.cells, g, ran)
        for j in range(policy.shape[0]):
            action = policy[j, cell]
            if action == QUIT:
                break
            if action == EVAL:
                answer(environment, i, j, g)
                steps += pay(environment, i, j, owned, i, bought, 0)
                ran += environment.cells.sizes[j]
                cell = cell_of(environment.cells, g, ran)
        lost[i] = quit_loss(environment.losses, custom, g, i, room)
        paid[i] = steps
        wrong[i] = is_error(environment.losses, g, i)


def totals(
    environment: Environment,
    plain: OneScore | None,
    custom: Callable | None,
    policy: NDArray[np.int8],
    copies: np.ndarray,
    n_threads: int,
) -> tuple[int, ...]:
    """Losses, prices and errors of all rows that follow a policy, with their copies."""
    lost, paid, wrong = np.empty((3, len(copies)), dtype=np.int64)
    cuts = range(0, len(copies), _ROWS)

    def follow(first):
        some = (policy, first, min(first + _ROWS, len(copies)), lost, paid, wrong)
        if plain is None:
            _follow(environment, custom, *some, scratch_for(environment))
        else:
            follow_one(plain, *some, np.empty((4, TOGETHER), dtype=np.int64))

    if n_threads == 1 or len(cuts) < 2:
        for first in cuts:
            follow(first)
    else:
        with ThreadPoolExecutor(min(n_threads, len(cuts))) as pool:
            list(pool.map(follow, cuts))
    if np.any(lost == WRONG):
        raise BadReward
    return tuple(int(np.dot(copies, values)) for values in (lost, paid, wrong))


@small_kernel
def _choose(q, net, j, cell, exploration, draws):
    """ε-greedy; after the last base classifier there is only QUIT."""
    if j == q.shape[0] - 1:
        return QUIT
    if next_double(draws) < exploration:
        return next_below(draws, N_ACTIONS)
    return best_action(q, net, j, cell)


@kernel
def _episodes(
    environment, custom, rows, q, net, beta_step, loss_step, rate, decay, exploration, off_policy,
    draws, path, changes, scratch,
):  # fmt: skip
    """Run an episode for each of some rows, and bring the values up to date.

    Returns the number of steps, or -1 at a bad reward.

    A state never recurs in an episode: the TD errors are of the values before it, and go back along
    the path in one pass, which equals replacing traces.
    """
    n_base, n_steps = q.shape[0] - 1, np.int64(0)
    cells, actions, deltas, decays = path[0], path[1], changes[0], changes[1]
    g, room, owned, bought = scratch
    owned[:] = -1
    for e in range(rows.shape[0]):
        i = rows[e]
        set_scores(g, environment.cells.initial)
        ran = np.int64(0)
        j, cell = 0, cell_of(environment.cells, g, ran)
        action = _choose(q, net, j, cell, exploration, draws)
        value = value_of(q, net, j, cell, action)
        while action != QUIT:
            cells[j], actions[j] = cell, action
            paid = np.int64(0)
            if action == EVAL:
                answer(environment, i, j, g)
                paid = pay(environment, i, j, owned, e, bought, 0)
                ran += environment.cells.sizes[j]
                cell = cell_of(environment.cells, g, ran)
            action = _choose(q, net, j + 1, cell, exploration, draws)
            follows = value_of(q, net, j + 1, cell, action)
            best, back = follows, decay
            if off_policy and j + 1 < n_base:
                best = value_of(q, net, j + 1, cell, best_action(q, net, j + 1, cell))
                back = decay if follows == best else 0.0
            deltas[j] = -(beta_step * np.float64(paid)) + best - value
            decays[j] = back
            value = follows
            j += 1
        lost = quit_loss(environment.losses, custom, g, i, room)
        if lost == WRONG:
            return np.int64(-1)
        n_steps += j + 1
        back = -(loss_step * np.float64(lost)) - value
        add_to_value(q, net, j, cell, QUIT, rate * back, back)
        for t in range(j - 1, -1, -1):
            back = deltas[t] + decays[t] * back
            add_to_value(q, net, t, cells[t], actions[t], rate * back, deltas[t])
    return n_steps


def learn(
    environment: Environment,
    custom: Callable | None,
    objective: Objective,
    learning: Learning,
    rng: np.random.Generator,
    n_threads: int,
) -> Learned:
    """SARSA(λ): the policy is scored every so many episodes, and the best one is kept.

    Parameters
    ----------
    environment : Environment
    custom : None or compiled function
    objective : Objective
    learning : Learning
    rng : numpy.random.Generator
    n_threads : int

    Returns
    -------
    Learned

    Raises
    ------
    BadReward
    """
    ends, n_base = np.cumsum(objective.copies), environment.cells.n_base
    one_each = bool(np.all(objective.copies == 1))
    plain = None if learning.gaussians else one_score(environment)
    if plain is None:
        net = no_gaussians(n_base) if learning.gaussians else None
        q = np.zeros(
            (n_base + 1, 1 if learning.gaussians else environment.cells.n_cells, N_ACTIONS)
        )
    else:
        table = no_values(environment.cells.n_cells, n_base)
    path, changes = np.empty((2, n_base + 1), dtype=np.int64), np.empty((2, n_base + 1))
    scratch, rewards = scratch_for(environment), np.empty(2)
    best, least, value, history, n_steps = None, np.inf, np.inf, [], 0
    for k, first in enumerate(range(0, learning.n_episodes, learning.score_every)):
        n_now = min(learning.score_every, learning.n_episodes - first)
        rows = rng.integers(0, ends[-1], size=n_now)
        if not one_each:  # else an input is a row
            rows = np.searchsorted(ends, rows, side="right")
        rate = learning.rate / (k + 1) if learning.decreasing else learning.rate
        steps = (objective.beta_step, objective.loss_step, rate, learning.decay)
        draws = words_of(rng)
        exploring = (learning.exploration / (k + 1), learning.off_policy, draws)
        if plain is None:
            n_now = _episodes(
                environment, custom, rows, q, net, *steps, *exploring, path, changes, scratch
            )
            policy = np.empty((n_base, environment.cells.n_cells), dtype=np.int8)
            greedy(q, net, policy)
        else:
            n_now = episodes_of_one(plain, rows, table, *steps, *exploring, path, changes, rewards)
            policy = table.policy
        put_back(rng, draws)
        if n_now < 0:
            raise BadReward
        n_steps += n_now
        lost, paid, wrong = totals(environment, plain, custom, policy, objective.copies, n_threads)
        history.append(objective.value(lost, paid))
        score = float(wrong) if learning.by_errors else history[-1]
        if score < least:
            best, least, value = policy.copy(), score, history[-1]
    policy = best if plain is None else unblocked(best, n_base)
    return Learned(policy, value, np.array(history), n_steps)
