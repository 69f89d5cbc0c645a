"""FCBoost: a cascade grown stump by stump, each put where it lowers risk and complexity most.

M. Saberian, N. Vasconcelos: Boosting classifier cascades. Advances in Neural Information Processing
Systems 23 (2010), pages 2047-2055. **The original was not at hand**: the formulas are reconstructed
from notes on it and from memory; the derivatives are held against finite differences.

================  ==========================================================================
symbol            name
================  ==========================================================================
x_i, y_i          ``X`` (n, d) uint8, ``y`` (n,), -1 or 1
f_k               ``f`` (m, n), scores of the m stages
u(f)              ``step``, (1 + tanh σf) / 2, in the place of [f >= 0]
σ                 ``steepness``
F_k               ``cascades`` (m, n): F_k = f_k u(-f_k) + u(f_k) F_{k+1}, F_m = f_m
P_k               ``reach`` (m, n), Π_{j<k} u(f_j): the share of the row that comes to stage k
b_k               ``slopes`` (m, n), ∂F_1 / ∂f_k
C(f_k)            ``n_own`` (m,), stumps that stage k is the first to evaluate
C_k               ``to_come`` (m, n): C_k = C(f_k) + u(f_k) C_{k+1}, what a row at stage k pays
η                 ``eta``
w_i               ``weights``: how many rows a row stands for (not in the paper)
================  ==========================================================================

Minimised is

    L = Σ_i w_i exp(-y_i F_1(x_i)) / Σ_i w_i + η Σ_{i: y_i = -1} w_i C_1(x_i) / Σ_{i: y_i = -1} w_i.

A new stage begins as a copy of the last, which changes no F_k (u(f) + u(-f) = 1) and costs nothing,
since the last stage's stumps have been evaluated: the neutral predictor. In each iteration the best
stump for each stage, and for a new one, is sought by the derivative of L in its direction, and its
step by a line search; the one after which L is least, its own cost included, is added.

Deliberately absent: new negatives; a cost of its own for each feature.

Deviations and choices

1. The step is where L along the stump first turns from falling to rising: doubled from 1/8 until L
   rises, at most ``LARGEST_STEP``, then the interval is narrowed to ``STEP_GRID`` by false
   position; an end that stays twice counts half (Illinois), and once it has stayed thrice the
   interval is halved.
2. So steps are on a grid of 2^-12, which makes the sums of stumps exact: stages can share stumps,
   and the order in which they are added makes no difference.
3. Row weights are rounded to a grid for the search for stumps, as all sums that decide. What the
   line search sums is not: both twins sum by the same function.
4. Training ends when no stump lowers L, the complexity that it adds included. (The paper's number
   of iterations is then an upper limit.)
5. A row with f_k < 0 is rejected at stage k, and accepted with f_m > 0.
6. A copy is a copy of that moment: stumps that the earlier stage gets later are its own.
7. σ is not known. 1 makes u(f) the probability 1 / (1 + exp(-2f)) that AdaBoost's score stands
   for; steeper cascades stop in local minima, with steps too small to carry rows over a threshold.
8. A stump that tests nothing (a constant vote) costs nothing.
9. Ties: the first of the stages, a new one last; then the lowest feature, then threshold.
"""

import math
from dataclasses import dataclass

import numpy as np

from reference import adaboost_mh, grid

LARGEST_STEP = 8.0
STEP_GRID = 2.0**-12


@dataclass(frozen=True)
class Problem:
    """Rows, labels, and weights of the risk and of the complexity (negatives only), each Σ = 1."""

    X: np.ndarray
    y: np.ndarray
    of_rows: grid.RowWeights
    of_risk: np.ndarray
    of_cost: np.ndarray
    steepness: float
    eta: float


@dataclass(frozen=True)
class State:
    """Scores of the stages (m, n), and how many stumps each is the first to evaluate (m,)."""

    f: np.ndarray
    n_own: np.ndarray


@dataclass(frozen=True)
class Candidate:
    """A stump at a stage, its step, and L after it."""

    stage: int
    feature: int
    cut: float
    vote: int
    alpha: float
    objective: float


@dataclass(frozen=True)
class Model:
    """Which stages each stump belongs to (T, m), the stumps, their steps; L before and after."""

    members: np.ndarray
    stumps: list[adaboost_mh.Stump]
    alphas: np.ndarray
    objectives: list[float]
    trace: list[Candidate]


@dataclass(frozen=True)
class Exits:
    """``stage`` (n,) from 1, ``scores`` (n,) there, whether ``accepted`` (n,)."""

    stage: np.ndarray
    scores: np.ndarray
    accepted: np.ndarray


