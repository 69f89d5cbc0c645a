"""Beside the adaptive sampling paper: test error against what a prediction costs.

The classifiers are read after 1, 2, 5, 10, ... rounds. They have the first families of features and
the rules of before (Laminating's Q = 32, of equals the lowest), as Table 3 still has; Tables 1, 2
and 4 have since been run anew with others, so that these are not their classifiers. One image pays
for each family of features once, when the first stump needs any of them, and for every stump;
prices are milliseconds of one core. The paper has no such figure.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from experiments.adaptive_sampling_2014.cells.grid import KEY_COLUMNS, TOLERANCES
from experiments.adaptive_sampling_2014.cells.measure import learning_curve
from experiments.adaptive_sampling_2014.cells.methods import KEYS, NAMES
from experiments.adaptive_sampling_2014.show.curve_panels import (
    FIRST,
    cells_of_sets,
    curve,
    draw_panels,
    lines_of_panels,
    repetitions,
)
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.artefact import Artefact
from experiments.data_kinds import aside
from experiments.style import headline

UNIT = "cost of one prediction [ms of one core]"
SHOWN = ("test_error",)
WITHIN = 1.1
"""As many times the smallest test error of all methods count as reaching it."""


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw test error against the cost of a prediction, lines for data sets, columns for kinds."""
    figure = draw_panels(rows, meta, "prediction_ms", UNIT, SHOWN)
    headline(
        figure,
        "Adaptive sampling (JMLR 2014): accuracy and prediction cost of the classifiers · scale "
        f"{meta['scale']} · {repetitions(meta)} · * tuned\n"
        "a mark: 1, 2, 5, 10, … rounds; one image computes a whole family of features when a stump "
        f"first needs one of them\n{FIRST}",
    )
    return figure


def cheapest(rows: pd.DataFrame, dataset: str) -> tuple[str, int, float, float] | None:
    """Find the cheapest classifier whose mean test error is near the smallest of all."""
    stages = []
    for method in KEYS:
        means = curve(rows, dataset, method).groupby("rounds")[["test_error", "prediction_ms"]]
        stages += [(method, *row) for row in means.mean().itertuples()]
    if not stages:
        return None
    smallest = min(error for _, _, error, _ in stages)
    near = [stage for stage in stages if stage[2] <= WITHIN * smallest]
    return min(near, key=lambda stage: stage[3])


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say which classifier is the cheapest near the smallest error of each data set."""
    said = []
    for dataset in SETS:
        least = cheapest(rows, dataset)
        if least is None:
            continue
        method, rounds, error, cost = least
        noted = aside(meta["data"][dataset])
        said.append(
            f"{SETS[dataset].title}{noted}: {NAMES[method]} after {rounds:,} rounds, "
            f"{error:.3g} % at {cost:.3g} ms"
        )
    return (
        "Test error against the cost of one prediction in milliseconds: a line of panels for each "
        "data set, a column for each kind of method, the others in grey behind. The cheapest "
        f"classifier within {WITHIN:g} times the smallest mean test error: {'; '.join(said)}."
    )


ARTEFACT = Artefact(
    id="sampling-prediction-cost",
    paper="adaptive_sampling_2014",
    title="Beside adaptive sampling: prediction cost",
    shows="Test error against milliseconds of one prediction, thirteen methods, four image sets.",
    minutes={"smoke": 0.5, "laptop": 10, "overnight": 520, "paper": 2400},
    seeds={"smoke": 1, "laptop": 2, "overnight": 10, "paper": 10},
    make_cells=cells_of_sets,
    run_cell=learning_curve,
    keys=KEY_COLUMNS,
    tolerances=TOLERANCES,
    render=render,
    make_claims=lambda rows, meta: [],
    alt=alt,
    lines=lambda rows, meta: lines_of_panels(rows, meta, "prediction_ms", UNIT, SHOWN),
    paper_numbers="The paper has none: it counts training cost only.",
    data_form="features",
)
