"""The order of the methods in tables: who is ahead of whom, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.adaptive_sampling_2014.cells.headline import FAMILIES
from experiments.adaptive_sampling_2014.cells.methods import (
    KEYS,
)
from experiments.adaptive_sampling_2014.show.paper_tables import TABLES, printed

EARLY = (10, 100, 1_000)


def headline_of(dataset: str, meta: Mapping) -> str:
    """Return the name of the features that a table is about, of those it has."""
    families = FAMILIES.get(dataset, dataset)
    return families if families in meta["data"] else dataset


def of_set(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the rows of one set of features."""
    return rows[rows["dataset"] == dataset]


def at(rows: pd.DataFrame, rounds: int, column: str = "log10_loss") -> pd.DataFrame:
    """Return a column at T rounds, as the paper counts cost: a line per seed, a method each column.

    Methods that were not run are missing.
    """
    mine = rows[(rows["budget"] == "paper") & (rows["rounds"] == rounds)]
    mine = mine[mine["algorithm"].isin(KEYS)]
    table = mine.pivot(index="seed", columns="algorithm", values=column)
    return table[[key for key in KEYS if key in table.columns]]


def lead(table: pd.DataFrame, ahead: Sequence[str], behind: Sequence[str]) -> np.ndarray:
    """Return by how much the mean of one group is smaller than that of another, for each seed."""
    if missing(table, [*ahead, *behind]):
        return np.empty(0)
    return (table[list(behind)].mean(axis=1) - table[list(ahead)].mean(axis=1)).to_numpy()


def missing(table: pd.DataFrame, methods: Sequence[str]) -> bool:
    """Whether a table lacks any of some methods, or all repetitions."""
    return table.empty or not set(methods) <= set(table.columns)


def best_of(table: pd.DataFrame, methods: Sequence[str]) -> str:
    """Return the method with the smallest mean over the repetitions, first of equals."""
    return str(table[list(methods)].mean().idxmin())


def lead_over_best(table: pd.DataFrame, method: str) -> np.ndarray:
    """Return by how much a method is below the best of the others, for each seed."""
    others = [key for key in KEYS if key != method]
    if missing(table, KEYS):
        return np.empty(0)
    return lead(table, [method], [best_of(table, others)])


def paper_at(dataset: str, rounds: int, position: int = 0) -> pd.DataFrame:
    """Return the paper's numbers in the shape of :func:`at`: one line.

    `position` 0 is the loss, 1 the test error.
    """
    return pd.DataFrame([{key: printed(dataset, key, rounds)[position] for key in TABLES[dataset]}])
