"""Image transforms, the first category of section 6.1: about one feature per pixel.

Each function takes uint8 images of shape (n, h, w[, 3]) and gives (n, n_features) uint8. Features
are in the order channel, row, column. What is said to be of grey levels converts colour images
(:func:`datasets.features.pixels.grey`).

Rules that make them bytes:

===================== ==============================================================================
identity, grey        as they are
smoothed              binomial mask 1 2 1 in both directions, sum / 16 rounded half up
gradient x, y         (g + 256) // 2 for central differences g in -255..255; 128 is zero
gradient magnitude    magnitude / sqrt(2), rounded
Fourier parts         128 + 127·sign(v)·log(1 + abs(v)/s) / log(1 + 255·h·w/s), s = sqrt(h·w)
Fourier magnitude     255·log(1 + abs(v)/s) / log(1 + 255·h·w/s)
Haar, mean            mean of the block, rounded half up
Haar, details         128 + 127·sign(d)·sqrt(abs(d)/127.5), d = half the difference of two means
LBP                   the code, 0..255
ILBP                  the code of 9 bits without its lowest bit
===================== ==============================================================================

The local binary patterns are those of a 3×3 window on whole pixels. scikit-image interpolates the
four diagonal neighbours, which on flat ground compares a grey level with itself plus a rounding
error, and takes one image a call.
"""

from __future__ import annotations

import numpy as np
import pywt
from scipy import fft

from datasets.features.pixels import (
    MAGNITUDE_STEPS,
    central_differences,
    channels,
    magnitude_steps,
    signed_root,
)
from datasets.features.pixels import grey as grey_levels

_GRID = 2.0**10
_NEIGHBOURS = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))
"""(row, column) in the 3×3 window, clockwise from the upper left; the first is the highest bit."""


def identity(images: np.ndarray) -> np.ndarray:
    """Give the pixels: grey levels, or red, then green, then blue."""
    return _flat(channels(images))


def grey(images: np.ndarray) -> np.ndarray:
    """Give the grey levels."""
    return _flat(grey_levels(images))


