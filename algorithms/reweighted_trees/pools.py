"""Cascades whose trees belong to stages before anything is learned: by the prices of features.

What the soft cascade (Raykar et al. 2010) and AND-OR (Dundar & Bi 2007) share. Stage k may use what
costs at most its limit. Boosted trees are fitted anew for each stage on the features it may use:
trees that may use everything would leave the cheap stages without any.

:func:`boost_pools` boosts such a pool for each price limit; :func:`join_pools` takes pools that
were boosted elsewhere, also by other libraries, and :func:`assign_pools` shares out the trees of
one model in any way. Each gives :class:`TreePools`, to be an ``estimator`` of
:class:`algorithms.and_or_cascade.AndOrCascadeClassifier` or
:class:`algorithms.raykar_cascade.RaykarCascadeClassifier`: boosted once, the same trees serve
cascades of many settings.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from .. import costs
from ..boosted_trees.estimator import BoostedTrees
from ..estimators.fitting import all_or_nothing
from ..estimators.parameters import Parameter, checked_parameters, shown
from ..estimators.threads import threads_of
from ..estimators.validation import validate_data
from ..exits.classifier import CascadeClassifier
from ..exits.fitted_trees import FittedTrees, check_classes, fit_trees
from ..exits.prices import ESTIMATOR
from ..forest_costs import staged_bill
from ..gbrt import GBRTRegressor
from ..trees.forest import Forest, joined
from ..validation.prices import column_labels, take_column_numbers
from .tree_outputs import TreeOutputs, tree_outputs

# --- pools of trees ----------------------------------------------------------------------------


def check_limits(name: str, value: Any) -> tuple[float, ...]:
    """Give price limits as rising finite floats >= 0, one for each stage."""
    try:
        limits = tuple(float(limit) for limit in value)
    except (TypeError, ValueError, OverflowError):
        limits = ()
    rising = all(a < b for a, b in pairwise(limits))
    if not limits or not rising or not all(0 <= limit < math.inf for limit in limits):
        raise ValueError(f"{name} must be rising numbers >= 0, got {shown(value)}.")
    return limits


def feature_prices(prices: costs.PriceList) -> np.ndarray:
    """What each feature costs by itself, its group included: (n_features,) float64."""
    return prices.shared[prices.unit] + prices.own


@dataclass(frozen=True, eq=False)
class TreePools:
    """Fitted trees, and the stage that each belongs to."""

    fitted: tuple  # What the trees are from
    responses: FittedTrees  # All trees, with leaf values before any learning rate
    stages: np.ndarray  # (n_trees,) int64: stage of each tree, from 0; `n_stages`: of none
    n_stages: int

    def __sklearn_clone__(self) -> TreePools:
        """Stay as they are, as a FrozenEstimator does."""
        return self

    def first_trees(self, n_trees: int) -> TreePools:
        """Take the first trees of each pool."""
        pools = [np.flatnonzero(self.stages == k)[:n_trees] for k in range(self.n_stages)]
        kept = np.concatenate(pools)
        responses = _with_forest(self.responses, self.responses.forest.take(kept))
        return TreePools(self.fitted, responses, self.stages[kept], self.n_stages)


def boost_pools(
    estimator: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    price_limits: Sequence[float],
    sample_weight: ArrayLike | None = None,
) -> TreePools:
    """Boost a pool of trees for each price limit, on the features that cost no more.

    Trees that may use everything would leave the cheap pools without any. A feature's price is
    what it costs by itself, its group included.

    Parameters
    ----------
    estimator : estimator of boosted trees
        Of this package, with prices; cloned for each pool. Regressors learn -1 and +1.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes; the second one is +1.
    price_limits : sequence of float
        Rising; in the unit of the prices.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights >= 0.

    Returns
    -------
    TreePools

    Raises
    ------
    ValueError
        If an input does not fit, or the estimator is not of this package.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.and_or_cascade import AndOrCascadeClassifier
    >>> from algorithms.reweighted_trees.pools import boost_pools
    >>> from algorithms.gbrt import GBRTRegressor
    >>> x = np.arange(100.0)
    >>> X, y = np.column_stack([x // 2, x]), x >= 70
    >>> trees = GBRTRegressor(n_estimators=10, feature_costs=[1.0, 10.0])
    >>> pools = boost_pools(trees, X, y, price_limits=[1, 10])
    >>> model = AndOrCascadeClassifier(pools, price_limits=[1, 10]).fit(X, y)
    >>> model.predict([[3.0, 6.0], [49.0, 98.0]])
    array([False,  True])
    """
    limits = check_limits("price_limits", price_limits)
    if not isinstance(estimator, BoostedTrees):
        raise ValueError(
            "estimator must be boosted trees of this package, got "
            f"{shown(estimator)}; pools of other models: join_pools."
        )
    meter = clone(estimator)
    checked, y = validate_data(meter, X, y, dtype=[np.float64, np.uint8], y_numeric=False)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(f"y must have two classes, got {len(classes)}.")
    signs = np.where(y == classes[-1], 1.0, -1.0)
    X = X if hasattr(X, "columns") else checked
    return boosted_within(estimator, X, y, signs, sample_weight, limits, prices_of(meter))


def prices_of(meter: object) -> np.ndarray:
    """What each feature costs by itself, by the prices of a model: (n_features,) float64."""
    return feature_prices(
        costs.price_list(
            meter.feature_costs,
            meter.feature_groups,
            meter.group_costs,
            meter.n_features_in_,
            column_labels(meter),
        )
    )


def boosted_within(
    estimator: object,
    X: ArrayLike,
    y: ArrayLike,
    signs: NDArray[np.float64],
    weights: ArrayLike | None,
    limits: Sequence[float],
    prices: NDArray[np.float64],
) -> TreePools:
    """Boost a pool for each limit on prices; inputs as :func:`fit_trees` has them.

    Parameters
    ----------
    estimator, X, y, signs, weights
        Boosted trees or None; training rows and their targets.
    limits : sequence of float
    prices : ndarray of shape (n_features,), float64

    Returns
    -------
    TreePools
    """
    each = [
        fit_trees(estimator, _without(X, prices > limit), y, signs, weights) for limit in limits
    ]
    return _joined(*zip(*each, strict=True))


def join_pools(models: Sequence) -> TreePools:
    """Take fitted models as the pools of the stages.

    Parameters
    ----------
    models : sequence of estimator
        One for each stage, in their order, each with one score: boosted trees or stumps of this
        package, or LightGBM's, CatBoost's or scikit-learn's; of one kind, on the same columns.
        Prices are the last one's.

    Returns
    -------
    TreePools

    Raises
    ------
    ValueError
        If there are none, one cannot be read, or they see different rows.
    """
    models = list(models)
    if not models:
        raise ValueError("models must hold a fitted model for each stage, got none.")
    return _joined(models, [_read(model) for model in models])


def assign_pools(model: object, stages: ArrayLike, n_stages: int) -> TreePools:
    """Share out the trees of one fitted model.

    Parameters
    ----------
    model : estimator
        With one score; see :func:`join_pools`.
    stages : array-like of shape (n_trees,), int
        Stage of each tree, from 0; `n_stages`: of none.
    n_stages : int

    Returns
    -------
    TreePools

    Raises
    ------
    ValueError
        If the model cannot be read, or there is not one stage for each tree.
    """
    responses, stages = _read(model), np.asarray(stages)
    fits = stages.shape == (responses.forest.n_trees,) and stages.dtype.kind in "iu"
    if not fits or np.any((stages < 0) | (stages > n_stages)):
        raise ValueError(
            f"stages must be a whole number from 0 to {n_stages} for each of the "
            f"{responses.forest.n_trees} trees, got {shown(stages)}."
        )
    return TreePools((model,), responses, stages.astype(np.int64), int(n_stages))


def _read(model) -> FittedTrees:
    """A fitted model's trees, with leaf values before any learning rate."""
    return fit_trees(FrozenEstimator(model), None, None, None, None)[1]


def _joined(models: Sequence, parts: Sequence[FittedTrees]) -> TreePools:
    """Put pools one after the other."""
    last = parts[-1]
    for part in parts:
        if part.meter.n_features_in_ != last.meter.n_features_in_:
            raise ValueError("models must be trained on the same columns.")
        if _as_seen(part) is not _as_seen(last):
            raise ValueError("models must be of one kind: they compare rows differently.")
    forest = joined([part.forest for part in parts])
    sizes = [part.forest.n_trees for part in parts]
    stages = np.repeat(np.arange(len(parts)), sizes)
    return TreePools(tuple(models), _with_forest(last, forest), stages, len(parts))


def _as_seen(responses: FittedTrees):
    """How a model's rows are compared with thresholds; None: as they are."""
    return getattr(responses.meter, "_as_seen", None)


def _with_forest(responses: FittedTrees, forest) -> FittedTrees:
    """Put other trees in the place of a model's own, also for its bills."""
    meter = copy.copy(responses.meter)
    meter.trees_ = forest
    return responses._replace(forest=forest, contributions=forest.value, meter=meter)


def _without(X, columns: np.ndarray):
    """Rows in which some columns say nothing."""
    values = np.array(X, dtype=np.float64)
    values[:, columns] = 0.0
    return values if not hasattr(X, "columns") else type(X)(values, columns=X.columns)


# --- cascades of them --------------------------------------------------------------------------

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
    "(algorithms.reweighted_trees.pools) are trees with their stages, taken as they are.",
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

    def _pooled_trees(self, X, y, signs, weights, limits) -> tuple[list, FittedTrees, np.ndarray]:
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
