"""The trees that a cascade is made of: fitted, or taken as they are."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator

from ..boosted_trees.estimator import BoostedTrees
from ..estimators.fitting import ignore_constant_parts
from ..gbrt import GBRTRegressor
from .responses import Responses, responses_of


def fit_trees(
    estimator: object, X: ArrayLike, y: ArrayLike, signs: np.ndarray, weights: ArrayLike | None
) -> tuple[object, Responses]:
    """Trees of an estimator: fitted anew if they are this package's, else as they are."""
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
