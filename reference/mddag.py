"""MDDAG: sparse decision DAGs of base classifiers, learned as a Markov decision process.

D. Benbouzid, R. Busa-Fekete and B. Kégl: Fast classification using sparse decision DAGs.
Proceedings of the 29th International Conference on Machine Learning (2012), pages 951-958.

===================  ======================================================================
symbol               name
===================  ======================================================================
h_j(x_i), N, K       ``outputs`` (n, N, K), whole numbers of steps of a grid
Σ_j max |h_j|        ``normaliser``, in steps; ``sizes`` (N,) its terms
f^(j), s_j           ``scores`` (K,); a state is (j, ``cell``), j from 0
a_j, π, b_j          ``action``; ``policy`` (N, n_cells); ``path`` (N,) bool
L, ℓ                 ``loss``, in whole ``loss_step``s; ``label``
β, D                 ``beta``; rows, each as often as ``copies`` says
Q, r, δ, λ           ``q`` (N + 1, n_cells, 3), ``reward``, ``delta``, ``decay``
τ, ε                 the training episode, from 1; ``exploration``
===================  ======================================================================

Two classes have one score, K = 1: f_1, and f_2 is -f_1; label 1 is the positive class.

Deliberately absent: how base classifiers are learned, the threshold θ of a detector, and the
squared loss for regression (section 5 names it, and has no figure of it).

Deviations and choices

1. **A tie is an error** in the 0-1 loss. As printed (``< 0``), f = 0 costs nothing, and to quit at
   once is optimal.
2. Outputs are on a grid, so that f is a whole number, whatever the path to it.
3. The value function is a table over (j, cell): uniform bins of (f/Σα + 1)/2 of one score; for
   K > 2 the winning class times uniform bins of the top two's margin; or it is a sum of Gaussians
   by one score whose centres grow, as in the authors' program. The paper does not say which it
   used. A row starts from its model's constant scores; bins do not see them.
4. The printed exploration rate 0.3 × 1/⌈10000/τ⌉ would grow; it is 0.3/⌈τ/10000⌉.
5. No state recurs in an episode, so replacing traces come to a backward sum: the TD errors of an
   episode are of the values before it, and an error adds λ^k of itself k steps back.
6. Values begin at 0, above all that can be had; of equal values the first of EVAL, SKIP, QUIT wins.
7. The exponential loss of two classes is exp(-y f), the classical one (with f_2 = -f_1 the printed
   formula gives its square). Its exponent is rounded down to the 2**20 points of a table from -30
   to 20, so it is at most exp(20). Losses are whole steps of a grid: sums are exact.
8. ``descend`` is not the paper's: exact coordinate descent on (8) over the same table. Of equal
   costs a cell's own action wins, or else the last of EVAL, SKIP, QUIT.
9. Beside the paper's choices stand those that it or its authors' programs mention: ``update="q"``
   (Watkins's Q(λ)), ``select="accuracy"``, division by the running Σα of what was evaluated, a rate
   that falls with the number of scorings.
10. A base classifier without a split is a constant vote, which looks at nothing: its EVAL is free.
11. Bins follow N (:func:`bins_for`): Σα, which spans them, grows with it. Nothing is printed.
12. ``negative_weight`` multiplies what a row of the first of two classes loses, as class penalties
    do in the authors' program (``failpenalties``). Prices, and which rows are drawn, stay.
13. If features have prices, EVAL costs β × (price of one evaluation, and what the row's path in the
    base classifier asks for and has not bought), in whole steps; else β.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

EVAL, SKIP, QUIT = 0, 1, 2
POINTS, LOW, HIGH = 1 << 20, -30.0, 20.0  # of the table of exponentials
WIDTH, ERROR_TO_GROW, ACTIVATION_TO_GROW = 0.01, 0.1, 0.4  # of Gaussians
FEWEST_BINS, MOST_BINS = 101, 1001


def bins_for(n_base: int) -> int:
    """Bins of a score by N: the largest odd number up to N + 1, from 101 to 1,001.

    A bin is 2 Σα / n_bins wide: twice the mean vote at most, up to N = 1,000. f = 0 is in the
    middle of one. More would be a table that grows with N².
    """
    return min(max(n_base + 1 - n_base % 2, FEWEST_BINS), MOST_BINS)


@dataclass(frozen=True)
class Prices:
    """What evaluations cost, in steps of ``beta``.

    ``each`` (n, N): paid whenever row i evaluates base classifier j. ``asks`` (n, N, m) bool: which
    of m items it asks for, bought once for ``price`` (m,).
    """

    each: np.ndarray
    asks: np.ndarray
    price: np.ndarray


@dataclass(frozen=True)
class Problem:
    """What the decision process is made of; see the table of symbols.

    ``unit`` is the value of a step of the scores, ``beta_step`` β times that of a step of prices.
    ``constant`` (N,): which base classifiers have no split (None: none).
    ``loss`` is "zero_one", "exponential" or a function (scores, label) -> float;
    ``loss_exponent`` k: a ``loss_step`` is 2**-k. ``kind`` is "bins", "margin"
    or "gaussians". ``n_bins`` None: :func:`bins_for`. ``negative_weight`` of what label 0 loses.
    """

    outputs: np.ndarray
    sizes: np.ndarray
    normaliser: int
    unit: float
    initial: np.ndarray
    labels: np.ndarray
    copies: np.ndarray
    beta_step: float
    prices: Prices | None = None
    constant: np.ndarray | None = None
    loss: object = "zero_one"
    loss_exponent: int = 0
    kind: str = "bins"
    n_bins: int | None = None
    running: bool = False
    negative_weight: float = 1.0

    def __post_init__(self):
        if self.n_bins is None:
            object.__setattr__(self, "n_bins", bins_for(self.n_base))

    @property
    def n_base(self) -> int:
        """N."""
        return self.outputs.shape[1]

    @property
    def n_cells(self) -> int:
        """Cells of f for one j."""
        return self.n_bins * (self.outputs.shape[2] if self.kind == "margin" else 1)


@dataclass(frozen=True)
class Gaussians:
    """Values by sums of Gaussians: centres (cells) and weights of each (j, action).

    ``bump`` (n_cells,) is a Gaussian by the distance from its centre, in cells.
    """

    centres: dict
    weights: dict
    bump: np.ndarray


@dataclass(frozen=True)
class Solution:
    """A policy (N, n_cells) int8, its (8), and (8) of what was tried before, in order."""

    policy: np.ndarray
    objective: float
    history: np.ndarray


@dataclass(frozen=True)
class Settings:
    """How SARSA(λ) learns."""

    n_episodes: int = 1_000_000
    score_every: int = 10_000
    exploration: float = 0.3
    rate: float = 0.2
    decreasing: bool = False
    decay: float = 0.95
    update: str = "sarsa"
    select: str = "objective"


# --- The state ------------------------------------------------------------------------------


def evaluated(actions) -> np.ndarray:
    """b_j of the actions until QUIT."""  # Eq. (1)
    return np.array([action == EVAL for action in actions])


def built(problem: Problem, i: int, path: np.ndarray) -> np.ndarray:
    """Scores of row i after the base classifiers of a path so far."""  # Eqs. (2) and (3)
    n = len(path)
    return problem.initial + (path[:, None] * problem.outputs[i, :n]).sum(axis=0)


def uniform_bin(value: int, span: int, n_bins: int) -> int:
    """Bin of a value in [0, span]; the middle one if the span is 0."""
    if span == 0:
        return n_bins // 2
    return min(max(value * n_bins // span, 0), n_bins - 1)


def cell(problem: Problem, scores: np.ndarray, path: np.ndarray) -> int:
    """The part of the state that f has."""  # Eq. (4)
    normaliser = problem.normaliser
    if problem.running:
        normaliser = int(problem.sizes[: len(path)][path].sum())
    if problem.kind != "margin":
        at = int(scores[0] - problem.initial[0]) + normaliser
        return uniform_bin(at, 2 * normaliser, problem.n_bins)
    winner = int(np.argmax(scores))
    margin = int(scores[winner] - np.max(np.delete(scores, winner)))
    at = uniform_bin(margin, 2 * normaliser, problem.n_bins) if normaliser else 0
    return winner * problem.n_bins + at


# --- 2.1 The rewards ------------------------------------------------------------------------


def margin_of(scores: np.ndarray, label: int) -> int:
    """How far the label's score is above the largest other one; y f of one score."""
    if len(scores) == 1:
        return int(scores[0]) if label == 1 else -int(scores[0])
    return int(scores[label] - np.max(np.delete(scores, label)))


