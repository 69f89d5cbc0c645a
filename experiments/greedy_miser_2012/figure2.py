"""Figure 2 of the Greedy Miser paper: which features are used, by their price, as λ grows."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.greedy_miser_2012.cells.usage import usage
from experiments.greedy_miser_2012.show.comparison import shares
from experiments.greedy_miser_2012.show.panels import (
    LEFT_TRADEOFFS,
    PANELS,
    Panel,
    make_cell,
    panel_title,
    repetitions,
    shown,
)
from experiments.style import headline, mark


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × λ of the paper's Figure 2.

    Overnight trains what laptop trains, of more repetitions.
    """
    tradeoffs = (0.0, 4.0) if scale == "smoke" else LEFT_TRADEOFFS
    sizes = "laptop" if scale == "overnight" else scale
    return [
        make_cell(sizes, panel, "greedy_miser", seed, tradeoff=tradeoff)
        for panel in shown(scale)
        if panel.key != "b"  # the paper's Figure 2 is of the full set
        for seed in repetitions(scale, panel, seeds)
        for tradeoff in tradeoffs
    ]


# --- picture --------------------------------------------------------------------------------------

_MARKERS = "osv^DPX*h"


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the used share of each price over λ."""
    panels = [panel for panel in PANELS if (rows["panel"] == panel.key).any()]
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(5.2 * columns, 0.8 + 3.9 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).flat
    for ax, panel in zip(axes, panels, strict=False):
        _draw(ax, panel, rows[rows["panel"] == panel.key], meta["data"][panel.dataset])
    for ax in list(axes)[len(panels) :]:
        ax.set_axis_off()
    headline(
        figure,
        f"Greedy Miser (ICML 2012), Figure 2 · scale {meta['scale']} · features used up to the "
        "best iteration by validation, by price · mean over seeds",
    )
    return figure


def _draw(ax, panel: Panel, rows: pd.DataFrame, record: Mapping) -> None:
    table = shares(rows, panel.key).groupby("tradeoff").mean()
    counts = rows.groupby("price")["n_features"].first()
    for i, price in enumerate(table.columns):
        # Curves may lie on each other: the first ones are wide.
        thin = i / max(1, len(table.columns) - 1)
        ax.plot(
            range(len(table)),
            table[price],
            color=colormaps["viridis"](0.9 * thin),
            marker=_MARKERS[i % len(_MARKERS)],
            linewidth=2.6 - 1.4 * thin,
            markersize=7 - 3.5 * thin,
            label=f"c = {price:g} ({counts[price]})",
        )
    ax.set_xticks(range(len(table)), [f"{t:g}" for t in table.index])
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("λ, on the scale of the paper's data")
    ax.set_ylabel("share of the features that is used")
    ax.set_title(panel_title(panel, record), loc="left")
    title = "price\n[" + record["cost_unit"].replace(" ", "\n") + "]"
    ax.legend(fontsize=7, title=title, title_fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    mark(ax, record)


ARTEFACT = Artefact(
    id="miser-figure2",
    paper="greedy_miser_2012",
    title="Greedy Miser, Figure 2",
    shows="Which features Greedy Miser uses, by their price, as λ grows.",
    minutes={"smoke": 0.1, "laptop": 1, "overnight": 3, "paper": 500},
    seeds={"smoke": 2, "laptop": 5, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=usage,
    keys=("panel", "tradeoff", "price"),
    tolerances={
        "n_features": Tolerance(absolute=0),
        "n_used": Tolerance(absolute=1, relative=0.05),
        "first_round": Tolerance(absolute=1),
        "rounds": Tolerance(absolute=0),
    },
    render=render,
    paper_numbers="Figure 2 prints shares without numbers; its legend has the prices and how many "
    "features have each: 123×1, 31×5, 191×20, 125×50, 16×100, 32×150, 1×200.",
)
