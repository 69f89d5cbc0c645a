"""Figure 2 of the Cronus paper: precision@5 against test-time cost, its steps and its rivals."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.cronus_2012.cells.measure import run_cell
from experiments.cronus_2012.show.comparison import (
    PAPER,
    STEPS,
    capped_in_words,
    chosen_by_validation,
    models,
    whole_models,
)
from experiments.cronus_2012.show.panels import (
    MODEL_KEYS,
    MODEL_TOLERANCES,
    PANELS,
    cost_label,
    make_cell,
    repetitions,
    score_label,
    shown,
)
from experiments.panels import draw_curves, finish, panel_title, shared_legend, there
from experiments.style import GAP_IN_WORDS, frame, headline, log_cost_axis


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × family of methods."""
    return [
        make_cell(scale, panel, family, seed)
        for panel in shown(scale)
        for seed in repetitions(scale, panel, seeds)
        for family in panel.families
    ]


RIVALS = ("gbrt", "early_exit", "raykar_cascade", "and_or_cascade", "cronus")

VIEWS = ((STEPS, PAPER), (RIVALS, PAPER), (tuple(dict.fromkeys(STEPS + RIVALS)), ""))
"""Methods and bill of each panel of a data set, from left to right."""


# --- picture --------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the steps (left), the rivals (middle) and both, metered (right)."""
    panels = there(rows, PANELS)
    figure = Figure(figsize=(14, 1.4 + 3.7 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 3, squeeze=False)
    whole = models(rows)
    for line, panel in zip(axes, panels, strict=True):
        record, scores = meta["data"][panel.dataset], []
        for ax, view in zip(line, VIEWS, strict=True):
            scores += [*draw_curves(ax, whole, panel.key, *view)]
        frame(line, scores)
        for ax, (_, accounting) in zip(line, VIEWS, strict=True):
            log_cost_axis(ax)
            title, cost = panel_title(panel, record), cost_label(panel, record, accounting)
            finish(ax, panel.key, record, title, cost, score_label(panel))
    shared_legend(figure, 4)
    headline(
        figure,
        f"Cronus (AISTATS 2012), Figure 2 · scale {meta['scale']} · up to {len(meta['seeds'])} "
        "seeds · for each budget the model with the best validation score, bands: 95 % t intervals "
        "over seeds\nleft: the steps; middle: prior work; both by the paper's bill · right: all of "
        f"them, metered\n{GAP_IN_WORDS} (listed are those of metered costs)\n"
        f"trainings that ended at a limit: {capped_in_words(rows)}",
    )
    return figure


ARTEFACT = Artefact(
    id="cronus-figure2",
    paper="cronus_2012",
    title="Cronus, Figure 2",
    shows="Precision@5 against test-time cost: GBRT, single stage, initialisation, optimisation; "
    "early exits, soft cascade, AND-OR.",
    minutes={"smoke": 0.3, "laptop": 4, "overnight": 65, "paper": 1500},
    seeds={"smoke": 1, "laptop": 3, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=MODEL_KEYS,
    tolerances=MODEL_TOLERANCES,
    render=render,
    curve=("method", "valid_cost"),
    paper_numbers="Figure 2 prints curves without numbers. The text: an order of magnitude less "
    "cost for a marginal loss of precision; soft cascade and AND-OR several hours for a single "
    "training, Cronus less than one.",
    timing_columns=("fit_seconds",),
    select=whole_models,
    chosen=chosen_by_validation,
)
