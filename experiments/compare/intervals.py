"""How sure scores and their differences are: a paired bootstrap over rows, queries or groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from experiments.compare.metrics import Units

LEVEL = 0.95
RESAMPLES = 9999
_MOST_BLOCKS = 4000
_AT_A_TIME = 500  # resamples, so that their counts take little memory


def resampled_means(models: Sequence[Units], seed: int) -> np.ndarray:
    """Resample units and compute the score anew, the same resamples for all models.

    Strata that a resample lacks are not in its mean. Units of one cluster are drawn together. Of
    more than 4,000 clusters random blocks of several are drawn: the means are as sure, for less
    work.
    """
    rng = np.random.default_rng([seed, 95])
    shared = models[0]
    _, block = np.unique(shared.cluster, return_inverse=True)
    n_blocks = int(block.max()) + 1
    if n_blocks > _MOST_BLOCKS:
        block = (rng.permutation(n_blocks) % _MOST_BLOCKS)[block]
        n_blocks = _MOST_BLOCKS
    shape = n_blocks, int(shared.stratum.max()) + 1
    cell = np.ravel_multi_index((block, shared.stratum), shape)

    def summed(values: np.ndarray) -> np.ndarray:
        return np.bincount(cell, weights=values, minlength=math.prod(shape)).reshape(shape)

    weights = summed(shared.weight)
    sums = np.concatenate([summed(m.weight * m.value) for m in models], axis=1)
    means = np.empty((RESAMPLES, len(models)))
    for start in range(0, RESAMPLES, _AT_A_TIME):
        n = min(_AT_A_TIME, RESAMPLES - start)
        counts = rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=n)
        with np.errstate(invalid="ignore"):  # 0 / 0 where a resample lacks a stratum
            by_stratum = (counts @ sums).reshape(n, len(models), -1) / (counts @ weights)[:, None]
        means[start : start + n] = np.nanmean(by_stratum, axis=2)
    return means


def interval(resamples: np.ndarray) -> tuple[float, float]:
    """Give the percentile interval of resampled values (n,)."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resamples, [tail, 1 - tail])
    return float(low), float(high)


def p_value(differences: np.ndarray) -> float:
    """Give the two-sided p-value of "no difference" by resampled differences (n,)."""
    n = len(differences)
    below, above = np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0)
    return min(1.0, 2 * (1 + min(below, above)) / (n + 1))


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Correct p-values for their number (Holm 1979): all claims together hold at the level."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    steps = p[order] * np.arange(len(p), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected
