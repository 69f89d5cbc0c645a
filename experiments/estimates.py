"""Effects estimated with confidence intervals: over repetitions, over units, and of rates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

POWER = 0.8
"""Chance with which the smallest detectable effect would be found."""

_RESAMPLES = 9999

_ROUNDING = 1e-12
"""What effects may differ by and be equal: differences of decimals are not exact in binary."""


@dataclass(frozen=True)
class Estimate:
    """An effect with its interval.

    Attributes
    ----------
    n : int
        Repetitions or units it rests on.
    effect, low, high : float
        Mean and interval; NaN where the data are too few.
    detectable : float
        Effect that would be found with a probability of 80 %; NaN where unknown.
    """

    n: int
    effect: float
    low: float
    high: float
    detectable: float


def t_interval(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the t interval of a mean over repetitions.

    Parameters
    ----------
    values : (n_repetitions, k) float
        A column for each mean.
    level : float
        Confidence level.

    Returns
    -------
    low, high : (k,) float
        Both the mean where there is one repetition only.
    """
    mean, n = np.mean(values, axis=0), len(values)
    if n < 2:
        return mean, mean
    error = np.std(values, axis=0, ddof=1) / math.sqrt(n)
    half = special.stdtrit(n - 1, (1 + level) / 2) * error
    return mean - half, mean + half


def over_seeds(effects: np.ndarray, level: float, overlap: float = 0.0) -> Estimate:
    """Mean of one effect per repetition, with the (corrected) t interval.

    Parameters
    ----------
    effects : (n,) float
        Paired differences, one per repetition.
    level : float
        Confidence level, for example 0.95.
    overlap : float
        See :class:`experiments.claims.Claim`.
    """
    n = len(effects)
    if n < 2:
        return Estimate(n, float(effects[0]) if n else math.nan, *[math.nan] * 3)
    effect = float(np.mean(effects))
    correlated = overlap / (1 - overlap) if overlap < 1 else 0.0
    if _do_not_vary(effects):
        return Estimate(1, effect, *[math.nan] * 3)
    error = float(np.std(effects, ddof=1)) * math.sqrt(1 / n + correlated)
    high, power = (float(special.stdtrit(n - 1, p)) for p in ((1 + level) / 2, POWER))
    detectable = (high + power) * error
    return Estimate(n, effect, effect - high * error, effect + high * error, detectable)


def _do_not_vary(effects: np.ndarray) -> bool:
    """Whether effects are all the same, which makes them one observation, not n.

    Not by their standard deviation: that of six times 0.1 is 1e-17, and would make an interval.
    """
    return bool(np.ptp(effects) <= _ROUNDING * max(1.0, np.abs(effects).max()))


def over_units(effects: np.ndarray, level: float) -> Estimate:
    """Mean of one effect per query or test row, with the bootstrap's BCa interval.

    Parameters
    ----------
    effects : (n,) float
        Paired differences, one per unit.
    level : float
        Confidence level.
    """
    n = len(effects)
    if n < 2 or _do_not_vary(effects):
        return Estimate(min(n, 1), float(effects[0]) if n else math.nan, *[math.nan] * 3)
    from scipy import stats  # takes a second, which every command and worker would wait

    result = stats.bootstrap(
        (effects,),
        np.mean,
        confidence_level=level,
        n_resamples=_RESAMPLES,
        method="BCa",
        rng=np.random.default_rng(0),
    )
    interval = result.confidence_interval
    z = special.ndtri((1 + level) / 2) + special.ndtri(POWER)
    detectable = float(z * result.standard_error)
    return Estimate(n, float(np.mean(effects)), interval.low, interval.high, detectable)


def rate_interval(failures, trials, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Interval of the probability of a failure, after Clopper and Pearson.

    Parameters
    ----------
    failures, trials : array-like of shape (k,)
    level : float
        Confidence level.

    Returns
    -------
    low, high : (k,) float
    """
    failures, trials = np.asarray(failures), np.asarray(trials)
    tail, successes = (1 - level) / 2, trials - failures
    low = np.zeros(failures.shape)
    high = np.ones(failures.shape)
    any_failed, any_held = failures > 0, successes > 0
    low[any_failed] = special.betaincinv(failures[any_failed], successes[any_failed] + 1, tail)
    high[any_held] = special.betaincinv(failures[any_held] + 1, successes[any_held], 1 - tail)
    return low, high


def over_trials(counts: np.ndarray, level: float) -> Estimate:
    """Smallest distance of failure rates below their bounds, with the exact interval.

    A bound must hold everywhere, so the place counts where the interval comes nearest to it (or
    goes furthest beyond); the intervals of all places hold together with `level` (Bonferroni).

    Parameters
    ----------
    counts : (k, 3) float
        For each place the bound on the probability of a failure, failures, trials.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Bound less rate at that place; `n` counts its trials.
    """
    if len(counts) == 0:
        return Estimate(0, *[math.nan] * 4)
    bounds, failures, trials = counts.T
    low, high = rate_interval(failures, trials, 1 - (1 - level) / len(counts))
    worst = int(np.argmin(bounds - high))
    effect = bounds[worst] - failures[worst] / trials[worst]
    return Estimate(
        int(trials[worst]),
        float(effect),
        float(bounds[worst] - high[worst]),
        float(bounds[worst] - low[worst]),
        math.nan,
    )
