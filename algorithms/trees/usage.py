"""Which row has used which priced feature: C(k, i, m) of Eq. (4) as one bit a row and feature."""

from __future__ import annotations

import numpy as np

from algorithms.kernels import kernel
from algorithms.simd import count_bits


@kernel
def mark_rows(marks, rows, start, stop, mark):
    """Set the bit `mark` for rows[start:stop]."""
    word = mark >> 6
    bit = np.uint64(1) << np.uint64(mark & 63)
    for i in range(start, stop):
        marks[rows[i], word] |= bit


@kernel
def _count_block(marks, rows, start, stop, lanes, counts):
    """Count the set bits of at most 252 rows: a one-byte counter holds 255."""
    n_words = marks.shape[1]
    lanes[:] = 0
    whole = start + (stop - start) // 4 * 4
    for i in range(start, whole, 4):
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for w in range(n_words):
            count_bits(lanes, 8 * w, marks[a, w], marks[b, w], marks[c, w], marks[d, w])
    none = np.uint64(0)
    for i in range(whole, stop):
        for w in range(n_words):
            count_bits(lanes, 8 * w, marks[rows[i], w], none, none, none)
    for w in range(n_words):
        for byte in range(8):
            for s in range(8):
                count = (lanes[8 * w + s] >> np.uint64(8 * byte)) & np.uint64(255)
                counts[64 * w + 8 * byte + s] += np.int64(count)


@kernel
def count_marks(marks, rows, start, stop, gh, counts):
    """Weighted number of rows[start:stop] with each bit set.

    Parameters
    ----------
    marks : ndarray of shape (n_samples, n_words), uint64
    gh : ndarray of shape (n_samples, 2) or (n_samples, 3)
        In the second form column 2 holds the row weights on their grid.
    counts : ndarray of shape (64 * n_words,), int64
        Output.
    """
    counts[:] = 0
    if gh.shape[1] == 2:
        lanes = np.empty(8 * marks.shape[1], dtype=np.uint64)
        for begin in range(start, stop, 252):
            _count_block(marks, rows, begin, min(stop, begin + 252), lanes, counts)
        return
    for i in range(start, stop):
        row = rows[i]
        for word in range(marks.shape[1]):
            x = marks[row, word]
            at = 64 * word
            while x != np.uint64(0):
                if x & np.uint64(1):
                    counts[at] += np.int64(gh[row, 2])
                x >>= np.uint64(1)
                at += 1
