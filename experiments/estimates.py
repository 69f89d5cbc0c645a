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


def t_interval(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the t interval of a mean over repetitions."""
    mean, n = np.mean(values, axis=0), len(values)
    if n < 2:
        return mean, mean
    error = np.std(values, axis=0, ddof=1) / math.sqrt(n)
    half = special.stdtrit(n - 1, (1 + level) / 2) * error
    return mean - half, mean + half


def over_seeds(effects: np.ndarray, level: float = LEVEL, overlap: float = 0.0) -> Estimate:
    """Mean of one effect per repetition, with the (corrected) t interval."""
    n = len(effects)
    effect = float(np.mean(effects)) if n else math.nan
    if n < 2 or do_not_vary(effects):
        return Estimate(n, effect)
    correlated = overlap / (1 - overlap) if overlap < 1 else 0.0
    error = float(np.std(effects, ddof=1)) * math.sqrt(1 / n + correlated)
    half = float(special.stdtrit(n - 1, (1 + level) / 2)) * error
    return Estimate(n, effect, effect - half, effect + half)


def do_not_vary(effects: np.ndarray) -> bool:
    """Whether effects are all the same: such a spread makes no interval.

    Not by their standard deviation: that of six times 0.1 is 1e-17, and would make one.
    """
    return bool(np.ptp(effects) <= _ROUNDING * max(1.0, np.abs(effects).max()))


def over_units(effects: np.ndarray, level: float = LEVEL) -> Estimate:
    """Mean of one effect per query or test row, for these trainings and units like these.

    The interval is the bootstrap's (BCa) from :data:`FEWEST_FOR_BOOTSTRAP` units on, with fewer
    the t interval.
    """
    n = len(effects)
    if n < FEWEST_FOR_BOOTSTRAP or do_not_vary(effects):
        return over_seeds(effects, level)
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
    return Estimate(n, float(np.mean(effects)), float(interval.low), float(interval.high))


def rate_interval(failures: int, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """Interval of the probability of a failure, after Clopper and Pearson."""
    from scipy import stats

    interval = stats.binomtest(failures, trials).proportion_ci(level, method="exact")
    return float(interval.low), float(interval.high)
