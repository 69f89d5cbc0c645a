"""Columns that number the rows: what writes a table adds them, and they predict what is sorted."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from algorithms.metering.by_name import listed
from experiments.compare.fields import key
from experiments.compare.reading import Table

_OF_AN_INDEX = re.compile(r"Unnamed: [0-9]+(?:[._].*)?|__index_level_[0-9]+__")
"""What pandas calls a column that has no name, and Parquet's index that has none."""


def left_out(table: Table, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take out of the features what was written without a name.

    Parameters
    ----------
    table : Table
    names : sequence of str
        Columns that no option names.

    Returns
    -------
    names : list of str
        Features.
    notes : list of str
        A line for each column that is none.
    """
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


def rising(X: np.ndarray, names: Sequence[str]) -> list[str]:
    """Say which features rise or fall from row to row in whole steps, as row numbers do.

    Parameters
    ----------
    X : (n, d) float64
        In the order of the file.
    names : sequence of str
    """
    if len(X) < 2 or not len(names):
        return []
    step = [np.diff(column) for column in X.T]
    those = [
        name
        for name, column, s in zip(names, X.T, step, strict=True)
        if (np.all(s > 0) or np.all(s < 0)) and np.all(column == np.rint(column))
    ]
    if not those:
        return []
    return [
        f"{listed(those)} rises or falls in every row, as row numbers do; if it tells nothing but "
        "the order of the file, leave it out with --drop"
    ]
