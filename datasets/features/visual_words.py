"""Dense SIFT descriptors as visual words, counted in the cells of a spatial pyramid.

Descriptors (D. Lowe, IJCV 2004) on a regular grid, one every eight pixels, of four sizes, as in
P. Gehler & S. Nowozin, ICCV 2009 (radius 4, 8, 12 and 16 pixels), of grey levels or of three
opponent colours; each becomes its nearest word in a codebook of 300 or 1,000; the words are counted
in each cell (S. Lazebnik, C. Schmid, J. Ponce, CVPR 2006).

Deviations. Gehler and Nowozin learn the codebook by k-means on training images; then a feature
would depend on other images of the set. Ours is fixed: descriptors drawn by a seeded generator from
four photographs that come with scikit-image, none of which belongs to a set of this project, the
first word standing for no contrast. Colours are opponent colours, which exist for grey pixels, too.
The descriptor's cells are unweighted boxes.

Descriptors and words are whole numbers with norms of about 512, so that every scalar product is
below 2^24 and exact in single precision whatever the order of the sum: the nearest word does not
depend on the processor.
"""

from __future__ import annotations

import functools
import hashlib

import numpy as np
from skimage import data

from datasets.errors import ChecksumMismatch
from datasets.features.gradients import (
    cell_numbers,
    differences,
    image_by_image,
    luma,
    n_cells,
    opponent,
)
from datasets.features.scenes.words import nearest

SPACING = 8
"""Pixels between neighbouring descriptors."""

RADII = (4, 8, 12, 16)
"""Half the side of a descriptor, in pixels; it has 4 by 4 cells."""

DIRECTIONS = 8
"""Directions of the gradient in a descriptor."""

NORM = 512
"""Length of a descriptor before rounding."""

FLAT = 4
"""Mean central difference, in grey levels, below which a descriptor is all zeros."""

PHOTOGRAPHS = {
    "astronaut": "a8c429c18afa7b0fd5673e598d73a21225d94c864a71bbb3885126fdecb41071",
    "chelsea": "416b729128bfb2c3d1eb69bf9b1734a796293abc17939267b2dc94f8a5784031",
    "coffee": "0ce2b51640b9c95f19617f03eabf40c3f0368589cc1ee1190b70966165ac184f",
    "motorcycle": "ca829467c1d4f427da9c4862ba43829da6ac90afe1f75735e95dba9e3fd9620b",
}
"""Pictures that the codebooks are drawn from, in half and quarter size, and the SHA-256
of their pixels."""

SEED = 20140101
"""Seed of the draw."""

_FINENESS = 8  # steps a grey level: magnitudes in eighths, rounded


def n_words(words: int, level: int) -> int:
    """Count the features of a level."""
    return words * n_cells(level)


@functools.cache
def _direction_weights() -> np.ndarray:
    """Share each possible gradient between its two nearest directions."""
    step = np.arange(-255, 256)
    down, right = step[:, None], step[None, :]
    magnitude = np.sqrt(down * down + right * right) * _FINENESS
    place = np.arctan2(down, right) * (DIRECTIONS / (2 * np.pi)) % DIRECTIONS
    distance = np.abs(place[:, :, None] - np.arange(DIRECTIONS))
    distance = np.minimum(distance, DIRECTIONS - distance)
    weights = magnitude[:, :, None] * np.maximum(1 - distance, 0)
    return np.rint(weights).astype(np.int16).reshape(-1, DIRECTIONS)


def _integral(channel: np.ndarray) -> np.ndarray:
    """Sum the directions' weights over all pixels above and to the left of each corner."""
    down, right = differences(channel)
    weights = _direction_weights().take((down + 255) * 511 + (right + 255), axis=0)
    sums = np.zeros((channel.shape[0] + 1, channel.shape[1] + 1, DIRECTIONS), dtype=np.int32)
    np.cumsum(weights, axis=0, dtype=np.int32, out=sums[1:, 1:])
    np.cumsum(sums[1:, 1:], axis=1, out=sums[1:, 1:])
    return sums


