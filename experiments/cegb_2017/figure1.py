"""Figure 1 of the CEGB paper: a depth-limited tree, and a tree of CEGB."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_letters

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.measure import first_tree
from experiments.cegb_2017.show.panels import PANELS, settings
from experiments.data_kinds import in_words
from experiments.looks import LOOKS
from experiments.style import headline, mark

METHODS = {
    "cegb_as_miser": {"max_leaves": 8, "max_depth": 3},
    "cegb": {"max_leaves": 15},
}
"""Sizes of the two trees in the paper: 8 leaves at depth 3, and 15 leaves at any depth."""

TRADEOFF = 1e-3
"""The largest λ of the paper."""

LEVEL = 0.05
"""Each level is drawn lower by this share of the most expensive path, so that free splits show."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return two cells: Figure 2a's setting on MSLR (smoke: on the synthetic set of Yahoo! LTR)."""
    panel = next(p for p in PANELS if p.key == ("a" if scale == "smoke" else "a'"))
    return [
        Cell(
            panel.dataset,
            method,
            {"tradeoff": TRADEOFF, "settings": settings(scale, panel, method) | shape},
            seed,
        )
        for seed in seeds
        for method, shape in METHODS.items()
    ]


def mean_cost(nodes: pd.DataFrame) -> float:
    """Return the mean feature cost of a training row in this tree."""
    leaves = nodes[nodes["order"] < 0]
    return float(np.average(leaves["cost"], weights=leaves["count"]))


def layout(nodes: pd.DataFrame) -> dict[int, tuple[float, float]]:
    """Return the place of each node: leaves evenly from left to right, splits above their children.

    Parameters
    ----------
    nodes : DataFrame
        Rows of one tree; children have larger numbers than their parent, the left one the smaller.

    Returns
    -------
    dict of int to (x, y)
        y is the cost on arrival, plus :data:`LEVEL` of the most expensive path for each level.
    """
    children = {int(n): sorted(map(int, g["node"])) for n, g in nodes.groupby("parent") if n >= 0}
    cost = dict(zip(nodes["node"].astype(int), nodes["cost"], strict=True))
    step = LEVEL * max(cost.values())
    place, n_leaves = {}, 0

    def put(node: int, depth: int) -> float:
        nonlocal n_leaves
        if node in children:
            x = float(np.mean([put(child, depth + 1) for child in children[node]]))
        else:
            x, n_leaves = float(n_leaves), n_leaves + 1
        place[node] = (x, cost[node] + step * depth)
        return x

    put(int(nodes.loc[nodes["parent"] < 0, "node"].iloc[0]), 0)
    return place


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw both trees on one cost axis."""
    figure = Figure(figsize=(11, 5.4), layout="constrained")
    axes = figure.subplots(1, 2, width_ratios=(8, 15), sharey=True)
    ((name, record),) = meta["data"].items()
    for ax, letter, method in zip(axes, "ab", METHODS, strict=True):
        nodes = rows[(rows["algorithm"] == method) & (rows["seed"] == rows["seed"].min())]
        _draw_tree(ax, nodes)
        n_splits = int((nodes["order"] >= 0).sum())
        ax.set_title(
            f"({letter}) {LOOKS[method].label}: {n_splits} splits, {n_splits + 1} leaves\n"
            f"mean feature cost of a training row: {mean_cost(nodes):.3g}",
            loc="left",
        )
        ax.set_xticks([])
        ax.grid(False)
        ax.spines["bottom"].set_visible(False)
    axes[0].invert_yaxis()
    axes[0].set_ylabel(
        f"feature cost paid on arrival [{record['cost_unit']}],\n"
        f"drawn {LEVEL:.0%} of the most expensive path lower per level"
    )
    mark(axes[1], record)
    kind = in_words(record)
    headline(
        figure,
        f"CEGB (NIPS 2017), Figure 1 · {name}, {kind}, {record['rows']['train']:,} training rows · "
        f"first tree of each model, λ = {TRADEOFF:g}, scale {meta['scale']}\n"
        "circles: split nodes numbered as they were made; letters: leaves; width of a line: rows",
    )
    return figure


def _draw_tree(ax, nodes: pd.DataFrame) -> None:
    place = layout(nodes)
    total = nodes["count"].max()
    for node in nodes.itertuples():
        if node.parent < 0:
            continue
        (x0, y0), (x1, y1) = place[node.parent], place[node.node]
        width = 0.5 + 9 * node.count / total
        ax.plot([x0, x1], [y0, y1], color="0.72", linewidth=width, solid_capstyle="round", zorder=1)
    leaves = sorted(nodes.loc[nodes["order"] < 0, "node"], key=lambda n: place[n][0])
    letters = dict(zip(leaves, ascii_letters[26:] + ascii_letters[:26], strict=False))
    for node in nodes.itertuples():
        split = node.order >= 0
        box = {
            "boxstyle": "circle,pad=0.25" if split else "square,pad=0.15",
            "facecolor": "white",
            "edgecolor": "black" if split else "0.5",
            "linewidth": 0.8,
        }
        text = str(node.order) if split else letters[node.node]
        ax.text(*place[node.node], text, ha="center", va="center", fontsize=7.5, bbox=box, zorder=3)
    ax.margins(0.04, 0.06)


ARTEFACT = Artefact(
    id="cegb-figure1",
    paper="cegb_2017",
    title="CEGB, Figure 1",
    shows="The first tree of a depth-limited model and of CEGB, by the feature cost paid.",
    minutes={"smoke": 0.1, "laptop": 0.5, "overnight": 4, "paper": 5},
    seeds={"smoke": 1, "laptop": 1, "overnight": 1, "paper": 1},
    make_cells=make_cells,
    run_cell=first_tree,
    keys=("tradeoff", "node"),
    tolerances={
        "parent": Tolerance(absolute=0),
        "order": Tolerance(absolute=0),
        "feature": Tolerance(absolute=0),
        "count": Tolerance(relative=0.01),
        "cost": Tolerance(absolute=0.01, relative=0.01),
        "value": Tolerance(absolute=0.01),
    },
    render=render,
    paper_numbers="Figure 1 is an illustration without numbers or data.",
)
