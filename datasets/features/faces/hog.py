"""Histograms of oriented gradients of 19×19 windows.

N. Dalal and B. Triggs, Histograms of oriented gradients for human detection, CVPR (2005), as
:mod:`datasets.features.gradient_histograms` computes them. 19 is prime, so that no cells cover the
window: its last row and column are repeated once, and 20×20 pixels have 5×5 cells of 4×4. Nine
orientations over half a circle, 4×4 blocks of 2×2 cells: 576 values.
"""

from __future__ import annotations

import numpy as np

from datasets.features import gradient_histograms as gradients

CELL, BINS = 4, 9


def padded(images: np.ndarray) -> np.ndarray:
    """Repeat the last rows and columns until cells cover the windows."""
    down, across = (-side % CELL for side in images.shape[1:])
    return np.pad(images, ((0, 0), (0, down), (0, across)), mode="edge")


def n_features(shape: tuple[int, ...]) -> int:
    """Give the number of values of windows of a shape."""
    covered = tuple(side + -side % CELL for side in shape)
    return gradients.hog_size(covered, CELL, BINS)


def prepared(images: np.ndarray) -> np.ndarray:
    """Compute what all values of a window share: the histograms of the cells."""
    return gradients.cell_histograms(padded(images), CELL, BINS, oriented=False)


def hog(images: np.ndarray) -> np.ndarray:
    """Give the values of all blocks."""
    return gradients.hog(padded(images), CELL, BINS, oriented=False)
