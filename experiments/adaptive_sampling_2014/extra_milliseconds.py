"""Beside the adaptive sampling paper: loss and test error against measured milliseconds.

What a training costs is the time of the training itself and the time to compute the features it
asks for. A training image computes a whole family when any of its features is first needed; what
was computed is kept. The paper counts evaluations of features instead, whatever they cost. Families
and rules are those of before Tables 1, 2 and 4 were run anew, on all four sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from experiments.adaptive_sampling_2014.cells.grid import KEY_COLUMNS, TOLERANCES, rounds_by_eighths
from experiments.adaptive_sampling_2014.cells.measure import learning_curve
from experiments.adaptive_sampling_2014.cells.methods import KEYS, NAMES
from experiments.adaptive_sampling_2014.show.curve_panels import (
    FIRST,
    cells_of_sets,
    curve,
    draw_panels,
    repetitions,
)
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.artefact import Artefact
from experiments.data_kinds import aside
from experiments.style import headline

TIMING_COLUMNS = ("training_seconds", "tuning_seconds")
MINUTES = {"smoke": 0.5, "laptop": 9, "overnight": 270, "paper": 2400}
SEEDS = {"smoke": 1, "laptop": 1, "overnight": 3, "paper": 3}
make_cells = partial(cells_of_sets, series=rounds_by_eighths, timed=True)


def with_total(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with ``total_seconds``: training, and features for the training images."""
    return rows.assign(total_seconds=rows["training_seconds"] + rows["feature_seconds"])


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw loss and test error against seconds, lines for data sets, columns for kinds."""
    unit = "training + features, one core [s]"
    shown = ("log10_loss", "test_error")
    figure = draw_panels(with_total(rows), meta, "total_seconds", unit, shown)
    headline(
        figure,
        "Adaptive sampling (JMLR 2014): what a training costs in time · scale "
        f"{meta['scale']} · {repetitions(meta)} · * tuned, the other trainings not counted\n"
        "measured training time on one core, and the families of features computed for the "
        f"training images that asked for them, each once\n{FIRST}",
    )
    return figure


def last_within(rows: pd.DataFrame, dataset: str, method: str, seconds: float) -> pd.DataFrame:
    """Return for each seed the last row that a time pays for; none where it pays for no row."""
    mine = curve(with_total(rows), dataset, method)
    return mine[mine["total_seconds"] <= seconds].groupby("seed").tail(1)


def mean_seconds(rows: pd.DataFrame, dataset: str, method: str, rounds: int) -> float:
    """Return what a method takes up to T rounds, mean over the repetitions; NaN if not run."""
    mine = curve(with_total(rows), dataset, method)
    return float(mine.loc[mine["rounds"] == rounds, "total_seconds"].mean())


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say how much of the time of the last round of Laminating are features, and who is fastest."""
    said = []
    for dataset in SETS:
        curves = [mine for method in KEYS if len(mine := curve(rows, dataset, method))]
        if not curves:
            continue
        ends = pd.concat([mine[mine["rounds"] == mine["rounds"].max()] for mine in curves])
        means = with_total(ends).groupby("algorithm")[["feature_seconds", "total_seconds"]].mean()
        fastest = means["total_seconds"].idxmin()
        share = (means["feature_seconds"] / means["total_seconds"]).median()
        noted = aside(meta["data"][dataset])
        said.append(
            f"{SETS[dataset].title}{noted}: {100 * share:.0f} % features, fastest "
            f"{NAMES[fastest]} with {means['total_seconds'].min():.3g} s"
        )
    return (
        "Training loss and test error against seconds of training and of computing features: two "
        "lines of panels for each data set, a column for each kind of method, the others in grey "
        "behind. Time up to the last round, median "
        f"share of the features and fastest method: {'; '.join(said)}."
    )


ARTEFACT = Artefact(
    id="sampling-milliseconds",
    paper="adaptive_sampling_2014",
    title="Beside adaptive sampling: milliseconds as cost",
    shows="Training loss and test error against measured time of training and features.",
    minutes=MINUTES,
    seeds=SEEDS,
    make_cells=make_cells,
    run_cell=learning_curve,
    keys=KEY_COLUMNS,
    tolerances=TOLERANCES,
    timing_columns=TIMING_COLUMNS,
    render=render,
    make_claims=lambda rows, meta: [],
    alt=alt,
    paper_numbers="The paper has none: it counts evaluations of features.",
    data_form="features",
)
