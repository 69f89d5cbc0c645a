"""A picture at smaller and smaller scales, so that windows of one size see what is larger."""

from __future__ import annotations

import numpy as np

from ..kernels.decorators import kernel


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
    small = np.empty(shape, dtype=np.uint8)
    _shrink(np.ascontiguousarray(picture), small)
    return small


@kernel
def _shrink(picture, small):
    """Fill the smaller picture. A pixel has as many parts down and across as there are new ones."""
    (height, width), (n_down, n_across) = picture.shape, small.shape
    area = np.float64(height) * np.float64(width)
    row, before = np.empty(width, dtype=np.int64), np.zeros(width + 1, dtype=np.int64)
    for i in range(n_down):
        row[:] = 0
        begin, end = i * height, (i + 1) * height
        for r in range(begin // n_down, (end - 1) // n_down + 1):
            share = min(end, (r + 1) * n_down) - max(begin, r * n_down)
            for c in range(width):
                row[c] += share * np.int64(picture[r, c])
        for c in range(width):
            before[c + 1] = before[c] + row[c]
        until, whole, part = np.int64(0), np.int64(0), np.int64(0)
        for j in range(n_across):
            last = until
            whole += width // n_across
            part += width % n_across
            if part >= n_across:
                whole, part = whole + 1, part - n_across
            until = before[whole] * n_across + (row[whole] * part if part > 0 else 0)
            # Whole numbers far below 2**53: a quotient that is no whole number is not rounded to
            # one, and so its floor is that of the fraction.
            small[i, j] = np.uint8((np.float64(until - last) + 0.5 * area) / area)


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
