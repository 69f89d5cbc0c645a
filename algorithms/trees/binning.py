"""Binning of features, and the bundled, tiled layout in which the kernels read the bins.

The rule for the edges is stated in :func:`bin_edges`; the reference has its own lines for it. How
bins are laid out in memory changes speed only, never a result, because histograms are exact sums.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ..kernels.decorators import allocating_kernel, kernel
from ..kernels.simd import LANES, count_below
from ..validation.sparse_rows import SparseColumns
from .bundling import Bundle, LentColumns, bundles

MAX_BINS = 255  # with one more for missing values, a bin number fits in one byte
ALL_PRESENT = float(np.finfo(np.float64).max)
"""Threshold that no number is above: all values that are present go left, missing ones right."""

_TILE_WIDTH = 64  # bytes of a cache line: few rows of a small leaf share one
_FEW_COLUMNS = 32
"""Up to so many columns are kept a second time, each by itself, for :mod:`~.partition`.

It reads one column. In tiles that is a cache line for every row of a small leaf, as much as the
histogram reads for all columns of the tile; with many columns it is little beside the histograms,
and the second copy not worth its memory.
"""


def bin_edges(
    values: np.ndarray,
    counts: np.ndarray | None,
    max_bins: int,
    scratch: np.ndarray | None = None,
) -> np.ndarray:
    """Edges between the bins of one feature; ``x <= edge`` goes left."""
    if counts is None:
        low, high, some_missing = _cuts(values, max_bins, scratch)
    else:
        low, high, some_missing = _cuts_weighted(values, counts, max_bins)
    low, high = (part.astype(np.float64) + 0.0 for part in (low, high))  # -0.0 counts as 0.0
    middle = 0.5 * low + 0.5 * high
    edges = np.where((low <= middle) & (middle < high), middle, low)
    return np.append(edges, ALL_PRESENT) if some_missing else edges


def _n_present(ordered: np.ndarray) -> int:
    """How many of the values, in rising order, are numbers: missing ones are last."""
    some_missing = len(ordered) > 0 and np.isnan(ordered[-1])
    return int(np.searchsorted(ordered, np.nan)) if some_missing else len(ordered)


def _cuts(
    values: np.ndarray, max_bins: int, scratch: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Neighbouring distinct values with an edge between them, in little more than one copy.

    The third is whether values are missing.
    """
    ordered = np.empty_like(values) if scratch is None else scratch
    ordered[:] = values
    ordered.sort()
    some_missing = (n_present := _n_present(ordered)) < len(ordered)
    ordered = ordered[:n_present]
    new = ordered[1:] != ordered[:-1]
    if np.count_nonzero(new) < max_bins:
        at = np.flatnonzero(new)
        return ordered[at], ordered[at + 1], some_missing
    # The smallest value of cumulative count >= j n / B is the one at that rank, rounded up.
    ranks = -(-np.arange(1, max_bins, dtype=np.int64) * len(ordered) // max_bins)
    low = np.unique(ordered[ranks - 1])
    low = low[low < ordered[-1]]
    return low, ordered[np.searchsorted(ordered, low, side="right")], some_missing


def _cuts_weighted(
    values: np.ndarray, counts: np.ndarray, max_bins: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """The same, counting row weights."""
    order = _rising(values)
    ordered = values[order]
    some_missing = (n_present := _n_present(ordered)) < len(ordered)
    if n_present == 0:
        return ordered[:0], ordered[:0], some_missing
    order, ordered = order[:n_present], ordered[:n_present]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    distinct = ordered[last]
    del ordered  # memory for what follows
    cumulative = counts[order]
    np.cumsum(cumulative, out=cumulative)
    cumulative = cumulative[last]
    if len(distinct) <= max_bins:
        return distinct[:-1], distinct[1:], some_missing
    targets = np.arange(1, max_bins, dtype=np.int64) * cumulative[-1]
    cuts = np.unique(np.searchsorted(cumulative * max_bins, targets, side="left"))
    cuts = cuts[cuts < len(distinct) - 1]
    return distinct[cuts], distinct[cuts + 1], some_missing


def _rising(values: np.ndarray) -> np.ndarray:
    """Rows in the order of rising values, missing ones last; the order of equal ones is any.

    Values that 32 bits hold are sorted together with their rows, as integers: numpy sorts numbers
    on vector units, but not row numbers by them. That is five times as fast.
    """
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    if len(values) > 2**32 or not np.array_equal(narrow, values):
        return np.argsort(values, kind="stable")
    bits = narrow.view(np.int32)
    bits ^= (bits >> 31) & np.int32(2**31 - 1)  # of negative numbers all but the sign is reversed
    keys = bits.astype(np.int64) << 32
    keys |= np.arange(len(values))
    keys.sort()
    keys &= 2**32 - 1
    return keys


@allocating_kernel
def _bin_column(values, edges, codes):
    """The number of edges below each value, all if it is missing; sixteen values side by side."""
    n_samples, n_edges, n_steps = values.shape[0], edges.shape[0], 0
    while (1 << n_steps) <= n_edges:
        n_steps += 1
    padded = np.full((1 << n_steps) - 1, np.inf)
    for e in range(n_edges):
        padded[e] = edges[e]
    lanes, counts = np.zeros(LANES), np.empty(LANES, dtype=np.int16)
    for first in range(0, n_samples, LANES):
        n_lanes = min(LANES, n_samples - first)
        for lane in range(n_lanes):
            x = values[first + lane]
            lanes[lane] = np.inf if x != x else x
        count_below(padded, 0, n_steps, lanes, counts, 0, 0)
        for lane in range(n_lanes):
            codes[first + lane] = counts[lane]


class Layout(NamedTuple):
    """Where the kernels find the bins (all arrays are read only while trees grow).

    A *column* holds one byte a row: the bins of one feature, or of several features that never
    leave their most frequent bin in the same row ("exclusive feature bundling" without conflicts,
    so that histograms stay exact). A *tile* is a group of columns stored row by row.
    """

    codes: np.ndarray  # uint8, all tiles one after the other
    columns: np.ndarray  # (n_columns, n_samples) uint8, the same column by column, or (0, 0)
    tile_start: np.ndarray  # (n_tiles,) offset of the tile in `codes`
    tile_column: np.ndarray  # (n_tiles + 1,) first column of the tile
    column_code: np.ndarray  # (n_columns + 1,) first histogram entry of the column
    tile_feature: np.ndarray  # (n_tiles + 1,) first position of the tile in `tile_features`
    tile_features: np.ndarray  # (n_features,) the features, tile by tile
    feature_column: np.ndarray  # (n_features,)
    feature_code: np.ndarray  # (n_features,) code of the first bin that is not the default bin
    feature_default: np.ndarray  # (n_features,) default bin in a bundle, -1 outside one
    feature_n_bins: np.ndarray  # (n_features,)
    feature_missing: np.ndarray  # (n_features,) bool, whether the last bin is of missing values


class BinnedMatrix(NamedTuple):
    """A binned training set: its layout and, for each feature, the edges."""

    layout: Layout
    edges: list[np.ndarray]
    n_samples: int


@kernel
def _merge_bundled(bins, default, first_code, codes):
    """Write a bundled feature's bins into its column; rows in the default bin keep theirs."""
    for i in range(bins.shape[0]):
        b = np.int64(bins[i])
        if b != default:
            codes[i] = first_code + (b if b < default else b - 1)


@kernel
def _write_column(codes, column, out, width):
    for i in range(codes.shape[0]):
        out[i * width + column] = codes[i]


_ROWS_FOR_THREADS = 10_000
"""With fewer, handing features to threads costs more than it saves."""

_ROWS_AT_ONCE = 2**14
"""So many rows are read column by column: then their cache lines are still in the cache.

A table that lies row by row would be read from memory anew for each column. A multiple of 64.
"""

_WORDS_AT_ONCE = 8
"""Of each row, copied for sorting by all threads together: a column of 64 bits, or two of 32, each.

One thread alone copies half of them, for more of a cache line hardly saves time; and where rows
have weights, which take memory of their own while columns are sorted, all do.
"""


def _even_blocks(n_features: int, most: int, n_threads: int) -> list[range]:
    """Neighbouring features, at most so many, in as many even blocks for each thread."""
    n_blocks = min(n_features, n_threads * -(-n_features // (n_threads * most)))
    ends = [n_features * b // n_blocks for b in range(n_blocks + 1)]
    return [range(a, b) for a, b in itertools.pairwise(ends)]


def _columns(
    X: np.ndarray | SparseColumns, features: range, copies: np.ndarray
) -> Iterable[np.ndarray]:
    """Copies of neighbouring columns, in the memory given if the table is dense."""
    if isinstance(X, SparseColumns):
        return (X[:, feature] for feature in features)
    copies = copies[: len(features)]
    for first in range(0, len(X), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        copies[:, rows] = X[rows, features.start : features.stop].T
    return copies


@contextlib.contextmanager
def _each(n_threads: int) -> Iterator[Callable]:
    """Give a ``map`` by so many threads; by one it is Python's own, which hands nothing over."""
    if n_threads == 1:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield pool.map


def _write_codes(
    X: np.ndarray | SparseColumns,
    edges: list[np.ndarray],
    columns: list[Bundle],
    layout: Layout,
    each: Callable,
) -> None:
    """Fill a layout, some rows of a tile at a time."""
    n_samples = len(X)
    widths = np.diff(layout.tile_column)

    def write(tile: int, column: int, first: int, last: int) -> None:
        n_rows, start, width = last - first, layout.tile_start[tile], widths[tile]
        out = layout.codes[start + first * width : start + last * width]
        kept = len(layout.columns) > 0
        codes = layout.columns[column, first:last] if kept else np.zeros(n_rows, dtype=np.uint8)
        values = np.empty(n_rows)
        for feature in columns[column].features:
            values[:], default = X[first:last, feature], layout.feature_default[feature]
            if default < 0:
                _bin_column(values, edges[feature], codes)
            else:
                bins = np.empty(n_rows, dtype=np.uint8)
                _bin_column(values, edges[feature], bins)
                _merge_bundled(bins, default, layout.feature_code[feature], codes)
        _write_column(codes, column - layout.tile_column[tile], out, width)

    n_at_once = n_samples if isinstance(X, SparseColumns) else _ROWS_AT_ONCE

    # Threads that write to the same cache line wait for each other: here only at a task's ends.
    def write_block(task: tuple[int, int]) -> None:
        first, tile = task
        for column in range(layout.tile_column[tile], layout.tile_column[tile + 1]):
            write(tile, column, first, min(first + n_at_once, n_samples))

    list(each(write_block, itertools.product(range(0, n_samples, n_at_once), range(len(widths)))))


def bin_matrix(
    X: np.ndarray | SparseColumns,
    counts: np.ndarray | None,
    max_bins: int,
    n_threads: int,
    edges: list[np.ndarray] | None = None,
) -> BinnedMatrix:
    """Bin all features and lay the bins out for the kernels."""
    n_samples, n_features = X.shape
    given = edges

    def measure(
        feature: int, column: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, int, np.ndarray | None]:
        values[:] = column
        if given is None:
            edges = bin_edges(values, counts, max_bins, scratch=column)
        else:
            edges = given[feature]
        default, rows = -1, None
        # Only features that mostly sit in one bin are worth bundling.
        sample = np.searchsorted(edges, values[:: max(1, n_samples // 1000)], side="left")
        occupied = np.bincount(sample)
        if len(edges) and occupied.max() > 0.6 * len(sample):
            default = int(np.argmax(occupied))
            low = edges[default - 1] if default > 0 else -np.inf
            high = edges[default] if default < len(edges) else np.inf
            outside = (values <= low) | (values > high)
            if default < len(edges) and edges[-1] == ALL_PRESENT:
                outside |= np.isnan(values)
            if np.count_nonzero(outside) < 0.4 * n_samples:
                rows = np.packbits(outside)
        return edges, default, rows

    def measure_block(features: range, memory: np.ndarray) -> list:
        copies = memory[1:].reshape(-1).view(X.dtype).reshape(-1, n_samples)
        read = zip(features, _columns(X, features, copies), strict=True)
        return [measure(feature, column, memory[0]) for feature, column in read]

    at_once = min(n_threads, n_features) if n_samples >= _ROWS_FOR_THREADS else 1
    with _each(at_once) as each:
        shares = max(2, at_once) if counts is None else 2 * at_once
        n_words = max(1, _WORDS_AT_ONCE // shares)
        lent = LentColumns(at_once, 1 + n_words, n_samples)
        blocks = _even_blocks(n_features, 8 * n_words // X.dtype.itemsize, at_once)
        measured = list(itertools.chain.from_iterable(each(lent.to(measure_block), blocks)))
        del lent  # before there are bins
        edges = [m[0] for m in measured]
        n_bins = np.array([len(e) + 1 for e in edges], dtype=np.int64)
        sparse_rows = {f: m[2] for f, m in enumerate(measured) if m[2] is not None}
        defaults = np.array([m[1] for m in measured], dtype=np.int64)
        del measured
        columns = bundles(sparse_rows, n_bins, n_features)
        missing = np.array([len(e) > 0 and e[-1] == ALL_PRESENT for e in edges], dtype=bool)
        layout = _place(columns, n_bins, missing, defaults, n_samples, n_threads)
        _write_codes(X, edges, columns, layout, each)
    return BinnedMatrix(layout, edges, n_samples)


def without_rows(edges: list[np.ndarray]) -> BinnedMatrix:
    """Layout of histograms that others build: a column for each feature, and no rows."""
    n_bins = np.array([len(e) + 1 for e in edges], dtype=np.int64)
    missing = np.array([len(e) > 0 and e[-1] == ALL_PRESENT for e in edges], dtype=bool)
    columns = bundles({}, n_bins, len(edges))
    defaults = np.full(len(edges), -1, dtype=np.int64)
    return BinnedMatrix(_place(columns, n_bins, missing, defaults, 0, 1), edges, 0)


def _place(
    columns: list[Bundle],
    n_bins: np.ndarray,
    missing: np.ndarray,
    defaults: np.ndarray,
    n_samples: int,
    n_threads: int,
) -> Layout:
    """Split the columns into tiles of even width and number everything."""
    n_columns, n_features = len(columns), len(n_bins)
    # A whole number of tiles for each thread, as even as can be: all wait for the last one.
    n_tiles = min(n_columns, n_threads * -(-n_columns // (n_threads * _TILE_WIDTH)))
    tile_column = np.array([n_columns * t // n_tiles for t in range(n_tiles + 1)], dtype=np.int64)
    feature_column = np.empty(n_features, dtype=np.int64)
    feature_code = np.zeros(n_features, dtype=np.int64)
    feature_default = np.full(n_features, -1, dtype=np.int64)
    for column, bundle in enumerate(columns):
        code = 1
        for feature in bundle.features:
            feature_column[feature] = column
            if len(bundle.features) > 1:
                feature_default[feature] = defaults[feature]
                feature_code[feature] = code
                code += int(n_bins[feature]) - 1
    column_code = np.cumsum([0] + [b.n_codes for b in columns], dtype=np.int64)
    tile_features = [
        f
        for t in range(n_tiles)
        for column in range(tile_column[t], tile_column[t + 1])
        for f in columns[column].features
    ]
    tile_feature = np.cumsum(
        [0]
        + [
            sum(len(columns[c].features) for c in range(tile_column[t], tile_column[t + 1]))
            for t in range(n_tiles)
        ],
        dtype=np.int64,
    )
    return Layout(
        codes=np.zeros(n_samples * n_columns, dtype=np.uint8),
        columns=np.zeros((n_columns, n_samples) if n_columns <= _FEW_COLUMNS else (0, 0), np.uint8),
        tile_start=tile_column[:-1] * n_samples,
        tile_column=tile_column,
        column_code=column_code,
        tile_feature=tile_feature,
        tile_features=np.array(tile_features, dtype=np.int64),
        feature_column=feature_column,
        feature_code=feature_code,
        feature_default=feature_default,
        feature_n_bins=n_bins,
        feature_missing=missing,
    )
