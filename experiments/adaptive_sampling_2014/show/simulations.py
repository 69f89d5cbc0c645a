"""What simulations and edge differences come to: what figures draw and claims judge."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from reference import adaptive_sampling

STDS = (0.1, 0.01)
"""Standard deviations of the edges: N(0, 10^-2) above, N(0, 10^-4) below."""

COSTS = (1_000, 10_000, 100_000)
"""Fixed costs QS of the lines."""


def best_size(line: pd.DataFrame, column: str) -> float:
    """Return the Q with the largest value of one line, between the grid's: a parabola's vertex."""
    line = line.sort_values("n_features")
    x, y = np.log10(line["n_features"].to_numpy()), line[column].to_numpy()
    i = int(np.argmax(y))
    if i in (0, len(y) - 1):
        return float(10 ** x[i])
    a, b, _ = np.polyfit(x[i - 1 : i + 2] - x[i], y[i - 1 : i + 2], 2)
    return float(10 ** (x[i] - b / (2 * a)))


def differences(rows: pd.DataFrame, passes: int) -> pd.DataFrame:
    """Return the mean difference over all rounds: one line per seed, one column per strategy."""
    mine = rows[rows["passes"] == passes]
    return mine.pivot_table(index="seed", columns="algorithm", values="difference")


DELTA = 0.5
"""Edge by which the best learner is better than all others."""

SHOWN_BOUNDS = (1e-3, 1.0)
"""Bounds are tested where they lie between these: above they say nothing, below nothing is seen."""

_lemma_of_votes = partial(adaptive_sampling.lemma_bound, divisor=adaptive_sampling.OF_VOTES)
BOUNDS: dict[str, tuple[Callable, Callable]] = {
    "one iteration": (adaptive_sampling.lemma_bound, _lemma_of_votes),
    "whole": (adaptive_sampling.failure_bound, adaptive_sampling.failure_bound_of_votes),
}
"""For each procedure the bound as printed and as it follows: (δ, S) -> probability."""


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return failures and trials of all seeds together, one line for each setting and δ²S."""
    keys = ["procedure", "votes", "n_features", "strength", "n_examples"]
    return rows.groupby(keys, as_index=False)[["failures", "trials"]].sum()


def against(rows: pd.DataFrame, procedure: str, which: int = 0) -> np.ndarray:
    """Return bound, failures and trials wherever a bound can be tested.

    Parameters
    ----------
    rows : DataFrame
        Rows of the artefact.
    procedure : str
        Key of :data:`BOUNDS`.
    which : {0, 1}
        The bound as printed, or as it follows.

    Returns
    -------
    (k, 3) float
    """
    failures = counts(rows[rows["procedure"] == procedure])
    bound = BOUNDS[procedure][which]
    bounds = np.array([bound(DELTA, S) for S in failures["n_examples"]])
    kept = (bounds >= SHOWN_BOUNDS[0]) & (bounds < SHOWN_BOUNDS[1])
    return np.column_stack([bounds, failures["failures"], failures["trials"]])[kept]
