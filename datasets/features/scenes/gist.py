"""GIST: the energy of oriented filters, averaged over a coarse grid.

A. Oliva, A. Torralba, "Modeling the shape of the scene: a holistic representation of the spatial
envelope", IJCV 2001. The picture is resized to 128×128; logarithm; a local mean is subtracted and
the rest divided by a local standard deviation; 4 frequencies times 8 orientations; means over 4×4
cells: 512 values. Deviations from the authors' program: the local mean is a Gaussian in space
(standard deviation 6.5 pixels) instead of in frequency; the picture is mirrored at its edges.
"""

from __future__ import annotations

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from datasets.features.scenes.oriented_filters import ORIENTATIONS, responses

SIDE, CELLS = 128, 4
FREQUENCIES = tuple(0.3 / 1.85**k for k in range(4))
"""Cycles per pixel."""
BLUR, FLOOR = 6.5, 0.2
"""Standard deviation of the local mean in pixels; added to the local standard deviation."""
HIGHEST = 0.25
"""Energy that becomes 255; larger ones, too."""
N_GIST = len(FREQUENCIES) * ORIENTATIONS * CELLS * CELLS


def gist(images: np.ndarray) -> np.ndarray:
    """Compute GIST."""
    return np.stack([_gist(image) for image in images])


def _gist(image: np.ndarray) -> np.ndarray:
    small = Image.fromarray(image).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    level = np.log1p(np.asarray(small, dtype=np.float32))
    level -= gaussian_filter(level, BLUR, mode="reflect")
    spread = np.sqrt(gaussian_filter(level * level, BLUR, mode="reflect"))
    energy = np.abs(responses(level / (FLOOR + spread), FREQUENCIES))
    cell = SIDE // CELLS
    means = energy.reshape(-1, CELLS, cell, CELLS, cell).mean(axis=(2, 4), dtype=np.float64)
    return np.rint(255 * np.sqrt(np.minimum(means / HIGHEST, 1.0))).astype(np.uint8).reshape(-1)
