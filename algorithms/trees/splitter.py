"""Best split of a node: per feature by raw gain, then over features by net gain, Eq. (12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.decorators import kernel
from ..kernels.simd import SPLIT_LANES, best_split
from .penalty import charge

if TYPE_CHECKING:
    from .binning import Layout
    from .histogram import Histograms

# A gain below this share of the parent's own score is rounding noise, not a reason to split; so is
# one below the score of rows whose gradients are all Scale.rounding.
MIN_RELATIVE_GAIN = 2.0**-40


MISSING_RIGHT, MISSING_LEFT = 256, 512
"""Added to a threshold, a bin number below 256, if a row of the node is missing the feature."""


class Scale(NamedTuple):
    """Powers of two that turn the integer sums into numbers (exact).

    And how far a gradient may be rounding alone, see :meth:`algorithms.losses.Loss.rounding`, and
    what is added to each sum of hessians in gains and leaf values, the L2 penalty λ.
    """

    gradient: float
    hessian: float
    count: float
    rounding: float = 0.0
    reg_lambda: float = 0.0


class Scratch(NamedTuple):
    """Memory that the search for a threshold needs."""

    bins: np.ndarray  # (n_tiles, 3, 256) int64, a feature taken out of its bundle
    left_g: np.ndarray  # (n_tiles, >= 256 + SPLIT_LANES) float64, gradients left of the thresholds
    left_h: np.ndarray  # the same, hessians
    places: np.ndarray  # (n_tiles, >= 256) uint8, the bins that these end with


_APART = 128
"""Bytes between what threads write, each for its tile: two cache lines, which are fetched together.

Those that write to the same one wait for each other.
"""


def allocate_scratch(n_tiles: int) -> Scratch:
    """Memory for so many searches at a time."""
    n_thresholds = 256 + SPLIT_LANES + _APART // 8
    return Scratch(
        np.zeros((n_tiles, 3, 256), dtype=np.int64),
        np.zeros((n_tiles, n_thresholds)),
        np.zeros((n_tiles, n_thresholds)),
        np.zeros((n_tiles, 256 + _APART), dtype=np.uint8),
    )


class _Bins(NamedTuple):
    """Histograms of features side by side, on their grids; a feature's bins are neighbours."""

    gradient: np.ndarray
    hessian: np.ndarray
    count: np.ndarray


class _Found(NamedTuple):
    """Where a search writes the thresholds of one feature that may be: a tile of the scratch."""

    left_g: np.ndarray
    left_h: np.ndarray
    places: np.ndarray


class _Node(NamedTuple):
    """The node that is split, and what each of its sides needs."""

    total: tuple[int, int, int]  # gradient, hessian and count on their grids
    scale: Scale
    least: tuple[int, int]  # hessian and count, in grid steps


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
def least_steps(scale: Scale, limits: Limits) -> tuple[int, int]:
    """Hessian and count that a leaf needs at least, in grid steps and at least one.

    Steps are powers of two, so the comparison is the same as that of the values.
    """
    hessian = np.ceil(limits.min_hessian_leaf / scale.hessian)
    count = np.ceil(limits.min_samples_leaf / scale.count)
    most = 2.0**60  # more than any sum
    return np.int64(max(1.0, min(hessian, most))), np.int64(max(1.0, min(count, most)))


@kernel
def unbundle(
    hists: Histograms,
    slot: int,
    entry: int,
    n_bins: int,
    default: int,
    total: tuple[int, int, int],
    scratch: Scratch,
    tile: int,
) -> None:
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
def _last_allowed(hessian, count, begin, end, least):
    """The first bin right of the last threshold that leaves enough there; `begin` or above."""
    sum_h = sum_n = np.int64(0)
    while begin < end:
        sum_h += hessian[end]
        sum_n += count[end]
        if sum_n >= least[1] and sum_h >= least[0]:
            break
        end -= np.uint64(1)
    return end


