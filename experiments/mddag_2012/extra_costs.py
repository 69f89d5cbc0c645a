"""Beside the MDDAG paper: prices of features, against CEGB and Greedy Miser."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.curves import curves
from experiments.mddag_2012.cells.priced import PRICED, priced_rows
from experiments.mddag_2012.show.panels import Panel, between, panel_title, shown
from experiments.panels import finish, there
from experiments.style import draw_curve, frame, headline, log_cost_axis

PANELS = (
    Panel("a", "Yahoo! LTR, a part", "yahoo_ltr_sample"),
    Panel("b", "MQ2008", "mq2008"),
    Panel("c", "Thyroid", "thyroid", in_smoke=True),
)
SCORES = {"a": "NDCG@5", "b": "NDCG@5", "c": "accuracy"}
FAMILIES = ("mddag", "cegb", "greedy_miser")
METHODS = (*PRICED, "cegb", "greedy_miser")

ROUNDS = {"smoke": 10, "laptop": 100, "overnight": 300, "paper": 300}
EPISODES = {"smoke": 20_000, "laptop": 1_000_000, "overnight": 1_000_000, "paper": 1_000_000}
SETTINGS = {"smoke": 2, "laptop": 12, "overnight": 24, "paper": 24}
WEIGHT_ENDS = (30.0, 0.01)
"""What all features together cost, in units of the loss of a constant model: equal ratios."""


def weights(scale: str) -> list[float]:
    """Return the grid, the same for all methods."""
    return between(WEIGHT_ENDS, SETTINGS[scale])


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × family of methods."""
    return [
        Cell(panel.dataset, family, _params(scale, panel, family), seed)
        for panel in shown(scale, PANELS)
        for seed in seeds
        for family in FAMILIES
    ]


def _params(scale: str, panel: Panel, family: str) -> dict:
    params = {"panel": panel.key, "n_estimators": ROUNDS[scale], "weights": weights(scale)}
    return {**params, "n_episodes": EPISODES[scale]} if family == "mddag" else params


# --- picture --------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw test score against metered feature cost, one panel for each data set."""
    panels = there(rows, PANELS)
    figure = Figure(figsize=(4.6 * len(panels) + 1, 5.4), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    pool = rows.assign(algorithm=rows["method"])  # not its family, which its cells name
    for ax, panel in zip(axes, panels, strict=True):
        record, drawn = meta["data"][panel.dataset], []
        for method in METHODS:
            if (curve := curves(pool, panel.key, method)) is not None:
                x, y, low, high = curve.summary()
                draw_curve(ax, method, x, y, low, high)
                drawn.append((x, y))
        costs, scores = np.concatenate(drawn, axis=1)
        log_cost_axis(ax, with_nothing=bool((costs == 0).any()))
        frame(ax, scores[costs > 0])  # what costs nothing may know next to nothing
        title = panel_title(panel, record, ("train", "valid", "test"))
        cost = f"features that a row acquires\n[{record['cost_unit']}], mean over test rows"
        finish(ax, panel.key, record, title, cost, f"test {SCORES[panel.key]}")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    headline(
        figure,
        f"Beside MDDAG: feature costs · scale {meta['scale']} · {len(meta['seeds'])} seeds · for "
        "each budget the model with the best validation score, bands: 95 % t intervals\n"
        "axes that begin at 0 are linear up to the lowest other cost, logarithmic from there on",
    )
    return figure


ARTEFACT = Artefact(
    id="mddag-costs",
    paper="mddag_2012",
    title="Beside MDDAG: feature costs",
    shows="Test score against acquired features' prices: MDDAG with feature costs, CEGB, Greedy "
    "Miser.",
    minutes={"smoke": 0.2, "laptop": 5.9, "overnight": 90, "paper": 90},
    seeds={"smoke": 1, "laptop": 5, "overnight": 5, "paper": 5},
    make_cells=make_cells,
    run_cell=priced_rows,
    keys=("panel", "method", "setting", "rounds"),
    tolerances={
        "tradeoff": Tolerance(),
        **{f"{part}_score": Tolerance(absolute=0.02) for part in ("valid", "test")},
        **{f"{part}_cost": Tolerance(absolute=0.05, relative=0.1) for part in ("valid", "test")},
        "test_evaluations": Tolerance(absolute=1, relative=0.1),
    },
    render=render,
    paper_numbers="None: section 5 says that EVAL's reward can be weighted by what features cost, "
    "and does not try it.",
    timing_columns=("fit_seconds",),
)
