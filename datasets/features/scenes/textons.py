"""Texton histogram and geometric texton histogram.

J. Malik et al., IJCV 2001; J. Xiao et al., "SUN database", CVPR 2010: every pixel's responses to a
bank of filters become the nearest of a dictionary of textons, which are counted over the whole
picture, or in each of four regions (:mod:`datasets.features.scenes.regions`). 32 filters: even and
odd, 8 orientations, 2 frequencies. Deviations: transfer functions of
:mod:`datasets.features.scenes.oriented_filters`; 256 textons (SUN: 512), learned on Caltech-101;
every second pixel in both directions.
"""

from __future__ import annotations

import numpy as np

from datasets.features.pixels import rooted_share
from datasets.features.scenes.learned import learned_arrays
from datasets.features.scenes.oriented_filters import ORIENTATIONS, responses
from datasets.features.scenes.regions import REGIONS, region_counts, region_weights
from datasets.features.scenes.words import nearest

FREQUENCIES = (0.25, 0.125)
"""Cycles per pixel."""
STEP = 2
N_FILTERS = 2 * len(FREQUENCIES) * ORIENTATIONS
N_TEXTONS = 256
N_GEOMETRIC_TEXTONS = N_TEXTONS * len(REGIONS)
WEBER, FINENESS = 0.03, 256.0
"""Contrast from which responses grow with their logarithm only; steps of the rounding."""


def filter_responses(image: np.ndarray) -> np.ndarray:
    """Give the responses at every second pixel."""
    filtered = responses(image.astype(np.float32) / 255, FREQUENCIES)[:, ::STEP, ::STEP]
    vectors = np.concatenate((filtered.real, filtered.imag)).transpose(1, 2, 0)
    length = np.sqrt(np.einsum("ijk,ijk->ij", vectors, vectors, dtype=np.float64))[:, :, None]
    scale = FINENESS * np.log1p(length / WEBER) / np.maximum(length, 1e-12)
    return np.rint(vectors * scale).astype(np.float32)


def textons(image: np.ndarray, learned: str) -> np.ndarray:
    """Give the texton at every second pixel, (rows, columns) int64."""
    return nearest(filter_responses(image), learned_arrays(learned)["textons"])


def texton_histogram(images: np.ndarray, *, learned: str) -> np.ndarray:
    """Count the textons of each picture."""
    counts = [np.bincount(textons(i, learned).reshape(-1), minlength=N_TEXTONS) for i in images]
    return np.stack([rooted_share(row, row.sum()) for row in counts])


def geometric_textons(images: np.ndarray, *, learned: str) -> np.ndarray:
    """Count the textons of each picture by region."""
    histograms = np.empty((len(images), N_GEOMETRIC_TEXTONS), dtype=np.uint8)
    for image, row in zip(images, histograms, strict=True):
        weights = region_weights(image)[:, ::STEP, ::STEP]
        counts = region_counts(textons(image, learned), weights, N_TEXTONS)
        row[:] = rooted_share(counts, counts.sum(axis=1, keepdims=True)).reshape(-1)
    return histograms
