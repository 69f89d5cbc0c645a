"""How alike the paper's and our order of the methods are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

RESAMPLES = 1_000
LEVEL = 0.95
_SEED = 20140401


class Correlation(NamedTuple):
    """Kendall's τ-b between two orders, with its interval.

    Attributes
    ----------
    tau, low, high : float
        NaN where it is not defined: fewer than two methods, or all alike; the interval also with
        fewer than two repetitions.
    n : int
        Methods compared.
    """

    tau: float
    low: float
    high: float
    n: int


def rank_correlation(ours: pd.DataFrame, paper: pd.Series) -> Correlation:
    """Correlate our order of the methods, by the mean over repetitions, with the paper's.

    Parameters
    ----------
    ours : DataFrame
        A line per repetition, a column per method; only columns without gaps count.
    paper : Series
        The paper's number for each method.

    Returns
    -------
    Correlation
        Interval at 95 %: percentiles over repetitions drawn anew with replacement, the same ones
        for all methods, without those in which all methods are alike. It says how far ours depends
        on the repetitions; the paper's numbers have no spread.
    """
    values = ours.dropna(axis=1)
    methods = [name for name in values.columns if name in paper.index]
    values, printed = values[methods].to_numpy(np.float64), paper[methods].to_numpy(np.float64)
    if len(methods) < 2:
        return Correlation(*[np.nan] * 3, len(methods))
    tau = _tau(values.mean(axis=0), printed)
    if len(values) < 2:
        return Correlation(tau, np.nan, np.nan, len(methods))
    draws = np.random.default_rng(_SEED).integers(len(values), size=(RESAMPLES, len(values)))
    resampled = [_tau(values[draw].mean(axis=0), printed) for draw in draws]
    low, high = np.nanquantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Correlation(tau, float(low), float(high), len(methods))


def _tau(ours: np.ndarray, paper: np.ndarray) -> float:
    return float(stats.kendalltau(ours, paper).statistic)
