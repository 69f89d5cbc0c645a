"""The generator of the synthetic set ``mnist``: ten drawn glyphs, every one bent, thick or thin.

Frozen parameters. A glyph is a line through the points below, in a box of 20×20 pixels that is
centred in the 28×28 image like MNIST's digits. For every image:

* a class, all equally likely;
* each point moves by up to 0.07 of the box in both directions;
* the glyph is stretched by 0.75 to 1.05 in both directions, slanted by up to 0.35, turned by up to
  about 0.15 rad, and moved by up to 1.5 pixels;
* the pen has a half width of 0.7 to 1.7 pixels, a soft edge one pixel wide and a grey level of 200
  to 255; the ground is 0. No noise elsewhere, as in MNIST.

Only sums, products, quotients and square roots of uniform numbers, so that all processors draw the
same bytes.
"""

from __future__ import annotations

import numpy as np

from datasets.synthetic.tables import part_generator

SIDE = 28
BOX = 20.0
CHUNK = 1_000
N_CLASSES = 10

GLYPHS = (
    # (x to the right, y down), each in 0..1
    ((0.5, 0.0), (0.15, 0.2), (0.1, 0.7), (0.4, 1.0), (0.8, 0.85), (0.9, 0.3), (0.5, 0.0)),
    ((0.35, 0.2), (0.5, 0.0), (0.5, 0.5), (0.5, 1.0)),
    ((0.15, 0.2), (0.5, 0.0), (0.85, 0.25), (0.6, 0.6), (0.1, 1.0), (0.9, 0.95)),
    ((0.15, 0.1), (0.6, 0.0), (0.8, 0.25), (0.4, 0.48), (0.85, 0.7), (0.6, 1.0), (0.1, 0.9)),
    ((0.3, 0.0), (0.1, 0.55), (0.85, 0.5), (0.75, 0.0), (0.75, 0.5), (0.7, 1.0)),
    ((0.85, 0.0), (0.25, 0.05), (0.2, 0.45), (0.7, 0.45), (0.8, 0.8), (0.45, 1.0), (0.1, 0.9)),
    ((0.7, 0.0), (0.3, 0.35), (0.15, 0.8), (0.5, 1.0), (0.8, 0.75), (0.5, 0.55), (0.2, 0.75)),
    ((0.1, 0.05), (0.9, 0.0), (0.6, 0.45), (0.4, 1.0)),
    (
        (0.5, 0.48),
        (0.2, 0.2),
        (0.5, 0.0),
        (0.8, 0.2),
        (0.2, 0.75),
        (0.5, 1.0),
        (0.8, 0.75),
        (0.5, 0.48),
    ),
    ((0.8, 0.2), (0.45, 0.0), (0.2, 0.25), (0.5, 0.5), (0.8, 0.2), (0.75, 0.6), (0.65, 1.0)),
)


def digits(n_images: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw images of the synthetic set.

    Parameters
    ----------
    n_images : int
        How many.
    seed : int
        Repetition, 0 or more.
    part : {"train", "valid", "test"}
        Which stream.

    Returns
    -------
    images : ndarray of shape (n_images, 28, 28), uint8
        Grey levels, 0 where nothing is drawn.
    labels : ndarray of shape (n_images,), int64
        0..9.
    """
    rng = part_generator("mnist", seed, part)
    labels = rng.integers(0, N_CLASSES, n_images)
    images = np.empty((n_images, SIDE, SIDE), dtype=np.uint8)
    for start in range(0, n_images, CHUNK):
        chunk = labels[start : start + CHUNK]
        images[start : start + CHUNK] = _draw(rng, chunk)
    return images, labels.astype(np.int64)


def _draw(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Draw one image per label; (n, 28, 28) uint8."""
    n = len(labels)
    n_points = max(len(glyph) for glyph in GLYPHS)
    moves = rng.uniform(-0.07, 0.07, (n, n_points, 2))
    stretch, slant = rng.uniform(0.75, 1.05, (n, 2)), rng.uniform(-0.35, 0.35, n)
    turn, shift = rng.uniform(-0.15, 0.15, n), rng.uniform(-1.5, 1.5, (n, 2))
    half_width, grey = rng.uniform(0.7, 1.7, n), rng.uniform(200.0, 255.0, n)
    images = np.empty((n, SIDE, SIDE), dtype=np.uint8)
    for label, glyph in enumerate(GLYPHS):
        rows = np.flatnonzero(labels == label)
        points = np.array(glyph) + moves[rows, : len(glyph)]
        x = (points[..., 0] - 0.5) * stretch[rows, :1]
        y = (points[..., 1] - 0.5) * stretch[rows, 1:]
        x = x - slant[rows, None] * y
        x, y = x - turn[rows, None] * y, y + turn[rows, None] * x
        x = x * BOX + shift[rows, :1] + 0.5 * (SIDE - 1)
        y = y * BOX + shift[rows, 1:] + 0.5 * (SIDE - 1)
        distance = np.sqrt(_squared_distance(x, y))
        ink = np.clip(half_width[rows, None, None] + 0.5 - distance, 0.0, 1.0)
        images[rows] = np.rint(ink * grey[rows, None, None])
    return images


def _squared_distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Square of each pixel's distance to lines through (x, y), both (n, points); (n, 28, 28)."""
    column = np.arange(SIDE, dtype=np.float64)[None, None, :]
    row = np.arange(SIDE, dtype=np.float64)[None, :, None]
    least = np.full((len(x), SIDE, SIDE), np.inf)
    for i in range(x.shape[1] - 1):
        x0, y0 = x[:, i, None, None], y[:, i, None, None]
        dx, dy = x[:, i + 1, None, None] - x0, y[:, i + 1, None, None] - y0
        along = ((column - x0) * dx + (row - y0) * dy) / np.maximum(dx * dx + dy * dy, 2.0**-16)
        along = np.clip(along, 0.0, 1.0)
        across = (column - x0 - along * dx) ** 2 + (row - y0 - along * dy) ** 2
        np.minimum(least, across, out=least)
    return least
