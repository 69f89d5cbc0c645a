"""The generators of the synthetic sets ``inria_person`` and ``caltech101``.

Frozen parameters. All values are bytes, rounded; only sums, products, quotients and square roots of
uniform numbers, so that all processors draw the same.

``inria_person``, windows of 128×64 pixels
    Of every three windows in a row two show a person (as in the real training windows). The ground
    is colour noise, uniform in 0..255 on a lattice of 7×4 points and linear between them, plus
    noise on a lattice of 33×17 points within ±30. On every ground lie three pieces of clutter: a
    disc, a lying or standing bar, a square of half size 6 to 22 pixels, anywhere, in one colour
    each. A person stands on top: 84 to 104 pixels high, moved by up to 3 pixels, a head (disc), a
    trunk with arms (ellipse 0.30 to 0.40 of the height long) and two legs (bars, spread by 0.02 to
    0.16 of the height), trunk and legs in colours of their own, uniform in 0..255, the head in the
    trunk's colour lightened by up to 60; all cover 70 to 100 %. Every value has noise within ±8.

``caltech101``, pictures of 128×128 pixels
    Class c of 101: a main shape, number c mod 10 of :data:`datasets.synthetic.shapes.SHAPES`, and
    a companion, number c div 10, half as large, at its upper right (class 100 has none). Half size
    of the main shape 28 to 44 pixels, slanted by up to 0.25, moved by up to 12 pixels; both cover
    70 to 100 % in one colour, uniform in 0..255. The ground is colour noise on a lattice of 6×6
    points plus noise on a lattice of 33×33 points within ±25. Every value has noise within ±8.
"""

from __future__ import annotations

import numpy as np

from datasets.synthetic.shapes import SHAPES, clouds, margin
from datasets.synthetic.tables import part_generator

WINDOW = (128, 64)
CLUTTER = (("disc",), ("lying bar", "standing bar"), ("square",))
SIDE, N_CATEGORIES = 128, 101


def persons(n_images: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw windows with and without a person."""
    rng = part_generator("inria_person", seed, part)
    labels = (np.arange(n_images) % 3 != 2).astype(np.int64)
    windows = np.empty((n_images, *WINDOW, 3), dtype=np.uint8)
    for i, label in enumerate(labels):
        picture = _ground(rng, WINDOW, (7, 4), 30.0)
        for shapes in CLUTTER:
            shape = shapes[rng.integers(len(shapes))]
            centre = rng.uniform(0.0, 1.0, 2) * WINDOW
            _paint(picture, rng, shape, centre, rng.uniform(6.0, 22.0), 0.0)
        if label:
            _person(picture, rng)
        windows[i] = _bytes(picture, rng)
    return windows, labels


def categories(
    n_images: int, seed: int, part: str, n_classes: int = N_CATEGORIES
) -> tuple[np.ndarray, np.ndarray]:
    """Draw pictures of the synthetic set of Caltech-101.

    Parameters
    ----------
    n_images : int
        How many; the classes take turns.
    seed : int
        Repetition, 0 or more.
    part : {"train", "valid", "test"}
        Which stream.
    n_classes : int, default 101
        Only the first so many classes.

    Returns
    -------
    pictures : ndarray of shape (n_images, 128, 128, 3), uint8
        Red, green and blue.
    labels : ndarray of shape (n_images,), int64
        0..n_classes - 1.
    """
    rng = part_generator("caltech101", seed, part)
    labels = np.arange(n_images, dtype=np.int64) % n_classes
    drawn = np.empty((n_images, SIDE, SIDE, 3), dtype=np.uint8)
    for i, label in enumerate(labels):
        picture = _ground(rng, (SIDE, SIDE), (6, 6), 25.0)
        size, slant = rng.uniform(28.0, 44.0), rng.uniform(-0.25, 0.25)
        centre = rng.uniform(-12.0, 12.0, 2) + 0.5 * SIDE
        _paint(picture, rng, SHAPES[label % 10], centre, size, slant)
        if label < 100:
            beside = centre + size * np.array([-0.7, 0.7])
            _paint(picture, rng, SHAPES[label // 10], beside, 0.5 * size, slant)
        drawn[i] = _bytes(picture, rng)
    return drawn, labels


def five_categories(n_images: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw the first five classes of :func:`categories`, for the smallest scale."""
    return categories(n_images, seed, part, 5)


def _ground(
    rng: np.random.Generator, size: tuple[int, int], lattice: tuple[int, int], texture: float
) -> np.ndarray:
    """Draw a ground, (height, width, 3) float64."""
    fine = (size[0] // 4 + 1, size[1] // 4 + 1)
    smooth = clouds(rng.uniform(0.0, 255.0, (1, *lattice, 3)), *size)[0]
    return smooth + clouds(rng.uniform(-texture, texture, (1, *fine, 3)), *size)[0]


def _paint(
    picture: np.ndarray,
    rng: np.random.Generator,
    shape: str,
    centre: np.ndarray,
    size: float,
    slant: float,
) -> None:
    """Draw a shape in a colour of its own, in place; the centre is (row, column)."""
    colour, cover = rng.uniform(0.0, 255.0, 3), rng.uniform(0.7, 1.0)
    v, u = _around(picture, centre, size, size)
    _cover(picture, margin(shape, u - slant * v, v) * size, colour, cover)


def _person(picture: np.ndarray, rng: np.random.Generator) -> None:
    """Draw a standing person in the middle, in place."""
    height, cover = rng.uniform(84.0, 104.0), rng.uniform(0.7, 1.0)
    row, column = rng.uniform(-3.0, 3.0, 2) + 0.5 * np.array(WINDOW)
    trunk, legs = rng.uniform(0.0, 255.0, (2, 3))
    head = np.minimum(trunk + rng.uniform(0.0, 60.0), 255.0)
    long, wide = rng.uniform(0.15, 0.20) * height, rng.uniform(0.09, 0.14) * height
    spread = rng.uniform(0.02, 0.16) * height
    hip, foot = row + 0.05 * height, row + 0.5 * height
    v, u = _around(picture, np.array([hip, column]), foot - hip, 1.0)
    for side in (-0.5, 0.5):
        across = np.abs(u - side * (0.09 * height + spread * v))
        inside = np.minimum(0.045 * height - across, np.minimum(v, 1.0 - v) * (foot - hip))
        _cover(picture, inside, legs, cover)
    v, u = _around(picture, np.array([row - 0.15 * height, column]), long, wide)
    _cover(picture, (1.0 - np.sqrt(u * u + v * v)) * wide, trunk, cover)
    radius = 0.07 * height
    v, u = _around(picture, np.array([row - 0.43 * height, column]), radius, radius)
    _cover(picture, (1.0 - np.sqrt(u * u + v * v)) * radius, head, cover)


def _around(
    picture: np.ndarray, centre: np.ndarray, height: float, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """Give each pixel's place down and to the right of a centre, in `height` and `width`."""
    v = (np.arange(picture.shape[0]) - centre[0])[:, None] / height
    u = (np.arange(picture.shape[1]) - centre[1])[None, :] / width
    return np.broadcast_arrays(v, u)


def _cover(picture: np.ndarray, inside: np.ndarray, colour: np.ndarray, cover: float) -> None:
    """Mix a colour in where `inside`, in pixels, is positive, with a soft edge."""
    share = (np.clip(inside + 0.5, 0.0, 1.0) * cover)[..., None]
    picture += share * (colour - picture)


def _bytes(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    noisy = picture + rng.uniform(-8.0, 8.0, picture.shape)
    return np.rint(np.clip(noisy, 0.0, 255.0)).astype(np.uint8)
