"""Rounding to a grid, so that every sum is exact and has the same bits in any order.

Values are rounded to whole multiples of ``2**-k``. The sums are then integers below 2**53 times the
step, which float64 and int64 hold exactly. Shared by trees, stumps and their losses.

=========  =========================================================
symbol     name
=========  =========================================================
k          ``exponent``: the grid is ``2**-k``
W          ``RowWeights.total``
=========  =========================================================
"""

import math
from dataclasses import dataclass

import numpy as np

SUM_BITS = 52
MOST_BITS = 30  # of a value, so that it fits 32 bits with its sign
MOST_EXPONENT = 1000  # steps stay ordinary numbers


def exponent_of(value: float) -> int:
    """Exponent e with ``value = m * 2**e``, 0.5 <= m < 1 (0 for 0)."""
    return math.frexp(value)[1]


def sum_exponent(largest_sum: float) -> int:
    """Exponent k of the finest grid on which sums up to ``largest_sum`` are exact."""
    return SUM_BITS - exponent_of(largest_sum)


def unit_exponent(n_values: float) -> int:
    """Exponent k of the grid on which ``n_values`` values of at most 1 sum up exactly.

    At most 30: the rounding error of a value is then 2**-31.
    """
    return min(MOST_BITS, sum_exponent(n_values))


@dataclass(frozen=True)
class RowWeights:
    """Weights of the rows as given and as exact integers.

    ``counts`` (int64) times ``2**-exponent`` is the weight that counts as "number of rows".
    """

    real: np.ndarray
    counts: np.ndarray
    exponent: int
    total: float
    whole: bool


@dataclass(frozen=True)
class GridValues:
    """Weighted values on a grid: the value of row i is ``ints[i] * 2**-exponent``."""

    ints: np.ndarray
    exponent: int


def row_weights(weights: np.ndarray) -> RowWeights:
    """Positive weights (n,) and their exact integer counts."""
    weights = np.asarray(weights, dtype=np.float64)
    total = math.fsum(weights)
    whole = bool(np.all(weights == np.rint(weights)))
    exponent = 0 if whole else sum_exponent(total)
    counts = np.maximum(1, np.rint(np.ldexp(weights, exponent))).astype(np.int64)
    return RowWeights(weights, counts, exponent, total, whole)


def value_exponent(largest: float, weights: RowWeights) -> int:
    """Exponent k of the grid for values of at most ``largest`` in magnitude, each times its weight.

    The error of a value is at most half a grid step, 2**-31 of the power of two above the
    largest value below a total weight of 2**22.
    """
    if largest == 0:
        return 0
    bits = (unit_exponent if weights.whole else sum_exponent)(weights.total)
    return min(MOST_EXPONENT, bits - exponent_of(largest))


def round_to_grid(values: np.ndarray, weights: RowWeights, *, positive: bool = False) -> GridValues:
    """Round weighted values so that all their partial sums are exact in float64.

    ``positive`` (hessians): a value that rounds to 0 becomes one grid step.
    """
    exponent = value_exponent(float(np.max(np.abs(values))), weights)
    ints = np.ldexp(values, exponent)
    if weights.whole:  # so that a weight of 3 equals three copies
        ints = np.rint(ints)
        if positive:
            ints = np.maximum(1.0, ints)
    ints = np.rint(weights.real * ints)
    if positive:
        ints = np.maximum(1.0, ints)
    return GridValues(ints, exponent)


def real_sum(values: GridValues, rows: np.ndarray) -> float:
    """Exact sum over ``rows`` as a real number."""
    return math.ldexp(float(np.sum(values.ints[rows])), -values.exponent)


def real_count(weights: RowWeights, rows: np.ndarray) -> float:
    """Weight of ``rows`` (their number, if all weights are 1)."""
    return math.ldexp(float(np.sum(weights.counts[rows])), -weights.exponent)
