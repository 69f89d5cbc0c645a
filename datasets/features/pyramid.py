"""Fast convolutional filters on an image pyramid (section 5.2 of the CEGB paper).

The image is averaged over non-overlapping 2x2, 4x4 and 8x8 blocks; eight common filters are
computed on each of the four resolutions, and the response of a block is used for all its pixels.
The paper does not say which filters ("several commonly used and very fast convolutional filters");
ours, with sigma in pixels of the level they are computed on:

``gauss1``, ``gauss2``
    Gaussian smoothing, sigma 1 and 2.
``dog``
    Difference of these two Gaussians.
``sobel``
    Gradient magnitude of Sobel's masks, divided by 8 (grey levels per pixel).
``log``
    Laplacian of Gaussian: trace of the Hessian below.
``hessian_high``, ``hessian_low``
    Eigenvalues of the Hessian: central differences of the Gaussian, sigma 1.5.
``structure``
    Square root of the larger eigenvalue of the structure tensor (Sobel, window sigma 1.5).

Responses are rounded to multiples of 2^-8 grey levels, so that processors whose arithmetic differs
in the last bit deliver the same features. Beyond its edge an image is mirrored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

LEVELS = (1, 2, 4, 8)
"""Side of the blocks, in pixels of the image."""

FILTERS = ("gauss1", "gauss2", "dog", "sobel", "log", "hessian_high", "hessian_low", "structure")
"""Filters, in the order of the features of a level."""

NAMES = tuple(f"{name}_{level}px" for level in LEVELS for name in FILTERS)
"""Names of the features, for example ``sobel_4px``."""

LEVEL = np.repeat(np.arange(len(LEVELS)), len(FILTERS))
"""(d,) int64: position in :data:`LEVELS` of each feature's resolution."""

SHARING = np.repeat(np.array([float(level**2) for level in LEVELS]), len(FILTERS))
"""(d,) float64: pixels that share one value of each feature, 1, 4, 16 or 64."""

_GRID = np.float32(2**8)
_TRUNCATE = 3.0


def block_mean(image: np.ndarray, size: int) -> np.ndarray:
    """Average an image over non-overlapping blocks."""
    height, width = image.shape
    if height % size or width % size:
        raise ValueError(f"an image of {height}×{width} pixels has no whole {size}×{size} blocks")
    blocks = image.reshape(height // size, size, width // size, size)
    return blocks.mean(axis=(1, 3), dtype=np.float64)


def _gauss(image: np.ndarray, sigma: float) -> np.ndarray:
    return ndimage.gaussian_filter(image, sigma, mode="reflect", truncate=_TRUNCATE)


def _hessian(image: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Second derivatives yy, xy, xx by central differences."""
    padded = np.pad(image, 1, mode="symmetric")
    middle = 2 * image
    yy = padded[2:, 1:-1] + padded[:-2, 1:-1] - middle
    xx = padded[1:-1, 2:] + padded[1:-1, :-2] - middle
    xy = (padded[2:, 2:] - padded[2:, :-2] - padded[:-2, 2:] + padded[:-2, :-2]) / 4
    return yy, xy, xx


def _eigenvalues(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Larger and smaller eigenvalue of the symmetric matrices [[a, b], [b, c]]."""
    middle, half = (a + c) / 2, (a - c) / 2
    radius = np.sqrt(half * half + b * b)
    return middle + radius, middle - radius


def filter_bank(image: np.ndarray) -> np.ndarray:
    """Compute the eight filters on one resolution."""
    image = np.asarray(image, dtype=np.float32)
    fine, coarse = _gauss(image, 1.0), _gauss(image, 2.0)
    gy, gx = (ndimage.sobel(image, axis=axis, mode="reflect") / 8 for axis in (0, 1))
    yy, xy, xx = _hessian(_gauss(image, 1.5))
    high, low = _eigenvalues(yy, xy, xx)
    tensor, _ = _eigenvalues(*(_gauss(part, 1.5) for part in (gy * gy, gy * gx, gx * gx)))
    out = np.empty((*image.shape, len(FILTERS)), dtype=np.float32)
    edge = np.sqrt(gy * gy + gx * gx)
    corner = np.sqrt(np.maximum(tensor, 0))
    for i, response in enumerate((fine, coarse, fine - coarse, edge, yy + xx, high, low, corner)):
        out[:, :, i] = np.rint(response * _GRID) / _GRID
    return out


@dataclass(frozen=True)
class Pyramid:
    """Features of an image, computed once a level and replicated by index."""

    shape: tuple[int, int]  # Height and width of the image in pixels
    levels: tuple[np.ndarray, ...]  # Filter responses for each block side l of :data:`LEVELS`

    def at(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the features of single pixels."""
        parts = [
            level[y // size, x // size] for size, level in zip(LEVELS, self.levels, strict=True)
        ]
        return np.concatenate(parts, axis=1).astype(np.float64)

    def rows(self, first: int, last: int) -> np.ndarray:
        """Return the features of all pixels of the image rows `first` … `last` - 1."""
        y, x = np.arange(first, last), np.arange(self.shape[1])
        out = np.empty((len(y), len(x), len(NAMES)))
        for i, (size, level) in enumerate(zip(LEVELS, self.levels, strict=True)):
            columns = slice(i * len(FILTERS), (i + 1) * len(FILTERS))
            out[:, :, columns] = level[(y // size)[:, None], (x // size)[None, :]]
        return out.reshape(-1, len(NAMES))


def pyramid(image: np.ndarray) -> Pyramid:
    """Compute the features of an image."""
    coarse_to_fine = [block_mean(image, size) for size in reversed(LEVELS)]  # 8 refuses wrong sizes
    return Pyramid(image.shape, tuple(filter_bank(level) for level in reversed(coarse_to_fine)))