def make_problem(X, y, *, steepness: float, eta: float, weights=None) -> Problem:
    """Rows, and the weights of both terms of L."""
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    negative = np.where(y < 0, w, 0.0)
    return Problem(
        X, y, grid.row_weights(w), w / math.fsum(w), negative / math.fsum(negative), steepness, eta
    )


# --- the smooth cascade ----------------------------------------------------------------------


def step(f, steepness: float):
    """u(f)."""
    return 0.5 * (1.0 + np.tanh(steepness * f))


def step_slope(f, steepness: float):
    """u'(f)."""
    t = np.tanh(steepness * f)
    return 0.5 * steepness * (1.0 - t * t)


def cascades(f, steepness: float) -> np.ndarray:
    """F_k (m, n)."""
    F = f.copy()
    for k in range(len(f) - 2, -1, -1):
        u = step(f[k], steepness)
        F[k] = f[k] * (1.0 - u) + u * F[k + 1]
    return F


def to_come(f, n_own, steepness: float) -> np.ndarray:
    """C_k (m, n)."""
    C = np.repeat(n_own[:, None].astype(np.float64), f.shape[1], axis=1)
    for k in range(len(f) - 2, -1, -1):
        C[k] = n_own[k] + step(f[k], steepness) * C[k + 1]
    return C


def reach(f, steepness: float) -> np.ndarray:
    """P_k (m, n)."""
    P = np.ones_like(f)
    for k in range(1, len(f)):
        P[k] = P[k - 1] * step(f[k - 1], steepness)
    return P


def slopes(f, steepness: float) -> np.ndarray:
    """b_k (m, n) = P_k {1 - u(f_k) + u'(f_k) (F_{k+1} - f_k)}, of the last P_m."""
    F, b = cascades(f, steepness), reach(f, steepness)
    for k in range(len(f) - 1):
        u, slope = step(f[k], steepness), step_slope(f[k], steepness)
        b[k] = b[k] * (1.0 - u + slope * (F[k + 1] - f[k]))
    return b


def risk_and_cost(F, C, problem: Problem) -> float:
    """L, of F_1 and C_1 (n,)."""
    risk = np.sum(problem.of_risk * np.exp(-problem.y * F))
    return float(risk + problem.eta * np.sum(problem.of_cost * C))


def objective(state: State, problem: Problem) -> float:
    """L of a cascade."""
    F = cascades(state.f, problem.steepness)
    return risk_and_cost(F[0], to_come(state.f, state.n_own, problem.steepness)[0], problem)


def descent(state: State, problem: Problem) -> np.ndarray:
    """-∂L/∂f_k (m, n), but for the rows' own weights (copies), which are left out."""
    f, sigma = state.f, problem.steepness
    F, C, P, b = (
        cascades(f, sigma), to_come(f, state.n_own, sigma), reach(f, sigma), slopes(f, sigma),
    )  # fmt: skip
    m = len(f)
    n_rows = math.fsum(problem.of_rows.real)
    n_negatives = math.fsum(problem.of_rows.real[problem.y < 0])
    falls = problem.y * np.exp(-problem.y * F[0]) * b / n_rows
    for k in range(m - 1):
        costs = P[k] * step_slope(f[k], sigma) * C[k + 1]
        falls[k] = falls[k] - np.where(problem.y < 0, problem.eta * costs / n_negatives, 0.0)
    return falls


def with_new_stage(state: State) -> State:
    """The cascade with a neutral predictor: the last stage once more."""
    if not np.any(state.f):
        return state  # nothing has been added yet: the first stage is the new one
    return State(np.concatenate([state.f, state.f[-1:]]), np.append(state.n_own, 0))


# --- a stump and its step --------------------------------------------------------------------


def best_stump(falls: np.ndarray, problem: Problem) -> adaboost_mh.Stump:
    """Stump with the largest derivative of L: sums of falls on their grid."""
    ints = grid.round_to_grid(falls, problem.of_rows).ints.astype(np.int64)
    return adaboost_mh.best_stump(problem.X, ints[:, None], range(problem.X.shape[1]))[1]


def line(state: State, k: int, stump: adaboost_mh.Stump, problem: Problem):
    """L and its derivative as functions of the stump's step at stage k."""
    f, sigma, last = state.f, problem.steepness, k == len(state.f) - 1
    votes = adaboost_mh.responses(stump, problem.X)[:, 0].astype(np.float64)
    F, C, P = cascades(f, sigma), to_come(f, state.n_own, sigma), reach(f, sigma)[k]
    others = F[0] - P * F[k], C[0] - P * C[k]  # what is not of stage k
    own = state.n_own[k] + float(stump.feature >= 0)

    def at(alpha: float):
        moved = f[k] + alpha * votes
        if last:
            Fk, F_slope, Ck, C_slope = moved, 1.0, own, 0.0
        else:
            u, slope = step(moved, sigma), step_slope(moved, sigma)
            Fk, F_slope = moved * (1.0 - u) + u * F[k + 1], 1.0 - u + slope * (F[k + 1] - moved)
            Ck, C_slope = own + u * C[k + 1], slope * C[k + 1]
        F1, C1 = others[0] + P * Fk, others[1] + P * Ck
        falls = problem.of_risk * problem.y * np.exp(-problem.y * F1) * (P * F_slope * votes)
        rises = problem.of_cost * (P * C_slope * votes)
        slope = problem.eta * np.sum(rises) - np.sum(falls)
        return risk_and_cost(F1, C1, problem), float(slope)

    return at


