"""The soft cascade: stages with trees of their own, trained jointly for likelihood and cost.

V. C. Raykar, B. Krishnapuram and S. Yu: Designing efficient cascaded classifiers: tradeoff between
accuracy and cost. Proceedings of the 16th ACM SIGKDD International Conference on Knowledge
Discovery and Data Mining (2010), pages 853-860. **The original was not at hand**: the formulas are
reconstructed from what M. Chen et al. (Classifier cascade for minimizing feature evaluation cost,
2012, section 4) say of it, and from memory.

===============  ==========================================================================
symbol           name
===============  ==========================================================================
f_k, s_ik        ``scores`` (K, n), Σ over the trees of pool k and a constant; σ(f_k), ``passes``
w                ``weights`` (K + T,): K constants, then one weight for each tree
ω_i, m_i         ``omega``, Σω = 1; ``copies``, Σm = 1
C_k              ``prices`` (K,) of what a stage adds, see ``cascades.pool_prices``
λ, τ             ``tradeoff``, ``ridge``
===============  ==========================================================================

Minimised is

    -Σ_i ω_i [y_i log Π_k s_ik + (1 - y_i) log(1 - Π_k s_ik)] + ½τ Σ_t w_t²
        + λ Σ_i m_i Σ_k C_k Π_{j<k} s_ij.

Deviations and choices

1. The loss is the likelihood of a product, not "the maximum loss across all stages" as Chen et al.
   describe it.
2. Constants are not penalised.
3. A stage costs all trees and features of its pool, whatever their weights: nothing is sparse.
4. A row is rejected at a stage if s_ik is below ``reject_below``.
5. Not convex; L-BFGS starts from 0. Stages that may use the same trees have the same derivatives
   there, and stay alike: a saddle, which only rounding leaves. So if two stages say the same at the
   end, it starts again from there with the constants moved apart, and keeps what is lower.
6. Where linear algebra decides, the other twin is not equal bit for bit: the objective agrees to
   1e-6 on small problems, and to 1 % where many evaluations let rounding grow.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from reference.cascades import Cascade, by_stage, pool_prices
from reference.mixed_norms import make_problem

ALIKE = 1e-3  # of the largest score: two stages that differ by less say the same
APART = 0.1  # what the constants of the second start are moved by, from stage to stage
LOWER = 1e-6  # relatively: a second end that is not lower by so much is not taken


@dataclass(frozen=True)
class Model:
    """A fitted cascade, its objective, and the evaluations that it took."""

    cascade: Cascade
    objective: float
    evaluations: int


def stage_scores(weights, outputs, pools, n_stages: int) -> np.ndarray:
    """f_k (K, n); ``outputs`` (n, 1 + T)."""
    return by_stage(weights, pools, n_stages) @ outputs.T


def log_product(scores) -> np.ndarray:
    """L_i = log Π_k s_ik = -Σ_k log(1 + exp(-f_k)); below 0."""
    return np.minimum(-np.sum(np.logaddexp(0.0, -scores), axis=0), -1e-300)


def reaching(passes) -> np.ndarray:
    """Π_{j<k} s_ij, (K, n)."""
    return np.cumprod(np.vstack([np.ones(passes.shape[1]), passes[:-1]]), axis=0)


def objective(weights, problem, pools, prices, tradeoff: float, ridge: float):
    """Value, and derivatives by the weights.

    ∂/∂f_k = (1 - s_k) {-ω [y - (1 - y) Π/(1 - Π)] + λ m Σ_{l>k} C_l Π_{j<l} s_j}.
    """
    K, positive = len(prices), problem.y > 0
    scores = stage_scores(weights, problem.outputs, pools, K)
    passes, L = expit(scores), log_product(scores)
    reach = reaching(passes)
    likelihood = np.where(positive, L, np.log(-np.expm1(L)))
    value = -float(problem.omega @ likelihood) + 0.5 * ridge * float(np.sum(weights[K:] ** 2))
    value += tradeoff * float(prices @ (reach @ problem.copies))

    with np.errstate(over="ignore"):  # a product that is 0
        by_product = np.where(positive, 1.0, -1.0 / np.expm1(-L))
    to_come = np.cumsum((prices[:, None] * reach)[::-1], axis=0)[::-1] - prices[:, None] * reach
    by_score = (1.0 - passes) * (-problem.omega * by_product + tradeoff * problem.copies * to_come)
    by_weight = by_score @ problem.outputs
    of_trees = by_weight[pools, 1 + np.arange(len(pools))] + ridge * weights[K:]
    return value, np.concatenate([by_weight[:, 0], of_trees])


def are_alike(scores) -> bool:
    """Whether two stages say the same of all rows, nearly."""
    near = ALIKE * (1.0 + np.max(np.abs(scores)))
    pairs = itertools.combinations(scores, 2)
    return any(np.max(np.abs(one - other)) <= near for one, other in pairs)


def minimised(problem, pools, prices, tradeoff, ridge, max_evaluations: int):
    """(weights, value, evaluations) of the lower of at most two ends; see deviation 5."""
    start, K = np.zeros(len(prices) + len(pools)), len(prices)

    def descend(start, most):
        options = {"maxfun": most, "maxiter": most, "ftol": 1e-12, "gtol": 1e-8}
        terms = (problem, pools, prices, tradeoff, ridge)
        return minimize(objective, start, terms, jac=True, method="L-BFGS-B", options=options)

    end = descend(start, max_evaluations)
    left = max_evaluations - end.nfev
    if left > 0 and are_alike(stage_scores(end.x, problem.outputs, pools, K)):
        apart = end.x + np.concatenate([APART * np.arange(K), np.zeros(len(pools))])
        again = descend(apart, left)
        lower = again if again.fun < end.fun - LOWER * abs(end.fun) else end
        return lower.x, lower.fun, end.nfev + again.nfev
    return end.x, end.fun, end.nfev


def fit(
    outputs,
    y,
    uses,
    pools,
    *,
    n_stages: int,
    tree_costs,
    feature_costs,
    tradeoff: float = 1e-4,
    ridge: float = 1e-3,
    reject_below: float = 0.5,
    positive_weight: float = 3.5,
    max_evaluations: int = 2000,
    sample_weight=None,
) -> Model:
    """Minimise jointly over all stages; ``outputs`` (n, T), ``pools`` (T,) stages from 0."""
    problem = make_problem(
        outputs, y, uses, tree_costs, feature_costs, sample_weight, positive_weight
    )
    prices = pool_prices(pools, n_stages, uses, tree_costs, np.asarray(feature_costs))
    weights, value, spent = minimised(problem, pools, prices, tradeoff, ridge, max_evaluations)
    theta = np.full(n_stages - 1, math.log(reject_below) - math.log1p(-reject_below))
    return Model(Cascade(by_stage(weights, pools, n_stages), theta), value, spent)
