"""Geometric intensity histograms: grey levels by region, for the paper's geometric colour.

Scene-15 is grey, so that colour is intensity. 64 bins of 4 grey levels in each of four regions
(:mod:`datasets.features.scenes.regions`).
"""

from __future__ import annotations

import numpy as np

from datasets.features.pixels import rooted_share
from datasets.features.scenes.regions import REGIONS, region_counts, region_weights

N_BINS = 64
N_INTENSITIES = len(REGIONS) * N_BINS


def geometric_intensities(images: np.ndarray) -> np.ndarray:
    """Count grey levels by region."""
    histograms = np.empty((len(images), N_INTENSITIES), dtype=np.uint8)
    for image, row in zip(images, histograms, strict=True):
        counts = region_counts(image.astype(np.int64) // 4, region_weights(image), N_BINS)
        row[:] = rooted_share(counts, counts.sum(axis=1, keepdims=True)).reshape(-1)
    return histograms
