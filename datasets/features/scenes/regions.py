"""Four regions of a picture that stand for sky, upright things, porous things and ground.

J. Xiao et al. (SUN database, CVPR 2010) weigh the pixels of their geometric histograms by the
probabilities of D. Hoiem's geometric classes (ground, vertical, porous, sky). Hoiem's classifier
is not available; these regions are fixed by rule:

* *sky* and *ground* by height alone: sky weighs 1 in the upper sixth of the picture and falls
  linearly to 0 at half height; ground likewise from below; what is left is the middle band;
* the middle band's pixels belong to *porous* where the sum of absolute gradients over 9×9 pixels
  is above the picture's median, else to *vertical*.

Weights are sixteenths, whole numbers, so that weighted counts are exact.
"""

from __future__ import annotations

import numpy as np

from datasets.features.pixels import central_differences, integral_images

REGIONS = ("sky", "vertical", "porous", "ground")
SIXTEENTHS, HALF = 16, 4


def _roughness(image: np.ndarray) -> np.ndarray:
    """Sum absolute differences over 9×9 pixels, cut off at the edge of the picture."""
    height, width = image.shape
    right, down = central_differences(image)
    size = np.abs(right).astype(np.int32) + np.abs(down)
    corner = integral_images(size[None]).reshape(height + 1, width + 1)
    top, left = (np.maximum(np.arange(length) - HALF, 0) for length in (height, width))
    bottom = np.minimum(np.arange(height) + HALF + 1, height)
    right = np.minimum(np.arange(width) + HALF + 1, width)
    rows = corner[bottom] - corner[top]
    return rows[:, right] - rows[:, left]


def region_weights(image: np.ndarray) -> np.ndarray:
    """Weigh each pixel in each region."""
    height, width = image.shape
    at = (np.arange(height) + 0.5) / height
    sky = np.rint(SIXTEENTHS * np.clip(1.5 - 3 * at, 0, 1)).astype(np.int64)
    ground, middle = sky[::-1], SIXTEENTHS - sky - sky[::-1]
    rough = _roughness(image)
    porous = rough > np.median(rough)
    weights = np.empty((len(REGIONS), height, width), dtype=np.int64)
    weights[0], weights[3] = sky[:, None], ground[:, None]
    weights[2] = np.where(porous, middle[:, None], 0)
    weights[1] = middle[:, None] - weights[2]
    return weights


def region_counts(bins: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Sum the weights of each bin in each region."""
    place = bins.reshape(-1)
    return np.stack([np.bincount(place, part.reshape(-1), n_bins) for part in weights])
