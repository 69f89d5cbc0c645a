"""Search for the best decision stump of AdaBoost.MH on 8-bit columns, and its votes.

One histogram of signed weights per column, (value, label), gives the edges of all its thresholds.
Weights are integers, so sums are exact in any order (DESIGN §4); the reference is
:func:`reference.adaboost_mh.best_threshold`. For Hamming trees :class:`Leaves` keeps the training
rows in each leaf while the tree grows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..kernels.decorators import allocating_kernel, inlined_kernel, kernel
from ..kernels.loops import for_each
from .histograms import (
    ALL_CODES,
    COLUMNS,
    SLOT,
    add_default,
    add_row,
    best_cut,
    fill,
    fill_sparse,
    n_slots,
)
from .lanes import N_CODES, WIDEST, code_at, n_lanes

_GROUP = 16  # sparse columns that are filled together, block of rows by block of rows
_BLOCK_ROWS = 8192
_SPARSE = 0.5  # share of one code from which leaving it out is faster, on pictures
_UNKNOWN = -2  # a column that was not looked into
_RUN, _RUNS = 64, 16  # rows of a column that are looked into, and how often

__all__ = [
    "DefaultCodes",
    "Search",
    "code_above",
    "label_edges",
    "n_lanes",
    "search",
    "totals",
]


@inlined_kernel
def _scratch(work):
    """Edges by cut, and sums of a block's labels: the end of a chunk's memory."""
    return work[-N_CODES:], work[-N_CODES - WIDEST : -N_CODES]


@kernel
def _search_chunk(c, columns, features, weights, total, work, edges, cuts):
    n_chunks, lanes = work.shape[0], total.shape[0]
    size, apart = COLUMNS * n_slots(lanes) * SLOT, COLUMNS * SLOT
    sums, (at_cuts, rest) = work[c, :size], _scratch(work[c])
    stop = features.shape[0] * (c + 1) // n_chunks
    for q in range(features.shape[0] * c // n_chunks, stop, COLUMNS):
        # The last of a chunk may be fewer than four; then the last is added again.
        r, s, t = min(q + 1, stop - 1), min(q + 2, stop - 1), min(q + 3, stop - 1)
        others = columns[features[r]], columns[features[s]], columns[features[t]]
        fill(columns[features[q]], others, weights, lanes, sums)
        for j in range(COLUMNS):  # all of them, as that empties them
            of_column = sums[j * SLOT :]
            best, cut = best_cut(of_column, apart, ALL_CODES, total, rest, at_cuts)
            if q + j < stop:
                edges[q + j], cuts[q + j] = best, cut


@kernel
def _search(columns, features, weights, total, work, edges, cuts):
    """Best cut of each feature; chunks of features are independent."""
    captured = columns, features, weights, total, work, edges, cuts
    for_each(_search_chunk, work.shape[0], True, captured)


@allocating_kernel
def _search_sparse_chunk(c, columns, features, defaults, weights, total, work, edges, cuts):
    n_chunks, lanes, n_rows = work.shape[0], total.shape[0], columns.shape[1]
    size = n_slots(lanes) * SLOT
    group = np.int64((work.shape[1] - N_CODES - WIDEST) // size) if n_rows > _BLOCK_ROWS else 1
    at_cuts, rest = _scratch(work[c])
    touched = np.empty(group, dtype=np.uint64)
    end = features.shape[0] * (c + 1) // n_chunks
    for first in range(features.shape[0] * c // n_chunks, end, group):
        stop = min(first + group, end)
        touched[:] = 0
        for begin in range(0, n_rows, _BLOCK_ROWS):  # their weights stay in the cache
            rows, of_rows = slice(begin, begin + _BLOCK_ROWS), weights[begin * lanes :]
            for q in range(first, stop):
                sums = work[c, (q - first) * size :]
                codes = columns[features[q], rows]
                touched[q - first] |= fill_sparse(codes, defaults[q], of_rows, lanes, sums)
        for q in range(first, stop):
            sums = work[c, (q - first) * size :]
            present = add_default(sums, SLOT, defaults[q], touched[q - first], total, rest)
            edges[q], cuts[q] = best_cut(sums, SLOT, present, total, rest, at_cuts)


@kernel
def _search_sparse(columns, features, defaults, weights, total, work, edges, cuts):
    """The same for columns that mostly hold their default code."""
    captured = columns, features, defaults, weights, total, work, edges, cuts
    for_each(_search_sparse_chunk, work.shape[0], True, captured)


_kept = threading.local()  # the memory of each thread's last search


def _work_space(n_chunks: int, lanes: int) -> np.ndarray:
    """Memory of each chunk: empty histograms, sums of a block's labels, edges by cut.

    Blocks of 8 labels begin where a cache line does. A search leaves its histograms empty, so the
    next one of its kind takes the same memory: to clear 400 kB takes as long as to search a column.
    """
    shape = n_chunks, max(COLUMNS * n_slots(lanes), _GROUP) * SLOT + WIDEST + N_CODES
    work = getattr(_kept, "work", None)
    if work is None or work.shape != shape:
        size = shape[0] * shape[1]
        memory = np.zeros(size + WIDEST, dtype=np.int64)
        begin = -memory.ctypes.data // memory.itemsize % WIDEST
        work = _kept.work = memory[begin : begin + size].reshape(shape)
    return work


@kernel
def _gather_column(q, columns, features, rows, out):
    column = columns[features[q]]
    for s in range(rows.shape[0]):
        out[q, s] = column[rows[s]]


@kernel
def _gather(columns, features, rows, out):
    for_each(_gather_column, features.shape[0], True, (columns, features, rows, out))


class Search(NamedTuple):
    """What a search found, feature by feature."""

    # (n_searched,) int64: edge of the best stump, or of the constant vote if that is larger, in
    # grid steps
    edges: np.ndarray
    cuts: np.ndarray  # (n_searched,) int64: codes up to this one lie left of the best threshold


@allocating_kernel
def label_edges(
    codes: NDArray[np.uint8], cut: int, signed: np.ndarray, out: NDArray[np.int64]
) -> None:
    """Edge of each label for the stump ``code > cut``."""
    lanes, weights = signed.shape[1], signed.reshape(-1)
    sums = np.zeros(8 * lanes, dtype=np.int64)
    for i in range(signed.shape[0]):  # four sums for each side: one would wait for itself
        place = (i & 3) + (4 if code_at(codes, i) > cut else 0)
        add_row(weights, i, lanes, place * lanes, sums)
    out[:] = 0
    for place in range(8):
        for k in range(lanes):
            out[k] += sums[place * lanes + k] if place >= 4 else -sums[place * lanes + k]


@allocating_kernel
def _add_up(signed, out):
    lanes, weights = signed.shape[1], signed.reshape(-1)
    sums = np.zeros(4 * lanes, dtype=np.int64)
    for i in range(signed.shape[0]):
        add_row(weights, i, lanes, (i & 3) * lanes, sums)
    out[:] = 0
    for place in range(4):
        for k in range(lanes):
            out[k] += sums[place * lanes + k]


def totals(signed: np.ndarray) -> np.ndarray:
    """Edge of each label for the constant vote: sums by label, shape (n_lanes,), int64."""
    out = np.empty(signed.shape[1], dtype=np.int64)
    _add_up(signed, out)
    return out


class DefaultCodes:
    """Code that fills most of a column, looked for when the column is first searched.

    It changes how fast a column is searched, never what is found. To look into all columns first
    would read a whole file of features of which a training may need a few.
    """

    def __init__(self, columns: np.ndarray) -> None:
        self._columns = read_only(columns)
        self._codes = np.full(len(columns), _UNKNOWN, dtype=np.int64)

    def of(self, features: np.ndarray) -> np.ndarray:
        """Most frequent code of some columns by a sample of their rows, -1 where none fills most.

        Parameters
        ----------
        features : ndarray of shape (n_searched,), int64
            Distinct.

        Returns
        -------
        ndarray of shape (n_searched,), int64
        """
        codes = self._codes[features]
        unknown = codes == _UNKNOWN
        if unknown.any():
            _most_frequent(self._columns, features[unknown], _SPARSE, self._codes)
            codes = self._codes[features]
        return codes


@allocating_kernel
def _most_frequent_of_column(q, columns, features, share, defaults):
    n_rows = columns.shape[1]
    length = min(_RUN, n_rows)
    n_runs = min(_RUNS, n_rows // length)
    codes, counts = columns[features[q]], np.zeros(N_CODES, dtype=np.int64)
    for r in range(n_runs):
        begin = n_rows * r // n_runs
        for i in range(begin, begin + length):
            counts[codes[i]] += 1
    most = np.argmax(counts)
    defaults[features[q]] = most if counts[most] > share * n_runs * length else -1


@kernel
def _most_frequent(columns, features, share, defaults):
    """Most frequent code of a sample of rows if it has more than that share of them, or -1.

    The sample are runs of neighbours, as far apart as they can: a run is read from memory at once.
    """
    captured = columns, features, share, defaults
    for_each(_most_frequent_of_column, features.shape[0], True, captured)


@kernel
def code_above(codes: NDArray[np.uint8], cut: int) -> int:
    """Smallest code larger than `cut`, or 255 if there is none."""
    smallest = np.uint8(N_CODES - 1)
    for i in range(codes.shape[0]):
        if codes[i] > cut:
            smallest = min(smallest, codes[i])
    return smallest


def search(
    columns: np.ndarray,
    features: np.ndarray,
    signed: np.ndarray,
    n_threads: int,
    rows: np.ndarray | None = None,
    defaults: np.ndarray | None = None,
    total: np.ndarray | None = None,
) -> Search:
    """Best cut of each of the features.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples), uint8
        One row per feature.
    features : ndarray of shape (n_searched,), int64
    signed : ndarray of shape (n_rows, n_lanes), int32 or int64
        Weight times label (-1 or 1) in grid steps, by row and label, padded with zeros.
    n_threads : int
        Features are shared out over so many chunks.
    rows : ndarray of shape (n_rows,), int64, optional
        Which samples `signed` belongs to, repeated or in any order; all of them if not given.
    defaults : ndarray of shape (n_searched,), int64, optional
        See :meth:`DefaultCodes.of`.
    total : ndarray of shape (n_lanes,), int64, optional
        See :func:`totals`, of `signed`; they are added up if not given.

    Returns
    -------
    Search
    """
    n_chunks = max(1, min(n_threads, len(features)))
    lanes, n_searched = signed.shape[1], len(features)
    features = np.ascontiguousarray(features)
    sparse = None if defaults is None else defaults >= 0
    n_sparse = 0 if sparse is None else np.count_nonzero(sparse)
    if rows is not None:
        gathered = np.empty((n_searched, len(rows)), dtype=np.uint8)
        _gather(columns, features, rows, gathered)
        columns, features = gathered, np.arange(n_searched)
    columns = read_only(columns)
    result = Search(np.empty(n_searched, np.int64), np.empty(n_searched, np.int64))
    total = totals(signed) if total is None else total
    work = signed.reshape(-1), total, _work_space(n_chunks, lanes)
    if n_sparse == 0:
        _search(columns, features, *work, *result)
    elif n_sparse == n_searched:
        _search_sparse(columns, features, defaults, *work, *result)
    else:
        for places, search_kernel, default_codes in (
            (np.flatnonzero(~sparse), _search, ()),
            (np.flatnonzero(sparse), _search_sparse, (defaults[sparse],)),
        ):
            found = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
            search_kernel(columns, features[places], *default_codes, *work, *found)
            result.edges[places], result.cuts[places] = found
    return result


_MOST_GATHERED = 2**26  # bytes of columns that are gathered at once


class Leaves:
    """Rows of the leaves; all are in node 0, the root, at first."""

    def __init__(
        self, columns: np.ndarray, defaults: DefaultCodes, signed: np.ndarray, n_threads: int
    ) -> None:
        self.columns, self._defaults, self._n_threads = columns, defaults, n_threads
        self._rows: dict[int, np.ndarray | None] = {0: None}  # all
        self._signed = {0: signed}

    def divide(self, node: int, feature: int, cut: int, first: int) -> tuple:
        """Send the rows of a leaf into two new ones."""
        rows, signed = self._rows.pop(node), self._signed.pop(node)
        codes = self.columns[feature]
        right = (codes if rows is None else codes[rows]) > cut
        sums, weights = np.empty((2, signed.shape[1]), np.int64), np.empty(2, np.int64)
        for i, there in enumerate((~right, right)):
            places = np.flatnonzero(there)
            self._rows[first + i] = places if rows is None else rows[places]
            self._signed[first + i] = signed[places]
            sums[i] = totals(self._signed[first + i])
            weights[i] = np.abs(self._signed[first + i]).sum(dtype=np.int64)
        return sums, weights

    def gathered(
        self, node: int, features: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Blocks of features on the rows of a leaf that is not the root."""
        rows, signed = self._rows[node], self._signed[node]
        size = max(1, _MOST_GATHERED // max(1, len(rows)))
        for begin in range(0, len(features), size):
            block = slice(begin, begin + size)
            yield block, rows, signed, self._defaults.of(features[block])

    def search(self, node: int, features: np.ndarray, total: np.ndarray) -> Search:
        """Best cut of each feature on the rows of a leaf that is not the root."""
        parts = [
            search(self.columns, features[block], signed, self._n_threads, rows, defaults, total)
            for block, rows, signed, defaults in self.gathered(node, features)
        ]
        return Search(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def leaf_of(self) -> np.ndarray:
        """Node in which each row is, (n_samples,) int64."""
        of_row = np.zeros(self.columns.shape[1], dtype=np.int64)
        for node, rows in self._rows.items():
            if rows is not None:
                of_row[rows] = node
        return of_row
