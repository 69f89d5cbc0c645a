"""Histograms of signed weights by code and label: filled, completed, scanned for the best cut.

Weights are integers, so sums are exact in any order (DESIGN §4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..kernels.decorators import inlined_kernel, kernel
from ..kernels.loops import for_each
from ..kernels.simd import lowest_bit
from .lanes import ADDERS, N_CODES, STEP, WIDEST, add_bins, code_at, other_codes, scan_bins

COLUMNS = 4  # filled together, see _filler
ALL_CODES = np.uint64(2 ** (N_CODES // STEP) - 1)  # as "touched": any code may be present

# A histogram (code, label) of signed weights is kept in slots, one for each 8 labels and perhaps 2
# or 4 more in the last: those of 8 labels first, (N_CODES, 8), then those left over. Slots are no
# multiple of 4 kB apart: processors take addresses with the same last 12 bits for one until they
# know better, so the same code in two columns would wait (2.0 ns instead of 1.1).
_LEFT_AT = N_CODES * WIDEST
SLOT = _LEFT_AT + N_CODES * 4 + 8 * WIDEST


def _filler(block, left):
    """Kernel that fills a slot of each of four columns, with `block` (8 or 0) and `left` labels.

    Four at a time: weights are loaded once for all, and where one value fills a column, as 0 does
    in pictures, four chains of additions to the same place overlap. The numbers are constants, so
    that all addresses of the loop fit into registers.
    """
    add_block, add_left = ADDERS[block], ADDERS[left]

    @kernel
    def fill_slots(codes, others, weights, lanes, slots):
        second, third, fourth = others
        for i in range(codes.shape[0]):
            a, b = code_at(codes, i), code_at(second, i)
            c, d = code_at(third, i), code_at(fourth, i)
            if block:
                places = (
                    a * block,
                    b * block + SLOT,
                    c * block + 2 * SLOT,
                    d * block + 3 * SLOT,
                )
                add_block(slots, places, weights, i * lanes)
            if left:
                places = (
                    a * left + _LEFT_AT,
                    b * left + _LEFT_AT + SLOT,
                    c * left + _LEFT_AT + 2 * SLOT,
                    d * left + _LEFT_AT + 3 * SLOT,
                )
                add_left(slots, places, weights, i * lanes + block)

    return fill_slots


def _sparse_filler(block, left):
    """Kernel that fills a slot of one column with the rows that do not hold its `default` code."""
    add_block, add_left = ADDERS[block], ADDERS[left]

    @kernel
    def add_code(codes, i, weights, lanes, slot):
        code = code_at(codes, i)
        if block:
            add_block(slot, (code * block,), weights, i * lanes)
        if left:
            add_left(slot, (code * left + _LEFT_AT,), weights, i * lanes + block)
        return np.uint64(1) << np.uint64(code // STEP)

    @kernel
    def fill_slot(codes, default, weights, lanes, slot):
        n_rows, touched = codes.shape[0], np.uint64(0)
        for begin in range(0, n_rows - 63, 64):
            others = other_codes(codes, begin, default)
            while others != 0:
                touched |= add_code(codes, begin + lowest_bit(others), weights, lanes, slot)
                others &= others - np.uint64(1)
        for i in range(n_rows - n_rows % 64, n_rows):
            if code_at(codes, i) != default:
                touched |= add_code(codes, i, weights, lanes, slot)
        return touched

    return fill_slot


_fill_8, _fill_8_2, _fill_8_4 = _filler(8, 0), _filler(8, 2), _filler(8, 4)
_fill_2, _fill_4 = _filler(0, 2), _filler(0, 4)
_sparse_8, _sparse_8_2, _sparse_8_4 = (_sparse_filler(8, left) for left in (0, 2, 4))
_sparse_2, _sparse_4 = _sparse_filler(0, 2), _sparse_filler(0, 4)


@kernel
def fill(
    codes: NDArray[np.uint8],
    others: tuple[np.ndarray, np.ndarray, np.ndarray],
    weights: np.ndarray,
    lanes: int,
    sums: NDArray[np.int64],
) -> None:
    """Add the weights of all rows to the histograms of four columns."""
    n, left = n_slots(lanes), lanes % WIDEST
    for p in range(n):
        of_part, slots = weights[p * WIDEST :], sums[p * COLUMNS * SLOT :]
        if p + 1 < n or left == 0:
            _fill_8(codes, others, of_part, lanes, slots)
        elif lanes == 2:
            _fill_2(codes, others, of_part, lanes, slots)
        elif lanes == 4:
            _fill_4(codes, others, of_part, lanes, slots)
        elif left == 2:
            _fill_8_2(codes, others, of_part, lanes, slots)
        else:
            _fill_8_4(codes, others, of_part, lanes, slots)


@kernel
def fill_sparse(
    codes: NDArray[np.uint8], default: int, weights: np.ndarray, lanes: int, sums: NDArray[np.int64]
) -> int:
    """Add the weights of the rows that do not hold the default code to a column's histogram."""
    n, left, touched = n_slots(lanes), lanes % WIDEST, np.uint64(0)
    for p in range(n):
        of_part, slot = weights[p * WIDEST :], sums[p * SLOT :]
        if p + 1 < n or left == 0:
            touched = _sparse_8(codes, default, of_part, lanes, slot)
        elif lanes == 2:
            touched = _sparse_2(codes, default, of_part, lanes, slot)
        elif lanes == 4:
            touched = _sparse_4(codes, default, of_part, lanes, slot)
        elif left == 2:
            touched = _sparse_8_2(codes, default, of_part, lanes, slot)
        else:
            touched = _sparse_8_4(codes, default, of_part, lanes, slot)
    return touched


