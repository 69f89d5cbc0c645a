"""Small multiples of curves: what a method reaches against what it spends.

Thirteen curves in one panel are one bundle. Here a column has the methods of one kind; all others
stand behind them in light grey.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from experiments.adaptive_sampling_2014.cells.grid import make_cells, rounds_1_2_5
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.artefact import Cell
from experiments.data_kinds import in_words, kind_in_words

FIRST = "first families and rules of before: not the classifiers of Tables 1, 2 and 4 as published"
"""What a title says: the families are those of before ``mash``, Laminating begins with Q = 32,
equals go to the lowest feature. Of Caltech-101, Table 3 still has these families and rules."""


def cells_of_sets(
    scale: str,
    seeds: range,
    series: Callable[[int], list[int]] = rounds_1_2_5,
    timed: bool = False,
) -> list[Cell]:
    """Return the cells of all four data sets, see :data:`FIRST`; untimed Table 3's are its own."""
    return [
        cell
        for dataset in SETS
        for cell in make_cells(dataset, scale, seeds, series=series, timed=timed)
    ]


def curve(rows: pd.DataFrame, dataset: str, method: str) -> pd.DataFrame:
    """Return what a method reaches after each round read, and spends: a line per seed and round."""
    mine = (rows["dataset"] == dataset) & (rows["algorithm"] == method)
    return rows[mine & (rows["budget"] == "paper")].sort_values(["seed", "rounds"])


def kind_of(record: Mapping) -> str:
    """Say whether data are real, a part of the real ones, or of another kind."""
    return kind_in_words(record) if record["kind"] == "real" else in_words(record)


def repetitions(meta: Mapping) -> str:
    """Say how many repetitions there were, and what a band is."""
    n = len(meta["seeds"])
    return "1 repetition" if n == 1 else f"{n} repetitions, bands: standard deviation"
