"""Pairs of an even and an odd filter for an orientation and a frequency, by Fourier transform.

The transfer functions are those of A. Torralba's programs for GIST: a Gaussian of the relative
distance to the central frequency and of the angle to the orientation. They cover one half of the
plane only, so that the response is complex: its real part is the even filter's, its imaginary part
the odd one's, its absolute value the local energy. The picture is mirrored beyond its edges.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.fft

ORIENTATIONS = 8
MARGIN = 32
"""Pixels of mirrored picture on each side."""


@functools.lru_cache(maxsize=8)
def transfer(shape: tuple[int, int], frequencies: tuple[float, ...]) -> np.ndarray:
    """Give the filters."""
    down, right = scipy.fft.fftfreq(shape[0])[:, None], scipy.fft.fftfreq(shape[1])[None, :]
    radius, angle = np.hypot(down, right), np.arctan2(down, right)
    filters = []
    for frequency in frequencies:
        for k in range(ORIENTATIONS):
            away = (angle - k * np.pi / ORIENTATIONS + np.pi) % (2 * np.pi) - np.pi
            filters.append(np.exp(-3.5 * (radius / frequency - 1) ** 2 - 2 * np.pi * away**2))
    filters = np.stack(filters)
    filters[:, 0, 0] = 0
    return filters.astype(np.float32)


def responses(picture: np.ndarray, frequencies: tuple[float, ...]) -> np.ndarray:
    """Filter a picture."""
    padded = np.pad(picture, MARGIN, mode="symmetric")
    spectrum = scipy.fft.fft2(padded) * transfer(padded.shape, frequencies)
    inside = slice(MARGIN, -MARGIN)
    return scipy.fft.ifft2(spectrum, overwrite_x=True)[:, inside, inside]
