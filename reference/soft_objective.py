"""Cronus's objective (8), its relaxation undone, and what one stage's optimisation minimises.

M. Chen, Z. Xu, K. Q. Weinberger, O. Chapelle and D. Kedem: Classifier cascade for minimizing
feature evaluation cost (2012), sections 3.2 and 3.3.1. Symbols and deviations are in
:mod:`reference.cronus`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from reference.cascades import Cascade, stage_bills
from reference.mixed_norms import Problem, Roots, Stage, curvature, prices_of_weights, roots


@dataclass(frozen=True)
class Terms:
    """What a cascade of K stages is charged: λ, ρ^k of each stage, γ."""

    tradeoff: float
    penalties: np.ndarray
    steepness: float


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
    """Loss, regularisation, tree cost and feature cost of a cascade, with the problem's μ."""
    beta, theta = cascade.beta, cascade.theta
    passes = passing(beta, theta, problem, terms.steepness)
    residuals = problem.y - beta @ problem.outputs.T
    expected = 0.5 * float(np.sum(exiting(passes) * residuals**2 @ problem.omega))
    paid = np.sum((beta * remaining(passes, problem.copies)[:, None]) ** 2, axis=0)
    absolute = np.sqrt(beta[:, 1:] ** 2 + problem.smoothing**2)
    root = roots(beta[0], paid, problem)
    costs = problem.tree_costs @ root.kappa + problem.feature_costs @ root.eta
    return expected + float(terms.penalties @ absolute.sum(axis=1)) + terms.tradeoff * float(costs)


def unrelaxed_objective(cascade: Cascade, problem: Problem, terms: Terms) -> float:
    """(8) with the costs of (1): each tree and feature pays d_k where it is first used."""
    beta = cascade.beta
    passes = passing(beta, cascade.theta, problem, terms.steepness)
    residuals = problem.y - beta @ problem.outputs.T
    expected = 0.5 * float(np.sum(exiting(passes) * residuals**2 @ problem.omega))
    prices = (problem.uses[:, 1:], problem.tree_costs[1:], problem.feature_costs)
    bought = np.diff(stage_bills(cascade, *prices), prepend=0.0)
    costs = float(bought @ remaining(passes, problem.copies))
    absolute = np.abs(beta[:, 1:]).sum(axis=1)
    return expected + float(terms.penalties @ absolute) + terms.tradeoff * costs


# --- 3.3.1: one stage, the others fixed -----------------------------------------------------------


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
    """(9), and (11) with σ, κ, η fixed, without what does not depend on (β^k, θ^k)."""
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
    by_beta = problem.outputs.T @ by_score + Lambda * beta_k
    by_beta[1:][root.sigma[1:] == 0] = 0.0
    return value, by_beta, -float(v.sum())


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
