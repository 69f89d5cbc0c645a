"""What Figure 2's claims compare: leads, margins, policies along β."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.mddag_2012.show.selection import runs_of

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

SLIGHTLY_HIGHER = 20.0
"""Up to where "a slightly higher number of base classifiers" goes: four times the low number."""

FULL_RANGE = 30.0
"""Base classifiers to which every cascade's curve reaches or has long stopped rising."""


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
