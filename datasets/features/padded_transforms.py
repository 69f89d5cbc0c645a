"""Transforms of the set of families `mash`: whole planes, blurred gradients, inner patterns.

Each function takes uint8 images of shape (n, h, w[, 3]) and gives (n, n_features) uint8, as those
of :mod:`datasets.features.image_transforms`, channel by channel. Sides are padded with zeros, at
the right and below, to powers of two. Rules that make the values bytes:

===================== ==============================================================================
Fourier magnitude     255·log(1 + abs(v)/s) / log(1 + 255·h·w/s), s = sqrt(h·w), padded sides
Fourier phase         127.5 + 127.5·phase/π, rounded; of 0 it is 0, -π is taken for π
Haar, mean            mean of the padded plane, rounded half up
Haar, details         128 + 127·sign(d)·sqrt(abs(d)/127.5), d = half the difference of two means
blurred gradient      255·sqrt(v / (255·sqrt(2)))
LBP                   the code, 0..255
ILBP                  the code of nine bits without its highest
===================== ==============================================================================

A Haar coefficient that is scaled to be half the difference of two means is the orthonormal one
times a constant of its place: no stump can tell the two apart.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from datasets.features.pixels import (
    MAGNITUDE_STEPS,
    central_differences,
    channels,
    grey,
    magnitude_steps,
    signed_root,
)

_GRID = 2.0**10
NEIGHBOURS = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))
"""(row, column) in the 3×3 window, clockwise from the upper left."""
BLURS = 3
"""How often a plane is blurred by a box."""


def power_of_two(side: int) -> int:
    """Give the smallest power of two that is not below a side."""
    return 1 << (side - 1).bit_length()


def padded_size(shape: tuple[int, ...]) -> int:
    """Give the number of values of all channels, each padded to powers of two."""
    return power_of_two(shape[0]) * power_of_two(shape[1]) * int(np.prod(shape[2:]))


def padded(images: np.ndarray) -> np.ndarray:
    """Pad each channel with zeros to powers of two."""
    planes = channels(images)
    height, width = planes.shape[2:]
    out = np.zeros((*planes.shape[:2], power_of_two(height), power_of_two(width)))
    out[:, :, :height, :width] = planes
    return out


def fourier_polar(images: np.ndarray) -> np.ndarray:
    """Give magnitude, then phase of the discrete Fourier transform of each padded channel."""
    planes = padded(images)
    n_pixels = planes.shape[2] * planes.shape[3]
    scale = float(np.sqrt(n_pixels))
    spectrum = fft.fft2(planes, axes=(2, 3))
    real, imaginary = (
        np.rint(part * _GRID) / _GRID + 0.0  # what is zero by symmetry becomes zero, and not -0
        for part in (spectrum.real, spectrum.imag)
    )
    largest = float(np.log1p(255.0 * n_pixels / scale))
    magnitude = 255.0 * np.log1p(np.sqrt(real * real + imaginary * imaginary) / scale) / largest
    phase = 127.5 + 127.5 * np.arctan2(imaginary, real) / np.pi
    both = np.stack((np.rint(magnitude), np.rint(phase)), axis=2).astype(np.uint8)
    return both.reshape(len(images), -1)


def haar_pyramid(images: np.ndarray) -> np.ndarray:
    """Give the Haar transform of each padded channel, rows then columns, down to one mean."""
    planes = padded(images)
    height, width = planes.shape[2:]
    while height > 1 or width > 1:
        corner = planes[:, :, :height, :width]
        for axis, side in ((3, width), (2, height)):
            if side > 1:
                corner[:] = _halved(corner, axis)
        height, width = max(1, height // 2), max(1, width // 2)
    mean = planes[:, :, 0, 0].copy()
    planes[:, :, 0, 0] = 0.0
    columns = signed_root(planes, 127.5)
    columns[:, :, 0, 0] = np.floor(mean + 0.5).astype(np.uint8)
    return columns.reshape(len(images), -1)


def _halved(values: np.ndarray, axis: int) -> np.ndarray:
    """Means of neighbours along an axis, then half their differences."""
    pairs = np.moveaxis(values, axis, 0)
    even, odd = pairs[0::2], pairs[1::2]
    return np.moveaxis(np.concatenate(((even + odd) / 2, (even - odd) / 2)), 0, axis)


def blur_radius(shape: tuple[int, ...], part: int) -> int:
    """Give the radius e / `part` + 1 of a blur, e being half the smaller side, rounded down."""
    return min(shape[:2]) // 2 // part + 1


def box_sums(values: np.ndarray, radius: int, axis: int) -> np.ndarray:
    """Sum whole numbers over windows of 2·radius + 1 along an axis; borders are mirrored."""
    values = np.moveaxis(values, axis, -1)
    widths = [(0, 0)] * (values.ndim - 1) + [(radius, radius)]
    sums = np.cumsum(np.pad(values, widths, mode="symmetric"), axis=-1)
    window, length = 2 * radius + 1, values.shape[-1]
    out = sums[..., window - 1 :].copy()
    out[..., 1:] -= sums[..., : length - 1]
    return np.moveaxis(out, -1, axis)


def blurred(values: np.ndarray, radius: int, axes: tuple[int, int]) -> np.ndarray:
    """Blur whole numbers three times by a box."""
    sums = values.astype(np.int64)
    for _ in range(BLURS):
        for axis in axes:
            sums = box_sums(sums, radius, axis)
    return sums / (2 * radius + 1) ** (2 * BLURS)


def rooted_magnitude(steps: np.ndarray) -> np.ndarray:
    """Map mean gradient magnitudes to 0..255 by the square root."""
    share = steps / (MAGNITUDE_STEPS * 255.0 * np.sqrt(2.0))
    return np.rint(255.0 * np.sqrt(np.minimum(share, 1.0))).astype(np.uint8)


def blurred_gradient(images: np.ndarray, part: int) -> np.ndarray:
    """Give the gradient's magnitude in each channel, blurred three times by a box."""
    steps = magnitude_steps(*central_differences(channels(images)))
    means = blurred(steps, blur_radius(images.shape[1:], part), (2, 3))
    return rooted_magnitude(means).reshape(len(images), -1)


