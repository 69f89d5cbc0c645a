"""Figure 3 of the CEGB paper: the feature penalty (a), and best-first growth (b)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.rivals import follow
from experiments.cegb_2017.show.curves_of_panel import say_speaking_queries
from experiments.cegb_2017.show.design import REPETITIONS, cells_of, repetitions, tradeoffs
from experiments.cegb_2017.show.panels import (
    TRACE_TOLERANCES,
    Panel,
    cost_label,
    panel_title,
    score_label,
)
from experiments.cegb_2017.show.penalties import (
    CONVERGES_LOWER,
    LARGE,
    PROGRAMS_TRADEOFF,
    SHOWN,
)
from experiments.curves import curves
from experiments.estimates import t_interval
from experiments.style import draw_band, draw_curve, frame, headline, log_cost_axis, mark

UNIT_COST_TRADEOFFS = (1e-4, 1e-3)
"""λ of the models trained at β = 1; the paper does not say which it took."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × (both growths and β = 1) × λ.

    Cells that Figure 2 has too are the same cells, and are computed once.
    """
    cells = []
    for panel in SHOWN:
        grid = tuple(sorted({*tradeoffs(scale, panel, "cegb"), CONVERGES_LOWER}))
        unit = (CONVERGES_LOWER,)
        if scale != "smoke":
            grid = tuple(sorted({*grid, *LARGE, PROGRAMS_TRADEOFF}))
            unit = UNIT_COST_TRADEOFFS
        for seed in repetitions(scale, panel, seeds):
            for method, values in (
                ("cegb", grid),
                ("cegb_breadth_first", grid),
                ("cegb_unit_costs", unit),
            ):
                cells += cells_of(scale, panel, method, seed, values)
    return cells


# --- picture ----------------------------------------------------------------------------------

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)), "-", "--", "-.", ":")
_MARKERS = "osv^DPX*hp"


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the traces of every λ (a), and both growths (b)."""
    panels = [panel for panel in SHOWN if (rows["panel"] == panel.key).any()]
    figure = Figure(figsize=(11, 1.6 + 3.6 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 2, squeeze=False)
    tradeoffs = sorted(set(rows["tradeoff"]))
    for (left, right), panel in zip(axes, panels, strict=True):
        mine = rows[rows["panel"] == panel.key]
        record = meta["data"][panel.dataset]
        shown = [_draw_traces(left, mine, tradeoffs), _draw_growths(right, mine, panel)]
        for ax, letter, scores in zip((left, right), "ab", shown, strict=True):
            key = f"{letter}{panel.key[1:]}" if panel.key[0] == "a" else f"{letter}, {panel.key}"
            ax.set_label(panel.key)
            log_cost_axis(ax)
            frame(ax, scores)
            ax.set_title(panel_title(panel, panel.dataset, record, key), loc="left")
            say_speaking_queries(ax, mine)
            ax.set_xlabel(cost_label(panel, record))
            ax.set_ylabel(score_label(panel))
            mark(ax, record)
    left, right = (
        max((ax.get_legend_handles_labels() for ax in column), key=lambda entries: len(entries[1]))
        for column in axes.T
    )
    figure.legend(left[0] + right[0], left[1] + right[1], loc="outside lower center", ncols=5)
    headline(
        figure,
        f"CEGB (NIPS 2017), Figure 3 · scale {meta['scale']} · {len(meta['seeds'])} seeds, bands: "
        "95 % t intervals over seeds\n"
        "(a) traces over rounds, one for each λ   (b) for each budget the model with the best "
        "validation score",
    )
    return figure


def _draw_traces(ax, rows: pd.DataFrame, tradeoffs: list[float]) -> np.ndarray:
    """Draw score against cost after 1, 2, 3, 5, … rounds, one line for each λ of any panel."""
    scores = []
    for i, tradeoff in enumerate(tradeoffs):
        # From dark to light: λ has an order, and grey keeps it.
        shade = 0.9 * i / max(1, len(tradeoffs) - 1)
        for algorithm in ("cegb", "cegb_unit_costs"):
            mine = rows[(rows["algorithm"] == algorithm) & (rows["tradeoff"] == tradeoff)]
            if mine.empty:
                continue
            stages = mine[mine["rounds"] > 0].pivot(index="seed", columns="rounds")
            # A stage is drawn if every seed reached it.
            stages = stages[["test_cost", "test_score"]].dropna(axis="columns")
            true = algorithm == "cegb"
            colour = colormaps["viridis"](shade) if true else "0.55"
            cost, score = (stages[name].to_numpy() for name in ("test_cost", "test_score"))
            mean = cost.mean(axis=0), score.mean(axis=0)
            draw_band(ax, colour, mean[0], *t_interval(score), alpha=0.08)
            ax.plot(
                *mean,
                color=colour,
                linestyle=_LINES[i] if true else (0, (1, 1)),
                marker=_MARKERS[i],
                markerfacecolor=None if true else "white",
                label=f"λ = {tradeoff:g}" if true else f"λ = {tradeoff:g}, trained at β = 1",
            )
            scores.append(mean[1])
    return np.concatenate(scores)


def _draw_growths(ax, rows: pd.DataFrame, panel: Panel) -> np.ndarray:
    scores = []
    for method in ("cegb", "cegb_breadth_first"):
        x, y, low, high = curves(rows, panel.key, method).summary()
        draw_curve(ax, method, x, y, low, high)
        scores.append(y)
    return np.concatenate(scores)


ARTEFACT = Artefact(
    id="cegb-figure3",
    paper="cegb_2017",
    title="CEGB, Figure 3",
    shows="Influence of the feature penalty λ, of prices in training, and of best-first growth.",
    minutes={"smoke": 0.2, "laptop": 7, "overnight": 15, "paper": 300},
    seeds=REPETITIONS,
    make_cells=make_cells,
    run_cell=follow,
    keys=("panel", "tradeoff", "rounds"),
    tolerances=TRACE_TOLERANCES
    | {
        "rounds_trained": Tolerance(),
        "speaking_queries": Tolerance(),
        "test_dear": Tolerance(absolute=0.02),
        "mean_depth": Tolerance(relative=0.05),
        "mean_path": Tolerance(relative=0.05),
    },
    render=render,
    paper_numbers="Figure 3 prints curves without numbers; there is no table to compare with.",
)
