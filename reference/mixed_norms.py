"""Trees re-weighted under mixed norms: Cronus's single stage, and a stage if it were the last.

M. Chen, Z. Xu, K. Q. Weinberger, O. Chapelle and D. Kedem: Classifier cascade for minimizing
feature evaluation cost (2012), section 3.1 and the convex part of 3.3.2.

===============  ==========================================================================
symbol           name
===============  ==========================================================================
H, h_t(x_i)      ``outputs`` (n, 1 + T), leaf values before shrinkage; column 0 is the constant 1
y_i, ω_i         ``y`` in {-1, +1}; ``omega``, weight in the loss, Σω = 1
m_i              ``copies``, share of the training rows that row i stands for, Σm = 1
F, c_α, e_t      ``uses`` (d, 1 + T), ``feature_costs``, ``tree_costs``
β, ρ, λ          ``beta``, ``penalty``, ``tradeoff``
Ω, d_k           ``weights``: ω∘p^k; ``remaining``
σ, κ, η, Λ       ``Roots``: their smoothed values; ``curvature``
===============  ==========================================================================

Deviations and choices (5 and on in :mod:`reference.cronus`)

1. Σω = 1; copies of a row enter d_k and the loss, ω⁺ (``positive_weight``) the loss only.
2. The constant is in H, free and unpenalised: e = F = ρ = 0 there.
3. In a convex stage every root is smoothed, √(g + μ²) with μ = 1e-7 (less where trees answer with
   large numbers): in (14) an exact zero would never return, and the minimum be missed. What ends
   within 100 μ of 0 is set to 0. With μ = 0 roots are those of (11), and a zero stays zero.
4. Eq. (6), left: a feature is counted once, δ(Σ_t F_αt δ(β_t)), as in (1). Lemma 1's minimum is
   over z. In (13) ρ and λ are those of stage k; H is n × T.
"""

import math
from dataclasses import dataclass

import numpy as np

SMOOTHING = 1e-7
ZERO = 100.0  # times the smoothing
GAP = 1e-10  # duality gap at which a convex problem is solved, relative to the loss of f = 0


@dataclass(frozen=True)
class Problem:
    """The training set as the equations see it; see the table above. ``smoothing`` is μ."""

    outputs: np.ndarray
    y: np.ndarray
    omega: np.ndarray
    copies: np.ndarray
    uses: np.ndarray
    tree_costs: np.ndarray
    feature_costs: np.ndarray
    smoothing: float


def make_problem(
    outputs, y, uses, tree_costs, feature_costs, sample_weight=None, positive_weight=3.5
) -> Problem:
    """Add the constant, and normalise both kinds of weights; ``outputs`` is (n, T), no constant.

    A feature that no tree uses has no price: its root is of 0, but smoothed.
    """
    n = len(outputs)
    rows = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    omega = rows * np.where(np.asarray(y) > 0, positive_weight, 1.0)
    scale = np.sqrt(np.max(rows @ outputs**2 / rows.sum(), initial=0.0))
    return Problem(
        np.column_stack([np.ones(n), outputs]),
        np.asarray(y, dtype=np.float64),
        omega / omega.sum(),
        rows / rows.sum(),
        np.column_stack([np.zeros(len(uses)), uses]).astype(np.float64),
        np.concatenate([[0.0], tree_costs]),
        np.where(np.any(uses, axis=1), np.asarray(feature_costs, dtype=np.float64), 0.0),
        SMOOTHING * min(1.0, 1.0 / scale) if scale > 0 else SMOOTHING,
    )


# --- 3 and 3.1: a single stage --------------------------------------------------------------


def cost(beta, problem: Problem) -> float:  # Eq. (1)
    """c(f) = eᵀδ(β) + cᵀδ(Fδ(β))."""
    used = beta != 0
    return math.fsum(problem.tree_costs[used]) + math.fsum(
        problem.feature_costs[problem.uses @ used > 0]
    )


def squared_loss(beta, problem: Problem) -> float:
    """ℓ = ½ Σ_i ω_i (f(x_i) - y_i)², f of Eq. (3)."""
    return 0.5 * float(problem.omega @ (problem.outputs @ beta - problem.y) ** 2)


