"""Beside the Greedy Miser paper: memory and time on up to as many rows as the paper has."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.data_kinds import aside
from experiments.greedy_miser_2012.cells.scaling import run_cell
from experiments.greedy_miser_2012.show.scale import METHODS

DATASETS = {"smoke": "yahoo_ltr_sample"}
DATASETS |= dict.fromkeys(("laptop", "overnight", "paper"), "covertype")
"""Covertype has as many rows as the paper's set."""

SIZES = {"smoke": (500, 1_000), "laptop": (50_000, 200_000, 473_134)}
SIZES |= dict.fromkeys(("overnight", "paper"), SIZES["laptop"])
"""Rows; the last is the paper's number of documents."""

ROUNDS = {"smoke": 3, "laptop": 100, "overnight": 100, "paper": 100}
"""Every round does the same work on the same memory."""

TRADEOFF = 1.0


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


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the table: one line per number of rows."""
    (name,) = rows["dataset"].unique()
    record = meta["data"][name]
    noted = aside(record)
    lines = [
        f"# Greedy Miser: memory and time over rows{noted} (scale {meta['scale']})",
        "",
        f"{name}, {record['n_features']} features, {ROUNDS[meta['scale']]} rounds of depth 4 at "
        f"λ = {TRADEOFF:g}, squared loss, one thread, each training in a process of its own. "
        "Beside the data: by how much the peak of the process's memory rises during the fit; mean "
        f"(smallest to largest) over {rows['seed'].nunique()} orders of the rows.",
        "",
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
    return "\n".join(lines) + "\n"


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
