"""Cronus: a cascade of re-weighted, re-ordered trees that pay for features stage by stage.

M. Chen, Z. Xu, K. Q. Weinberger, O. Chapelle and D. Kedem: Classifier cascade for minimizing
feature evaluation cost. Proceedings of the 15th International Conference on Artificial
Intelligence and Statistics (2012). Sections 3.2 to 3.4; section 3.1, and a stage whose problem is
convex, are in :mod:`reference.mixed_norms`, hard exits and the paper's bill in
:mod:`reference.cascades`.

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
9. Step 7 of Algorithm 1 is L-BFGS in coordinates scaled by diag(HᵀΩH) + Λ, Ω = ω∘p^k; the last
   stage, which is quadratic, is solved by (14). What does not lower (8) is not accepted.
10. Algorithm 1 works on the trees that the initialisation gave weight to.
11. The end is rounded (deviation 3) once; should that raise (8) above the initialisation's, the
    initialisation is returned.
12. Here linear algebra decides, so the other twin is not equal bit for bit. Convex stages end at a
    gap, and weights of the size of μ are rounded to 0 or not: (8) of the initialisation agrees to
    1e-5 of the loss of a score of 0 (½). Trees that say the same may share a weight in any way.
13. Where L-BFGS ends depends on rounding, as (8) is not convex: its end agrees to 1 % and 1e-4 of
    the loss of a score of 0. Equal weights leave, score and pay equally, bit for bit.
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
    Roots,
    Stage,
    closed_form,
    curvature,
    make_problem,
    paid_with,
    prices_of_weights,
    roots,
    solve_stage,
    stage_loss,
    without_traces,
)


@dataclass(frozen=True)
class Terms:
    """What a cascade of K stages is charged: λ, ρ^k of each stage, γ."""

    tradeoff: float
    penalties: np.ndarray
    steepness: float


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


# --- 3.2: the cascade -----------------------------------------------------------------------


def passing(beta, theta, problem: Problem, steepness) -> np.ndarray:
    """I (K, n) = σ_γ(h(x_i)ᵀβ^k - θ^k); 0 for the last stage, by which all exit."""
    soft = [
        expit(steepness * (problem.outputs @ b - t)) for b, t in zip(beta[:-1], theta, strict=True)
    ]
    return np.array([*soft, np.zeros(len(problem.y))])


def reaching(passes) -> np.ndarray:
    """p_i^k = Π_{j<k} I_i^j, (K, n)."""
    return np.cumprod(np.vstack([np.ones(passes.shape[1]), passes[:-1]]), axis=0)


def exiting(passes) -> np.ndarray:
    """q_i^k = p_i^k (1 - I_i^k), (K, n)."""
    return reaching(passes) * (1.0 - passes)


def remaining(passes, copies) -> np.ndarray:
    """d_k = Σ_i m_i p_i^k, (K,)."""
    return reaching(passes) @ copies


def objective(cascade: Cascade, problem: Problem, terms: Terms) -> float:  # Eq. (8)
    """Loss, regularisation, tree cost and feature cost of a cascade, with smoothed roots."""
    beta, theta = cascade.beta, cascade.theta
    passes = passing(beta, theta, problem, terms.steepness)
    residuals = problem.y - beta @ problem.outputs.T
    expected = 0.5 * float(np.sum(exiting(passes) * residuals**2 @ problem.omega))
    paid = np.sum((beta * remaining(passes, problem.copies)[:, None]) ** 2, axis=0)
    absolute = np.sqrt(beta[:, 1:] ** 2 + problem.smoothing**2)
    root = roots(beta[0], paid, problem)
    costs = problem.tree_costs @ root.kappa + problem.feature_costs @ root.eta
    return expected + float(terms.penalties @ absolute.sum(axis=1)) + terms.tradeoff * float(costs)


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


@dataclass(frozen=True)
class Fixed:
    """What stays as it is while stage k is optimised.

    ``reach`` p^k; ``tail`` p̃^j of the stages j > k, without I^k, (J, n); ``later_loss`` A_i;
    ``later_beta`` β^j (J, 1 + T); ``early_loss`` of the stages j < k; and all else of Eq. (11).
    """

    k: int
    reach: np.ndarray
    tail: np.ndarray
    later_loss: np.ndarray
    later_beta: np.ndarray


def fix_others(cascade: Cascade, problem: Problem, terms: Terms, k: int) -> Fixed:
    """Everything that does not depend on (β^k, θ^k)."""
    passes = passing(cascade.beta, cascade.theta, problem, terms.steepness)
    reach = reaching(passes)[k]
    passes[k] = 1.0
    tail = reaching(passes)[k + 1 :]
    residuals = problem.y - cascade.beta[k + 1 :] @ problem.outputs.T
    later_loss = np.sum(tail * (1.0 - passes[k + 1 :]) * residuals**2, axis=0)  # Σ_j q̃ r²
    return Fixed(k, reach, tail, later_loss, cascade.beta[k + 1 :])


def surrogate(beta_k, theta_k, fixed: Fixed, root: Roots, problem: Problem, terms: Terms):
    """(9), and (11) with σ, κ, η fixed, without what does not depend on (β^k, θ^k).

    Returns
    -------
    value, derivatives by β^k (1 + T,) and by θ^k

    With r = y - Hβ^k, B_j = Σ_t a_t (β_t^j)² and A the loss of the later stages,
    ∂/∂I_i = ½ω_i [A_i - p_i^k r_i²] + λ m_i Σ_{j>k} d_j B_j p̃_i^j.
    """
    omega, m, k = problem.omega, problem.copies, fixed.k
    is_last = k == len(terms.penalties) - 1
    scores = problem.outputs @ beta_k
    passes = np.zeros(len(omega)) if is_last else expit(terms.steepness * (scores - theta_k))
    r, a = problem.y - scores, prices_of_weights(root, problem)
    d_k, d_later = float(m @ fixed.reach), fixed.tail @ (m * passes)
    B = fixed.later_beta**2 @ a
    stage = Stage(omega * fixed.reach, d_k, 0.0, terms.penalties[k], terms.tradeoff)
    Lambda = curvature(root, problem, stage)

    expected = fixed.reach * (1.0 - passes) * r**2 + passes * fixed.later_loss  # Eq. (9)
    value = 0.5 * float(omega @ expected) + 0.5 * float(Lambda @ beta_k**2)
    value += 0.5 * terms.tradeoff * float(d_later**2 @ B)

    by_I = 0.5 * omega * (fixed.later_loss - fixed.reach * r**2)
    by_I += terms.tradeoff * m * ((d_later * B) @ fixed.tail)
    v = by_I * terms.steepness * passes * (1.0 - passes)
    by_score = v - omega * fixed.reach * (1.0 - passes) * r
    return value, problem.outputs.T @ by_score + Lambda * beta_k, -float(v.sum())


def current_roots(cascade: Cascade, problem: Problem, terms: Terms, k: int) -> Roots:
    """σ*, κ*, η* of stage k in a cascade."""
    d = remaining(passing(cascade.beta, cascade.theta, problem, terms.steepness), problem.copies)
    return roots(cascade.beta[k], np.sum((cascade.beta * d[:, None]) ** 2, axis=0), problem)


def replaced(cascade: Cascade, k: int, beta_k, theta_k) -> Cascade:
    """The cascade with another stage k."""
    beta, theta = cascade.beta.copy(), cascade.theta.copy()
    beta[k] = beta_k
    if k < len(theta):
        theta[k] = theta_k
    return Cascade(beta, theta)


def scales(fixed: Fixed, root: Roots, beta_k, theta_k, problem: Problem, terms: Terms):
    """√(diag(HᵀΩH) + Λ), Ω = ω∘p^k, and a bound of the curvature by θ."""
    stage = Stage(
        problem.omega * fixed.reach,
        float(problem.copies @ fixed.reach),
        0.0,
        terms.penalties[fixed.k],
        terms.tradeoff,
    )
    diagonal = stage.weights @ problem.outputs**2 + curvature(root, problem, stage)
    r = problem.y - problem.outputs @ beta_k
    size = 0.5 * float(problem.omega @ (fixed.later_loss + fixed.reach * r**2))
    by_theta = 0.1 * terms.steepness**2 * size  # |σ_γ''| < 0.1 γ²
    every = np.append(diagonal, by_theta)
    return np.sqrt(np.where(every > 0, every, 1.0))


def minimise_surrogate(cascade: Cascade, problem: Problem, terms: Terms, k: int, max_evaluations):
    """Algorithm 1, line 7; return the stage's weights, threshold and the evaluations."""
    root, fixed = current_roots(cascade, problem, terms, k), fix_others(cascade, problem, terms, k)
    if k == len(cascade.theta):
        H, weights = problem.outputs, problem.omega * fixed.reach
        d_k = float(problem.copies @ fixed.reach)
        stage = Stage(weights, d_k, 0.0, terms.penalties[k], terms.tradeoff)
        Lambda = curvature(root, problem, stage)
        return closed_form((H.T * weights) @ H, H.T @ (weights * problem.y), Lambda), None, 1
    start = np.append(cascade.beta[k], cascade.theta[k])
    scale = scales(fixed, root, start[:-1], start[-1], problem, terms)

    def scaled(z):
        x = z / scale
        value, by_beta, by_theta = surrogate(x[:-1], x[-1], fixed, root, problem, terms)
        return value, np.append(by_beta, by_theta) / scale

    options = {"maxfun": max_evaluations, "maxiter": max_evaluations, "ftol": 1e-12, "gtol": 1e-9}
    result = minimize(scaled, scale * start, jac=True, method="L-BFGS-B", options=options)
    return result.x[:-1] / scale[:-1], result.x[-1] / scale[-1], result.nfev


