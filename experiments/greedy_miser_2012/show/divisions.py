"""Effects on each query, over random divisions of all queries: what tables say and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.greedy_miser_2012.cells.divisions import AS_GOOD, UNLIMITED
from experiments.greedy_miser_2012.show.panels import PANELS

SHOWN = tuple(panel for panel in PANELS if panel.key in ("c", "d", "e", "f"))
"""The real ranking sets."""

BUDGETS = (UNLIMITED, AS_GOOD, 0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.5, 0.562, 1.0)
"""Shares of λ = 0's bill: four a decade, and a half; before them what no budget chooses."""


def of_budget(rows: pd.DataFrame, panel: str, budget: float) -> pd.DataFrame:
    """Return the rows of a panel at a budget."""
    return rows[(rows["panel"] == panel) & np.isclose(rows["budget"], budget)]


def of_each(rows: pd.DataFrame, effect: pd.Series) -> pd.DataFrame:
    """Return the effect on each query in each division: the mean over its budgets."""
    return effect.groupby([rows["seed"], rows["query"]]).mean().unstack("query")


def lead_of_each(rows: pd.DataFrame, panel: str, better: str, worse: str) -> pd.DataFrame:
    """Return each query's mean lead in NDCG@5 over the budgets at which both have a model."""
    mine = rows[(rows["panel"] == panel) & (rows["budget"] > 0) & (rows["budget"] != 0.5)]
    return of_each(mine, mine[better] - mine[worse])


def beside_baseline_of_each(
    rows: pd.DataFrame, panel: str, budget: float, method: str = "greedy_miser"
) -> pd.DataFrame:
    """Return each query's NDCG@5 less that of λ = 0, at a share of the latter's bill."""
    mine = of_budget(rows, panel, budget)
    return of_each(mine, mine[method] - mine["stagewise"])


def by_query(table: pd.DataFrame) -> np.ndarray:
    """Return one effect for each query: the mean over the divisions in which it has one."""
    return table.mean(axis=0).dropna().to_numpy()


def saved_of_each(rows: pd.DataFrame, panel: str, method: str = "greedy_miser") -> np.ndarray:
    """Return for each division log10 of how many times less than λ = 0 a method costs.

    Of its cheapest model that validates as well, by the bill on the test fold, mean over folds, 0
    where there is none;
    what the test queries say of its score is :func:`beside_baseline_of_each` at :data:`AS_GOOD`.
    """
    costs = of_budget(rows, panel, AS_GOOD).groupby(["seed", "fold"])[f"{method}_cost"].first()
    return (-np.log10(costs.fillna(1.0))).groupby("seed").mean().to_numpy()


def step_of_each(rows: pd.DataFrame, panel: str, step: str, than: str) -> pd.DataFrame:
    """Return each query's difference in NDCG@5 that a step of another size makes, each at its best.

    Parameters
    ----------
    rows : DataFrame
    panel : str
    step, than : str
        Keys of :data:`~experiments.greedy_miser_2012.cells.divisions.STEPS`.
    """
    mine = of_budget(rows, panel, UNLIMITED)
    return of_each(mine, mine[step] - mine[than])
