"""The generator of videos of insects, from which synthetic ``phc_c2dl_psc`` is made.

Their parameters are described in :mod:`datasets.synthetic`.

A video is played from its first step; only the frames asked for are painted. Positions, headings
and grey levels are rounded to multiples of 2^-16 at every step, so that processors whose ``cos``
differs in the last bit paint the same frames.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from datasets.synthetic.tables import PARTS

_GRID = 2.0**16

FRAMES = {
    "smoke": {"train": 2, "valid": 1, "test": 2},
    "laptop": {"train": 16, "valid": 4, "test": 20},
    "paper": {"train": 16, "valid": 4, "test": 20},
}
"""Frames of each part; training and validation frames are one stretch of the video."""

EVERY = 5  # steps of the video between two frames
GAP = 100  # steps between the stretch for training and the one for the test
OCTAVES = ((256, 10.0), (64, 8.0), (16, 6.0), (4, 4.0))  # cell in pixels, amplitude in grey levels
GROUND, SLOPE, NOISE = 160.0, 25.0, 5.0
DUST_PER_MEGAPIXEL = 150


@dataclass(frozen=True)
class Video:
    """What tells one video from another."""

    name: str  # Of the data set; its random streams hang on it
    frames: dict[str, dict[str, int]]  # For each scale the frames of each part
    # side, insects: For each scale pixels along a side, and insects in the video
    side: dict[str, int]
    insects: dict[str, int]
    # length, width: Ranges of a body's axes, in pixels
    length: tuple[float, float]
    width: tuple[float, float]
    every: int  # Of so many insects one walks beside another, touching it
    apart: float  # Pixels between the middles of others, at least


LARGE = Video(
    name="flies_large",
    frames=FRAMES,
    side={"smoke": 192, "laptop": 1024, "paper": 1024},
    insects={"smoke": 2, "laptop": 40, "paper": 40},
    length=(40.0, 50.0),
    width=(15.0, 20.0),
    every=40,
    apart=80.0,
)
"""Bodies as long and as wide as flies are in frames of 1024×1024; 2 of 40 touch."""


def _rounded(values):
    return np.rint(values * _GRID) / _GRID


@dataclass
class Swarm:
    """The insects of a video and where they are now."""

    place: np.ndarray  # Row and column of the bodies' middle, in pixels
    heading: np.ndarray  # Radians; 0 points to the right
    speed: np.ndarray  # Pixels per step
    length: np.ndarray  # length, width: Axes of the body in pixels
    width: np.ndarray
    contrast: np.ndarray  # Grey levels by which the body is darker than the ground
    leader: np.ndarray  # Insect beside which this one walks, -1 if it walks alone


def _swarm(rng: np.random.Generator, n: int, side: int, video: Video) -> Swarm:
    length = rng.uniform(*video.length, n)
    leader = np.full(n, -1)
    # Some walk beside the one before them, touching it.
    followers = np.arange(1, n if n >= video.every else 0, video.every)
    leader[followers] = followers - 1
    swarm = Swarm(
        place=_places(rng, leader, side, video.apart),
        heading=rng.uniform(-np.pi, np.pi, n),
        speed=rng.uniform(0.5, 4.0, n),
        length=length,
        width=rng.uniform(*video.width, n),
        contrast=rng.uniform(10.0, 80.0, n),
        leader=leader,
    )
    _follow(swarm)
    return swarm


def _places(rng: np.random.Generator, leader: np.ndarray, side: int, apart: float) -> np.ndarray:
    """Draw places, each anew until it is `apart` from those before; companions go elsewhere."""
    if np.pi * apart**2 * (len(leader) - 1) >= side**2:
        raise ValueError("so many insects, so far apart, may not find room in the frame")
    places = np.full((len(leader), 2), np.inf)
    for i in np.flatnonzero(leader < 0):
        place = rng.uniform(0.0, side, 2)
        while (np.square(places[:i] - place).sum(axis=1) < apart**2).any():
            place = rng.uniform(0.0, side, 2)
        places[i] = place
    return places


def _keep_apart(swarm: Swarm, wanted: np.ndarray, apart: float) -> None:
    """Move one after the other; who would come too near to another stays and turns back."""
    n = len(wanted)
    for i in np.flatnonzero(swarm.leader < 0):
        others = (np.arange(n) != i) & (swarm.leader != i)
        gaps = np.square(swarm.place[others] - wanted[i]).sum(axis=1)
        if (gaps < apart**2).any():
            swarm.heading[i] = _rounded(swarm.heading[i] + np.pi)
        else:
            swarm.place[i] = wanted[i]


def _follow(swarm: Swarm) -> None:
    """Put each companion beside its leader, the bodies just touching."""
    mine = np.flatnonzero(swarm.leader >= 0)
    lead = swarm.leader[mine]
    swarm.heading[mine] = swarm.heading[lead]
    apart = 0.5 * (swarm.width[mine] + swarm.width[lead])
    across = np.stack([np.cos(swarm.heading[lead]), -np.sin(swarm.heading[lead])], axis=1)
    swarm.place[mine] = _rounded(swarm.place[lead] + apart[:, None] * across)


def _step(swarm: Swarm, rng: np.random.Generator, side: int, apart: float) -> None:
    """Move all insects by one step; at the edge of the frame they turn back."""
    n = len(swarm.heading)
    swarm.heading = _rounded(swarm.heading + rng.normal(0.0, 0.15, n))
    swarm.speed = _rounded(np.clip(swarm.speed + rng.normal(0.0, 0.2, n), 0.0, 5.0))
    ahead = np.stack([np.sin(swarm.heading), np.cos(swarm.heading)], axis=1)
    place = swarm.place + swarm.speed[:, None] * ahead
    out = (place < 0) | (place > side)
    ahead[out] = -ahead[out]
    turned = np.arctan2(ahead[:, 0], ahead[:, 1])
    swarm.heading = _rounded(np.where(out.any(axis=1), turned, swarm.heading))
    place = _rounded(np.clip(place, 0.0, side))
    _keep_apart(swarm, place, apart)
    _follow(swarm)


def _lattice_noise(rng: np.random.Generator, side: int, cell: int) -> np.ndarray:
    """Uniform noise in [-1, 1] on a lattice of `cell` pixels, bilinear in between."""
    n = side // cell + 2
    knots = rng.uniform(-1.0, 1.0, (n, n))
    at = np.arange(side) / cell
    low = at.astype(np.int64)
    part = at - low
    rows = knots[low] * (1 - part)[:, None] + knots[low + 1] * part[:, None]
    return rows[:, low] * (1 - part) + rows[:, low + 1] * part


def _ground(rng: np.random.Generator, side: int) -> np.ndarray:
    """Grey levels of the ground: texture, a gradient of light, specks of dust."""
    ground = np.full((side, side), GROUND)
    for cell, amplitude in OCTAVES:
        ground += amplitude * _lattice_noise(rng, side, min(cell, side))
    slope = rng.uniform(-SLOPE, SLOPE, 2)
    position = np.linspace(-0.5, 0.5, side)
    ground += slope[0] * position[:, None] + slope[1] * position[None, :]
    n_dust = round(DUST_PER_MEGAPIXEL * side * side / 2**20)
    for _ in range(n_dust):
        y, x = rng.uniform(0.0, side, 2)
        radius, contrast = rng.uniform(1.0, 3.0), rng.uniform(10.0, 60.0)
        window, u, v = _window(side, (y, x), 0.0, 2 * radius)
        ground[window] -= contrast * _soft((u * u + v * v) / radius**2)
    return _rounded(ground)


def _window(side: int, place, heading: float, reach: float):
    """Slices of a square around a place, and its pixels' coordinates along and across a heading."""
    ranges = [
        np.arange(max(0, int(at - reach)), min(side, int(at + reach) + 2))
        for at in map(float, place)
    ]
    dy, dx = ranges[0][:, None] - place[0], ranges[1][None, :] - place[1]
    cos, sin = np.cos(heading), np.sin(heading)
    window = tuple(slice(r[0], r[-1] + 1) if len(r) else slice(0, 0) for r in ranges)
    return window, dx * cos + dy * sin, dy * cos - dx * sin


