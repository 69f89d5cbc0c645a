"""Sums over random rectangles, of the set of families `mash`: grey levels, edges and gradients.

Each function takes uint8 images of shape (n, h, w[, 3]) and gives (n, n_features) uint8, from the
grey levels. Rules that make the values bytes:

===================== ==============================================================================
boxed sums            sum over area, the box's mean, rounded half up
oriented edges        255·sqrt(edges / area)
gradients             255·sqrt(v / (255·sqrt(2))), v the mean magnitude of one bin
Haar-like             128 + 32·v rounded down and cut to 0..255, v in standard deviations
===================== ==============================================================================

A sum divided by the area of its own rectangle is the sum times a constant: no stump can tell the
two apart. Rectangles have two corners drawn uniformly among the corners of pixels, anew as long as
they enclose no area.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from datasets.features.faces.haar import KINDS, STEPS, ZERO, prepared
from datasets.features.intensity_histograms import random_rectangles
from datasets.features.padded_transforms import blur_radius, box_sums, rooted_magnitude
from datasets.features.pixels import (
    central_differences,
    frozen_generator,
    grey,
    integral_images,
    magnitude_steps,
    rectangle_sums,
    rooted_share,
)

ORIENTATIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""(down, right) from the dark to the bright pixel of an edge, clockwise from the right."""
NORMAL_LEVEL = 64
"""Grey level of a pixel that is as bright as its surroundings, once divided by their RMS."""
NORMAL_PART = 6
"""The surroundings reach as far as the narrower blur."""


def corner_rectangles(seed: str, shape: tuple[int, ...], n: int) -> np.ndarray:
    """Draw rectangles by two opposite corners."""
    rng = frozen_generator("mash", seed, *shape[:2], n)
    corners = np.zeros((n, 2, 2), dtype=np.int64)
    while len(flat := np.flatnonzero((corners[:, 0] == corners[:, 1]).any(axis=1))):
        drawn = rng.integers(0, np.array(shape[:2]) + 1, (len(flat), 2, 2))
        corners[flat] = np.sort(drawn, axis=1)
    return corners.reshape(n, 4)


def _choices(seed: str, bins: int, n: int) -> np.ndarray:
    """Draw one of some bins for each of n rectangles."""
    return frozen_generator("mash", seed, "bins", bins, n).integers(0, bins, n)


def _areas(rectangles: np.ndarray) -> np.ndarray:
    top, left, bottom, right = rectangles.T
    return ((bottom - top) * (right - left)).astype(np.int32)


