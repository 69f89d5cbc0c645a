"""Memory and time over rows: what the table says and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

METHODS = {"stagewise": "stage-wise regression", "greedy_miser": "Greedy Miser"}

AT_MOST = 2.0
"""As many times as long for each row, of the largest number of rows beside the smallest."""


def _table(rows: pd.DataFrame, method: str, column: str) -> pd.DataFrame:
    """Return a column by seed and number of rows."""
    mine = rows[rows["method"] == method]
    return mine.pivot(index="seed", columns="n_rows", values=column).sort_index(axis=1)


def memory_below_data(rows: pd.DataFrame, method: str = "greedy_miser") -> np.ndarray:
    """Return log2 of how many times less than its data a training needs beside them, by seed.

    At the largest number of rows: X and y of the caller, float64, over what the peak rises by.
    """
    names = ("data_bytes", "beside_bytes")
    data, beside = (_table(rows, method, name).iloc[:, -1] for name in names)
    return np.log2(data / beside).to_numpy()


def seconds_for_each_row(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return seconds for each row, by seed and number of rows."""
    seconds = _table(rows, method, "fit_seconds")
    return seconds / seconds.columns.to_numpy()


def below_at_most(rows: pd.DataFrame, method: str = "greedy_miser") -> np.ndarray:
    """Return log2 of how far below :data:`AT_MOST` a row of the largest table takes, by seed."""
    each = seconds_for_each_row(rows, method)
    return np.log2(AT_MOST * each.iloc[:, 0] / each.iloc[:, -1]).to_numpy()
