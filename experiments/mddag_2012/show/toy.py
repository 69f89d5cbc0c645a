"""Figure 1's toy: what is drawn of it and what claims judge."""

from __future__ import annotations

import pandas as pd

DATASET, BETA = "toy", 0.01


def of(rows: pd.DataFrame, record: str, method: str = "mddag_i") -> pd.DataFrame:
    """Return the rows of one kind."""
    return rows[(rows["record"] == record) & (rows["method"] == method)]
