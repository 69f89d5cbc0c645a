"""How sure scores and their differences are: a paired bootstrap over rows, queries or groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from experiments.compare.metrics import ANEW, Units

LEVEL = 0.95
RESAMPLES = 9999
_MOST_BLOCKS = 4000
_AT_A_TIME = 500  # resamples, so that their counts take little memory
# Of scores that are no means: fewest resamples, weights in all, and weights at a time
_FEWEST, _MOST_WEIGHTS, _MOST_AT_A_TIME = 999, 400_000_000, 4_000_000


def resampled_scores(models: Sequence[Units], seed: int) -> np.ndarray:
    """Resample units and compute the score anew, the same resamples for all models.

    Strata that a resample lacks are not in its mean; a resample without a score, since it has no
    positives, is none. Units of one cluster are drawn together. Of more than 4,000 clusters random
    blocks of several are drawn: the scores are as sure, for less work.
    """
    rng = np.random.default_rng([seed, 95])
    shared = models[0]
    _, block = np.unique(shared.cluster, return_inverse=True)
    n_blocks = int(block.max()) + 1
    if n_blocks > _MOST_BLOCKS:
        block = (rng.permutation(n_blocks) % _MOST_BLOCKS)[block]
        n_blocks = _MOST_BLOCKS
    if shared.how == "mean":
        score, n, at_a_time = _means(models, block, n_blocks), RESAMPLES, _AT_A_TIME
    else:
        score = _anew(models, block)
        n = min(RESAMPLES, max(_FEWEST, _MOST_WEIGHTS // len(block)))
        at_a_time = max(1, min(_AT_A_TIME, _MOST_AT_A_TIME // len(block)))
    found = np.empty((n, len(models)))
    for start in range(0, n, at_a_time):
        size = min(at_a_time, n - start)
        counts = rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=size)
        found[start : start + size] = score(counts)
    return found[~np.isnan(found).any(axis=1)]


def _means(models: Sequence[Units], block: np.ndarray, n_blocks: int):
    """Give what computes means of resamples from sums over blocks."""
    shared = models[0]
    shape = n_blocks, int(shared.stratum.max()) + 1
    cell = np.ravel_multi_index((block, shared.stratum), shape)

    def summed(values: np.ndarray) -> np.ndarray:
        return np.bincount(cell, weights=values, minlength=math.prod(shape)).reshape(shape)

    weights = summed(shared.weight)
    sums = np.concatenate([summed(m.weight * m.value) for m in models], axis=1)

    def means(counts: np.ndarray) -> np.ndarray:
        by_model = (counts @ sums).reshape(len(counts), len(models), -1)
        with np.errstate(invalid="ignore"):  # 0 / 0 where a resample lacks a stratum
            return np.nanmean(by_model / (counts @ weights)[:, None], axis=2)

    return means


def _anew(models: Sequence[Units], block: np.ndarray):
    """Give what computes scores of resamples from all of their units."""

    def scores(counts: np.ndarray) -> np.ndarray:
        found = []
        for units in models:
            weights = counts[:, block] * units.weight
            found.append(ANEW[units.how](units.value, units.stratum == 1, weights))
        return np.transpose(found)

    return scores


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
