"""Training time beside that of plain boosting: what two papers say without a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.artefact import Artefact, Tolerance


def times_as_long(rows: pd.DataFrame, dataset: str, method: str, base: str) -> pd.Series:
    """Return for each seed how many times as long as another a method takes."""
    mine = rows[rows["dataset"] == dataset]
    table = mine.pivot(index="seed", columns="method", values="fit_seconds")
    return table[method] / table[base]


def margin(rows: pd.DataFrame, dataset: str, method: str, base: str, at_most: float) -> np.ndarray:
    """Return log2 of how far below `at_most` the ratio of times lies, one value per seed."""
    return np.log2(at_most / times_as_long(rows, dataset, method, base)).to_numpy()


def training_time(**declared: Any) -> Artefact:
    """Declare an artefact whose cells are :func:`experiments.cells.racing.raced`."""
    return Artefact(
        **declared,
        seeds={"smoke": 1, "laptop": 5, "overnight": 10, "paper": 5},
        keys=("method", "tradeoff"),
        tolerances={"n_splits": Tolerance(relative=0.02)},
        timing_columns=("fit_seconds",),
        judged_by_times=True,
    )
