"""Figure 4 of the Cronus paper: which features are bought at which stage, by their price."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact
from experiments.cronus_2012.figure3 import OF_STAGES, make_cells
from experiments.cronus_2012.show.comparison import (
    bought,
    features_by_price,
    there,
)
from experiments.cronus_2012.show.panels import PANELS
from experiments.panels import draw_by_price, finish, in_threes, panel_title
from experiments.style import headline


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the share of each price's features that is bought until a stage."""
    panels = [panel for panel in PANELS if there(rows, panel.key, "cronus")]
    figure, axes = in_threes(len(panels), (5.2, 3.8), 0.8)
    for ax, panel in zip(axes, panels, strict=True):
        record = meta["data"][panel.dataset]
        counts = features_by_price(rows, panel.key)
        table = bought(rows, panel.key).groupby("price").mean()
        shares = table.div([counts[price] for price in table.index], axis="index").T
        unit = record["cost_unit"]
        draw_by_price(ax, shares, counts, unit, lines=(3.5, 1.0), markers=(8, 3))
        title, share = panel_title(panel, record), "share of the features that is bought"
        finish(ax, panel.key, record, title, "stage", share)
    headline(
        figure,
        f"Cronus (AISTATS 2012), Figure 4 · scale {meta['scale']} · features bought until each "
        "stage, by price, at the λ with the best validation score · mean over seeds",
    )
    return figure


ARTEFACT = Artefact(
    id="cronus-figure4",
    paper="cronus_2012",
    title="Cronus, Figure 4",
    shows="Which features are bought at which stage, by their price.",
    minutes={"smoke": 0.1, "laptop": 2, "overnight": 45, "paper": 1500},
    seeds={"smoke": 1, "laptop": 3, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    render=render,
    paper_numbers="Figure 4 prints shares without numbers; its legend has the prices and how many "
    "features have each.",
    **OF_STAGES,
)
