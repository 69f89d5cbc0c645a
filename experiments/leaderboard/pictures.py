"""The leaderboard's pictures: the critical difference, and score against budget of each field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.leaderboard.answers import Answer
from experiments.leaderboard.kept import CONSTANT
from experiments.leaderboard.ratings import Critical
from experiments.looks import look_of, name_of
from experiments.style import log_cost_axis


def groups_alike(found: Critical) -> list[tuple[int, int]]:
    """Give the longest runs of methods, by rank, whose ends differ by less than the critical one.

    Returns
    -------
    list of (first, last)
        Places in the order of ranks; none lies within another.
    """
    ranks = found.ranks.to_numpy()
    ends = [int(np.searchsorted(ranks, rank + found.difference, side="left")) - 1 for rank in ranks]
    runs = [(k, end) for k, end in enumerate(ends) if end > k]
    return [run for run in runs if not any(a < run[0] and run[1] <= b for a, b in runs)]


def critical_difference(found: Critical) -> Figure:
    """Draw mean ranks on a line, best on the left; a bar joins what differs too little."""
    runs = groups_alike(found)
    n = len(found.ranks)
    half = (n + 1) // 2
    figure = Figure(figsize=(9.0, 1.3 + 0.22 * half + 0.14 * len(runs)), layout="constrained")
    ax = figure.subplots()
    ax.axis("off")
    top, low, high = 0.0, 1.0, float(n)
    ax.plot([low, high], [top, top], color="black", linewidth=1.0)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [top, top + 0.12], color="black", linewidth=0.8)
        ax.text(tick, top + 0.18, str(tick), ha="center", va="bottom", fontsize=7)
    under = 0.3 + 0.28 * len(runs)
    for place, (method, rank) in enumerate(found.ranks.items()):
        left = place < half
        y = -under - 0.4 * (place if left else n - 1 - place)
        x = low - 0.3 if left else high + 0.3
        ax.plot([rank, rank, x], [top, y, y], color="0.4", linewidth=0.7)
        text = f"{name_of(str(method))} {rank:.2f}"
        ax.text(x, y, f" {text} ", ha="right" if left else "left", va="center", fontsize=7)
    for k, (first, last) in enumerate(runs):
        y = -0.2 - 0.28 * k
        best, worst = found.ranks.iloc[[first, last]]
        ax.plot(
            [best - 0.05, worst + 0.05], [y, y], color="black", linewidth=2.5, solid_capstyle="butt"
        )
    width = found.difference
    ax.plot([low, low + width], [0.75, 0.75], color="black", linewidth=1.2)
    ax.text(low + width / 2, 0.8, f"critical difference {width:.2f}", ha="center", fontsize=7)
    ax.set_xlim(low - 0.45 * n, high + 0.45 * n)
    return figure


def of_field(scores: pd.DataFrame, metric: str, unit: str) -> Figure:
    """Draw the test score of each method against its mean cost, as its budget grows."""
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    ax = figure.subplots()
    constant = scores.loc[scores["method"] == CONSTANT, "score"].iloc[0]
    best = scores.sort_values(["budget", "score"])
    for method, curve in best.groupby("method", sort=True):
        curve = curve[curve["cost"] > 0].drop_duplicates("cost").sort_values("cost")
        if method == CONSTANT or curve.empty:
            continue
        look = look_of(str(method))
        ax.plot(
            curve["cost"], curve["score"], color=look.colour, marker=look.marker,
            linestyle=look.line, linewidth=1.1, gid=f"line-{method}",
        )  # fmt: skip
    ax.axhline(constant, color="0.6", linewidth=0.8, linestyle=(0, (4, 3)))
    log_cost_axis(ax)
    ax.set_xlabel(f"mean cost of a prediction ({unit})")
    ax.set_ylabel(metric)
    return figure


def of_answers(found: Sequence[Answer]) -> Figure:
    """Draw the difference of each declared question and its interval, at the width of a phone."""
    figure = Figure(figsize=(4.2, 0.4 + 0.48 * len(found)), layout="constrained")
    ax = figure.subplots()
    for place, answer in enumerate(found):
        gap, y = answer.difference, -place
        colour = "black" if answer.holds else "0.55"
        ax.plot([gap.low, gap.high], [y, y], color=colour, linewidth=2)
        ax.plot([gap.mean], [y], "o", color=colour)
        first, second = (name_of(name) for name in answer.question[:2])
        ax.text(0.01, y + 0.24, f"{first} − {second}", transform=ax.get_yaxis_transform(),
                fontsize=8, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_ylim(-len(found) + 0.6, 0.6)
    ax.set_yticks([])
    ax.set_xlabel("difference of the mean areas, 95 % interval over data sets")
    return figure
