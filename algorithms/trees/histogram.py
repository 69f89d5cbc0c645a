"""Histograms of gradients, hessians and counts, built tile by tile; all sums are exact integers.

What a row adds to a bin is made once for each node, in the order of its rows, as one to four 64-bit
words, which one addition brings into the bin:

=======  ===============================================================================
1 word   gradient and count share it; for equal hessians, whose sum is a multiple of the count
2 words  the gradient; hessian and count share the other
4 words  gradient, hessian, count, and nothing: for weights that are not small whole numbers
=======  ===============================================================================

Shared words hold what a block of rows can sum to: one whose rows together weigh less than 2**16.
After each block they are taken apart.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from ..kernels.simd import BIN_STRIDE, add_pairs, add_quadruples, add_words, prefetch
from .binning import Layout
from .partition import AHEAD, CHUNK, PARALLEL_ROWS

# A gradient or hessian is at most 2**30, so those of a block sum to less than 2**46 and fit, with a
# sign, above the 17 bits of the count.
_COUNT_BITS = 17
_COUNT_MASK = (1 << _COUNT_BITS) - 1
_BLOCK = (1 << 16) - 1

MOST_PACKED = 128
"""Largest weight of a row in the 32-bit form: a block of fewer rows would not be worth emptying."""

# A 64-bit number is read as two of 32: kernels that were given both types were compiled twice.
_HALVES = 6
_LOW = 0 if sys.byteorder == "little" else 1


class Histograms(NamedTuple):
    """Sums for each slot and histogram entry, and scratch space."""

    gradient: np.ndarray  # (n_slots, n_entries) int64
    hessian: np.ndarray  # (n_slots, n_entries) int64
    count: np.ndarray  # (n_slots, n_entries) int64
    packed: np.ndarray  # (n_tiles, n_words * BIN_STRIDE * widest tile) int64, zero between uses
    words: np.ndarray  # (n_samples, n_words) int64, what rows add to a bin, ordered by leaf
    chunk_sums: np.ndarray  # (2, n_chunks, 3) int64: gradient, hessian and count of two nodes


def words_of(gh: np.ndarray, equal_hessians: bool) -> int:
    """Words in which a row's gradient, hessian and count fit."""
    if gh.dtype == np.int64:
        return 4
    return 1 if equal_hessians else 2