def _boxes(integral: np.ndarray, radius: int) -> np.ndarray:
    """Sum over 4 by 4 boxes around each grid point; beyond the image's edge there is nothing."""
    corner = (np.arange(5) - 2) * (radius // 2) + SPACING // 2
    rows, columns = (
        np.clip(np.arange(0, size - 1, SPACING)[:, None] + corner, 0, size - 1)
        for size in integral.shape[:2]
    )
    at = integral[rows[:, :, None, None], columns]
    boxes = np.diff(np.diff(at, axis=1), axis=3)
    return boxes.swapaxes(1, 2).reshape(-1, 16 * DIRECTIONS)


def _normalised(boxes: np.ndarray, radius: int) -> np.ndarray:
    """Give descriptors of length 512 with no entry above a fifth before the last scaling."""
    n_channels = boxes.shape[1] // (16 * DIRECTIONS)
    boxes = boxes.astype(np.float64)
    least = FLAT * _FINENESS * (2 * radius) ** 2 * n_channels
    boxes[boxes.sum(axis=1) < least] = 0
    for largest in (0.2, 1.0):
        length = np.sqrt(np.einsum("ij,ij->i", boxes, boxes))
        boxes /= np.maximum(length, 1e-9)[:, None]
        np.minimum(boxes, largest, out=boxes)
    return np.rint(NORM * boxes).astype(np.float32)


def descriptors(image: np.ndarray, colour: bool) -> np.ndarray:
    """Compute the descriptors of an image."""
    channels = opponent(image) if colour else luma(image)[None]
    integrals = [_integral(channel) for channel in channels]
    return np.stack(
        [
            _normalised(np.hstack([_boxes(part, radius) for part in integrals]), radius)
            for radius in RADII
        ]
    )


def _photographs():
    """Give the photographs in half and quarter size, cut to multiples of eight pixels."""
    for name, digest in PHOTOGRAPHS.items():
        image = data.stereo_motorcycle()[0] if name == "motorcycle" else getattr(data, name)()
        checksum = hashlib.sha256(np.ascontiguousarray(image)).hexdigest()
        if checksum != digest:
            advice = "scikit-image brought another picture; install the version of the lock file"
            raise ChecksumMismatch(f"photograph {name!r}", digest, checksum, advice)
        for size in (2, 4):
            height, width = (side // (8 * size) * 8 for side in image.shape[:2])
            part = image[: height * size, : width * size]
            blocks = part.reshape(height, size, width, size, 3).sum(axis=(1, 3), dtype=np.int64)
            yield ((blocks + size * size // 2) // (size * size)).astype(np.uint8)


@functools.cache
def codebook(words: int, colour: bool) -> np.ndarray:
    """Give the words."""
    pool = np.concatenate([np.concatenate(descriptors(p, colour)) for p in _photographs()])
    pool = np.unique(pool[pool.any(axis=1)], axis=0)
    chosen = np.random.default_rng(SEED).choice(len(pool), words - 1, replace=False)
    book = np.concatenate((np.zeros_like(pool[:1]), pool[chosen]))
    book.setflags(write=False)
    return book


def _word_counts(image: np.ndarray, words: int, colour: bool, level: int) -> np.ndarray:
    words_at = nearest(descriptors(image, colour), codebook(words, colour))
    grid = (image.shape[0] // SPACING, image.shape[1] // SPACING)
    place = cell_numbers(grid, level).reshape(-1) * words + words_at
    counts = np.bincount(place.reshape(-1), minlength=n_words(words, level))
    share = counts * (n_cells(level) / place.size)
    return np.rint(255 * np.sqrt(share)).astype(np.uint8)


def visual_words(images: np.ndarray, *, words: int, colour: bool, level: int) -> np.ndarray:
    """Count the visual words of one level of the pyramid.

    The 8-bit value is 255 times the square root of the word's share of the cell's descriptors, of
    all four sizes.
    """
    function = functools.partial(_word_counts, words=words, colour=colour, level=level)
    return image_by_image(images, n_words(words, level), function)
