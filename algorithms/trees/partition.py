"""Reordering the rows of a node by the side of a split they fall on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from ..kernels.simd import prefetch

if TYPE_CHECKING:
    from .binning import Layout

# Fewer rows than this are not worth a parallel region.
PARALLEL_ROWS = 16_384
CHUNK = 4_096

AHEAD = 16
"""Rows whose codes are on their way while one is worked on.

Rows of a small node lie far apart; by itself the processor has only a few fetched at a time.
"""


@kernel
def fill_goes_left(
    layout: Layout, feature: int, cut: int, missing_left: bool, goes_left: NDArray[np.bool_]
) -> None:
    """For each code of the feature's column: 1 if the split sends it left."""
    default = layout.feature_default[feature]
    n_bins = layout.feature_n_bins[feature]
    also = n_bins - 1 if missing_left else -1
    if default < 0:
        for code in range(256):
            goes_left[code] = 1 if code <= cut or code == also else 0
        return
    goes_left[:] = 1 if default <= cut or default == also else 0
    first = layout.feature_code[feature]
    for b in range(n_bins):
        if b != default:
            place = first + (b if b < default else b - 1)
            goes_left[place] = 1 if b <= cut or b == also else 0


@kernel
def _divide_chunk(codes, origin, stride, goes_left, rows, start, stop, scratch, ahead):
    """Left rows to the front of the scratch space, right rows to its back, reversed.

    All places are unsigned: signed ones would each be looked at for being negative, which takes
    longer than all the rest.
    """
    one, end = np.uint64(1), np.uint64(stop)
    origin, stride, last = np.uint64(origin), np.uint64(stride), np.uint64(stop - 1)
    front, back = np.uint64(start), np.uint64(stop - 1)
    for i in range(np.uint64(start), end):
        if ahead > 0:
            coming = np.uint64(rows[min(i + np.uint64(ahead), last)])
            prefetch(codes, np.int64(origin + coming * stride))
        row = rows[i]
        go = np.uint64(goes_left[codes[origin + np.uint64(row) * stride]])
        scratch[front] = row
        scratch[back] = row
        front += go
        back -= one - go
    return np.int64(front) - start


@kernel
def _partition_chunk(c, layout, column, goes_left, rows, start, stop, scratch, n_left):
    """Divide a chunk of the rows by the codes of a column, wherever they lie."""
    start, stop = start + c * CHUNK, min(stop, start + (c + 1) * CHUNK)
    if layout.columns.shape[0] > 0:
        codes = layout.columns[column]
        n_left[c] = _divide_chunk(codes, 0, 1, goes_left, rows, start, stop, scratch, 0)
        return
    tile = np.searchsorted(layout.tile_column, column, side="right") - 1
    width = layout.tile_column[tile + 1] - layout.tile_column[tile]
    origin = layout.tile_start[tile] + column - layout.tile_column[tile]
    codes = layout.codes
    n_left[c] = _divide_chunk(codes, origin, width, goes_left, rows, start, stop, scratch, AHEAD)


@kernel
def _gather_chunk(c, scratch, start, stop, total, n_left, before, rows):
    """Copy a chunk's rows to behind those of the chunks before it, on either side."""
    first, last = start + c * CHUNK, min(stop, start + (c + 1) * CHUNK)
    source, to = np.uint64(first), np.uint64(start + before[c])
    for i in range(np.uint64(n_left[c])):
        rows[to + i] = scratch[source + i]
    source, to = np.uint64(last - 1), np.uint64(first + total - before[c])
    for i in range(np.uint64(last - first - n_left[c])):
        rows[to + i] = scratch[source - i]


@kernel
def partition(
    layout: Layout,
    column: int,
    rows: Any,
    scratch: np.ndarray,
    goes_left: NDArray[np.uint8],
    chunks: NDArray[np.int64],
    start: int,
    stop: int,
) -> int:
    """Reorder rows[start:stop] so that those going left come first; both keep their order."""
    n_left, before = chunks[0], chunks[1]
    n_chunks, shared = (stop - start + CHUNK - 1) // CHUNK, stop - start > PARALLEL_ROWS
    captured = layout, column, goes_left, rows, start, stop, scratch, n_left
    for_each(_partition_chunk, n_chunks, shared, captured)
    total = np.int64(0)
    for c in range(n_chunks):
        before[c] = total
        total += n_left[c]
    for_each(_gather_chunk, n_chunks, shared, (scratch, start, stop, total, n_left, before, rows))
    return start + total
