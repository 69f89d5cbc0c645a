"""Beside the adaptive sampling paper: tables like its own at equal measured time.

The same trainings as :mod:`experiments.adaptive_sampling_2014.extra_milliseconds`, with the first
families and the rules of before, not those of Tables 1, 2 and 4 as published; read at the last
round that a time pays for: the time that Uniform Naive takes for 10, 100, ... rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from experiments.adaptive_sampling_2014.cells.methods import METHODS, NAMES, Method
from experiments.adaptive_sampling_2014.extra_milliseconds import ARTEFACT as FIGURE
from experiments.adaptive_sampling_2014.extra_milliseconds import last_within, mean_seconds
from experiments.adaptive_sampling_2014.show.curve_panels import FIRST, kind_of
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.adaptive_sampling_2014.show.tables import number, table_rounds
from experiments.data_kinds import aside

YARDSTICK = "uniform_naive"


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
        f"{number(reached['log10_loss'].mean(), 3)}, {reached['test_error'].mean():.2f} % "
        f"[{reached['rounds'].mean():.4g}{'†' * bool(ended)}]"
    )


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say for each data set which method has the smallest loss at the longest time."""
    said = []
    for dataset in SETS:
        mine = rows[rows["dataset"] == dataset]
        if mine.empty:
            continue
        t = table_rounds(mine)[-1]
        seconds = mean_seconds(rows, dataset, YARDSTICK, t)
        losses = {}
        for method in METHODS:
            reached = last_within(rows, dataset, method.key, seconds)
            if len(reached):
                losses[method.key] = reached["log10_loss"].mean()
        best = min(losses, key=losses.get)
        noted = aside(meta["data"][dataset])
        said.append(
            f"{SETS[dataset].title}{noted}: {NAMES[best]}, {number(losses[best], 2)} within "
            f"{seconds:.3g} s"
        )
    return (
        "Tables of training loss and test error at equal measured time, a table for each data set. "
        f"Smallest log10 loss within the time of Uniform Naive's last round: {'; '.join(said)}."
    )


ARTEFACT = replace(
    FIGURE,
    id="sampling-milliseconds-table",
    title="Beside adaptive sampling: the tables at equal time",
    shows="Training loss and test error of thirteen methods at equal measured time.",
    render=render,
    alt=alt,
)
