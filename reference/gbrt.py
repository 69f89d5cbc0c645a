"""Gradient boosted regression trees (GBRT).

J. H. Friedman: Greedy function approximation: a gradient boosting machine. Annals of
Statistics 29 (2001), pages 1189-1232.

=================  ========================================================================
symbol             name
=================  ========================================================================
M, m               ``n_estimators``; the round
F_m(x)             ``F``, scores after round m
ỹ_i                minus the gradient: the pseudo-response
R_lm, γ_lm         leaf l of the tree of round m and its value
J                  ``max_leaves``
ν                  ``learning_rate``
K                  number of classes
=================  ========================================================================

Deliberately absent: absolute and Huber loss, influence trimming, subsampling (a later paper).

Deviations from the paper

1. Features are binned (at most ``max_bins`` bins); with no more distinct values than bins every
   midpoint is a threshold.
2. Labels of the two-class loss are 0 and 1 and F is the log-odds itself; the paper has labels
   -1 and 1 and half the log-odds. The fitted probabilities are the same with the same ν.
3. Gradients and hessians are rounded to a grid (relative to the largest: 2**-31) to make sums
   exact; a gain below 2**-40 of G²/H, or within the rounding of ``losses.rounding``, never
   splits; hessians stay above zero.
4. Both children need ``min_samples_leaf`` rows. Rows may have weights.
5. K classes start from the log priors, not from 0 (``init="zero"`` is the paper's).
6. Early stopping by a validation set is not in the paper.
7. Values may be missing; :mod:`reference.trees` has the rule.
8. Features may be of categories; :mod:`reference.categories` has the rule.
9. Leaf values may have an L2 penalty and scores a direction along a feature, both of which are
   left out by default (:mod:`reference.trees`, :mod:`reference.monotonic`).
"""

from dataclasses import replace

import numpy as np

from reference import grid, losses, trees
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


def squared_error_reduction(raw_gain: float) -> float:  # Algorithm 1, line 4
    """Half the reduction of Σ (ỹ_i - mean)² by a split.

    It equals half of n_l n_r / (n_l + n_r) times the squared difference of the sides' means, the
    paper's improvement; the sign of ỹ does not matter.
    """
    return 0.5 * raw_gain


def grow(g, h, data: trees.TrainingData, limits, sample: Sample, record) -> trees.Tree:
    """Grow one tree on the pseudo-responses ỹ = -g; its leaves take a Newton step.

    Algorithm 1, line 5, by Algorithms 5 and 6: γ = Σ ỹ_i / Σ ∂²L(y_i, F), sums over a leaf. For
    squared error that is the mean residual; for K classes it is (K-1)/K Σ ỹ / Σ p(1 - p), whose
    factor is part of the hessian here. ``trees.leaf_value`` computes it.
    """
    weights = data.weights
    gradients = sample.values(grid.round_to_grid(g, weights))  # -ỹ, Algorithm 1, line 3
    ones = sample.values(grid.round_to_grid(np.ones_like(h), weights, positive=True))
    hessians = sample.values(grid.round_to_grid(h, weights, positive=True))
    weights = sample.weights(weights)

    def net(raw_gain, rows, m):
        return squared_error_reduction(raw_gain)

    def on_split(node, rows, m, threshold, gain):
        record(node, m, threshold, gain, 0.0, grid.real_count(weights, rows), 0.0)

    return trees.grow_tree(
        data.bins, data.edges, gradients, ones, weights, limits, net, on_split, hessians,
        sample.features, data.categories,
    )  # fmt: skip


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
    max_bins: int = 255,
    categorical_features=None,
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
    """Fit an ensemble (Algorithm 1).

    Parameters are those of the estimators; ``loss`` is ``"squared"``, ``"lambdarank"``
    (with ``query_id``), ``"logistic"`` (y in {0, 1}) or ``"multinomial"`` (y in {0, …, K-1},
    K >= 3). ``eval_set`` is (X, y) or (X, y, query_id), ``categorical_features`` column numbers,
    ``monotonic_cst`` a sign for each column. Arguments are taken to be valid.
    """
    data = trees.training_data(
        X, y, sample_weight, max_bins, categorical_features, min_samples_leaf
    )
    limits = trees.Limits(max_leaves, max_depth, min_samples_leaf, min_hessian_leaf, growth, True)
    initial = losses.initial_scores(loss, data.y, data.weights, init)
    if earlier is not None:
        initial = earlier.initial_scores
    ranking = ranking_of(query_id, sample_weight, lambdarank_truncation or 30)
    rounding = losses.rounding(loss, data.y, data.weights, initial, ranking)
    limits = replace(limits, rounding=rounding, reg_lambda=reg_lambda, signs=monotonic_cst)
    trace: list[Decision] = [] if earlier is None else list(earlier.trace)
    draws = Draws(random_state, *data.X.shape, subsample, colsample_bytree)
    draws.skip(0 if earlier is None else len(earlier.rounds) * len(initial))

    def grow_round(t, F):
        return [
            grow(
                g,
                h,
                data,
                limits,
                draws.sample(),
                record=lambda *d, k=k: trace.append(Decision(t, k, *d)),
            )
            for k, (g, h) in enumerate(losses.derivatives(loss, F, data.y, ranking))
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
