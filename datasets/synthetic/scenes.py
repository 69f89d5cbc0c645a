"""The generators of the synthetic set ``scene15``: pictures, and descriptors without pictures.

Frozen parameters.

:func:`pictures`, 200×200 grey pixels, for what needs pixels (a test)
    Class c of 15: a horizon at 0.25, 0.5 or 0.75 of the height (c mod 3), moved by up to 0.08;
    below it stripes of one of five orientations (c div 3 times 36 degrees, turned by up to 8
    degrees), 8 to 14 pixels apart, of amplitude 25 to 60, moved at random. Both sides of the
    horizon have a grey level of their own, uniform in 60..195, and clouds on lattices of 5×5 and
    26×26 points, uniform within ±40 and ±20. Every pixel has noise within ±8.

:func:`descriptors`, bytes of 108 descriptors, for tables
    A row has a place z in 8 dimensions: its class's centre (standard normal, times 1.6) and
    standard normal noise, the same for all descriptors, so that hard rows are hard for all of
    them. Descriptor g has 12 values: a fixed mixture of z (standard normal, divided by the square
    root of 8) plus noise of its own, of standard deviation 1.1 for the first seven and 2.5 for the
    others, which stand for the detectors; as bytes, 32 times the value added to 128, a seventh of
    them cut off at 0 or 255.
    That the first seven are the better ones is built in; the prices are those measured for the
    real set.
"""

from __future__ import annotations

import functools
import zlib

import numpy as np

from datasets.synthetic.shapes import clouds
from datasets.synthetic.tables import part_generator

SIDE, N_CLASSES = 200, 15
N_LATENT, N_VALUES = 8, 12
SPREAD, NOISE_FIRST, NOISE_OTHERS = 1.6, 1.1, 2.5
N_FIRST = 7


def pictures(n_images: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw pictures."""
    rng = part_generator("scene15", seed, part)
    labels = np.arange(n_images, dtype=np.int64) % N_CLASSES
    drawn = np.empty((n_images, SIDE, SIDE), dtype=np.uint8)
    v, u = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
    for i, label in enumerate(labels):
        horizon = SIDE * (0.25 * (label % 3 + 1) + rng.uniform(-0.08, 0.08))
        angle = np.deg2rad(36.0 * (label // 3) + rng.uniform(-8.0, 8.0))
        right, down = np.round((np.cos(angle), np.sin(angle)), 9)
        levels, period = rng.uniform(60.0, 195.0, 2), rng.uniform(8.0, 14.0)
        phase = (u * right + v * down) / period + rng.uniform()
        stripes = rng.uniform(25.0, 60.0) * (4.0 * np.abs(phase % 1.0 - 0.5) - 1.0)
        picture = np.where(v < horizon, levels[0], levels[1] + stripes)
        for points, amplitude in ((5, 40.0), (26, 20.0)):
            lattice = rng.uniform(-amplitude, amplitude, (1, points, points, 1))
            picture += clouds(lattice, SIDE, SIDE)[0, :, :, 0]
        picture += rng.uniform(-8.0, 8.0, picture.shape)
        drawn[i] = np.rint(np.clip(picture, 0.0, 255.0)).astype(np.uint8)
    return drawn, labels


@functools.lru_cache(maxsize=2)
def _structure(n_descriptors: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the classes' centres and the descriptors' mixtures; coarse numbers, stable anywhere."""
    rng = np.random.default_rng(zlib.crc32(b"scene15 structure"))
    centres = np.round(SPREAD * rng.standard_normal((N_CLASSES, N_LATENT)), 4)
    mixtures = rng.standard_normal((n_descriptors, N_LATENT, N_VALUES)) / np.sqrt(N_LATENT)
    return centres, np.round(mixtures, 4)


def descriptors(n_per_class: int, n_descriptors: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the descriptors of pictures that do not exist."""
    centres, mixtures = _structure(n_descriptors)
    rng = part_generator("scene15 descriptors", seed, "train")
    labels = np.tile(np.arange(N_CLASSES, dtype=np.int64), n_per_class)
    place = centres[labels] + rng.standard_normal((len(labels), N_LATENT))
    columns = np.empty((n_descriptors * N_VALUES, len(labels)), dtype=np.uint8)
    for g, mixture in enumerate(mixtures):
        noise = NOISE_FIRST if g < N_FIRST else NOISE_OTHERS
        value = np.round(place @ mixture + noise * rng.standard_normal((len(labels), N_VALUES)), 9)
        levels = np.rint(np.clip(128.0 + 32.0 * value, 0.0, 255.0)).astype(np.uint8)
        columns[g * N_VALUES : (g + 1) * N_VALUES] = levels.T
    return columns, labels
