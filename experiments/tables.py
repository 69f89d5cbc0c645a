"""Numbers as tables in markdown show them."""

from __future__ import annotations

import pandas as pd


def mean_and_deviation(values: pd.Series, form: str) -> str:
    """Return "mean ± standard deviation"; a dash where a value is missing."""
    if values.isna().any():
        return "–"
    text = format(values.mean(), form)
    return text if len(values) < 2 else f"{text} ± {values.std(ddof=1):.4f}"
