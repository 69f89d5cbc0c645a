"""Draws what came out: score against cost, gaps as gaps, the constant as a line."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.compare.choosing import along_the_costs
from experiments.compare.outcome import Outcome, Search
from experiments.compare.plan import plain
from experiments.compare.preparing import Asked
from experiments.compare.reading import shown
from experiments.looks import Look, look_of, name_of
from experiments.style import interrupted, log_cost_axis

_SCORES = {
    "accuracy": "accuracy (share of rows)",
    "balanced_accuracy": "balanced accuracy (mean share over classes)",
    "neg_mean_squared_error": "minus the mean squared error",
    "neg_mean_absolute_error": "minus the mean absolute error",
}
_GAP = 2.0
"""A step to more than so many times the cost is a gap."""


def _in_the_legend(label: str) -> str:
    """Give a label; one that begins with _ would be left out."""
    return f" {label}" if label.startswith("_") else label


def picture(outcome: Outcome, asked: Asked, search: Search) -> Figure:
    """Draw test score against cost: a line for each method, its models at the asked budgets."""
    prepared = outcome.prepared
    figure = Figure(figsize=(9.5, 5.2), layout="constrained")
    ax = figure.subplots()
    curves = along_the_costs(outcome.rows, search.budgets)
    for number, method in enumerate(outcome.methods):
        look = look_of(method.slug, number)
        curve = curves[(curves["method"] == method.slug) & (curves["test_cost"] > 0)]
        if not curve.empty:
            _curve(ax, curve, look, name_of(method.slug))
        at = outcome.table[(outcome.table["method"] == method.slug) & outcome.table["recommended"]]
        _circles(ax, at[at["test_cost"] > 0], look)
    _constant(ax, outcome)
    for budget in search.budgets:
        ax.axvline(budget, color="0.6", linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
        none = ": none" if budget in outcome.unreached else ""
        ax.annotate(
            f"budget {plain(budget)}{none}", (budget, 1), xycoords=("data", "axes fraction"),
            xytext=(3, -3), textcoords="offset points", rotation=90, va="top", fontsize=7,
            color="0.35",
        )  # fmt: skip
    log_cost_axis(ax)
    unit = shown(asked.unit or "") or f"unit of {prepared.prices.origin}"
    ax.set_xlabel(f"mean cost of a prediction on the test rows ({unit}, log scale)")
    ax.set_ylabel(f"{_SCORES.get(prepared.metric, prepared.metric)}, test rows")
    ax.set_title(
        f"{shown(asked.table)}, {asked.target}: best on validation rows up to each cost; circles: "
        "chosen for a budget,\nretrained on training and validation rows, with 95 % interval; thin "
        "dotted: a step to more than twice the cost"
    )
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside right upper", fontsize=7, handlelength=3
    )
    return figure


def _curve(ax: Axes, curve, look: Look, label: str) -> None:
    """Draw a method's models; where nothing lies between two, a thin dotted line."""
    x, y = curve["test_cost"].to_numpy(), curve["test_score"].to_numpy()
    before = np.flatnonzero(x[1:] > _GAP * x[:-1])
    if len(before):
        x, y = interrupted(ax, look.colour, x, y, before)
    ax.plot(
        x, y, color=look.colour, marker=look.marker, linestyle=look.line,
        label=_in_the_legend(label),
        markersize=4, linewidth=1.2, alpha=0.9,
    )  # fmt: skip


def _circles(ax: Axes, at, look: Look) -> None:
    ax.errorbar(
        at["test_cost"], at["test_score"],
        yerr=[at["test_score"] - at["test_low"], at["test_high"] - at["test_score"]],
        fmt="none", ecolor=look.colour, elinewidth=1.4, capsize=4,
    )  # fmt: skip
    ax.plot(
        at["test_cost"], at["test_score"], linestyle="none", marker="o", markersize=13,
        markerfacecolor="none", markeredgecolor=look.colour, markeredgewidth=1.6,
    )  # fmt: skip


def _constant(ax: Axes, outcome: Outcome) -> None:
    ax.axhline(
        outcome.constant["test_score"], color="0.3", linewidth=1.0, linestyle=(0, (1, 1)),
        label=f"{outcome.constant['answer']}: costs nothing", zorder=0,
    )  # fmt: skip
