"""Training time beside that of plain boosting: what two papers say without a number."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.artefact import Artefact, Tolerance


def times_as_long(rows: pd.DataFrame, dataset: str, method: str, base: str) -> pd.Series:
    """Return for each seed how many times as long as another a method takes."""
    mine = rows[rows["dataset"] == dataset]
    table = mine.pivot(index="seed", columns="method", values="fit_seconds")
    return table[method] / table[base]


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
