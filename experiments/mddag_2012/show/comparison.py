"""What Figure 2's claims compare: leads, margins, policies along β."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.curves import budgets_between
from experiments.mddag_2012.show.selection import Curve, runs_of, there

CASCADES = ("viola_jones", "fcboost", "bourdev_cascade")
MDDAG = (
    *("mddag_i", "mddag_exp", "mddag_exp_shares", "mddag_exp_slow"),
    *("mddag_i_descent", "mddag_exp_descent"),
)
DETECTORS = (
    *("mddag_i", "mddag_i_accuracy", "mddag_exp", "mddag_exp_shares", "mddag_exp_slow"),
    "mddag_i_descent",
)

FEW = 5.0
"""Base classifiers: "the regime of low number base classifiers"."""


def best_of(
    rows: pd.DataFrame, panel: str, methods: tuple[str, ...], quality: str, budgets: np.ndarray
) -> np.ndarray:
    """Return the test score of the method that is best in training at each budget.

    Chosen on test it would be too good by the noise of a maximum. A method counts up to its last
    run; NaN where none has one; (n_seeds, n_budgets).
    """
    trained, tested = [], []
    for method in methods:
        curve = Curve(rows, panel, method, quality)
        reaches = (budgets >= curve.first) & (budgets <= curve.last)
        trained.append(np.where(reaches, curve.at(budgets, "train"), -np.inf))
        tested.append(curve.at(budgets))
    best = np.argmax(trained, axis=0)[None]
    scores = np.take_along_axis(np.array(tested), best, axis=0)[0]
    return np.where(np.isneginf(np.max(trained, axis=0)), np.nan, scores)


def inside_of_best(
    rows: pd.DataFrame,
    panel: str,
    methods: tuple[str, ...],
    others: tuple[str, ...],
    margin: float,
    quality: str,
    low: float = 1.0,
) -> np.ndarray:
    """Return the margin plus the mean lead of the best of some methods over the best of others.

    Over the budgets from `low` on that both kinds reach; one value per seed, NaN if there is no
    such budget.
    """
    if not there(rows, panel, *methods, *others):
        return np.empty(0)
    last = max(Curve(rows, panel, method, quality).last for method in (*methods, *others))
    budgets = budgets_between(low, max(low, last))
    ours, theirs = (best_of(rows, panel, group, quality, budgets) for group in (methods, others))
    difference = ours - theirs
    shared = ~np.isnan(difference).any(axis=0)
    empty = np.full(len(difference), np.nan)
    return margin + (difference[:, shared].mean(axis=1) if shared.any() else empty)


def plain_runs(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return the runs of a method whose negatives weigh what positives do: β means the same."""
    runs = runs_of(rows, panel, method)
    return runs[runs["negative_weight"] == 1] if "negative_weight" in runs else runs


def train_minus_test(rows: pd.DataFrame, panel: str, method: str, margin: float) -> np.ndarray:
    """Return the margin less the excess of the test objective, mean over β, by seed."""
    runs = plain_runs(rows, panel, method)
    if runs.empty:
        return np.empty(0)
    excess = runs["test_objective"] - runs["train_objective"]
    return margin - excess.groupby(runs["seed"]).mean().to_numpy()


def evaluations_fall(rows: pd.DataFrame, panel: str, method: str) -> np.ndarray:
    """Return minus the correlation of log β and log(1 + test evaluations), by seed; 0 if all alike.

    Not of ranks: those agree perfectly in every repetition, and then say nothing of the spread.
    """
    correlations = []
    for _, runs in plain_runs(rows, panel, method).groupby("seed"):
        alike = runs["test_evaluations"].nunique() < 2
        logs = (np.log(runs["tradeoff"]), np.log1p(runs["test_evaluations"]))
        correlations.append(0.0 if alike else -float(np.corrcoef(*logs)[0, 1]))
    return np.array(correlations)
