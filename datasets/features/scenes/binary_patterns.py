"""Local binary patterns in a spatial pyramid.

T. Ojala, M. Pietikäinen, T. Mäenpää, PAMI 2002: eight neighbours at distance 1, computed by
scikit-image; the 58 uniform patterns (at most two changes around the circle) each, all others
together: 59 patterns, counted in the 21 cells of a pyramid of three levels.
"""

from __future__ import annotations

import functools

import numpy as np
from skimage.feature import local_binary_pattern

from datasets.features.scenes.words import N_CELLS, pyramid

N_PATTERNS = 59
N_LBP = N_PATTERNS * N_CELLS


@functools.cache
def _uniform() -> np.ndarray:
    """Give the number of each of the 256 patterns among the 59."""
    number, last = np.empty(256, dtype=np.int64), 0
    for code in range(256):
        bits = [code >> k & 1 for k in range(8)]
        if sum(bits[k] != bits[k - 1] for k in range(8)) <= 2:
            number[code], last = last, last + 1
        else:
            number[code] = N_PATTERNS - 1
    return number


def binary_patterns(images: np.ndarray) -> np.ndarray:
    """Count the patterns of each picture."""
    number = _uniform()
    return np.stack(
        [
            pyramid(number[local_binary_pattern(image, 8, 1).astype(np.int64)], N_PATTERNS)
            for image in images
        ]
    )
