"""Fitted forests of other libraries under this package's one cost meter.

:func:`from_lightgbm`, :func:`from_catboost` and :func:`from_scikit_learn`, and `from_xgboost` in a
file of its own, read the trees of a fitted model into a :class:`MeteredForest`, which predicts what
the library predicts, by the same paths, and says what each row's paths cost. What cannot be
followed exactly is refused.

    meter = from_lightgbm(booster, feature_costs=costs, split_cost=0.01)
    meter.prediction_cost(X).mean()

None of the libraries is imported here: whoever has a fitted model has its library.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..validation.types import FeatureCosts, FeatureGroups, GroupCosts
from .forest import MeteredForest
from .nodes import (
    Leaf,
    Split,
    Tree,
    catboost_inverse_link,
    catboost_link,
    catboost_loss,
    double_precision,
    lightgbm_inverse_link,
    lightgbm_link,
    scikit_learn_inverse_link,
    scikit_learn_link,
    single_precision,
    tiny_is_zero,
)

__all__ = ["MeteredForest", "from_catboost", "from_lightgbm", "from_scikit_learn"]


# --- LightGBM -----------------------------------------------------------------------------------


def from_lightgbm(
    model: Any,
    *,
    feature_costs: FeatureCosts = None,
    split_cost: float = 0.0,
    feature_groups: FeatureGroups = None,
    group_costs: GroupCosts = None,
) -> MeteredForest:
    """Meter a fitted LightGBM model.

    ``x <= threshold`` goes left, in double precision; an x of at most 1e-35 in size counts as 0,
    for so LightGBM reads its rows (and it has thresholds of ±1e-35 next to 0). A missing value goes
    where the split says, or as 0 where no training row was missing the feature. Of a model that
    stopped early the rounds up to its best are taken, as its own ``predict`` does.

    Parameters
    ----------
    model : lightgbm.Booster or lightgbm.LGBMModel
    feature_costs, split_cost, feature_groups, group_costs : optional
        See :class:`MeteredForest`.

    Returns
    -------
    MeteredForest
        Its raw scores are those of ``predict(X, raw_score=True)``, bit for bit. Its `predict` is
        the library's: classes of a LGBMClassifier, likelihoods of a Booster that classifies.

    Raises
    ------
    ValueError
        For categorical splits, ``zero_as_missing``, linear leaves, random forests (averaged), and
        what is no LightGBM model. Of an objective that is not known here, `predict` is refused.
    """
    booster = getattr(model, "booster_", model)
    if not callable(getattr(booster, "dump_model", None)):
        if hasattr(type(model), "booster_"):  # an estimator of LightGBM that has none yet
            raise ValueError("This LightGBM model is not fitted.")
        raise ValueError(f"from_lightgbm needs a LightGBM model, got {type(model).__name__}.")
    dump = booster.dump_model()
    if dump.get("average_output"):
        raise ValueError("LightGBM's random forests average their trees; this is not supported.")
    names = dump["feature_names"]
    unnamed = names == [f"Column_{m}" for m in range(len(names))]
    return MeteredForest(
        [Tree(info["tree_structure"], _read_lightgbm) for info in dump["tree_info"]],
        np.zeros(dump["num_tree_per_iteration"]),
        dump["max_feature_idx"] + 1,
        as_seen=tiny_is_zero,
        library="LightGBM",
        feature_costs=feature_costs,
        split_cost=split_cost,
        feature_groups=feature_groups,
        group_costs=group_costs,
        feature_names=None if unnamed else names,
        link=lightgbm_link(model, dump),
        allow_nan=True,
        inverse_link=lightgbm_inverse_link(model, dump),
    )


def _read_lightgbm(node: dict) -> Leaf | Split:
    if "split_feature" not in node:
        if "leaf_coeff" in node:
            raise ValueError("LightGBM's linear trees are not supported: a leaf asks for features.")
        return Leaf((node["leaf_value"],), node.get("leaf_index", 0))
    if node["decision_type"] != "<=":
        raise ValueError(
            "LightGBM's categorical splits are not supported: train on numeric features."
        )
    if node["missing_type"] == "Zero":
        raise ValueError("LightGBM's zero_as_missing is not supported: 0 is a value here.")
    threshold = node["threshold"]
    missing_left = node["default_left"] if node["missing_type"] == "NaN" else threshold >= 0.0
    children = node["left_child"], node["right_child"]
    return Split(node["split_feature"], threshold, *children, missing_left)


# --- CatBoost -----------------------------------------------------------------------------------


def from_catboost(
    model: Any,
    *,
    feature_costs: FeatureCosts = None,
    split_cost: float = 0.0,
    feature_groups: FeatureGroups = None,
    group_costs: GroupCosts = None,
) -> MeteredForest:
    """Meter a fitted CatBoost model.

    Features and borders are compared in single precision; ``x > border`` goes right. A missing
    value is below all others, or above them with ``nan_mode="Max"``. CatBoost's
    usual trees are *oblivious*: all nodes of a level ask the same question, so **an oblivious tree
    asks for every level's feature, and every row pays for all of them**: with depth 6, six
    evaluations a tree, and the same features for every row. The other policies (``Depthwise``,
    ``Lossguide``) grow trees whose rows part ways. A tree of a multi-class model serves all classes
    and is passed, and charged, once.
    """
    if not callable(getattr(model, "get_scale_and_bias", None)):
        raise ValueError(f"from_catboost needs a CatBoost model, got {type(model).__name__}.")
    if not model.is_fitted():
        raise ValueError("This CatBoost model is not fitted.")
    loss = catboost_loss(model)
    if loss in ("MultiLogloss", "MultiCrossEntropy"):
        raise ValueError(
            f"CatBoost's {loss} gives each row several labels; this is not supported: train a "
            "model for each label."
        )
    names = model.feature_names_
    unnamed = names == [str(m) for m in range(len(names))]
    for kind in ("text", "embedding"):  # of such models CatBoost writes no JSON
        if getattr(model, f"get_{kind}_feature_indices")():
            raise _not_numeric([f"{kind}_features"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        dump = json.loads(path.read_text(encoding="utf-8"))
    features = dump["features_info"]
    others = [kind for kind in features if kind not in ("float_features",) and features[kind]]
    if others:
        raise _not_numeric(others)
    column = {
        f["feature_index"]: (f["flat_feature_index"], f["nan_value_treatment"] != "AsTrue")
        for f in features["float_features"]
    }
    scale, bias = dump["scale_and_bias"]
    bias = np.atleast_1d(np.asarray(bias, dtype=np.float64))
    if "oblivious_trees" in dump:
        trees = [_oblivious(tree, len(bias), scale, column) for tree in dump["oblivious_trees"]]
    else:
        trees = [_asymmetric(tree, scale, column) for tree in dump["trees"]]
    forest = MeteredForest(
        trees,
        bias,
        len(names),
        as_seen=single_precision,
        library="CatBoost",
        feature_costs=feature_costs,
        split_cost=split_cost,
        feature_groups=feature_groups,
        group_costs=group_costs,
        feature_names=None if unnamed else names,
        link=catboost_link(model, loss),
        allow_nan=True,
        inverse_link=catboost_inverse_link(model, loss),
    )
    if unnamed:
        forest._column_numbers_ = tuple(range(len(names)))
    return forest


def _not_numeric(kinds: list[str]) -> ValueError:
    return ValueError(
        f"Only numeric features of CatBoost are supported; this model has {', '.join(kinds)}."
    )


def _border(split: dict, column: dict) -> tuple[int, float, bool]:
    """Return feature and threshold of a CatBoost split, and whether missing values go left."""
    if split["split_type"] != "FloatFeature":
        raise ValueError(f"CatBoost's splits of type {split['split_type']} are not supported.")
    feature, missing_left = column[split["float_feature_index"]]
    return feature, float(np.float32(split["border"])), missing_left


def _oblivious(tree: dict, n_outputs: int, scale: float, column: dict) -> Tree:
    """Read an oblivious tree; a node is (level, bits of the leaf's number so far)."""
    questions = [_border(split, column) for split in tree.get("splits") or []]
    values = scale * np.reshape(tree["leaf_values"], (-1, n_outputs))

    def read(node):
        level, number = node
        if level == len(questions):
            return Leaf(values[number], number)
        feature, threshold, missing_left = questions[level]
        left, right = (level + 1, number), (level + 1, number | 1 << level)
        return Split(feature, threshold, left, right, missing_left)

    return Tree((0, 0), read)


def _asymmetric(tree: dict, scale: float, column: dict) -> Tree:
    """Read a tree of the policies Depthwise and Lossguide; leaves are numbered depth first."""
    numbers: dict[int, int] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if "split" in node:
            waiting += [node["right"], node["left"]]
        else:
            numbers[id(node)] = len(numbers)

    def read(node):
        if "split" not in node:
            return Leaf(scale * np.atleast_1d(node["value"]), numbers[id(node)])
        feature, threshold, missing_left = _border(node["split"], column)
        return Split(feature, threshold, node["left"], node["right"], missing_left)

    return Tree(tree, read)


# --- scikit-learn -------------------------------------------------------------------------------


def from_scikit_learn(
    model: Any,
    *,
    feature_costs: FeatureCosts = None,
    split_cost: float = 0.0,
    feature_groups: FeatureGroups = None,
    group_costs: GroupCosts = None,
) -> MeteredForest:
    """Meter a fitted boosted forest of scikit-learn."""
    if hasattr(model, "_predictors"):
        trees, initial, as_seen = *_hist_gradient_boosting(model), double_precision
        allow_nan = True
    elif hasattr(model, "_raw_predict_init") and hasattr(model, "estimators_"):
        trees, initial, as_seen = *_gradient_boosting(model), single_precision
        allow_nan = False
    else:
        raise ValueError(
            "from_scikit_learn needs a fitted (Hist)GradientBoosting estimator, got "
            f"{type(model).__name__}."
        )
    return MeteredForest(
        trees,
        initial,
        model.n_features_in_,
        as_seen=as_seen,
        library="scikit-learn",
        feature_costs=feature_costs,
        split_cost=split_cost,
        feature_groups=feature_groups,
        group_costs=group_costs,
        feature_names=getattr(model, "feature_names_in_", None),
        link=scikit_learn_link(model, len(initial)),
        allow_nan=allow_nan,
        inverse_link=scikit_learn_inverse_link(model),
    )


def _hist_gradient_boosting(model) -> tuple[list[Tree], np.ndarray]:
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        raise ValueError(
            "scikit-learn's categorical features are not supported: train on numeric features."
        )
    trees = [
        Tree(0, _hist_reader(predictor.nodes)) for stage in model._predictors for predictor in stage
    ]
    return trees, np.ravel(model._baseline_prediction)


def _hist_reader(nodes) -> Callable[[int], Leaf | Split]:
    def read(i):
        node = nodes[i]
        if node["is_leaf"]:
            return Leaf((node["value"],), i)
        children = int(node["left"]), int(node["right"])
        missing_left = bool(node["missing_go_to_left"])
        return Split(int(node["feature_idx"]), node["num_threshold"], *children, missing_left)

    return read


def _gradient_boosting(model) -> tuple[list[Tree], np.ndarray]:
    # A constant start is the same for any two rows; a model's is not, nor can it be metered.
    if model.init is not None and model.init != "zero":
        raise ValueError("GradientBoosting with an init estimator is not supported: it has a cost.")
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    initial = np.ravel(model._raw_predict_init(row)).astype(np.float64)
    trees = [
        Tree(0, _array_reader(estimator.tree_, model.learning_rate))
        for stage in model.estimators_
        for estimator in stage
    ]
    return trees, initial


def _array_reader(tree, learning_rate: float) -> Callable[[int], Leaf | Split]:
    left, right = tree.children_left, tree.children_right
    feature, threshold, value = tree.feature, tree.threshold, tree.value[:, 0, 0]

    def read(i):
        if left[i] < 0:
            return Leaf((learning_rate * value[i],), i)
        return Split(int(feature[i]), threshold[i], int(left[i]), int(right[i]))

    return read
