"""Cost efficient gradient boosting (CEGB).

S. Peter, F. Diego, F. A. Hamprecht and B. Nadler: Cost efficient gradient boosting. Advances
in Neural Information Processing Systems 30 (2017), pages 1551-1561.

=============  ============================================================================
symbol         name
=============  ============================================================================
K, k           ``n_estimators``; the round (several score columns: one tree each per round)
T_k(x), t_k    ``F``, scores after round k; the tree of round k
ω, q           leaf ``value``; ``trees.walk``
L, g_i, h_i    ``loss``, gradients, hessians
λ              ``tradeoff``
Ψ, ΔΨ          prediction cost, ``penalty``
α, ε_m         ``split_cost``; ``feature_sharing``, rows that share one value of m (section 5.2)
β_m, γ_m       ``feature_costs``, ``model_feature_costs``: acquiring m for one row, or for all
C(k, i, m)     ``State.row_used``: row i has used (paid for) feature m
D(k, m)        ``State.model_used``: the model has used feature m
I_p, n_p       ``rows`` of leaf p, and how many they are (the paper's size of I_p)
=============  ============================================================================

What estimators have beyond the paper is behind the argument ``beyond`` (:mod:`reference.beyond`);
rankings come in as a ``loss``, groups of features as ``prices``.

Equations (8) and (10)-(13) are garbled in the extracted text of the paper and were put together
again from their parts and the text around them.

Deviations from the paper

1. A leaf is split only if its net gain is positive, as Eq. (12) read as an objective says;
   ``stop_on_negative_gain=False`` splits on to ``max_leaves`` as the authors' program does.
2. Features are binned (at most ``max_bins`` bins); with no more distinct values than bins every
   midpoint is a threshold.
3. Both children need ``min_hessian_leaf`` of hessian and ``min_samples_leaf`` rows, and an
   unsplit tree with less hessian has the value 0; the paper names neither.
4. Section 5.2 prints n_p·α·ε_m, by which a value shared by 64 pixels would cost 64 times more,
   against its text; here α/ε_m.
5. Gradients and hessians are rounded to a grid (relative to the largest: 2**-31) to make sums
   exact; a gain below 2**-40 of G²/H, or within the rounding of ``losses.rounding``, never
   splits.
6. Several classes: one tree per class and round with the softmax loss, whose diagonal hessian
   is multiplied by K/(K-1); C and D are shared by all classes. The paper is about one score.
7. The learning rate is standard but not in the equations.
8. A constant target is predicted as it is; a round in which nothing is split is the last.
"""

import math
from dataclasses import dataclass

import numpy as np

from reference import costs, grid, trees
from reference.beyond import NOTHING, Beyond
from reference.boosting import Model, boost

# --- Equations that the training runs ------------------------------------------------------

# Eq. (11a), the leaf value, and the bracket of Eq. (12) are in ``reference.trees``.


def net_gain(raw_gain: float, penalty: float, tradeoff: float) -> float:  # Eq. (12)
    """ΔÕ_k = ½ [G_r²/H_r + G_l²/H_l - G_p²/H_p] - λ ΔΨ, with the bracket from ``trees.gain``."""
    return 0.5 * raw_gain - tradeoff * penalty


def split_penalty(
    n_rows: float, n_new_rows: float, model_is_new: bool, alpha: float, gamma: float, beta: float
) -> float:  # Eq. (13)
    """ΔΨ = |I_p| α + γ_m (1 - D(k, m)) + β_m Σ_i∈I_p (1 - C(k, i, m)).

    ``alpha`` is α/ε_m (section 5.2); ``n_new_rows`` is the last sum.
    """
    coupled = gamma if model_is_new else 0.0
    return (n_rows * alpha + coupled) + beta * n_new_rows


# --- 4.3 Learning a weak regressor with cost penalties -------------------------------------


@dataclass(frozen=True)
class Prices:
    """α/ε_m by feature; β and γ by item, and which ``items`` feature m is: by the paper, item m."""

    split: np.ndarray
    row: np.ndarray
    model: np.ndarray
    items: list[tuple[int, ...]]


