"""Small multiples of curves: what a method reaches against what it spends.

Thirteen curves in one panel are one bundle. Here a column has the methods of one kind; all others
stand behind them in light grey.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from experiments.adaptive_sampling_2014.cells.grid import make_cells, rounds_1_2_5
from experiments.adaptive_sampling_2014.cells.methods import (
    KEYS,
    LAMINATING,
    MAS,
    METHODS,
    TASTING,
    Method,
    group,
)
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.artefact import Cell
from experiments.data_kinds import in_words, kind_in_words
from experiments.lines import Line, LinePanel, Lines
from experiments.style import LOOKS, mark

LABELS = {"log10_loss": "training loss (log₁₀)", "test_error": "test error [%]"}

KINDS = {
    "fixed choice": ("best_family", "uniform_naive", "uniform_1q", "uniform_q1"),
    "bandits": ("ucb", "exp3p", "epsilon_greedy"),
    **{kind: tuple(group(kind)) for kind in (TASTING, MAS, LAMINATING)},
}
"""For each column the methods in front."""


FIRST = "first families and rules of before: not the classifiers of Tables 1, 2 and 4 as published"
"""What a title says: the families are those of before ``mash``, Laminating begins with Q = 32,
equals go to the lowest feature. Of Caltech-101, Table 3 still has these families and rules."""


def cells_of_sets(
    scale: str,
    seeds: range,
    series: Callable[[int], list[int]] = rounds_1_2_5,
    timed: bool = False,
) -> list[Cell]:
    """Return the cells of all four data sets, see :data:`FIRST`; untimed Table 3's are its own."""
    return [
        cell
        for dataset in SETS
        for cell in make_cells(dataset, scale, seeds, series=series, timed=timed)
    ]


def curve(rows: pd.DataFrame, dataset: str, method: str) -> pd.DataFrame:
    """Return what a method reaches after each round read, and spends: a line per seed and round."""
    mine = (rows["dataset"] == dataset) & (rows["algorithm"] == method)
    return rows[mine & (rows["budget"] == "paper")].sort_values(["seed", "rounds"])


def draw_panels(
    rows: pd.DataFrame, meta: Mapping, spent: str, unit: str, shown: Sequence[str]
) -> Figure:
    """Draw a line of panels for each data set and quantity, a column for each kind of method."""
    lines = [(name, q) for name in SETS if name in set(rows["dataset"]) for q in shown]
    size = (14.0, 1.9 * len(lines) + 2.2)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(lines), len(KINDS), squeeze=False, sharex="row", sharey="row")
    for line, (dataset, quantity) in zip(axes, lines, strict=True):
        stages = {key: _stages(rows, dataset, key, spent, quantity) for key in KEYS}
        for ax, (kind, methods) in zip(line, KINDS.items(), strict=True):
            _draw_panel(ax, stages, methods)
            mark(ax, meta["data"][dataset])
            if ax in axes[0]:
                ax.set_title(kind, loc="right", fontweight="bold")
        _scales(line[0], quantity)
        line[0].set_ylabel(LABELS[quantity])
        if quantity == shown[0]:
            line[0].set_title(panel_title(meta["data"][dataset], dataset), loc="left")
        if quantity == shown[-1]:
            for ax in line:
                ax.set_xlabel(unit)
    _legend(figure, rows)
    return figure


def panel_title(record: Mapping, dataset: str) -> str:
    """Say which data a panel shows, and how much of them."""
    return (
        f"{SETS[dataset].title} ({kind_of(record)})\n{record['rows']['train']:,} training images\n"
        f"{record['n_features']:,} features"
    )


def kind_of(record: Mapping) -> str:
    """Say whether data are real, a part of the real ones, or of another kind."""
    return kind_in_words(record) if record["kind"] == "real" else in_words(record)


def _stages(rows: pd.DataFrame, dataset: str, method: str, spent: str, quantity: str) -> np.ndarray:
    """Return spent, reached and its standard deviation, means over repetitions, (3, n_stages)."""
    stages = curve(rows, dataset, method).groupby("rounds")
    table = stages.agg(x=(spent, "mean"), y=(quantity, "mean"), sd=(quantity, "std"))
    return np.nan_to_num(table.to_numpy(dtype=float).T)


def _draw_panel(ax: Axes, stages: Mapping[str, np.ndarray], methods: Sequence[str]) -> None:
    """Draw all methods in light grey, then those of the panel with their bands."""
    for key in KEYS:
        if key not in methods:
            ax.plot(*stages[key][:2], color="0.78", linewidth=0.7, zorder=1)
    for key in methods:
        (x, y, sd), look = stages[key], LOOKS[key]
        ax.plot(
            *(x, y),
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=3.5,
            markevery=max(1, len(x) // 5),
            linewidth=1.3,
            zorder=3,
        )
        ax.fill_between(x, y - sd, y + sd, color=look.colour, alpha=0.2, linewidth=0)


def _scales(ax: Axes, quantity: str) -> None:
    """Set the scales and numbers of a line of panels, which share them."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_minor_locator(NullLocator())
    if quantity == "test_error":
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        narrow = high < 4 * low
        subs = tuple(range(1, 10)) if narrow else (1, 2, 5)
        ax.yaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_minor_locator(NullLocator())


def _legend(figure: Figure, rows: pd.DataFrame) -> None:
    """List the methods that are drawn; lines without bands, so that they are told apart."""
    there, handles = set(rows["algorithm"]), []
    for method in METHODS:
        if method.key in there:
            look = LOOKS[method.key]
            name = f"{method.name}{'*' * method.tuned}"
            style = {"color": look.colour, "marker": look.marker, "linestyle": look.line}
            handles.append(Line2D([], [], label=name, **style))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8)


def repetitions(meta: Mapping) -> str:
    """Say how many repetitions there were, and what a band is."""
    n = len(meta["seeds"])
    return "1 repetition" if n == 1 else f"{n} repetitions, bands: standard deviation"


def lines_of_panels(
    rows: pd.DataFrame, meta: Mapping, spent: str, unit: str, shown: Sequence[str]
) -> Lines:
    """Return the curves of :func:`draw_panels` as numbers; its parameters."""
    panels = [
        LinePanel(
            title=f"{SETS[dataset].title} ({kind_of(meta['data'][dataset])})",
            x_label=unit,
            y_label=LABELS[quantity],
            log_y=quantity == "test_error",
            n=len(meta["seeds"]),
            lines=[
                _line(mine, method, spent, quantity)
                for method in METHODS
                if len(mine := curve(rows, dataset, method.key))
            ],
        )
        for quantity in shown
        for dataset in SETS
        if dataset in set(rows["dataset"])
    ]
    return Lines(panels, "standard deviation")


def _line(mine: pd.DataFrame, method: Method, spent: str, quantity: str) -> Line:
    stages = mine.groupby("rounds").agg(
        x=(spent, "mean"), y=(quantity, "mean"), sd=(quantity, "std")
    )
    x, y, sd = (stages[name].to_numpy(dtype=np.float64) for name in ("x", "y", "sd"))
    sd = np.nan_to_num(sd)
    label = f"{method.name}{'*' * method.tuned}"
    return Line(label, x, y, y - sd, y + sd, LOOKS[method.key].colour)
