"""Self-similarity: how like its surroundings each patch is, as visual words in a spatial pyramid.

E. Shechtman, M. Irani, "Matching local self-similarities across images and videos", CVPR 2007, as
in J. Xiao et al., "SUN database", CVPR 2010: a patch of 5×5 pixels is compared with all patches
within 10 pixels; of the similarities exp(-SSD / variance) the largest in each of 30 log-polar cells
(3 distances, 10 angles), divided by the largest of all; 300 words; a pyramid of three levels.
Deviations: pictures in half size, a descriptor every 4 pixels of that; the words are learned on
Caltech-101.
"""

from __future__ import annotations

import functools

import numpy as np

from datasets.features.scenes.learned import learned_arrays
from datasets.features.scenes.words import N_CELLS, nearest, pyramid

PATCH, RADIUS, STEP = 2, 10, 4
"""Half the side of a patch, largest distance and spacing, in pixels of the half-size picture."""
RINGS, ANGLES = (0.0, 3.0, 5.5, 10.0), 10
"""Distances that bound the cells; cells around the circle."""
NOISE = 25 * 15.0**2
"""Sum of squared differences that noise alone may explain."""
N_SIMILARITIES = (len(RINGS) - 1) * ANGLES
N_WORDS = 300
N_SELF_SIMILARITY = N_WORDS * N_CELLS


@functools.cache
def _offsets() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the offsets sorted by cell, where each cell starts, and which are neighbours."""
    down, right = (
        part.reshape(-1) for part in np.mgrid[-RADIUS : RADIUS + 1, -RADIUS : RADIUS + 1]
    )
    distance = np.hypot(down, right)
    inside = (distance > 0) & (distance <= RADIUS)
    down, right, distance = down[inside], right[inside], distance[inside]
    angle = np.round(np.arctan2(down, right) * (ANGLES / (2 * np.pi)), 9) % ANGLES
    cell = (np.searchsorted(RINGS, distance) - 1) * ANGLES + np.floor(angle).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    offsets, cell = np.stack((down, right), axis=1)[order], cell[order]
    near = np.flatnonzero(np.abs(offsets).max(axis=1) == 1)
    return offsets, np.searchsorted(cell, np.arange(N_SIMILARITIES)), near


@functools.lru_cache(maxsize=4)
def _places(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Give the patches' numbers in the middle, those around them, and the shape of the grid."""
    rows, columns = (size - 2 * PATCH for size in shape)
    down, right = (np.arange(RADIUS, size - RADIUS, STEP) for size in (rows, columns))
    middle = (down[:, None] * columns + right).reshape(-1)
    offsets = _offsets()[0]
    around = middle[:, None] + (offsets[:, 0] * columns + offsets[:, 1])
    return middle, around, (len(down), len(right))


def similarities(image: np.ndarray) -> np.ndarray:
    """Give the descriptors of a picture."""
    height, width = (size // 2 for size in image.shape)
    quarters = image.reshape(height, 2, width, 2).sum(axis=(1, 3), dtype=np.int32)
    half = ((quarters + 2) // 4).astype(np.float32)
    side = 2 * PATCH + 1
    windows = np.lib.stride_tricks.sliding_window_view(half, (side, side))
    patches = np.ascontiguousarray(windows).reshape(-1, side * side)
    middle, around, grid = _places(half.shape)
    _, starts, near = _offsets()
    # Whole numbers below 2^24: exact in single precision.
    length = np.einsum("ij,ij->i", patches, patches)
    product = np.matmul(patches[around], patches[middle][:, :, None])[:, :, 0]
    ssd = (length[around] - 2 * product) + length[middle][:, None]
    variance = np.maximum(ssd[:, near].max(axis=1, keepdims=True), NOISE)
    maxima = np.maximum.reduceat(np.exp(-ssd.astype(np.float64) / variance), starts, axis=1)
    maxima /= np.maximum(maxima.max(axis=1, keepdims=True), 1e-9)
    return np.rint(255 * maxima).astype(np.float32).reshape(*grid, N_SIMILARITIES)


def self_similarity(images: np.ndarray, *, learned: str) -> np.ndarray:
    """Count the words of each picture."""
    book = learned_arrays(learned)["similarity_words"]
    histograms = np.empty((len(images), N_SELF_SIMILARITY), dtype=np.uint8)
    for image, row in zip(images, histograms, strict=True):
        row[:] = pyramid(nearest(similarities(image), book), N_WORDS)
    return histograms
