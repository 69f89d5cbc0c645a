"""Figure 2 of the adaptive-sampling paper: edge difference of three strategies of equal cost."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from experiments.adaptive_sampling_2014.cells.edge_difference import run_cell
from experiments.artefact import Artefact, Cell, Tolerance
from experiments.data_kinds import in_words, is_synthetic
from experiments.estimates import t_interval
from experiments.looks import LOOKS
from experiments.style import draw_curve, headline, mark

STRATEGIES = ("uniform_naive", "uniform_examples", "laminating")
"""Few features on all examples; all features on few examples; Laminating."""

PASSES = {"smoke": (30, 100), "laptop": (3, 10), "overnight": (3, 10), "paper": (3, 10)}
"""Cost of a round in passes of one feature over all examples: QS = 180,000 and 600,000 of 60,000.

With the 300 images of the smoke scale so few passes would leave one example for 784 features.
"""

ROUNDS = {"smoke": 10, "laptop": 100, "overnight": 100, "paper": 100}


_LARGEST = 2.0
"""Difference of two edges, each between -1 and 1."""


FIRST_SEED = 10
"""Seeds 0 to 9 were published first, with the lowest of equal features in Laminating."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: seed × cost × strategy."""
    return [
        Cell("mnist", name, {"passes": passes, "rounds": ROUNDS[scale]}, FIRST_SEED + seed)
        for seed in seeds
        for passes in PASSES[scale]
        for name in STRATEGIES
    ]


def label(rows: pd.DataFrame, algorithm: str) -> str:
    """Return the legend entry of a strategy with its Q and S."""
    Q, S = (int(rows[name].iloc[0]) for name in ("n_features", "n_examples"))
    first = " at first" if algorithm == "laminating" else ""
    return f"{LOOKS[algorithm].label}: Q = {Q:,}, S = {S:,}{first}"


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw a panel for each cost, as in the paper."""
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    record = meta["data"]["mnist"]
    n_samples = record["rows"]["train"]
    all_passes = sorted(rows["passes"].unique())
    for ax, passes in zip(figure.subplots(1, 2, sharey=True), all_passes, strict=True):
        for name in STRATEGIES:
            mine = rows[(rows["passes"] == passes) & (rows["algorithm"] == name)]
            table = mine.pivot_table(index="round", columns="seed", values="difference")
            draw_curve(
                ax, name, table.index, table.mean(axis=1), *t_interval(table.to_numpy().T),
                label=label(mine, name), most=_LARGEST,
            )  # fmt: skip
        ax.set_title(f"QS = {passes * n_samples:,}", loc="left")
        ax.set_xlabel("boosting round")
        ax.legend(loc="upper right")
        ax.set_ylim(bottom=0)
        mark(ax, record)
    figure.axes[0].set_ylabel("largest edge less edge of the stump taken")
    headline(
        figure,
        "Adaptive sampling (JMLR 2014), Figure 2 · MNIST pixels, "
        f"{in_words(record)}, {n_samples:,} training "
        f"images · scale {meta['scale']}\nmean over {len(meta['seeds'])} seeds of the sampling "
        f"({'and of the images' if is_synthetic(record) else 'the images are the same'}); "
        "bands: 95 % t intervals over seeds\nthe final search for the taken feature's threshold "
        "is not part of QS",
    )
    return figure


ARTEFACT = Artefact(
    id="sampling-figure2",
    paper="adaptive_sampling_2014",
    title="Adaptive sampling, Figure 2",
    shows="How far the edge of the stump taken is below the largest edge, round by round, for "
    "three strategies of equal cost on MNIST pixels.",
    minutes={"smoke": 0.2, "laptop": 2, "overnight": 2, "paper": 2},
    seeds={"smoke": 2, "laptop": 10, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("passes", "round"),
    tolerances={
        "n_features": Tolerance(absolute=0),
        "n_examples": Tolerance(absolute=0),
        "cost": Tolerance(absolute=0),
        "edge": Tolerance(absolute=0.01),
        "difference": Tolerance(absolute=0.01),
    },
    render=render,
    paper_numbers="Figure 2 prints curves without numbers; Q and S of the first two strategies are "
    "in its legend (3 and 60,000, 784 and 230; 10 and 60,000, 784 and 765), Laminating's are not.",
    data_form="images",
)
