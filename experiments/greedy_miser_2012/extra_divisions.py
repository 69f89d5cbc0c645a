"""Beside Figure 1 of the Greedy Miser paper: all queries, divided anew, one effect for each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cronus_2012.show import panels as cronus_panels
from experiments.estimates import over_units
from experiments.greedy_miser_2012.cells.divisions import METHODS, STEPS, measure
from experiments.greedy_miser_2012.show.divisions import (
    BUDGETS,
    SHOWN,
    beside_baseline_of_each,
    by_query,
    of_budget,
)
from experiments.greedy_miser_2012.show.panels import MARGINS, TRADEOFFS, Panel, make_cell, shown
from experiments.panels import finish, shared_legend, there
from experiments.style import draw_curve, frame, headline, log_cost_axis

FEWER_MARGINS = (1 / 8, 1 / 2, 2.0)
"""s of Greedy Miser with early exits; without exits it is among their models, too."""
FIRST_SEEDS = {"smoke": 0, "laptop": 0, "overnight": 100, "paper": 100}
"""The divisions of a pilot, and those that confirm: nobody has looked at the latter."""


WITH_CRONUS = "cd"
"""Panels with Cronus: those that a study of the published rows proposes, where its trees and its
grid of 16 settings take four (Yahoo!'s part) and nine minutes (MQ2008) of processor time for a
division."""

ROUNDS = 300
"""Trees of stage-wise regression, of Greedy Miser, and those that Cronus starts from."""

STEP_TRADEOFF = 1.0
"""λ at which steps are compared, the middle of the paper's."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × division; each trains all methods on five folds."""
    return [
        _cell(scale, panel, FIRST_SEEDS[scale] + seed)
        for panel in shown(scale, SHOWN)
        for seed in seeds
    ]


def _cell(scale: str, panel: Panel, seed: int) -> Cell:
    smoke = scale == "smoke"
    cell = make_cell(scale, panel, "all", seed, exits=MARGINS[2:6:2] if smoke else MARGINS)
    params = dict(cell.params)
    params["settings"] = {**params["settings"], "n_estimators": 20 if smoke else ROUNDS}
    params |= {
        "tradeoffs": list(TRADEOFFS[scale]),
        "limits": list(panel.limits[1:2] if smoke else panel.limits),
        "with_exits": [1.0] if smoke else [1 / 4, 1.0, 4.0, 16.0],
        "with_margins": list(FEWER_MARGINS[:1] if smoke else FEWER_MARGINS),
        "lengths": [10, 20] if smoke else [10, 30, 80, 130, 210, 300],
        "budgets": list(BUDGETS),
        "step_tradeoff": STEP_TRADEOFF,
    }
    if panel.key in WITH_CRONUS:
        params["cascade"] = _cascade(scale, panel, seed)
    return Cell(panel.dataset, "all", params, seed)


def _cascade(scale: str, panel: Panel, seed: int) -> dict:
    """Return the parameters of Cronus's own cell on the data, with as many trees as the others.

    It has all λ of its paper's scale. Seven, as its figures have at laptop scale, leave gaps in a
    curve; fourteen leave fewer.
    """
    (own,) = (one for one in cronus_panels.PANELS if one.dataset == panel.dataset)
    cascade = dict(cronus_panels.make_cell(scale, own, "cronus", seed).params)
    if scale != "smoke":
        cascade["steps"] = list(cronus_panels.STEPS["paper"])
        cascade["trees"] = {**cascade["trees"], "n_estimators": ROUNDS}
    return cascade


# --- picture --------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the score of all methods at shares of λ = 0's bill."""
    panels = there(rows, SHOWN)
    figure = Figure(figsize=(max(12.0, 4.2 * len(panels) + 1.0), 5.4), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, panel in zip(axes, panels, strict=True):
        _draw(ax, rows, panel)
        record = meta["data"][panel.dataset]
        n_queries = rows[rows["panel"] == panel.key]["query"].nunique()
        title = f"({panel.key}) {panel.name}\n{n_queries} queries"
        bill = "share of λ = 0's bill that may be spent"
        finish(ax, panel.key, record, title, bill, "test NDCG@5")
    shared_legend(figure, 5)
    headline(
        figure,
        f"Greedy Miser (ICML 2012), Figure 1 on all queries · scale {meta['scale']} · "
        f"{rows['seed'].nunique()} random divisions into five folds\nmodels chosen by the pooled "
        "validation of four folds; bands: 95 % bootstrap intervals over queries of the difference "
        "to λ = 0",
    )
    return figure


def _draw(ax: Axes, rows: pd.DataFrame, panel: Panel) -> None:
    """Draw each method's mean score within each share, with its 95 % interval over queries."""
    drawn = []
    for method in METHODS:
        points = []
        for share in (budget for budget in BUDGETS if budget > 0):
            mine = of_budget(rows, panel.key, share)
            if mine.empty or mine[method].isna().any():  # a fold has no model
                continue
            base = float(mine.groupby("query")["stagewise"].mean().mean())
            found = over_units(by_query(beside_baseline_of_each(rows, panel.key, share, method)))
            # What does not vary, λ = 0 beside itself, has no interval.
            bounds = (found.effect if np.isnan(one) else one for one in (found.low, found.high))
            points.append((share, *(base + one for one in (found.effect, *bounds))))
        if points:
            x, y, low, high = np.array(points).T
            draw_curve(ax, method, x, y, low, high)
            drawn.append(y)
    log_cost_axis(ax)
    frame(ax, np.concatenate(drawn), headroom=0.1)


ARTEFACT = Artefact(
    id="miser-divisions",
    paper="greedy_miser_2012",
    title="Beside Greedy Miser: Figure 1 on all queries",
    shows="NDCG@5 of every query at shares of λ = 0's bill, over random divisions of all queries "
    "into five folds; early exits after every round.",
    minutes={"smoke": 0.3, "laptop": 15, "overnight": 75, "paper": 75},
    seeds={"smoke": 1, "laptop": 2, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=measure,
    keys=("panel", "budget", "query"),
    tolerances={
        "fold": Tolerance(absolute=0),
        **{method: Tolerance(absolute=0.01) for method in (*METHODS, *STEPS)},
        **{f"{method}_cost": Tolerance(absolute=0.01, relative=0.05) for method in METHODS},
        "early_exit_features": Tolerance(absolute=0.01),
        "cronus_capped": Tolerance(absolute=0),
    },
    render=render,
    paper_numbers="Figure 1 prints curves without numbers. The text: Greedy Miser costs 1/10 of "
    "stage-wise regression at nearly its score, early exits 1/2.",
)
