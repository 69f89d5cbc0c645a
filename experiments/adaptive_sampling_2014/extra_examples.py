"""Beside the adaptive sampling paper: how many examples there must be for sampling them to pay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from experiments.adaptive_sampling_2014.cells.examples import run_cell
from experiments.adaptive_sampling_2014.cells.grid import MAX_COST, TABLE_ROUNDS, TOLERANCES
from experiments.adaptive_sampling_2014.cells.headline import (
    CLASS_COUNTS,
    FAMILIES,
    FIRST_SEED,
    GIVEN,
)
from experiments.adaptive_sampling_2014.show.curve_panels import kind_of
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.artefact import Artefact, Cell
from experiments.data_kinds import aside
from experiments.estimates import t_interval
from experiments.style import LOOKS, headline, mark

REFERENCE = "tasting_1q"
"""Searches its features on all examples."""

SAMPLING = ("mas_naive", "laminating")
"""Methods that sample examples. M.A.S. 1.Q and Q.1 would take twice as long as all others."""

SETS_SHOWN = ("cifar10", "inria_person", "mnist")

SIZES = {
    "cifar10": (1_250, 2_500, 5_000, None),
    "inria_person": (300, 600, 1_200, None),
    "mnist": (1_250, 2_500, 5_000, 10_000, None),
}
"""Training images; None stands for all that a set has here."""

SMOKE_SIZES = (100, None)

ROUNDS = {"smoke": 10, "laptop": 1_000, "overnight": 1_000, "paper": 1_000}


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: data set × seed × number of images × method."""
    cells, last = [], ROUNDS[scale]
    rounds = [t for t in TABLE_ROUNDS["laptop"] if t <= last]
    for images in ("mnist",) if scale == "smoke" else SETS_SHOWN:
        counts = CLASS_COUNTS.get(images)
        for seed in seeds:
            for n_train in SMOKE_SIZES if scale == "smoke" else SIZES[images]:
                for method in (REFERENCE, *SAMPLING):
                    params = {
                        "n_train": n_train,
                        "n_estimators": last,
                        "max_cost": MAX_COST,
                        "rounds": rounds,  # at equal cost as the paper counts it
                        "tables": [],
                        "timed": False,
                    }
                    params |= {"class_counts": counts} if counts else {}
                    params |= {"given": dict(GIVEN[method])} if method in GIVEN else {}
                    cells.append(Cell(FAMILIES[images], method, params, FIRST_SEED + seed))
    return cells


def deficits(rows: pd.DataFrame, dataset: str, method: str, rounds: int) -> pd.DataFrame:
    """Return by how much a method's training loss lies above the reference's."""
    mine = rows[(rows["dataset"] == dataset) & (rows["rounds"] == rounds)]
    of_method, of_reference = (
        mine[mine["algorithm"] == name].pivot(index="seed", columns="n_train", values="log10_loss")
        for name in (method, REFERENCE)
    )
    return of_method - of_reference


def trend(table: pd.DataFrame) -> np.ndarray:
    """Return for each seed what a doubling of the images adds to the deficit, by least squares."""
    doublings = np.log2(table.columns.to_numpy(dtype=float))
    return np.polyfit(doublings, table.to_numpy().T, 1)[0]


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each set the deficits after the most rounds, against the training images."""
    last = ROUNDS[meta["scale"]]
    shown = [images for images in SETS_SHOWN if FAMILIES[images] in set(rows["dataset"])]
    figure = Figure(figsize=(4.1 * len(shown) + 0.6, 5.0), layout="constrained")
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    for ax, images in zip(axes, shown, strict=True):
        _draw_panel(ax, rows, images, last, meta["data"][FAMILIES[images]])
    axes[0].set_ylabel("log₁₀ training loss above that of Tasting 1.Q [decades]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    headline(
        figure,
        "Beside the adaptive sampling paper: methods that sample examples, "
        f"against Tasting 1.Q, which searches on all · T = {last:,} · scale {meta['scale']}\n"
        f"means over {len(meta['seeds'])} seeds, bars: 95 % t intervals over seeds",
    )
    return figure


def _draw_panel(ax, rows: pd.DataFrame, images: str, last: int, record: Mapping) -> None:
    printed = SETS[images]
    for place, method in enumerate(SAMPLING):
        table, look = deficits(rows, FAMILIES[images], method, last), LOOKS[method]
        n, means = table.columns.to_numpy(dtype=float), table.mean().to_numpy()
        low, high = t_interval(table.to_numpy())
        beside = n * 1.03 ** (2 * place - 1)  # so that bars do not hide each other
        ax.errorbar(
            beside, means, [means - low, high - means], color=look.colour, marker=look.marker,
            linestyle=look.line, label=look.label, elinewidth=0.8,
        )  # fmt: skip
    ax.axhline(0.0, color="0.4", linewidth=0.8)
    ax.axvline(printed.train, color="0.4", linestyle="--", linewidth=0.8)
    ax.set_xscale("log")
    ticks = [*n, printed.train]
    if ticks[-1] < 1.6 * ticks[-2]:  # two labels would touch
        del ticks[-2]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.tick_params(axis="x", labelrotation=45)
    ax.set_xlabel("training images N (dashed: the paper's)")
    ax.set_title(f"{printed.title}, {kind_of(record)}", loc="left")
    mark(ax, record)


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say for each set and method what its deficit is with few and with all images."""
    last, said = ROUNDS[meta["scale"]], []
    for images in SETS_SHOWN:
        dataset = FAMILIES[images]
        if dataset not in set(rows["dataset"]):
            continue
        each = []
        for method in SAMPLING:
            table = deficits(rows, dataset, method, last)
            means, low, high = table.mean(), *t_interval(trend(table)[:, None])
            each.append(
                f"{LOOKS[method].label} {means.iloc[0]:+.3f} with {table.columns[0]:,} and "
                f"{means.iloc[-1]:+.3f} with {table.columns[-1]:,} images, "
                f"{trend(table).mean():+.3f} a doubling [{low[0]:+.3f}, {high[0]:+.3f}]"
            )
        noted = aside(meta["data"][dataset])
        said.append(f"{SETS[images].title}{noted}: {'; '.join(each)}.")
    return (
        f"Decades of training loss after {last:,} rounds of equal cost above that of Tasting 1.Q, "
        f"for methods that sample examples. {' '.join(said)}"
    )


ARTEFACT = Artefact(
    id="sampling-examples",
    paper="adaptive_sampling_2014",
    title="Beside adaptive sampling: how many examples it takes",
    shows="How far methods that sample examples lie behind Tasting 1.Q, against the number of "
    "training images, on CIFAR-10, INRIA and MNIST.",
    minutes={"smoke": 0.2, "laptop": 14, "overnight": 30, "paper": 30},
    seeds={"smoke": 2, "laptop": 5, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("n_train", "rounds"),
    tolerances={
        name: TOLERANCES[name] for name in ("log10_loss", "test_error", "paper_cost", "evaluations")
    },
    render=render,
    make_claims=lambda rows, meta: [],
    alt=alt,
    paper_numbers="The paper has no such figure: it always trains on all examples.",
    data_form="features",
)
"""No claim of the paper's; why claims about Laminating are not reproduced on small parts."""
