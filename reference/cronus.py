"""Cronus: a cascade of re-weighted, re-ordered trees that pay for features stage by stage.

M. Chen, Z. Xu, K. Q. Weinberger, O. Chapelle and D. Kedem: Classifier cascade for minimizing
feature evaluation cost. Proceedings of the 15th International Conference on Artificial
Intelligence and Statistics (2012). Sections 3.3 and 3.4; section 3.1, and a stage whose problem is
convex, are in :mod:`reference.mixed_norms`, the objective (8) of section 3.2 in
:mod:`reference.soft_objective`, hard exits and the paper's bill in :mod:`reference.cascades`.

===============  ==========================================================================
symbol           name
===============  ==========================================================================
h, y, ω, m       ``outputs``, ``y``, ``omega``, ``copies`` of :class:`Problem`
β^k, θ^k         ``beta[k]`` (1 + T,), ``theta[k]`` (of K - 1); stages count from 0 here
ρ^k, λ, γ        ``penalties`` (K,), ``tradeoff``, ``steepness``
δ, ε             ``tradeoff_decay``, ``rejection``
I, p, q, d       ``passing``, ``reaching``, ``exiting`` (K, n), ``remaining`` (K,)
σ, κ, η          ``Roots``
===============  ==========================================================================

Deliberately absent: the growing of the trees, other losses, a price for a feature's second use.

Deviations and choices (1 to 4 in :mod:`reference.mixed_norms`)

5. Eq. (9) has the loss only. d_j, j > k, depends on (β^k, θ^k), too: its derivative is in
   ``surrogate``. For k < K neither q^k nor the costs are convex.
6. λ_k = λ δ^(K - k) at initialisation: inflated for early stages, λ at the last, as the text says
   (not the printed λδ^(-K)). There is no θ^K. Step 7 of Algorithm 2 follows the inner loop.
7. θ^k cuts the soft d ("soft"), or so many rows as it may without cutting ties ("quantile"). A
   stage that says the same of all rows has θ = -∞: all pass, and Algorithm 1 leaves it alone.
8. Loops end by a duality gap (convex) or when (8) falls by less than ``tolerance``, relatively.
9. Step 7 of Algorithm 1 is L-BFGS in coordinates scaled by diag(HᵀΩH) + Λ, Ω = ω∘p^k. The last
   stage is convex: its inner loop is run to its end at once, on its support, with smoothed roots
   (deviation 3). What does not lower (8) is not accepted.
10. In Algorithm 1 roots are those of (11), not smoothed: σ* = |β_t^k|. So each stage works on its
   own support, the trees that it has weight on. Weights below 1e-5 of their stage's largest are
   dropped after each cycle: they are bought as all others are. ``support="cascade"`` smooths the
   roots instead; then every zero comes back, for √(N² + b²) - N is of second order in b, and the
   first stage buys what later ones would.
11. Should the end have (8) above the initialisation's, the initialisation is returned.
12. Here linear algebra decides, so the other twin is not equal bit for bit. Convex stages end at a
    gap, and weights of the size of μ are rounded to 0 or not: (8) of the initialisation agrees to
    1e-5 of the loss of a score of 0 (½). Trees that say the same may share a weight in any way.
13. Where L-BFGS ends depends on rounding, as (8) is not convex: its end agrees to 1 % and 1e-4 of
    the loss of a score of 0, but for rare cases (1 of 500 tiny problems) in which it is another
    minimum. Equal weights leave, score and pay equally, bit for bit.
"""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit

from reference.cascades import Cascade
from reference.mixed_norms import (
    Problem,
    Stage,
    make_problem,
    paid_with,
    solve_stage,
    stage_loss,
    without_traces,
)
from reference.soft_objective import (
    Terms,
    current_roots,
    fix_others,
    objective,
    passing,
    reaching,
    replaced,
    scales,
    surrogate,
)

TINY = 1e-5  # of a stage's largest weight: what is smaller after a cycle is dropped


@dataclass(frozen=True)
class Step:
    """A stage was solved: ``phase``, cycle and stage from 0, (8) or the stage's convex loss."""

    phase: str
    cycle: int
    stage: int
    objective: float
    evaluations: int


@dataclass(frozen=True)
class Model:
    """A fitted cascade, the initialisation it came from, (8) of both, and how it went."""

    cascade: Cascade
    initial: Cascade
    objective: float
    initial_objective: float
    trace: list[Step]


