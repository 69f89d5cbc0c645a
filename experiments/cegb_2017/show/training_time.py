"""How long trainings take, each beside the other: what tables say and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.training_time import times_as_long

VARIANTS = {
    "cegb": "CEGB",
    "cegb_all_splits": "CEGB with as many splits (no stop at negative gain)",
}


def ratios(rows: pd.DataFrame, dataset: str, method: str) -> pd.Series:
    """Return for each seed how many times as long as plain boosting a method takes."""
    return times_as_long(rows, dataset, method, "gbrt")


AT_MOST = 1.5
"""As many times as long is comparable; the paper gives no number."""


def margin(rows: pd.DataFrame, dataset: str, method: str) -> np.ndarray:
    """Return log2 of how far below :data:`AT_MOST` the ratio lies, one value per seed."""
    return np.log2(AT_MOST / ratios(rows, dataset, method)).to_numpy()
