"""Categories in the header of a file: lists of text or numbers, by the place of their column."""

from __future__ import annotations

import reprlib
from itertools import pairwise

import numpy as np

from ..estimators.files import entry
from ..trees.binning import MAX_BINS


def stored_categories(known: dict[int, np.ndarray]) -> dict:
    """What a header says of columns of categories; nothing if there are none."""
    if not known:
        return {}
    return {"categories": {str(m): labels.tolist() for m, labels in known.items()}}


def restored_categories(header: dict, n_features: int) -> dict[int, np.ndarray]:
    """Categories from their entry in a header."""
    stored = entry(header, "categories", dict, "an object")
    places = [int(m) if m.isdecimal() and len(m) < 10 else -1 for m in stored]
    if not places or sorted(set(places)) != places or not 0 <= places[0] <= places[-1] < n_features:
        raise ValueError(
            f"categories in its header must be of some of {n_features} columns, in their order"
        )
    return dict(zip(places, map(_labels, stored.values()), strict=True))


def _labels(values: object) -> np.ndarray:
    """Distinct labels in ascending order, all text or all numbers."""
    kind = str if isinstance(values, list) and values and isinstance(values[0], str) else float
    good = isinstance(values, list) and len(values) <= MAX_BINS
    if not good or any(type(value) is not kind for value in values):
        raise ValueError(
            f"a column's categories in its header must be at most {MAX_BINS} texts or numbers, got "
            f"{reprlib.repr(values)}"
        )
    if any(not a < b for a, b in pairwise(values)):
        raise ValueError("a column's categories in its header must be distinct and ascending")
    labels = np.array(values, dtype=object if kind is str else np.float64)
    if kind is float and not np.all(np.isfinite(labels)):
        raise ValueError("a column's categories in its header must be finite")
    return labels
