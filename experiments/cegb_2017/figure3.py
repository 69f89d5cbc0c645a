"""Figure 3 of the CEGB paper: the feature penalty (a), and best-first growth (b)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.rivals import follow
from experiments.cegb_2017.show.design import REPETITIONS, cells_of, repetitions, tradeoffs
from experiments.cegb_2017.show.panels import (
    PANELS,
    TRACE_TOLERANCES,
    cost_label,
    panel_title,
    score_label,
    speaking_queries,
)
from experiments.estimates import t_interval
from experiments.panels import draw_curves, finish, there
from experiments.style import draw_band, frame, headline, log_cost_axis

SHOWN = tuple(panel for panel in PANELS if panel.key in ("a", "a'", "y", "m", "w"))
"""Section 5.1 uses Yahoo! LTR; the other four are real for everybody."""

PROGRAMS_TRADEOFF = 5e-4
"""The authors' gain has no 1/2: if Fig. 3's λ = 0.001 is their program's, it is 5e-4 here."""

CONVERGES_LOWER = 1e-3
LARGE = (3e-4,)
"""λ called large: the largest of the grid below the one that "converges to a lower accuracy"."""

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


# --- what a growing penalty does: claims judge it -----------------------------------------------


def final(rows: pd.DataFrame, panel: str, algorithm: str, tradeoff: float) -> pd.DataFrame:
    """Return the last stage of each seed's model, indexed by seed.

    Parameters
    ----------
    rows : DataFrame
        ``panel, algorithm, seed, tradeoff, rounds, test_score, test_cost, …``.
    panel, algorithm, tradeoff
        Which model.
    """
    mine = rows[
        (rows["panel"] == panel) & (rows["algorithm"] == algorithm) & (rows["tradeoff"] == tradeoff)
    ]
    return mine.sort_values("rounds").groupby("seed").last()


def decades(expensive: pd.DataFrame, cheap: pd.DataFrame) -> pd.Series:
    """Return log10 of a ratio of final costs; models without any cost give no value."""
    costs = [frame["test_cost"].where(frame["test_cost"] > 0) for frame in (expensive, cheap)]
    return np.log10(costs[0] / costs[1])


def cost_saved(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how many decades the final cost lies below that of λ = 0."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return decades(free, priced).to_numpy()


def score_lost(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how far the final score lies below that of λ = 0."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return (free["test_score"] - priced["test_score"]).to_numpy()


def fewer_buy_dear(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return by how much the share of test rows that buy a dearest feature falls from λ = 0's."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return (free["test_dear"] - priced["test_dear"]).to_numpy()


def deeper_than_paths(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how many decades further best-first trees reach below their mean path.

    Depth of a tree's deepest leaf over the split nodes that a test row passes in it, best-first
    against breadth-first growth.
    """
    grown = (final(rows, panel, m, tradeoff) for m in ("cegb", "cegb_breadth_first"))
    best, breadth = (
        one["mean_depth"] / one["mean_path"].where(one["mean_path"] > 0) for one in grown
    )
    return np.log10(best / breadth).to_numpy()


# --- picture ----------------------------------------------------------------------------------

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)), "-", "--", "-.", ":")
_MARKERS = "osv^DPX*hp"


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the traces of every λ (a), and both growths (b)."""
    panels = there(rows, SHOWN)
    figure = Figure(figsize=(11, 1.6 + 3.6 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 2, squeeze=False)
    tradeoffs = sorted(set(rows["tradeoff"]))
    for (left, right), panel in zip(axes, panels, strict=True):
        mine = rows[rows["panel"] == panel.key]
        record = meta["data"][panel.dataset]
        growths = ("cegb", "cegb_breadth_first")
        shown = [
            _draw_traces(left, mine, tradeoffs),
            draw_curves(right, mine, panel.key, growths, with_gaps=False),
        ]
        for ax, letter, scores in zip((left, right), "ab", shown, strict=True):
            key = f"{letter}{panel.key[1:]}" if panel.key[0] == "a" else f"{letter}, {panel.key}"
            log_cost_axis(ax)
            frame(ax, scores)
            title = panel_title(panel, panel.dataset, record, key) + speaking_queries(mine)
            finish(ax, panel.key, record, title, cost_label(panel, record), score_label(panel))
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
