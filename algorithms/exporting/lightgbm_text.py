"""A model in LightGBM's text format: its trees, for whatever reads LightGBM's files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ..boosted_trees.estimator import BoostedTrees
from ..trees.forest import Forest, names_of_features
from .exported import Exported, exported

_TINY = 1e-35  # LightGBM reads numbers up to it in size as 0
_NAN_IS_MISSING, _MISSING_LEFT = 2 << 2, 1 << 1  # bits of a split's decision_type


def export_lightgbm(model: BoostedTrees) -> str:
    """Write a model in LightGBM's text format (version 4).

    ``lightgbm.Booster(model_str=export_lightgbm(model))`` predicts with it, and so does what reads
    such files: Treelite, or SHAP's explainers. Prices are not in it: read it back with
    :func:`algorithms.interop.from_lightgbm` to make bills.

    Parameters
    ----------
    model : fitted estimator of boosted trees
        GBRT, CEGB or Greedy Miser.

    Returns
    -------
    str
        Objective ``regression``, ``binary`` or ``multiclass``. Raw scores (``raw_score=True``) are
        the model's, bit for bit, but for rows that hold numbers of at most 1e-35 in size, which
        LightGBM reads as 0; probabilities are equal to rounding. Classes are numbered: the format
        has no labels.

    Raises
    ------
    TypeError
        If it is no model of boosted trees.
    ValueError
        If a threshold is so close to 0 that LightGBM would not tell which side a row is on, or a
        classifier knows one class only.

    Examples
    --------
    >>> from algorithms.exporting import export_lightgbm
    >>> from algorithms.gbrt import GBRTRegressor
    >>> model = GBRTRegressor(n_estimators=2, min_samples_leaf=1).fit([[0.0], [1.0]], [0, 1])
    >>> export_lightgbm(model).splitlines()[:3]
    ['tree', 'version=v4', 'num_class=1']
    """
    what = exported(model, "LightGBM's text", with_sets=False, one_class=False)
    threshold = what.forest.threshold
    if np.any((threshold != 0) & (np.abs(threshold) <= _TINY)):
        raise ValueError(
            f"A threshold of the model is within {_TINY:g} of 0, where LightGBM reads every number "
            "as 0: scale the feature up to write the model as LightGBM's text."
        )
    return "\n".join([*_head(what, _names(model)), *_trees(what), "end of trees", "", *_END, ""])


_END = [
    "feature_importances:",
    "",
    "parameters:",
    "end of parameters",
    "",
    "pandas_categorical:null",
]


def _names(model: BoostedTrees) -> list[str]:
    """Names of the columns without spaces; LightGBM's own for columns without names."""
    names = ["_".join(name.split()) for name in names_of_features(model)]
    plain = all(name and name.isprintable() and not set(name) & set('",:[]{}') for name in names)
    if not hasattr(model, "feature_names_in_") or not plain or max(Counter(names).values()) > 1:
        return [f"Column_{m}" for m in range(len(names))]
    return names


def _head(what: Exported, names: list[str]) -> Iterator[str]:
    n_scores, objective = len(what.initial), "regression"
    if what.classes is not None:
        objective = "binary sigmoid:1" if n_scores == 1 else f"multiclass num_class:{n_scores}"
    yield from ("tree", "version=v4", f"num_class={n_scores}")
    yield from (f"num_tree_per_iteration={n_scores}", "label_index=0")
    yield f"max_feature_idx={what.n_features - 1}"
    yield f"objective={objective}"
    yield f"feature_names={' '.join(names)}"
    yield f"feature_infos={' '.join(['[-inf:inf]'] * what.n_features)}"
    yield ""


def _trees(what: Exported) -> Iterator[str]:
    forest, n_scores = what.forest, len(what.initial)
    if not forest.n_trees:  # what is predicted before the first round
        for k, score in enumerate(what.initial):
            yield from _lone_leaf(k, float(score))
    for t in range(forest.n_trees):
        nodes = slice(int(forest.tree[t]), int(forest.tree[t + 1]))
        tree = Forest(np.array([0, nodes.stop - nodes.start]), *(a[nodes] for a in forest[1:]))
        tree = tree._replace(left=np.where(tree.left >= 0, tree.left - nodes.start, -1))
        # The first trees hold the initial scores, as LightGBM's own do.
        value = what.contribution[nodes] + (what.initial[t] if t < n_scores else 0.0)
        if len(tree.left) == 1:
            yield from _lone_leaf(t, float(value[0]))
        else:
            yield from _tree(t, tree, value)


def _lone_leaf(t: int, value: float) -> Iterator[str]:
    yield from (f"Tree={t}", "num_leaves=1", "num_cat=0", "split_feature=", "split_gain=")
    yield from ("threshold=", "decision_type=", "left_child=", "right_child=")
    yield f"leaf_value={value!r}"
    yield from ("leaf_weight=", "leaf_count=", "internal_value=", "internal_weight=")
    yield from ("internal_count=", "is_linear=0", "shrinkage=1", "", "")


def _tree(t: int, tree: Forest, value: np.ndarray) -> Iterator[str]:
    split = tree.left >= 0
    number = np.where(split, np.cumsum(split) - 1, -np.cumsum(~split))  # a leaf k is -(k + 1)

    def line(name: str, values: np.ndarray) -> str:
        return f"{name}={' '.join(repr(one) for one in values.tolist())}"

    yield from (f"Tree={t}", f"num_leaves={int(np.sum(~split))}", "num_cat=0")
    yield line("split_feature", tree.feature[split])
    yield line("split_gain", tree.gain[split])
    yield line("threshold", tree.threshold[split])
    yield line("decision_type", _NAN_IS_MISSING | _MISSING_LEFT * tree.missing_left[split])
    yield line("left_child", number[tree.left[split]])
    yield line("right_child", number[tree.left[split] + 1])
    yield line("leaf_value", value[~split])
    counts = np.rint(tree.count).astype(np.int64)
    yield line("leaf_weight", tree.count[~split])
    yield line("leaf_count", counts[~split])
    yield line("internal_value", np.zeros(int(np.sum(split))))
    yield line("internal_weight", tree.count[split])
    yield line("internal_count", counts[split])
    yield from ("is_linear=0", "shrinkage=1", "", "")
