"""Beside the CEGB paper: what a user would pick today, under the one cost meter.

Every method searches the same number of configurations, and those draws that methods share are the
same; for each budget the model with the best validation score is shown on the test set.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.measure import checkpoints
from experiments.cegb_2017.cells.peer_models import trace
from experiments.cegb_2017.cells.selection import choosable
from experiments.cegb_2017.show.curves_of_panel import say_no_data, say_speaking_queries
from experiments.cegb_2017.show.panels import (
    GRID,
    PANELS,
    Panel,
    cost_label,
    panel_title,
    score_label,
)
from experiments.curves import curves
from experiments.style import GAP_IN_WORDS, draw_curve, frame, headline, log_cost_axis, mark

PLAIN = ("gbrt", "lightgbm", "catboost", "hist_gradient_boosting")
PRICED = ("cegb", "lightgbm_cegb", "catboost_per_object", "catboost_first_use")
METHODS = (*PRICED, *PLAIN)
"""Methods that know the prices (λ), and methods that do not."""

LABELS = {"cegb": "CEGB, ours", "gbrt": "GBRT, ours, no costs"}


FIRST_SEED = {"b'": 0, "d": 0, "y": 5, "m": 5, "w": 5}
"""First repetition of each panel. Those of the first two were published before the other three
came, and stay; of these no row has been published."""


def _features_only(panel: Panel) -> Panel:
    """Return a panel of Figure 2 with α = 0: no library prices evaluations as all others do."""
    return replace(panel, split_cost=0.0, name=panel.name.replace("α = ¼", "α = 0"))


THINNED = ("y", "m", "w")
"""Panels of which only what a method's budgets can choose is published, of all configurations."""