_add_2, _add_4, _add_8 = ADDERS[2], ADDERS[4], ADDERS[8]


@kernel
def add_row(weights: np.ndarray, i: int, lanes: int, place: int, sums: np.ndarray) -> None:
    """``sums[place : place + lanes] +=`` the weights of row `i`; all flat, as for :func:`fill`."""
    left = lanes % WIDEST
    for label in range(0, lanes - left, WIDEST):
        _add_8(sums, (place + label,), weights, i * lanes + label)
    if left == 4:
        _add_4(sums, (place + lanes - left,), weights, i * lanes + lanes - left)
    elif left == 2:
        _add_2(sums, (place + lanes - left,), weights, i * lanes + lanes - left)


@kernel
def n_slots(lanes: int) -> int:
    """Slots of a histogram."""
    return max(1, lanes // WIDEST)


@inlined_kernel
def block_of(sums: np.ndarray, label: int, lanes: int, apart: bool) -> np.ndarray:
    """The part of a histogram for the labels from `label` on; its slots are so far `apart`."""
    slot, width = min(label // WIDEST, n_slots(lanes) - 1), min(WIDEST, lanes - label)
    begin = slot * apart + (_LEFT_AT if width < WIDEST else 0)
    return sums[begin : begin + N_CODES * width]


@kernel
def add_default(
    sums: np.ndarray,
    apart: int,
    default: int,
    touched: int,
    total: NDArray[np.int64],
    rest: NDArray[np.int64],
) -> int:
    """Sums are exact, so what is missing from the total belongs to the default code."""
    lanes = total.shape[0]
    for label in range(0, lanes, WIDEST):
        width, block = min(WIDEST, lanes - label), block_of(sums, label, lanes, apart)
        rest[:] = 0
        add_bins(width, block, touched, rest)
        for k in range(width):
            block[default * width + k] = total[label + k] - rest[k]
    return touched | np.uint64(1) << np.uint64(default // STEP)


@kernel
def best_cut(
    sums: np.ndarray,
    apart: bool,
    touched: int,
    total: np.ndarray,
    rest: np.ndarray,
    edges: NDArray[np.int64],
) -> tuple[int, int]:  # Eq. (1)
    """Edge and code of the best cut of a histogram, the lowest among equals.

    ``code <= cut`` goes left. A cut that separates nothing has the edge of the constant vote.
    """
    lanes = total.shape[0]
    touched |= np.uint64(1)  # the cut that separates nothing
    for block in range(N_CODES // STEP):
        present = touched >> np.uint64(block) & np.uint64(1)
        edges[block * STEP : (block + 1) * STEP] = np.int64(present) - 1
    for label in range(0, lanes, WIDEST):
        width = min(WIDEST, lanes - label)
        for lane in range(width):
            rest[lane] = total[label + lane]
        scan_bins(width, block_of(sums, label, lanes, apart), touched, rest, edges)
    best = np.int64(-1)
    for code in range(N_CODES):
        best = max(best, edges[code])
    cut = np.int64(0)
    while edges[cut] != best:
        cut += 1
    return best, cut


# --- the best stump of two classes for each of several weightings ------------------------------

# In one pass: a vector of eight weightings is added to a histogram in the time of one, as for eight
# labels, whose edges the search of AdaBoost.MH adds up. Here each has a stump of its own.


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
