"""Best split of a node: per feature by raw gain, then over features by net gain, Eq. (12)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from .penalty import charge

# A gain below this share of the parent's own score is rounding noise, not a reason to split.
MIN_RELATIVE_GAIN = 2.0**-40


MISSING_RIGHT, MISSING_LEFT = 256, 512
"""Added to a threshold, a bin number below 256, if a row of the node is missing the feature."""


class Scale(NamedTuple):
    """Powers of two that turn the integer sums into numbers (exact)."""

    gradient: float
    hessian: float
    count: float


class Scratch(NamedTuple):
    """Memory that the search for a threshold needs."""

    bins: np.ndarray  # (n_tiles, 3, 256) int64, a feature taken out of its bundle
    sums: np.ndarray  # (n_tiles, 2, 256) int64, gradient and hessian to the left
    gains: np.ndarray  # (n_tiles, 256) float64
    gain_bits: np.ndarray  # the same memory as int64


def allocate_scratch(n_tiles: int) -> Scratch:
    """Memory for so many searches at a time."""
    gains = np.zeros((n_tiles, 256))
    return Scratch(
        np.zeros((n_tiles, 3, 256), dtype=np.int64),
        np.zeros((n_tiles, 2, 256), dtype=np.int64),
        gains,
        gains.view(np.int64),
    )


class Limits(NamedTuple):
    """What a tree may become."""

    max_leaves: int
    max_depth: int
    min_samples_leaf: float
    min_hessian_leaf: float
    best_first: bool
    stop_on_negative_gain: bool


@kernel
def _score(G, H):
    """G²/H: twice what a leaf takes off the objective, Eq. (11b)."""
    return G * G / H


@kernel
def _gain(GL, HL, GR, HR, G, H):
    """Raw gain of a split, the bracket of Eq. (12): its only spelling, operation by operation."""
    return (_score(GL, HL) + _score(GR, HR)) - _score(G, H)


@kernel
def least_steps(scale, limits):
    """Hessian and count that a leaf needs at least, in grid steps and at least one.

    Steps are powers of two, so the comparison is the same as that of the values.
    """
    hessian = np.ceil(limits.min_hessian_leaf / scale.hessian)
    count = np.ceil(limits.min_samples_leaf / scale.count)
    most = 2.0**60  # more than any sum
    return np.int64(max(1.0, min(hessian, most))), np.int64(max(1.0, min(count, most)))


@kernel
def _left_of_two(hists, slot, entry, default, total):
    """Sums of the lower bin of a feature with two bins."""
    g, h, n = hists.gradient[slot, entry], hists.hessian[slot, entry], hists.count[slot, entry]
    if default == 0:  # stored is the upper bin
        return total[0] - g, total[1] - h, total[2] - n
    return g, h, n


@kernel
def unbundle(hists, slot, entry, n_bins, default, total, scratch, tile):
    """Histogram of a feature in a bundle: its default bin holds what the others leave over."""
    bins = scratch.bins
    default_g, default_h, default_n = total
    for b in range(n_bins - 1):
        to = b if b < default else b + 1
        g = hists.gradient[slot, entry + b]
        h = hists.hessian[slot, entry + b]
        n = hists.count[slot, entry + b]
        bins[tile, 0, to], bins[tile, 1, to], bins[tile, 2, to] = g, h, n
        default_g -= g
        default_h -= h
        default_n -= n
    bins[tile, 0, default], bins[tile, 1, default] = default_g, default_h
    bins[tile, 2, default] = default_n


@kernel
def _prefix_sums(gradient, hessian, count, row, entry, n_bins, before, least, scratch, tile):
    """Sums to the left of the allowed thresholds, which are neighbours of each other.

    Parameters
    ----------
    gradient, hessian, count : ndarray, two-dimensional, int64
        The feature's bins are ``[row, entry : entry + n_bins]``.
    before : tuple of int
        Gradient, hessian and count that are to the left of every threshold.

    Returns
    -------
    first, last : int
        The allowed thresholds are ``first … last - 1``; their sums are written to
        ``scratch.sums[tile]`` from 0 on.
    """
    first, last = 0, n_bins - 1
    sum_g = gradient[row, entry] + before[0]
    sum_h = hessian[row, entry] + before[1]
    sum_n = count[row, entry] + before[2]
    while first < last and (sum_n < least[1] or sum_h < least[0]):
        first += 1
        sum_g += gradient[row, entry + first]
        sum_h += hessian[row, entry + first]
        sum_n += count[row, entry + first]
    right_h, right_n = hessian[row, entry + last], count[row, entry + last]
    while first < last and (right_n < least[1] or right_h < least[0]):
        last -= 1
        right_h += hessian[row, entry + last]
        right_n += count[row, entry + last]
    sums = scratch.sums
    sum_g -= gradient[row, entry + first]
    sum_h -= hessian[row, entry + first]
    for i in range(last - first):
        sum_g += gradient[row, entry + first + i]
        sum_h += hessian[row, entry + first + i]
        sums[tile, 0, i] = sum_g
        sums[tile, 1, i] = sum_h
    return first, last


@kernel
def _raw_gains(n_candidates, G, H, scale, scratch, tile):
    """Raw gain of each candidate; nothing but arithmetic, so that it runs on vector units."""
    sums, gains = scratch.sums, scratch.gains
    for i in range(n_candidates):
        GL, HL = sums[tile, 0, i] * scale.gradient, sums[tile, 1, i] * scale.hessian
        gains[tile, i] = _gain(GL, HL, G - GL, H - HL, G, H)


@kernel
def _first_largest(bits, tile, n_candidates):
    """Index of the first of the largest gains.

    `bits` are those of the gains: the bits of positive numbers are in the same order as the
    numbers (and those of negative ones are negative), and maxima of integers run on vector units.
    """
    best = np.int64(0)
    for i in range(n_candidates):
        best = max(best, bits[tile, i])
    for i in range(n_candidates):
        if bits[tile, i] == best:
            return i
    return -1  # no gain is positive


@kernel
def _scan_bins(
    gradient, hessian, count, row, entry, n_bins, before, total, scale, least, scratch, tile
):
    """Largest raw gain of the thresholds between bins, and the first bin of those with it.

    The bins are as for :func:`_prefix_sums`. Without an allowed threshold the gain is 0.
    """
    G, H = total[0] * scale.gradient, total[1] * scale.hessian
    first, last = _prefix_sums(
        gradient, hessian, count, row, entry, n_bins, before, least, scratch, tile
    )
    _raw_gains(last - first, G, H, scale, scratch, tile)
    which = _first_largest(scratch.gain_bits, tile, last - first)
    if which < 0:
        return 0.0, -1
    return scratch.gains[tile, which], first + which


@kernel
def _scan_both_ways(
    gradient, hessian, count, row, entry, n_bins, some_missing, total, scale, least, scratch, tile
):
    """The same; where the last bin is of missing values and has any, with them on either side."""
    nothing = np.int64(0), np.int64(0), np.int64(0)
    gain, cut = _scan_bins(
        gradient, hessian, count, row, entry, n_bins, nothing, total, scale, least, scratch, tile
    )
    last = entry + n_bins - 1
    if not some_missing or count[row, last] == 0:
        return gain, cut
    missing = gradient[row, last], hessian[row, last], count[row, last]
    gain_left, cut_left = _scan_bins(
        gradient, hessian, count, row, entry, n_bins - 1, missing, total, scale, least, scratch,
        tile,
    )  # fmt: skip
    if gain_left > gain:
        return gain_left, cut_left + MISSING_LEFT
    return gain, cut + MISSING_RIGHT


@kernel
def scan_feature(layout, feature, hists, slot, total, scale, least, scratch, tile):
    """Best threshold of one feature by raw gain.

    Ties go to the threshold that has missing values on its right, then to the lowest.

    Parameters
    ----------
    total : tuple of int
        Gradient, hessian and count of the node on their grids.
    least : tuple of int
        Hessian and count that a side needs at least, in grid steps.
    scratch : Scratch
    tile : int
        Which part of the scratch space to use.

    Returns
    -------
    raw_gain : float
        0 if no split is allowed.
    threshold : int
        The last bin of numbers that goes left, and :data:`MISSING_RIGHT` or :data:`MISSING_LEFT`
        more if a row is missing the feature; -1 if no split is allowed.
    """
    entry = layout.column_code[layout.feature_column[feature]] + layout.feature_code[feature]
    default, n_bins = layout.feature_default[feature], layout.feature_n_bins[feature]
    some_missing = layout.feature_missing[feature]
    G, H = total[0] * scale.gradient, total[1] * scale.hessian
    if n_bins == 2:
        g, h, n = _left_of_two(hists, slot, entry, default, total)
        if min(n, total[2] - n) < least[1] or min(h, total[1] - h) < least[0]:
            return 0.0, -1
        GL, HL = g * scale.gradient, h * scale.hessian
        gain = _gain(GL, HL, G - GL, H - HL, G, H)
        cut = MISSING_RIGHT if some_missing else 0
    elif default < 0:
        gain, cut = _scan_both_ways(
            hists.gradient,
            hists.hessian,
            hists.count,
            slot,
            entry,
            n_bins,
            some_missing,
            total,
            scale,
            least,
            scratch,
            tile,
        )
    else:
        unbundle(hists, slot, entry, n_bins, default, total, scratch, tile)
        bins = scratch.bins[tile]
        gain, cut = _scan_both_ways(
            bins[:1],
            bins[1:2],
            bins[2:],
            0,
            0,
            n_bins,
            some_missing,
            total,
            scale,
            least,
            scratch,
            tile,
        )
    if not gain > MIN_RELATIVE_GAIN * _score(G, H):
        return 0.0, -1
    return gain, cut


@kernel
def rank_features(raw_gain, penalty, leaf, n_rows):
    """Best feature of a leaf by net gain, Eq. (12); ties go to the lowest feature index.

    Parameters
    ----------
    raw_gain : ndarray of shape (n_features,)
        Best raw gain per feature; 0 where there is no candidate.
    penalty : NamedTuple, see :mod:`algorithms.trees.penalty`
    leaf : int
    n_rows : float
        |I_p|, weighted.

    Returns
    -------
    net : float
        -inf if no feature is a candidate.
    feature : int
        -1 if no feature is a candidate.
    """
    best, at = -np.inf, -1
    for m in range(raw_gain.shape[0]):
        if raw_gain[m] > 0.0:
            net = 0.5 * raw_gain[m] - charge(penalty, leaf, m, n_rows)  # Eq. (12)
            if net > best:
                best, at = net, m
    return best, at
