"""Figure 4 of the Cronus paper: which features are bought at which stage, by their price."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact
from experiments.cronus_2012.cells.measure import run_cell
from experiments.cronus_2012.figure3 import make_cells
from experiments.cronus_2012.show.comparison import (
    bought,
    chosen_by_validation,
    chosen_stages,
    features_by_price,
    there,
)
from experiments.cronus_2012.show.panels import PANELS, ROW_KEYS, TOLERANCES, Panel, panel_title
from experiments.style import headline, mark

# --- picture --------------------------------------------------------------------------------------

_MARKERS = "osv^DPX*h"


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the share of each price's features that is bought until a stage."""
    panels = [panel for panel in PANELS if there(rows, panel.key, "cronus")]
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(5.2 * columns, 0.8 + 3.8 * lines), layout="constrained")
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for ax, panel in zip(axes, panels, strict=False):
        _draw(ax, panel, rows, meta["data"][panel.dataset])
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    headline(
        figure,
        f"Cronus (AISTATS 2012), Figure 4 · scale {meta['scale']} · features bought until each "
        "stage, by price, at the λ with the best validation score · mean over seeds",
    )
    return figure


def _draw(ax, panel: Panel, rows: pd.DataFrame, record: Mapping) -> None:
    table, there_are = (
        bought(rows, panel.key).groupby("price").mean(),
        features_by_price(rows, panel.key),
    )
    prices = table.index
    # As many digits as tell prices apart, four at least.
    digits = next(d for d in range(4, 18) if len({f"{p:.{d}g}" for p in prices}) == len(prices))
    for i, price in enumerate(prices):
        thin = i / max(1, len(prices) - 1)  # curves may lie on each other: the first ones are wide
        ax.plot(
            table.columns,
            table.loc[price] / there_are[price],
            color=colormaps["viridis"](0.9 * thin),
            marker=_MARKERS[i % len(_MARKERS)],
            linewidth=3.5 - 2.5 * thin,
            markersize=8 - 5 * thin,
            label=f"c = {price:.{digits}g} ({there_are[price]})",
        )
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("stage")
    ax.set_ylabel("share of the features that is bought")
    ax.set_title(panel_title(panel, record), loc="left")
    title = "price\n[" + record["cost_unit"].replace(" ", "\n") + "]"
    ax.legend(fontsize=7, title=title, title_fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    mark(ax, record)


ARTEFACT = Artefact(
    id="cronus-figure4",
    paper="cronus_2012",
    title="Cronus, Figure 4",
    shows="Which features are bought at which stage, by their price.",
    minutes={"smoke": 0.1, "laptop": 2, "overnight": 45, "paper": 1500},
    seeds={"smoke": 1, "laptop": 3, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=ROW_KEYS,
    tolerances=TOLERANCES,
    render=render,
    paper_numbers="Figure 4 prints shares without numbers; its legend has the prices and how many "
    "features have each.",
    timing_columns=("fit_seconds",),
    select=chosen_stages,
    chosen=chosen_by_validation,
)
