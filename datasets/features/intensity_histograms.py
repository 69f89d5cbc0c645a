"""Intensity histograms, the second category of section 6.1: patch sums and histograms of levels.

Each function takes uint8 images of shape (n, h, w[, 3]) and gives (n, n_features) uint8. A patch
sum is kept as the mean of the patch, rounded half up; a histogram bin as 255·sqrt(share of the
pixels counted), rounded.
"""

from __future__ import annotations

import numpy as np

from datasets.features.pixels import (
    channels,
    frozen_generator,
    grey,
    integral_images,
    rectangle_sums,
    rooted_share,
)


def random_rectangles(
    seed: str, shape: tuple[int, ...], n: int, multiple: tuple[int, int] = (1, 1)
) -> np.ndarray:
    """Draw rectangles inside an image: sides all equally likely, then places all equally likely."""
    rng = frozen_generator(seed, *shape[:2], n, *multiple)
    height = multiple[0] * rng.integers(1, shape[0] // multiple[0] + 1, n)
    width = multiple[1] * rng.integers(1, shape[1] // multiple[1] + 1, n)
    top = rng.integers(0, shape[0] - height + 1)
    left = rng.integers(0, shape[1] - width + 1)
    return np.stack((top, left, top + height, left + width), axis=1)


def patch_sums(images: np.ndarray, n: int) -> np.ndarray:
    """Give the intensities summed over frozen random patches of the grey levels."""
    levels = grey(images)
    patches = random_rectangles("patch sums", levels.shape[1:], n)
    area = ((patches[:, 2] - patches[:, 0]) * (patches[:, 3] - patches[:, 1])).astype(np.int32)
    sums = rectangle_sums(integral_images(levels), levels.shape[2], patches)
    return ((2 * sums + area) // (2 * area)).astype(np.uint8)


def histogram(
    images: np.ndarray, bins: int, grid: tuple[int, int] = (1, 1), colour: bool = False
) -> np.ndarray:
    """Give histograms of the levels in each cell of a grid."""
    planes = channels(images) if colour else grey(images)[:, None]
    n, n_channels, height, width = planes.shape
    rows, columns = grid
    if height % rows or width % columns:
        raise ValueError(f"a grid of {rows}×{columns} does not divide {height}×{width} pixels")
    cells = planes.reshape(n, n_channels, rows, height // rows, columns, width // columns)
    cells = cells.transpose(0, 2, 4, 1, 3, 5).reshape(n * rows * columns * n_channels, -1)
    return _counted(cells // np.uint8(256 // bins), bins).reshape(n, -1)


def joint_histogram(images: np.ndarray, bins: int) -> np.ndarray:
    """Give the joint histogram of red, green and blue of the entire image."""
    level = (images // np.uint8(256 // bins)).astype(np.int64).reshape(len(images), -1, 3)
    return _counted((level[..., 0] * bins + level[..., 1]) * bins + level[..., 2], bins**3)


def _counted(values: np.ndarray, bins: int) -> np.ndarray:
    """Share of each value among those of a row: (m, k) integers to (m, bins) uint8."""
    m, k = values.shape
    index = values.astype(np.int64) + bins * np.arange(m)[:, None]
    counts = np.bincount(index.ravel(), minlength=m * bins).reshape(m, bins)
    return rooted_share(counts, k)
