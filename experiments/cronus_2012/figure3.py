"""Figure 3 of the Cronus paper: the share of test inputs that remain at each stage."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.cronus_2012.cells.measure import run_cell
from experiments.cronus_2012.show.comparison import (
    BOTH_ENDS,
    chosen_by_validation,
    chosen_stages,
    shares_remaining,
    there,
)
from experiments.cronus_2012.show.panels import (
    PANELS,
    ROW_KEYS,
    TOLERANCES,
    make_cell,
    repetitions,
    shown,
)
from experiments.looks import LOOKS
from experiments.panels import finish, in_threes, panel_title
from experiments.style import headline


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return Cronus's cells of Figure 2: nothing is trained that is not there already."""
    return [
        make_cell(scale, panel, "cronus", seed)
        for panel in shown(scale)
        for seed in repetitions(scale, panel, seeds)
    ]


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the shares that remain, hard and soft."""
    panels = [panel for panel in PANELS if there(rows, panel.key, *BOTH_ENDS)]
    figure, axes = in_threes(len(panels), (4.6, 3.6), 1.2)
    for ax, panel in zip(axes, panels, strict=True):
        record = meta["data"][panel.dataset]
        for method in BOTH_ENDS:
            for kind in ("hard", "soft"):
                _draw(ax, shares_remaining(rows, panel.key, method, kind), method, kind)
        ax.set_ylim(-0.03, 1.05)
        title, share = panel_title(panel, record), "share of test inputs that come there"
        finish(ax, panel.key, record, title, "stage", share)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    headline(
        figure,
        f"Cronus (AISTATS 2012), Figure 3 · scale {meta['scale']} · mean over seeds and lines of "
        "one seed each\nthe λ with the best validation score; hard: as inputs leave, soft: as the "
        "objective (8) expects it",
    )
    return figure


def _draw(ax, shares: pd.DataFrame, method: str, kind: str) -> None:
    look, hard = LOOKS[method], kind == "hard"
    mean = shares.mean()
    ax.plot(
        mean.index,
        mean,
        color=look.colour,
        marker=look.marker if hard else "",
        linestyle="-" if hard else ":",
        label=f"{look.label}, {kind}",
    )
    if hard:
        for _, one in shares.iterrows():
            ax.plot(one.index, one, color=look.colour, linewidth=0.5, alpha=0.4)


OF_STAGES = {
    "run_cell": run_cell,
    "keys": ROW_KEYS,
    "tolerances": TOLERANCES,
    "timing_columns": ("fit_seconds",),
    "select": chosen_stages,
    "chosen": chosen_by_validation,
}
"""What the figures declare that show stages of cascades: they read the same rows."""

ARTEFACT = Artefact(
    id="cronus-figure3",
    paper="cronus_2012",
    title="Cronus, Figure 3",
    shows="The share of test inputs that remain at each stage, before and after optimisation.",
    minutes={"smoke": 0.1, "laptop": 2, "overnight": 45, "paper": 1500},
    seeds={"smoke": 1, "laptop": 3, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    render=render,
    paper_numbers="Figure 3 prints curves without numbers. The text: stages 1, 3, 4 and 10 of ten "
    "keep trees.",
    **OF_STAGES,
)
