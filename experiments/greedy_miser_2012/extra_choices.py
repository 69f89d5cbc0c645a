"""Beside the Greedy Miser paper: what our choices and deviations change."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.data_kinds import aside
from experiments.greedy_miser_2012.cells.variants import CHANGES, varied
from experiments.greedy_miser_2012.show.choices import SAYS, SHOWN, effects
from experiments.greedy_miser_2012.show.panels import Panel, make_cell
from experiments.tables import mean_and_deviation

TRADEOFF = 1.0
"""λ, the middle of the paper's."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × (ours and every change)."""
    return [
        _with(make_cell(scale, panel, "greedy_miser", seed, tradeoff=TRADEOFF), variant)
        for panel in SHOWN
        if scale != "smoke" or panel.in_smoke
        for seed in seeds
        for variant in CHANGES
    ]


def _with(cell: Cell, variant: str) -> Cell:
    return Cell(cell.dataset, cell.algorithm, {**cell.params, "variant": variant}, cell.seed)


# --- table ----------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the table: one line per change and data set."""
    lines = [
        f"# Greedy Miser: what our choices change (scale {meta['scale']})",
        "",
        f"Each line trains the same model at λ = {TRADEOFF:g} once as we do and once with the "
        "change, on the same draws, and measures both at their best iteration by validation. Mean "
        f"± standard deviation over {len(meta['seeds'])} seeds; a positive difference says that "
        "the change scores higher, a ratio below 1 that its forest costs less.",
        "",
        "| change | data | test NDCG@5, change − ours | cost of the forest, change / ours |",
        "|---|---|---:|---:|",
    ]
    for variant, says in SAYS.items():
        for panel in _there(rows):
            differences = effects(rows, panel.key, variant)
            noted = aside(meta["data"][panel.dataset])
            score = mean_and_deviation(differences["score"], "+.4f")
            cost = mean_and_deviation(differences["cost"], ".3f")
            lines.append(f"| {says} | {panel.name}{noted} | {score} | {cost} |")
    return "\n".join(lines) + "\n"


def _there(rows: pd.DataFrame) -> list[Panel]:
    return [panel for panel in SHOWN if (rows["panel"] == panel.key).any()]


ARTEFACT = Artefact(
    id="miser-choices",
    paper="greedy_miser_2012",
    title="Beside Greedy Miser: what our choices change",
    shows="Test score and cost with charging, forced splits, leaves, start, bins, step and NDCG's "
    "rule done otherwise.",
    minutes={"smoke": 0.2, "laptop": 3, "overnight": 80, "paper": 80},
    seeds={"smoke": 1, "laptop": 3, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=varied,
    keys=("panel", "variant"),
    tolerances={
        "test_score": Tolerance(absolute=0.01),
        "test_cost_paper": Tolerance(absolute=0.01, relative=0.05),
        "rounds": Tolerance(absolute=0),
    },
    render=render,
    paper_numbers='The paper gives no numbers: "not particularly sensitive to the exact step-size" '
    "(section 5.2).",
)
