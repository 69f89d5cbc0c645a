"""Figure 1 of the Greedy Miser paper: NDCG@5 against test-time cost, traces and all methods."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.cronus_2012.show import panels as cronus_panels
from experiments.curves import of_users
from experiments.greedy_miser_2012.cells import users
from experiments.greedy_miser_2012.cells.methods import run_cell
from experiments.greedy_miser_2012.show.comparison import (
    BASELINE,
    PAPER,
    RIVALS,
    chosen,
    of_panel,
    pooled,
)
from experiments.greedy_miser_2012.show.panels import (
    BISECTED,
    FIRST_SEEDS,
    LEFT_TRADEOFFS,
    LIKELIHOODS,
    MARGINS,
    PANELS,
    RIGHT_TRADEOFFS,
    TRACE_TOLERANCES,
    TRADEOFFS,
    WITH_CRONUS,
    WITH_EXITS,
    Panel,
    cost_label,
    make_cell,
    repetitions,
    score_label,
    shown,
)
from experiments.panels import draw_curves, finish, panel_title, shared_legend
from experiments.style import GAP_IN_WORDS, frame, headline, label_points, log_cost_axis


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × (λ, subsets, early exits, λ with early exits, Cronus)."""
    cells = []
    for panel in shown(scale):
        first = FIRST_SEEDS.get(panel.key, 0)
        for seed in repetitions(scale, panel, seeds):
            cells += _cells(scale, panel, first + seed)
    return cells


def _cells(scale: str, panel: Panel, seed: int) -> list[Cell]:
    cell = partial(make_cell, scale, panel)
    tradeoffs = TRADEOFFS[scale] if panel.rivals or scale == "smoke" else LEFT_TRADEOFFS
    cells = [cell("greedy_miser" if t else BASELINE, seed, tradeoff=t) for t in tradeoffs]
    if not panel.rivals:
        return cells
    exits = MARGINS if panel.ranking else LIKELIHOODS
    limits = panel.limits
    if scale == "smoke":
        exits, limits = exits[2:6:2], limits[1:2]
    cells += [cell("stagewise_subsets", seed, limit=limit) for limit in limits]
    cells.append(cell("early_exit", seed, exits=exits))
    cells += [
        cell("greedy_miser_early_exit", seed, tradeoff=t, exits=exits) for t in WITH_EXITS[scale]
    ]
    if panel.key in WITH_CRONUS[scale]:
        cells.append(_cronus(scale, panel, seed))
    return cells


def _cronus(scale: str, panel: Panel, seed: int) -> Cell:
    """Return the cell of Cronus: that of its own Figure 2 on the same data, scored as here."""
    (own,) = (one for one in cronus_panels.PANELS if one.dataset == panel.dataset)
    cascade = cronus_panels.make_cell(scale, own, "cronus", seed).params
    params = {"panel": panel.key, "cascade": cascade}
    if panel.key in BISECTED:
        params["bisected"] = True
    return Cell(panel.dataset, "cronus", params, seed)


# --- picture --------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the traces of λ (left) and all methods (right)."""
    panels = [panel for panel in PANELS if not of_panel(rows, panel.key, BASELINE).empty]
    lines = -(-len(panels) // 2)
    figure = Figure(figsize=(17, 1.6 + 3.7 * lines), layout="constrained")
    axes = figure.subplots(lines, 4, squeeze=False).reshape(-1, 2)
    for pair, panel in zip(axes, panels, strict=False):
        record = meta["data"][panel.dataset]
        _draw_traces(pair[0], of_both(rows, panel))
        if panel.rivals:
            _draw_methods(pair[1], rows, panel)
        else:
            pair[1].set_axis_off()
            pair[1].text(0.5, 0.5, "all methods: panel (b), as in the paper", ha="center")
        for ax in pair if panel.rivals else pair[:1]:
            title, cost = panel_title(panel, record), cost_label(panel, record)
            finish(ax, panel.key, record, title, cost, score_label(panel))
    for ax in axes[len(panels) :].flat:
        ax.set_axis_off()
    shared_legend(figure, 5)
    headline(
        figure,
        f"Greedy Miser (ICML 2012), Figure 1 · scale {meta['scale']} · up to "
        f"{rows.groupby('panel')['seed'].nunique().max()} seeds · left of each pair: traces over "
        "rounds, circles: best iteration by validation\nright: for each budget the model with the "
        "best validation score, bands: 95 % t intervals over seeds; numbers: Greedy Miser's λ, "
        f"each at its best iteration\n{GAP_IN_WORDS} (listed are those of metered costs)",
    )
    return figure


def of_both(rows: pd.DataFrame, panel: Panel) -> pd.DataFrame:
    """Return the rows of λ = 0 and of Greedy Miser."""
    return pd.concat([of_panel(rows, panel.key, m) for m in (BASELINE, "greedy_miser")])


_MARKERS = "os^Dv"
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)))
"""Of the traces of :data:`LEFT_TRADEOFFS`."""


