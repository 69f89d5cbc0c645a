"""Masked arrays: what a mask hides is missing, and never read as a value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .numerals import whole_beyond


def hides_values(values: object) -> bool:
    """Whether an array, or an array in a list, is masked and its mask hides something."""
    if isinstance(values, list | tuple):
        return any(np.ma.isMaskedArray(one) and np.ma.is_masked(one) for one in values)
    return np.ma.isMaskedArray(values) and np.ma.is_masked(values)


def refuse_masked(values: object, name: str) -> None:
    """Refuse hidden values where none may be missing."""
    if hides_values(values):
        raise ValueError(
            f"{name} must have all of its values, so that it is not a masked array: fill it in "
            "first."
        )


def masked_as_missing(X: ArrayLike, allow_nan: bool, reader: str) -> Any:
    """Give rows whose hidden values are NaN."""
    if not hides_values(X):
        return X
    if not allow_nan:
        raise ValueError(
            f"X is a masked array: what it hides is missing, and {reader} takes no missing values "
            "(NaN). Give it no masked array: fill it in first."
        )
    X = np.ma.array(X)
    if X.dtype.kind not in "fc":
        exact = X.dtype.kind in "iub" and not whole_beyond(X.compressed())
        X = X.astype(np.float64 if exact else object)
    return X.filled(np.nan)
