"""Figure 2 of the CEGB paper: score against prediction cost, each method with a grid of its own."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells import users
from experiments.cegb_2017.cells.rivals import follow
from experiments.cegb_2017.cells.selection import choosable
from experiments.cegb_2017.show.design import (
    REPETITIONS,
    RIVALS,
    THINNED,
    cells_of,
    forest_cells,
    repetitions,
    tradeoffs,
)
from experiments.cegb_2017.show.panels import (
    PANELS,
    TRACE_TOLERANCES,
    Panel,
    cost_label,
    panel_title,
    score_label,
    speaking_queries,
)
from experiments.curves import curves, of_users
from experiments.data_kinds import PUBLISHED
from experiments.panels import draw_curves, finish, legend_entries
from experiments.style import GAP_IN_WORDS, frame, log_cost_axis

BOOSTED = ("cegb", "cegb_shallow", "greedy_miser", "cegb_as_miser", "gbrt")
"""Methods of Figure 2 that have λ. Claims are of Xu's own Greedy Miser with its authors' charging;
``cegb_as_miser`` is the paper's special case of CEGB (section 4.3), which builds the trees that
Greedy Miser's own paper prints."""

SHOWN = (*BOOSTED, *RIVALS)

_OF_NO_CLAIM = ("cegb_as_miser", *RIVALS)


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × method × λ (a rival's impurity); plain GBRT has no λ.

    Laptop scale leaves out the methods that no claim is about.
    """
    return [
        cell
        for panel in PANELS
        for seed in repetitions(scale, panel, seeds)
        for method in SHOWN
        if scale != "laptop" or method not in _OF_NO_CLAIM
        for cell in _cells(scale, panel, method, seed)
    ]


def _cells(scale: str, panel: Panel, method: str, seed: int) -> list[Cell]:
    if method in RIVALS:
        return forest_cells(scale, panel, method, seed)
    return cells_of(scale, panel, method, seed, tradeoffs(scale, panel, method))


_DESCRIBING = ("test_dear", "mean_depth", "mean_path")


def selectable(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out what no budget can choose, and what Figure 3 alone is about."""
    return choosable(rows, THINNED).drop(columns=list(_DESCRIBING), errors="ignore")


# --- picture ----------------------------------------------------------------------------------

_COLUMNS = 4


def _shown(rows: pd.DataFrame, meta: Mapping) -> list[tuple[Panel, pd.DataFrame]]:
    """Return the panels that have rows, those first that are not drawn of published ones."""
    of_panel = [(panel, rows[rows["panel"] == panel.key]) for panel in PANELS]
    there = [(panel, mine) for panel, mine in of_panel if len(mine)]
    return sorted(there, key=lambda one: _is_published(one[1], meta))


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw a panel for each data set that has rows. The last place is the legend's."""
    shown = _shown(rows, meta)
    n_rows = -(-(len(shown) + 1) // _COLUMNS)
    figure = Figure(figsize=(16.5, 4.2 * n_rows), layout="constrained")
    axes = list(figure.subplots(n_rows, _COLUMNS, squeeze=False).flat)
    for ax, (panel, mine) in zip(axes, shown, strict=False):
        _draw_panel(ax, panel, mine, meta)
    for ax in axes[len(shown) :]:
        ax.set_axis_off()
    entries = legend_entries(figure)
    axes[len(shown)].legend(entries.values(), entries, loc="center", fontsize=9)
    n_seeds = shown[0][1]["seed"].nunique()
    figure.suptitle(
        f"CEGB (NIPS 2017), Figure 2 · scale {meta['scale']} · {n_seeds} seeds, bands: "
        "95 % t intervals over seeds · for each budget the model with the best validation score\n"
        f"{GAP_IN_WORDS}",
        fontsize=10,
    )
    return figure


def _is_published(rows: pd.DataFrame, meta: Mapping) -> bool:
    return meta["data"][rows["dataset"].iloc[0]]["kind"] == PUBLISHED


def _draw_panel(ax, panel: Panel, rows: pd.DataFrame, meta: Mapping) -> None:
    dataset = rows["dataset"].iloc[0]
    record = meta["data"][dataset]
    scores = draw_curves(ax, rows, panel.key, (*SHOWN, *of_users(rows)))
    if (curve := curves(rows, panel.key, "greedy_miser", "_paper")) is not None:
        label = "Greedy Miser, every row paying for the\nwhole forest (the paper's accounting)"
        ax.plot(*curve.summary()[:2], color="0.55", linewidth=0.8, label=label)
    log_cost_axis(ax)
    frame(ax, scores)
    title = panel_title(panel, dataset, record)
    title += "" if panel.relevant_from is None else speaking_queries(rows)
    finish(ax, panel.key, record, title, cost_label(panel, record), score_label(panel))


ARTEFACT = Artefact(
    id="cegb-figure2",
    paper="cegb_2017",
    title="CEGB, Figure 2",
    shows="Score against prediction cost: CEGB deep and shallow, Greedy Miser, GBRT; nine λ each; "
    "b to d with BudgetPrune and BudgetRF.",
    minutes={"smoke": 0.4, "laptop": 8, "overnight": 100, "paper": 1100},
    seeds=REPETITIONS,
    make_cells=make_cells,
    run_cell=follow,
    keys=("panel", "tradeoff", "rounds"),
    tolerances=TRACE_TOLERANCES | {"rounds_trained": Tolerance(), "speaking_queries": Tolerance()},
    render=render,
    select=selectable,
    curve=("algorithm", "valid_cost"),
    of_users=("cegb", users.run_cell),
    paper_numbers="Figure 2 prints curves without numbers; the rivals' points are from their "
    "authors, and in panel b by another metric than its axis says.",
)
