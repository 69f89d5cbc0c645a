"""Gradient boosting of regression trees (Friedman 2001), the cost-blind baseline.

J. H. Friedman: Greedy function approximation: a gradient boosting machine. Annals of Statistics
29 (2001), pages 1189-1232. Trees are grown on the residuals by squared error; their leaves take one
Newton step (section 4). The reference is :mod:`reference.gbrt`.
"""

from __future__ import annotations

import numpy as np

from . import costs
from .boosted_trees.regressor_and_classifier import BoostedClassifier, BoostedRegressor
from .estimators.parameters import METERED, TREES, documented, keep
from .trees.penalty import Prices
from .validation.prices import column_labels


class _GBRT:
    """Costs do not enter the training, only the cost meter."""

    _parameters = TREES | METERED
    _newton_leaves = True

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
        group_costs=None,
        feature_sharing=None,
        max_bins=255,
        categorical_features=None,
        init="mean",
        min_hessian_leaf=1e-3,
        early_stopping_rounds=None,
        eval_metric="loss",
        class_weight=None,
        objective=None,
        lambdarank_truncation=None,
        subsample=1.0,
        colsample_bytree=1.0,
        reg_lambda=0.0,
        monotonic_cst=None,
        warm_start=False,
        n_threads=None,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        keep(self, locals())

    def _prices(self, n_features: int) -> Prices:
        # Checked here all the same: a wrong price must not first show at prediction time.
        names = column_labels(self)
        groups = (self.feature_groups, self.group_costs)
        units = costs.price_list(self.feature_costs, *groups, n_features, names).unit
        costs.split_prices(self.split_cost, self.feature_sharing, n_features, names)
        nothing = np.zeros(n_features)
        return Prices(0.0, nothing, nothing, nothing, nothing, units)


@documented
class GBRTRegressor(_GBRT, BoostedRegressor):
    """Gradient boosted regression trees.

    Squared loss, or a ranking's pairs (`objective`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from algorithms.gbrt import GBRTRegressor
    >>> model = GBRTRegressor(n_estimators=2, min_samples_leaf=1)
    >>> model.fit([[0.0], [1.0], [2.0]], [0, 1, 1]).n_estimators_
    2
    """


@documented
class GBRTClassifier(_GBRT, BoostedClassifier):
    """Gradient boosted regression trees.

    Logistic loss for two classes; multinomial loss, one tree a class and round, for more.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from algorithms.gbrt import GBRTClassifier
    >>> model = GBRTClassifier(n_estimators=2, min_samples_leaf=1)
    >>> model.fit([[0.0], [1.0], [2.0]], [0, 1, 1]).n_estimators_
    2
    """
