"""The generator of synthetic pictures and windows: soft ellipses on a cloudy ground.

Only sums, products and quotients of uniform numbers, so that all processors draw the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from datasets.synthetic.streams import part_generator, structure

N_BLOBS, N_CLUTTER, HALF, PLACE = 6, 3, (0.06, 0.16), (0.22, 0.78)
SHIFT, STRETCH, CONTRAST, NOISE = 0.05, (0.9, 1.1), (0.5, 1.0), 12.0
EDGE = 3.0  # how steep the edge of an ellipse is
PIECE_VALUES = 2**22
"""Values drawn at once."""


@dataclass(frozen=True)
class Pictures:
    """What pictures look like."""

    name: str
    shape: tuple[int, ...]  # Height, width and, in colour, channels
    n_classes: int
    # Share of class 1 in each part, which comes first; in class 0 all ellipses are astray
    shares: dict[str, float] = field(default_factory=dict)
    empty: bool = False  # Bright ellipses on a ground of 0, as digits are

    def draw(self, n_images: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
        """Draw pictures (bytes) and their classes."""
        rng, labels = part_generator(self.name, seed, part), np.arange(n_images) % self.n_classes
        if self.shares:
            labels = (np.arange(n_images) < round(self.shares[part] * n_images)).astype(np.int64)
        drawn = np.empty((n_images, *self.shape), dtype=np.uint8)
        step = max(1, PIECE_VALUES // drawn[0].size) if n_images else 1
        for start in range(0, n_images, step):
            chosen = slice(start, start + step)
            drawn[chosen] = self._draw(labels[chosen], rng)
        return drawn, labels

    def _draw(self, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        n, (height, width) = len(labels), self.shape[:2]
        n_channels = self.shape[2] if len(self.shape) == 3 else 1
        fixed, size = structure(self.name), (self.n_classes, N_BLOBS + N_CLUTTER)
        place, half = fixed.uniform(*PLACE, (2, *size)), fixed.uniform(*HALF, (2, *size))
        level = fixed.uniform(60.0, 110.0, size) * fixed.choice([-1.0, 1.0], size)
        places = place[:, labels] + rng.uniform(-SHIFT, SHIFT, (2, n, 1))
        astray = np.arange(N_BLOBS + N_CLUTTER) >= N_BLOBS
        if self.shares:
            astray = astray | (labels == 0)[:, None]
            half, level = half[:, [1, 1]], level[[1, 1]]
        places = np.where(astray, rng.uniform(*PLACE, places.shape), places)
        halves = half[:, labels] * rng.uniform(*STRETCH, (2, n, 1))
        gain = rng.uniform(*CONTRAST, (n, 1, 1, n_channels))
        if self.empty:
            picture = np.zeros((n, height, width, n_channels))
        else:
            picture = clouds(rng.uniform(70.0, 185.0, (n, 4, 4, n_channels)), height, width)
            picture += rng.uniform(-NOISE, NOISE, picture.shape)
        across = (np.arange(width) + 0.5) / width
        down = (np.arange(height) + 0.5) / height
        for k in range(N_BLOBS + N_CLUTTER):
            v = (down - places[0][:, k, None]) / halves[0][:, k, None]
            u = (across - places[1][:, k, None]) / halves[1][:, k, None]
            inside = np.clip(EDGE * (1.0 - (v * v)[:, :, None] - (u * u)[:, None, :]), 0.0, 1.0)
            sign = level[labels, k][:, None, None, None]
            shown = gain * (255.0 if self.empty else sign) * inside[..., None]
            picture = np.maximum(picture, shown) if self.empty else picture + shown
        return np.rint(np.clip(picture, 0.0, 255.0)).astype(np.uint8).reshape(n, *self.shape)


def clouds(lattice: np.ndarray, height: int, width: int) -> np.ndarray:
    """Interpolate lattices of shape (n, rows, columns, channels) to pictures, linearly."""
    for axis, length in ((1, height), (2, width)):
        n_points = lattice.shape[axis]
        at = np.arange(length) * (n_points - 1) / length
        low = at.astype(np.int64)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        before, after = lattice.take(low, axis), lattice.take(low + 1, axis)
        lattice = before + part * (after - before)
    return lattice