def search_step(at) -> float:
    """The first minimum along a stump, on the grid of steps; 0 if L does not fall."""
    low, high = 0.0, 0.125
    falls, rises = at(low)[1], at(high)[1]
    if not falls < 0:
        return 0.0
    while rises < 0:
        low, high, falls = high, 2.0 * high, rises
        if high > LARGEST_STEP:
            return low
        rises = at(high)[1]
    moved = 0  # so often has the same end moved, the higher if above 0
    while high - low > STEP_GRID:
        share = falls / (falls - rises) if falls < 0 and abs(moved) < 3 else 0.5
        middle = math.floor((low + (high - low) * share) / STEP_GRID) * STEP_GRID
        middle = min(max(middle, low + STEP_GRID), high - STEP_GRID)
        slope = at(middle)[1]
        if slope < 0:
            rises = 0.5 * rises if moved < 0 else rises
            low, falls, moved = middle, slope, min(moved, 0) - 1
        else:
            falls = 0.5 * falls if moved > 0 else falls
            high, rises, moved = middle, slope, max(moved, 0) + 1
    return low


def candidates(state: State, problem: Problem) -> list[Candidate]:
    """The best stump of each stage, and of a new one, each in the cascade that it would make.

    The copy is there for a stump of its own only: beside one for another stage it is dropped.
    """
    longer, listed = with_new_stage(state), []
    for k in range(len(longer.f)):
        made = state if k < len(state.f) else longer
        stump = best_stump(descent(made, problem)[k], problem)
        at = line(made, k, stump, problem)
        alpha = search_step(at)
        if alpha > 0:
            vote = int(stump.votes[0])
            listed.append(Candidate(k, stump.feature, stump.threshold, vote, alpha, at(alpha)[0]))
    return listed


# --- the cascade -----------------------------------------------------------------------------


def fit(X, y, *, n_estimators=100, eta=0.02, steepness=1.0, weights=None) -> Model:
    """Add stumps.

    Parameters
    ----------
    X : (n, d) uint8
    y : (n,) int
        -1 or 1.
    n_estimators : int
        Iterations at most, one stump each.
    eta : float
        η.
    steepness : float
        σ.
    weights : (n,) float, optional
        Positive.
    """
    problem = make_problem(X, y, steepness=steepness, eta=eta, weights=weights)
    state = State(np.zeros((1, len(y))), np.zeros(1, dtype=np.int64))
    stumps, alphas, members, trace = [], [], np.zeros((0, 1), dtype=bool), []
    objectives = [objective(state, problem)]
    for _ in range(n_estimators):
        best = min(candidates(state, problem), key=lambda c: c.objective, default=None)
        if best is None or not best.objective < objectives[-1]:
            break
        k = best.stage
        if k == len(state.f):
            state = with_new_stage(state)
            members = np.concatenate([members, members[:, -1:]], axis=1)
        stump = adaboost_mh.Stump(best.feature, best.cut, np.array([best.vote]))
        f, n_own = state.f.copy(), state.n_own.copy()
        f[k] += best.alpha * adaboost_mh.responses(stump, X)[:, 0]
        n_own[k] += best.feature >= 0
        state = State(f, n_own)
        members = np.concatenate([members, np.arange(members.shape[1])[None, :] == k])
        stumps.append(stump)
        alphas.append(best.alpha)
        objectives.append(best.objective)
        trace.append(best)
    return Model(members, stumps, np.array(alphas), objectives, trace)


def stage_scores(model: Model, X) -> np.ndarray:
    """f_k (m, n)."""
    f = np.zeros((model.members.shape[1], len(X)))
    for inside, stump, alpha in zip(model.members, model.stumps, model.alphas, strict=True):
        f[inside] += alpha * adaboost_mh.responses(stump, X)[:, 0]
    return f


def leave(model: Model, X) -> Exits:
    """Walk rows through the stages."""
    f = stage_scores(model, X)
    m = len(f)
    rejected = np.concatenate([f[:-1] < 0, np.ones((1, len(X)), dtype=bool)])
    stage = np.argmax(rejected, axis=0) + 1
    scores = f[stage - 1, np.arange(len(X))]
    return Exits(stage, scores, (stage == m) & (scores > 0))