def _soft(q: np.ndarray) -> np.ndarray:
    """1 in the middle, 1/2 where q = 1, 0 from q = 2 on: a soft edge without a transcendental."""
    inside = np.clip(1 - q / 2, 0.0, 1.0)
    return inside * inside * (3 - 2 * inside)


def _paint(swarm: Swarm, ground: np.ndarray, rng: np.random.Generator):
    """Paint a frame; return image (uint8) and labels (int32, 0 = ground)."""
    side = len(ground)
    image, labels = ground.copy(), np.zeros(ground.shape, dtype=np.int32)
    for i in range(len(swarm.heading)):
        a, b = swarm.length[i] / 2, swarm.width[i] / 2
        window, u, v = _window(side, swarm.place[i], swarm.heading[i], 3 * a)
        body = (u / a) ** 2 + (v / b) ** 2
        # Wings and legs: a wide faint blur around and behind the body, no part of the mask.
        blur = ((u + 0.5 * a) / (1.2 * a)) ** 2 + (v / (1.3 * a)) ** 2
        image[window] -= swarm.contrast[i] * _rounded(np.maximum(_soft(body), 0.25 * _soft(blur)))
        labels[window][_rounded(body) <= 1] = i + 1
    image += NOISE * rng.standard_normal(image.shape)
    return np.clip(np.rint(_rounded(image)), 0, 255).astype(np.uint8), labels


def _steps(scale: str, frames: dict[str, dict[str, int]]) -> dict[str, list[int]]:
    """Steps of the video at which the frames of each part are taken."""
    n = frames[scale]
    stretch = [EVERY * i for i in range(n["train"] + n["valid"])]
    start = stretch[-1] + GAP
    test = [start + EVERY * i for i in range(n["test"])]
    return dict(zip(PARTS, (stretch[: n["train"]], stretch[n["train"] :], test), strict=True))


def flies(
    part: str, scale: str, seed: int, video: Video
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Paint the frames of one part of a video."""
    side, steps = video.side[scale], _steps(scale, video.frames)[part]
    stream = [zlib.crc32(video.name.encode()), int(seed), len(PARTS)]
    rng = np.random.default_rng(stream)
    ground = _ground(rng, side)
    swarm = _swarm(rng, video.insects[scale], side, video)
    for step in range(steps[-1] + 1):
        if step in steps:
            # Noise has a stream of its own, so that it does not depend on which parts are painted.
            yield _paint(swarm, ground, np.random.default_rng([*stream, step]))
        _step(swarm, rng, side, video.apart)
