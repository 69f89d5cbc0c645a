"""Effects on each query, over random divisions of all queries: what tables say and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.greedy_miser_2012.cells.divisions import AS_GOOD
from experiments.greedy_miser_2012.show.panels import PANELS

SHOWN = tuple(panel for panel in PANELS if panel.key in ("c", "d", "e", "f"))
"""The real ranking sets."""

BUDGETS = (AS_GOOD, 0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.5, 0.562, 1.0)
"""Shares of λ = 0's bill: four a decade, and a half."""


def of_budget(rows: pd.DataFrame, panel: str, budget: float) -> pd.DataFrame:
    """Return the rows of a panel at a budget."""
    return rows[(rows["panel"] == panel) & np.isclose(rows["budget"], budget)]


def by_query(rows: pd.DataFrame, effect: pd.Series) -> np.ndarray:
    """Return one effect for each query: the mean over its budgets, then over its divisions."""
    of_division = effect.groupby([rows["query"], rows["seed"]]).mean()
    return of_division.groupby("query").mean().dropna().to_numpy()


def lead(rows: pd.DataFrame, panel: str, better: str, worse: str) -> np.ndarray:
    """Return each query's mean lead in NDCG@5 over the budgets at which both have a model."""
    mine = rows[(rows["panel"] == panel) & (rows["budget"] > 0) & (rows["budget"] != 0.5)]
    return by_query(mine, mine[better] - mine[worse])


def beside_baseline(
    rows: pd.DataFrame, panel: str, budget: float, method: str = "greedy_miser"
) -> np.ndarray:
    """Return each query's NDCG@5 less that of λ = 0, at a share of the latter's bill."""
    mine = of_budget(rows, panel, budget)
    return by_query(mine, mine[method] - mine["stagewise"])


def times_cheaper(rows: pd.DataFrame, panel: str, method: str) -> float:
    """Return how many times less than λ = 0 a method's cheapest model as good on validation costs.

    The mean of the logarithm over folds and divisions; costs are those of the test fold.
    """
    mine = of_budget(rows, panel, AS_GOOD).groupby(["seed", "fold"])[f"{method}_cost"].first()
    return float(10 ** -np.log10(mine).mean())
