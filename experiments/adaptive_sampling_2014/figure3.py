"""Figure 3 of the adaptive-sampling paper: sample images of the four sets."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.cells.sample_images import TOLERANCES, mosaic, picture, run_cell
from experiments.data_kinds import in_words
from experiments.style import headline, mark

SETS = {
    "mnist": ("MNIST", "first image of each digit", "first of each class", 1, 5),
    "inria_person": (
        "INRIA Person",
        "random backgrounds, then people",
        "random of each class",
        4,
        8,
    ),
    "caltech101": ("Caltech-101", "random images of different classes", "random", 10, 5),
    "cifar10": ("CIFAR-10", "the first images", "first", 10, 5),
}
"""For each set, as placed in the paper: its name, what is shown, the rule, how many, per line."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return one cell for each set."""
    return [
        Cell(name, "sample_images", {"rule": rule, "n": n}, seed)
        for seed in seeds
        for name, (_, _, rule, n, _) in SETS.items()
    ]


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw the four sets as in the paper: MNIST, INRIA, Caltech-101, CIFAR-10."""
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    for ax, (name, (title, says, _, _, per_line)) in zip(
        figure.subplots(2, 2).flat, SETS.items(), strict=True
    ):
        mine = rows[(rows["dataset"] == name) & (rows["seed"] == rows["seed"].min())]
        ax.set_axis_off()
        ax.set_anchor("NW")
        if mine.empty:
            ax.set_title(f"{title}\nno data", loc="left")
            continue
        images = [picture(row) for row in mine.sort_values("place").to_dict("records")]
        ax.imshow(mosaic(images, per_line), interpolation="nearest")
        record = meta["data"][name]
        ax.set_title(
            f"{title}: {says}\n{in_words(record)}, "
            f"{record['rows']['train']:,} training images, shown at "
            f"{images[0].shape[1]}×{images[0].shape[0]} pixels",
            loc="left",
        )
        mark(ax, record)
    headline(
        figure,
        f"Adaptive sampling (JMLR 2014), Figure 3 · sample images · scale {meta['scale']}",
    )
    return figure


ARTEFACT = Artefact(
    id="sampling-figure3",
    paper="adaptive_sampling_2014",
    title="Adaptive sampling, Figure 3",
    shows="Sample images of the four data sets.",
    minutes={"smoke": 0.1, "laptop": 0.3, "overnight": 0.3, "paper": 0.3},
    seeds={"smoke": 1, "laptop": 1, "overnight": 1, "paper": 1},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("place",),
    tolerances=TOLERANCES,
    render=render,
    paper_numbers="Figure 3 shows images without numbers; which ones the paper chose is not said "
    "but for MNIST (the first of every digit) and CIFAR-10 (some of the first).",
    drawn_columns=("pixels",),
    data_form="images",
    committed_picture=False,
)
