"""Resize grey windows by area, in whole numbers."""

from __future__ import annotations

from math import gcd

import numpy as np


def resized(windows: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Resize grey windows to the means over the area that each new pixel covers."""
    down, across = (_overlap(old, new) for old, new in zip(windows.shape[1:], shape, strict=True))
    area = int(down[0].sum() * across[0].sum())
    small = np.empty((len(windows), *shape), dtype=np.uint8)
    for i, window in enumerate(windows):
        sums = down @ window.astype(np.int64) @ across.T
        small[i] = (2 * sums + area) // (2 * area)
    return small


def _overlap(old: int, new: int) -> np.ndarray:
    """How much of each old pixel every new one covers, in parts of both; (new, old) int64."""
    common = gcd(old, new)
    old_step, new_step = new // common, old // common
    edges_old, edges_new = np.arange(old + 1) * old_step, np.arange(new + 1) * new_step
    start = np.maximum(edges_new[:-1, None], edges_old[None, :-1])
    end = np.minimum(edges_new[1:, None], edges_old[None, 1:])
    return np.maximum(end - start, 0)
