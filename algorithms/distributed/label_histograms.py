"""Histograms of signed weights by code and label: as workers tell them, and what is made of them.

A column's histogram goes out code by code, all labels of a code together, without the padding that
it is added up with (:mod:`algorithms.stumps.histograms`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..kernels.decorators import allocating_kernel, kernel
from ..kernels.loops import for_each
from ..stumps.histograms import (
    COLUMNS,
    SLOT,
    add_default,
    block_of,
    fill,
    fill_sparse,
    n_slots,
)
from ..stumps.lanes import WIDEST


def begins_of(n_codes: np.ndarray, n_labels: int) -> np.ndarray:
    """Where each column's histogram begins, and the last ends: (n_searched + 1,) int64."""
    return np.append(0, np.cumsum(n_codes)) * n_labels


# --- on a worker --------------------------------------------------------------------------------


@kernel
def _tell(sums, apart, lanes, n_labels, out):
    """Write the histogram of a column, and empty it; `sums` and `apart` as for `add_default`."""
    n_codes = out.shape[0] // n_labels
    for label in range(0, n_labels, WIDEST):
        width, block = min(WIDEST, lanes - label), block_of(sums, label, lanes, apart)
        told = min(width, n_labels - label)
        for code in range(n_codes):
            for k in range(told):
                out[code * n_labels + label + k] = block[code * width + k]
        block[:] = 0


@kernel
def _tell_dense_chunk(c, columns, features, weights, lanes, n_labels, begins, work, out):
    n_chunks, apart = work.shape[0], COLUMNS * SLOT
    stop, sums = features.shape[0] * (c + 1) // n_chunks, work[c]
    for q in range(features.shape[0] * c // n_chunks, stop, COLUMNS):
        # The last of a chunk may be fewer than four; then the last is added again.
        r, s, t = min(q + 1, stop - 1), min(q + 2, stop - 1), min(q + 3, stop - 1)
        others = columns[features[r]], columns[features[s]], columns[features[t]]
        fill(columns[features[q]], others, weights, lanes, sums)
        for j in range(COLUMNS):  # all of them, as that empties them
            at = min(q + j, stop - 1)
            _tell(sums[j * SLOT :], apart, lanes, n_labels, out[begins[at] : begins[at + 1]])


@kernel
def _tell_dense(columns, features, weights, lanes, n_labels, begins, work, out):
    """Histograms of columns, four at a time; chunks of them are independent."""
    captured = columns, features, weights, lanes, n_labels, begins, work, out
    for_each(_tell_dense_chunk, work.shape[0], True, captured)


@allocating_kernel
def _tell_sparse_chunk(c, columns, features, defaults, weights, total, n_labels, begins, work, out):
    n_chunks, lanes = work.shape[0], total.shape[0]
    stop, sums = features.shape[0] * (c + 1) // n_chunks, work[c]
    rest = np.empty(WIDEST, dtype=np.int64)
    for q in range(features.shape[0] * c // n_chunks, stop):
        touched = fill_sparse(columns[features[q]], defaults[q], weights, lanes, sums)
        add_default(sums, SLOT, defaults[q], touched, total, rest)
        _tell(sums, SLOT, lanes, n_labels, out[begins[q] : begins[q + 1]])


@kernel
def _tell_sparse(columns, features, defaults, weights, total, n_labels, begins, work, out):
    """The same for columns that mostly hold their default code."""
    captured = columns, features, defaults, weights, total, n_labels, begins, work, out
    for_each(_tell_sparse_chunk, work.shape[0], True, captured)


def tell_histograms(
    columns: np.ndarray,
    features: np.ndarray,
    defaults: np.ndarray,
    n_codes: np.ndarray,
    signed: np.ndarray,
    total: np.ndarray,
    n_labels: int,
    n_threads: int,
    out: np.ndarray,
) -> None:
    """Histograms of some columns on all rows of a worker, or on a sample."""
    columns, weights, lanes = read_only(columns), signed.reshape(-1), signed.shape[1]
    begins = begins_of(n_codes, n_labels)
    for sparse in (False, True):
        places = np.flatnonzero((defaults >= 0) == sparse)
        if not len(places):
            continue
        n_chunks, columns_at_once = max(1, min(n_threads, len(places))), 1 if sparse else COLUMNS
        work = np.zeros((n_chunks, columns_at_once * n_slots(lanes) * SLOT), dtype=np.int64)
        to = begins_of(n_codes[places], n_labels)
        told = np.empty(to[-1], dtype=np.int64)
        if sparse:
            of_features = features[places], defaults[places], weights, total
            _tell_sparse(columns, *of_features, n_labels, to, work, told)
        else:
            _tell_dense(columns, features[places], weights, lanes, n_labels, to, work, told)
        for i, place in enumerate(places.tolist()):
            out[begins[place] : begins[place + 1]] = told[to[i] : to[i + 1]]


@kernel
def _mark_codes_of_column(m, columns, present):
    for i in range(columns.shape[1]):
        present[m, columns[m, i]] = True


@kernel
def mark_codes(columns: NDArray[np.uint8], present: NDArray[np.bool_]) -> None:
    """Say which codes the columns hold."""
    for_each(_mark_codes_of_column, columns.shape[0], True, (columns, present))


# --- where `fit` was called ---------------------------------------------------------------------


@allocating_kernel
def _best_cuts(told, begins, total, edges, cuts, of_labels):
    n_labels = total.shape[0]
    rest = np.empty(n_labels, dtype=np.int64)
    for q in range(edges.shape[0]):
        for k in range(n_labels):
            rest[k] = total[k]
        best = np.int64(-1)
        for at in range(begins[q], begins[q + 1], n_labels):
            edge = np.int64(0)
            for k in range(n_labels):
                rest[k] -= 2 * told[at + k]
                edge += abs(rest[k])
            if edge > best:
                best, cuts[q] = edge, (at - begins[q]) // n_labels
                for k in range(n_labels):
                    of_labels[q, k] = rest[k]
        edges[q] = best


def best_cuts(
    told: np.ndarray, n_codes: np.ndarray, total: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best cut of each column by its histogram, the lowest among equals: Eq. (1)."""
    edges, cuts = np.empty(len(n_codes), np.int64), np.empty(len(n_codes), np.int64)
    of_labels = np.empty((len(n_codes), len(total)), np.int64)
    _best_cuts(told, begins_of(n_codes, len(total)), total, edges, cuts, of_labels)
    return edges, cuts, of_labels
