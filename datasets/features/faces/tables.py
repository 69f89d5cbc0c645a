"""From windows to columns and tables: bytes kept in the cache once, rows chosen by number."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from datasets.dataset import Dataset
from datasets.features.faces import prices
from datasets.features.faces.families import (
    FAMILIES,
    N_FEATURES,
    SHAPE,
    feature_groups,
    feature_names,
)
from datasets.features.store import PARTS, columns_of, complete
from datasets.images import ImageSet

ROWS = 1_000
"""Rows converted to float64 at once."""


@dataclass(frozen=True)
class Columns:
    """The features of all windows as bytes, one row per feature."""

    # train, test: (n_features, n_windows) uint8: of real windows memory-mapped and read-only: pages
    # are read when a row is used
    train: np.ndarray
    test: np.ndarray
    y_train: np.ndarray  # y_train, y_test: (n_windows,) int64: 1 = face
    y_test: np.ndarray
    # (n_train,) int64: which of the five divisions of repetitions 0 to 4 each training window is
    # in, 0..4
    fold: np.ndarray
    # (n_train,) int64: windows with one number are in one division, in all repetitions
    group: np.ndarray
    # As `Dataset.provenance`
    provenance: dict[str, Any] = field(default_factory=dict)


def stored(images: ImageSet, checksum: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Give the columns of real windows, computing what the cache does not have (in seconds).

    With the SHA-256 of the columns' own digests.
    """
    parts = {part: getattr(images, part) for part in PARTS}
    store = columns_of(images.name, FAMILIES, parts, checksum)
    index = complete(store, n_jobs=1, progress=False)
    digest = hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()
    return *(store.open(part) for part in PARTS), digest


def computed(windows: np.ndarray) -> np.ndarray:
    """Compute the columns of windows without keeping them."""
    if windows.shape[1:] != SHAPE:
        raise ValueError(f"windows must be of {SHAPE} pixels, not {windows.shape[1:]}")
    columns = np.empty((N_FEATURES, len(windows)), dtype=np.uint8)
    for start in range(0, len(windows), ROWS):
        block = windows[start : start + ROWS]
        every = np.concatenate([family.columns(block) for family in FAMILIES], axis=1)
        columns[:, start : start + ROWS] = every.T
    return columns


def rows(columns: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Give rows of a table as float64, some at a time."""
    table = np.empty((len(numbers), len(columns)))
    for start in range(0, len(numbers), ROWS):
        chosen = numbers[start : start + ROWS]
        table[start : start + ROWS] = columns[:, chosen].T
    return table


def table(name: str, columns: Columns, parts: dict[str, tuple[str, np.ndarray]]) -> Dataset:
    """Make a data set with the committed prices.

    Parts say in which of the two sets of windows their rows are, and which ones.
    """
    measured = prices.prices()
    arrays = {}
    for part, (side, numbers) in parts.items():
        arrays[f"X_{part}"] = rows(getattr(columns, side), numbers)
        arrays[f"y_{part}"] = getattr(columns, f"y_{side}")[numbers]
    return Dataset(
        name=name,
        task="binary",
        **arrays,
        feature_costs=measured.features,
        cost_unit=prices.UNIT,
        cost_origin=measured.origin,
        feature_names=feature_names(),
        feature_groups=feature_groups(),
        group_costs=measured.groups,
        provenance=columns.provenance,
    )
