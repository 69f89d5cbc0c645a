"""Figure 1 of the Cronus paper: a cascade, drawn from one that was trained."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from experiments.artefact import Artefact, Cell
from experiments.cronus_2012.figure3 import OF_STAGES
from experiments.cronus_2012.figure3 import make_cells as of_figure_3
from experiments.cronus_2012.show.comparison import of_best, there
from experiments.cronus_2012.show.panels import PANELS
from experiments.looks import LOOKS
from experiments.panels import panel_title
from experiments.style import headline, mark

SHOWN = ("g", "b", "c", "e")
"""Panels with real data; the paper's figure is a sketch without any."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return cells of Figure 2: the first repetition of some panels."""
    return [cell for cell in of_figure_3(scale, seeds) if cell.params["panel"] in SHOWN]


def stages(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return the stages of the first seed's optimised cascade that have trees, or the last."""
    mine = of_best(rows, panel, "cronus")
    mine = mine[(mine["price"] < 0) & (mine["seed"] == mine["seed"].min())].sort_values("stage")
    return mine[(mine["n_trees"] > 0) | (mine["stage"] == mine["stage"].max())]


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw each cascade as boxes: what a stage has, and who goes on."""
    panels = [panel for panel in PANELS if there(rows, panel.key, "cronus")]
    figure = Figure(figsize=(12, 0.8 + 2.5 * len(panels)), layout="constrained")
    for ax, panel in zip(figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels, strict=True):
        record = meta["data"][panel.dataset]
        _draw(ax, stages(rows, panel.key))
        ax.set_title(panel_title(panel, record).replace("\n", " · "), loc="left")
        mark(ax, record)
    headline(
        figure,
        f"Cronus (AISTATS 2012), Figure 1 · scale {meta['scale']} · the optimised cascade of the "
        "first seed, at the λ with the best validation score; stages without trees are left out",
    )
    return figure


def _draw(ax, table: pd.DataFrame) -> None:
    colour = LOOKS["cronus"].colour
    places = np.arange(len(table))
    leaving = (table["hard"] - table["hard"].shift(-1)).to_numpy()
    before = np.r_[0, table["n_features"].to_numpy()[:-1]]
    for i, row in zip(places, table.to_dict("records"), strict=True):
        box = FancyBboxPatch(
            (i - 0.32, 0.4), 0.64, 0.5, boxstyle="round,pad=0.02", facecolor="white",
            edgecolor=colour,
        )  # fmt: skip
        ax.add_patch(box)
        ax.text(
            i, 0.65,
            f"stage {row['stage']}\n{row['n_trees']} trees\n"
            f"+{row['n_features'] - int(before[i])} features",
            ha="center", va="center", fontsize=7,
        )  # fmt: skip
        ax.annotate("", (i - 0.36, 0.65), (i - 0.64, 0.65), arrowprops={"arrowstyle": "->"})
        ax.text(i - 0.5, 0.72, f"{100 * row['hard']:.0f} %", ha="center", fontsize=7)
        last = i == places[-1]
        if not last and not np.isnan(row["threshold"]):
            ax.annotate("", (i, 0.1), (i, 0.36), arrowprops={"arrowstyle": "->"})
            said = f"f < {row['threshold']:.2f}: −1\n{100 * leaving[i]:.0f} %"
            ax.text(i + 0.04, 0.2, said, fontsize=7, va="center")
    ax.annotate(
        "", (len(table) - 0.36, 0.65), (len(table) - 0.64, 0.65), arrowprops={"arrowstyle": "->"}
    )
    ax.text(len(table) - 0.32, 0.65, "f", va="center", fontsize=9)
    ax.set_xlim(-0.8, max(4.0, len(table)))
    ax.set_ylim(0.0, 1.0)
    ax.set_axis_off()


ARTEFACT = Artefact(
    id="cronus-figure1",
    paper="cronus_2012",
    title="Cronus, Figure 1",
    shows="A cascade as it was trained: stages, thresholds, who goes on, what is bought.",
    minutes={"smoke": 0.1, "laptop": 1.5, "overnight": 5, "paper": 150},
    seeds={"smoke": 1, "laptop": 1, "overnight": 1, "paper": 1},
    make_cells=make_cells,
    render=render,
    paper_numbers="Figure 1 is a sketch of four stages without numbers.",
    **OF_STAGES,
)
