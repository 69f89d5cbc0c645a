"""The generator of synthetic ``cbcl``: windows of 19×19 grey pixels with and without a face.

Frozen parameters. All values are bytes, rounded; only sums, products, quotients and square roots of
uniform numbers, so that all processors draw the same. Places are in pixels from the window's upper
left corner; the middle is (9.5, 9.5).

ground
    Grey levels uniform in 0..255 on a lattice of 4×4 points and linear between them, plus noise on
    a lattice of 9×9 points within ±45.
clutter
    On every ground two soft ellipses anywhere, with half axes of 2 to 8 pixels, each in a grey
    level of its own, uniform in 0..255, covering 50 to 100 %.
face
    On top: an ellipse of half axes 8.5 to 10.5 (down) and 6.5 to 8.5 (across) around the middle,
    moved by up to 1 pixel, of a brightness uniform in 110..230; light from one side adds up to ±40
    at the left and the opposite at the right edge. Two eyes, half axes 1.0 to 1.6 and 1.6 to 2.4, 3
    pixels above the middle, 3.6 beside it, darker by 35 to 100; brows above them, 2.2 pixels
    higher, half axes 0.8 and 2.6, darker by 10 to 60; a nose, half axes 2.8 and 1.0, 1 pixel below
    the middle, brighter by 5 to 40; a mouth, half axes 0.9 to 1.5 and 2.5 to 4.0, 5 pixels below
    the middle, darker by 20 to 80. Each part is moved by up to 0.5 pixels.
near misses
    Every sixth window without a face has one all the same: moved by 4 to 7 pixels up or down and
    by up to 4 sideways, as the windows beside a face are when a picture is scanned.
all
    A contrast of 0.5 to 1 around a grey level of 128, and noise within ±8.

Shares of faces are those of the real set: 2,429 of 6,977 training and 472 of 24,044 test windows.
Real faces are far more varied, and their expressions, glasses and beards are missing; so are the
pictures that real windows without faces were cut from, and the selection of the hard ones among
them.
"""

from __future__ import annotations

import numpy as np

from datasets.synthetic.shapes import clouds
from datasets.synthetic.tables import part_generator

SIDE = 19
SHARE = {"train": 2_429 / 6_977, "test": 472 / 24_044}
NEAR_MISS = 6
"""One of so many windows without a face has one beside the middle."""
CHUNK = 1_000
MIDDLE = 0.5 * SIDE

PARTS = (
    # down, across from the middle; half axes down and across; how much brighter; each (least, most)
    (-3.0, -3.6, (1.0, 1.6), (1.6, 2.4), (-100.0, -35.0)),
    (-3.0, 3.6, (1.0, 1.6), (1.6, 2.4), (-100.0, -35.0)),
    (-5.2, -3.6, (0.8, 0.8), (2.6, 2.6), (-60.0, -10.0)),
    (-5.2, 3.6, (0.8, 0.8), (2.6, 2.6), (-60.0, -10.0)),
    (1.0, 0.0, (2.8, 2.8), (1.0, 1.0), (5.0, 40.0)),
    (5.0, 0.0, (0.9, 1.5), (2.5, 4.0), (-80.0, -20.0)),
)
"""Eyes, brows, nose and mouth."""


def windows(n_images: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw windows, those with a face first.

    Parameters
    ----------
    n_images : int
        How many.
    seed : int
        Repetition, 0 or more.
    part : {"train", "test"}
        Which stream, and which share of faces.

    Returns
    -------
    windows : ndarray of shape (n_images, 19, 19), uint8
        Grey levels.
    labels : ndarray of shape (n_images,), int64
        1 = face.
    """
    rng = part_generator("cbcl", seed, part)
    n_faces = round(SHARE[part] * n_images)
    labels = (np.arange(n_images) < n_faces).astype(np.int64)
    miss = (np.arange(n_images) >= n_faces) & (np.arange(n_images) % NEAR_MISS == 0)
    drawn = np.empty((n_images, SIDE, SIDE), dtype=np.uint8)
    for start in range(0, n_images, CHUNK):
        chunk = slice(start, start + CHUNK)
        drawn[chunk] = _draw(rng, labels[chunk] == 1, miss[chunk])
    return drawn, labels


def _draw(rng: np.random.Generator, face: np.ndarray, miss: np.ndarray) -> np.ndarray:
    """Draw some windows; every window takes the same numbers, whether it shows them or not."""
    n = len(face)
    picture = _clouds(rng.uniform(0.0, 255.0, (n, 4, 4)))
    picture += _clouds(rng.uniform(-45.0, 45.0, (n, 9, 9)))
    for _ in range(2):
        place, half = rng.uniform(0.0, SIDE, (2, n)), rng.uniform(2.0, 8.0, (2, n))
        level, cover = rng.uniform(0.0, 255.0, n), rng.uniform(0.5, 1.0, n)
        share = _ellipse(place, half) * cover[:, None, None]
        picture += share * (level[:, None, None] - picture)
    middle = MIDDLE + rng.uniform(-1.0, 1.0, (2, n))
    away = rng.uniform(4.0, 7.0, n) * np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
    aside = rng.uniform(-4.0, 4.0, n)
    middle += np.where(miss, (away, aside), 0.0)
    shown, share = _face(rng, middle)
    share *= (face | miss)[:, None, None]
    picture += share * (shown - picture)
    contrast = rng.uniform(0.5, 1.0, n)[:, None, None]
    noisy = 128.0 + contrast * (picture - 128.0) + rng.uniform(-8.0, 8.0, picture.shape)
    return np.rint(np.clip(noisy, 0.0, 255.0)).astype(np.uint8)


def _face(rng: np.random.Generator, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw faces around places (2, n): grey levels and how much they cover, (n, 19, 19) each."""
    n = middle.shape[1]
    half = np.stack((rng.uniform(8.5, 10.5, n), rng.uniform(6.5, 8.5, n)))
    light = rng.uniform(-40.0, 40.0, n)[:, None, None]
    across = (np.arange(SIDE) + 0.5 - middle[1][:, None])[:, None, :] / half[1][:, None, None]
    shown = rng.uniform(110.0, 230.0, n)[:, None, None] - light * across
    shown = np.broadcast_to(shown, (n, SIDE, SIDE)).copy()
    for down, right, tall, wide, brighter in PARTS:
        place = middle + np.array([[down], [right]]) + rng.uniform(-0.5, 0.5, (2, n))
        axes = np.stack((rng.uniform(*tall, n), rng.uniform(*wide, n)))
        shown += _ellipse(place, axes) * rng.uniform(*brighter, n)[:, None, None]
    return shown, _ellipse(middle, half)


def _ellipse(place: np.ndarray, half: np.ndarray) -> np.ndarray:
    """How much of each pixel ellipses cover, with a soft edge; (n, 19, 19)."""
    at = np.arange(SIDE) + 0.5
    down = (at - place[0][:, None])[:, :, None] / half[0][:, None, None]
    across = (at - place[1][:, None])[:, None, :] / half[1][:, None, None]
    inside = (1.0 - np.sqrt(down * down + across * across)) * np.minimum(*half)[:, None, None]
    return np.clip(inside + 0.5, 0.0, 1.0)


def _clouds(lattice: np.ndarray) -> np.ndarray:
    return clouds(lattice[..., None], SIDE, SIDE)[..., 0]
