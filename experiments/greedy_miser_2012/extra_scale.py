"""Beside the Greedy Miser paper: memory and time on up to as many rows as the paper has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.data_kinds import aside
from experiments.greedy_miser_2012.cells.scaling import run_cell
from experiments.tables import page

DATASETS = {"smoke": "yahoo_ltr_sample"}
DATASETS |= dict.fromkeys(("laptop", "overnight", "paper"), "covertype")
"""Covertype has as many rows as the paper's set."""

SIZES = {"smoke": (500, 1_000), "laptop": (50_000, 200_000, 473_134)}
SIZES |= dict.fromkeys(("overnight", "paper"), SIZES["laptop"])
"""Rows; the last is the paper's number of documents."""

ROUNDS = {"smoke": 3, "laptop": 100, "overnight": 100, "paper": 100}
"""Every round does the same work on the same memory."""

TRADEOFF = 1.0

METHODS = {"stagewise": "stage-wise regression", "greedy_miser": "Greedy Miser"}

AT_MOST = 2.0
"""As many times as long for each row, of the largest number of rows beside the smallest."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return one cell per seed, which trains all sizes; nothing runs beside it."""
    settings = {
        "n_estimators": ROUNDS[scale],
        "learning_rate": 0.1,
        "max_depth": 4,
        "min_samples_leaf": 20,
        "charging": "first_use",
        "init": "zero",
    }
    tradeoffs = {"stagewise": 0.0, "greedy_miser": TRADEOFF}
    if scale == "smoke":  # each training starts a process
        del tradeoffs["stagewise"]
    params = {"sizes": list(SIZES[scale]), "tradeoffs": tradeoffs, "settings": settings}
    return [Cell(DATASETS[scale], "greedy_miser", params, seed, alone=True) for seed in seeds]


def _table(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column of Greedy Miser by seed and number of rows."""
    mine = rows[rows["method"] == "greedy_miser"]
    return mine.pivot(index="seed", columns="n_rows", values=column).sort_index(axis=1)


def memory_below_data(rows: pd.DataFrame) -> np.ndarray:
    """Return log2 of how many times less than its data a training needs beside them, by seed.

    At the largest number of rows: X and y of the caller, float64, over what the peak rises by.
    """
    data, beside = (_table(rows, name).iloc[:, -1] for name in ("data_bytes", "beside_bytes"))
    return np.log2(data / beside).to_numpy()


def below_at_most(rows: pd.DataFrame) -> np.ndarray:
    """Return log2 of how far below :data:`AT_MOST` a row of the largest table takes, by seed."""
    seconds = _table(rows, "fit_seconds")
    each = seconds / seconds.columns.to_numpy()
    return np.log2(AT_MOST * each.iloc[:, 0] / each.iloc[:, -1]).to_numpy()


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the table: one line per number of rows."""
    (name,) = rows["dataset"].unique()
    record = meta["data"][name]
    lines = [
        "| rows | method | data, MB | beside them, MB | seconds | microseconds a row and round |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for (n_rows, method), mine in rows.groupby(["n_rows", "method"], sort=True):
        beside = mine["beside_bytes"] / 1e6
        each = 1e6 * mine["fit_seconds"] / n_rows / ROUNDS[meta["scale"]]
        lines.append(
            f"| {n_rows:,} | {METHODS[method]} | {mine['data_bytes'].iloc[0] / 1e6:.0f} "
            f"| {beside.mean():.0f} ({beside.min():.0f} to {beside.max():.0f}) "
            f"| {mine['fit_seconds'].mean():.3g} | {each.mean():.3g} |"
        )
    return page(
        f"Greedy Miser: memory and time over rows{aside(record)} (scale {meta['scale']})",
        f"{name}, {record['n_features']} features, {ROUNDS[meta['scale']]} rounds of depth 4 at "
        f"λ = {TRADEOFF:g}, squared loss, one thread, each training in a process of its own. "
        "Beside the data: by how much the peak of the process's memory rises during the fit; mean "
        f"(smallest to largest) over {rows['seed'].nunique()} orders of the rows.",
        lines,
    )


ARTEFACT = Artefact(
    id="miser-scale",
    paper="greedy_miser_2012",
    title="Beside Greedy Miser: memory and time over rows",
    shows="What training on up to 473,134 rows needs beside its data, and how its time grows.",
    minutes={"smoke": 0.2, "laptop": 1.2, "overnight": 4, "paper": 4},
    seeds={"smoke": 1, "laptop": 3, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("method", "n_rows"),
    tolerances={"data_bytes": Tolerance(absolute=0), "n_splits": Tolerance(relative=0.02)},
    timing_columns=("fit_seconds", "beside_bytes"),
    judged_by_times=True,
    render=render,
    paper_numbers='The paper gives no numbers but its own 473,134 documents: "no significant '
    'operational memory besides the data and scales easily to millions of data points".',
)
