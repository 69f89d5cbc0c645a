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


def there(rows: pd.DataFrame, panel: str, *methods: str) -> bool:
    """Say whether a panel has rows of all these methods."""
    return all(len(runs_of(rows, panel, method)) for method in methods)


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


class Curve:
    """A method's test score at each budget, for each repetition."""

    def __init__(self, rows: pd.DataFrame, panel: str, method: str, quality: str) -> None:
        mine = runs_of(rows, panel, method)
        self._quality = quality
        by_seed = [one for _, one in mine.groupby("seed", sort=True)]
        self._chains = [chain(one, quality) for one in by_seed]
        spent = [chosen["test_evaluations"].tolist() for chosen in self._chains]
        self.first = max((min(values, default=np.inf) for values in spent), default=np.inf)
        runs = [one[one["train_evaluations"] > 0]["test_evaluations"].tolist() for one in by_seed]
        self.last = min((max(values, default=-np.inf) for values in runs), default=-np.inf)

    def at(self, budgets: np.ndarray) -> np.ndarray:
        """Return the scores on the test windows, (n_seeds, n_budgets)."""
        quality = f"test_{self._quality}"
        return np.array([at_budgets(chosen, quality, budgets) for chosen in self._chains])

    def drawn(self) -> tuple[np.ndarray, ...]:
        """Return budgets up to the last run, the mean over seeds and its 95 % t interval."""
        if self.first > self.last:
            return (np.empty(0),) * 4
        budgets = budgets_between(self.first, self.last)
        budgets = np.r_[budgets[budgets <= self.last], self.last]
        scores = self.at(budgets)
        return budgets, scores.mean(axis=0), *t_interval(scores)
