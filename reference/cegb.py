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
β_m            ``feature_costs``: acquiring feature m for one row
γ_m            ``model_feature_costs``: computing feature m for all rows at once
α              ``split_cost``: evaluating one split node
C(k, i, m)     ``State.row_used``: row i has used (the group of) feature m
D(k, m)        ``State.model_used``: the model has used (the group of) feature m
I_p, n_p       ``rows`` of leaf p, and how many they are (the paper's size of I_p)
ε_m            ``feature_sharing``: rows that share one value of feature m (section 5.2)
=============  ============================================================================

Deliberately absent: lambdarank and other losses, feature or row sampling, regularisation of leaf
values (the paper has none of them).

Equations (8) and (10)-(13) are garbled in the extracted text of the paper and were put together
again from their parts and the text around them.

Deviations from the paper

1. A leaf is split only if its net gain is positive, as Eq. (12) read as an objective says;
   ``stop_on_negative_gain=False`` splits on to ``max_leaves`` as the authors' program does.
2. Features are binned (at most ``max_bins`` bins); with no more distinct values than bins every
   midpoint is a threshold.
3. T_0 is the best constant instead of 0 (``init="zero"`` is the paper's).
4. Both children need ``min_hessian_leaf`` of hessian and ``min_samples_leaf`` rows, and an
   unsplit tree with less hessian has the value 0; the paper names neither.
5. Section 5.2 prints n_p·α·ε_m, by which a value shared by 64 pixels would cost 64 times more,
   against its text; here α/ε_m.
6. Gradients and hessians are rounded to a grid (relative to the largest: 2**-31) to make sums
   exact; a gain below 2**-40 of G²/H, or within the rounding of ``losses.rounding``, never
   splits.
7. Features may come in groups, acquired and paid for together; with ``group_costs`` a row pays
   the group's price at its first feature, and each feature's own β_m besides.
8. Rows may have weights: n_p and sums over I_p are sums of weights.
9. Several classes: one tree per class and round with the softmax loss, whose diagonal hessian
   is multiplied by K/(K-1); C and D are shared by all classes. The paper is about one score.
10. Learning rate and early stopping are standard but not in the equations.
11. Values may be missing, of which the paper says nothing (:mod:`reference.trees` has the rule):
    to learn that one is missing costs a row as much as to learn the value.
12. Features may be of categories (:mod:`reference.categories`), which the paper does not have.
13. Leaf values may have an L2 penalty and scores a direction along a feature, both of which are
    left out by default (:mod:`reference.trees`, :mod:`reference.monotonic`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from reference import costs, grid, losses, trees
from reference.boosting import (
    Decision,
    Model,
    acquired_features,
    boost,
    evaluations,
    model_features,
    predict,
    prediction_cost,
    staged_cost,
    staged_scores,
)
from reference.lambdarank import ranking_of
from reference.tree_samples import Draws, Sample

__all__ = [
    "Decision",
    "Model",
    "acquired_features",
    "evaluations",
    "fit",
    "model_features",
    "predict",
    "prediction_cost",
    "staged_cost",
    "staged_scores",
]


# --- Equations that the training runs ------------------------------------------------------

# Eq. (11a), the leaf value, and the bracket of Eq. (12) are ``leaf_value`` and ``gain`` in
# ``reference.trees``.


def derivatives(loss: str, F, y, second_order: bool = True, ranking=None):  # Eq. (9a), Eq. (9b)
    """g_i = ∂L(y_i, ŷ_i), h_i = ∂²L(y_i, ŷ_i) at ŷ = T_k-1(x_i), for each score column.

    With first-order terms only (section 4.3, the setting of Greedy Miser) h_i = 1.
    """
    columns = losses.derivatives(loss, F, y, ranking)
    return columns if second_order else [(g, np.ones_like(h)) for g, h in columns]


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


@dataclass
class State:
    """What has been paid for: C as ``row_used`` (n, units), D as ``model_used`` (units,).

    ``row_used_own`` (n, d) is C of the features themselves: what groups with prices of their own
    leave to be paid for each feature.
    """

    row_used: np.ndarray
    row_used_own: np.ndarray
    model_used: np.ndarray
    cumulative_cost: float = 0.0


@dataclass(frozen=True)
class Prices:
    """Prices by feature (``split``: α/ε_m) or by unit (``unit[m]`` is the unit of m).

    ``own`` is what a row pays for a feature beside its unit: 0 without ``group_costs``.
    """

    unit: np.ndarray
    split: np.ndarray
    row: np.ndarray
    own: np.ndarray
    model: np.ndarray


def penalty_of(state: State, prices: Prices, weights, rows: np.ndarray, m: int) -> float:
    """ΔΨ, Eq. (13), of splitting the leaf ``rows`` on feature m, given what has been paid for."""
    u = prices.unit[m]
    new_rows = rows[~state.row_used[rows, u]]
    rows_without = rows[~state.row_used_own[rows, m]]
    penalty = split_penalty(
        n_rows=grid.real_count(weights, rows),
        n_new_rows=grid.real_count(weights, new_rows),
        model_is_new=not state.model_used[u],
        alpha=float(prices.split[m]),
        gamma=float(prices.model[u]),
        beta=float(prices.row[u]),
    )
    return penalty + float(prices.own[m]) * grid.real_count(weights, rows_without)


def mark_used(state: State, prices: Prices, rows: np.ndarray, m: int, penalty: float) -> None:
    """After a split all rows of the leaf have used m, C of Eq. (4), and the model, D of Eq. (5)."""
    u = prices.unit[m]
    state.row_used[rows, u] = True
    state.row_used_own[rows, m] = True
    state.model_used[u] = True
    state.cumulative_cost += penalty


def price_list(
    n_features,
    split_cost,
    feature_costs,
    model_feature_costs,
    feature_groups,
    group_costs,
    feature_sharing,
) -> Prices:
    """Put all prices side by side; what is not given is free."""
    unit = costs.acquisition_units(feature_groups, n_features)
    return Prices(
        unit,
        costs.split_prices(split_cost, feature_sharing, n_features),
        *costs.shared_and_own(feature_costs, feature_groups, group_costs, unit),
        costs.unit_prices(model_feature_costs, unit),
    )


def nothing_used(n_rows: int, n_units: int, n_features: int) -> State:
    """C and D before the first tree."""
    rows, own = np.zeros((n_rows, n_units), dtype=bool), np.zeros((n_rows, n_features), dtype=bool)
    return State(rows, own, np.zeros(n_units, dtype=bool))


def grow(
    g,
    h,
    data: trees.TrainingData,
    limits,
    tradeoff,
    prices,
    state,
    sample: Sample,
    record: Callable,
) -> trees.Tree:
    """Grow one tree, paying for what it uses; rows that are not drawn use it, too, unpaid."""
    gradients = sample.values(grid.round_to_grid(g, data.weights))
    hessians = sample.values(grid.round_to_grid(h, data.weights, positive=True))
    weights = sample.weights(data.weights)

    def net(raw_gain, rows, m):
        return net_gain(raw_gain, penalty_of(state, prices, weights, rows, m), tradeoff)

    def on_split(node, rows, m, threshold, gain):
        penalty = penalty_of(state, prices, weights, rows, m)
        mark_used(state, prices, rows, m, penalty)
        n_rows = grid.real_count(weights, rows)
        record(node, m, threshold, gain, penalty, n_rows, state.cumulative_cost)

    return trees.grow_tree(
        data.bins, data.edges, gradients, hessians, weights, limits, net, on_split,
        features=sample.features, categories=data.categories,
    )  # fmt: skip


def own_what_was_used(state: State, prices: Prices, earlier: Model, X: np.ndarray) -> None:
    """C and D after an earlier model's trees."""
    used = acquired_features(earlier, X)
    for m in np.flatnonzero(model_features(earlier, X.shape[1])):
        mark_used(state, prices, np.flatnonzero(used[:, m]), m, 0.0)
    state.cumulative_cost = earlier.trace[-1].cumulative_cost


# --- 4.2 Tree boosting with prediction costs -----------------------------------------------


def fit(
    X,
    y,
    *,
    loss: str = "squared",
    n_estimators: int = 100,
    learning_rate: float = 0.1,
    max_leaves: int | None = 31,
    max_depth: int | None = None,
    min_samples_leaf: float = 20,
    growth: str = "best_first",
    tradeoff: float = 1e-3,
    split_cost: float = 0.0,
    feature_costs=None,
    model_feature_costs=None,
    feature_groups=None,
    group_costs=None,
    feature_sharing=None,
    max_bins: int = 255,
    categorical_features=None,
    stop_on_negative_gain: bool = True,
    second_order: bool = True,
    init: str = "mean",
    min_hessian_leaf: float = 1e-3,
    early_stopping_rounds: int | None = None,
    eval_metric="loss",
    sample_weight=None,
    query_id=None,
    lambdarank_truncation: int | None = None,
    subsample: float = 1.0,
    colsample_bytree: float = 1.0,
    reg_lambda: float = 0.0,
    monotonic_cst=None,
    random_state=0,
    earlier: Model | None = None,
    eval_set=None,
    callbacks=(),
) -> Model:
    """Fit an ensemble; section 4.2 with the trees of section 4.3.

    Parameters are those of the estimators; ``loss`` is ``"squared"``, ``"lambdarank"``
    (with ``query_id``), ``"logistic"`` (y in {0, 1}) or ``"multinomial"`` (y in {0, …, K-1},
    K >= 3). ``eval_set`` is (X, y) or (X, y, query_id), ``categorical_features`` column numbers,
    ``monotonic_cst`` a sign for each column. Arguments are taken to be valid.
    """
    data = trees.training_data(
        X, y, sample_weight, max_bins, categorical_features, min_samples_leaf
    )
    limits = trees.Limits(
        max_leaves, max_depth, min_samples_leaf, min_hessian_leaf, growth, stop_on_negative_gain
    )
    initial = losses.initial_scores(loss, data.y, data.weights, init)
    if earlier is not None:
        initial = earlier.initial_scores
    ranking = ranking_of(query_id, sample_weight, lambdarank_truncation or 30)
    rounding = losses.rounding(loss, data.y, data.weights, initial, ranking)
    limits = replace(limits, rounding=rounding, reg_lambda=reg_lambda, signs=monotonic_cst)
    n_features = data.X.shape[1]
    prices = price_list(
        n_features,
        split_cost,
        feature_costs,
        model_feature_costs,
        feature_groups,
        group_costs,
        feature_sharing,
    )
    state = nothing_used(len(data.y), len(prices.row), n_features)
    if earlier is not None:
        own_what_was_used(state, prices, earlier, data.X)
    trace: list[Decision] = [] if earlier is None else list(earlier.trace)
    draws = Draws(random_state, *data.X.shape, subsample, colsample_bytree)
    draws.skip(0 if earlier is None else len(earlier.rounds) * len(initial))

    def grow_round(t, F):
        what = (data, limits, tradeoff, prices, state)
        return [
            grow(
                g, h, *what, draws.sample(), record=lambda *d, k=k: trace.append(Decision(t, k, *d))
            )
            for k, (g, h) in enumerate(derivatives(loss, F, data.y, second_order, ranking))
        ]

    rounds, scores, best = boost(
        grow_round,
        data.X,
        data.y,
        initial,
        loss=loss,
        n_estimators=n_estimators,
        learning_rate=learning_rate,
        early_stopping_rounds=early_stopping_rounds,
        eval_metric=eval_metric,
        eval_set=eval_set,
        callbacks=callbacks,
        earlier=earlier,
    )
    return Model(rounds, initial, learning_rate, data.edges, trace, scores, best)


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
