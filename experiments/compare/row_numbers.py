"""Columns that number the rows: what writes a table adds them, and they predict what is sorted."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from algorithms.raw_tables.fields import key
from algorithms.validation.prices import listed
from experiments.compare.reading import Table

_OF_AN_INDEX = re.compile(r"Unnamed: [0-9]+(?:[._].*)?|__index_level_[0-9]+__")
"""What pandas calls a column that has no name, and Parquet's index that has none."""


def left_out(table: Table, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take out of the features what was written without a name."""
    notes = [
        f"column {number} of {table.file} has no name and is left out (such as the row numbers "
        "that to_csv or write.csv adds)"
        for number in table.nameless
    ]
    nameless = [name for name in names if _OF_AN_INDEX.fullmatch(key(name))]
    if nameless:
        notes.append(
            f"{listed(nameless)} of {table.file} had no name when it was written, and is left out; "
            "rename it if it is a feature"
        )
    return [name for name in names if name not in nameless], notes


def numbering(X: np.ndarray, names: Sequence[str]) -> list[str]:
    """Say which features may number the rows: whole, each once, and in order or without a gap."""
    those = [name for name, column in zip(names, X.T, strict=True) if _numbers_rows(column)]
    if not those:
        return []
    return [
        f"{listed(those)} looks like numbers of the rows (whole, each once, in order or without a "
        "gap): leave it out with --drop if it tells nothing but the order of the file"
    ]


def _numbers_rows(column: np.ndarray) -> bool:
    if not np.all(column == np.rint(column)):  # NaN is not
        return False
    step = np.diff(column)
    if np.all(step > 0) or np.all(step < 0):
        return True
    gapless = np.max(column) - np.min(column) == len(column) - 1
    return bool(gapless and len(np.unique(column)) == len(column))