def loss(beta, problem: Problem, penalty, tradeoff) -> float:  # Eqs. (2) and (4)
    """ℓ + ρ‖β‖₁ + λ c(f); the constant is not penalised."""
    absolute = float(np.sum(np.abs(beta[1:])))
    return squared_loss(beta, problem) + penalty * absolute + tradeoff * cost(beta, problem)


def relaxed_loss(beta, problem: Problem, penalty, tradeoff, smoothing=0.0) -> float:
    """ℓ + ρ‖β‖₁ + λ [Σ e_t|β_t| + Σ c_α √(Σ_t (F_αt β_t)²)]."""  # Eqs. (5)-(7)
    absolute = np.sqrt(beta**2 + smoothing**2)
    mixed = np.sqrt(problem.uses @ beta**2 + smoothing**2)
    costs = problem.tree_costs @ absolute + problem.feature_costs @ mixed
    return squared_loss(beta, problem) + penalty * absolute[1:].sum() + tradeoff * costs


@dataclass(frozen=True)
class Roots:
    """Smoothed values of the left-hand sides of (11): σ (1 + T,), κ (1 + T,), η (d,)."""

    sigma: np.ndarray
    kappa: np.ndarray
    eta: np.ndarray


def roots(beta_k, paid, problem: Problem) -> Roots:  # Eq. (11), left
    """σ*, κ*, η* for a stage's weights, and ``paid`` = Σ_k (β_t^k d_k)² of all stages."""
    square = problem.smoothing**2
    return Roots(
        np.sqrt(beta_k**2 + square),
        np.sqrt(paid + square),
        np.sqrt(problem.uses @ paid + square),
    )


# --- 3.3.2: a convex stage, and Algorithm 2 ---------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """A stage as if it were the last: Ω, d_k, ``before`` = Σ_{j<k} (β_t^j d_j)², ρ_k, λ_k."""

    weights: np.ndarray
    remaining: float
    before: np.ndarray
    penalty: float
    tradeoff: float


def inverse(root) -> np.ndarray:
    """1/x; 0 where x is 0, as only weights of 0 are multiplied with that."""
    return np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0)


def prices_of_weights(root: Roots, problem: Problem) -> np.ndarray:
    """a_t = e_t/κ_t + Σ_α c_α F_αt/η_α."""
    of_features = (problem.feature_costs * inverse(root.eta)) @ problem.uses
    return problem.tree_costs * inverse(root.kappa) + of_features


def curvature(root: Roots, problem: Problem, stage: Stage) -> np.ndarray:  # Eq. (13)
    """Λ_tt = ρ/σ_t + λ d_k² a_t, 0 for the constant."""
    penalty = stage.penalty * inverse(root.sigma)
    penalty[0] = 0.0
    return penalty + stage.tradeoff * stage.remaining**2 * prices_of_weights(root, problem)


def closed_form(gram, moments, Lambda) -> np.ndarray:  # Eq. (14)
    """(HᵀΩH + Λ)⁻¹ HᵀΩy, of least norm where that is singular; scaled to a unit diagonal."""
    diagonal = np.diag(gram) + Lambda
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    matrix = (gram + np.diag(Lambda)) * scale * scale[:, None]
    return scale * np.linalg.lstsq(matrix, scale * moments, rcond=1e-13)[0]


def paid_with(beta_k, stage: Stage) -> np.ndarray:
    """Σ_j (β_t^j d_j)² with this stage's weights."""
    return stage.before + (stage.remaining * beta_k) ** 2


def stage_loss(beta_k, problem: Problem, stage: Stage) -> float:
    """(8) of a cascade that ends with this stage, without the losses of the stages before."""
    root = roots(beta_k, paid_with(beta_k, stage), problem)
    costs = problem.tree_costs @ root.kappa + problem.feature_costs @ root.eta
    squares = float(stage.weights @ (problem.y - problem.outputs @ beta_k) ** 2)
    return 0.5 * squares + stage.penalty * root.sigma[1:].sum() + stage.tradeoff * float(costs)


