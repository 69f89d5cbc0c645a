"""Local binary patterns of 19×19 windows: nine histograms of regions and one of the whole.

After A. Hadid, M. Pietikäinen and T. Ahonen, A discriminative feature space for detecting and
recognizing faces, CVPR (2004), who describe 19×19 faces so: in each of nine overlapping regions a
histogram of the patterns of four neighbours (16 bins), and over the whole window one of the uniform
patterns of eight neighbours (59 bins; T. Ojala, M. Pietikäinen and T. Mäenpää, PAMI 2002), 203
values. Ours: regions of 9×9 pixels, five pixels apart, so that neighbours share four and together
they cover the window; neighbours at distance 1, the edge repeated; a bit is 1 where the neighbour
is not darker than the centre. The four neighbours are those above, right, below and left.

A value is 255 times the square root of the bin's share of the region's pixels, rounded.
"""

from __future__ import annotations

import functools

import numpy as np

from datasets.features.image_transforms import lbp_codes
from datasets.features.pixels import rooted_share

REGION, STEP, REGIONS_ACROSS = 9, 5, 3
N_FOUR, N_UNIFORM = 16, 59
N_FEATURES = N_FOUR * REGIONS_ACROSS**2 + N_UNIFORM
FOUR_BITS = (6, 4, 2, 0)
"""Bits of the neighbours above, right, below and left in the patterns of eight."""


@functools.cache
def uniform_bins() -> np.ndarray:
    """Give the bin of each pattern of eight neighbours."""
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    changes = (bits != np.roll(bits, 1, axis=1)).sum(axis=1)
    bins = np.full(256, N_UNIFORM - 1, dtype=np.int64)
    bins[changes <= 2] = np.arange(N_UNIFORM - 1)
    return bins


@functools.cache
def four_bins() -> np.ndarray:
    """Give the bin of each pattern of eight neighbours by four of them: every second bit."""
    codes = np.arange(256)
    return sum(((codes >> bit) & 1) << place for place, bit in enumerate(FOUR_BITS[::-1]))


def prepared(images: np.ndarray) -> np.ndarray:
    """Compute what all values of a window share: the pattern of each pixel."""
    return lbp_codes(images)


def patterns(images: np.ndarray) -> np.ndarray:
    """Give the histograms, the regions row by row and then the whole window."""
    codes = prepared(images)
    four = four_bins()[codes]
    starts = range(0, STEP * REGIONS_ACROSS, STEP)
    regions = [four[:, r : r + REGION, c : c + REGION] for r in starts for c in starts]
    shares = [rooted_share(_counts(region, N_FOUR), REGION * REGION) for region in regions]
    whole = _counts(uniform_bins()[codes], N_UNIFORM)
    n_pixels = images.shape[1] * images.shape[2]
    return np.concatenate([*shares, rooted_share(whole, n_pixels)], axis=1)


def _counts(bins: np.ndarray, n_bins: int) -> np.ndarray:
    """Count the bins in each window, (n, n_bins)."""
    n = len(bins)
    place = np.arange(n)[:, None] * n_bins + bins.reshape(n, -1)
    return np.bincount(place.ravel(), minlength=n * n_bins).reshape(n, n_bins)