def allocate(layout: Layout, n_slots: int, n_samples: int, n_words: int) -> Histograms:
    """Return histograms for `n_slots` nodes at a time, of rows that take so many words."""
    shape = (n_slots, int(layout.column_code[-1]))
    widest = int(np.diff(layout.tile_column).max())
    return Histograms(
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.zeros((len(layout.tile_start), n_words * BIN_STRIDE * widest), dtype=np.int64),
        np.zeros((n_samples, n_words), dtype=np.int64),
        np.zeros((2, n_samples // CHUNK + 1, 3), dtype=np.int64),
    )


def in_halves(gh: np.ndarray) -> np.ndarray:
    """Derivatives as the kernels that grow trees read them, of one type whatever their form."""
    return gh.view(np.int32)


def weights_of(gh: np.ndarray) -> NDArray[np.integer] | None:
    """Weights of rows on their grid, of what :func:`in_halves` gave; None where all are 1."""
    if gh.shape[1] == _HALVES:
        return gh.view(np.int64)[:, 2]
    return gh[:, 2] if gh.shape[1] == 3 else None


@kernel
def _joined(gh, at, k):
    """The 64-bit number of a row that stands in two columns from `k` on."""
    low = np.int64(gh[at, k + _LOW]) & np.int64(0xFFFFFFFF)
    return (np.int64(gh[at, k + 1 - _LOW]) << np.int64(32)) | low


@kernel
def of_row(gh: np.ndarray, row: int) -> tuple[int, int, int]:
    """Gradient, hessian and weight of a row, the first two times the third."""
    return _of_wide_row(gh, row) if gh.shape[1] == _HALVES else _of_narrow_row(gh, row)


@kernel
def _of_wide_row(gh, row):
    at = np.uint64(row)  # a signed number would be looked at for being negative
    return _joined(gh, at, 0), _joined(gh, at, 2), _joined(gh, at, 4)


@kernel
def _of_narrow_row(gh, row):
    at = np.uint64(row)
    if gh.shape[1] == 1:
        return np.int64(gh[at, 0]), np.int64(gh[gh.shape[0] - 1, 0]), np.int64(1)
    g, h = np.int64(gh[at, 0]), np.int64(gh[at, 1])
    if gh.shape[1] == 2:
        return g, h, np.int64(1)
    n = np.int64(gh[at, 2])
    return g * n, h * n, n


# --- what rows add to a bin --------------------------------------------------------------------


@kernel
def _collect_chunk(c, rows, start, stop, gh, words, chunk_sums):
    """Write the words of a chunk of rows[start:stop], and sum up what they stand for.

    Each number of words has a loop of its own: in one for all LLVM asks anew at each row.
    """
    start, stop = start + c * CHUNK, min(stop, start + (c + 1) * CHUNK)
    n_words = words.shape[1]
    sum_g = sum_h = sum_n = np.int64(0)
    flat, width, last = gh.reshape(-1), np.int64(gh.shape[1]), np.uint64(stop - 1)
    if n_words == 4:
        for i in range(np.uint64(start), np.uint64(stop)):
            prefetch(flat, np.int64(rows[min(i + np.uint64(AHEAD), last)]) * width)
            g, h, n = _of_wide_row(gh, rows[i])
            sum_g += g
            sum_h += h
            sum_n += n
            words[i, 0], words[i, 1], words[i, 2] = g, h, n
    elif n_words == 2:
        for i in range(np.uint64(start), np.uint64(stop)):
            prefetch(flat, np.int64(rows[min(i + np.uint64(AHEAD), last)]) * width)
            g, h, n = _of_narrow_row(gh, rows[i])
            sum_g += g
            sum_h += h
            sum_n += n
            words[i, 0], words[i, 1] = g, (h << _COUNT_BITS) + n
    else:
        for i in range(np.uint64(start), np.uint64(stop)):
            prefetch(flat, np.int64(rows[min(i + np.uint64(AHEAD), last)]) * width)
            g, h, n = _of_narrow_row(gh, rows[i])
            sum_g += g
            sum_h += h
            sum_n += n
            words[i, 0] = (g << _COUNT_BITS) + n
    chunk_sums[c, 0], chunk_sums[c, 1], chunk_sums[c, 2] = sum_g, sum_h, sum_n


@kernel
def collect(
    rows: Any,
    start: int,
    stop: int,
    gh: NDArray[np.int32],
    words: NDArray[np.int64],
    chunk_sums: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Make the words of a node's rows, and sum up what they stand for."""
    n_chunks = (stop - start + CHUNK - 1) // CHUNK
    captured = rows, start, stop, gh, words, chunk_sums
    for_each(_collect_chunk, n_chunks, stop - start > PARALLEL_ROWS, captured)
    out[:] = 0
    for c in range(n_chunks):
        for k in range(out.shape[0]):
            out[k] += chunk_sums[c, k]


# --- summing them up by bin --------------------------------------------------------------------


@kernel
def _end_of_block(begin, start, stop, words, chunk_sums):
    """Where a block that begins at row `begin` of a node ends: its rows weigh at most `_BLOCK`.

    It holds as many whole chunks as fit, or a part of one that is too heavy by itself.
    """
    weight, chunk = np.int64(0), (begin - start) // CHUNK
    if start + chunk * CHUNK == begin:
        while begin < stop and weight + chunk_sums[chunk, 2] <= _BLOCK:
            weight += chunk_sums[chunk, 2]
            chunk += 1
            begin = min(stop, start + chunk * CHUNK)
        if weight > 0:
            return begin
    stop = min(stop, start + (chunk + 1) * CHUNK)
    last = words.shape[1] - 1
    while begin < stop and weight + (words[begin, last] & _COUNT_MASK) <= _BLOCK:
        weight += words[begin, last] & _COUNT_MASK
        begin += 1
    return begin


@kernel
def _accumulate(layout, tile, rows, begin, end, stop, words, packed):
    """Add rows[begin:end] to the scratch histogram of a tile.

    There each column has room for all codes, so that the address of a bin takes no look-up.
    """
    width = layout.tile_column[tile + 1] - layout.tile_column[tile]
    codes, origin, n_words = layout.codes, layout.tile_start[tile], words.shape[1]
    last = np.uint64(stop - 1)
    for place in range(np.uint64(begin), np.uint64(end)):
        ahead = origin + np.int64(rows[min(place + np.uint64(AHEAD), last)]) * width
        prefetch(codes, ahead)
        prefetch(codes, ahead + width - 1)
        at, i = origin + np.int64(rows[place]) * width, np.int64(place)
        if n_words == 1:
            add_words(packed, codes, at, width, words, i)
        elif n_words == 2:
            add_pairs(packed, codes, at, width, words, i)
        else:
            add_quadruples(packed, codes, at, width, words, i)


@kernel
def _unpack(packed, n_words, kept, g, h, n):
    """Write the packed sums of a column to their own arrays, and empty them.

    `kept` is 0, or -1 where what the arrays hold is added to: all bits of it stay.
    """
    for e in range(g.shape[0]):
        if n_words == 1:
            g[e] = (g[e] & kept) + (packed[e] >> _COUNT_BITS)
            n[e] = (n[e] & kept) + (packed[e] & _COUNT_MASK)
        elif n_words == 2:
            g[e] = (g[e] & kept) + packed[2 * e]
            h[e] = (h[e] & kept) + (packed[2 * e + 1] >> _COUNT_BITS)
            n[e] = (n[e] & kept) + (packed[2 * e + 1] & _COUNT_MASK)
        else:
            g[e] = (g[e] & kept) + packed[4 * e]
            h[e] = (h[e] & kept) + packed[4 * e + 1]
            n[e] = (n[e] & kept) + packed[4 * e + 2]
    packed[:] = 0


@kernel
def build(
    layout: Layout,
    tile: int,
    rows: Any,
    start: int,
    stop: int,
    gh: np.ndarray,
    hists: Histograms,
    which: int,
    slot: int,
) -> None:
    """Histogram of a tile's columns over rows[start:stop], written to `slot`."""
    first, last = layout.tile_column[tile], layout.tile_column[tile + 1]
    all_g, all_h = hists.gradient[slot], hists.hessian[slot]
    all_n, packed, n_words = hists.count[slot], hists.packed[tile], hists.words.shape[1]
    begin, kept, complete = start, np.int64(0), False
    while not complete:  # once without rows, too: what the slot holds is of another node
        end = stop
        if n_words < 4:
            end = _end_of_block(begin, start, stop, hists.words, hists.chunk_sums[which])
        _accumulate(layout, tile, rows, begin, end, stop, hists.words, packed)
        for c in range(first, last):
            e0, e1 = layout.column_code[c], layout.column_code[c + 1]
            at = n_words * BIN_STRIDE * (c - first)
            sums = packed[at : at + n_words * (e1 - e0)]
            _unpack(sums, n_words, kept, all_g[e0:e1], all_h[e0:e1], all_n[e0:e1])
        begin, kept, complete = end, np.int64(-1), end >= stop
    if n_words == 1:
        hessian = np.int64(gh[gh.shape[0] - 1, 0] if gh.shape[1] == 1 else gh[0, 1])
        for e in range(layout.column_code[first], layout.column_code[last]):
            all_h[e] = hessian * all_n[e]


@kernel
def subtract(layout: Layout, tile: int, hists: Histograms, parent: int, child: int) -> None:
    """Turn the parent's histogram into that of the other child, in place."""
    entry0 = layout.column_code[layout.tile_column[tile]]
    entry1 = layout.column_code[layout.tile_column[tile + 1]]
    for sums in (hists.gradient, hists.hessian, hists.count):
        a, b = sums[parent, entry0:entry1], sums[child, entry0:entry1]
        for e in range(a.shape[0]):
            a[e] -= b[e]
