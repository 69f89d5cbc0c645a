"""Effects on each query, over random divisions of all queries: what is drawn and what is judged."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.cronus_2012.show.panels import PANELS, Panel
from experiments.greedy_miser_2012.cells.divisions import AS_GOOD
from experiments.greedy_miser_2012.show.divisions import lead_of_each, of_budget, of_each

SHOWN = tuple(panel for panel in PANELS if panel.key in ("b", "c"))
"""The real ranking sets with more than a hundred queries that have a positive."""

BUDGETS = (AS_GOOD, 0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.562, 1.0)
"""Shares of the bill of GBRT's best: four a decade."""


def panels_there(rows: pd.DataFrame) -> list[Panel]:
    """Return the panels that have rows."""
    return [panel for panel in SHOWN if (rows["panel"] == panel.key).any()]


def lead(rows: pd.DataFrame, panel: str, better: str, worse: str) -> pd.DataFrame:
    """Return each query's mean lead over the budgets at which both have a model, by division."""
    return lead_of_each(rows, panel, better, worse).dropna(axis="columns")


def kept(rows: pd.DataFrame, panel: str, method: str = "cronus") -> pd.DataFrame:
    """Return each query's precision at the same models, less that of GBRT's best, by division."""
    mine = of_budget(rows, panel, AS_GOOD)
    return of_each(mine, mine[method] - mine["gbrt"]).dropna(axis="columns")


def none_as_good(rows: pd.DataFrame, panel: str, method: str = "cronus") -> np.ndarray:
    """Return the share of each division's folds in which no model validates as well."""
    costs = of_budget(rows, panel, AS_GOOD).groupby(["seed", "fold"])[f"{method}_cost"].first()
    return costs.isna().groupby("seed").mean().to_numpy()