def price_list(
    n_features: int,
    split_cost: float = 0.0,
    feature_costs=None,
    model_feature_costs=None,
    feature_sharing=None,
) -> Prices:
    """Put all prices side by side; what is not given is free."""
    split = costs.split_prices(split_cost, feature_sharing, n_features)
    row, model = (costs.or_free(each, n_features) for each in (feature_costs, model_feature_costs))
    return Prices(split, row, model, [(m,) for m in range(n_features)])


@dataclass
class State:
    """What has been paid for: C as ``row_used`` (n, items), D as ``model_used`` (items,)."""

    row_used: np.ndarray
    model_used: np.ndarray


def penalty_of(state: State, prices: Prices, weights, rows: np.ndarray, m: int) -> float:
    """ΔΨ, Eq. (13), of splitting the leaf ``rows`` on feature m, given what has been paid for."""
    penalty, alpha = 0.0, float(prices.split[m])
    for item in prices.items[m]:
        penalty += split_penalty(
            n_rows=grid.real_count(weights, rows),
            n_new_rows=grid.real_count(weights, rows[~state.row_used[rows, item]]),
            model_is_new=not state.model_used[item],
            alpha=alpha,
            gamma=float(prices.model[item]),
            beta=float(prices.row[item]),
        )
        alpha = 0.0  # paid once, however many items
    return penalty


def mark_used(state: State, prices: Prices, rows: np.ndarray, m: int) -> None:
    """After a split all rows of the leaf have used m, C of Eq. (4), and the model, D of Eq. (5)."""
    for item in prices.items[m]:
        state.row_used[rows, item] = True
        state.model_used[item] = True


def grow(g, h, data: trees.TrainingData, limits, tradeoff, prices, state, record) -> trees.Tree:
    """Grow one tree, paying for what it uses."""

    def net(raw_gain, rows, m):
        return net_gain(raw_gain, penalty_of(state, prices, data.weights, rows, m), tradeoff)

    def on_split(node, rows, m, threshold, gain):
        penalty = penalty_of(state, prices, data.weights, rows, m)
        mark_used(state, prices, rows, m)
        record(node, m, threshold, gain, penalty, grid.real_count(data.weights, rows))

    gradients = data.on_grid(g)  # Eq. (9a), g_i = ∂L(y_i, ŷ_i) at ŷ = T_k-1(x_i)
    hessians = data.on_grid(h, positive=True)  # Eq. (9b), h_i = ∂²L(y_i, ŷ_i)
    return trees.grow_tree(data, gradients, hessians, limits, net, on_split)


# --- 4.2 Tree boosting with prediction costs -----------------------------------------------


def fit(
    X,
    y,
    *,
    prices: Prices,
    loss="squared",
    n_estimators: int = 100,
    learning_rate: float = 0.1,
    tradeoff: float = 1e-3,
    limits: trees.Limits = trees.LEAVES_31,
    second_order: bool = True,
    beyond: Beyond = NOTHING,
) -> Model:
    """Fit an ensemble; section 4.2 with the trees of section 4.3.

    ``loss`` is ``"squared"``, ``"logistic"`` (y in {0, 1}) or ``"multinomial"`` (y in
    {0, …, K-1}, K >= 3). With first-order terms only (section 4.3, the setting of Greedy Miser)
    h_i = 1. Arguments are taken to be valid.
    """
    data = beyond.training_data(X, y, limits)
    n_items = len(prices.row)
    state = State(np.zeros((len(data.y), n_items), dtype=bool), np.zeros(n_items, dtype=bool))
    for m, rows in beyond.used_before(data.X):
        mark_used(state, prices, rows, m)

    def grow_next(k, g, h, data, record):
        h = h if second_order else np.ones_like(h)
        return grow(g, h, data, limits, tradeoff, prices, state, record)

    return boost(
        grow_next, data, loss=loss, init="zero", n_estimators=n_estimators,
        learning_rate=learning_rate, beyond=beyond,
    )  # fmt: skip


# --- Equations that define what is minimised, for the tests -----------------------------------

