"""The Greedy Miser: stage-wise regression whose trees pay for the features they use first.

Z. Xu, K. Q. Weinberger and O. Chapelle: The Greedy Miser: learning under test-time budgets.
Proceedings of the 29th International Conference on Machine Learning (2012).

=================  ========================================================================
symbol             name
=================  ========================================================================
H, H_β(x)          ``F`` in training, ``scores``: the additive predictor βᵀ h(x)
h_t(x), T          ``outputs[:, t]``; all possible trees (a few of them in the tests)
β                  ``beta``, weights (T,) of the trees
m, t               ``n_estimators``; the round (K classes: one tree each per round)
η                  ``learning_rate`` of ``fit``, ``step`` in the equations
b                  ``max_depth``, splits between the root and a leaf
r_i                ``residuals``: minus the derivative of the loss by the score of row i
c_α                ``feature_costs``
F_αt               ``uses`` (d, T): whether tree t splits on feature α
φ_α                ``unpaid`` (1 until feature α is paid for); in training not ``State.free``
e                  ``tree_cost``, evaluating one tree
B                  ``budget``;  B_t, B_f are its parts for trees and features
λ of (9), (16)     ``multiplier``
λ of (5), λ'       ``tradeoff`` = multiplier / step, Eq. (19)
c(β)               ``cost_of_weights``; of a fitted model ``forest_cost``
=================  ========================================================================

What estimators have beyond the paper is behind the argument ``beyond`` (:mod:`reference.beyond`);
rankings come in as a ``loss``.

Scale. The least impurity (5) of a leaf with n rows and sum R of their r is ½ (Σ r² - R²/n), at the
value R/n. A split therefore lowers (5) by ½ [R_l²/n_l + R_r²/n_r - R²/n] - λ φ_α c_α, half the
bracket of ``trees.gain`` with h = 1. (The authors' program has no ½: its λ is twice this one.)

Deviations from the paper

1. The residuals leave out the 1/n of Eq. (2): for squared loss r_i = y_i - H(x_i). So λ is on the
   scale of the loss's *sum* over rows, as the impurity (5), which has no 1/n, suggests.
2. Charging. With ``charging="first_use"`` a feature is charged once, where it is first used, and is
   free from then on, in the same tree (F_αt of Eq. (5) is 0 or 1) and in the trees after it; a
   node is split only if (5) falls. With ``"authors"``, as in the authors' program, a feature
   becomes free after the *round* in which it is bought: until then each node that uses it is
   charged anew, in all K trees; and a node is always split as long as there is a candidate.
3. ``budget`` imposes (4) itself beside λ: a split that would raise c(β), Eq. (3), above B is no
   candidate, and a tree for whose e nothing is left is not grown. Prices and B are the decimal
   numbers that they are written as (:mod:`reference.forest_costs` has the rule).
4. A tree without a split is a constant that no one need evaluate: it costs no e. A round without
   any split ends the training.
5. Trees are not normalised, as (19) assumes: a leaf's value is the mean of its r. Without costs
   both ways choose the same stump; with costs they may differ.
6. Depth 4 makes 16 leaves; the authors' program with depth 4 makes 8 (``max_depth=3``).
7. Two classes are one tree on the log-odds. The paper's two trees would mirror each other, so
   that the log-odds there move twice as far for the same η.
8. Nodes are visited breadth-first, once: what becomes free later does not reopen a node.
9. Features are binned (at most ``max_bins`` bins); with no more distinct values than bins every
   midpoint is a threshold. Both children need ``min_samples_leaf`` rows.
10. Residuals are rounded to a grid (relative to the largest: 2**-31) to make sums exact; a gain
    below 2**-40 of R²/n, or within the rounding of ``losses.rounding``, never splits.
11. A group of features may have a price of its own (``group_costs``), paid once by the model,
    beside the prices of its features: section 6, Scene Recognition. Without ``group_costs`` the
    features of a group share one price.
12. A constant target is predicted as it is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from reference import grid, losses, trees
from reference.beyond import NOTHING, Beyond
from reference.boosting import Model, boost
from reference.forest_costs import (
    Holdings,
    Prices,
    Steps,
    bill,
    copy_of,
    held_by,
    hold,
    in_steps,
    is_within,
    missing_price,
)

# --- 3 Notation and setup ------------------------------------------------------------------


def predictor(outputs, beta) -> np.ndarray:
    """H_β(x_i) = βᵀ h(x_i) of every row."""
    return outputs @ beta


def loss_of_weights(loss: Callable, outputs, beta) -> float:  # Eq. (1)
    """ℓ(β), to be minimised over β >= 0: a ``loss`` of the scores H_β."""
    return loss(predictor(outputs, beta))


def squared_loss(scores, y) -> float:  # Eq. (2)
    """ℓ_sq = 1/(2n) Σ_i (H_β(x_i) - y_i)²."""
    return math.fsum((scores - y) ** 2) / (2 * len(y))


# --- 4 Method ------------------------------------------------------------------------------


def cost_of_weights(beta, uses, feature_costs, tree_cost: float) -> float:  # Eq. (3)
    """c(β) = e ‖β‖₀ + Σ_α c_α ‖Σ_t F_αt β_t‖₀."""
    feature_is_used = uses @ beta != 0
    return tree_cost * np.count_nonzero(beta) + math.fsum(feature_costs * feature_is_used)


def constrained_loss(loss: float, cost: float, budget: float) -> float:  # Eq. (4)
    """ℓ(β) where c(β) <= B, infinite elsewhere."""
    return loss if cost <= budget else math.inf


def charge(unpaid, feature_costs, uses) -> np.ndarray:
    """Σ_α φ_α c_α F_αt of every tree, the last sum of Eqs. (5) and (16)-(19)."""
    return np.array([math.fsum(unpaid * feature_costs * uses_of_tree) for uses_of_tree in uses.T])


def impurity(
    residuals, outputs_of_tree, charge_of_tree: float, tradeoff: float
) -> float:  # Eq. (5)
    """g(h_t) = ½ Σ_i (r_i - h_t(x_i))² + λ Σ_α φ_α c_α F_αt."""
    return 0.5 * math.fsum((residuals - outputs_of_tree) ** 2) + tradeoff * charge_of_tree


def impurity_reduction(raw_gain: float, charge_of_split: float, tradeoff: float) -> float:
    """How far a split lowers Eq. (5): ½ [R_l²/n_l + R_r²/n_r - R²/n] - λ φ_α c_α.

    ``raw_gain`` is the bracket, from ``trees.gain`` with h = 1.
    """
    return 0.5 * raw_gain - tradeoff * charge_of_split


# --- 5.1 Relaxation ------------------------------------------------------------------------


def relaxed_tree_cost(beta, tree_cost: float, step: float) -> float:  # Eq. (6)
    """e/η ‖β‖₁, which is e ‖β‖₀ if every β_t is 0 or η."""
    return tree_cost / step * math.fsum(np.abs(beta))


def capped(x: float, step: float) -> float:  # Eq. (7)
    """q(x) = |x/η| for |x| in [0, η), 1 from there on."""
    return abs(x / step) if abs(x) < step else 1.0


def relaxed_feature_cost(beta, uses, feature_costs, step: float) -> float:  # Eq. (8)
    """Σ_α c_α q(Σ_t F_αt β_t)."""
    return math.fsum(
        cost * capped(use, step) for cost, use in zip(feature_costs, uses @ beta, strict=True)
    )


def relaxed_objective(
    loss: float, beta, feature_cost: float, multiplier: float, step: float, tree_budget: float
) -> float:  # Eq. (9)
    """ℓ(β) + λ Σ_α c_α q(Σ_t F_αt β_t) where ‖β‖₁/η <= B_t/e (``tree_budget``), else infinite."""
    if math.fsum(np.abs(beta)) / step > tree_budget:
        return math.inf
    return loss + multiplier * feature_cost


# --- 5.2 Optimization ----------------------------------------------------------------------


def step_objective(objective: Callable, beta, change, step: float) -> float:  # Eq. (10)
    """L(β + δ) where δ >= 0 and ‖δ‖₁ <= η, else infinite; ``objective`` is L."""
    if np.any(change < 0) or math.fsum(change) > step:
        return math.inf
    return objective(beta + change)


def taylor(value: float, gradient, change) -> float:  # Eq. (11)
    """L(β + δ) = L(β) + <∇L(β), δ> + O(δ²), without the last term."""
    return value + linear_term(gradient, change)


def linear_term(gradient, change) -> float:  # Eq. (12)
    """<∇L(β), δ>, to be minimised over δ >= 0 with ‖δ‖₁ <= η."""
    return math.fsum(gradient * change)


def steepest(gradient) -> int:  # Eq. (13)
    """t* = argmin_t ∇L(β)_t."""
    return int(np.argmin(gradient))


def lower_bound(gradient, step: float) -> float:  # Eq. (14)
    """η ∇L(β)_t*, below which <∇L(β), δ> cannot fall."""
    return step * float(gradient[steepest(gradient)])


def steepest_change(gradient, step: float) -> np.ndarray:
    """δ*: η at t* and 0 elsewhere, for which Eq. (14) is an equality."""
    change = np.zeros(len(gradient))
    change[steepest(gradient)] = step
    return change


def capped_slope(beta, uses, step: float) -> np.ndarray:  # Eq. (15)
    """∇q(Σ_t F_αt β_t) from the right, (d, T): F_αt/η where Σ_t F_αt β_t < η, else 0.

    The print has F_αt in the condition only; by β_t the derivative has it as a factor, too.
    """
    below = np.abs(uses @ beta) < step
    return uses * below[:, None] / step


def gradient_by_weight(
    loss_by_weight, charges, multiplier: float, step: float
) -> np.ndarray:  # Eq. (16)
    """∇L(β)_t = ∂ℓ/∂β_t + λ/η Σ_α c_α φ_α F_αt; ``charges`` are the sums."""
    return loss_by_weight + multiplier / step * charges


def gradient_by_chain_rule(
    loss_by_score, outputs, charges, multiplier: float, step: float
) -> np.ndarray:  # Eq. (17)
    """∇L(β)_t = Σ_i ∂ℓ/∂H_β(x_i) ∂H_β(x_i)/∂β_t + λ/η Σ_α c_α φ_α F_αt.

    H_β is linear: ∂H_β(x_i)/∂β_t = h_t(x_i).
    """
    loss_by_weight = np.array([math.fsum(loss_by_score * h) for h in outputs.T])
    return gradient_by_weight(loss_by_weight, charges, multiplier, step)


def gradient_by_residuals(
    residuals, outputs, charges, multiplier: float, step: float
) -> np.ndarray:  # Eq. (18)
    """∇L(β)_t = Σ_i -r_i h_t(x_i) + λ/η Σ_α c_α φ_α F_αt."""
    loss_by_weight = np.array([math.fsum(-residuals * h) for h in outputs.T])
    return gradient_by_weight(loss_by_weight, charges, multiplier, step)


def quadratic_form(
    residuals, outputs, charges, multiplier: float, step: float
) -> np.ndarray:  # Eq. (19)
    """½ Σ_i (r_i - h_t(x_i))² + λ' Σ_α c_α φ_α F_αt of every tree, with λ' = λ/η: Eq. (5).

    For trees with Σ_i h_t(x_i)² = 1 it is Eq. (18) and a constant.
    """
    tradeoff = multiplier / step
    return np.array(
        [impurity(residuals, outputs[:, t], charges[t], tradeoff) for t in range(len(charges))]
    )


# --- Algorithm 1 ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Terms:
    """The terms of the trade: λ, the prices, B beside them, and when features become free."""

    prices: Prices
    tradeoff: float
    steps: Steps | None
    at_first_use: bool


@dataclass
class State:
    """What a forest has ``bought``, what is ``free`` to use (φ = 0), and its split trees."""

    bought: Holdings
    free: Holdings
    n_trees: int = 0
    tree_is_split: bool = False


def is_affordable(state: State, terms: Terms, m: int) -> bool:
    """Whether a split on feature m in the present tree keeps c(β) within B, Eq. (4)."""
    after = copy_of(state.bought)
    hold(after, terms.prices, m)
    n_trees = state.n_trees + (not state.tree_is_split)
    return is_within(terms.steps, after, n_trees)


def grow(g, data: trees.TrainingData, limits, terms: Terms, state: State, record) -> trees.Tree:
    """Algorithm 1, line 3: CART that greedily minimises Eq. (5), with r = -g."""
    prices = terms.prices
    state.tree_is_split = False

    def net(raw_gain, rows, m):
        if not is_affordable(state, terms, m):
            return -math.inf
        return impurity_reduction(raw_gain, missing_price(state.free, prices, m), terms.tradeoff)

    def on_split(node, rows, m, threshold, gain):
        charged = missing_price(state.free, prices, m)
        state.n_trees += not state.tree_is_split
        state.tree_is_split = True
        hold(state.bought, prices, m)
        if terms.at_first_use:
            hold(state.free, prices, m)
        cost = bill(state.bought, state.n_trees, prices)
        record(node, m, threshold, gain, charged, grid.real_count(data.weights, rows), cost)

    gradients, ones = data.on_grid(g), data.on_grid(np.ones_like(g), positive=True)
    return trees.grow_tree(data, gradients, ones, limits, net, on_split)


def free_what_is_bought(state: State) -> None:
    """Algorithm 1, line 5: φ_α = 0 for every feature used so far."""
    state.free = copy_of(state.bought)


def tree_limits(
    max_depth: int | None = 4, min_samples_leaf: float = 20, max_bins: int = 255
) -> trees.Limits:
    """What bounds a tree of Algorithm 1: its depth b, and what the paper does not name."""
    return trees.Limits(
        None, max_depth, min_samples_leaf, 0.0, growth="breadth_first", max_bins=max_bins
    )


DEPTH_4 = tree_limits()


def fit(
    X,
    y,
    *,
    prices: Prices,
    loss="squared",
    n_estimators: int = 100,
    learning_rate: float = 0.1,
    tradeoff: float = 0.0,
    budget: float | None = None,
    limits: trees.Limits = DEPTH_4,
    charging: str = "first_use",
    beyond: Beyond = NOTHING,
) -> Model:
    """Fit a forest by Algorithm 1.

    ``loss`` is ``"squared"``, ``"logistic"`` (y in {0, 1}) or ``"multinomial"`` (y in
    {0, …, K-1}, K >= 3), ``charging`` is ``"first_use"`` or ``"authors"``, ``prices`` are
    ``forest_costs.price_list``'s. Arguments are taken to be valid.

    In the trace ``penalty`` is what the split was charged (before λ), ``cumulative_cost`` is
    c(β) of Eq. (3) after the split.
    """
    at_first_use = charging == "first_use"
    limits = replace(limits, stop_on_negative_gain=at_first_use)
    data = beyond.training_data(X, y, limits)
    steps = in_steps(prices, budget, n_estimators * losses.n_columns(loss, data.y))
    terms = Terms(prices, tradeoff, steps, at_first_use)
    bought, n_trees = held_by(beyond.earlier_trees(), prices)
    state = State(bought, copy_of(bought), n_trees)

    def grow_next(k, g, h, data, record):
        if k == 0:
            free_what_is_bought(state)  # in the rounds before
        return grow(g, data, limits, terms, state, record)

    return boost(
        grow_next, data, loss=loss, init="zero", n_estimators=n_estimators,
        learning_rate=learning_rate, beyond=beyond,
    )  # fmt: skip
