"""Beside the adaptive sampling paper: tables like its own at equal measured time.

What a training costs is the time of the training itself and the time to compute the features it
asks for. A training image computes a whole family when any of its features is first needed; what
was computed is kept. Families and rules are those of before Tables 1, 2, 4 were run anew. Read is
the last round that a time pays for: the time that Uniform Naive takes for 10, 100, ... rounds.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.adaptive_sampling_2014.cells.grid import (
    KEY_COLUMNS,
    TOLERANCES,
    params_of,
    rounds_by_eighths,
)
from experiments.adaptive_sampling_2014.cells.measure import learning_curve
from experiments.adaptive_sampling_2014.cells.methods import KEYS, METHODS, NAMES, Method
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.adaptive_sampling_2014.show.tables import kind_of, table_rounds
from experiments.artefact import Artefact, Cell
from experiments.tables import number

YARDSTICK = "uniform_naive"

FIRST = "first families and rules of before: not the classifiers of Tables 1, 2 and 4 as published"
"""What the text says: the families are those of before ``mash``, Laminating begins with Q = 32,
equals go to the lowest feature. Of Caltech-101, Table 3 still has these families and rules."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return a cell for each data set, seed and method, timed: nothing runs beside it."""
    params = params_of(scale, series=rounds_by_eighths, timed=True)
    return [
        Cell(dataset, name, params, seed, alone=True)
        for dataset in SETS
        for seed in seeds
        for name in KEYS
    ]


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
        mine = rows[rows["dataset"] == dataset]
        if len(mine):
            lines += ["", *_table(mine, meta["data"][dataset], SETS[dataset].title)]
    return "\n".join(lines) + "\n"


def _table(rows: pd.DataFrame, record: Mapping, title: str) -> list[str]:
    last = rows["rounds"].max()
    curves = rows[rows["budget"] == "paper"].sort_values(["seed", "rounds"])
    curves = curves.assign(total_seconds=curves["training_seconds"] + curves["feature_seconds"])
    yardstick = curves[curves["algorithm"] == YARDSTICK]
    seconds = {
        t: yardstick.loc[yardstick["rounds"] == t, "total_seconds"].mean()
        for t in table_rounds(rows)
    }
    heads = [f"{took:.3g} s (T = {t:,})" for t, took in seconds.items()]
    ends = ["features for all T [s]", "training [s]", "all trainings, features too [s]"]
    lines = [
        f"## {title} ({kind_of(record)}), {record['rows']['train']:,} training images",
        "",
        f"Milliseconds of the features: {record['cost_origin']}.",
        "",
        f"| method | {' | '.join([*heads, *ends])} |",
        "|---|" + "---:|" * (len(heads) + len(ends)),
    ]
    for method in METHODS:
        mine = curves[curves["algorithm"] == method.key]
        if len(mine):
            texts = [_cell(mine, method, took, last) for took in seconds.values()]
            at_end = mine[mine["rounds"] == mine["rounds"].max()]
            spent = at_end[["feature_seconds", "training_seconds"]].mean().tolist()
            spent.append((at_end["tuning_seconds"] + at_end["tuning_feature_seconds"]).mean())
            texts += [f"{value:.3g}" for value in spent]
            lines.append(f"| {method.name}{'*' * method.tuned} | {' | '.join(texts)} |")
    return lines


def _cell(curves: pd.DataFrame, method: Method, seconds: float, last: int) -> str:
    """Return loss, error and round at the last row of a method that a time pays for."""
    reached = curves[curves["total_seconds"] <= seconds].groupby("seed").tail(1)
    if np.isnan(seconds) or len(reached) < curves["seed"].nunique():
        return "no round"
    ended = reached["rounds"].max() == last and method.key != YARDSTICK
    return (
        f"{number(reached['log10_loss'].mean(), '.3f')}, {reached['test_error'].mean():.2f} % "
        f"[{reached['rounds'].mean():.4g}{'†' * bool(ended)}]"
    )


ARTEFACT = Artefact(
    id="sampling-milliseconds-table",
    paper="adaptive_sampling_2014",
    title="Beside adaptive sampling: the tables at equal time",
    shows="Training loss and test error of thirteen methods at equal measured time.",
    minutes={"smoke": 0.5, "laptop": 9, "overnight": 270, "paper": 2400},
    seeds={"smoke": 1, "laptop": 1, "overnight": 3, "paper": 3},
    make_cells=make_cells,
    run_cell=learning_curve,
    keys=KEY_COLUMNS,
    tolerances=TOLERANCES,
    timing_columns=("training_seconds", "tuning_seconds"),
    render=render,
    paper_numbers="The paper has none: it counts evaluations of features.",
    data_form="features",
)
