"""Spatial HOG: blocks of 2×2 cells of oriented gradients as visual words, in a spatial pyramid.

As in J. Xiao et al., "SUN database", CVPR 2010 (HOG 2×2), which is where the paper's list of
descriptors comes from: cells of 8×8 pixels, each block of 2×2 a descriptor, 300 words, a pyramid of
three levels. The blocks are Dalal and Triggs's (:func:`datasets.features.gradient_histograms.hog`,
9 orientations, 36 values), not Felzenszwalb's; the words are learned on Caltech-101.
"""

from __future__ import annotations

import numpy as np

from datasets.features.gradient_histograms import hog
from datasets.features.scenes.learned import learned_arrays
from datasets.features.scenes.words import N_CELLS, nearest, pyramid

CELL, BINS, BLOCK_VALUES = 8, 9, 36
N_WORDS = 300
N_HOG = N_WORDS * N_CELLS


def blocks(image: np.ndarray) -> np.ndarray:
    """Give the descriptors of a picture, whole numbers."""
    rows, columns = (size // CELL - 1 for size in image.shape)
    values = hog(image[None], CELL, BINS, False)
    return values.reshape(rows, columns, BLOCK_VALUES).astype(np.float32)


def spatial_hog(images: np.ndarray, *, learned: str) -> np.ndarray:
    """Count the words of each picture."""
    book = learned_arrays(learned)["hog_words"]
    histograms = np.empty((len(images), N_HOG), dtype=np.uint8)
    for image, row in zip(images, histograms, strict=True):
        row[:] = pyramid(nearest(blocks(image), book), N_WORDS)
    return histograms