def optimise_stage(
    cascade: Cascade, problem: Problem, terms: Terms, k: int, tolerance, max_evaluations
) -> tuple[Cascade, float, int]:
    """Algorithm 1, lines 5-8: return the cascade, (8) of it, and the evaluations."""
    value, evaluations = objective(cascade, problem, terms), 0
    if k < len(cascade.theta) and cascade.theta[k] == -math.inf:
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


def optimise(
    cascade: Cascade, problem: Problem, terms: Terms, max_cycles, tolerance, max_evaluations, trace
) -> Cascade:
    """Algorithm 1 from a given cascade; ``max_evaluations`` of each stage in each cycle."""
    value = objective(cascade, problem, terms)
    for cycle in range(max_cycles):
        before = value
        for k in range(len(terms.penalties)):
            cascade, value, spent = optimise_stage(
                cascade, problem, terms, k, tolerance, max_evaluations
            )
            trace.append(Step("optimise", cycle, k, value, spent))
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
    sample_weight=None,
) -> Model:
    """Algorithms 2 and 1. ``outputs`` is (n, T), ``uses`` (d, T); ρ_1 is ``penalty``."""
    problem = make_problem(
        outputs, y, uses, tree_costs, feature_costs, sample_weight, positive_weight
    )
    last = penalty if last_penalty is None else last_penalty
    terms = Terms(tradeoff, np.array([penalty] * (n_stages - 1) + [last]), steepness)
    trace: list[Step] = []
    initial = initialise(problem, terms, tradeoff_decay, rejection, threshold_rule, trace)
    before = objective(initial, problem, terms)
    limits = (max_cycles, tolerance, max_evaluations)
    kept = kept_columns(initial)
    part = Cascade(initial.beta[:, kept], initial.theta)
    part = optimise(part, restricted(problem, kept), terms, *limits, trace)
    beta = np.zeros_like(initial.beta)
    beta[:, kept] = without_traces(part.beta, problem)
    cascade = Cascade(beta, part.theta)
    after = objective(cascade, problem, terms)
    if not after < before:
        cascade, after = initial, before
    return Model(cascade, initial, after, before, trace)
