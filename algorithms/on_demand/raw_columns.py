"""Functions of the columns of a user's table, as functions of the features made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..cost_meter.trees import MeteredTrees
from ..raw_tables import TableModel
from ..raw_tables.fields import key
from ..validation.prices import column_labels, group_labels, labels_of_columns
from .functions import check_order


def of_raw_columns(model: TableModel, meter: MeteredTrees, functions: Any) -> Any:
    """Give functions that answer for what the model of a table takes; what is none stays."""
    if not isinstance(functions, Mapping):
        return functions
    first = np.concatenate([[0], np.cumsum(model.needs_.sum(axis=0))]).astype(int).tolist()
    grouped = meter.feature_groups is not None
    if grouped:
        labels = group_labels(meter.feature_groups, first[-1], column_labels(meter))
    else:
        labels = [name for column in model.columns for name in column.made]
    by_label: dict[Any, list[int]] = {}
    for m in range(len(model.columns)):
        by_label.setdefault(labels[first[m]], []).append(m)
    return {
        label: _answering(model, by_label[label], first, function, grouped)
        if callable(function) and label in by_label
        else function
        for label, function in functions.items()
    }


def _answering(
    model: TableModel, places: list[int], first: list[int], function: Callable, grouped: bool
) -> Callable:
    """A function of rows that gives what becomes of the columns at some places."""

    def answer(rows: Any) -> Any:
        given, found = function(rows), {}
        called = ", ".join(model.columns[m].name for m in places)
        check_order(f"The function of {called}", rows, given)
        by_name = _by_name(given, [model.columns[m].name for m in places], called)
        for m in places:
            if (name := key(model.columns[m].name)) in by_name:
                block = model.codes(m, by_name[name])
                found |= {first[m] + j: values for j, values in enumerate(block.T)}
        return found if grouped else found[first[places[0]]]

    return answer


def _by_name(given: Any, names: list[str], called: str) -> dict[str, Any]:
    """Columns that a function returned by their names; of an array in the order of the table's."""
    labels = list(given) if isinstance(given, Mapping) else labels_of_columns(given)
    if labels is not None:
        return {key(str(label)): given[label] for label in labels}
    columns = [given]
    if len(names) > 1:
        values = np.asarray(given, dtype=object)
        if values.ndim != 2 or values.shape[1] != len(names):
            raise ValueError(
                f"The function of {called} must return a column for each of them, got an array of "
                f"shape {values.shape}."
            )
        columns = list(values.T)
    return dict(zip(map(key, names), columns, strict=True))
