"""Figure 4 of the Greedy Miser paper: a sample picture of each class of Scene-15."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from datasets.scene15_pictures import CLASSES
from experiments.artefact import Artefact, Cell
from experiments.cells.sample_images import TOLERANCES, picture, run_cell
from experiments.data_kinds import in_words
from experiments.style import headline, mark

PER_LINE = 5


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the one cell: a random picture of each class."""
    params = {"rule": "random of each class", "n": 1}
    return [Cell("scene15", "sample_images", params, seed) for seed in seeds]


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw the pictures with the names of their classes."""
    lines = -(-len(CLASSES) // PER_LINE)
    figure = Figure(figsize=(9, 0.6 + 2.0 * lines), layout="constrained")
    axes = figure.subplots(lines, PER_LINE).flat
    record = meta["data"]["scene15"]
    mine = rows[rows["seed"] == rows["seed"].min()].sort_values("place")
    for ax, row in zip(axes, mine.to_dict("records"), strict=True):
        ax.imshow(picture(row), cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        ax.set_title(CLASSES[row["label"]], fontsize=8)
        ax.set_axis_off()
        mark(ax, record)
    what = in_words(record)
    headline(
        figure,
        f"Greedy Miser (ICML 2012), Figure 4 · a random picture of each class of Scene-15 · {what}",
    )
    return figure


ARTEFACT = Artefact(
    id="miser-figure4",
    paper="greedy_miser_2012",
    title="Greedy Miser, Figure 4",
    shows="A sample picture of each class of Scene-15.",
    minutes={"smoke": 0.1, "laptop": 0.2, "overnight": 0.2, "paper": 0.2},
    seeds={"smoke": 1, "laptop": 1, "overnight": 1, "paper": 1},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("place",),
    tolerances=TOLERANCES,
    render=render,
    paper_numbers="Figure 4 shows pictures without numbers; which ones is not said.",
    drawn_columns=("pixels",),
    data_form="images",
    committed_picture=False,
)
