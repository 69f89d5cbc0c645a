"""Pyramid of histograms of oriented gradients (PHOG).

A. Bosch, A. Zisserman, X. Muñoz, "Representing shape with a spatial pyramid kernel", CIVR 2007: the
directions of the gradient at Canny's edges, weighted by its magnitude, counted in each cell of a
spatial pyramid. 20 bins over 180 degrees, or 40 bins over 360 degrees. Deviations: nearest bin
instead of shares for two neighbouring bins; each level is a family of its own, without the
pyramid's weights.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from skimage.feature import canny

from datasets.features.gradients import cell_numbers, differences, image_by_image, luma, n_cells

BINS = {180: 20, 360: 40}
"""Bins of the direction for unoriented and oriented gradients."""

EDGES = {"sigma": 1.0, "low_threshold": 0.7, "high_threshold": 0.9, "use_quantiles": True}
"""Canny's parameters: an edge starts in the strongest tenth of the pixels."""


def n_phog(degrees: int, level: int) -> int:
    """Count the features of a level."""
    return BINS[degrees] * n_cells(level)


def direction_bins(down: np.ndarray, right: np.ndarray, degrees: int) -> np.ndarray:
    """Give the bin of each gradient; bin 0 is centred on "brighter to the right"."""
    bins = BINS[degrees]
    angle = np.arctan2(down, right)
    return np.rint(angle * (bins / np.deg2rad(degrees))).astype(np.int64) % bins


def _histograms(image: np.ndarray, degrees: int, level: int) -> np.ndarray:
    grey = luma(image)
    at = np.flatnonzero(canny(grey, **EDGES))
    down, right = (part.reshape(-1)[at] for part in differences(grey))
    weight = np.sqrt(down * down + right * right)
    total = weight.sum()
    if total == 0:
        return np.zeros(n_phog(degrees, level), dtype=np.uint8)
    cell = cell_numbers(grey.shape, level).reshape(-1)[at]
    place = cell * BINS[degrees] + direction_bins(down, right, degrees)
    sums = np.bincount(place, weights=weight, minlength=n_phog(degrees, level))
    share = np.minimum(sums * (n_cells(level) / total), 1.0)
    return np.rint(255 * np.sqrt(share)).astype(np.uint8)


def phog(images: np.ndarray, *, degrees: int, level: int) -> np.ndarray:
    """Compute one level of the pyramid.

    The 8-bit value is 255 times the square root of the bin's share of the image's edges, in units
    of an average cell (all edges / number of cells), at most 1. An image without edges has zeros.
    """
    function = partial(_histograms, degrees=degrees, level=level)
    return image_by_image(images, n_phog(degrees, level), function)