@kernel
def _sums_to_the_left(bins, begin, end, before, node, few, found):
    """Write what is to the left of each allowed threshold; they are neighbours of each other.

    In a node of few rows most bins are empty. The threshold after an empty bin divides the rows as
    the one before it does, to which ties go, and is left out. Sums are below 2**53, so as floating
    point numbers they are exact. All places are unsigned: signed ones would each be looked at for
    being negative.
    """
    gradient, hessian, count = bins.gradient, bins.hessian, bins.count
    left_g, left_h, places = found.left_g, found.left_h, found.places
    total, least = node.total, node.least
    one, k = np.uint64(1), np.uint64(0)
    first, (sum_g, sum_h, sum_n) = begin, before
    while first < end:
        sum_g += gradient[first]
        sum_h += hessian[first]
        sum_n += count[first]
        if sum_n >= least[1] and sum_h >= least[0]:
            break
        first += one
    if first == end or total[2] - sum_n < least[1] or total[1] - sum_h < least[0]:
        return np.int64(0), first
    last = _last_allowed(hessian, count, first, end, least)
    left_g[k], left_h[k], places[k] = sum_g, sum_h, first - begin
    k += one
    if few:
        for i in range(first + one, last):
            sum_g += gradient[i]
            sum_h += hessian[i]
            left_g[k], left_h[k], places[k] = sum_g, sum_h, i - begin
            k += np.uint64(count[i] != 0)
    else:
        for i in range(first + one, last):
            sum_g += gradient[i]
            sum_h += hessian[i]
            left_g[k], left_h[k] = sum_g, sum_h
            k += one
    g, h = left_g[k - one], left_h[k - one]
    for i in range(k, k + np.uint64(SPLIT_LANES - 1)):  # copies of the last fill up the lanes
        left_g[i], left_h[i] = g, h
    return np.int64(k), first


@kernel
def _scan_bins(bins, begin, n_bins, before, node, found):
    """Largest raw gain of the thresholds between bins, and the first bin of those with it.

    The bins are as for :func:`_sums_to_the_left`. Without an allowed threshold the gain is 0.
    """
    total, scale = node.total, node.scale
    begin, few = np.uint64(begin), total[2] < n_bins
    end = begin + np.uint64(n_bins - 1)
    n_candidates, first = _sums_to_the_left(bins, begin, end, before, node, few, found)
    if n_candidates == 0:
        return 0.0, np.int64(-1)
    G, H, reg = total[0] * scale.gradient, total[1] * scale.hessian, scale.reg_lambda
    left_g, left_h = found.left_g, found.left_h
    gain, which = best_split(
        left_g, left_h, n_candidates, scale.gradient, scale.hessian, G, H, reg, _score(G, H + reg)
    )
    if which < 0:
        return 0.0, np.int64(-1)
    return gain, np.int64(found.places[which]) if few else np.int64(first - begin) + which


@kernel
def _scan_both_ways(bins, begin, n_bins, some_missing, node, found):
    """The same; where the last bin is of missing values and has any, with them on either side."""
    nothing = np.int64(0), np.int64(0), np.int64(0)
    gain, cut = _scan_bins(bins, begin, n_bins, nothing, node, found)
    last = begin + n_bins - 1
    if not some_missing or bins.count[last] == 0:
        return gain, cut
    missing = bins.gradient[last], bins.hessian[last], bins.count[last]
    gain_left, cut_left = _scan_bins(bins, begin, n_bins - 1, missing, node, found)
    if gain_left > gain:
        return gain_left, cut_left + MISSING_LEFT
    return gain, cut + MISSING_RIGHT


@kernel
def _scan_two(bins, entry, default, some_missing, node):
    """The one threshold of a feature with two bins."""
    total, scale, least = node.total, node.scale, node.least
    left_g, left_h, left_n = bins.gradient[entry], bins.hessian[entry], bins.count[entry]
    if default == 0:  # stored is the upper bin
        left_g, left_h, left_n = total[0] - left_g, total[1] - left_h, total[2] - left_n
    gain, cut = 0.0, np.int64(-1)
    right_h, right_n = total[1] - left_h, total[2] - left_n
    if min(left_n, right_n) >= least[1] and min(left_h, right_h) >= least[0]:
        G, H = total[0] * scale.gradient, total[1] * scale.hessian
        GL, HL, reg = left_g * scale.gradient, left_h * scale.hessian, scale.reg_lambda
        gain = _gain(GL, HL + reg, G - GL, (H - HL) + reg, G, H + reg)
        cut = np.int64(MISSING_RIGHT if some_missing else 0)
    return gain, cut


