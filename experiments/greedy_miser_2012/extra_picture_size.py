"""Beside the Greedy Miser paper: Scene-15 once more on smaller pictures.

Our pictures are a copy of 200×200, the originals are about 300×250. What the step from those to
these changed cannot be measured without the originals; what one more step of the same kind changes
can. Everything is computed anew on the smaller pictures but what is learned on Caltech-101, and the
prices, which are those of pictures of 200×200.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from datasets.scene15 import SIDES
from experiments.artefact import Artefact, Cell
from experiments.data_kinds import aside
from experiments.greedy_miser_2012 import figure3
from experiments.greedy_miser_2012.cells.pictures import COLUMN
from experiments.greedy_miser_2012.cells.scenes import measure
from experiments.greedy_miser_2012.claims import of_figure3
from experiments.greedy_miser_2012.show.comparison import BASELINE, SCENES, chosen, of_panel
from experiments.greedy_miser_2012.show.panels import TRACE_TOLERANCES
from experiments.style import LOOKS
from experiments.tables import mean_and_deviation

SMALL = replace(SCENES, key="small", name="Scene-15, smaller", dataset="scene15_small")

METHODS = (BASELINE, "greedy_miser", "early_exit", "svm_averaged_kernel", "l1_raw_descriptors")
"""All of Figure 3."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: those of Figure 3 with detectors apart, on pictures of either size."""
    return [
        Cell(panel.dataset, cell.algorithm, {**cell.params, "panel": panel.key}, cell.seed)
        for cell in figure3.make_cells(scale, seeds)
        if cell.params["panel"] == SCENES.key
        for panel in (SCENES, SMALL)
    ]


def of_either_size(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out the baselines at the price of one pass, and which pictures anybody is right on."""
    mine = rows[rows["panel"].isin([SCENES.key, SMALL.key])]
    return mine.drop(columns=COLUMN, errors="ignore")


def compared(rows: pd.DataFrame, algorithm: str, **setting) -> pd.DataFrame:
    """Return what the smaller pictures do to a method, each time at its best by validation."""
    large, small = (chosen(rows, panel.key, algorithm, **setting) for panel in (SCENES, SMALL))
    costs = [one["test_cost_paper"] for one in (large, small)]
    return pd.DataFrame(
        {
            "large": large["test_score"],
            "small": small["test_score"],
            "change": small["test_score"] - large["test_score"],
            "cost_large": costs[0],
            "cost_small": costs[1],
            "cost": costs[1] / costs[0],
        }
    )


def tried(rows: pd.DataFrame) -> list[tuple[str, str, dict]]:
    """Return the lines of the table: a name, the algorithm, and λ of Greedy Miser."""
    lines = []
    for algorithm in METHODS:
        settings = [{}]
        if algorithm == "greedy_miser":
            values = sorted(set(of_panel(rows, SCENES.key, algorithm)["tradeoff"]))
            settings = [{"tradeoff": value} for value in values]
        for setting in settings:
            at = f", λ = {setting['tradeoff']:g}" if setting else ""
            lines.append((LOOKS[algorithm].label + at, algorithm, setting))
    return lines


def effects(rows: pd.DataFrame, meta: Mapping, panel: str) -> dict[str, tuple[str, np.ndarray]]:
    """Return what Figure 3's claims are judged by, on pictures of one size."""
    mine = rows[rows["panel"] == panel].assign(panel=SCENES.key)
    claims = of_figure3(mine, meta)
    return {claim.sentence: (claim.unit, claim.effects(mine)) for claim in claims}


# --- table ----------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the tables: one line per method, and one per claim of Figure 3."""
    large, small = (f"{side}×{side}" for side in (SIDES[p.dataset] for p in (SCENES, SMALL)))
    lines = [
        f"# Greedy Miser: Scene-15 on smaller pictures (scale {meta['scale']})"
        + max(aside(meta["data"][panel.dataset]) for panel in (SCENES, SMALL)),
        "",
        f"Figure 3 once as it is, on pictures of {large}, and once on the same pictures made "
        f"smaller, {small}: the same draws, codebooks, detectors and settings; descriptors, "
        f"kernels and machines anew. Prices are those measured on {large} for both, so that a cost "
        "tells which features are bought, not how long smaller pictures take. Each method at its "
        f"best by validation; mean ± standard deviation over {len(meta['seeds'])} draws.",
        "",
        f"| method | accuracy, {large} | {small} | change | cost [ms], {large} | {small} | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, algorithm, setting in tried(rows):
        found = compared(rows, algorithm, **setting)
        lines.append(
            f"| {name} | {found['large'].mean():.4f} | {found['small'].mean():.4f} | "
            f"{mean_and_deviation(found['change'], '+.4f')} | {found['cost_large'].mean():,.0f} | "
            f"{found['cost_small'].mean():,.0f} | {mean_and_deviation(found['cost'], '.3f')} |"
        )
    lines += [
        "",
        "What the claims of Figure 3 are judged by, on pictures of both sizes (positive: for the "
        "claim); verdicts are those of Figure 3.",
        "",
        f"| claim | unit | {large} | {small} |",
        "|---|---|---:|---:|",
    ]
    first, second = (effects(rows, meta, panel.key) for panel in (SCENES, SMALL))
    for sentence, (unit, values) in first.items():
        both = (mean_and_deviation(pd.Series(v), "+.4f") for v in (values, second[sentence][1]))
        lines.append(f"| {sentence} | {unit} | {' | '.join(both)} |")
    return "\n".join(lines) + "\n"


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say how much accuracy and cost change for each method."""
    said = []
    for name, algorithm, setting in tried(rows):
        found = compared(rows, algorithm, **setting)
        said.append(f"{name} {found['change'].mean():+.4f} and {found['cost'].mean():.2f}")
    noted = aside(meta["data"][SMALL.dataset])
    return (
        f"Two tables on Scene-15{noted} with pictures of 200×200 and of 136×136. Change of the "
        f"accuracy and ratio of the costs: {'; '.join(said)}."
    )


ARTEFACT = Artefact(
    id="miser-picture-size",
    paper="greedy_miser_2012",
    title="Beside Greedy Miser: the size of the pictures",
    shows="Figure 3's accuracies and costs on Scene-15 with pictures of 200×200, and with the same "
    "pictures made smaller once more, 136×136.",
    minutes={"smoke": 0.6, "laptop": 10, "overnight": 100, "paper": 180},
    seeds={"smoke": 1, "laptop": 1, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=measure,
    keys=("panel", "tradeoff", "limit", "exit", "rounds"),
    tolerances=TRACE_TOLERANCES,
    render=render,
    make_claims=lambda rows, meta: [],
    alt=alt,
    select=of_either_size,
    paper_numbers="The paper gives no numbers, and not the size of its pictures.",
)
