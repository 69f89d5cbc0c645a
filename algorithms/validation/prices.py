"""Prices and groups with labels (a dict, a pandas Series), put into the order of the columns.

A group are features that one acquisition brings together; it may have a price of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .types import FeatureGroups, GroupCosts

_SHOWN = 5  # names that an error message lists


class Labelled(NamedTuple):
    """Values, and the label of each."""

    labels: list
    values: Any


def feature_names(model: object) -> np.ndarray | None:
    """Names of the columns that a model was fitted on, or None if they had none."""
    return getattr(model, "feature_names_in_", None)


def labels_of_columns(X: ArrayLike) -> list | None:
    """What a table calls its columns, from left to right; None of what is no table."""
    columns = getattr(X, "column_names", None)  # Arrow's `columns` are the values
    if columns is None:
        columns = getattr(X, "columns", None)
    if columns is None or callable(columns) or getattr(X, "ndim", 2) != 2:
        return None
    return list(columns)


def column_numbers(X: ArrayLike) -> tuple[int, ...] | None:
    """Names of a table's columns if all are whole numbers, each once; else None."""
    columns = labels_of_columns(X)
    if not columns or not all(
        isinstance(column, Integral) and not isinstance(column, bool) for column in columns
    ):
        return None
    numbers = tuple(int(column) for column in columns)
    return numbers if len(set(numbers)) == len(numbers) else None


def column_labels(model: object) -> Sequence | None:
    """What prices call the columns that a model was fitted on, or None.

    Names, or the whole numbers that a table's columns were called by.
    """
    names = feature_names(model)
    return getattr(model, "_column_numbers_", None) if names is None else names


def take_column_numbers(meter: Any, model: object) -> None:
    """Let a meter call the columns by the numbers that a model, or its table, called them by."""
    if hasattr(model, "_column_numbers_"):
        meter._column_numbers_ = model._column_numbers_


def by_place(model: object, name: str, values: object) -> Any:
    """Values whose labels are the numbers that columns are called by, in the columns' order.

    So files hold them, whether or not they hold the numbers. Anything else is returned as it is.
    """
    numbers, pairs = getattr(model, "_column_numbers_", None), labelled(values)
    of_columns = name not in ("group_costs", "class_weight") and pairs is not None
    if numbers is None or not of_columns or not _are(pairs.labels, numbers):
        return values
    return in_column_order(values, name, len(numbers), numbers)


def _are(labels: Sequence, columns: Sequence) -> bool:
    """Whether labels are those of the columns, each once."""
    return len(labels) == len(columns) and set(labels) == set(columns)


def labelled(values: object) -> Labelled | None:
    """Labels and values of a dict or a Series; None of what has no labels."""
    if isinstance(values, Labelled):
        return values
    if isinstance(values, Mapping):
        return Labelled(list(values), list(values.values()))
    if hasattr(values, "iloc") and getattr(values, "ndim", 0) == 1:
        return Labelled(values.index.tolist(), values.to_numpy())
    return None


def in_column_order(
    values: object, name: str, n_features: int, feature_names: Sequence | None = None
) -> Any:
    """Values in the order of the columns."""
    pairs = labelled(values)
    if pairs is None:
        return values
    labels, by_label = pairs
    numbered = feature_names is not None and isinstance(feature_names[0], int)
    if numbered and _are(labels, range(n_features)) and not _are(labels, feature_names):
        feature_names, numbered = None, False  # places
    if numbered:
        columns: Sequence = feature_names
    elif feature_names is None:
        if all(isinstance(key, Integral) and not isinstance(key, bool) for key in labels):
            if labels == list(range(len(labels))):
                return by_label
            columns = range(n_features)
        else:
            raise ValueError(
                f"{name} has names ({listed(labels)}), but the columns of X had none when the "
                f"model was fitted: give one value for each of the {n_features} features in their "
                f"order, or keys from 0 to {n_features - 1}."
            )
    else:
        columns = [str(column) for column in feature_names]
        repeated = _repeated(columns)
        if repeated:
            raise ValueError(
                f"{name} cannot be matched by name: several columns are called "
                f"{listed(repeated)}. Give one value for each column, in their order."
            )
    place = {label: i for i, label in enumerate(labels)}
    known = set(columns)
    problems = [
        (_repeated(labels), "more than one value for"),
        ([column for column in columns if column not in place], "no value for"),
        ([label for label in place if label not in known], "a value for the unknown"),
    ]
    complaints = [f"{words} {listed(those)}" for those, words in problems if those]
    if complaints:
        by = "number" if numbered or feature_names is None else "name"
        raise ValueError(
            f"{name} must have exactly one value for each column of X, by its {by}: it has "
            f"{' and '.join(complaints)}."
        )
    return [by_label[place[column]] for column in columns]


def _repeated(labels: Sequence) -> list:
    return [label for label, count in Counter(labels).items() if count > 1]


def listed(labels: Sequence) -> str:
    """Labels as an error message can list them: the first few, and how many more there are."""
    shown = ", ".join(repr(label) for label in labels[:_SHOWN])
    more = len(labels) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


# --- groups ------------------------------------------------------------------------------------


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
