"""Frames of Dask as the arrays that the workers of a cluster train on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.fitting import of_dask
from .workers import connected_client, naming_a_lost_scheduler


def dask_column_names(X: object) -> np.ndarray | None:
    """Names of a Dask frame's columns, by scikit-learn's rule for tables."""
    columns = list(getattr(X, "columns", ())) if of_dask(X) else []
    strings = sum(isinstance(column, str) for column in columns)
    if 0 < strings < len(columns):
        raise TypeError(
            "Columns must be named by strings, all or none: give X.rename(columns=str)."
        )
    return np.array(columns, dtype=object) if strings else None


def as_dask_arrays(*given: Any) -> tuple[Any, ...]:
    """Give Dask frames and series as Dask arrays whose blocks' lengths are known."""
    if not any(map(_is_frame, given)):
        return given
    with naming_a_lost_scheduler(connected_client()):
        return tuple(_as_array(values) if _is_frame(values) else values for values in given)


def _is_frame(values: object) -> bool:
    """Whether values are a frame or a series of Dask's."""
    return of_dask(values) and hasattr(values, "to_dask_array")


def _as_array(frame):
    if hasattr(frame, "map_partitions") and getattr(frame, "ndim", 1) == 2:
        frame = frame.map_partitions(_in_order, list(frame.columns), meta=frame._meta)
    return frame.to_dask_array(lengths=True)


def _in_order(part, columns: list):
    """Put the columns of a part of a frame into the frame's order."""
    own = list(part.columns)
    if own == columns:
        return part
    if len(set(own)) != len(own) or set(own) != set(columns):
        raise ValueError(
            f"A part of the Dask frame has the columns {own}, and the frame says {columns}: give "
            "all parts the same columns."
        )
    return part[columns]
