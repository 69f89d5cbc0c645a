"""Figure 2 of the MDDAG paper: TPR against base classifiers evaluated, at fixed FPR."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.mddag_2012.cells.measure import FAMILIES, run_cell
from experiments.mddag_2012.cells.operating import FPRS
from experiments.mddag_2012.cells.rows import NO_EDGE
from experiments.mddag_2012.show.comparison import (
    CASCADES,
    DETECTORS,
)
from experiments.mddag_2012.show.dag import PLAIN, draw_dag, frequent
from experiments.mddag_2012.show.panels import (
    PANELS,
    ROW_KEYS,
    TOLERANCES,
    Panel,
    make_cell,
    panel_title,
    shown,
)
from experiments.mddag_2012.show.selection import curve_of, runs_of
from experiments.panels import finish, shared_legend, there
from experiments.style import draw_curve, frame, headline, log_cost_axis, mark


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × family of methods."""
    return [
        make_cell(scale, panel, family, seed)
        for panel in shown(scale)
        for seed in seeds
        for family in FAMILIES
    ]


DRAWN = ("adaboost", *CASCADES, *DETECTORS)

# --- picture --------------------------------------------------------------------------------------

FEWEST_FOR_BANDS = 3
"""Divisions from which a curve has its band."""

RARE = 0.02
"""Edges that a smaller share of the most taken one's paths takes are not drawn."""


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw TPR against evaluations, data sets down and FPR across, and below one DAG."""
    panels = there(rows, PANELS)
    dag = rows[rows["node"] != NO_EDGE]
    heights = [3.0 * len(panels), 2.4 if len(dag) else 0.01]
    figure = Figure(figsize=(13, 1.6 + sum(heights)), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=heights)
    axes = upper.subplots(len(panels), len(FPRS), squeeze=False)
    for line, panel in zip(axes, panels, strict=True):
        for ax, suffix in zip(line, FPRS, strict=True):
            if suffix not in panel.fprs:
                ax.remove()
                continue
            _draw(ax, rows, panel, suffix, meta["data"][panel.dataset])
    shared_legend(upper, 4)
    if len(dag):
        _draw_graph(lower.subplots(), dag, rows, meta)
    bands = "bands: 95 % t intervals" if has_bands(rows) else "their mean alone"
    headline(
        figure,
        f"MDDAG (ICML 2012), Figure 2 · scale {meta['scale']} · {len(meta['seeds'])} divisions, "
        f"{bands}\nruns are chosen by training TPR (section 3.2), AdaBoost's are "
        "not selected\nno curve goes beyond its last run · "
        "what lies below a frame finds next to nothing",
    )
    return figure


def _draw(ax, rows: pd.DataFrame, panel: Panel, suffix: str, record: Mapping) -> None:
    drawn = []
    for method in DRAWN:
        x, y, low, high = curve_of(rows, panel.key, method, f"tpr_{suffix}")
        if not has_bands(rows):
            low = high = y
        if len(x):
            draw_curve(ax, method, x, y, low, high)
            drawn.append(y)
    log_cost_axis(ax)
    if drawn:
        frame(ax, worth_seeing(np.concatenate(drawn)))
    title = f"{panel_title(panel, record)}, FPR {FPRS[suffix]:g}"
    cost = "base classifiers evaluated\n[mean over test background windows]"
    finish(ax, panel.key, record, title, cost, "test TPR")


def has_bands(rows: pd.DataFrame) -> bool:
    """Whether bands are drawn: of two divisions a t interval is wider than any frame."""
    return rows["seed"].nunique() >= FEWEST_FOR_BANDS


def worth_seeing(rates: np.ndarray) -> np.ndarray:
    """Return all but the lowest tenth of what is above 0: runs that find little have no bottom."""
    positive = rates[rates > 0]
    return positive[positive >= np.quantile(positive, 0.1)] if positive.size else rates


def around_main(edges: Mapping) -> dict[int, float]:
    """Return a height for each node: 0 along the widest way from the first, else to either side."""
    node, heights = min(a for a, _ in edges), {}
    while node not in heights:
        heights[node] = 0.0
        after = [(count, -b) for (a, b), count in edges.items() if a == node]
        node = -max(after)[1] if after else node
    aside = sorted({node for edge in edges for node in edge} - heights.keys())
    return heights | {node: 1.0 - 2.0 * (place % 2) for place, node in enumerate(aside)}


def _draw_graph(ax, dag: pd.DataFrame, rows: pd.DataFrame, meta: Mapping) -> None:
    counts = dag.set_index(["node", "next"])["paths"].to_dict()
    kept = frequent(counts, RARE * max(counts.values()))
    come, gone = (pd.Series(counts).groupby(level=level).sum() for level in (1, 0))
    sizes = pd.concat([come, gone], axis=1).max(axis=1).to_dict()
    colours = dict.fromkeys([*kept, *(node for edge in kept for node in edge)], PLAIN)
    draw_dag(ax, kept, sizes, colours, around_main(kept))
    panel = next(panel for panel in PANELS if panel.key == dag["panel"].iloc[0])
    of_it = runs_of(rows, panel.key, "mddag_i")
    run = of_it[
        (of_it["setting"] == dag["setting"].iloc[0]) & (of_it["seed"] == dag["seed"].iloc[0])
    ]
    ax.set_title(
        f"One DAG: {panel.name}, MDDAG.I, β = {run['tradeoff'].item():g}, positive training "
        "windows of the first division\nnumbers are base classifiers, width and size how many "
        f"windows; {len(counts) - len(kept)} of {len(counts)} edges, with less than {RARE:.0%} of "
        "the widest, are left out",
        loc="left",
    )
    mark(ax, meta["data"][panel.dataset])


ARTEFACT = Artefact(
    id="mddag-figure2",
    paper="mddag_2012",
    title="MDDAG, Figure 2",
    shows="TPR against base classifiers evaluated at three FPR: AdaBoost, three cascades, MDDAG "
    "with both losses, by SARSA and by descent; one DAG.",
    minutes={"smoke": 0.3, "laptop": 7.3, "overnight": 50, "paper": 50},
    seeds={"smoke": 1, "laptop": 2, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=ROW_KEYS,
    tolerances=TOLERANCES,
    render=render,
    curve=("method", "test_evaluations"),
    paper_numbers="Figure 2 prints curves whose values, and even the false positive rates, are not "
    "legible in the text; section 3.2 prints no numbers.",
    timing_columns=("fit_seconds",),
)
