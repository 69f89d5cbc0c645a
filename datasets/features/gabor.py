"""Normalised Gabor filters in the manner of the primary visual cortex (V1).

N. Pinto, D. Cox, J. DiCarlo, "Why is real-world visual object recognition hard?", PLoS
Computational Biology 2008: grey levels are normalised in 3 by 3 neighbourhoods; filtered by even
Gabor filters of 16 orientations and six frequencies; cut to 0..1; normalised again over the
neighbourhood and the filters; averaged over 17 by 17 pixels and sampled.

Deviations: three scales of two frequencies each, every one a family of its own that normalises
over its own 32 filters; the image stays 128 pixels wide (theirs 150), the filters' envelope
(standard deviation 8 instead of 9 pixels) and the average (15 pixels) shrink with it; 36 by 36
samples (theirs 30 by 30); beyond its edge the image is mirrored; without V1S+'s additional
histograms of the grey levels.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.fft
from scipy.ndimage import uniform_filter, uniform_filter1d

from datasets.features.gradients import image_by_image, luma

FREQUENCIES = ((1 / 2, 1 / 3), (1 / 4, 1 / 6), (1 / 11, 1 / 18))
"""Cycles per pixel of each scale's filters."""

ORIENTATIONS = 16
"""Orientations over 180 degrees."""

ENVELOPE = 8.0
"""Standard deviation of the filters' Gaussian envelope, in pixels."""

WINDOW = 15
"""Side of the average before sampling, in pixels."""

SAMPLES = 36
"""Samples along each side of the image."""

LOWEST, HIGHEST = -0.05, 0.2
"""Range of the 8-bit scale; of the samples about one in 10,000 lies beyond it."""

_MARGIN = 16  # pixels of mirrored image on each side: two standard deviations of the envelope


def n_gabor() -> int:
    """Count the features of a scale: samples of each filter's response."""
    return len(FREQUENCIES[0]) * ORIENTATIONS * SAMPLES**2


@functools.cache
def transfer(shape: tuple[int, int], scale: int) -> np.ndarray:
    """Give the filters of a scale in the frequency domain."""
    down = scipy.fft.fftfreq(shape[0])[:, None]
    right = scipy.fft.rfftfreq(shape[1])[None, :]
    filters = []
    for frequency in FREQUENCIES[scale]:
        for angle in np.arange(ORIENTATIONS) * (np.pi / ORIENTATIONS):
            at = frequency * np.sin(angle), frequency * np.cos(angle)
            filters.append(_two_bumps(down, right, *at))
    filters = np.stack(filters)
    filters[:, 0, 0] = 0
    # Parseval over the half plane: all columns but those of frequencies 0 and 1/2 stand for two.
    twice = np.full(filters.shape[2], 2.0)
    twice[0] = twice[-1] = 1.0
    power = np.einsum("fij,fij,j->f", filters, filters, twice) / (shape[0] * shape[1])
    return (filters / np.sqrt(power)[:, None, None]).astype(np.float32)


def _two_bumps(down, right, at_down: float, at_right: float) -> np.ndarray:
    """Gaussians around the frequency and its negative, and their copies one cycle away."""
    width = 2 * (np.pi * ENVELOPE) ** 2
    response = np.zeros(np.broadcast_shapes(down.shape, right.shape))
    for sign in (1, -1):
        y = (down - sign * at_down + 0.5) % 1 - 0.5
        x = (right - sign * at_right + 0.5) % 1 - 0.5
        response += np.exp(-width * (y * y + x * x))
    return response


def normalise(stack: np.ndarray) -> np.ndarray:
    """Subtract the mean of a neighbourhood and divide by its length where that is above 1."""
    n = 9 * len(stack)
    mean = uniform_filter(stack.sum(axis=0), 3, mode="reflect") * np.float32(9 / n)
    square = np.einsum("fij,fij->ij", stack, stack)
    length = uniform_filter(square, 3, mode="reflect") * np.float32(9) - n * mean * mean
    return (stack - mean) / np.sqrt(np.maximum(length, 1))


def responses(image: np.ndarray, scale: int) -> np.ndarray:
    """Compute the normalised responses of a scale's filters at every pixel."""
    grey = normalise(luma(image)[None].astype(np.float32))[0]
    padded = np.pad(grey, _MARGIN, mode="symmetric")
    spectrum = scipy.fft.rfft2(padded) * transfer(padded.shape, scale)
    inside = slice(_MARGIN, -_MARGIN)
    filtered = scipy.fft.irfft2(spectrum, padded.shape)[:, inside, inside]
    return normalise(np.clip(filtered, 0, 1))


@functools.cache
def _averages(size: int) -> np.ndarray:
    """Give the linear map from a line of pixels to its samples' averages, (36, size) float32."""
    at = (2 * np.arange(SAMPLES) + 1) * size // (2 * SAMPLES)
    return uniform_filter1d(np.eye(size), WINDOW, axis=0, mode="reflect")[at].astype(np.float32)


def _samples(image: np.ndarray, scale: int) -> np.ndarray:
    height, width = image.shape[:2]
    means = _averages(height) @ responses(image, scale) @ _averages(width).T
    share = (np.clip(means, LOWEST, HIGHEST) - LOWEST) / (HIGHEST - LOWEST)
    return np.rint(255 * share).astype(np.uint8).reshape(-1)


def gabor(images: np.ndarray, *, scale: int) -> np.ndarray:
    """Compute the samples of one scale's filters.

    The 8-bit value is the place between :data:`LOWEST` and :data:`HIGHEST`.
    """
    return image_by_image(images, n_gabor(), functools.partial(_samples, scale=scale))
