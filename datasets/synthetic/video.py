"""The generator of synthetic video: bright ellipses that move over a cloudy ground."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from datasets.synthetic.pictures import clouds
from datasets.synthetic.streams import PARTS, rounded

EVERY, GAP = 5, 100
"""Steps between two frames, and before those of the test."""
LENGTH, WIDTH, CONTRAST, SPEED = (40.0, 50.0), (15.0, 20.0), (15.0, 80.0), (0.5, 4.0)
GROUND, NOISE = 95.0, 6.0
OCTAVES = ((5, 25.0), (17, 15.0), (65, 10.0))
"""Points on a side of a lattice of the ground, and its amplitude."""


@dataclass(frozen=True)
class Video:
    """What a video looks like."""

    name: str
    side: int  # Pixels along a side of a frame
    n_bodies: int
    frames: dict[str, int]  # Of each part

    def steps(self, part: str) -> np.ndarray:
        """Give the steps at which the frames of a part are taken."""
        numbers = list(self.frames.values())
        first = sum(numbers[: PARTS.index(part)])
        return EVERY * (first + np.arange(self.frames[part])) + GAP * (part == "test")

    def play(self, part: str, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Paint frames (bytes) and the numbers of the bodies on them, 0 for the ground."""
        stream = [zlib.crc32(self.name.encode()), int(seed), len(PARTS)]
        rng, n, side = np.random.default_rng(stream), self.n_bodies, self.side
        ground = np.full((side, side), GROUND)
        for points, amplitude in OCTAVES:
            lattice = rng.uniform(-amplitude, amplitude, (1, points, points, 1))
            ground += clouds(lattice, side, side)[0, :, :, 0]
        start, towards = rng.uniform(0.0, 2.0 * side, (n, 2)), rng.uniform(-np.pi, np.pi, n)
        ahead = rounded(np.stack([np.sin(towards), np.cos(towards)], axis=1))
        speed, contrast = rng.uniform(*SPEED, (n, 1)), rng.uniform(*CONTRAST, n)
        axes = 0.5 * np.stack([rng.uniform(*LENGTH, n), rng.uniform(*WIDTH, n)], axis=1)
        for step in self.steps(part):
            # At the edges bodies turn back: a place is folded into the frame.
            away = (start + step * speed * ahead) % (2.0 * side)
            places, turn = np.minimum(away, 2.0 * side - away), np.where(away > side, -1.0, 1.0)
            image, labels = ground.copy(), np.zeros((side, side), dtype=np.int32)
            for i in range(n):
                (sin, cos), at = ahead[i] * turn[i], np.arange(side)
                dy, dx = (at - places[i, 0])[:, None], (at - places[i, 1])[None, :]
                along, across = (dx * cos + dy * sin) / axes[i, 0], (dy * cos - dx * sin)
                q = rounded(along * along + (across / axes[i, 1]) ** 2)
                image += contrast[i] * np.clip(1.5 - 0.75 * q, 0.0, 1.0)
                labels[q <= 1.0] = i + 1
            # Noise has a stream of its own, so that it does not depend on which parts are painted.
            noise = np.random.default_rng([*stream, int(step)]).standard_normal(image.shape)
            yield np.clip(np.rint(rounded(image + NOISE * noise)), 0, 255).astype(np.uint8), labels