def soft_threshold(scores, reach, problem: Problem, steepness, rejection) -> float:
    """θ^k such that d_{k+1} = (1 - ε) d_k; -∞ if the stage says the same of all rows."""
    if rejection == 0 or np.all(scores == scores[0]):
        return -math.inf
    goal = (1.0 - rejection) * float(problem.copies @ reach)
    margin = (40.0 + math.log(1e6)) / steepness

    def excess(theta):
        return float(problem.copies @ (reach * expit(steepness * (scores - theta)))) - goal

    return brentq(excess, scores.min() - margin, scores.max() + margin, xtol=1e-14, rtol=1e-14)


def quantile_threshold(scores, alive, problem: Problem, rejection) -> float:
    """Largest θ^k, between two scores, that rejects at most ε of the rows ``alive``."""
    values = np.unique(scores[alive])
    total = float(problem.copies[alive].sum())
    theta = -math.inf
    for low, high in itertools.pairwise(values):
        if problem.copies[alive & (scores <= low)].sum() > rejection * total:
            break
        theta = 0.5 * (low + high)
    return theta


def initialise(
    problem: Problem, terms: Terms, tradeoff_decay, rejection, threshold_rule, trace
) -> Cascade:
    """Algorithm 2."""
    n, width = problem.outputs.shape
    K = len(terms.penalties)
    beta, theta = np.zeros((K, width)), np.zeros(K - 1)
    reach, before, alive = np.ones(n), np.zeros(width), np.ones(n, dtype=bool)
    for k in range(K):
        d = float(problem.copies @ reach)
        inflated = terms.tradeoff * tradeoff_decay ** (K - 1 - k)
        stage = Stage(problem.omega * reach, d, before, terms.penalties[k], inflated)
        beta[k], iterations = solve_stage(problem, stage)
        beta[k] = without_traces(beta[k], problem)
        value = stage_loss(beta[k], problem, stage)
        trace.append(Step("initialise", 0, k, value, iterations))
        before = paid_with(beta[k], stage)
        if k < K - 1:
            scores = problem.outputs @ beta[k]
            if threshold_rule == "soft":
                soft = (problem, terms.steepness, rejection)
                theta[k] = soft_threshold(scores, reach, *soft)
            else:
                theta[k] = quantile_threshold(scores, alive, problem, rejection)
            alive = alive & ~(scores < theta[k])
            reach = reach * expit(terms.steepness * (scores - theta[k]))
    return Cascade(beta, theta)


# --- 3.3.1: Algorithm 1 -----------------------------------------------------------------------


def minimise_surrogate(cascade: Cascade, problem: Problem, terms: Terms, k: int, max_evaluations):
    """Algorithm 1, line 7, k < K; return the stage's weights, threshold and the evaluations."""
    root, fixed = current_roots(cascade, problem, terms, k), fix_others(cascade, problem, terms, k)
    start = np.append(cascade.beta[k], cascade.theta[k])
    scale = scales(fixed, root, start[:-1], start[-1], problem, terms)

    def scaled(z):
        x = z / scale
        value, by_beta, by_theta = surrogate(x[:-1], x[-1], fixed, root, problem, terms)
        return value, np.append(by_beta, by_theta) / scale

    options = {"maxfun": max_evaluations, "maxiter": max_evaluations, "ftol": 1e-12, "gtol": 1e-9}
    result = minimize(scaled, scale * start, jac=True, method="L-BFGS-B", options=options)
    return result.x[:-1] / scale[:-1], result.x[-1] / scale[-1], result.nfev


def solve_last(cascade: Cascade, problem: Problem, terms: Terms, support) -> np.ndarray:
    """β^K, the others fixed, on a support; the problem has smoothed roots."""
    passes = passing(cascade.beta, cascade.theta, problem, terms.steepness)
    reach = reaching(passes)
    d = reach @ problem.copies
    before = np.sum((cascade.beta[:-1] * d[:-1, None]) ** 2, axis=0)
    at = (problem.omega * reach[-1], float(d[-1]), before, terms.penalties[-1], terms.tradeoff)
    return without_traces(solve_stage(problem, Stage(*at), support)[0], problem)


def optimise_last(cascade: Cascade, problem: Problem, terms: Terms, smoothing: float):
    """Algorithm 1 for k = K: convex, and solved whole; returns as :func:`optimise_stage`."""
    support = np.append(True, cascade.beta[-1, 1:] != 0) | (problem.smoothing > 0)
    beta_k = solve_last(cascade, replace(problem, smoothing=smoothing), terms, support)
    changed = replaced(cascade, len(cascade.theta), beta_k, None)
    value, fallen = objective(cascade, problem, terms), objective(changed, problem, terms)
    return (changed, fallen, 1) if fallen < value else (cascade, value, 1)


