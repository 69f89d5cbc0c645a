"""XGBoost's fitted forests: read from the JSON that a booster writes of itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ..validation.types import FeatureCosts, FeatureGroups, GroupCosts
from .forest import MeteredForest
from .nodes import ClassLink, InverseLink, Leaf, Split, Tree, single_precision

# What `predict` of a booster makes of raw scores; of an intercept, the inverse.
_KINDS = {
    **dict.fromkeys(("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"), None),
    **dict.fromkeys(("rank:ndcg", "rank:pairwise", "rank:map", "binary:logitraw"), None),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie"), "exponential"),
    **dict.fromkeys(("binary:logistic", "reg:logistic"), "logistic"),
    **{"multi:softprob": "softmax", "multi:softmax": None},
}
_CLASSIFY = {
    **{"binary:logistic": "logistic", "binary:logitraw": "logistic"},
    **{"multi:softprob": "multinomial", "multi:softmax": "multinomial"},
}


def from_xgboost(
    model: Any,
    *,
    feature_costs: FeatureCosts = None,
    split_cost: float = 0.0,
    feature_groups: FeatureGroups = None,
    group_costs: GroupCosts = None,
) -> MeteredForest:
    """Meter a fitted XGBoost model.

    ``x < threshold`` goes left, in single precision, and a missing value where the split says. Of
    an estimator that stopped early the rounds up to its best are taken, as its own ``predict``
    does.

    Parameters
    ----------
    model : xgboost.Booster or xgboost.XGBModel
    feature_costs, split_cost, feature_groups, group_costs : optional
        See :class:`MeteredForest`.

    Returns
    -------
    MeteredForest
        Paths are the library's. XGBoost adds leaves in single precision, so that scores differ from
        its own by rounding, about 1e-6 of them.

    Raises
    ------
    ValueError
        For linear boosters and dropout (DART), categorical splits, leaves with several values,
        several trees a round and score, and objectives that are not known here.
    """
    is_estimator = callable(getattr(model, "get_booster", None))
    if is_estimator and not model.__sklearn_is_fitted__():
        raise ValueError("This XGBoost model is not fitted.")
    booster = model.get_booster() if is_estimator else model
    if not callable(getattr(booster, "save_raw", None)):
        raise ValueError(f"from_xgboost needs an XGBoost model, got {type(model).__name__}.")
    learner = json.loads(booster.save_raw("json"))["learner"]
    objective, shape = learner["objective"]["name"], learner["learner_model_param"]
    if objective not in _KINDS:
        raise ValueError(f"XGBoost's objective {objective} is not supported.")
    n_outputs = max(1, int(shape["num_class"]))
    trees = _trees(learner["gradient_booster"], n_outputs, int(shape["num_target"]))
    best = learner["attributes"].get("best_iteration")
    if is_estimator and best is not None:
        trees = trees[: (int(best) + 1) * n_outputs]
    link, kind = None, _KINDS[objective]
    if objective in _CLASSIFY:
        classes = model.classes_ if hasattr(model, "classes_") else np.arange(max(2, n_outputs))
        link = ClassLink(np.asarray(classes), _CLASSIFY[objective])
    if hasattr(model, "classes_"):  # its `predict` gives classes
        kind = None
    elif objective == "binary:logitraw":
        kind = "identity"
    return MeteredForest(
        [Tree(0, _reader(tree)) for tree in trees],
        np.broadcast_to(_intercept(shape["base_score"], _KINDS[objective]), n_outputs),
        int(shape["num_feature"]),
        as_seen=single_precision,
        library="XGBoost",
        feature_costs=feature_costs,
        split_cost=split_cost,
        feature_groups=feature_groups,
        group_costs=group_costs,
        feature_names=learner["feature_names"] or None,
        link=link,
        allow_nan=True,
        inverse_link=None if kind is None else InverseLink(kind),
    )


def _intercept(written: str, kind: str | None) -> np.ndarray:
    """Raw score before the first round: what is written is a prediction, but for classes."""
    base = np.atleast_1d(np.asarray(json.loads(written), dtype=np.float64))
    if kind == "logistic":
        return np.log(base / (1.0 - base))
    return np.log(base) if kind == "exponential" else base


def _trees(booster: dict, n_outputs: int, n_targets: int) -> list[dict]:
    """Trees round by round, one for each score; ValueError for what cannot be followed."""
    if booster["name"] != "gbtree":
        raise ValueError(f"XGBoost's booster {booster['name']} is not supported, only gbtree.")
    trees, scores = booster["model"]["trees"], booster["model"]["tree_info"]
    vectors = any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees)
    if n_targets > 1 or vectors:
        raise ValueError("XGBoost's models of several targets are not supported.")
    if scores != [k % n_outputs for k in range(len(trees))] or (
        int(booster["model"]["gbtree_model_param"].get("num_parallel_tree", 1)) > 1
    ):
        raise ValueError("XGBoost's rounds of several trees a score are not supported.")
    if any(any(tree["split_type"]) for tree in trees):
        raise ValueError(
            "XGBoost's categorical splits are not supported: train on numeric features."
        )
    return trees


def _reader(tree: dict) -> Callable[[int], Leaf | Split]:
    # x < t and x <= the next smaller number are the same question.
    numbers = np.asarray(tree["split_conditions"], dtype=np.float32)
    below = np.nextafter(numbers, np.float32(-np.inf))
    left, right, feature = (tree[n] for n in ("left_children", "right_children", "split_indices"))

    def read(i: int) -> Leaf | Split:
        if left[i] < 0:
            return Leaf((float(numbers[i]),), i)
        missing_left = bool(tree["default_left"][i])
        return Split(int(feature[i]), float(below[i]), left[i], right[i], missing_left)

    return read
