"""Figure 3 of the MDDAG paper: averaged NDCG against base classifiers evaluated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.mddag_2012.cells.documents import run_cell
from experiments.mddag_2012.show.comparison import MDDAG
from experiments.mddag_2012.show.panels import (
    BETA_ENDS_OF_SHARES,
    EPISODES,
    Panel,
    betas,
    panel_title,
    shown,
)
from experiments.mddag_2012.show.selection import curve_of
from experiments.panels import finish, there
from experiments.style import draw_curve, frame, headline, log_cost_axis

# Only who has a copy has MQ2007: it is left to the long scales.
RANKINGS = (
    Panel("a", "MQ2007", "mq2007", in_laptop=False),
    Panel("b", "MQ2008", "mq2008", in_smoke=True),
)

CLASSIFIERS = {"smoke": 20, "laptop": 100, "overnight": 1000, "paper": 1000}
"""N, of AdaBoost.MH, with trees of eight leaves."""


def methods(scale: str) -> list[str]:
    """Return MDDAG's methods at a scale: descent, our control, takes minutes for N = 1,000."""
    return [name for name in MDDAG if CLASSIFIERS[scale] < 1000 or not name.endswith("descent")]


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × fold × (AdaBoost.MH, MDDAG)."""
    return [
        _cell(scale, panel, family, seed)
        for panel in shown(scale, RANKINGS)
        for seed in seeds
        for family in ("adaboost", "mddag")
    ]


def _cell(scale: str, panel: Panel, family: str, seed: int) -> Cell:
    params = {"panel": panel.key, "n_estimators": CLASSIFIERS[scale]}
    if family == "mddag":
        params |= {
            "methods": methods(scale),
            "betas": betas(scale),
            "betas_of_shares": betas(scale, BETA_ENDS_OF_SHARES),
            "n_episodes": EPISODES[scale],
            "n_bins": "auto",
        }
    return Cell(panel.dataset, family, params, seed)


# --- picture --------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw averaged NDCG against evaluations, one panel for each data set."""
    panels = there(rows, RANKINGS)
    figure = Figure(figsize=(5.6 * len(panels) + 1.6, 5.6), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, panel in zip(axes, panels, strict=True):
        _draw(ax, rows, panel, meta["data"][panel.dataset])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    headline(
        figure,
        f"MDDAG (ICML 2012), Figure 3 · scale {meta['scale']} · up to {len(meta['seeds'])} folds, "
        "bands: 95 % t intervals\nruns are chosen by training NDCG, AdaBoost.MH's are not selected",
    )
    return figure


def _draw(ax, rows: pd.DataFrame, panel: Panel, record: Mapping) -> None:
    drawn = []
    for method in ("adaboost", *MDDAG):
        x, y, low, high = curve_of(rows, panel.key, method, "ndcg")
        if len(x):
            label = "AdaBoost.MH, every j" if method == "adaboost" else None
            draw_curve(ax, method, x, y, low, high, label=label)
            drawn.append(y)
    log_cost_axis(ax)
    if drawn:
        frame(ax, np.concatenate(drawn))
    cost = "trees of 8 leaves evaluated [mean over test documents]"
    score = "test NDCG, averaged over places"
    finish(ax, panel.key, record, f"{panel_title(panel, record)} documents", cost, score)


ARTEFACT = Artefact(
    id="mddag-figure3",
    paper="mddag_2012",
    title="MDDAG, Figure 3",
    shows="Averaged NDCG against base classifiers evaluated: AdaBoost.MH on trees of 8 leaves, "
    "MDDAG with both losses and both solvers.",
    minutes={"smoke": 0.3, "laptop": 4.1, "overnight": 25, "paper": 25},
    seeds={"smoke": 1, "laptop": 5, "overnight": 5, "paper": 5},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("panel", "method", "setting"),
    tolerances={
        "train_ndcg": Tolerance(absolute=0.02),
        "test_ndcg": Tolerance(absolute=0.02),
        "train_evaluations": Tolerance(absolute=0.02, relative=0.1),
        "test_evaluations": Tolerance(absolute=0.02, relative=0.1),
        "tradeoff": Tolerance(),
        "size": Tolerance(),
    },
    render=render,
    paper_numbers="Figure 3 prints curves whose values are not legible in the text; section 3.3: "
    '"roughly two-fold savings".',
    timing_columns=("fit_seconds",),
)