@kernel
def _scan_bundled(hists, slot, entry, n_bins, default, some_missing, node, scratch, tile):
    """A feature with more than two bins that is in a bundle."""
    unbundle(hists, slot, entry, n_bins, default, node.total, scratch, tile)
    bins = _Bins(scratch.bins[tile, 0], scratch.bins[tile, 1], scratch.bins[tile, 2])
    found = _Found(scratch.left_g[tile], scratch.left_h[tile], scratch.places[tile])
    return _scan_both_ways(bins, np.int64(0), n_bins, some_missing, node, found)


@kernel
def _noise(total, scale):
    """Raw gain that may be rounding alone."""
    H = total[1] * scale.hessian + scale.reg_lambda
    noise = MIN_RELATIVE_GAIN * _score(total[0] * scale.gradient, H)
    return max(noise, _score(total[2] * scale.count * scale.rounding, H))


@kernel
def scan_ordered(
    ordered: NDArray[np.int64],
    n_bins: int,
    some_missing: bool,
    total: tuple[int, int, int],
    scale: Scale,
    least: tuple[int, int],
    scratch: Scratch,
    tile: int,
) -> tuple[float, int]:
    """Best threshold of bins in an order of their own, (3, n) int64; as :func:`scan_features`."""
    bins = _Bins(ordered[0], ordered[1], ordered[2])
    found = _Found(scratch.left_g[tile], scratch.left_h[tile], scratch.places[tile])
    node = _Node(total, scale, least)
    gain, cut = _scan_both_ways(bins, np.int64(0), n_bins, some_missing, node, found)
    if gain > _noise(total, scale):
        return gain, cut
    return 0.0, np.int64(-1)


@kernel
def scan_features(
    layout: Layout,
    begin: int,
    end: int,
    hists: Histograms,
    slot: int,
    total: tuple[int, int, int],
    scale: Scale,
    least: tuple[int, int],
    scratch: Scratch,
    tile: int,
    raw_gain: NDArray[np.float64],
    cuts: NDArray[np.int16],
) -> None:
    """Best threshold of each of some features by raw gain.

    Ties go to the threshold that has missing values on its right, then to the lowest.
    """
    bins = _Bins(hists.gradient[slot], hists.hessian[slot], hists.count[slot])
    found = _Found(scratch.left_g[tile], scratch.left_h[tile], scratch.places[tile])
    node, features = _Node(total, scale, least), layout.tile_features
    columns, column_code, codes = layout.feature_column, layout.column_code, layout.feature_code
    defaults, all_bins = layout.feature_default, layout.feature_n_bins
    missing = layout.feature_missing
    noise = _noise(total, scale)
    for position in range(begin, end):
        feature = features[position]
        entry = column_code[columns[feature]] + codes[feature]
        n_bins, default, some_missing = all_bins[feature], defaults[feature], missing[feature]
        if n_bins == 2:
            gain, cut = _scan_two(bins, entry, default, some_missing, node)
        elif default < 0:
            gain, cut = _scan_both_ways(bins, entry, n_bins, some_missing, node, found)
        else:
            gain, cut = _scan_bundled(
                hists, slot, entry, n_bins, default, some_missing, node, scratch, tile
            )
        worth = gain > noise
        raw_gain[feature] = gain if worth else 0.0
        cuts[feature] = cut if worth else -1


@kernel
def rank_features(
    raw_gain: np.ndarray, penalty: Any, leaf: int, n_rows: float
) -> tuple[float, int]:
    """Best feature of a leaf by net gain, Eq. (12); ties go to the lowest feature index."""
    best, at = -np.inf, -1
    for m in range(raw_gain.shape[0]):
        if raw_gain[m] > 0.0:
            net = 0.5 * raw_gain[m] - charge(penalty, leaf, m, n_rows)  # Eq. (12)
            if net > best:
                best, at = net, m
    return best, at
