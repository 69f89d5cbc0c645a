"""Region covariance and local binary patterns in the cells of a spatial pyramid.

Covariance: O. Tuzel, F. Porikli, P. Meer, "Region covariance: a fast descriptor for detection and
classification", ECCV 2006: nine values of each pixel (place, colour, size of first and second
differences), and their covariance over a region; of it the matrix logarithm's upper triangle, in
which distances are Euclidean (V. Arsigny et al., 2006). Local binary patterns: T. Ojala,
M. Pietikäinen, T. Mäenpää, PAMI 2002, eight neighbours at distance 1, all 256 patterns, computed by
scikit-image.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from skimage.feature import local_binary_pattern

from datasets.features.gradients import cell_numbers, differences, image_by_image, luma, n_cells

N_VALUES = 9
"""Values of a pixel: column, row, red, green, blue, |Ix|, |Iy|, |Ixx|, |Iyy|."""

FLOOR = 1e-6
"""Added to each variance, so that a constant value has a logarithm."""

DIAGONAL = -14.0, 1.0
"""Range of the 8-bit scale for the logarithm's diagonal; see :func:`covariance`."""

BESIDE = 7.4
"""Largest absolute value of the logarithm off the diagonal; see :func:`covariance`."""

PATTERNS = 256
"""Patterns of eight neighbours."""


def n_covariance(level: int) -> int:
    """Count the features of a level: the upper triangle in each cell."""
    return N_VALUES * (N_VALUES + 1) // 2 * n_cells(level)


def n_patterns(level: int) -> int:
    """Count the features of a level: all patterns in each cell."""
    return PATTERNS * n_cells(level)


def pixel_values(image: np.ndarray) -> np.ndarray:
    """Give the nine values of each pixel."""
    height, width = image.shape[:2]
    grey = luma(image)
    down, right = differences(grey)
    padded = np.pad(grey, 1, mode="edge").astype(np.int32)
    middle = 2 * padded[1:-1, 1:-1]
    below = padded[2:, 1:-1] + padded[:-2, 1:-1] - middle
    beside = padded[1:-1, 2:] + padded[1:-1, :-2] - middle
    values = np.empty((height, width, N_VALUES))
    values[:, :, 0] = np.arange(width) / width
    values[:, :, 1] = np.arange(height)[:, None] / height
    values[:, :, 2:5] = image / 255
    for place, (part, scale) in enumerate(
        ((right, 255), (down, 255), (beside, 510), (below, 510)), start=5
    ):
        values[:, :, place] = np.abs(part) / scale
    return values


def cell_covariances(image: np.ndarray, level: int) -> np.ndarray:
    """Give the covariance of the pixels' values in each cell."""
    side = 2**level
    height, width = image.shape[:2]
    values = pixel_values(image).reshape(side, height // side, side, width // side, N_VALUES)
    values = values.swapaxes(1, 2).reshape(side * side, -1, N_VALUES)
    values -= values.mean(axis=1, keepdims=True)
    return values.swapaxes(1, 2) @ values / values.shape[1]


def _logarithms(image: np.ndarray, level: int) -> np.ndarray:
    covariances = cell_covariances(image, level) + FLOOR * np.eye(N_VALUES)
    values, vectors = np.linalg.eigh(covariances)
    # Rounding may push an eigenvalue of a singular matrix a little below what was added.
    values = np.log(np.maximum(values, FLOOR))
    logarithms = (vectors * values[:, None, :]) @ vectors.swapaxes(1, 2)
    rows, columns = np.triu_indices(N_VALUES)
    upper = logarithms[:, rows, columns]
    lowest, highest = DIAGONAL
    share = np.where(
        rows == columns,
        (upper - lowest) / (highest - lowest),
        0.5 + 0.5 * np.sign(upper) * np.sqrt(np.abs(upper) / BESIDE),
    )
    return np.rint(255 * np.clip(share, 0, 1)).astype(np.uint8).reshape(-1)


def covariance(images: np.ndarray, *, level: int) -> np.ndarray:
    r"""Compute one level of region covariances.

    The eigenvalues of the covariance plus :data:`FLOOR` lie between 1e-6 and 9/4 (nine variances
    of at most 1/4), their logarithms between -13.9 and 0.9, hence the diagonal of the matrix
    logarithm, too, and off the diagonal at most half the difference, ±7.4. The 8-bit value of the
    diagonal is the place in :data:`DIAGONAL`. Beside it most values are near 0: with v the value
    over :data:`BESIDE`, 127.5 (1 + sign(v) sqrt(\|v\|)).
    """
    return image_by_image(images, n_covariance(level), partial(_logarithms, level=level))


def _pattern_counts(image: np.ndarray, level: int) -> np.ndarray:
    grey = luma(image)
    # scikit-image sees black beyond the edge, a pattern that would depend on the brightness.
    padded = np.pad(grey, 1, mode="edge")
    codes = local_binary_pattern(padded, 8, 1)[1:-1, 1:-1].astype(np.int64)
    place = cell_numbers(grey.shape, level) * PATTERNS + codes
    counts = np.bincount(place.reshape(-1), minlength=n_patterns(level))
    share = counts * (n_cells(level) / grey.size)
    return np.rint(255 * np.sqrt(np.sqrt(share))).astype(np.uint8)


def patterns(images: np.ndarray, *, level: int) -> np.ndarray:
    """Compute one level of histograms of local binary patterns.

    The 8-bit value is 255 times the fourth root of the pattern's share of the cell's pixels:
    most shares are some thousandths.
    """
    return image_by_image(images, n_patterns(level), partial(_pattern_counts, level=level))
