"""The trees that a cascade gives weights to: fitted or taken as they are, and what they cost."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator

from .. import costs
from ..estimators.boosted_trees import BoostedTrees
from ..estimators.fitting import ignore_constant_parts
from ..gbrt import GBRTRegressor
from ..trees.forest import Forest
from .mixed_norms import TreePrices
from .responses import Responses, responses_of


def tree_prices(forest: Forest, prices: costs.PriceList, tree_cost: float) -> TreePrices:
    """What each tree costs: e if it has a split, and what it needs bought.

    Parameters
    ----------
    forest : Forest
    prices : PriceList
    tree_cost : float
        e.

    Returns
    -------
    TreePrices
        Its items are groups (or features by themselves) and features' own prices that are not 0.
    """
    n_units = len(prices.shared)
    each = np.concatenate([prices.shared, prices.own])
    split = np.flatnonzero(forest.feature >= 0)
    tree = np.searchsorted(forest.tree, split, side="right") - 1
    feature = forest.feature[split].astype(np.int64)
    item = np.concatenate([prices.unit[feature], n_units + feature])
    pairs = np.unique(np.column_stack([item, np.tile(tree, 2)]), axis=0)
    pairs = pairs[each[pairs[:, 0]] > 0]
    items, row = np.unique(pairs[:, 0], return_inverse=True)
    shape = (len(items), forest.n_trees)
    uses = csr_matrix((np.ones(len(pairs)), (row, pairs[:, 1])), shape)
    is_split = forest.left[forest.tree[:-1]] >= 0
    return TreePrices(np.where(is_split, tree_cost, 0.0), each[items], uses)


def fit_trees(estimator, X, y, signs: np.ndarray, weights) -> tuple[object, Responses]:
    """Trees of an estimator: fitted anew if they are this package's, else as they are.

    Parameters
    ----------
    estimator : estimator or None
        None: :class:`algorithms.gbrt.GBRTRegressor` with trees of depth 4. A FrozenEstimator and
        models of other libraries are taken as fitted.
    X, y, signs, weights
        Training rows; classes, and the same as -1 and +1, for regressors.

    Returns
    -------
    fitted : estimator
    responses : Responses
        With leaf values before the learning rate.

    Raises
    ------
    ValueError
        If it gives several scores, or cannot be read.
    """
    if estimator is None:
        estimator = GBRTRegressor(max_leaves=None, max_depth=4, growth="breadth_first")
    if isinstance(estimator, FrozenEstimator):
        fitted = estimator.estimator
    elif isinstance(estimator, BoostedTrees):
        fitted = clone(estimator)
        with warnings.catch_warnings():
            ignore_constant_parts()
            target = y if is_classifier(fitted) else signs
            fitted.fit(X, target, sample_weight=weights)
    else:
        fitted = estimator
    responses = responses_of(fitted)
    if responses.n_columns != 1:
        raise ValueError(
            f"estimator must give one score to each row; {responses.name} gives "
            f"{responses.n_columns}."
        )
    return fitted, responses._replace(contributions=responses.forest.value)
