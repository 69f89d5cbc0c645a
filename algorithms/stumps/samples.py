"""Samples of the training examples, drawn by boosting weight: Eq. (2).

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453. The reference is :mod:`reference.adaptive_sampling`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..grid import unit_exponent
from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from .pair_weights import PairWeights

_SHARED_ROWS = 2**11  # from which on threads share them


class Sample(NamedTuple):
    """Some of the examples."""

    rows: np.ndarray  # (size,) int64: ascending; repeated if drawn repeatedly
    signed: np.ndarray  # (size, n_lanes) int32 or int64: weight times label, in grid steps

    @property
    def weight(self) -> int:
        """Weight of all pairs of the sample, in grid steps."""
        return int(np.abs(self.signed).sum(dtype=np.int64))


@kernel
def rows_of(draws: NDArray[np.int64], of_row: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Row that each draw falls into, rows lying end to end.

    Parameters
    ----------
    draws : ndarray of shape (n_draws,), int64
        Ascending, from 0 to the sum of `of_row` less 1.
    of_row : ndarray of shape (n_rows,), int64
        Weight of each row, >= 0.
    rows : ndarray of shape (n_draws,), int64
        Output.
    """
    row, end = 0, of_row[0]
    for s in range(draws.shape[0]):
        while draws[s] >= end:
            row += 1
            end += of_row[row]
        rows[s] = row


@kernel
def _share_row(s, rows, signed, of_row, scale, out):
    total = np.float64(of_row[rows[s]])
    for k in range(signed.shape[1]):
        out[s, k] = np.int32(np.rint(signed[rows[s], k] / total * scale))


@kernel
def _share_out(rows, signed, of_row, scale, out):
    """Weights of the drawn rows relative to the row's, on a grid; signs are kept."""
    n = rows.shape[0]
    for_each(_share_row, n, n >= _SHARED_ROWS, (rows, signed, of_row, scale, out))


def sample_by_weight(weights: PairWeights, size: int, rng: np.random.Generator) -> Sample:
    """Draw examples by their boosting weight, Eq. (2)."""
    draws = rng.integers(weights.total, size=size)
    draws.sort()  # sums do not depend on the order; finding the rows, and memory, do
    return sample_of_draws(weights, draws, size)


def sample_of_draws(weights: PairWeights, draws: np.ndarray, size: int) -> Sample:
    """Give the examples that draws by weight fall into."""
    rows = np.empty(len(draws), dtype=np.int64)
    rows_of(draws, weights.of_row, rows)
    signed = np.empty((len(draws), weights.signed.shape[1]), dtype=np.int32)
    exponent = unit_exponent(size * weights.n_labels)
    _share_out(rows, weights.signed, weights.of_row, 2.0**exponent, signed)
    return Sample(rows, signed)
