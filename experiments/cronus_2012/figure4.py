"""Figure 4 of the Cronus paper: which features are bought at which stage, by their price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact
from experiments.claims import Claim, Subject
from experiments.cronus_2012.cells.measure import run_cell
from experiments.cronus_2012.figure3 import make_cells
from experiments.cronus_2012.show.comparison import (
    bought,
    chosen_by_validation,
    chosen_stages,
    first_stage,
    there,
)
from experiments.cronus_2012.show.panels import PANELS, ROW_KEYS, TOLERANCES, Panel, panel_title
from experiments.style import headline, stamp

CHEAP = 0.025
"""Cheap features cost up to this part of the highest price: 5 of 200 in the paper."""

DEAR = 0.1
"""Expensive ones from this part on: 20 of 200."""

VERY_DEAR = 0.5
"""And these from this part on: 100 of 200."""

_SMALLEST_SHARE = 0.05
_HALF_OF_THE_SEEDS = 0.5
_CHEAP = (
    'section 4, Fig. 4: "cheap features, c ≤ 5, are extracted early-on while more expensive '
    'features c ≥ 20 are extracted near the end"'
)
_FIRST = (
    'section 4, Fig. 4: "Most cheap features (c = 1, 5) are already extracted in the first stage"'
)
_DEAR = 'section 4: "a few expensive features (c = 100, 150) are extracted in the very first stage"'


def make_claims(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what Figure 4 and its text say, for each data set that has such features."""
    claims = []
    for panel in PANELS:
        if not there(rows, panel.key, "cronus"):
            continue
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claim = Subject(panel.key, panel.name, panel.dataset, overlap).claim
        if has_cheap(rows, panel.key):
            claims += _cheap_claims(claim)
        claims.append(
            replace(
                claim("some-dear-at-once",
                      "a feature of half the highest price or more is bought in the first stage "
                      "that has trees, in most repetitions", _DEAR, _SMALLEST_SHARE,
                      "share of repetitions", dear_at_once),
                spread="trials",
            )
        )  # fmt: skip
    return claims


def _cheap_claims(claim: Callable) -> list[Claim]:
    unit = "share of the features"
    return [
        claim("cheap-first",
              "of the cheap features (up to a fortieth of the highest price) a larger part is "
              "bought in the first stage that has trees than of the expensive ones (a tenth "
              "and more)", _CHEAP, _SMALLEST_SHARE, unit, cheap_before_dear),
        claim("most-cheap-at-once",
              "of the cheap features that are bought at all more than half are bought in the "
              "first stage that has trees", _FIRST, _SMALLEST_SHARE, f"{unit} above ½",
              cheap_at_once),
    ]  # fmt: skip


def has_cheap(rows: pd.DataFrame, panel: str) -> bool:
    """Whether any feature of a panel's data costs up to :data:`CHEAP` of the highest price.

    Without one the paper's sentences on cheap features say nothing of the data.
    """
    prices = counts(rows, panel).index
    return len(prices) > 0 and prices.min() <= CHEAP * prices.max()


def _firsts(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return for each (seed, price) features bought in the first stage with trees, and in all."""
    table, first = bought(rows, panel), first_stage(rows, panel)
    at = [table.loc[key, first[key[0]]] for key in table.index if key[0] in first.index]
    kept = [key for key in table.index if key[0] in first.index]
    listed = table.loc[kept].assign(first=at)
    return pd.DataFrame({"first": listed["first"], "all": listed[table.columns[-1]]})


def counts(rows: pd.DataFrame, panel: str) -> pd.Series:
    """Return how many features there are of each price."""
    mine = rows[(rows["panel"] == panel) & (rows["price"] >= 0)]
    return mine.groupby("price")["n_listed"].max()


def cheap_before_dear(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return by how much the cheap features' share in the first stage exceeds the dear ones'.

    A repetition in which no feature is cheap, or none is dear, is left out.
    """
    sizes, firsts = counts(rows, panel), _firsts(rows, panel)
    highest, effects = sizes.index.max(), []
    for _, mine in firsts.groupby("seed"):
        mine = mine.droplevel("seed")
        cheap, dear = mine.index <= CHEAP * highest, mine.index >= DEAR * highest
        n_cheap, n_dear = (sizes[mine.index[group]].sum() for group in (cheap, dear))
        if n_cheap and n_dear:
            first = mine["first"]
            effects.append(first[cheap].sum() / n_cheap - first[dear].sum() / n_dear)
    return np.array(effects)


def cheap_at_once(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return by how much more than half of the cheap features are bought at once, by seed."""
    highest, firsts = counts(rows, panel).index.max(), _firsts(rows, panel)
    cheap = firsts[firsts.index.get_level_values("price") <= CHEAP * highest].groupby("seed").sum()
    return (cheap["first"] / cheap["all"].where(cheap["all"] > 0) - 0.5).to_numpy()


def dear_at_once(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return bound, failures, trials: repetitions whose first stage buys nothing very dear."""
    highest, firsts = counts(rows, panel).index.max(), _firsts(rows, panel)
    dear = firsts[firsts.index.get_level_values("price") >= VERY_DEAR * highest]
    buys = dear.groupby("seed")["first"].sum() > 0
    return np.array([[_HALF_OF_THE_SEEDS, float((~buys).sum()), float(len(buys))]])


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
    table, there_are = bought(rows, panel.key).groupby("price").mean(), counts(rows, panel.key)
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
    if record["kind"] != "real":
        stamp(ax, "STAND-IN")


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say for each data set the bought share of the lowest and highest price."""
    said = []
    for panel in PANELS:
        if not there(rows, panel.key, "cronus"):
            continue
        table, there_are = bought(rows, panel.key).groupby("price").mean(), counts(rows, panel.key)
        standin = "" if meta["data"][panel.dataset]["kind"] == "real" else ", stand-in"
        ends = [
            f"price {price:g} {table.loc[price].iloc[-1] / there_are[price]:.2f}"
            for price in (table.index[0], table.index[-1])
        ]
        said.append(f"({panel.key}) {panel.name}{standin}: {' and '.join(ends)}")
    return (
        "Share of the features of each price that the optimised cascade has bought until each "
        f"stage. In the end: {'; '.join(said)}."
    )


ARTEFACT = Artefact(
    id="cronus-figure4",
    paper="cronus_2012",
    title="Cronus, Figure 4",
    shows="Which features are bought at which stage, by their price.",
    minutes={"smoke": 0.1, "laptop": 4, "overnight": 7, "paper": 1500},
    seeds={"smoke": 1, "laptop": 3, "overnight": 5, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=ROW_KEYS,
    tolerances=TOLERANCES,
    render=render,
    make_claims=make_claims,
    alt=alt,
    paper_numbers="Figure 4 prints shares without numbers; its legend has the prices and how many "
    "features have each.",
    timing_columns=("fit_seconds",),
    select=chosen_stages,
    chosen=chosen_by_validation,
)
