"""Effects estimated with confidence intervals: over repetitions, over units, and of rates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

LEVEL = 0.95
"""Confidence level of what is described."""

FEWEST_FOR_BOOTSTRAP = 100
"""Units from which the bootstrap's interval is taken: with fewer it misses more often than it says,
with a dozen to thirty queries three to eight times as often; the t interval does not."""

_RESAMPLES = 9999

_ROUNDING = 1e-12
"""What effects may differ by and be equal: differences of decimals are not exact in binary."""


@dataclass(frozen=True)
class Estimate:
    """An effect with its interval."""

    n: int  # Repetitions or units it rests on
    # effect, low, high: Mean and interval; NaN where the data are too few, no interval where all
    # are equal
    effect: float
    low: float = math.nan
    high: float = math.nan


def t_interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the 95 % t interval of a mean over repetitions."""
    mean, n = np.mean(values, axis=0), len(values)
    if n < 2:
        return mean, mean
    error = np.std(values, axis=0, ddof=1) / math.sqrt(n)
    half = special.stdtrit(n - 1, (1 + LEVEL) / 2) * error
    return mean - half, mean + half


def over_units(effects: np.ndarray) -> Estimate:
    """Mean of one effect per query or test row, for these trainings and units like these.

    The interval is the bootstrap's (BCa) from :data:`FEWEST_FOR_BOOTSTRAP` units on, with fewer
    the t interval.
    """
    n = len(effects)
    mean = float(np.mean(effects)) if n else math.nan
    # Not by their standard deviation: that of six times 0.1 is 1e-17, and would make an interval.
    if n < 2 or np.ptp(effects) <= _ROUNDING * max(1.0, np.abs(effects).max()):
        return Estimate(n, mean)
    if n < FEWEST_FOR_BOOTSTRAP:
        return Estimate(n, mean, *map(float, t_interval(effects)))
    from scipy import stats  # takes a second, which every command and worker would wait

    result = stats.bootstrap(
        (effects,),
        np.mean,
        confidence_level=LEVEL,
        n_resamples=_RESAMPLES,
        method="BCa",
        rng=np.random.default_rng(0),
    )
    interval = result.confidence_interval
    return Estimate(n, mean, float(interval.low), float(interval.high))


def rate_interval(failures: int, trials: int) -> tuple[float, float]:
    """95 % interval of the probability of a failure, after Clopper and Pearson."""
    from scipy import stats

    interval = stats.binomtest(failures, trials).proportion_ci(LEVEL, method="exact")
    return float(interval.low), float(interval.high)