def inner_size(shape: tuple[int, ...]) -> int:
    """Give the number of pixels that have eight neighbours."""
    return (shape[0] - 2) * (shape[1] - 2)


def inner_lbp(images: np.ndarray) -> np.ndarray:
    """Give the local binary pattern of each inner pixel of the grey levels.

    Bits are 1 where a neighbour is brighter than the centre, clockwise from the upper left, which
    is the highest.
    """
    levels = grey(images)
    return _codes(levels, NEIGHBOURS, levels[:, 1:-1, 1:-1])


def inner_ilbp(images: np.ndarray) -> np.ndarray:
    """Give the improved local binary pattern of each inner pixel of the grey levels.

    Bits are 1 where a pixel of the 3×3 window is brighter than the window's mean, row by row, each
    shifted into a byte: of nine the first, the upper left one, falls out again.
    """
    levels = grey(images).astype(np.int16)
    window = [(r, c) for r in range(3) for c in range(3)]
    total = sum(_shifted(levels, place) for place in window)
    return _codes(9 * levels, window, total)


def _shifted(levels: np.ndarray, place: tuple[int, int]) -> np.ndarray:
    """Pixels at a place of each 3×3 window, (n, h - 2, w - 2)."""
    (row, column), (height, width) = place, levels.shape[1:]
    return levels[:, row : height - 2 + row, column : width - 2 + column]


def _codes(levels: np.ndarray, places, limit: np.ndarray) -> np.ndarray:
    """Bits of the pixels at some places that are above a limit, the first the highest."""
    codes = np.zeros(limit.shape, dtype=np.uint8)
    for place in places:
        codes <<= 1
        codes |= _shifted(levels, place) > limit
    return codes.reshape(len(levels), -1)
