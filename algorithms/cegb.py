"""Cost efficient gradient boosting, CEGB (Peter, Diego, Hamprecht & Nadler, NIPS 2017).

Second-order boosting whose splits pay for what they make rows evaluate and acquire, Eqs. (12)-(13):

    net gain = 1/2 (G_l^2/H_l + G_r^2/H_r - G_p^2/H_p) - tradeoff * penalty
    penalty  = |I_p| * split_cost / feature_sharing
             + model_feature_costs, if the model uses the feature for the first time
             + feature_costs * rows of p that use the feature for the first time

The reference, equation by equation and with the deviations from the paper, is
:mod:`reference.cegb`.
"""

from __future__ import annotations

from algorithms import costs
from algorithms.boosting import Prices
from algorithms.estimator import check_number
from algorithms.tasks import BoostedClassifier, BoostedRegressor


class _CEGB:
    """Costs enter the training."""

    def _prices(self, n_features: int) -> Prices:
        check_number("tradeoff", self.tradeoff)
        groups = self.feature_groups
        units, row = costs.acquisition_units(self.feature_costs, groups, n_features)
        _, model = costs.acquisition_units(
            self.model_feature_costs, groups, n_features, "model_feature_costs"
        )
        node_prices, kind = costs.split_node_prices(
            self.split_cost, self.feature_sharing, n_features
        )
        return Prices(float(self.tradeoff), node_prices[kind], row[units], model[units], units)


class CEGBRegressor(_CEGB, BoostedRegressor):
    """Cost efficient gradient boosting.

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
    tradeoff : float, default=1e-3
        lambda of Eq. (2), with the 1/2 of Eq. (12): gain of the loss, summed over rows, that a unit
        of cost must bring. 0 ignores all costs. (LightGBM's `cegb_tradeoff` is twice this.)
    split_cost : float, default=0.0
        alpha: cost of evaluating one split node for one row.
    feature_costs : array-like of shape (n_features,) or None, default=None
        beta: acquisition cost per row and feature, in the user's own unit, paid when a row uses the
        feature for the first time; None means free.
    model_feature_costs : array-like of shape (n_features,) or None, default=None
        gamma: cost of computing the feature for all rows at once, paid when the model uses it for
        the first time; None means free.
    feature_groups : array-like of shape (n_features,), int, or None, default=None
        Features with the same label are acquired together; their costs must be equal.
    feature_sharing : array-like of shape (n_features,) or None, default=None
        eps of section 5.2: number of rows (pixels) that share one value of the feature; a split on
        it costs split_cost / eps.
    max_bins : int, default=255
        Bins per feature at most; see :func:`algorithms.trees.binning.bin_edges`.
    stop_on_negative_gain : bool, default=True
        Whether only splits with a positive net gain are made. False splits on up to `max_leaves`,
        as the authors' program does.
    second_order : bool, default=True
        Whether hessians are used. False sets them to 1 ("first-order terms only"), Greedy Miser's
        setting.
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
    Two features that tell the same, the second ten times as dear: only the first is bought.

    >>> import numpy as np
    >>> from algorithms.cegb import CEGBRegressor
    >>> x = np.arange(100.0)
    >>> model = CEGBRegressor(tradeoff=1e-3, feature_costs=[1.0, 10.0])
    >>> model = model.fit(np.column_stack([x, x]), x >= 50)
    >>> model.model_features()
    array([ True, False])
    >>> model.prediction_cost([[3.0, 3.0]])
    array([1.])
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
        tradeoff=1e-3,
        split_cost=0.0,
        feature_costs=None,
        model_feature_costs=None,
        feature_groups=None,
        feature_sharing=None,
        max_bins=255,
        stop_on_negative_gain=True,
        second_order=True,
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
        self.tradeoff = tradeoff
        self.split_cost = split_cost
        self.feature_costs = feature_costs
        self.model_feature_costs = model_feature_costs
        self.feature_groups = feature_groups
        self.feature_sharing = feature_sharing
        self.max_bins = max_bins
        self.stop_on_negative_gain = stop_on_negative_gain
        self.second_order = second_order
        self.init = init
        self.min_hessian_leaf = min_hessian_leaf
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.n_threads = n_threads
        self.random_state = random_state


class CEGBClassifier(_CEGB, BoostedClassifier):
    """Cost efficient gradient boosting.

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
    tradeoff : float, default=1e-3
        lambda of Eq. (2), with the 1/2 of Eq. (12): gain of the loss, summed over rows, that a unit
        of cost must bring. 0 ignores all costs. (LightGBM's `cegb_tradeoff` is twice this.)
    split_cost : float, default=0.0
        alpha: cost of evaluating one split node for one row.
    feature_costs : array-like of shape (n_features,) or None, default=None
        beta: acquisition cost per row and feature, in the user's own unit, paid when a row uses the
        feature for the first time; None means free.
    model_feature_costs : array-like of shape (n_features,) or None, default=None
        gamma: cost of computing the feature for all rows at once, paid when the model uses it for
        the first time; None means free.
    feature_groups : array-like of shape (n_features,), int, or None, default=None
        Features with the same label are acquired together; their costs must be equal.
    feature_sharing : array-like of shape (n_features,) or None, default=None
        eps of section 5.2: number of rows (pixels) that share one value of the feature; a split on
        it costs split_cost / eps.
    max_bins : int, default=255
        Bins per feature at most; see :func:`algorithms.trees.binning.bin_edges`.
    stop_on_negative_gain : bool, default=True
        Whether only splits with a positive net gain are made. False splits on up to `max_leaves`,
        as the authors' program does.
    second_order : bool, default=True
        Whether hessians are used. False sets them to 1 ("first-order terms only"), Greedy Miser's
        setting.
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
    Two features that tell the same, the second ten times as dear: only the first is bought.

    >>> import numpy as np
    >>> from algorithms.cegb import CEGBClassifier
    >>> x = np.arange(100.0)
    >>> model = CEGBClassifier(tradeoff=1e-3, feature_costs=[1.0, 10.0])
    >>> model = model.fit(np.column_stack([x, x]), x >= 50)
    >>> model.model_features()
    array([ True, False])
    >>> model.prediction_cost([[3.0, 3.0]])
    array([1.])
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
        tradeoff=1e-3,
        split_cost=0.0,
        feature_costs=None,
        model_feature_costs=None,
        feature_groups=None,
        feature_sharing=None,
        max_bins=255,
        stop_on_negative_gain=True,
        second_order=True,
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
        self.tradeoff = tradeoff
        self.split_cost = split_cost
        self.feature_costs = feature_costs
        self.model_feature_costs = model_feature_costs
        self.feature_groups = feature_groups
        self.feature_sharing = feature_sharing
        self.max_bins = max_bins
        self.stop_on_negative_gain = stop_on_negative_gain
        self.second_order = second_order
        self.init = init
        self.min_hessian_leaf = min_hessian_leaf
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.n_threads = n_threads
        self.random_state = random_state
