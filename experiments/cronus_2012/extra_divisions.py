"""Beside Figure 2 of the Cronus paper: all queries, divided anew, one effect for each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cronus_2012.cells.divisions import METHODS, measure
from experiments.cronus_2012.show.comparison import MARGIN
from experiments.cronus_2012.show.panels import PANELS, Panel, make_cell, shown
from experiments.data_kinds import aside
from experiments.estimates import over_units
from experiments.greedy_miser_2012.cells.divisions import AS_GOOD
from experiments.greedy_miser_2012.show.divisions import (
    lead_of_each,
    of_budget,
    of_each,
    saved_of_each,
)
from experiments.panels import there
from experiments.tables import page

SHOWN = tuple(panel for panel in PANELS if panel.key in ("b", "c"))
"""The real ranking sets with more than a hundred queries that have a positive."""

BUDGETS = (AS_GOOD, 0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.562, 1.0)
"""Shares of the bill of GBRT's best: four a decade."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × division; each trains all methods on five folds."""
    return [_cell(scale, panel, seed) for panel in shown(scale, SHOWN) for seed in seeds]


def _cell(scale: str, panel: Panel, seed: int) -> Cell:
    families = {
        family: {**make_cell(scale, panel, family, seed).params, "control": False}
        for family in panel.families
    }
    params = {"panel": panel.key, "families": families, "budgets": list(BUDGETS), "margin": MARGIN}
    return Cell(panel.dataset, "all", params, seed)


def lead(rows: pd.DataFrame, panel: str, better: str, worse: str) -> pd.DataFrame:
    """Return each query's mean lead over the budgets at which both have a model, by division."""
    return lead_of_each(rows, panel, better, worse).dropna(axis="columns")


def kept(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return each query's precision at the same models, less that of GBRT's best, by division."""
    mine = of_budget(rows, panel, AS_GOOD)
    return of_each(mine, mine["cronus"] - mine["gbrt"]).dropna(axis="columns")


def none_as_good(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return the share of each division's folds in which no model validates as well."""
    costs = of_budget(rows, panel, AS_GOOD).groupby(["seed", "fold"])["cronus_cost"].first()
    return costs.isna().groupby("seed").mean().to_numpy()


# --- table ----------------------------------------------------------------------------------------

PAIRS = (
    ("single_stage", "gbrt", "single stage above GBRT"),
    ("cronus_initial", "single_stage", "initialisation above single stage"),
    ("cronus", "cronus_initial", "optimised above initialisation"),
    ("cronus_initial", "early_exit", "initialisation above early exit"),
    ("cronus", "raykar_cascade", "optimised above the soft cascade"),
    ("cronus", "and_or_cascade", "optimised above AND-OR"),
)


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the table: one line per comparison and data set."""
    lines = [
        "| comparison | data | queries | difference |",
        "|---|---|---:|---:|",
    ]
    for panel in there(rows, SHOWN):
        name = panel.name + aside(meta["data"][panel.dataset])
        for better, worse, says in PAIRS:
            lines.append(_line(says, name, lead(rows, panel.key, better, worse)))
        cheaper = 10 ** saved_of_each(rows, panel.key, "cronus").mean()
        says = f"optimised that validates as well, {cheaper:.1f} times cheaper, above GBRT"
        lines.append(_line(says, name, kept(rows, panel.key)))
    return page(
        f"Cronus: Figure 2 on all queries (scale {meta['scale']})",
        f"Five folds of {len(meta['seeds'])} random divisions of all queries. Difference in "
        "precision@5, mean over shares of the bill of GBRT's best model at which both have one, "
        "with 95 % intervals (bootstrap over queries, each the mean over divisions).",
        lines,
    )


def _line(says: str, name: str, each: pd.DataFrame) -> str:
    if each.empty:
        return f"| {says} | {name} | 0 | no shared budget |"
    found = over_units(each.mean(axis=0).to_numpy())
    return (
        f"| {says} | {name} | {each.shape[1]} | {found.effect:+.4f} "
        f"[{found.low:+.4f}, {found.high:+.4f}] |"
    )


_ONE_PLACE = 0.21
"""One of a query's five places, and a hundredth: a query's score moves by no less."""

ARTEFACT = Artefact(
    id="cronus-divisions",
    paper="cronus_2012",
    title="Beside Cronus: Figure 2 on all queries",
    shows="Precision@5 of every query at shares of GBRT's bill, over random divisions of all "
    "queries into five folds.",
    minutes={"smoke": 0.2, "laptop": 6, "overnight": 48, "paper": 1500},
    seeds={"smoke": 1, "laptop": 1, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=measure,
    keys=("panel", "budget", "query"),
    tolerances={
        "fold": Tolerance(),
        **{method: Tolerance(absolute=_ONE_PLACE) for method in METHODS},
        **{f"{method}_cost": Tolerance(absolute=0.01, relative=0.05) for method in METHODS},
    },
    render=render,
    paper_numbers="Figure 2 prints curves without numbers.",
)