def selectable(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out what no budget can choose: rows would take 2 MB.

    Models that cost nothing stay. No curve begins with them, so that what costs something is
    chosen from as if they were not there.
    """
    costs = rows["valid_cost"] > 0
    kept = choosable(rows[costs], THINNED, "configuration").index
    return rows.loc[kept.union(rows.index[~costs])]


SHOWN = tuple(_features_only(panel) for panel in PANELS if panel.key in FIRST_SEED)
"""Costs of features only."""

LETTERS = {panel.key: letter for panel, letter in zip(SHOWN, "abcde", strict=True)}
"""What the picture calls each panel; keys are Figure 2's."""

SMOKE_DATASET = {"d": "digits", "b'": "yahoo_ltr"}
"""What is always there, at smoke scale; the other panels are left out."""

CONFIGURATIONS = {"smoke": 3, "laptop": 12, "overnight": 40, "paper": 40}
"""Size of every method's search."""

LEARNING_RATES = (0.05, 0.1, 0.2)
MAX_LEAVES = (4, 8, 16, 32)
MIN_SAMPLES_LEAF = (5, 10, 20, 50)
TRADEOFFS = {
    prices: (grid.tradeoffs[1], grid.tradeoffs[-1]) for prices, grid in GRID["laptop"].items()
}
"""λ is drawn log-uniformly between Figure 2's smallest and largest at laptop scale, save 0."""

_NAME = zlib.crc32(b"cegb-peers")
_PAIRS, _OTHERS = 0, 1  # streams of random numbers


def configuration(index: int, prices: str) -> dict[str, float | int]:
    """Return a configuration of the search: a function of its number, not of the method.

    Pairs of learning rate and leaves come in random order, all twelve before any comes again, so
    that no method tries the same twice (CatBoost's oblivious trees have no use for
    `min_samples_leaf`).
    """
    pairs = list(product(LEARNING_RATES, MAX_LEAVES))
    cycle, place = divmod(index, len(pairs))
    order = np.random.default_rng([_NAME, _PAIRS, cycle]).permutation(len(pairs))
    learning_rate, max_leaves = pairs[order[place]]
    others = np.random.default_rng([_NAME, _OTHERS, index])
    least = MIN_SAMPLES_LEAF[others.integers(len(MIN_SAMPLES_LEAF))]
    low, high = np.log(TRADEOFFS[prices])
    tradeoff = float(f"{np.exp(low + (high - low) * others.random()):.6g}")
    return {
        "learning_rate": learning_rate,
        "max_leaves": max_leaves,
        "min_samples_leaf": least,
        "tradeoff": tradeoff,
    }


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × method × configuration."""
    cells = []
    for panel, seed, method in product(SHOWN, seeds, METHODS):
        dataset = SMOKE_DATASET.get(panel.key) if scale == "smoke" else panel.dataset
        if dataset is None:
            continue
        for index in range(CONFIGURATIONS[scale]):
            params = {
                "panel": panel.key,
                "configuration": index,
                **configuration(index, panel.prices),
                "rounds": checkpoints(GRID[scale][panel.prices].n_estimators),
                "relevant_from": panel.relevant_from,
                "binarise": panel.binarise,
            }
            if method in PLAIN:
                params["tradeoff"] = 0.0
            cells.append(Cell(dataset, method, params, FIRST_SEED[panel.key] + seed))
    return cells


# --- picture ------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw a panel for each data set; one without rows says so. The last place is the legend's."""
    figure = Figure(figsize=(14, 9.6), layout="constrained")
    *axes, last = figure.subplots(2, 3).flat
    entries = {}
    for ax, panel in zip(axes, SHOWN, strict=True):
        _draw_panel(ax, panel, rows[rows["panel"] == panel.key], meta)
        entries |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    last.set_axis_off()
    last.legend(entries.values(), entries, loc="center")
    n_seeds = rows.groupby("panel")["seed"].nunique().max()
    headline(
        figure,
        f"Beside the CEGB paper: other libraries under one cost meter · scale {meta['scale']} · "
        f"{n_seeds} seeds, bands: 95 % t intervals over seeds\n"
        f"searches of {CONFIGURATIONS[meta['scale']]} configurations each · for each budget the "
        f"model with the best validation score\n{GAP_IN_WORDS}",
    )
    return figure


def _draw_panel(ax, panel: Panel, rows: pd.DataFrame, meta: Mapping) -> None:
    letter = LETTERS[panel.key]
    if rows.empty:
        say_no_data(ax, panel, letter, meta["scale"])
        return
    dataset = rows["dataset"].iloc[0]
    record = meta["data"][dataset]
    shown = []
    for method in METHODS:
        if (curve := curves(rows, panel.key, method)) is not None:
            x, y, low, high = curve.summary()
            label = LABELS.get(method)
            draw_curve(ax, method, x, y, low, high, label=label, gaps=curve.gaps())
            shown.append(y)
    ax.set_label(panel.key)
    log_cost_axis(ax)
    frame(ax, np.concatenate(shown))
    ax.set_title(panel_title(panel, dataset, record, letter), loc="left")
    if panel.relevant_from is not None:
        say_speaking_queries(ax, rows)
    ax.set_xlabel(cost_label(panel, record))
    ax.set_ylabel(score_label(panel))
    mark(ax, record)


ARTEFACT = Artefact(
    id="cegb-peers",
    paper="cegb_2017",
    title="Beside CEGB: other libraries under the one cost meter",
    shows="Score against prediction cost: CEGB and GBRT of ours, LightGBM, CatBoost, scikit-learn.",
    minutes={"smoke": 0.5, "laptop": 15, "overnight": 350, "paper": 350},
    seeds={"smoke": 2, "laptop": 5, "overnight": 5, "paper": 5},
    make_cells=make_cells,
    run_cell=trace,
    keys=(
        *("panel", "configuration", "learning_rate", "max_leaves", "min_samples_leaf"),
        *("tradeoff", "rounds"),
    ),
    tolerances={
        "valid_score": Tolerance(absolute=0.01),
        "valid_cost": Tolerance(absolute=0.01, relative=0.05),
        "test_score": Tolerance(absolute=0.01),
        "test_cost": Tolerance(absolute=0.01, relative=0.05),
        "speaking_queries": Tolerance(),
    },
    render=render,
    select=selectable,
    curve=("algorithm", "valid_cost"),
    letters=LETTERS,
    paper_numbers="The paper has no such panel: it compares with none of these libraries.",
    requires=("lightgbm", "catboost"),
)
