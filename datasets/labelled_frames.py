"""Rows for a classifier of pixels, drawn from frames whose objects are labelled.

A row is a pixel with the 32 features of :mod:`datasets.features.pyramid`, class 1 if it belongs to
an object. Rows are drawn without replacement, the same number from each frame: 15 % on objects,
15 % on the ground at most 6 pixels from one, the rest anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import ndimage

from datasets.dataset import Dataset
from datasets.features.pyramid import NAMES, pyramid

NEAR = 6
SHARES = (0.15, 0.15)
"""Share of the rows on objects, and on the ground within :data:`NEAR` pixels of one."""

SHAPE_RULE = "sampled pixels, 15 % on objects and 15 % near them"
COST_RULE = "features are free; a split costs 1 per evaluation, shared by 1, 4, 16 or 64 pixels"


def strata(labels: np.ndarray, size: int, margin: int = 0) -> list[tuple[np.ndarray, int]]:
    """Give the pixels of each stratum of a frame, and how many of them to draw; `size` in all."""
    on = labels > 0
    near = ndimage.distance_transform_edt(~on) <= NEAR
    inside = np.zeros(labels.shape, dtype=bool)
    inside[margin : labels.shape[0] - margin, margin : labels.shape[1] - margin] = True
    pools = [np.flatnonzero(mask & inside) for mask in (on, near & ~on, ~near)]
    wanted = [
        min(round(share * size), len(pool)) for share, pool in zip(SHARES, pools, strict=False)
    ]
    return list(zip(pools, [*wanted, size - sum(wanted)], strict=True))


def sample(
    stream: Iterable[tuple[np.ndarray, np.ndarray]],
    n_frames: int,
    size: int,
    rng: np.random.Generator,
    margin: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw pixels of the first frames of a stream of images and labels, `size` rows in all."""
    X, y = [], []
    for i, (image, labels) in zip(range(n_frames), stream, strict=False):
        mine = size * (i + 1) // n_frames - size * i // n_frames
        chosen = [rng.choice(pool, n, replace=False) for pool, n in strata(labels, mine, margin)]
        pixels = np.sort(np.concatenate(chosen))
        X.append(pyramid(image).at(*np.unravel_index(pixels, labels.shape)))
        y.append((labels.ravel()[pixels] > 0).astype(np.int64))
    return np.concatenate(X), np.concatenate(y)


def table(name: str, arrays: dict[str, np.ndarray], provenance: dict) -> Dataset:
    """Make a data set of drawn pixels; their features cost nothing."""
    return Dataset(
        name=name,
        task="binary",
        **arrays,
        feature_costs=np.zeros(len(NAMES)),
        cost_unit="split evaluations",
        cost_origin="features are free (section 5.2: their cost is negligible)",
        feature_names=NAMES,
        provenance=provenance,
    )
