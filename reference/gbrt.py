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

Deliberately absent: absolute and Huber loss, influence trimming. What estimators have beyond the
paper is behind the argument ``beyond`` (:mod:`reference.beyond`); rankings come in as a ``loss``.

Deviations from the paper

1. Features are binned (at most ``max_bins`` bins); with no more distinct values than bins every
   midpoint is a threshold.
2. Labels of the two-class loss are 0 and 1 and F is the log-odds itself; the paper has labels
   -1 and 1 and half the log-odds. The fitted probabilities are the same with the same ν.
3. Gradients and hessians are rounded to a grid (relative to the largest: 2**-31) to make sums
   exact; a gain below 2**-40 of G²/H, or within the rounding of ``losses.rounding``, never
   splits; hessians stay above zero.
4. Both children need ``min_samples_leaf`` rows; a leaf of less hessian than ``min_hessian_leaf``
   has the value 0.
5. K classes start from the log priors, not from 0.
6. A constant target is predicted as it is; a round in which nothing is split is the last.
"""

from functools import partial

import numpy as np

from reference import grid, trees
from reference.beyond import NOTHING, Beyond
from reference.boosting import Model, boost


def squared_error_reduction(raw_gain: float) -> float:  # Algorithm 1, line 4
    """Half the reduction of Σ (ỹ_i - mean)² by a split.

    It equals half of n_l n_r / (n_l + n_r) times the squared difference of the sides' means, the
    paper's improvement; the sign of ỹ does not matter.
    """
    return 0.5 * raw_gain


def grow(k, g, h, data: trees.TrainingData, record, limits: trees.Limits) -> trees.Tree:
    """Grow one tree on the pseudo-responses ỹ = -g; its leaves take a Newton step.

    Algorithm 1, line 5, by Algorithms 5 and 6: γ = Σ ỹ_i / Σ ∂²L(y_i, F), sums over a leaf. For
    squared error that is the mean residual; for K classes it is (K-1)/K Σ ỹ / Σ p(1 - p), whose
    factor is part of the hessian here. ``trees.leaf_value`` computes it.
    """

    def net(raw_gain, rows, m):
        return squared_error_reduction(raw_gain)

    def on_split(node, rows, m, threshold, gain):
        record(node, m, threshold, gain, 0.0, grid.real_count(data.weights, rows))

    gradients = data.on_grid(g)  # -ỹ, Algorithm 1, line 3
    ones, hessians = (data.on_grid(v, positive=True) for v in (np.ones_like(h), h))
    return trees.grow_tree(data, gradients, ones, limits, net, on_split, hessians)


def fit(
    X,
    y,
    *,
    loss="squared",
    n_estimators: int = 100,
    learning_rate: float = 0.1,
    limits: trees.Limits = trees.LEAVES_31,
    beyond: Beyond = NOTHING,
) -> Model:
    """Fit an ensemble (Algorithm 1).

    ``loss`` is ``"squared"``, ``"logistic"`` (y in {0, 1}) or ``"multinomial"`` (y in
    {0, …, K-1}, K >= 3). Arguments are taken to be valid.
    """
    data = beyond.training_data(X, y, limits)
    return boost(
        partial(grow, limits=limits), data, loss=loss, init="mean", n_estimators=n_estimators,
        learning_rate=learning_rate, beyond=beyond,
    )  # fmt: skip
