"""Features that one acquisition brings together: the labels of groups, and their own prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral

import numpy as np

from ..inputs.types import FeatureGroups, GroupCosts
from .by_name import in_column_order, listed


def group_labels(
    feature_groups: FeatureGroups, n_features: int, feature_names: Sequence[str] | None = None
) -> np.ndarray:
    """Group label of each feature, in the order of the columns."""
    by_position = in_column_order(feature_groups, "feature_groups", n_features, feature_names)
    wanted = "feature_groups must be whole numbers, or names, one label for each feature"
    if np.ma.isMaskedArray(by_position):
        raise ValueError(f"{wanted}, not a masked array: fill it in first.")
    try:
        labels = np.asarray(by_position)
        if labels.dtype.kind not in "iuf":  # 1 beside "a" must not become "1"
            labels = np.array(by_position, dtype=object)
    except (TypeError, ValueError):
        raise ValueError(f"{wanted}.") from None
    if labels.shape != (n_features,):
        raise ValueError(
            f"feature_groups must have one label for each of the {n_features} features, "
            f"got an array of shape {labels.shape}."
        )
    if labels.dtype.kind == "O":
        whole = all(isinstance(v, Integral) and not isinstance(v, bool) for v in labels)
        valid = whole or all(isinstance(v, str) for v in labels)
    else:
        valid = labels.dtype.kind in "iu" or np.all(
            np.isfinite(labels) & (labels == np.rint(labels))
        )
        if isinstance(by_position, list | tuple):  # True beside 2 becomes 1 in an array
            valid = valid and not any(isinstance(v, bool | np.bool_) for v in by_position)
    if not valid:
        raise ValueError(f"{wanted}.")
    return labels


def acquisition_units(
    feature_groups: FeatureGroups, n_features: int, feature_names: Sequence[str] | None = None
) -> np.ndarray:
    """Acquisition unit of each feature."""
    if feature_groups is None:
        return np.arange(n_features, dtype=np.int64)
    labels = group_labels(feature_groups, n_features, feature_names)
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[which]


def prices_by_group(
    group_costs: GroupCosts,
    feature_groups: FeatureGroups,
    n_features: int,
    feature_names: Sequence[str] | None = None,
) -> tuple[list, list]:
    """Prices that groups have beside those of their features, as the user gave them."""
    if feature_groups is None:
        raise ValueError("group_costs needs feature_groups: without them there are no groups.")
    if not isinstance(group_costs, Mapping):
        raise ValueError(
            "group_costs must be a dict from the label of each group to its price, got "
            f"{type(group_costs).__name__}."
        )
    labels = [
        label if isinstance(label, str) else int(label)
        for label in dict.fromkeys(group_labels(feature_groups, n_features, feature_names).tolist())
    ]
    lacking = [label for label in labels if label not in group_costs]
    unknown = [label for label in group_costs if label not in set(labels)]
    complaints = [
        f"{words} {listed(those)}"
        for those, words in ((lacking, "no price for"), (unknown, "a price for the unknown"))
        if those
    ]
    if complaints:
        raise ValueError(
            "group_costs must have exactly one price for each group of feature_groups: it has "
            f"{' and '.join(complaints)}."
        )
    return labels, [group_costs[label] for label in labels]
