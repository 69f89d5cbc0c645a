"""Gradient boosting of regression trees (Friedman 2001), the cost-blind baseline.

J. H. Friedman: Greedy function approximation: a gradient boosting machine. Annals of Statistics
29 (2001), pages 1189-1232. Trees are grown on the residuals by squared error; their leaves take one
Newton step (section 4). The reference is :mod:`reference.gbrt`.
"""

from __future__ import annotations

import numpy as np

from algorithms import costs
from algorithms.boosting import Prices
from algorithms.tasks import BoostedClassifier, BoostedRegressor


class _GBRT:
    """Costs do not enter the training, only the cost meter."""

    _newton_leaves = True

    def _prices(self, n_features: int) -> Prices:
        # Checked here all the same: a wrong price must not first show at prediction time.
        units, _ = costs.acquisition_units(self.feature_costs, self.feature_groups, n_features)
        costs.split_node_prices(self.split_cost, self.feature_sharing, n_features)
        nothing = np.zeros(n_features)
        return Prices(0.0, nothing, nothing, nothing, units)


class GBRTRegressor(_GBRT, BoostedRegressor):
    """Gradient boosted regression trees.

    Squared loss.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds K at most. Fewer are kept if a round finds no split, or by early stopping
        (`n_estimators_`).
    learning_rate : float, default=0.1
        Factor on each leaf value.
    max_leaves : int or None, default=31
        Leaves of a tree at most.
    max_depth : int or None, default=None
        Splits between the root and a leaf at most.
    min_samples_leaf : int, default=20
        Row weight (number of rows, if unweighted) that a leaf holds at least.
    growth : {"best_first", "breadth_first"}, default="best_first"
        Whether the leaf with the best net gain is split next, or the oldest one.
    split_cost : float, default=0.0
        Cost of evaluating one split node, for the cost meter.
    feature_costs : array-like of shape (n_features,) or None, default=None
        Acquisition cost per row and feature, in the user's own unit, for the cost meter; None
        means free.
    feature_groups : array-like of shape (n_features,), int, or None, default=None
        Features with the same label are acquired together; their costs must be equal.
    feature_sharing : array-like of shape (n_features,) or None, default=None
        Number of rows that share one evaluation on the feature; the split cost is divided by it.
    max_bins : int, default=255
        Bins per feature at most; see :func:`algorithms.trees.binning.bin_edges`.
    init : {"mean", "zero"}, default="mean"
        Start from the best constant, which costs nothing, or from 0.
    min_hessian_leaf : float, default=1e-3
        Sum of hessians that a leaf holds at least, or its value is 0: there -G/H means nothing.
    early_stopping_rounds : int or None, default=None
        Stop after so many rounds without a better validation score, and keep the rounds up to the
        best.
    eval_metric : str or callable, default="loss"
        Validation score, see :func:`algorithms.metrics.validation_score`.
    n_threads : int or None, default=None
        Threads; None means all. The result does not depend on it.
    random_state : int or None, default=None
        Not used: nothing is drawn at random. Kept so that all estimators of the suite can be
        called alike.

    Attributes
    ----------
    trees_ : Forest
        All trees as flat arrays.
    initial_scores_ : ndarray of shape (n_trees_per_round,)
    n_estimators_ : int
        Rounds kept.
    validation_scores_ : ndarray
        Validation score after each round; empty without `eval_set`.
    n_features_in_ : int

    Examples
    --------
    >>> from algorithms.gbrt import GBRTRegressor
    >>> model = GBRTRegressor(n_estimators=2, min_samples_leaf=1)
    >>> model.fit([[0.0], [1.0], [2.0]], [0, 1, 1]).n_estimators_
    2
    """

    def __init__(
        self,
        *,
        n_estimators=100,
        learning_rate=0.1,
        max_leaves=31,
        max_depth=None,
        min_samples_leaf=20,
        growth="best_first",
        split_cost=0.0,
        feature_costs=None,
        feature_groups=None,
        feature_sharing=None,
        max_bins=255,
        init="mean",
        min_hessian_leaf=1e-3,
        early_stopping_rounds=None,
        eval_metric="loss",
        n_threads=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.growth = growth
        self.split_cost = split_cost
        self.feature_costs = feature_costs
        self.feature_groups = feature_groups
        self.feature_sharing = feature_sharing
        self.max_bins = max_bins
        self.init = init
        self.min_hessian_leaf = min_hessian_leaf
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.n_threads = n_threads
        self.random_state = random_state


class GBRTClassifier(_GBRT, BoostedClassifier):
    """Gradient boosted regression trees.

    Logistic loss for two classes; multinomial loss, one tree a class and round, for more.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds K at most. Fewer are kept if a round finds no split, or by early stopping
        (`n_estimators_`).
    learning_rate : float, default=0.1
        Factor on each leaf value.
    max_leaves : int or None, default=31
        Leaves of a tree at most.
    max_depth : int or None, default=None
        Splits between the root and a leaf at most.
    min_samples_leaf : int, default=20
        Row weight (number of rows, if unweighted) that a leaf holds at least.
    growth : {"best_first", "breadth_first"}, default="best_first"
        Whether the leaf with the best net gain is split next, or the oldest one.
    split_cost : float, default=0.0
        Cost of evaluating one split node, for the cost meter.
    feature_costs : array-like of shape (n_features,) or None, default=None
        Acquisition cost per row and feature, in the user's own unit, for the cost meter; None
        means free.
    feature_groups : array-like of shape (n_features,), int, or None, default=None
        Features with the same label are acquired together; their costs must be equal.
    feature_sharing : array-like of shape (n_features,) or None, default=None
        Number of rows that share one evaluation on the feature; the split cost is divided by it.
    max_bins : int, default=255
        Bins per feature at most; see :func:`algorithms.trees.binning.bin_edges`.
    init : {"mean", "zero"}, default="mean"
        Start from the best constant, which costs nothing, or from 0.
    min_hessian_leaf : float, default=1e-3
        Sum of hessians that a leaf holds at least, or its value is 0: there -G/H means nothing.
    early_stopping_rounds : int or None, default=None
        Stop after so many rounds without a better validation score, and keep the rounds up to the
        best.
    eval_metric : str or callable, default="loss"
        Validation score, see :func:`algorithms.metrics.validation_score`.
    n_threads : int or None, default=None
        Threads; None means all. The result does not depend on it.
    random_state : int or None, default=None
        Not used: nothing is drawn at random. Kept so that all estimators of the suite can be
        called alike.

    Attributes
    ----------
    trees_ : Forest
        All trees as flat arrays.
    initial_scores_ : ndarray of shape (n_trees_per_round,)
    n_estimators_ : int
        Rounds kept.
    validation_scores_ : ndarray
        Validation score after each round; empty without `eval_set`.
    n_features_in_ : int
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from algorithms.gbrt import GBRTClassifier
    >>> model = GBRTClassifier(n_estimators=2, min_samples_leaf=1)
    >>> model.fit([[0.0], [1.0], [2.0]], [0, 1, 1]).n_estimators_
    2
    """

    def __init__(
        self,
        *,
        n_estimators=100,
        learning_rate=0.1,
        max_leaves=31,
        max_depth=None,
        min_samples_leaf=20,
        growth="best_first",
        split_cost=0.0,
        feature_costs=None,
        feature_groups=None,
        feature_sharing=None,
        max_bins=255,
        init="mean",
        min_hessian_leaf=1e-3,
        early_stopping_rounds=None,
        eval_metric="loss",
        n_threads=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.growth = growth
        self.split_cost = split_cost
        self.feature_costs = feature_costs
        self.feature_groups = feature_groups
        self.feature_sharing = feature_sharing
        self.max_bins = max_bins
        self.init = init
        self.min_hessian_leaf = min_hessian_leaf
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.n_threads = n_threads
        self.random_state = random_state
