"""Figure 1 of the adaptive-sampling paper: E[ε*] against Q and S, for two spreads of the edges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.adaptive_sampling_2014.cells.gaussian_edges import run_cell
from experiments.artefact import Artefact, Cell, Tolerance
from experiments.data_kinds import NAME
from experiments.style import frame, headline

STDS = (0.1, 0.01)
"""Standard deviations of the edges: N(0, 10^-2) above, N(0, 10^-4) below."""

COSTS = (1_000, 10_000, 100_000)
"""Fixed costs QS of the lines."""

DRAWS = {"smoke": 200, "laptop": 4_000, "overnight": 20_000, "paper": 20_000}
"""Repetitions of each estimate by drawing."""

LARGEST = {"smoke": 1_000, "laptop": 10_000, "overnight": 10_000, "paper": 10_000}


_LINES = {
    1_000: ("#8C8C8C", ":", "o"),
    10_000: ("#0072B2", "--", "s"),
    100_000: ("black", "-", "^"),
}


def sizes(largest: int, per_decade: int) -> list[int]:
    """Return the distinct whole numbers nearest to 10^(i / `per_decade`), up to `largest`."""
    steps = range(round(per_decade * np.log10(largest)) + 1)
    return sorted({round(10 ** (i / per_decade)) for i in steps})


def best_size(line: pd.DataFrame, column: str) -> float:
    """Return the Q with the largest value of one line, between the grid's: a parabola's vertex."""
    line = line.sort_values("n_features")
    x, y = np.log10(line["n_features"].to_numpy()), line[column].to_numpy()
    i = int(np.argmax(y))
    if i in (0, len(y) - 1):
        return float(10 ** x[i])
    a, b, _ = np.polyfit(x[i - 1 : i + 2] - x[i], y[i - 1 : i + 2], 2)
    return float(10 ** (x[i] - b / (2 * a)))


FIRST_SEED = 10
"""Seeds 0 to 9 were published first."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return for each spread one surface, and for each seed the lines with their estimates."""
    surface = {"kind": "surface", "sizes": sizes(LARGEST[scale], 4 if scale == "smoke" else 10)}
    lines = {
        "kind": "line",
        "sizes": sizes(LARGEST[scale], 6),
        "costs": list(COSTS),
        "draws": DRAWS[scale],
    }
    method = "adaptive_sampling"
    cells = [Cell(NAME, method, {"std": std, **surface}, FIRST_SEED) for std in STDS]
    return cells + [
        Cell(NAME, method, {"std": std, **lines}, FIRST_SEED + s) for s in seeds for std in STDS
    ]


def _draw_surface(figure: Figure, ax: Axes, rows: pd.DataFrame, std: float) -> None:
    mine = rows[(rows["kind"] == "surface") & (rows["std"] == std)]
    table = mine.pivot_table(index="n_features", columns="n_examples", values="expected")
    mesh = ax.contourf(table.columns, table.index, table, levels=14, cmap="cividis")
    ax.set_xscale("log")
    ax.set_yscale("log")
    for cost, (_, line, _) in _LINES.items():
        size = np.array([table.index.min(), table.index.max()], dtype=float)
        ax.plot(cost / size, size, color="white", linestyle=line, linewidth=1.0)
    ax.set_xlim(table.columns.min(), table.columns.max())
    ax.set_ylim(table.index.min(), table.index.max())
    ax.grid(False)
    ax.set_xlabel("number of examples S")
    ax.set_ylabel("number of features Q")
    figure.colorbar(mesh, ax=ax, label="E[ε*], expected edge")


def _draw_lines(ax: Axes, rows: pd.DataFrame, std: float) -> None:
    lines = rows[(rows["kind"] == "line") & (rows["std"] == std)]
    for cost, (colour, style, marker) in _LINES.items():
        mine = lines[lines["cost"] == cost]
        one = mine[mine["seed"] == mine["seed"].min()].sort_values("n_features")
        ax.plot(
            one["n_features"],
            one["expected"],
            color=colour,
            linestyle=style,
            label=f"QS = {cost:,}",
        )
        by_size = mine.groupby("n_features")
        error = np.sqrt(by_size["error"].apply(lambda e: float(np.square(e).sum())))
        ax.errorbar(
            by_size["simulated"].mean().index,
            by_size["simulated"].mean(),
            yerr=1.96 * error / by_size.size(),
            color=colour,
            marker=marker,
            markersize=3.5,
            markerfacecolor="white",
            linestyle="none",
            linewidth=0.9,
        )
        best = best_size(one, "expected")
        top = float(one["expected"].max())
        ax.annotate(
            f"Q = {best:.0f}", (best, top), xytext=(0, 7), textcoords="offset points",
            ha="center", color=colour, fontsize=7.5,
        )  # fmt: skip
    ax.set_xscale("log")
    frame(ax, lines["expected"].to_numpy(), headroom=0.05)
    ax.set_xlabel("number of features Q")
    ax.set_ylabel("E[ε*], expected edge")
    ax.legend(loc="best")


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw surface and lines for both variances, the larger one above, as in the paper."""
    figure = Figure(figsize=(10.5, 7.6), layout="constrained")
    for (left, right), std, power in zip(figure.subplots(2, 2), STDS, (-2, -4), strict=True):
        _draw_surface(figure, left, rows, std)
        left.set_title(
            f"edges N(0, $10^{{{power}}}$), noise N(0, 1/S); lines: the costs beside", loc="left"
        )
        _draw_lines(right, rows, std)
        right.set_title(
            f"edges N(0, $10^{{{power}}}$) at equal cost QS, with the best Q", loc="left"
        )
    headline(
        figure,
        "Adaptive sampling (JMLR 2014), Figure 1 · expected true edge of the learner that looks "
        f"best · scale {meta['scale']}\ncurves: the formula of section 5.2; markers: "
        f"{len(meta['seeds'])} × {DRAWS[meta['scale']]:,} draws with 95 % intervals",
    )
    return figure


ARTEFACT = Artefact(
    id="sampling-figure1",
    paper="adaptive_sampling_2014",
    title="Adaptive sampling, Figure 1",
    shows="Expected edge of the learner that looks best on a sample, against the numbers of "
    "features Q and examples S, if edges and noise are Gaussian.",
    minutes={"smoke": 0.1, "laptop": 0.5, "overnight": 4, "paper": 4},
    seeds={"smoke": 2, "laptop": 10, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("kind", "std", "cost", "n_features", "n_examples"),
    tolerances={
        "expected": Tolerance(absolute=1e-6, relative=1e-4),
        "simulated": Tolerance(absolute=1e-6, relative=1e-4),
        "error": Tolerance(absolute=1e-6, relative=1e-4),
    },
    render=render,
    paper_numbers="Figure 1 prints surfaces and curves without numbers.",
    data_form="none",
)
