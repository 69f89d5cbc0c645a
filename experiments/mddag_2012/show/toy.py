"""Figure 1's toy: what is drawn of it and what claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

DATASET, BETA = "toy", 0.01


def of(rows: pd.DataFrame, record: str, method: str = "mddag_i") -> pd.DataFrame:
    """Return the rows of one kind."""
    return rows[(rows["record"] == record) & (rows["method"] == method)]


def on_two_paths(rows: pd.DataFrame, method: str = "mddag_i") -> np.ndarray:
    """Return the share of positive points on the two most frequent paths, by seed."""
    paths = of(rows, "path", method)
    taken = (paths["first"] + paths["second"]).groupby(paths["seed"])
    return (taken.apply(lambda counts: counts.nlargest(2).sum()) / taken.sum()).to_numpy()
