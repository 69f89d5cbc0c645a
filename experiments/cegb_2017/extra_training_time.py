"""Beside the CEGB paper: training time against that of plain gradient boosting.

The abstract and section 6 call them comparable, without a number or a figure.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Cell
from experiments.cegb_2017.cells.stopwatch import run_cell
from experiments.cegb_2017.show.panels import MIDDLE, PANELS, settings
from experiments.data_kinds import PUBLISHED, in_words
from experiments.looks import LOOKS
from experiments.style import FADED, headline, not_recomputed
from experiments.training_time import times_as_long, training_time

SHOWN = tuple(panel for panel in PANELS if panel.key in ("a", "a'", "c", "d"))
ROUNDS = {"smoke": 3, "laptop": 20, "overnight": 100, "paper": 100}
"""Rounds that are timed: every round does the same work, and a fit is repeated often."""


VARIANTS = {
    "cegb": "CEGB",
    "cegb_all_splits": "CEGB with as many splits (no stop at negative gain)",
}

AT_MOST = 1.5
"""As many times as long is comparable; the paper gives no number."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return one cell per data set and seed, which trains all methods; nothing runs beside it."""
    cells = []
    for panel in SHOWN:
        dataset = panel.smoke_dataset if scale == "smoke" else panel.dataset
        if dataset is None:
            continue
        for seed in seeds:
            base = settings(scale, panel, "cegb") | {"n_estimators": ROUNDS[scale]}
            params = {"tradeoff": MIDDLE[panel.prices], "settings": base}
            cells.append(Cell(dataset, "cegb", params, seed, alone=True))
    return cells


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the ratio of training times, one mark per seed."""
    datasets = list(dict.fromkeys(rows["dataset"]))
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    ax = figure.subplots()

    def is_published(dataset: str) -> bool:
        return meta["data"][dataset]["kind"] == PUBLISHED

    drawn = [AT_MOST, 1.0]
    for offset, method in zip((-0.12, 0.12), VARIANTS, strict=True):
        for i, dataset in enumerate(datasets):
            values = times_as_long(rows, dataset, method, "gbrt").to_numpy()
            drawn += [*values]
            spread = np.linspace(-0.05, 0.05, len(values)) if len(values) > 1 else np.zeros(1)
            ax.plot(
                i + offset + spread,
                values,
                linestyle="none",
                marker=LOOKS[method].marker,
                color=FADED if is_published(dataset) else LOOKS[method].colour,
                label=VARIANTS[method] if i == 0 else None,
            )
    ax.axhline(1, color="0.4", linewidth=1)
    ax.axhline(AT_MOST, color="0.4", linewidth=1, linestyle="--", label="at most, to be comparable")
    ax.set_yscale("log", base=2)
    ticks = sorted([*(2.0**k for k in range(-4, 3)), AT_MOST])
    low, high = min(drawn) / 1.15, max(drawn) * 1.15
    ax.set_yticks([t for t in ticks if low <= t <= high])
    ax.set_yticks([], minor=True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_ylim(low, high)
    ax.set_xticks(range(len(datasets)), [_name(rows, d, meta) for d in datasets], fontsize=8)
    ax.set_xlim(-0.5, len(datasets) - 0.5)
    ax.set_ylabel("training time, times that of plain boosting")
    figure.legend(loc="outside lower center", ncols=3)
    headline(
        figure,
        f"CEGB (NIPS 2017), training time · scale {meta['scale']} · "
        f"{ROUNDS[meta['scale']]} rounds of at most 64 leaves, 1 thread\n"
        "one mark per seed: median of 3 fits, from arrays to a model",
    )
    return figure


def _name(rows: pd.DataFrame, dataset: str, meta: Mapping) -> str:
    record = meta["data"][dataset]
    plain = rows[(rows["dataset"] == dataset) & (rows["method"] == "gbrt")]["fit_seconds"].median()
    said = (
        f"{dataset} ({in_words(record)})\n{record['rows']['train']:,} × {record['n_features']}\n"
        f"plain: {plain:.2g} s"
    )
    return f"{said}\n{not_recomputed(record)}" if record["kind"] == PUBLISHED else said


ARTEFACT = training_time(
    id="cegb-training-time",
    paper="cegb_2017",
    title="Beside CEGB: training time",
    shows="How many times as long as plain gradient boosting CEGB trains.",
    minutes={"smoke": 0.2, "laptop": 4, "overnight": 35, "paper": 90},
    make_cells=make_cells,
    run_cell=run_cell,
    render=render,
    paper_numbers='The paper gives no time: "comparable" (abstract), "does not slow down training '
    'significantly" (section 6).',
)