def _draw_traces(ax, rows: pd.DataFrame) -> None:
    """Draw score against cost over rounds, one line for each λ, and where validation stops."""
    tried = sorted(set(rows["tradeoff"]) & set(LEFT_TRADEOFFS))
    scores, ends = [], []
    for i, tradeoff in enumerate(tried):
        mine = rows[(rows["tradeoff"] == tradeoff) & (rows["rounds"] > 0)]
        stages = mine.groupby("rounds")[["test_cost_paper", "test_score"]]
        # A stage is drawn if every seed reached it.
        mean = stages.mean()[stages.size() == mine["seed"].nunique()]
        colour = colormaps["viridis"](0.9 * i / max(1, len(tried) - 1))
        ax.plot(mean["test_cost_paper"], mean["test_score"], color=colour, marker=_MARKERS[i],
                markersize=3.5, linestyle=_LINES[i], linewidth=1.2,
                label=f"λ = {tradeoff:g}")  # fmt: skip
        end = mine[mine["best"] == 1][["test_cost_paper", "test_score"]].mean()
        ends.append(end)
        scores.append(mean["test_score"])
    ends = pd.DataFrame(ends)
    ax.plot(ends["test_cost_paper"], ends["test_score"], "-", color="#D55E00", marker="o",
            markerfacecolor="none", markersize=8, linewidth=1.0,
            label="best iteration by validation")  # fmt: skip
    log_cost_axis(ax)
    frame(ax, np.concatenate([*scores, ends["test_score"]]))


_DRAWN = (BASELINE, *RIVALS, "greedy_miser", "greedy_miser_early_exit")


def _draw_methods(ax, rows: pd.DataFrame, panel: Panel) -> None:
    """Draw one curve for each method, and numbers at the paper's λ."""
    methods = (*_DRAWN, *of_users(rows))
    frame(ax, draw_curves(ax, pooled(rows), panel.key, methods, PAPER), headroom=0.15)
    log_cost_axis(ax)
    named = {}
    for tradeoff in RIGHT_TRADEOFFS[1:]:
        at = chosen(rows, panel.key, "greedy_miser", tradeoff=tradeoff)
        if len(at):
            named[f"{tradeoff:.3g}"] = at["test_cost_paper"].mean(), at["test_score"].mean()
    label_points(ax, named)


ARTEFACT = Artefact(
    id="miser-figure1",
    paper="greedy_miser_2012",
    title="Greedy Miser, Figure 1",
    shows="Score against test-time cost: traces for several λ, and Greedy Miser beside stage-wise "
    "regression, feature subsets, early exits and Cronus.",
    minutes={"smoke": 0.3, "laptop": 15, "overnight": 400, "paper": 2000},
    seeds={"smoke": 2, "laptop": 5, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("panel", "tradeoff", "limit", "exit", "rounds"),
    tolerances=TRACE_TOLERANCES,
    render=render,
    curve=("algorithm", "valid_cost"),
    of_users=("greedy_miser", users.run_cell),
    paper_numbers="Figure 1 prints curves without numbers. The text: Greedy Miser costs 1/10 of "
    "stage-wise regression at nearly its score, Cronus 1/4, early exits 1/2.",
)