def smoothed(images: np.ndarray) -> np.ndarray:
    """Give the grey levels smoothed by 1 2 1 in both directions; borders are repeated."""
    padded = _padded(grey_levels(images)).astype(np.int16)
    rows = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    both = rows[:, :, :-2] + 2 * rows[:, :, 1:-1] + rows[:, :, 2:]
    return _flat(((both + 8) // 16).astype(np.uint8))


def gradient(images: np.ndarray, part: str) -> np.ndarray:
    """Give a part of the gradient image, of each channel.

    "x" and "y" are central differences along a row or a column, "magnitude" the length of both.
    """
    gx, gy = central_differences(channels(images))
    if part == "magnitude":
        length = magnitude_steps(gx, gy) / (MAGNITUDE_STEPS * np.sqrt(2.0))
        return _flat(np.rint(length).astype(np.uint8))
    return _flat((({"x": gx, "y": gy}[part] + 256) // 2).astype(np.uint8))


def fourier(images: np.ndarray) -> np.ndarray:
    """Give real, then imaginary parts of the discrete Fourier transform of the grey levels.

    The half plane of columns 0 to w/2; the rest is its mirror image.
    """
    values, scale, largest = _spectrum(images)
    parts = np.stack((values.real, values.imag), axis=1)
    parts = np.rint(parts * _GRID) / _GRID  # what is zero by symmetry becomes zero
    level = np.log1p(np.abs(parts) / scale) / largest
    return _flat(np.rint(128.0 + 127.0 * np.copysign(level, parts)).astype(np.uint8))


def fourier_magnitude(images: np.ndarray) -> np.ndarray:
    """Give the magnitudes of the discrete Fourier transform of the grey levels, columns to w/2."""
    values, scale, largest = _spectrum(images)
    magnitude = np.rint(np.abs(values) * _GRID) / _GRID
    return _flat(np.rint(255.0 * np.log1p(magnitude / scale) / largest).astype(np.uint8))


def _spectrum(images: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Transform of the grey levels, the unit of the logarithm, and the largest logarithm."""
    levels = grey_levels(images)
    n_pixels = levels.shape[1] * levels.shape[2]
    scale = float(np.sqrt(n_pixels))
    values = fft.rfft2(levels.astype(np.float64), axes=(1, 2))
    return values, scale, float(np.log1p(255.0 * n_pixels / scale))


def fourier_size(shape: tuple[int, ...]) -> int:
    """Give the number of coefficients in the half plane."""
    return shape[0] * (shape[1] // 2 + 1)


def haar_levels(shape: tuple[int, ...]) -> int:
    """Give how often both sides of an image divide by two."""
    height, width = shape[:2]
    levels = 0
    while height % 2 == 0 and width % 2 == 0 and min(height, width) > 1:
        height, width, levels = height // 2, width // 2, levels + 1
    return levels


def haar(images: np.ndarray) -> np.ndarray:
    """Give the Haar wavelet transform of each channel, as deep as the sides divide by two.

    In the order of :func:`pywt.wavedec2`: means of the coarsest blocks, then from coarse to fine
    the differences between rows, between columns, and of the diagonals.
    """
    planes = channels(images)
    depth = haar_levels(planes.shape[2:])
    coarsest, *details = pywt.wavedec2(planes.astype(np.float64), "haar", level=depth)
    # PyWavelets' orthonormal coefficients are the block's mean times 2^level: whole multiples of
    # 4^-level once the rounding of sqrt(2) is taken off.
    means = np.rint(coarsest / 2.0**depth * 4.0**depth) / 4.0**depth
    parts = [np.floor(means + 0.5).astype(np.uint8).reshape(*planes.shape[:2], -1)]
    for level, bands in zip(range(depth, 0, -1), details, strict=True):
        for band in bands:
            exact = np.rint(band / 2.0**level * 4.0**level) / 4.0**level
            parts.append(signed_root(exact, 127.5).reshape(*planes.shape[:2], -1))
    return _flat(np.concatenate(parts, axis=2))


def lbp(images: np.ndarray) -> np.ndarray:
    """Give the local binary pattern of each pixel of the grey levels (Ojala et al. 1996).

    Bits are 1 where a neighbour is not darker than the centre; borders are repeated.
    """
    return _flat(lbp_codes(grey_levels(images)))


def lbp_codes(levels: np.ndarray) -> np.ndarray:
    """Compute the local binary pattern of each pixel."""
    padded = _padded(levels)
    codes = np.zeros_like(levels)
    for neighbour in _neighbours(padded):
        codes <<= 1
        codes |= neighbour >= levels
    return codes


def ilbp(images: np.ndarray) -> np.ndarray:
    """Give the improved local binary pattern of each pixel (Jin et al. 2004).

    Bits are 1 where a pixel of the 3×3 window is brighter than the window's mean; the centre is
    the highest of nine bits. The lowest, the left neighbour, is left out to fit a byte.
    """
    levels = grey_levels(images)
    padded = _padded(levels)
    window = [levels, *_neighbours(padded)]
    total = np.sum(window, axis=0, dtype=np.int16)
    codes = np.zeros_like(levels)
    for pixel in window[:-1]:
        codes <<= 1
        codes |= 9 * pixel.astype(np.int16) > total
    return _flat(codes)


def _neighbours(padded: np.ndarray) -> list[np.ndarray]:
    height, width = padded.shape[1] - 2, padded.shape[2] - 2
    return [padded[:, r : r + height, c : c + width] for r, c in _NEIGHBOURS]


def _padded(levels: np.ndarray) -> np.ndarray:
    return np.pad(levels, ((0, 0), (1, 1), (1, 1)), mode="edge")


def _flat(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).reshape(len(values), -1)