# The training runs none of them: tests hold Eqs. (12) and (13), and what the model and its bill
# say, against these.


def empirical_loss(row_losses) -> float:  # Eq. (1)
    """Σ_i L(y_i, T(x_i))."""
    return math.fsum(row_losses)


def penalised_loss(row_losses, row_costs, tradeoff: float) -> float:  # Eq. (2)
    """Σ_i L(y_i, T(x_i)) + λ Ψ(T, x_i)."""
    return empirical_loss(row_losses) + tradeoff * math.fsum(row_costs)


def regularised_loss(row_losses, tree_penalties) -> float:  # Eq. (3)
    """Σ_i L(y_i, Σ_k t_k(x_i)) + Σ_k Ω(t_k)."""
    return empirical_loss(row_losses) + math.fsum(tree_penalties)


def feature_cost(row_used, feature_costs) -> np.ndarray:  # Eq. (4)
    """Ψ_f(k, i) = Σ_m β_m C(k, i, m) of every row."""
    return np.array([math.fsum(beta for beta in feature_costs * used) for used in row_used])


def model_feature_cost(model_used, model_feature_costs) -> float:  # Eq. (5)
    """Ψ_c(k) = Σ_m γ_m D(k, m)."""
    return math.fsum(model_feature_costs * model_used)


def evaluation_cost(splits_passed, split_cost: float) -> np.ndarray:  # Eq. (6)
    """Ψ_ev(k, i) = Σ_k' Ψ_ev,k'(q_k'(x_i)): α for each split node (rounds, n) passed."""
    return np.sum(splits_passed, axis=0) * split_cost


def objective(row_losses, row_costs, model_cost: float, tradeoff: float) -> float:  # Eq. (7)
    """O_k = Σ_i [L(y_i, T_k-1(x_i) + t_k(x_i)) + λ Ψ(k, x_i)] + λ Ψ_c(k)."""
    return penalised_loss(row_losses, row_costs, tradeoff) + tradeoff * model_cost


def taylor_objective(g, h, t, row_cost_change, model_cost_change, tradeoff) -> float:  # Eq. (8)
    """Õ_k = Σ_i [g_i t_k(x_i) + ½ h_i t_k(x_i)² + λ ΔΨ(x_i)] + λ ΔΨ_c."""
    return math.fsum(g * t + 0.5 * h * t**2 + tradeoff * row_cost_change) + (
        tradeoff * model_cost_change
    )


def row_cost_change(cost_after, cost_before):  # Eq. (9c)
    """ΔΨ(x_i) = Ψ(k, x_i) - Ψ(k - 1, x_i)."""
    return cost_after - cost_before


def model_cost_change(cost_after, cost_before):  # Eq. (9d)
    """ΔΨ_c = Ψ_c(k) - Ψ_c(k - 1)."""
    return cost_after - cost_before


def leafwise_objective(G, H, w, leaf_cost_change, model_change, tradeoff) -> float:  # Eq. (10)
    """Õ_k = Σ_l [(Σ g_i) ω_l + ½ (Σ h_i) ω_l² + λ Σ ΔΨ(x_i)] + λ ΔΨ_c, sums over I_l."""
    return math.fsum(G * w + 0.5 * H * w**2 + tradeoff * leaf_cost_change) + (
        tradeoff * model_change
    )


def optimal_leaf_value(G, H):  # Eq. (11a)
    """ω*_l = -(Σ g_i)/(Σ h_i), sums over I_l; see ``trees.leaf_value``."""
    return -G / H


def optimal_objective(G, H, leaf_cost_change, model_change, tradeoff) -> float:  # Eq. (11b)
    """Õ*_k = -½ Σ_l [(Σ g_i)²/(Σ h_i)] + λ Σ_l Σ ΔΨ(x_i) + λ ΔΨ_c.

    The brackets of the print are garbled; this is Eq. (10) at the values of Eq. (11a).
    """
    return math.fsum(-0.5 * (G * G / H) + tradeoff * leaf_cost_change) + tradeoff * model_change
