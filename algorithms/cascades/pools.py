"""Cascades whose trees belong to stages before anything is learned: by the prices of features.

What the soft cascade (Raykar et al. 2010) and AND-OR (Dundar & Bi 2007) share. Stage k may use what
costs at most its limit. Boosted trees are fitted anew for each stage on the features it may use:
trees that may use everything would leave the cheap stages without any.
"""

from __future__ import annotations

import copy
import math
from itertools import pairwise
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from .. import costs
from ..estimators.boosted_trees import BoostedTrees
from ..estimators.parameters import Parameter, shown
from ..forest_costs import staged_bill
from ..gbrt import GBRTRegressor
from ..trees.forest import Forest, joined
from .classifier import CascadeClassifier, fit_trees
from .responses import Responses


def check_limits(name: str, value) -> tuple[float, ...]:
    """Give price limits as rising finite floats >= 0, one for each stage."""
    try:
        limits = tuple(float(limit) for limit in value)
    except (TypeError, ValueError):
        limits = ()
    rising = all(a < b for a, b in pairwise(limits))
    if not limits or not rising or not all(0 <= limit < math.inf for limit in limits):
        raise ValueError(f"{name} must be rising numbers >= 0, got {shown(value)}.")
    return limits


LIMITS = Parameter(
    "sequence of float",
    "For each stage the price that the features of its trees may have at most.",
    check_limits,
)


def feature_prices(prices: costs.PriceList) -> np.ndarray:
    """What each feature costs by itself, its group included: (n_features,) float64."""
    return prices.shared[prices.unit] + prices.own


def pools_by_price(forest: Forest, prices: np.ndarray, limits) -> np.ndarray:
    """First stage whose limit covers all features of each tree: (n_trees,) int64, from 0.

    The number of stages for trees that no stage may use.
    """
    dearest = np.zeros(forest.n_trees)
    split = np.flatnonzero(forest.feature >= 0)
    tree = np.searchsorted(forest.tree, split, side="right") - 1
    np.maximum.at(dearest, tree, prices[forest.feature[split]])
    return np.searchsorted(np.asarray(limits), dearest, side="left")


class PooledCascade(CascadeClassifier):
    """Base of these cascades; not to be used by itself."""

    _stored_arrays: ClassVar = CascadeClassifier._stored_arrays | {"pools": (np.int64, 1)}

    def _pooled_trees(self, X, y, signs, weights, limits) -> tuple[list, Responses, np.ndarray]:
        """Fit trees for each stage, or share fitted ones out.

        Returns
        -------
        fitted : list of estimator
        responses : Responses
            All trees, stage by stage.
        pools : ndarray of shape (n_trees,), int64
        """
        if self.estimator is not None and not isinstance(self.estimator, BoostedTrees):
            fitted, responses = fit_trees(self.estimator, X, y, signs, weights)
            responses = self._priced(responses)
            prices = feature_prices(self._price_list(responses.meter))
            return [fitted], responses, pools_by_price(responses.forest, prices, limits)
        prices = feature_prices(self._price_list(self._unfitted_meter()))
        parts, all_fitted, pools = [], [], []
        for k, limit in enumerate(limits):
            fitted, responses = fit_trees(
                self.estimator, _without(X, prices > limit), y, signs, weights
            )
            all_fitted.append(fitted)
            parts.append(responses)
            pools += [k] * responses.forest.n_trees
        forest = joined([part.forest for part in parts])
        meter = copy.copy(parts[-1].meter)
        meter.trees_ = forest
        whole = parts[-1]._replace(forest=forest, contributions=forest.value, meter=meter)
        return all_fitted, self._priced(whole), np.array(pools, dtype=np.int64)

    def _unfitted_meter(self):
        """The estimator's prices, or this cascade's own, before there are any trees."""
        meter = GBRTRegressor() if self.estimator is None else clone(self.estimator)
        for name in ("feature_costs", "feature_groups", "group_costs"):
            if getattr(self, name) is not None:
                setattr(meter, name, getattr(self, name))
        meter.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            meter.feature_names_in_ = self.feature_names_in_
        return meter

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        header, arrays = super()._stored()
        return header, arrays | {"pools": self.pools_}

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        super()._restore(header, arrays)
        pools, coef = arrays["pools"], self.coef_
        if pools.shape != (coef.shape[1],) or np.any((pools < 0) | (pools > len(coef))):
            raise ValueError("pools must name a stage for each tree")
        if np.any(coef[pools != np.arange(len(coef))[:, None]]):
            raise ValueError("a tree must have weight at the stage of its pool only")
        self.pools_ = pools

    def _take_over(self, responses: Responses, pools, constants, weights, thresholds) -> None:
        """Become a cascade with one weight for each tree, at the stage of its pool."""
        coef = np.zeros((len(constants), len(pools)))
        mine = np.flatnonzero(pools < len(constants))
        coef[pools[mine], mine] = weights[mine]
        self.pools_ = pools
        self._set_up(responses, coef, constants, thresholds)


def pool_prices(
    forest: Forest, pools: np.ndarray, n_stages: int, prices: costs.PriceList, tree_cost: float
) -> np.ndarray:
    """C_k (n_stages,): all trees of a stage's pool, and what no earlier pool has bought."""
    order = np.argsort(pools, kind="stable")
    bills = np.array([0.0, *staged_bill(forest.take(order), 1, prices, tree_cost)])
    until = np.searchsorted(pools[order], np.arange(n_stages), side="right")
    return np.diff(bills[until], prepend=0.0)


def _without(X, columns: np.ndarray):
    """Rows in which some columns say nothing."""
    values = np.array(X, dtype=np.float64)
    values[:, columns] = 0.0
    return values if not hasattr(X, "columns") else type(X)(values, columns=X.columns)


def logit(p: float) -> float:
    """Log p/(1 - p)."""
    return math.log(p) - math.log1p(-p)
