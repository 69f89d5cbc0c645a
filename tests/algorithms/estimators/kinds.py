"""The registered estimators by kind, and each of them in a small size."""

from __future__ import annotations

from sklearn.base import is_classifier, is_regressor

from algorithms.estimators.boosted_trees import BoostedTrees
from algorithms.estimators.registered import ESTIMATORS

REGRESSORS = [cls for cls in ESTIMATORS if is_regressor(cls())]
CLASSIFIERS = [cls for cls in ESTIMATORS if is_classifier(cls())]
TREES = [cls for cls in ESTIMATORS if issubclass(cls, BoostedTrees)]
TREE_REGRESSORS = [cls for cls in TREES if cls in REGRESSORS]
TREE_CLASSIFIERS = [cls for cls in TREES if cls in CLASSIFIERS]


def takes(cls, name: str) -> bool:
    """Whether an estimator has a parameter."""
    return name in cls().get_params(deep=False)


def small_size(cls, *, n_estimators=3, max_leaves=4, max_depth=2) -> dict:
    """Parameters of a model that is fitted in no time, of those that the estimator has.

    Trees are limited by their leaves, or by their depth where there is no limit of leaves.
    """
    size = {"n_estimators": n_estimators, "min_samples_leaf": 5, "max_leaves": max_leaves}
    if not takes(cls, "max_leaves"):
        size["max_depth"] = max_depth
    return {name: value for name, value in size.items() if takes(cls, name)}