def optimise_stage(
    cascade: Cascade, problem: Problem, terms: Terms, k: int, tolerance, max_evaluations
) -> tuple[Cascade, float, int]:
    """Algorithm 1, lines 5-8, for k < K: return the cascade, (8) of it, and the evaluations."""
    value, evaluations = objective(cascade, problem, terms), 0
    if cascade.theta[k] == -math.inf:
        return cascade, value, evaluations
    while evaluations < max_evaluations:
        left = max_evaluations - evaluations
        *stage, spent = minimise_surrogate(cascade, problem, terms, k, min(50, left))
        evaluations += spent
        changed = replaced(cascade, k, *stage)
        fallen = objective(changed, problem, terms)
        gain = value - fallen
        if fallen < value:
            cascade, value = changed, fallen
        if not gain > tolerance * value:
            break
    return cascade, value, evaluations


def without_tiny(cascade: Cascade) -> Cascade:
    """Weights below 1e-5 of their stage's largest set to 0; the constants stay."""
    beta = cascade.beta.copy()
    of_trees = np.abs(beta[:, 1:])
    largest = np.max(of_trees, axis=1, initial=0.0, keepdims=True)
    beta[:, 1:][of_trees < TINY * largest] = 0.0
    return Cascade(beta, cascade.theta)


def optimise(
    cascade: Cascade, problem: Problem, terms: Terms, max_cycles, tolerance, max_evaluations, trace,
    smoothing,
) -> Cascade:  # fmt: skip
    """Algorithm 1 from a given cascade; ``max_evaluations`` of each stage in each cycle.

    ``smoothing`` is μ of the last stage's convex problem, whatever the problem's own.
    """
    value, last = objective(cascade, problem, terms), len(cascade.theta)
    for cycle in range(max_cycles):
        before = value
        for k in range(last + 1):
            if k == last:
                cascade, value, spent = optimise_last(cascade, problem, terms, smoothing)
            else:
                limits = (tolerance, max_evaluations)
                cascade, value, spent = optimise_stage(cascade, problem, terms, k, *limits)
            trace.append(Step("optimise", cycle, k, value, spent))
        if problem.smoothing == 0:
            cascade = without_tiny(cascade)
            value = objective(cascade, problem, terms)
        if not before - value > tolerance * value:
            break
    return cascade


def kept_columns(cascade: Cascade) -> np.ndarray:
    """Trees with weight at any stage, (1 + T,) bool, and the constant."""
    kept = np.any(cascade.beta != 0, axis=0)
    kept[0] = True
    return kept


def restricted(problem: Problem, kept) -> Problem:
    """The problem with some trees only."""
    return replace(
        problem,
        outputs=problem.outputs[:, kept],
        uses=problem.uses[:, kept],
        tree_costs=problem.tree_costs[kept],
    )


def fit(
    outputs,
    y,
    uses,
    *,
    tree_costs,
    feature_costs,
    n_stages: int = 10,
    tradeoff: float = 1e-4,
    tradeoff_decay: float = 1.3,
    penalty: float = 1e-4,
    last_penalty: float | None = None,
    rejection: float = 0.15,
    steepness: float = 50.0,
    positive_weight: float = 3.5,
    threshold_rule: str = "soft",
    max_cycles: int = 10,
    tolerance: float = 1e-4,
    max_evaluations: int = 200,
    support: str = "stage",
    sample_weight=None,
) -> Model:
    """Algorithms 2 and 1. ``outputs`` is (n, T), ``uses`` (d, T); ρ_1 is ``penalty``.

    ``support``, where Algorithm 1 may put weight: "stage", as (11) prints it, where the stage has
    some; "cascade", where any stage has some, with smoothed roots.
    """
    problem = make_problem(
        outputs, y, uses, tree_costs, feature_costs, sample_weight, positive_weight
    )
    last = penalty if last_penalty is None else last_penalty
    terms = Terms(tradeoff, np.array([penalty] * (n_stages - 1) + [last]), steepness)
    trace: list[Step] = []
    initial = initialise(problem, terms, tradeoff_decay, rejection, threshold_rule, trace)
    smoothing = problem.smoothing
    cyclic = replace(problem, smoothing=0.0) if support == "stage" else problem
    before = objective(initial, cyclic, terms)
    limits = (max_cycles, tolerance, max_evaluations)
    kept = kept_columns(initial)
    part = Cascade(initial.beta[:, kept], initial.theta)
    part = optimise(part, restricted(cyclic, kept), terms, *limits, trace, smoothing)
    beta = np.zeros_like(initial.beta)
    beta[:, kept] = part.beta if support == "stage" else without_traces(part.beta, problem)
    cascade = Cascade(beta, part.theta)
    after = objective(cascade, cyclic, terms)
    if not after < before:
        cascade, after = initial, before
    return Model(cascade, initial, after, before, trace)
