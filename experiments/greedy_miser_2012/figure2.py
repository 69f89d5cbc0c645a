"""Figure 2 of the Greedy Miser paper: which features are used, by their price, as λ grows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure
from scipy import stats

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.claims import Claim
from experiments.greedy_miser_2012.cells.usage import usage
from experiments.greedy_miser_2012.show.panels import (
    LEFT_TRADEOFFS,
    PANELS,
    Panel,
    make_cell,
    panel_title,
    repetitions,
    shown,
)
from experiments.style import headline, stamp


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × λ of the paper's Figure 2."""
    tradeoffs = (0.0, 4.0) if scale == "smoke" else LEFT_TRADEOFFS
    return [
        make_cell(scale, panel, "greedy_miser", seed, tradeoff=tradeoff)
        for panel in shown(scale)
        if panel.key != "b"  # the paper's Figure 2 is of the full set
        for seed in repetitions(scale, panel, seeds)
        for tradeoff in tradeoffs
    ]


# --- claims ---------------------------------------------------------------------------------------

KEPT = 0.8
"""Share of the cheapest features used without prices that large λ still uses."""

DEAR = 0.75
"""A feature is expensive from this part of the largest price on: 150 of 200 in the paper."""

FIRST_PART = 0.1
"""Early is the first tenth of the rounds."""

_SMALLEST_SHARE = 0.05
_SMALLEST_CORRELATION = 0.5
_HALF_OF_THE_SEEDS = 0.5

_CHEAP = 'section 6, Fig. 2: "cheap features (c = 1) are extracted constantly in different λ"'
_FEWER = 'section 6, Fig. 2: "expensive features (c ≥ 5) are extracted more often when λ is small"'
_ALWAYS = (
    'section 6, Fig. 2: "the most expensive (and invaluable) feature c = 200 is always extracted"'
)
_EARLY = (
    'section 6: "a few expensive features (cost ≥ 150) are always extracted within early '
    'iterations"'
)


def make_claims(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what Figure 2 and its text say, for each data set."""
    claims = []
    for panel in PANELS:
        mine = rows[rows["panel"] == panel.key]
        if mine.empty:
            continue
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claims += [
            Claim(
                id=f"{panel.key}-{name}",
                sentence=f"{panel.name}: {text}.",
                place=place,
                dataset=panel.dataset,
                smallest_effect=smallest,
                unit=unit,
                effects=partial(effects, panel=panel.key),
                spread=spread,
                overlap=overlap,
            )
            for name, text, place, smallest, unit, spread, effects in _sayings(mine["price"].max())
        ]
    return claims


def _sayings(highest: float) -> list[tuple]:
    """Return the sentences: name, text, place, smallest effect, unit, spread, effects."""
    return [
        ("cheap-kept",
         "of the features of the lowest price the largest λ uses at least 0.8 times as many as "
         "λ = 0", _CHEAP, _SMALLEST_SHARE, "ratio above 0.8", "seeds", cheap_kept),
        ("dearer-fall",
         "the larger λ, the smaller the used share of every higher price (rank correlation, mean "
         "over prices)", _FEWER, _SMALLEST_CORRELATION, "rank correlation with -λ", "seeds",
         dearer_fall),
        ("dearest-always",
         "a feature of the highest price is used at every λ, in most repetitions",
         _ALWAYS, _SMALLEST_SHARE, "share of repetitions", "trials", dearest_always),
        ("dear-early",
         f"at every λ a feature of price {DEAR * highest:g} or more is used in the first tenth of "
         "the rounds, in most repetitions",
         _EARLY, _SMALLEST_SHARE, "share of repetitions", "trials", dear_early),
    ]  # fmt: skip


def shares(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return the used share of each price (columns) for each (seed, λ)."""
    mine = rows[rows["panel"] == panel]
    share = mine.assign(share=mine["n_used"] / mine["n_features"])
    return share.pivot(index=["seed", "tradeoff"], columns="price", values="share")


def cheap_kept(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return the ratio of used shares of the lowest price, largest λ to λ = 0, less 0.8."""
    cheapest = shares(rows, panel).iloc[:, 0].unstack()
    free = cheapest[0.0].where(cheapest[0.0] > 0)
    return (cheapest[cheapest.columns.max()] / free - KEPT).to_numpy()


def dearer_fall(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return the mean rank correlation of -λ with the used shares of higher prices, by seed."""
    falls = []
    for _, table in shares(rows, panel).groupby("seed"):
        tradeoffs = table.index.get_level_values("tradeoff").to_numpy()
        # A share that never changes neither falls nor rises.
        each = [
            0.0 if np.ptp(column) == 0 else stats.spearmanr(-tradeoffs, column).statistic
            for column in table.iloc[:, 1:].to_numpy().T
        ]
        falls.append(np.mean(each))
    return np.array(falls)


def dearest_always(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return bound, failures, trials: repetitions in which some λ uses nothing of that price."""
    used = shares(rows, panel).iloc[:, -1].unstack() > 0
    return np.array([[_HALF_OF_THE_SEEDS, float((~used.all(axis=1)).sum()), float(len(used))]])


def dear_early(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return bound, failures, trials: repetitions in which some λ uses nothing dear early."""
    mine = rows[rows["panel"] == panel]
    mine = mine[mine["price"] >= DEAR * mine["price"].max()]
    # Every model has a first tenth: at least its first round.
    limit = np.maximum(1, np.ceil(FIRST_PART * mine["rounds"]))
    early = mine.assign(early=(mine["first_round"] > 0) & (mine["first_round"] <= limit))
    by_seed = early.groupby(["seed", "tradeoff"])["early"].any().unstack().all(axis=1)
    return np.array([[_HALF_OF_THE_SEEDS, float((~by_seed).sum()), float(len(by_seed))]])


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
    if record["kind"] != "real":
        stamp(ax, "STAND-IN")


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say for each data set the used share of the lowest and highest price at both ends of λ."""
    said = []
    for panel in PANELS:
        if not (rows["panel"] == panel.key).any():
            continue
        table = shares(rows, panel.key).groupby("tradeoff").mean()
        standin = "" if meta["data"][panel.dataset]["kind"] == "real" else ", stand-in"
        ends = [
            f"price {price:g} from {table[price].iloc[0]:.2f} to {table[price].iloc[-1]:.2f}"
            for price in (table.columns[0], table.columns[-1])
        ]
        said.append(f"({panel.key}) {panel.name}{standin}: {' and '.join(ends)}")
    return (
        "Share of the features that a model uses, a line for each price, over λ. From the smallest "
        f"λ to the largest: {'; '.join(said)}."
    )


ARTEFACT = Artefact(
    id="miser-figure2",
    paper="greedy_miser_2012",
    title="Greedy Miser, Figure 2",
    shows="Which features Greedy Miser uses, by their price, as λ grows.",
    minutes={"smoke": 0.1, "laptop": 1, "overnight": 80, "paper": 500},
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
    make_claims=make_claims,
    alt=alt,
    paper_numbers="Figure 2 prints shares without numbers; its legend has the prices and how many "
    "features have each: 123×1, 31×5, 191×20, 125×50, 16×100, 32×150, 1×200.",
)
