"""Monotonic constraints as users give them: a sign for each column, by place or by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..validation.prices import labelled

_WHAT = (
    "monotonic_cst must have 1 (scores never fall), -1 (they never rise) or 0 for each column, or "
    "a dict of those of some columns"
)


def check_monotonic_cst(_: str, spec: Any) -> Any:
    """Give the parameter as it is; refuse what has other values than the three signs."""
    if spec is not None:
        _signs(spec)
    return spec


def _signs(spec: Any) -> np.ndarray:
    pairs = labelled(spec)
    try:
        values = np.asarray(spec if pairs is None else pairs.values)
        right = values.ndim == 1 and values.dtype.kind in "iuf" and set(values) <= {-1, 0, 1}
    except (TypeError, ValueError):
        right = False
    if not right and not (pairs is not None and not pairs.labels):
        raise ValueError(f"{_WHAT}, got {spec!r:.80}.")
    return values.astype(np.int8)


def constraint_signs(
    spec: Any, n_features: int, names: Sequence | None, categorical: np.ndarray | None
) -> np.ndarray | None:
    """Sign of each column's constraint."""
    if spec is None:
        return None
    given, pairs = _signs(spec), labelled(spec)
    if pairs is None:
        if len(given) != n_features:
            raise ValueError(f"{_WHAT}: there are {n_features} columns, got {len(given)} values.")
        signs = given
    else:
        columns = list(range(n_features)) if names is None else list(names)
        unknown = [label for label in pairs.labels if label not in columns]
        if unknown:
            raise ValueError(f"monotonic_cst is of {unknown[0]!r}, which no column of X is called.")
        if len(set(pairs.labels)) < len(pairs.labels):
            raise ValueError("monotonic_cst has a column twice, and may contradict itself.")
        signs = np.zeros(n_features, dtype=np.int8)
        signs[[columns.index(label) for label in pairs.labels]] = given
    if categorical is not None and np.any(signs[categorical]):
        column = int(np.flatnonzero(categorical & (signs != 0))[0])
        called = column if names is None else repr(names[column])
        raise ValueError(
            f"monotonic_cst constrains column {called}, which is of categories: they have no order."
        )
    return signs if np.any(signs) else None
