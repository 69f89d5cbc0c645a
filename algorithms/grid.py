"""Rounding to a grid, so that every sum is exact and has the same bits in any order (DESIGN §4).

Values are rounded to whole multiples of ``2**-k``: their sums are integers below 2**53 times the
step. The reference is :mod:`reference.grid`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

_SUM_BITS = 52
_MOST_BITS = 30  # of a value, so that it fits a 32-bit integer with its sign
_MOST_EXPONENT = 1000  # steps stay ordinary numbers; squares of such values are 0 anyway


def exponent_of(value: float) -> int:
    """Return the exponent e with ``value = m * 2**e``, 0.5 <= m < 1 (0 for 0)."""
    return math.frexp(value)[1]


def sum_exponent(largest_sum: float) -> int:
    """Return the exponent k of the finest grid on which sums up to `largest_sum` are exact."""
    return _SUM_BITS - exponent_of(largest_sum)


def unit_exponent(n_values: float) -> int:
    """Return the exponent k of the grid on which `n_values` values of at most 1 sum up exactly.

    At most 30: the rounding error of a value is then 2**-31.
    """
    return min(_MOST_BITS, sum_exponent(n_values))


class RowWeights(NamedTuple):
    """Row weights on their grid."""

    # (n_samples,) float64, or None: the weights as given; None if all are 1
    values: np.ndarray | None
    # (n_samples,) int64, or None: ``rint(ldexp(values, exponent))``, at least 1
    counts: np.ndarray | None
    exponent: int  # 0 if all weights are integers
    total: int  # Sum of `counts`
    sum: float  # Sum of `values`
    bits: int  # So many bits a rounded value may have that every sum stays below 2**52
    whole: bool  # Whether all weights are integers


def row_weights(sample_weight: np.ndarray | None, n_samples: int) -> RowWeights:
    """Put positive row weights on a grid."""
    if sample_weight is None:
        bits = unit_exponent(n_samples)
        return RowWeights(None, None, 0, n_samples, float(n_samples), bits, True)
    whole = bool(np.all(sample_weight == np.rint(sample_weight)))
    return weights_on_grid(sample_weight, math.fsum(sample_weight), whole)


def weights_on_grid(sample_weight: np.ndarray, total: float, whole: bool) -> RowWeights:
    """Put some rows' weights on the grid of all rows."""
    if whole:
        counts, bits = sample_weight.astype(np.int64), unit_exponent(total)
        return RowWeights(sample_weight, counts, 0, int(counts.sum()), total, bits, True)
    bits = sum_exponent(total)
    counts = np.maximum(1, np.rint(np.ldexp(sample_weight, bits)).astype(np.int64))
    return RowWeights(sample_weight, counts, bits, int(counts.sum()), total, bits, False)


def value_exponent(largest: float, weights: RowWeights) -> int:
    """Return the exponent k of the grid for weighted values of at most `largest` in magnitude."""
    return min(_MOST_EXPONENT, weights.bits - exponent_of(largest)) if largest > 0 else 0


def round_to_grid(values: np.ndarray, weights: RowWeights) -> tuple[np.ndarray, int]:
    """Round values so that their weighted sums are exact in any order.

    Parameters
    ----------
    values : ndarray of shape (n_samples,), float64
    weights : RowWeights

    Returns
    -------
    ndarray of shape (n_samples,), int64
        Weighted values in grid steps.
    int
        The step is ``2.0 ** -k`` for this k.
    """
    k = value_exponent(float(np.max(np.abs(values), initial=0.0)), weights)
    return in_steps(values, weights, k), k


def in_steps(values: np.ndarray, weights: RowWeights, k: int) -> np.ndarray:
    """Weighted values in whole steps of ``2.0 ** -k``, (n_samples,) int64."""
    scaled = np.ldexp(values, k)
    if weights.whole:  # so that a weight of 3 equals three copies
        scaled = np.rint(scaled)
    if weights.values is not None:
        scaled = np.rint(weights.values * scaled)
    return scaled.astype(np.int64)
