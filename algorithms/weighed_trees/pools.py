"""Cascades whose trees belong to stages before anything is learned: by the prices of features.

What the soft cascade (Raykar et al. 2010) and AND-OR (Dundar & Bi 2007) share. Stage k may use what
costs at most its limit. Boosted trees are fitted anew for each stage on the features it may use:
trees that may use everything would leave the cheap stages without any.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from .. import costs
from ..boosted_trees.estimator import BoostedTrees
from ..estimators.fitting import all_or_nothing
from ..estimators.parameters import Parameter, checked_parameters
from ..estimators.threads import threads_of
from ..exits.classifier import CascadeClassifier
from ..exits.fitted_trees import fit_trees
from ..exits.parameters import ESTIMATOR
from ..exits.responses import Responses, check_classes
from ..forest_costs import staged_bill
from ..gbrt import GBRTRegressor
from ..prices.by_name import take_column_numbers
from ..trees.forest import Forest
from .tree_outputs import TreeOutputs, tree_outputs
from .tree_pools import TreePools, boosted_within, check_limits, feature_prices

LIMITS = Parameter(
    "sequence of float",
    "For each stage the price that the features of its trees may have at most.",
    check_limits,
)
POOLED_ESTIMATOR = Parameter(
    ESTIMATOR.kind,
    ESTIMATOR.text + " Trees that are fitted here are fitted for each stage on the features that "
    "it may use; those that were are shared out: a tree belongs to the first stage that may use "
    "all its features, and to none if there is no such stage. TreePools "
    "(algorithms.weighed_trees.tree_pools) are trees with their stages, taken as they are.",
)


class Shared(NamedTuple):
    """Training rows, and trees shared out among the stages."""

    outputs: TreeOutputs
    pools: np.ndarray  # (n_trees,) int64: stage of each tree, from 0; the number of stages: of none
    y: np.ndarray  # y, copies: (n_samples,) float64: ±1; share of the training rows, Σm = 1
    copies: np.ndarray
    # (n_stages,) float64: C_k: what each stage's trees cost, and what no earlier one has bought
    prices: np.ndarray

    @property
    def n_stages(self) -> int:
        """Number of stages K."""
        return len(self.prices)


def pools_by_price(forest: Forest, prices: np.ndarray, limits: ArrayLike) -> np.ndarray:
    """First stage whose limit covers all features of each tree: (n_trees,) int64, from 0.

    The number of stages for trees that no stage may use.
    """
    dearest = np.zeros(forest.n_trees)
    split = np.flatnonzero(forest.feature >= 0)
    tree = np.searchsorted(forest.tree, split, side="right") - 1
    np.maximum.at(dearest, tree, prices[forest.feature[split]])
    return np.searchsorted(np.asarray(limits), dearest, side="left")


class PooledCascade(CascadeClassifier):
    """Base of these cascades; not to be used by itself.

    A subclass defines ``_train``.
    """

    _stored_arrays: ClassVar = CascadeClassifier._stored_arrays | {"pools": (np.int64, "trees")}
    _attributes: ClassVar[dict[str, Parameter]] = {
        **CascadeClassifier._attributes,
        "estimator_": Parameter("list of estimator", "The fitted trees: of each stage, or of all."),
        "pools_": Parameter("ndarray of shape (n_trees,)", "Stage of each tree, from 0."),
        "objective_": Parameter("float", "The objective."),
    }

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        query_id: ArrayLike | None = None,
    ) -> Self:
        """Fit the trees, unless they are, and the cascade.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row; rows of weight 0 are
            left out.
        query_id : array-like of shape (n_samples,), optional
            Query of each row, in blocks. Checked only: the loss is by row.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit.
        """
        options = checked_parameters(self)
        limits = options["price_limits"]
        X, y, signs, weights = self._read_rows(X, y, sample_weight, query_id)
        self.estimator_, responses, self.pools_ = self._pooled_trees(X, y, signs, weights, limits)
        check_classes(responses, self.classes_)
        priced, pools = self._priced(responses), self.pools_
        copies = np.ones(len(signs)) if weights is None else weights
        meter, forest = priced.meter, responses.forest
        shared = Shared(
            tree_outputs(forest, meter._check_X(X), threads_of(self)),
            pools,
            signs,
            copies / copies.sum(),
            pool_prices(forest, pools, len(limits), self._price_list(meter), options["tree_cost"]),
        )
        with threadpool_limits(1, user_api="blas"):  # else results depend on the threads
            constants, weights, thresholds = self._train(shared, options)
        coef = np.zeros((len(limits), len(pools)))
        mine = np.flatnonzero(pools < len(limits))
        coef[pools[mine], mine] = weights[mine]
        self._set_up(responses, coef, constants, thresholds)

    def _pooled_trees(self, X, y, signs, weights, limits) -> tuple[list, Responses, np.ndarray]:
        """Fit trees for each stage, or share fitted ones out; pools stay as they are given."""
        if isinstance(self.estimator, TreePools):
            given = self.estimator
            if given.n_stages != len(limits):
                raise ValueError(
                    f"price_limits must have a limit for each of the {given.n_stages} pools of "
                    f"estimator, got {len(limits)}."
                )
            return list(given.fitted), given.responses, given.stages
        if self.estimator is not None and not isinstance(self.estimator, BoostedTrees):
            fitted, responses = fit_trees(self.estimator, X, y, signs, weights)
            prices = feature_prices(self._price_list(self._priced(responses).meter))
            return [fitted], responses, pools_by_price(responses.forest, prices, limits)
        prices = feature_prices(self._price_list(self._unfitted_meter()))
        pools = boosted_within(self.estimator, X, y, signs, weights, limits, prices)
        return list(pools.fitted), pools.responses, pools.stages

    def _unfitted_meter(self):
        """The estimator's prices, or this cascade's own, before there are any trees."""
        meter = GBRTRegressor() if self.estimator is None else clone(self.estimator)
        for name in ("feature_costs", "feature_groups", "group_costs"):
            if getattr(self, name) is not None:
                setattr(meter, name, getattr(self, name))
        meter.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            meter.feature_names_in_ = self.feature_names_in_
        take_column_numbers(meter, self)
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
        # Fitted again, the cascade shares the trees out as they were, not by their prices.
        self.estimator = TreePools((self.estimator_,), self._responses_, pools, len(coef))


def pool_prices(
    forest: Forest, pools: np.ndarray, n_stages: int, prices: costs.PriceList, tree_cost: float
) -> np.ndarray:
    """C_k (n_stages,): all trees of a stage's pool, and what no earlier pool has bought."""
    order = np.argsort(pools, kind="stable")
    bills = np.array([0.0, *staged_bill(forest.take(order), 1, prices, tree_cost)])
    until = np.searchsorted(pools[order], np.arange(n_stages), side="right")
    return np.diff(bills[until], prepend=0.0)


def logit(p: float) -> float:
    """Log p/(1 - p)."""
    return math.log(p) - math.log1p(-p)
