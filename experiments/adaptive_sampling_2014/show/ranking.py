"""How alike the paper's and our numbers are: the order of the methods, and the level."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

RESAMPLES = 1_000
LEVEL = 0.95
_DECIMALS = 9
"""Of our means, so that two that are equal are a tie, in whatever order they were summed."""
_SEED = 20140401


class Estimate(NamedTuple):
    """A number with its interval.

    Attributes
    ----------
    value, low, high : float
        NaN where it is not defined; the interval also with fewer than two repetitions.
    """

    value: float
    low: float
    high: float


class Agreement(NamedTuple):
    """How one column of a table agrees with the paper's.

    Attributes
    ----------
    tau, rho : Estimate
        Kendall's τ-b and Spearman's ρ between the two orders of the methods; not defined for fewer
        than two methods, or if all are alike.
    difference : Estimate
        Mean over the methods of ours less the paper's, in the unit of the column.
    n : int
        Methods compared.
    """

    tau: Estimate
    rho: Estimate
    difference: Estimate
    n: int


def agreement(ours: pd.DataFrame, paper: pd.Series) -> Agreement:
    """Compare our means over the repetitions with the paper's numbers.

    Parameters
    ----------
    ours : DataFrame
        A line per repetition, a column per method; only columns without gaps count.
    paper : Series
        The paper's number for each method.

    Returns
    -------
    Agreement
        Intervals at 95 %: percentiles over repetitions drawn anew with replacement, the same ones
        for all methods, without those in which an order is not defined. They say how far ours
        depends on the repetitions; the paper's numbers have no spread.
    """
    values = ours.dropna(axis=1)
    methods = [name for name in values.columns if name in paper.index]
    values, printed = values[methods].to_numpy(np.float64), paper[methods].to_numpy(np.float64)
    resampled, times = _resampled_means(values)

    def estimate(statistic: Callable[[np.ndarray, np.ndarray], float], at_least: int) -> Estimate:
        if len(methods) < at_least:
            return Estimate(np.nan, np.nan, np.nan)
        value = statistic(values.mean(axis=0).round(_DECIMALS), printed)
        if len(values) < 2:
            return Estimate(value, np.nan, np.nan)
        drawn = np.repeat([statistic(means, printed) for means in resampled], times)
        low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Estimate(value, float(low), float(high))

    return Agreement(estimate(_tau, 2), estimate(_rho, 2), estimate(_difference, 1), len(methods))


def _resampled_means(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means over repetitions drawn anew, and how often each draw came.

    The order within a draw does not matter: five repetitions have 126 draws, not 1,000.
    """
    n = len(values)
    draws = np.random.default_rng(_SEED).integers(n, size=(RESAMPLES, n))
    draws, times = np.unique(np.sort(draws, axis=1), axis=0, return_counts=True)
    return values[draws].mean(axis=1).round(_DECIMALS), times


def _tau(ours: np.ndarray, paper: np.ndarray) -> float:
    return float(stats.kendalltau(ours, paper).statistic)


def _rho(ours: np.ndarray, paper: np.ndarray) -> float:
    if np.ptp(ours) == 0 or np.ptp(paper) == 0:
        return np.nan  # as SciPy says, with a warning
    return float(stats.spearmanr(ours, paper).statistic)


def _difference(ours: np.ndarray, paper: np.ndarray) -> float:
    return float(np.mean(ours - paper))
