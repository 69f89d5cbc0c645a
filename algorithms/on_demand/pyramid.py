"""A picture at smaller and smaller scales, so that windows of one size see what is larger."""

from __future__ import annotations

import numpy as np


def shrunk(picture: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Shrink a picture to the mean over the area that each new pixel covers.

    Parameters
    ----------
    picture : ndarray of shape (height, width), uint8
    shape : tuple of int
        Height and width, not larger.

    Returns
    -------
    ndarray of the given shape, uint8
        Means of whole numbers, rounded half up: the same on every processor.
    """
    sums = _summed(_summed(picture.astype(np.int64), shape[0]).T, shape[1]).T
    area = picture.size
    return ((2 * sums + area) // (2 * area)).astype(np.uint8)


def _summed(pixels: np.ndarray, n_new: int) -> np.ndarray:
    """Sum rows into `n_new` rows of equal height; a whole row counts `n_new` times."""
    whole, part = np.divmod(np.arange(n_new + 1) * len(pixels), n_new)
    above = np.zeros((len(pixels) + 1, pixels.shape[1]), dtype=np.int64)
    np.cumsum(pixels, axis=0, out=above[1:])
    cut = pixels[np.minimum(whole, len(pixels) - 1)]  # after the last row nothing is cut
    return np.diff(above[whole] * n_new + cut * part[:, None], axis=0)


def level_shapes(
    shape: tuple[int, int], window: tuple[int, int], scale_step: float, n_scales: int | None
) -> list[tuple[int, int]]:
    """Give the sizes at which a picture is scanned.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the picture, at least those of the window.
    window : tuple of int
    scale_step : float
        How many times smaller each is than the one before; above 1.
    n_scales : int or None
        At most so many; None: as long as a window fits.

    Returns
    -------
    list of tuple of int
        The picture's own first; each smaller than the one before.
    """
    shapes, k = [shape], 1
    while n_scales is None or len(shapes) < n_scales:
        smaller = tuple(round(side / scale_step**k) for side in shape)
        if smaller[0] < window[0] or smaller[1] < window[1]:
            break
        if smaller != shapes[-1]:  # a step just above 1 need not change any side
            shapes.append(smaller)
        k += 1
    return shapes
