"""Haar-like features of small grey windows, divided by the window's standard deviation.

P. Viola and M. Jones, Rapid object detection using a boosted cascade of simple features, CVPR
(2001): five kinds of neighbouring rectangles of one size, white and black, their sums read from an
integral image. A value v is the difference of the means of the white and the black rectangles, in
standard deviations of the window (with its mean, over its number of pixels), kept as
128 + 32 v rounded down and cut to 0..255: 128 is zero, 0 and 255 are four standard deviations. A
constant window has no standard deviation; all its differences are 0, and so are its values.

Which features: of all positions and sizes inside the window (63,960 in 19×19 pixels, 162,336 in
24×24) as many of each kind as asked for, drawn once, without replacement, all equally likely.

Rectangle sums are whole numbers; what follows are one product, quotients and a square root in
double precision, so that every processor gives the same bytes.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from datasets.features.pixels import frozen_generator, integral_images, rectangle_sums

STEPS, ZERO = 32.0, 128.0
"""Bytes for a standard deviation, and the byte of zero."""


@dataclass(frozen=True)
class Kind:
    """One of Viola and Jones's kinds of features."""

    grid: tuple[int, int]  # Rectangles down and across
    # white, black: Where on the grid: top, left, bottom, right; the last two are exclusive
    white: tuple[tuple[int, int, int, int], ...]
    black: tuple[tuple[int, int, int, int], ...]


KINDS = {
    "two_across": Kind((1, 2), ((0, 0, 1, 1),), ((0, 1, 1, 2),)),
    "two_down": Kind((2, 1), ((0, 0, 1, 1),), ((1, 0, 2, 1),)),
    "three_across": Kind((1, 3), ((0, 1, 1, 2),), ((0, 0, 1, 1), (0, 2, 1, 3))),
    "three_down": Kind((3, 1), ((1, 0, 2, 1),), ((0, 0, 1, 1), (2, 0, 3, 1))),
    "four": Kind((2, 2), ((0, 0, 1, 1), (1, 1, 2, 2)), ((0, 1, 1, 2), (1, 0, 2, 1))),
}
"""Two side by side, two on top of each other, three in a row, three in a column, a chessboard."""


def all_boxes(kind: str, shape: tuple[int, int]) -> np.ndarray:
    """Give the outlines of all features of a kind that fit into a window."""
    down, across = (_spans(n, step) for n, step in zip(shape, KINDS[kind].grid, strict=True))
    rows = np.repeat(down, len(across), axis=0)
    columns = np.tile(across, (len(down), 1))
    boxes = np.stack((rows[:, 0], columns[:, 0], rows[:, 1], columns[:, 1]), axis=1)
    return boxes[np.lexsort(boxes.T[::-1])]


def _spans(length: int, step: int) -> np.ndarray:
    """All (start, end) inside a length whose extent is a multiple of a step."""
    spans = [
        (start, end) for start in range(length) for end in range(start + step, length + 1, step)
    ]
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


@functools.cache
def boxes(kind: str, shape: tuple[int, int], n: int) -> np.ndarray:
    """Give the outlines of the frozen features of a kind."""
    every = all_boxes(kind, shape)
    if not 1 <= n <= len(every):
        raise ValueError(f"there are {len(every)} features {kind} in {shape}, not {n}")
    rng = frozen_generator("faces haar", kind, *shape)
    chosen = every[np.sort(rng.choice(len(every), n, replace=False))]
    chosen.setflags(write=False)
    return chosen


def prepared(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute what all features of a window share: integral image and standard deviation."""
    n_pixels = images.shape[1] * images.shape[2]
    integral = integral_images(images)
    total = integral[:, -1].astype(np.int64)
    flat = images.reshape(len(images), -1).astype(np.int64)
    squares = np.einsum("ij,ij->i", flat, flat)
    spread = np.sqrt((n_pixels * squares - total * total).astype(np.float64)) / n_pixels
    return integral, np.where(spread > 0, spread, 1.0)


def values(
    integral: np.ndarray, deviation: np.ndarray, shape: tuple[int, int], kind: str, n: int
) -> np.ndarray:
    """Give features, in standard deviations, from what :func:`prepared` gives: (n_images, n)."""
    layout, outlines = KINDS[kind], boxes(kind, shape, n)
    step = (outlines[:, 2:] - outlines[:, :2]) // np.array(layout.grid)
    white, black = (
        sum(rectangle_sums(integral, shape[1], _inside(outlines, step, part)) for part in parts)
        for parts in (layout.white, layout.black)
    )
    difference = white * len(layout.black) - black * len(layout.white)
    area = step[:, 0] * step[:, 1] * (len(layout.white) * len(layout.black))
    return difference / area / deviation[:, None]


def haar(images: np.ndarray, kind: str, n: int) -> np.ndarray:
    """Give the features of a kind as bytes; 128 is zero."""
    responses = values(*prepared(images), images.shape[1:], kind, n)
    return np.clip(np.floor(ZERO + STEPS * responses), 0.0, 255.0).astype(np.uint8)


def _inside(outlines: np.ndarray, step: np.ndarray, part: tuple[int, int, int, int]) -> np.ndarray:
    """Rectangles at a place of the grid within outlines; (n, 4)."""
    corner, (top, left, bottom, right) = outlines[:, :2], part
    return np.concatenate((corner + step * (top, left), corner + step * (bottom, right)), axis=1)