def boxed_sums(images: np.ndarray, n: int) -> np.ndarray:
    """Give the grey levels summed over frozen random rectangles."""
    levels = grey(images)
    boxes = corner_rectangles("boxed sums", levels.shape[1:], n)
    sums, area = rectangle_sums(integral_images(levels), levels.shape[2], boxes), _areas(boxes)
    return ((2 * sums + area) // (2 * area)).astype(np.uint8)


def _of_bins(
    plane_of: Callable[[int], np.ndarray], bins: np.ndarray, boxes: np.ndarray, n_images: int
) -> np.ndarray:
    """Sum for each rectangle the plane of its bin: (n_images, n) int32, one plane at a time."""
    sums = np.empty((n_images, len(boxes)), dtype=np.int32)
    for b in np.unique(bins).tolist():
        plane = plane_of(b)
        mine = bins == b
        sums[:, mine] = rectangle_sums(integral_images(plane), plane.shape[2], boxes[mine])
    return sums


def edges_towards(levels: np.ndarray, orientation: int) -> np.ndarray:
    """Mark pixels from which an edge leads towards a brighter neighbour.

    The step up to the neighbour is larger than six other differences: between the pixel and its
    three other neighbours in the four directions at right angles to each other, and between the
    neighbour and its own three. Pixels at the border are repeated beyond it, where no edge is.
    """
    height, width = levels.shape[1:]
    wide = np.pad(levels.astype(np.int16), ((0, 0), (2, 2), (2, 2)), mode="edge")

    def at(row: int, column: int) -> np.ndarray:
        return wide[:, 2 + row : 2 + row + height, 2 + column : 2 + column + width]

    turns = [ORIENTATIONS[(orientation + turn) % len(ORIENTATIONS)] for turn in (0, 2, 4, 6)]
    (down, right), here, there = turns[0], at(0, 0), at(*turns[0])
    others = [np.abs(here - at(r, c)) for r, c in turns[1:]]
    others += [np.abs(there - at(down + r, right + c)) for r, c in (turns[0], turns[1], turns[3])]
    return there - here > np.maximum.reduce(others)


def oriented_edges(images: np.ndarray, n: int) -> np.ndarray:
    """Count the edges of one orientation in frozen random rectangles."""
    levels = grey(images)
    boxes = corner_rectangles("oriented edges", levels.shape[1:], n)
    bins = _choices("oriented edges", len(ORIENTATIONS), n)
    counts = _of_bins(lambda b: edges_towards(levels, b), bins, boxes, len(images))
    return rooted_share(counts, _areas(boxes))


@functools.cache
def shared_bins(bins: int, oriented: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Share the magnitude of every gradient between the two nearest of some bins."""
    difference = np.arange(-255, 256)
    gx, gy = (g.ravel().astype(np.float64) for g in np.meshgrid(difference, difference))
    turn = 2 * np.pi if oriented else np.pi
    # Rounded: what lies on a bin's middle may end up on either side of it.
    place = np.round(np.arctan2(gy, gx) * (bins / turn), 9) % bins
    first = np.floor(place)
    magnitude = magnitude_steps(gx.astype(np.int16), gy.astype(np.int16))
    after = np.rint(np.round(magnitude * (place - first), 6)).astype(np.int32)
    return (first % bins).astype(np.uint8), magnitude - after, after


def gradient_sums(
    images: np.ndarray, n: int, bins: int, oriented: bool, normal: bool
) -> np.ndarray:
    """Sum one bin of the gradients' orientations over each of n frozen random rectangles."""
    levels = normalised(grey(images)) if normal else grey(images)
    gx, gy = central_differences(levels)
    place = (gy.astype(np.int32) + 255) * 511 + (gx + 255)
    first, before, after = (table[place] for table in shared_bins(bins, oriented))

    def plane_of(b: int) -> np.ndarray:
        return np.where(first == b, before, 0) + np.where(first == (b - 1) % bins, after, 0)

    seed = "normalised gradients" if normal else "gradients"
    boxes = corner_rectangles(seed, levels.shape[1:], n)
    sums = _of_bins(plane_of, _choices(seed, bins, n), boxes, len(images))
    return rooted_magnitude(sums / _areas(boxes))


def normalised(levels: np.ndarray) -> np.ndarray:
    """Divide grey levels by the root of the mean square of those around."""
    squares = levels.astype(np.int64) ** 2
    radius = blur_radius(levels.shape[1:], NORMAL_PART)
    for axis in (1, 2):
        squares = box_sums(squares, radius, axis)
    rms = np.sqrt(np.maximum(squares, 1)) / (2 * radius + 1)
    return np.minimum(np.rint(NORMAL_LEVEL * (levels / rms)), 255).astype(np.uint8)


def haar_divided(images: np.ndarray, n: int) -> np.ndarray:
    """Give frozen random Haar-like features divided by the image's standard deviation."""
    levels = grey(images)
    integral, deviation = prepared(levels)
    parts = []
    for name, kind in KINDS.items():
        outlines = random_rectangles(f"mash {name}", levels.shape[1:], n // len(KINDS), kind.grid)
        step = (outlines[:, 2:] - outlines[:, :2]) // np.array(kind.grid)

        def mean(of, outlines=outlines, step=step):
            total = 0
            for part in of:
                corners = np.reshape(part, (2, 2)) * step[:, None] + outlines[:, None, :2]
                boxes = corners.reshape(-1, 4)
                total = total + rectangle_sums(integral, levels.shape[2], boxes)
            return total / (len(of) * step[:, 0] * step[:, 1])

        parts.append((mean(kind.white) - mean(kind.black)) / deviation[:, None])
    values = np.concatenate(parts, axis=1)
    return np.clip(np.floor(ZERO + STEPS * values), 0.0, 255.0).astype(np.uint8)
