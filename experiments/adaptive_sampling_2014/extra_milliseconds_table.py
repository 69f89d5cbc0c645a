"""Beside the adaptive sampling paper: tables like its own at equal measured time.

What a training costs is the time of the training itself and the time to compute the features it
asks for. A training image computes a whole family when any of its features is first needed; what
was computed is kept. Families and rules are those of before Tables 1, 2, 4 were run anew. Read is
the last round that a time pays for: the time that Uniform Naive takes for 10, 100, ... rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from experiments.adaptive_sampling_2014.cells.grid import KEY_COLUMNS, TOLERANCES, rounds_by_eighths
from experiments.adaptive_sampling_2014.cells.measure import learning_curve
from experiments.adaptive_sampling_2014.cells.methods import METHODS, NAMES, Method
from experiments.adaptive_sampling_2014.show.curve_panels import (
    FIRST,
    cells_of_sets,
    curve,
    kind_of,
)
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.adaptive_sampling_2014.show.tables import table_rounds
from experiments.artefact import Artefact
from experiments.tables import number

YARDSTICK = "uniform_naive"
TIMING_COLUMNS = ("training_seconds", "tuning_seconds")
MINUTES = {"smoke": 0.5, "laptop": 9, "overnight": 270, "paper": 2400}
SEEDS = {"smoke": 1, "laptop": 1, "overnight": 3, "paper": 3}
make_cells = partial(cells_of_sets, series=rounds_by_eighths, timed=True)


def with_total(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with ``total_seconds``: training, and features for the training images."""
    return rows.assign(total_seconds=rows["training_seconds"] + rows["feature_seconds"])


def last_within(rows: pd.DataFrame, dataset: str, method: str, seconds: float) -> pd.DataFrame:
    """Return for each seed the last row that a time pays for; none where it pays for no row."""
    mine = curve(with_total(rows), dataset, method)
    return mine[mine["total_seconds"] <= seconds].groupby("seed").tail(1)


def mean_seconds(rows: pd.DataFrame, dataset: str, method: str, rounds: int) -> float:
    """Return what a method takes up to T rounds, mean over the repetitions; NaN if not run."""
    mine = curve(with_total(rows), dataset, method)
    return float(mine.loc[mine["rounds"] == rounds, "total_seconds"].mean())


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return a table for each data set."""
    n = len(meta["seeds"])
    lines = [
        f"# Adaptive sampling: equal measured time (scale {meta['scale']})",
        "",
        f"log₁₀ of the training loss, test error in % and the round read (means over {n} "
        f"repetition{'s' * (n > 1)}) at the last round within the time that {NAMES[YARDSTICK]} "
        "takes for T rounds. Time: training, measured on one core with nothing beside it, and "
        "computing the families of features for the training images that asked for them, each "
        "once. Rounds are read eight to the decade, so all but the yardstick are shown with up "
        "to a quarter fewer rounds than the time pays for. *no round*: the time does not pay for "
        "one. † the time would pay for more rounds than were trained. * tuned: the time is that "
        "of the training kept; the last column has all of them, with the features that any "
        f"asked for. Trainings have the {FIRST}.",
    ]
    for dataset in SETS:
        if dataset in set(rows["dataset"]):
            lines += ["", *_table(rows, meta, dataset)]
    return "\n".join(lines) + "\n"


def _table(rows: pd.DataFrame, meta: Mapping, dataset: str) -> list[str]:
    rounds = table_rounds(rows[rows["dataset"] == dataset])
    seconds = {t: mean_seconds(rows, dataset, YARDSTICK, t) for t in rounds}
    record = meta["data"][dataset]
    heads = [f"{seconds[t]:.3g} s (T = {t:,})" for t in rounds]
    ends = ["features for all T [s]", "training [s]", "all trainings, features too [s]"]
    lines = [
        f"## {SETS[dataset].title} ({kind_of(record)}), "
        f"{record['rows']['train']:,} training images",
        "",
        f"Milliseconds of the features: {record['cost_origin']}.",
        "",
        f"| method | {' | '.join([*heads, *ends])} |",
        "|---|" + "---:|" * (len(heads) + len(ends)),
    ]
    for method in METHODS:
        mine = rows[(rows["dataset"] == dataset) & (rows["algorithm"] == method.key)]
        if len(mine):
            texts = [_cell(rows, dataset, method, seconds[t]) for t in rounds]
            last = mine[mine["rounds"] == mine["rounds"].max()]
            last = last[last["budget"] == "paper"]
            spent = last[["feature_seconds", "training_seconds"]].mean().tolist()
            spent.append((last["tuning_seconds"] + last["tuning_feature_seconds"]).mean())
            texts += [f"{value:.3g}" for value in spent]
            lines.append(f"| {method.name}{'*' * method.tuned} | {' | '.join(texts)} |")
    return lines


def _cell(rows: pd.DataFrame, dataset: str, method: Method, seconds: float) -> str:
    """Return loss, error and round at the last row within a time."""
    reached = last_within(rows, dataset, method.key, seconds)
    mine = rows[rows["dataset"] == dataset]
    n_seeds = mine.loc[mine["algorithm"] == method.key, "seed"].nunique()
    if np.isnan(seconds) or len(reached) < n_seeds:
        return "no round"
    ended = reached["rounds"].max() == mine["rounds"].max() and method.key != YARDSTICK
    return (
        f"{number(reached['log10_loss'].mean(), '.3f')}, {reached['test_error'].mean():.2f} % "
        f"[{reached['rounds'].mean():.4g}{'†' * bool(ended)}]"
    )


ARTEFACT = Artefact(
    id="sampling-milliseconds-table",
    paper="adaptive_sampling_2014",
    title="Beside adaptive sampling: the tables at equal time",
    shows="Training loss and test error of thirteen methods at equal measured time.",
    minutes=MINUTES,
    seeds=SEEDS,
    make_cells=make_cells,
    run_cell=learning_curve,
    keys=KEY_COLUMNS,
    tolerances=TOLERANCES,
    timing_columns=TIMING_COLUMNS,
    render=render,
    paper_numbers="The paper has none: it counts evaluations of features.",
    data_form="features",
)
