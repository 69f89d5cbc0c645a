"""How alike the paper's and our numbers are: order against order, its correlation, the level."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

RESAMPLES = 1_000
LEVEL = 0.95
_DECIMALS = 9
"""Of our means, so that two that are equal are a tie, in whatever order they were summed."""
_ROUNDING = 1e-9
"""Differences of printed decimals are not exact in binary."""
_SEED = 20140401


TOLD_APART = 0.99
"""Level of the paired t interval that must leave out 0 for us to tell two methods apart: of the 78
pairs of a column fewer than one is told apart by chance."""

PRINTED_APART = 0.02
"""Least difference of two printed losses that the paper tells apart: rounding to two decimals
cannot have turned it round."""


class Estimate(NamedTuple):
    """A number with its interval."""

    # value, low, high: NaN where it is not defined; the interval also with fewer than two
    # repetitions
    value: float
    low: float
    high: float


class Agreement(NamedTuple):
    """How one column of a table agrees with the paper's."""

    # tau, rho: Kendall's τ-b and Spearman's ρ between the two orders of the methods; not defined
    # for fewer than two methods, or if all are alike
    tau: Estimate
    rho: Estimate
    # Mean over the methods of ours less the paper's, in the unit of the column
    difference: Estimate
    n: int  # Methods compared


class Order(NamedTuple):
    """Pairs of methods of one column, by what the paper's numbers and ours say of them."""

    agree: int  # Pairs that both tell apart, the same way round
    # Pairs that both tell apart, and of which the paper has the first ahead and we the second
    against: tuple[tuple[str, str], ...]
    undecided: int  # Pairs that the paper or we do not tell apart


def order(ours: pd.DataFrame, paper: pd.Series) -> Order:
    """Hold our order of the methods against the paper's, pair by pair.

    Most pairs of a column are ties, to which a correlation of ranks is blind.

    Parameters
    ----------
    ours : DataFrame
        A line per repetition, a column per method; only columns without gaps count.
    paper : Series
        The paper's number for each method; the smaller is ahead.

    Returns
    -------
    Order
        Of two methods we say that they differ where the paired t interval over the repetitions, at
        :data:`TOLD_APART`, leaves out 0; the paper, where its numbers differ by
        :data:`PRINTED_APART`.
    """
    values = ours.dropna(axis=1)
    methods = [name for name in values.columns if name in paper.index]
    agree, against, undecided = 0, [], 0
    for a, b in combinations(methods, 2):
        printed = paper[a] - paper[b]
        mine = _sign_of((values[a] - values[b]).to_numpy(np.float64))
        if abs(printed) < PRINTED_APART - _ROUNDING or mine == 0:
            undecided += 1
        elif np.sign(printed) == mine:
            agree += 1
        else:
            against.append((a, b) if printed < 0 else (b, a))
    return Order(agree, tuple(against), undecided)


def _sign_of(differences: np.ndarray) -> int:
    """Return which way paired differences surely go; 0 if that is not sure."""
    n = len(differences)
    mean = differences.mean().round(_DECIMALS)
    if n < 2 or mean == 0:
        return 0
    half = stats.t.ppf((1 + TOLD_APART) / 2, n - 1) * differences.std(ddof=1) / np.sqrt(n)
    return int(np.sign(mean)) if abs(mean) > half else 0


def agreement(ours: pd.DataFrame, paper: pd.Series) -> Agreement:
    """Compare our means over the repetitions with the paper's numbers."""
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
