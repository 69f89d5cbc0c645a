"""The generator of the synthetic set ``cifar10``: ten coloured shapes on a cloudy coloured ground.

Frozen parameters. For every image of 32×32 pixels:

* a class, all equally likely, is a shape: disc, ring, square, frame, diamond, lying bar, standing
  bar, cross, triangle, pair of discs;
* the ground is three channels of noise, uniform in 0..255 on a lattice of 5×5 points and linear
  between them;
* the shape is drawn in one colour, uniform in 0..255 in each channel, over the ground; it has a
  half size of 7 to 12 pixels, is slanted by up to 0.3, moved by up to 4 pixels, and covers 70 to
  100 % with a soft edge. Colour says nothing about the class, and some shapes hardly show;
* every value has noise, uniform within ±12.

Only sums, products, quotients and square roots of uniform numbers, so that all processors draw the
same bytes.
"""

from __future__ import annotations

import numpy as np

from datasets.synthetic.tables import part_generator

SIDE, LATTICE = 32, 5
CHUNK = 500
SHAPES = (
    *("disc", "ring", "square", "frame", "diamond"),
    *("lying bar", "standing bar", "cross", "triangle", "pair"),
)


def shapes(n_images: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw images of the synthetic set."""
    rng = part_generator("cifar10", seed, part)
    labels = rng.integers(0, len(SHAPES), n_images)
    images = np.empty((n_images, SIDE, SIDE, 3), dtype=np.uint8)
    for start in range(0, n_images, CHUNK):
        chunk = labels[start : start + CHUNK]
        images[start : start + CHUNK] = _draw(rng, chunk)
    return images, labels.astype(np.int64)


def _draw(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Draw one image per label; (n, 32, 32, 3) uint8."""
    n = len(labels)
    picture = clouds(rng.uniform(0.0, 255.0, (n, LATTICE, LATTICE, 3)))
    colour = rng.uniform(0.0, 255.0, (n, 1, 1, 3))
    size, slant = rng.uniform(7.0, 12.0, (n, 1, 1)), rng.uniform(-0.3, 0.3, (n, 1, 1))
    shift, cover = rng.uniform(-4.0, 4.0, (n, 2, 1, 1)), rng.uniform(0.7, 1.0, (n, 1, 1))
    at = np.arange(SIDE) - 0.5 * (SIDE - 1)
    v = (at[None, :, None] - shift[:, 0]) / size
    u = (at[None, None, :] - shift[:, 1]) / size - slant * v
    u, v = np.broadcast_arrays(u, v)
    inside = np.empty(u.shape)
    for label, shape in enumerate(SHAPES):
        rows = labels == label
        inside[rows] = margin(shape, u[rows], v[rows])
    covered = (np.clip(inside * size + 0.5, 0.0, 1.0) * cover)[..., None]
    picture += covered * (colour - picture)
    picture += rng.uniform(-12.0, 12.0, picture.shape)
    return np.rint(np.clip(picture, 0.0, 255.0)).astype(np.uint8)


def clouds(lattice: np.ndarray, height: int = SIDE, width: int = SIDE) -> np.ndarray:
    """Interpolate values on a lattice linearly to the pixels of an image."""
    return _stretched(_stretched(lattice, height, 1), width, 2)


def _stretched(values: np.ndarray, length: int, axis: int) -> np.ndarray:
    """Interpolate along one axis, the second or third of four."""
    at = np.arange(length) * ((values.shape[axis] - 1) / length)
    low = at.astype(np.int64)
    share = (at - low).reshape(-1, *(1,) * (3 - axis))
    stretched = values.take(low, axis) * (1.0 - share)
    stretched += values.take(low + 1, axis) * share
    return stretched


def margin(shape: str, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Say how far inside a shape of half size 1 points are; negative outside."""
    radius = np.sqrt(u * u + v * v)
    wide, high = np.abs(u), np.abs(v)
    lying = np.minimum(1.0 - wide, 0.3 - high)
    standing = np.minimum(0.3 - wide, 1.0 - high)
    square = 0.85 - np.maximum(wide, high)
    beside = wide - 0.5
    return {
        "disc": 0.9 - radius,
        "ring": np.minimum(0.95 - radius, radius - 0.5),
        "square": square,
        "frame": np.minimum(square, 0.35 - square),
        "diamond": 0.7 * (1.15 - wide - high),
        "lying bar": lying,
        "standing bar": standing,
        "cross": np.maximum(lying, standing),
        "triangle": np.minimum(0.9 - v, 0.85 * (0.5 * (v + 1.0) - wide)),
        "pair": 0.45 - np.sqrt(beside * beside + v * v),
    }[shape]
