"""Cost efficient gradient boosting, CEGB (Peter, Diego, Hamprecht & Nadler, NIPS 2017).

Second-order boosting whose splits pay for what they make rows evaluate and acquire, Eqs. (12)-(13):

    net gain = 1/2 (G_l^2/H_l + G_r^2/H_r - G_p^2/H_p) - tradeoff * penalty
    penalty  = |I_p| * split_cost / feature_sharing
             + model_feature_costs, if the model uses the feature for the first time
             + feature_costs * rows of p that use the feature for the first time

With `group_costs` the last line is there twice: for the group's price, with the rows that use any
of its features for the first time, and for the feature's own.

The reference, equation by equation and with the deviations from the paper, is
:mod:`reference.cegb`.
"""

from __future__ import annotations

import math

import numpy as np

from . import costs
from .boosted_trees.regressor_and_classifier import BoostedClassifier, BoostedRegressor
from .estimators.parameters import (
    PENALISED,
    TREES,
    check_number,
    documented,
    keep,
)
from .trees.penalty import Prices
from .validation.prices import column_labels

_MOST_ROWS = 2.0**54  # more than row weights may sum to


class _CEGB:
    """Costs enter the training."""

    _parameters = TREES | PENALISED

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
        group_costs=None,
        feature_sharing=None,
        max_bins=255,
        categorical_features=None,
        stop_on_negative_gain=True,
        second_order=True,
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
        tradeoff = check_number("tradeoff", self.tradeoff)
        names = column_labels(self)
        groups = (self.feature_groups, self.group_costs)
        units, row, own = costs.price_list(self.feature_costs, *groups, n_features, names)
        model = costs.unit_prices(self.model_feature_costs, units, "model_feature_costs", names)
        split = costs.split_prices(self.split_cost, self.feature_sharing, n_features, names)
        largest = max(float(np.max(prices)) for prices in (row, own, model, split))
        if not math.isfinite(tradeoff * (largest * _MOST_ROWS)):
            raise ValueError(
                f"tradeoff ({tradeoff:g}) times the largest price ({largest:g}) is too large for "
                "the penalty of all rows to be a finite number."
            )
        return Prices(tradeoff, split, row[units], own, model[units], units)


@documented
class CEGBRegressor(_CEGB, BoostedRegressor):
    """Cost efficient gradient boosting.

    Squared loss, or a ranking's pairs (`objective`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    Two features that tell the same, the second ten times as expensive: only the first is bought.

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


@documented
class CEGBClassifier(_CEGB, BoostedClassifier):
    """Cost efficient gradient boosting.

    Logistic loss for two classes; multinomial loss, one tree a class and round, for more.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    Two features that tell the same, the second ten times as expensive: only the first is bought.

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
