"""Tables, arrays and lists of rows, column by column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Columns(NamedTuple):
    """Columns of a table, by place; `names` is None of what is no table."""

    values: list[Any]
    names: list | None

    def called(self, m: int) -> str:
        """What to call a column in a message."""
        return f"Column {m}" if self.names is None else f"Column {self.names[m]!r}"


def columns_of(X: Any, names: list | None) -> Columns:
    """Take a table, an array or a list of rows apart."""
    if names is not None:
        if hasattr(X, "iloc"):  # pandas: names may come twice
            return Columns([X.iloc[:, m] for m in range(len(names))], names)
        if hasattr(X, "column_names"):  # Arrow
            return Columns([X.column(m) for m in range(len(names))], names)
        return Columns([X[name] for name in names], names)
    if hasattr(X, "toarray"):
        raise ValueError(
            "X is a sparse matrix, and with categorical_features rows are read densely: give "
            "X.toarray()."
        )
    X = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, got an array of shape {X.shape}.")
    return Columns(list(X.T), None)


def as_list(column: Any) -> list:
    """Values of a column, or of rows, as Python's own."""
    listing = getattr(column, "to_pylist", getattr(column, "tolist", None))
    listing = getattr(column, "to_list", listing)
    return list(column) if listing is None else listing()
