"""The best stump of two classes for each of several weightings of the rows, in one pass.

A vector of eight weightings is added to a histogram in the time of one: :mod:`.histograms` has it
for eight labels, whose edges the search of AdaBoost.MH adds up. Here each has a stump of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.arrays import read_only
from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from .histograms import COLUMNS, SLOT, fill
from .lanes import N_CODES, WIDEST


class StumpOfTwo(NamedTuple):
    """A stump: rows with a code above `cut` get `vote`, the others minus that."""

    feature: int  # -1 is a constant vote; its `cut` is -1
    cut: int
    vote: int
    edge: int  # In grid steps


@kernel
def _best_cuts(sums, total, rest, edges, cuts):
    """Signed edge and code of the best cut for each weighting, the lowest among equals."""
    for k in range(WIDEST):
        rest[k] = total[k] - 2 * sums[k]
        edges[k], cuts[k] = rest[k], 0
        sums[k] = 0
    for code in range(1, N_CODES):
        for k in range(WIDEST):
            at = code * WIDEST + k
            rest[k] -= 2 * sums[at]
            sums[at] = 0
            if abs(rest[k]) > abs(edges[k]):
                edges[k], cuts[k] = rest[k], code


@kernel
def _search_chunk(c, columns, weights, total, work, edges, cuts):
    n_chunks, n_features = work.shape[0], columns.shape[0]
    sums, rest = work[c, : COLUMNS * SLOT], work[c, COLUMNS * SLOT :]
    stop = n_features * (c + 1) // n_chunks
    for q in range(n_features * c // n_chunks, stop, COLUMNS):
        # The last of a chunk may be fewer than four; then the last is added again.
        r, s, t = min(q + 1, stop - 1), min(q + 2, stop - 1), min(q + 3, stop - 1)
        fill(columns[q], (columns[r], columns[s], columns[t]), weights, WIDEST, sums)
        for j in range(COLUMNS):  # all of them, as that empties them
            at = min(q + j, stop - 1)
            histogram = sums[j * SLOT : j * SLOT + N_CODES * WIDEST]
            _best_cuts(histogram, total, rest, edges[at], cuts[at])


@kernel
def _search(columns, weights, total, work, edges, cuts):
    """Best cuts of all columns; chunks of columns are independent."""
    for_each(_search_chunk, work.shape[0], True, (columns, weights, total, work, edges, cuts))


def best_stumps(columns: np.ndarray, signed: np.ndarray, n_threads: int) -> list[StumpOfTwo]:
    """Best stump for each weighting, or a constant vote if none is better."""
    stumps = []
    for begin in range(0, len(signed), WIDEST):
        stumps += _best_of_eight(columns, signed[begin : begin + WIDEST], n_threads)
    return stumps


def _best_of_eight(columns: np.ndarray, signed: np.ndarray, n_threads: int) -> list[StumpOfTwo]:
    n_features, n_samples = columns.shape
    columns = read_only(columns)
    weights = np.zeros((n_samples, WIDEST), dtype=np.int64)
    weights[:, : len(signed)] = signed.T
    total = weights.sum(axis=0)
    n_chunks = max(1, min(n_threads, n_features))
    work = np.zeros((n_chunks, COLUMNS * SLOT + WIDEST), dtype=np.int64)
    edges = np.empty((n_features, WIDEST), dtype=np.int64)
    cuts = np.empty((n_features, WIDEST), dtype=np.int64)
    _search(columns, weights.reshape(-1), total, work, edges, cuts)
    stumps = []
    for k in range(len(signed)):
        best = int(np.argmax(np.abs(edges[:, k])))  # the first of equals
        edge, constant = int(edges[best, k]), int(total[k])
        if abs(edge) <= abs(constant):
            stumps.append(StumpOfTwo(-1, -1, 1 if constant >= 0 else -1, abs(constant)))
        else:
            stumps.append(StumpOfTwo(best, int(cuts[best, k]), 1 if edge >= 0 else -1, abs(edge)))
    return stumps
