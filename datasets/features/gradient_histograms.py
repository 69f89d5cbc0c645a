"""Gradient histograms, the third category of section 6.1: HOG and Haar-like features.

Each function takes uint8 images of shape (n, h, w[, 3]) and gives (n, n_features) uint8.

HOG (Dalal and Triggs 2005): central differences, of the channel with the largest magnitude; cells
of c×c pixels with hard orientation bins weighted by magnitude; blocks of 2×2 cells, each normalised
to length 1, cut at 0.2, normalised again ("L2-Hys"). A value v in 0..1 is kept as 255·sqrt(v). It
is :func:`skimage.feature.hog` (tested), which takes one image a call and has no orientations over
the full circle.

A Haar-like feature is the difference v of the means of its white and black rectangles, kept as
(v + 256) / 2 rounded down; 128 is zero.
"""

from __future__ import annotations

import functools

import numpy as np

from datasets.features.intensity_histograms import random_rectangles
from datasets.features.pixels import (
    grey,
    integral_images,
    magnitude_steps,
    rectangle_sums,
    strongest_gradient,
)

BLOCK = 2
"""Cells along the side of a block."""
CUT = 0.2
"""Where normalised values are cut before they are normalised again."""
PATTERNS = (
    # white rectangles, black ones, as (top, left, bottom, right) on a grid of this many (rows,
    # columns)
    ((1, 2), ((0, 0, 1, 1),), ((0, 1, 1, 2),)),
    ((2, 1), ((0, 0, 1, 1),), ((1, 0, 2, 1),)),
    ((1, 3), ((0, 1, 1, 2),), ((0, 0, 1, 1), (0, 2, 1, 3))),
    ((3, 1), ((1, 0, 2, 1),), ((0, 0, 1, 1), (2, 0, 3, 1))),
    ((2, 2), ((0, 0, 1, 1), (1, 1, 2, 2)), ((0, 1, 1, 2), (1, 0, 2, 1))),
)
"""Viola and Jones's five: two across, two down, three across, three down, four."""


@functools.cache
def orientation_table(bins: int, oriented: bool) -> np.ndarray:
    """Give the orientation bin of every gradient."""
    difference = np.arange(-255, 256, dtype=np.float64)
    # Rounded: on the boundary of two bins arctan2 may end up on either side.
    angle = np.rad2deg(np.arctan2(difference[:, None], difference[None, :]))
    angle = np.round(angle, 9) % (360.0 if oriented else 180.0)
    table = np.floor(np.round(angle * bins / (360.0 if oriented else 180.0), 9)).astype(np.uint8)
    return (table % bins).ravel()


def cell_histograms(images: np.ndarray, cell: int, bins: int, oriented: bool) -> np.ndarray:
    """Sum gradient magnitudes by cell and orientation."""
    gx, gy = strongest_gradient(images)
    n, height, width = gx.shape
    if height % cell or width % cell:
        raise ValueError(f"images of {height}×{width} pixels have no whole {cell}×{cell} cells")
    rows, columns = height // cell, width // cell
    place = (gy.astype(np.int32) + 255) * 511 + (gx + 255)
    orientation = orientation_table(bins, oriented)[place]
    row, column = np.arange(height) // cell, np.arange(width) // cell
    index = (row[:, None] * columns + column) * bins
    index = np.arange(n)[:, None, None] * (rows * columns * bins) + index + orientation
    weights = magnitude_steps(gx, gy).ravel()
    sums = np.bincount(index.ravel(), weights=weights, minlength=n * rows * columns * bins)
    return sums.reshape(n, rows, columns, bins)


def hog(images: np.ndarray, cell: int, bins: int, oriented: bool) -> np.ndarray:
    """Give histograms of oriented gradients, in blocks of 2×2 cells, a block per step of a cell."""
    cells = cell_histograms(images, cell, bins, oriented)
    corners = [
        cells[:, r : cells.shape[1] - BLOCK + 1 + r, c : cells.shape[2] - BLOCK + 1 + c]
        for r in range(BLOCK)
        for c in range(BLOCK)
    ]
    blocks = np.stack(corners, axis=3)  # (n, rows, columns, cells of the block, bins)
    blocks = np.minimum(blocks / _length(blocks), CUT)
    blocks /= _length(blocks)
    return np.rint(255.0 * np.sqrt(blocks)).astype(np.uint8).reshape(len(images), -1)


def _length(blocks: np.ndarray) -> np.ndarray:
    """Euclidean length of each block, 1 where it is zero; summed in one fixed order."""
    total = np.zeros((*blocks.shape[:3], 1, 1))
    for i in range(blocks.shape[3]):
        for b in range(blocks.shape[4]):
            value = blocks[:, :, :, i, b]
            total[..., 0, 0] += value * value
    return np.sqrt(np.where(total > 0, total, 1.0))


def hog_size(shape: tuple[int, ...], cell: int, bins: int) -> int:
    """Give the number of HOG features of images of a shape."""
    rows, columns = shape[0] // cell - BLOCK + 1, shape[1] // cell - BLOCK + 1
    return rows * columns * BLOCK * BLOCK * bins


def haar_like(images: np.ndarray, n: int) -> np.ndarray:
    """Give frozen random Haar-like features of the grey levels."""
    levels = grey(images)
    width = levels.shape[2]
    integral = integral_images(levels)
    parts = []
    for number, (grid, white, black) in enumerate(PATTERNS):
        boxes = random_rectangles(f"haar-like {number}", levels.shape[1:], n // len(PATTERNS), grid)
        step = (boxes[:, 2:] - boxes[:, :2]) // np.array(grid)
        area = step[:, 0] * step[:, 1]
        sums = [
            sum(rectangle_sums(integral, width, _inside(boxes, step, part)) for part in colour)
            for colour in (white, black)
        ]
        # v = white/(a·|white|) - black/(a·|black|), over one denominator; (v + 256) / 2 in integers
        numerator = sums[0].astype(np.int64) * len(black) - sums[1].astype(np.int64) * len(white)
        denominator = area * (len(white) * len(black))
        parts.append((numerator + 256 * denominator) // (2 * denominator))
    return np.concatenate(parts, axis=1).astype(np.uint8)


def _inside(boxes: np.ndarray, step: np.ndarray, part: tuple[int, int, int, int]) -> np.ndarray:
    """Rectangles at a place of the grid within boxes; (m, 4)."""
    corner, (top, left, bottom, right) = boxes[:, :2], part
    return np.concatenate((corner + step * (top, left), corner + step * (bottom, right)), axis=1)