def stage_bound(beta_k, problem: Problem, stage: Stage, support=True) -> float:
    """A lower bound of ``stage_loss``, tight at its minimum: the dual at the scaled residuals.

    A weight outside the support is 0, and puts no condition on the residuals.

    √(s² + ‖x‖²) is the maximum of u₀s + uᵀx over ‖(u₀, u)‖ <= 1, so that residuals ν with
    Hᵀν = Σ of all u, each within its ball, bound the loss from below. Hᵀν is shared out among the
    roots as Λ is; a common factor brings every u into its ball. The constant is taken at its best.
    """
    root, square = roots(beta_k, paid_with(beta_k, stage), problem), problem.smoothing**2
    residuals = problem.y - problem.outputs @ beta_k
    total = float(stage.weights.sum())
    residuals -= float(stage.weights @ residuals) / total if total > 0 else 0.0
    Lambda = curvature(root, problem, stage)
    gradient = np.where(support, problem.outputs.T @ (stage.weights * residuals), 0.0)
    size = np.sqrt(problem.outputs.T**2 @ stage.weights * (stage.weights @ problem.y**2))
    if np.any(np.abs(gradient) > np.where(Lambda > 0, math.inf, 1e-10 * size)):
        return -math.inf  # a free weight is not at its best
    point = np.where(Lambda > 0, gradient / np.where(Lambda > 0, Lambda, 1.0), 0.0)
    moved = (stage.remaining * point) ** 2
    sizes = [  # price, ‖u‖, s of each root
        (np.full(len(point) - 1, stage.penalty), np.abs(point / root.sigma)[1:], 0.0),
        (stage.tradeoff * problem.tree_costs, np.sqrt(moved) / root.kappa, stage.before),
        (
            stage.tradeoff * problem.feature_costs,
            np.sqrt(problem.uses @ moved) / root.eta,
            problem.uses @ stage.before,
        ),
    ]
    outside = max([1.0, *(float(np.max(size[p > 0], initial=0.0)) for p, size, _ in sizes)])
    bound = float(stage.weights @ (residuals * problem.y)) / outside
    bound -= 0.5 * float(stage.weights @ residuals**2) / outside**2
    for price, size, before in sizes:
        u0 = np.sqrt(np.maximum(0.0, 1.0 - np.minimum(size / outside, 1.0) ** 2))
        bound += float(np.sum(price * np.sqrt(before + square) * u0))
    return bound


def solve_stage(
    problem: Problem, stage: Stage, support=None, max_iterations=20_000
) -> tuple[np.ndarray, int]:
    """Minimise ``stage_loss`` by (11) and (14) in turn; return β^k and the iterations.

    Only weights in ``support`` (1 + T,) bool, if there is one, may differ from 0.
    """
    kept = np.ones(problem.outputs.shape[1], dtype=bool) if support is None else support
    H, weights = problem.outputs[:, kept], stage.weights
    gram, moments = (H.T * weights) @ H, H.T @ (weights * problem.y)
    beta_k = np.where(kept, 0.1, 0.0)
    scale, iteration = 0.5 * float(weights @ problem.y**2), 0
    for iteration in range(1, max_iterations + 1):  # noqa: B007, returned
        root = roots(beta_k, paid_with(beta_k, stage), problem)
        beta_k[kept] = closed_form(gram, moments, curvature(root, problem, stage)[kept])
        value = stage_loss(beta_k, problem, stage)
        if value - stage_bound(beta_k, problem, stage, kept) <= GAP * scale:
            break
    return beta_k, iteration


def single_stage(problem: Problem, penalty, tradeoff) -> np.ndarray:
    """Minimise (7) with smoothed roots."""
    stage = Stage(problem.omega, 1.0, np.zeros(problem.outputs.shape[1]), penalty, tradeoff)
    return without_traces(solve_stage(problem, stage)[0], problem)


def without_traces(beta, problem: Problem) -> np.ndarray:
    """Weights that the smoothing left near 0 set to 0; the constants stay."""
    kept = np.abs(beta) > ZERO * problem.smoothing
    kept[..., 0] = True
    return np.where(kept, beta, 0.0)