def exponential_tables(exponent: int) -> tuple[np.ndarray, np.ndarray]:
    """Exponentials at the points of the table as products of two, in steps of 2**-exponent."""
    step, half = (HIGH - LOW) / POINTS, math.isqrt(POINTS)
    upper = np.exp(LOW + np.arange(half) * (step * half))
    return np.ldexp(upper, exponent), np.exp(np.arange(half) * step)


def exponential_loss(scores: np.ndarray, label: int, unit: float, tables, weight=1.0) -> int:
    """exp(Σ_{l' ≠ l} f_l' - f_l), or exp(-y f), times a weight."""
    others = 0 if len(scores) == 1 else int(np.sum(np.delete(scores, label)))
    own = margin_of(scores, label) if len(scores) == 1 else int(scores[label])
    place = float(others - own) * (unit * (POINTS / (HIGH - LOW))) - LOW * (POINTS / (HIGH - LOW))
    point = int(min(max(math.floor(place), 0), POINTS - 1))
    upper, lower = tables
    return int(np.rint(upper[point // len(upper)] * lower[point % len(lower)] * weight))


def loss(problem: Problem, scores: np.ndarray, i: int) -> int:
    """L of quitting with these scores, in steps."""  # minus the reward of Eq. (6)
    label = int(problem.labels[i])
    weight = problem.negative_weight if label == 0 else 1.0
    if problem.loss == "exponential":
        tables = exponential_tables(problem.loss_exponent)
        return exponential_loss(scores, label, problem.unit, tables, weight)
    if problem.loss == "zero_one":
        value = float(margin_of(scores, label) <= 0)
    else:
        value = problem.loss(scores * problem.unit, label)
    return int(np.rint(np.ldexp(value * weight, problem.loss_exponent)))


def price(problem: Problem, i: int, path: np.ndarray) -> int:
    """Steps that row i pays for evaluating the next base classifier."""  # Eq. (7), over β
    j, prices = len(path), problem.prices
    if prices is None:
        return int(problem.constant is None or not problem.constant[j])
    bought = prices.asks[i, :j][path].any(axis=0)
    return int(prices.each[i, j] + prices.price[prices.asks[i, j] & ~bought].sum())


def steps_of(problem: Problem, i: int, path: np.ndarray) -> int:
    """Steps that row i pays for a path."""
    return sum(price(problem, i, path[:j]) for j in np.flatnonzero(path))


def walk(problem: Problem, policy: np.ndarray, i: int, path=()) -> np.ndarray:
    """Path of row i by a policy, from the end of a path on."""
    path = list(path)
    while len(path) < problem.n_base:
        so_far = np.array(path, dtype=bool)
        action = policy[len(path), cell(problem, built(problem, i, so_far), so_far)]
        if action == QUIT:
            break
        path.append(action == EVAL)
    return np.array(path, dtype=bool)


def cost_of(problem: Problem, i: int, path: np.ndarray) -> np.ndarray:
    """(L in steps, price in steps) of a path that ends."""
    return np.array([loss(problem, built(problem, i, path), i), steps_of(problem, i, path)])


def weighed(problem: Problem, cost: np.ndarray) -> float:
    """L + β × price."""
    return 2.0**-problem.loss_exponent * float(cost[0]) + problem.beta_step * float(cost[1])


def totals(problem: Problem, policy: np.ndarray) -> np.ndarray:
    """Losses, prices and errors of all rows, copies counted."""
    total = np.zeros(3, dtype=np.int64)
    for i in range(len(problem.outputs)):
        path = walk(problem, policy, i)
        scores, label = built(problem, i, path), int(problem.labels[i])
        error = margin_of(scores, label) <= 0
        total += problem.copies[i] * np.array([*cost_of(problem, i, path), error])
    return total


def objective(problem: Problem, policy: np.ndarray) -> float:
    """Mean of L + β Σ_j b_j over the rows."""  # Eq. (8)
    return weighed(problem, totals(problem, policy)[:2]) / float(problem.copies.sum())


# --- 2.2 Learning the policy ----------------------------------------------------------------


def no_values(problem: Problem) -> np.ndarray | Gaussians:
    """Values of 0."""
    shape = (problem.n_base + 1, problem.n_cells, 3)
    if problem.kind != "gaussians":
        return np.zeros(shape)
    states = [(j, action) for j in range(shape[0]) for action in range(3)]
    distance = np.arange(problem.n_cells) / (problem.n_cells - 1)
    bump = np.exp(-0.5 * (distance / WIDTH) ** 2)
    return Gaussians({s: [] for s in states}, {s: [] for s in states}, bump)


def value(q, state: tuple[int, int, int]) -> float:
    """Q of (j, cell, action)."""
    if isinstance(q, np.ndarray):
        return q[state]
    j, at, action = state
    total = 0.0
    for centre, weight in zip(q.centres[j, action], q.weights[j, action], strict=True):
        total += weight * q.bump[abs(at - centre)]
    return total


def add(q, state: tuple[int, int, int], step: float, delta: float) -> None:
    """Move Q of (j, cell, action) by a step; a large TD error adds a centre where none is near."""
    if isinstance(q, np.ndarray):
        q[state] += step
        return
    j, at, action = state
    centres, weights = q.centres[j, action], q.weights[j, action]
    active = 0.0
    for centre in centres:
        active += q.bump[abs(at - centre)]
    if abs(delta) > ERROR_TO_GROW and active < ACTIVATION_TO_GROW:
        centres.append(at)
        weights.append(0.0)
    for k, centre in enumerate(centres):
        weights[k] += step * q.bump[abs(at - centre)]


def best_action(q, j: int, at: int) -> int:
    """Action of the largest value, the first of equal ones."""
    return int(np.argmax([value(q, (j, at, action)) for action in range(3)]))


def greedy(problem: Problem, q) -> np.ndarray:
    """Policy of the largest values."""
    actions = [
        [best_action(q, j, at) for at in range(problem.n_cells)] for j in range(problem.n_base)
    ]
    return np.array(actions, dtype=np.int8)


def choose(q, j: int, at: int, n_base: int, exploration: float, rng) -> int:
    """ε-greedy; after the last base classifier there is only QUIT."""
    if j == n_base:
        return QUIT
    if rng.random() < exploration:
        return int(rng.integers(0, 3))
    return best_action(q, j, at)


def episode(problem: Problem, q, i: int, exploration: float, rng) -> list[tuple]:
    """Row i goes until it quits: (state and action, reward) of each step."""
    steps, path = [], np.zeros(0, dtype=bool)
    while True:
        j, scores = len(path), built(problem, i, path)
        at = cell(problem, scores, path)
        action = choose(q, j, at, problem.n_base, exploration, rng)
        if action == QUIT:
            reward = -(2.0**-problem.loss_exponent * float(loss(problem, scores, i)))
            return [*steps, ((j, at, QUIT), reward)]
        paid = price(problem, i, path) if action == EVAL else 0
        steps.append(((j, at, action), -(problem.beta_step * float(paid))))
        path = np.append(path, action == EVAL)


def update(problem: Problem, q, steps, rate: float, settings: Settings) -> None:
    """Backward λ-return: SARSA(λ), or Q(λ), whose traces end before an action that is not best."""

    def follows(state) -> tuple[float, float]:
        """Value of what comes next, and how much of later errors comes back."""
        if settings.update == "sarsa" or state[0] == problem.n_base:
            return value(q, state), settings.decay
        best = value(q, (*state[:2], best_action(q, *state[:2])))
        return best, settings.decay if value(q, state) == best else 0.0

    deltas, decays = [], []
    for t, (state, reward) in enumerate(steps):
        after, decay = follows(steps[t + 1][0]) if t + 1 < len(steps) else (0.0, 0.0)
        deltas.append(reward + after - value(q, state))
        decays.append(decay)
    back = 0.0
    for t in reversed(range(len(steps))):
        back = deltas[t] + decays[t] * back
        add(q, steps[t][0], rate * back, deltas[t])


def learn(problem: Problem, settings: Settings, rng) -> Solution:
    """SARSA(λ): the policy is scored every 10,000 episodes, and the best one is kept."""
    ends, q = np.cumsum(problem.copies), no_values(problem)
    best, least, history = None, math.inf, []
    for k, first in enumerate(range(0, settings.n_episodes, settings.score_every)):
        n_now = min(settings.score_every, settings.n_episodes - first)
        drawn = np.searchsorted(ends, rng.integers(0, ends[-1], size=n_now), side="right")
        rate = settings.rate / (k + 1) if settings.decreasing else settings.rate
        for i in drawn:
            steps = episode(problem, q, int(i), settings.exploration / (k + 1), rng)
            update(problem, q, steps, rate, settings)
        policy = greedy(problem, q)
        history.append(objective(problem, policy))
        score = history[-1]
        if settings.select == "accuracy":
            score = float(totals(problem, policy)[2])
        if score < least:
            best, least = policy, score
    return Solution(best, objective(problem, best), np.array(history))


# --- Coordinate descent, ours ---------------------------------------------------------------


def all_eval(problem: Problem) -> np.ndarray:
    """The policy that evaluates everything: AdaBoost."""
    return np.full((problem.n_base, problem.n_cells), EVAL, dtype=np.int8)


def sweep(problem: Problem, policy: np.ndarray) -> np.ndarray:
    """For j from N to 1, the best action of each cell for the rows that come there."""
    policy = policy.copy()
    paths = [walk(problem, policy, i) for i in range(len(problem.outputs))]
    for j in reversed(range(problem.n_base)):
        costs = {}  # by cell: total of each action
        for i, path in enumerate(paths):
            if len(path) < j:
                continue
            before = path[:j]
            at = cell(problem, built(problem, i, before), before)
            ends = [walk(problem, policy, i, [*before, b]) for b in (True, False)] + [before]
            each = np.array([cost_of(problem, i, end) for end in ends])
            each[:, 1] -= steps_of(problem, i, before)
            costs[at] = costs.get(at, 0) + problem.copies[i] * each
        for at, total in costs.items():
            values = [weighed(problem, cost) for cost in total]
            if min(values) < values[policy[j, at]]:
                policy[j, at] = QUIT - int(np.argmin(values[::-1]))
    return policy


def descend(problem: Problem, start: np.ndarray) -> Solution:
    """Sweep until (8) falls no more. A cell without rows keeps its action, as do equal costs."""
    policy, history = start, [objective(problem, start)]
    while True:
        swept = sweep(problem, policy)
        after = objective(problem, swept)
        if not after < history[-1]:
            return Solution(policy, history[-1], np.array(history))
        policy = swept
        history.append(after)


def fit(problem: Problem, solver: str, settings: Settings, rng, start=None) -> Solution:
    """Learn a policy: by ``"sarsa"``, or by ``"descent"`` from a policy (None: EVAL only)."""
    if solver == "sarsa":
        return learn(problem, settings, rng)
    return descend(problem, all_eval(problem) if start is None else start)


# --- The DAG --------------------------------------------------------------------------------


def edges(path: np.ndarray) -> list[tuple[int, int]]:
    """U_x: each evaluated base classifier and the next one, section 3.1."""
    used = np.flatnonzero(path).tolist()
    return list(itertools.pairwise(used))
