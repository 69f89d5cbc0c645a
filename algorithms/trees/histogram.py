"""Histograms of gradients, hessians and counts, built tile by tile; all sums are exact integers.

Rows carry 32-bit integers: gradient and hessian on their grids and, where rows have weights that
are small whole numbers, the weight. Within a block of rows that together weigh at most 2**15 the
hessian sum and the count share one 64-bit integer, so that one two-lane addition updates all three
sums of a bin. Rows of other weights carry 64-bit integers that hold the weight already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from ..kernels.simd import add_to_bin
from .binning import Layout

# hessian <= 2**30, so rows of weight 2**15 sum to at most 2**45; 17 bits below it hold their count.
_BLOCK = 1 << 15
_COUNT_BITS = 17
_COUNT_MASK = (1 << _COUNT_BITS) - 1


MOST_PACKED = 128
"""Largest weight of a row in the 32-bit form: a block of fewer rows would not be worth emptying."""


class Histograms(NamedTuple):
    """Sums for each slot and histogram entry, and the scratch space of each tile."""

    gradient: np.ndarray  # (n_slots, n_entries) int64
    hessian: np.ndarray  # (n_slots, n_entries) int64
    count: np.ndarray  # (n_slots, n_entries) int64
    packed: np.ndarray  # (n_tiles, 2 * 256 * widest tile) int64, zero between uses


def allocate(layout: Layout, n_slots: int) -> Histograms:
    """Return histograms for `n_slots` nodes at a time."""
    shape = (n_slots, int(layout.column_code[-1]))
    widest = int(np.diff(layout.tile_column).max())
    return Histograms(
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.zeros((len(layout.tile_start), 2 * 256 * widest), dtype=np.int64),
    )


@kernel
def of_row(gh, row):
    """Gradient, hessian and weight of a row, the first two times the third."""
    g, h = np.int64(gh[row, 0]), np.int64(gh[row, 1])
    if gh.shape[1] == 2:
        return g, h, np.int64(1)
    n = np.int64(gh[row, 2])
    if gh.itemsize == 4:
        return g * n, h * n, n
    return g, h, n


@kernel
def _accumulate(layout, tile, rows, start, stop, gh, packed):
    """Add rows[start:stop] to the packed scratch histogram of a tile.

    There each column has room for 256 codes, so that the address of a bin takes no look-up.
    """
    width = layout.tile_column[tile + 1] - layout.tile_column[tile]
    codes, origin = layout.codes, layout.tile_start[tile]
    weighted = gh.shape[1] == 3
    for row in rows[start:stop]:
        g = np.int64(gh[row, 0])
        h = (np.int64(gh[row, 1]) << _COUNT_BITS) + 1
        if weighted:
            g *= np.int64(gh[row, 2])
            h *= np.int64(gh[row, 2])
        base = origin + np.int64(row) * width
        for c in range(width):
            add_to_bin(packed, c << 8, codes, base + c, g, h)


@kernel
def _unpack(packed, g, h, n):
    """Move the packed sums of a column to their own arrays and empty them."""
    for e in range(g.shape[0]):
        both = packed[2 * e + 1]
        g[e] = packed[2 * e]
        h[e] = both >> _COUNT_BITS
        n[e] = both & _COUNT_MASK
    packed[:] = 0


@kernel
def _unpack_more(packed, g, h, n):
    """Add the packed sums of a column to their own arrays and empty them."""
    for e in range(g.shape[0]):
        both = packed[2 * e + 1]
        g[e] += packed[2 * e]
        h[e] += both >> _COUNT_BITS
        n[e] += both & _COUNT_MASK
    packed[:] = 0


@kernel
def _end_of_block(rows, begin, stop, gh):
    """As many rows as together weigh at most ``_BLOCK``."""
    if gh.shape[1] == 2:
        return min(stop, begin + _BLOCK)
    weight, end = np.int64(0), begin
    while end < stop:
        weight += np.int64(gh[rows[end], 2])
        if weight > _BLOCK:
            break
        end += 1
    return end


@kernel
def _build_packed(layout, tile, rows, start, stop, gh, hists, slot):
    first, last = layout.tile_column[tile], layout.tile_column[tile + 1]
    begin = start
    while begin < stop:
        end = _end_of_block(rows, begin, stop, gh)
        _accumulate(layout, tile, rows, begin, end, gh, hists.packed[tile])
        for c in range(first, last):
            e0, e1 = layout.column_code[c], layout.column_code[c + 1]
            at = 512 * (c - first)
            sums = hists.packed[tile, at : at + 2 * (e1 - e0)]
            g, h = hists.gradient[slot, e0:e1], hists.hessian[slot, e0:e1]
            if begin == start:
                _unpack(sums, g, h, hists.count[slot, e0:e1])
            else:
                _unpack_more(sums, g, h, hists.count[slot, e0:e1])
        begin = end


@kernel
def _build_weighted(layout, tile, rows, start, stop, gh, hists, slot):
    first = layout.tile_column[tile]
    width = layout.tile_column[tile + 1] - first
    entry0, entry1 = layout.column_code[first], layout.column_code[first + width]
    g, h, n = hists.gradient[slot], hists.hessian[slot], hists.count[slot]
    g[entry0:entry1] = 0
    h[entry0:entry1] = 0
    n[entry0:entry1] = 0
    for i in range(start, stop):
        row = np.int64(rows[i])
        base = layout.tile_start[tile] + row * width
        for c in range(width):
            e = layout.column_code[first + c] + np.int64(layout.codes[base + c])
            g[e] += gh[row, 0]
            h[e] += gh[row, 1]
            n[e] += gh[row, 2]


@kernel
def build(layout, tile, rows, start, stop, gh, hists, slot):
    """Histogram of a tile's columns over rows[start:stop], written to `slot`.

    Parameters
    ----------
    gh : ndarray of shape (n_samples, 2) or (n_samples, 3), int32, or (n_samples, 3), int64
        Gradient and hessian on their grids, and the row weight on its grid. The 32-bit form is for
        weights of 1 (two columns) and for whole ones of at most :data:`MOST_PACKED`; in the 64-bit
        form gradient and hessian are multiplied by the weight already. :func:`of_row` reads both.
    """
    if gh.itemsize == 4:
        _build_packed(layout, tile, rows, start, stop, gh, hists, slot)
    else:
        _build_weighted(layout, tile, rows, start, stop, gh, hists, slot)


@kernel
def subtract(layout, tile, hists, parent, child):
    """Turn the parent's histogram into that of the other child, in place."""
    entry0 = layout.column_code[layout.tile_column[tile]]
    entry1 = layout.column_code[layout.tile_column[tile + 1]]
    for sums in (hists.gradient, hists.hessian, hists.count):
        a, b = sums[parent, entry0:entry1], sums[child, entry0:entry1]
        for e in range(a.shape[0]):
            a[e] -= b[e]


@kernel
def totals(layout, tile, hists, slot, out):
    """Gradient, hessian and count over all rows of the slot, from the tile's first column."""
    first = layout.tile_column[tile]
    out[:] = 0
    for e in range(layout.column_code[first], layout.column_code[first + 1]):
        out[0] += hists.gradient[slot, e]
        out[1] += hists.hessian[slot, e]
        out[2] += hists.count[slot, e]
