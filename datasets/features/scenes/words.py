"""Nearest words of a codebook, and their counts in the cells of a spatial pyramid."""

from __future__ import annotations

import functools

import numpy as np

from datasets.features.pixels import rooted_share

LEVELS = 3
"""Levels of the pyramid: 1, 4 and 16 cells."""
N_CELLS = sum(4**level for level in range(LEVELS))


def nearest(points: np.ndarray, book: np.ndarray) -> np.ndarray:
    """Find the nearest word of each point (..., d), the first of several."""
    # |p - b|² = |p|² - 2 (p·b - |b|²/2): multiples of 1/2 below 2^23, hence exact.
    nearness = points.reshape(-1, points.shape[-1]) @ book.T
    nearness -= np.einsum("ij,ij->i", book, book) / 2
    return nearness.argmax(axis=1).reshape(points.shape[:-1])


@functools.lru_cache(maxsize=8)
def _cells(shape: tuple[int, int], level: int) -> np.ndarray:
    side = 2**level
    rows, columns = (np.arange(size) * side // size for size in shape)
    return (rows[:, None] * side + columns).reshape(-1)


def pyramid(word_of: np.ndarray, n_words: int) -> np.ndarray:
    """Count words in the cells of a pyramid."""
    parts, words = [], word_of.reshape(-1)
    for level in range(LEVELS):
        cell = _cells(word_of.shape, level)
        counts = np.bincount(cell * n_words + words, minlength=4**level * n_words)
        total = np.bincount(cell, minlength=4**level)
        parts.append(rooted_share(counts.reshape(4**level, n_words), total[:, None]).reshape(-1))
    return np.concatenate(parts)
