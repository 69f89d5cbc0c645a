"""Figure 2 of the Greedy Miser paper: which features are used, by their price, as λ grows."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.greedy_miser_2012.cells.usage import usage
from experiments.greedy_miser_2012.show.comparison import shares
from experiments.greedy_miser_2012.show.panels import (
    LEFT_TRADEOFFS,
    PANELS,
    make_cell,
    repetitions,
    shown,
)
from experiments.panels import draw_by_price, finish, in_threes, panel_title, there
from experiments.style import headline


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


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the used share of each price over λ."""
    panels = there(rows, PANELS)
    figure, axes = in_threes(len(panels), (5.2, 3.9), 0.8)
    for ax, panel in zip(axes, panels, strict=True):
        mine, record = rows[rows["panel"] == panel.key], meta["data"][panel.dataset]
        table = shares(mine, panel.key).groupby("tradeoff").mean()
        counts, unit = mine.groupby("price")["n_features"].first(), record["cost_unit"]
        even = table.set_axis(range(len(table)))
        draw_by_price(ax, even, counts, unit, lines=(2.6, 1.2), markers=(7, 3.5))
        ax.set_xticks(range(len(table)), [f"{t:g}" for t in table.index])
        title, tradeoff = panel_title(panel, record), "λ, on the scale of the paper's data"
        finish(ax, panel.key, record, title, tradeoff, "share of the features that is used")
    headline(
        figure,
        f"Greedy Miser (ICML 2012), Figure 2 · scale {meta['scale']} · features used up to the "
        "best iteration by validation, by price · mean over seeds",
    )
    return figure


ARTEFACT = Artefact(
    id="miser-figure2",
    paper="greedy_miser_2012",
    title="Greedy Miser, Figure 2",
    shows="Which features Greedy Miser uses, by their price, as λ grows.",
    minutes={"smoke": 0.1, "laptop": 2, "overnight": 4, "paper": 500},
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
