"""Inputs of an ONNX graph whose model knows categories: a table's columns, one by one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..boosted_trees.estimator import BoostedTrees

_OURS = re.compile(r"X|classes|label|probabilities|variable|(value|constant)_\d+")


def column_inputs(model: BoostedTrees) -> list[str]:
    """Names of the inputs: those of the columns, or x0, x1, … .

    Raises
    ------
    ValueError
        If two columns have the same name, or one has a name of the graph's own.
    """
    given = getattr(model, "feature_names_in_", None)
    if given is None:
        return [f"x{m}" for m in range(model.n_features_in_)]
    names = given.tolist()
    for name in names:
        if _OURS.fullmatch(name) or not name or names.count(name) > 1:
            raise ValueError(
                f"An ONNX graph of categories has an input for each column, and {name!r} cannot be "
                "one's name: another is called so, too. Rename the column and fit again."
            )
    return names


def inputs_by_column(graph: Any, names: list[str], categories: dict[int, np.ndarray]) -> list[Any]:
    """Declare an input (n_samples, 1) for each column: text, or float64."""
    text = graph.helper.np_dtype_to_tensor_dtype(np.dtype(object))
    kinds = [
        text if m in categories and categories[m].dtype.kind == "O" else graph.onnx_type
        for m in range(len(names))
    ]
    return [
        graph.helper.make_tensor_value_info(name, kind, [None, 1])
        for name, kind in zip(names, kinds, strict=True)
    ]


def join_columns(graph: Any, names: list[str], categories: dict[int, np.ndarray]) -> None:
    """Put the columns side by side as X, codes in the place of categories."""
    columns = [
        _codes(graph, name, categories[m]) if m in categories else name
        for m, name in enumerate(names)
    ]
    graph.node("Concat", *columns, output="X", axis=1)


def _codes(graph: Any, name: str, known: np.ndarray) -> str:
    """Codes of a column's categories; NaN for all that the model does not know."""
    kind = str if known.dtype.kind == "O" else np.float64
    keys, codes = np.array(known.tolist(), dtype=kind), np.arange(len(known), dtype=np.float64)
    if not len(known):  # an encoder wants at least one key, and this one gives it no code
        keys, codes = np.zeros(1, dtype=kind), np.array([np.nan])
    return graph.node(
        "LabelEncoder",
        name,
        keys_tensor=graph.tensor("keys", keys),
        values_tensor=graph.tensor("codes", codes),
        default_tensor=graph.tensor("unknown", np.array([np.nan])),
    )
