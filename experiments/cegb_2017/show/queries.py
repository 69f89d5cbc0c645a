"""Effects of Figures 2 and 3 on each test query, from rows that say each query's places."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.cegb_2017.cells.queries import average_precisions
from experiments.curves import scores_at_shared_budgets


def models_of(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return the models of a panel, numbered from 0 in their index."""
    mine = rows[(rows["panel"] == panel) & (rows["kind"] == "model")]
    return mine.reset_index(drop=True)


def scores_of_queries(rows: pd.DataFrame, panel: str) -> list[np.ndarray]:
    """Return for each of :func:`models_of` the AP@5 of its test queries."""
    mine = rows[(rows["panel"] == panel) & (rows["kind"] == "queries")]
    if (mine.groupby("seed")["places"].nunique() > 1).any():
        raise ValueError(f"The methods of panel {panel} have different test queries.")
    relevant = mine.groupby("seed")["places"].first()
    models = models_of(rows, panel)
    pairs = zip(models["seed"], models["places"], strict=True)
    return [average_precisions(relevant[seed], places) for seed, places in pairs]


def lead_of_each_query(
    rows: pd.DataFrame, panel: str, better: str, worse: str, accounting: str = ""
) -> list[np.ndarray]:
    """Return each test query's mean difference in AP@5 at equal budget, for each repetition.

    Budgets choose models as for :func:`experiments.curves.advantage`, by the validation score of
    all validation queries. So the mean over a repetition's queries is the advantage.
    """
    models, scores = models_of(rows, panel), scores_of_queries(rows, panel)
    # What the budgets choose is the number of a model in place of its score.
    numbered = models.assign(test_score=models.index.astype(np.float64))
    chosen = scores_at_shared_budgets(numbered, panel, better, worse, accounting)
    return [
        np.mean([scores[int(i)] - scores[int(k)] for i, k in zip(*pair, strict=True)], axis=0)
        for pair in chosen
    ]


def loss_of_each_query(rows: pd.DataFrame, panel: str, tradeoff: float) -> list[np.ndarray]:
    """Return how far CEGB's final AP@5 lies below that of λ = 0 on each query and repetition."""
    models, scores = models_of(rows, panel), scores_of_queries(rows, panel)
    mine = models[models["algorithm"] == "cegb"].sort_values("rounds", kind="stable")
    ends = [
        mine[mine["tradeoff"] == value].reset_index().groupby("seed")["index"].last()
        for value in (0.0, tradeoff)
    ]
    free, priced = ends
    return [scores[free[seed]] - scores[priced[seed]] for seed in sorted(free.index)]
