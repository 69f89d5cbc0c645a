"""Beside Figure 2 of the CEGB paper, panels b to d: the rivals that its curves have, trained here.

BudgetPrune and the forest that it prunes, BudgetRF. Panel b is drawn twice: by average precision,
and by what the rivals' public program calls so (:func:`cells.rivals.unbroken_run`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.rivals import follow
from experiments.cegb_2017.show.curves_of_panel import say_no_data
from experiments.cegb_2017.show.design import REPETITIONS, cells_of, repetitions, tradeoffs
from experiments.cegb_2017.show.panels import PANELS, Panel, cost_label, panel_title
from experiments.curves import curves
from experiments.style import GAP_IN_WORDS, draw_curve, frame, headline, log_cost_axis, mark

SHOWN = tuple(panel for panel in PANELS if panel.key in ("b", "b'", "c", "d"))
METHODS = ("cegb", "budget_prune", "budget_forest")

SETTINGS = (("entropy", 0.05), ("pairs", 15), ("entropy", 0.3), ("pairs", 4))
"""Impurities and their thresholds, declared before any row was computed; laptop scale has the
first two. The rivals' papers do not say theirs; both impurities are their program's."""

TREES = {"priced": 140, "uniform": 40}
"""Trees of a forest: those of BudgetPrune's paper, on Yahoo! LTR and on the UCI sets."""

SMALL_TREES = {"smoke": 6, "laptop": 40}
"""Trees at most at these scales."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × λ of CEGB, and × impurity of both forests."""
    found = []
    for panel in SHOWN:
        for seed in repetitions(scale, panel, seeds):
            ours = cells_of(scale, panel, "cegb", seed, tradeoffs(scale, panel, "cegb"))
            found += [_named(cell) for cell in ours]
            if ours:
                found += _forests(scale, panel, ours[0])
    return found


def _named(cell: Cell) -> Cell:
    params = {**cell.params, "setting": f"λ = {cell.params['tradeoff']:g}"}
    return replace(cell, params=params)


def _forests(scale: str, panel: Panel, like: Cell) -> list[Cell]:
    n_trees = min(TREES[panel.prices], SMALL_TREES.get(scale, TREES[panel.prices]))
    shown = SETTINGS[:2] if scale in ("smoke", "laptop") else SETTINGS
    return [
        Cell(
            like.dataset,
            method,
            {
                "panel": panel.key,
                "setting": f"{impurity} {threshold:g}",
                "impurity": impurity,
                "impurity_threshold": threshold,
                "n_trees": n_trees,
                "settings": {"relevant_from": panel.relevant_from},
            },
            like.seed,
        )
        for impurity, threshold in shown
        for method in ("budget_forest", "budget_prune")
    ]


# --- picture ------------------------------------------------------------------------------------


def _places(rows: pd.DataFrame) -> list[tuple[Panel, str, pd.DataFrame]]:
    """Give each panel with its metric; a ranking twice, by its score and by the run."""
    found = []
    for panel in SHOWN:
        mine = rows[rows["panel"] == panel.key]
        found.append((panel, "score", mine))
        if panel.relevant_from is not None:
            run = mine.assign(valid_score=mine["valid_run"], test_score=mine["test_run"])
            found.append((panel, "run", run))
    return found


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw a panel for each data set and metric; models are chosen by the metric that is drawn."""
    figure = Figure(figsize=(14, 9.6), layout="constrained")
    axes = list(figure.subplots(2, 3).flat)
    entries = {}
    for ax, (panel, metric, mine) in zip(axes, _places(rows), strict=True):
        _draw_panel(ax, panel, metric, mine, meta)
        entries |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=3)
    n_seeds = rows.groupby("panel")["seed"].nunique().max()
    headline(
        figure,
        f"CEGB (NIPS 2017), Figure 2 b–d with its rivals · scale {meta['scale']} · {n_seeds} "
        "seeds, bands: 95 % t intervals over seeds\nfor each budget the model with the best "
        f"validation score by the metric that is drawn\n{GAP_IN_WORDS}",
    )
    return figure


def _label(panel: Panel, metric: str) -> str:
    if panel.relevant_from is None:
        return "test accuracy"
    of = f"(relevant: y ≥ {panel.relevant_from})"
    return f"test AP@5 {of}" if metric == "score" else f"relevant run at the top, of 5 {of}"


def _draw_panel(ax, panel: Panel, metric: str, rows: pd.DataFrame, meta: Mapping) -> None:
    if rows.empty:
        say_no_data(ax, panel, panel.key, meta["scale"])
        return
    dataset = rows["dataset"].iloc[0]
    record, shown = meta["data"][dataset], []
    for method in METHODS:
        if (curve := curves(rows, panel.key, method)) is not None:
            x, y, low, high = curve.summary()
            draw_curve(ax, method, x, y, low, high, gaps=curve.gaps())
            shown.append(y)
    log_cost_axis(ax)
    frame(ax, np.concatenate(shown))
    if metric == "score":  # of which results/gaps.csv speaks
        ax.set_label(panel.key)
    ax.set_title(panel_title(panel, dataset, record), loc="left")
    ax.set_xlabel(cost_label(panel, record))
    ax.set_ylabel(_label(panel, metric))
    mark(ax, record)


_COST = Tolerance(absolute=0.01, relative=0.05)

ARTEFACT = Artefact(
    id="cegb-rivals",
    paper="cegb_2017",
    title="CEGB, Figure 2 b–d with BudgetPrune and BudgetRF",
    shows="Score against prediction cost: CEGB, BudgetPrune, BudgetRF; panel b by two metrics.",
    minutes={"smoke": 0.4, "laptop": 15, "overnight": 200, "paper": 900},
    seeds=REPETITIONS,
    make_cells=make_cells,
    run_cell=follow,
    keys=("panel", "setting", "rounds"),
    tolerances={
        **{name: Tolerance(absolute=0.01) for name in ("valid_score", "test_score")},
        **{name: Tolerance(absolute=0.01) for name in ("valid_run", "test_run")},
        "valid_cost": _COST,
        "test_cost": _COST,
        "speaking_queries": Tolerance(),
    },
    render=render,
    curve=("algorithm", "valid_cost"),
    paper_numbers="Figure 2 prints curves without numbers; the rivals' points are from their "
    "authors, and in panel b by another metric than its axis says.",
)
