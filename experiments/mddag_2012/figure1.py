"""Figure 1 of the MDDAG paper: which base classifiers are used for which points of the plane."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.looks import LOOKS
from experiments.mddag_2012.cells.toy import run_cell
from experiments.mddag_2012.show.dag import BLUE, RED, SHARES, draw_dag, frequent
from experiments.style import headline

DATASET, BETA = "toy", 0.01
METHODS = ("mddag_i", "mddag_i_descent")
CLASSIFIERS = {"smoke": 60, "laptop": 1000, "overnight": 1000, "paper": 1000}
EPISODES = {"smoke": 30_000, "laptop": 1_000_000, "overnight": 1_000_000, "paper": 1_000_000}

RARE = 0.01
"""Edges that a smaller share of the positive points takes are not drawn."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return one cell for each draw of the points."""
    return [
        Cell(
            DATASET,
            "mddag",
            {
                "n_estimators": CLASSIFIERS[scale],
                "n_episodes": EPISODES[scale],
                "beta": BETA,
                "background": seed == seeds[0],
            },
            seed,
        )
        for seed in seeds
    ]


def of(rows: pd.DataFrame, record: str, method: str = "mddag_i") -> pd.DataFrame:
    """Return the rows of one kind."""
    return rows[(rows["record"] == record) & (rows["method"] == method)]


# --- picture --------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw panels (a) to (d) of the first seed, and SARSA's score over its episodes."""
    first = rows[rows["seed"] == rows["seed"].min()]
    figure = Figure(figsize=(14, 7.0), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1))
    a, b, c, e = upper.subplots(1, 4)
    _draw_points(a, first)
    _draw_evaluations(b, first)
    _draw_usage(c, first)
    _draw_scores(e, first)
    _draw_graph(lower.subplots(), first)
    headline(
        figure,
        f"MDDAG (ICML 2012), Figure 1 · scale {meta['scale']} · MDDAG.I, β = {BETA:g}, "
        f"{CLASSIFIERS[meta['scale']]:,} stumps of AdaBoost · first of {len(meta['seeds'])} draws "
        "of points of ours, not the paper's",
    )
    return figure


def _draw_points(ax, rows: pd.DataFrame) -> None:
    negative = of(rows, "point", "adaboost")
    positive = of(rows, "point")
    ax.scatter(negative["x_1"], negative["x_2"], s=3, color="#009E73", marker="x", linewidth=0.5)
    for cluster, colour, marker in ((0, BLUE, "o"), (1, RED, "s")):
        mine = positive[positive["cluster"] == cluster]
        ax.scatter(mine["x_1"], mine["x_2"], s=4, color=colour, marker=marker, linewidth=0)
    _label(ax, "(a) positive clusters, background")


def _label(ax, title: str) -> None:
    ax.set_title(title, loc="left")
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")
    ax.set_aspect("equal")


def _draw_evaluations(ax, rows: pd.DataFrame) -> None:
    mine = of(rows, "point").sort_values("evaluations")
    drawn = ax.scatter(
        mine["x_1"], mine["x_2"], c=mine["evaluations"], s=6, cmap="viridis_r", linewidth=0
    )
    bar = ax.figure.colorbar(drawn, ax=ax, location="right", shrink=0.75, aspect=25)
    bar.set_label("base classifiers evaluated", fontsize=8)
    bar.locator = MaxNLocator(integer=True)
    _label(ax, "(b) base classifiers used")


def _draw_usage(ax, rows: pd.DataFrame) -> None:
    used = of(rows, "classifier").sort_values("item")
    places = np.arange(len(used))
    ax.bar(places - 0.2, used["first"], 0.4, color=BLUE, label="first cluster")
    ax.bar(places + 0.2, used["second"], 0.4, color=RED, hatch="///", label="second cluster")
    ax.set_xticks(places, used["item"].astype(str), rotation=90, fontsize=6)
    ax.set_xlabel("base classifier $j$ (those used at all)")
    ax.set_ylabel("positive points that evaluate it")
    ax.set_title("(c) use by cluster", loc="left")
    ax.set_ylim(top=1.18 * used[["first", "second"]].to_numpy().max())
    ax.legend(fontsize=7, loc="upper center", ncols=2)


def _draw_scores(ax, rows: pd.DataFrame) -> None:
    scores = {method: of(rows, "score", method).sort_values("item") for method in METHODS}
    sarsa = scores["mddag_i"][scores["mddag_i"]["item"] > 0]
    ax.plot(sarsa["item"], sarsa["objective"], color=LOOKS["mddag_i"].colour, linewidth=0.8,
            label="SARSA, the policy so far")  # fmt: skip
    for method, label in (("mddag_i", "SARSA, the policy kept"), ("mddag_i_descent", "descent")):
        kept = scores[method].loc[scores[method]["item"] == 0, "objective"].item()
        look = LOOKS[method]
        ax.axhline(kept, color=look.colour, linestyle=look.line, linewidth=1.3, label=label)
    ax.set_ylim(bottom=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.ticklabel_format(axis="x", style="sci", scilimits=(0, 0))
    ax.set_xlabel("episodes")
    ax.set_ylabel("objective (8) on the training points")
    ax.set_title("(e) SARSA's score, and descent", loc="left")
    ax.legend(fontsize=7, loc="lower right")


def _draw_graph(ax, rows: pd.DataFrame) -> None:
    points, used = of(rows, "point"), of(rows, "classifier").set_index("item")
    table = of(rows, "edge").set_index(["item", "next"])
    counts = (table["first"] + table["second"]).to_dict()
    kept = frequent(counts, RARE * len(points))
    if not kept:
        ax.text(0.5, 0.5, "no point evaluates two base classifiers", ha="center")
        ax.set_axis_off()
        return
    nodes = {node for edge in kept for node in edge}
    share = (used["first"] / (used["first"] + used["second"])).to_dict()
    colours = {node: SHARES(share[node]) for node in nodes}
    colours |= {edge: SHARES(table.loc[edge, "first"] / counts[edge]) for edge in kept}
    sizes = (used["first"] + used["second"]).to_dict()
    draw_dag(ax, kept, sizes, colours, share)
    hidden = len(counts) - len(kept)
    ax.set_title(
        "(d) the DAG of the positive points: numbers are base classifiers, size and width how many "
        "points, colour of which cluster"
        + (
            f"; {hidden} edges of less than {RARE:.0%} of the points are left out" if hidden else ""
        ),
        loc="left",
    )


ARTEFACT = Artefact(
    id="mddag-figure1",
    paper="mddag_2012",
    title="MDDAG, Figure 1",
    shows="Which base classifiers are used for which points, and the decision DAG of two clusters.",
    minutes={"smoke": 0.1, "laptop": 0.1, "overnight": 0.1, "paper": 0.1},
    seeds={"smoke": 1, "laptop": 5, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("record", "method", "item", "next"),
    tolerances={
        "x_1": Tolerance(absolute=1e-4),
        "x_2": Tolerance(absolute=1e-4),
        "cluster": Tolerance(),
        "evaluations": Tolerance(absolute=2),
        "margin": Tolerance(absolute=0.01),
        "first": Tolerance(absolute=5, relative=0.1),
        "second": Tolerance(absolute=5, relative=0.1),
        "objective": Tolerance(absolute=0.01),
    },
    render=render,
    paper_numbers="Figure 1 and section 3.1 print no numbers but β = 0.01 and 1,000 stumps.",
)
