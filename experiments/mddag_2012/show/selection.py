"""Section 3.2's rule: which run stands for a method that may evaluate so many base classifiers.

Each run k has a TPR p_k and evaluates N_k base classifiers, on average over background windows: on
the training part, and on the test part. Of the runs with N_k ≤ N on the *training* part the one
with the largest *training* TPR stands for the method at N; drawn is its *test* TPR. AdaBoost's
points are not selected: after j rounds it evaluates j.

The runs that the rule can choose at any N are a chain in which both N_k and p_k rise. Curves are
drawn, and compared, over what the chosen runs evaluate on *test* background windows, as the
figure's axis says: at a budget the method is the last run of the chain that is within it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.curves import budgets_between
from experiments.estimates import t_interval
from experiments.mddag_2012.cells.rows import NO_EDGE

UNSELECTED = "adaboost"


def runs_of(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return the rows about runs of a method in a panel."""
    mine = (rows["panel"] == panel) & (rows["method"] == method)
    if "node" in rows:
        mine &= rows["node"] == NO_EDGE
    return rows[mine]


def chain(runs: pd.DataFrame, quality: str) -> pd.DataFrame:
    """Return the runs that the rule chooses at any N, by rising N."""
    if (runs["method"] == UNSELECTED).all():
        return runs.sort_values("train_evaluations", kind="stable")
    evaluations, scores = (runs[f"train_{of}"].to_numpy() for of in ("evaluations", quality))
    order = np.lexsort((runs["setting"].to_numpy(), -scores, evaluations))
    order = order[evaluations[order] > 0]  # who evaluates nothing detects nothing
    before = np.r_[-np.inf, np.maximum.accumulate(scores[order])[:-1]]
    return runs.iloc[order[scores[order] > before]]


def at_budgets(chosen: pd.DataFrame, quality: str, budgets: np.ndarray) -> np.ndarray:
    """Return the score at each budget of test evaluations; NaN where no run is within it."""
    if chosen.empty:
        return np.full(len(budgets), np.nan)
    spent = chosen["test_evaluations"].to_numpy()
    within = spent[None, :] <= budgets[:, None] * (1 + 1e-9)
    last = within.shape[1] - 1 - np.argmax(within[:, ::-1], axis=1)
    scores = chosen[quality].to_numpy()[last]
    return np.where(within.any(axis=1), scores, np.nan)


def curve_of(rows: pd.DataFrame, panel: str, method: str, quality: str) -> tuple[np.ndarray, ...]:
    """Return budgets, a method's mean test score over seeds at each, and its 95 % t interval.

    From where every repetition has a run to where the first of them has its last; empty without.
    """
    by_seed = [one for _, one in runs_of(rows, panel, method).groupby("seed", sort=True)]
    chains = [chain(one, quality) for one in by_seed]
    spent = [chosen["test_evaluations"].tolist() for chosen in chains]
    first = max((min(values, default=np.inf) for values in spent), default=np.inf)
    runs = [one[one["train_evaluations"] > 0]["test_evaluations"].tolist() for one in by_seed]
    last = min((max(values, default=-np.inf) for values in runs), default=-np.inf)
    if first > last:
        return (np.empty(0),) * 4
    budgets = budgets_between(first, last)
    budgets = np.r_[budgets[budgets <= last], last]
    scores = np.array([at_budgets(chosen, f"test_{quality}", budgets) for chosen in chains])
    return budgets, scores.mean(axis=0), *t_interval(scores)
