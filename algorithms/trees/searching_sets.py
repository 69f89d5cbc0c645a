"""Splits of categories while a tree grows: which set of them goes left.

The rule is :mod:`reference.beyond.categories`'s. The bins of a feature of categories are these; in
a node they are put in the order of G/H, and the best place to cut that order is found as a
threshold is.
The grower asks :func:`search_sets` and :func:`send_sets`, which numba compiles by the class of its
nodes: to nothing at all where no feature is of categories.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.decorators import COMPILED_ONLY, chosen_by_class, kernel
from .splitter import scan_ordered, unbundle

WORDS = 4  # of 64 bits: a bit for each bin
_ALL_BINS = 64 * WORDS


class CategoricalNodes(NamedTuple):
    """A growing tree, as :class:`~.grower.Nodes`, and its splits of categories."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    depth: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    sums: np.ndarray
    gain: np.ndarray
    candidate: np.ndarray
    slot: np.ndarray
    raw_gain: np.ndarray
    cut: np.ndarray  # of categories: how many of those in order go left, less one
    missing_left: np.ndarray
    place: np.ndarray  # (n_features,) int64, number among those of categories; -1 of numbers
    left_bins: np.ndarray  # (n_nodes, n_categorical, WORDS) uint64, bins that would go left
    seen_bins: np.ndarray  # (n_nodes, n_categorical, WORDS) uint64, bins that rows are in
    ordered: np.ndarray  # (n_tiles, 3, 256) int64, scratch: bins in order
    order: np.ndarray  # (n_tiles, 256) int64, scratch: their numbers
    ratio: np.ndarray  # (n_tiles, 256) float64, scratch: G/H


def with_room_for_sets(nodes: Any, is_categorical: np.ndarray, n_tiles: int) -> CategoricalNodes:
    """Allocate what splits of categories need beside a tree's nodes."""
    n_nodes, n_categorical = len(nodes.feature), int(np.count_nonzero(is_categorical))
    place = np.where(is_categorical, np.cumsum(is_categorical) - 1, -1)
    return CategoricalNodes(
        *nodes,
        place=place.astype(np.int64),
        left_bins=np.zeros((n_nodes, n_categorical, WORDS), dtype=np.uint64),
        seen_bins=np.zeros((n_nodes, n_categorical, WORDS), dtype=np.uint64),
        ordered=np.zeros((n_tiles, 3, _ALL_BINS), dtype=np.int64),
        order=np.zeros((n_tiles, _ALL_BINS), dtype=np.int64),
        ratio=np.zeros((n_tiles, _ALL_BINS)),
    )


@kernel
def put_in_order(
    gradient: np.ndarray,
    hessian: np.ndarray,
    count: np.ndarray,
    entry: int,
    n_known: int,
    order: np.ndarray,
    ratio: np.ndarray,
) -> int:
    """Bins that have rows, by G/H, the lowest of equal ones first; return how many they are."""
    n = 0
    for b in range(n_known):
        if count[entry + b] == 0:
            continue
        r = np.float64(gradient[entry + b]) / np.float64(hessian[entry + b])
        at = n
        while at > 0 and ratio[at - 1] > r:
            ratio[at], order[at] = ratio[at - 1], order[at - 1]
            at -= 1
        ratio[at], order[at] = r, b
        n += 1
    return n


@kernel
def copy_ordered(
    gradient: np.ndarray,
    hessian: np.ndarray,
    count: np.ndarray,
    entry: int,
    order: np.ndarray,
    n: int,
    some_missing: bool,
    n_known: int,
    ordered: np.ndarray,
) -> None:
    """The bins in order, and behind them that of missing values."""
    for k in range(n):
        at = entry + order[k]
        ordered[0, k], ordered[1, k], ordered[2, k] = gradient[at], hessian[at], count[at]
    if some_missing:
        at = entry + n_known
        ordered[0, n], ordered[1, n], ordered[2, n] = gradient[at], hessian[at], count[at]


@kernel
def keep_set(
    order: np.ndarray, n: int, cut: int, left_bins: np.ndarray, seen_bins: np.ndarray
) -> None:
    """Write which bins go left, and which have rows, as bits."""
    one = np.uint64(1)
    for w in range(left_bins.shape[0]):
        left_bins[w] = seen_bins[w] = np.uint64(0)
    for k in range(n):
        b = np.uint64(order[k])
        bit = one << (b & np.uint64(63))
        seen_bins[b >> np.uint64(6)] |= bit
        if k <= cut:
            left_bins[b >> np.uint64(6)] |= bit


@kernel
def bins_of(
    layout: Any,
    feature: int,
    hists: Any,
    slot: int,
    total: tuple[int, int, int],
    scratch: Any,
    tile: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Sums of gradients, hessians and counts, and where in them a feature's bins begin."""
    default = layout.feature_default[feature]
    entry = layout.column_code[layout.feature_column[feature]] + layout.feature_code[feature]
    if default < 0:
        return hists.gradient[slot], hists.hessian[slot], hists.count[slot], entry
    unbundle(hists, slot, entry, layout.feature_n_bins[feature], default, total, scratch, tile)
    bins = scratch.bins
    return bins[tile, 0], bins[tile, 1], bins[tile, 2], np.int64(0)


@kernel
def _search(nodes, node, layout, hists, slot, total, scale, least, scratch, tile):
    order, ratio, ordered = nodes.order[tile], nodes.ratio[tile], nodes.ordered[tile]
    for position in range(layout.tile_feature[tile], layout.tile_feature[tile + 1]):
        feature = layout.tile_features[position]
        place = nodes.place[feature]
        if place < 0:
            continue
        n_bins, some_missing = layout.feature_n_bins[feature], layout.feature_missing[feature]
        n_known = n_bins - 1 if some_missing else n_bins
        g, h, c, entry = bins_of(layout, feature, hists, slot, total, scratch, tile)
        n = put_in_order(g, h, c, entry, n_known, order, ratio)
        nodes.raw_gain[node, feature], nodes.cut[node, feature] = 0.0, -1
        if n == 0:
            continue
        copy_ordered(g, h, c, entry, order, n, some_missing, n_known, ordered)
        n_ordered = n + 1 if some_missing else n
        gain, cut = scan_ordered(
            ordered, n_ordered, some_missing, total, scale, least, scratch, tile
        )
        nodes.raw_gain[node, feature], nodes.cut[node, feature] = gain, cut
        if cut >= 0:
            left_bins, seen_bins = nodes.left_bins[node, place], nodes.seen_bins[node, place]
            keep_set(order, n, cut & 255, left_bins, seen_bins)


@kernel
def _send(nodes, node, layout, feature, missing_left, goes_left):
    place = nodes.place[feature]
    if place < 0:
        return
    n_bins, default = layout.feature_n_bins[feature], layout.feature_default[feature]
    first = layout.feature_code[feature]
    for k in range(n_bins):
        # The default bin before all others: in a bundle, codes of other features stand for it.
        b = k if default < 0 else (default if k == 0 else (k - 1 if k <= default else k))
        bit = np.uint64(1) << np.uint64(b & 63)
        left = nodes.left_bins[node, place, b >> 6] & bit != np.uint64(0)
        if nodes.seen_bins[node, place, b >> 6] & bit == np.uint64(0):  # the last bin, too
            left = missing_left
        if default < 0:
            goes_left[b] = left
        elif b == default:
            goes_left[:] = left
        else:
            goes_left[first + (b if b < default else b - 1)] = left


# --- What the grower asks --------------------------------------------------------------------


def search_sets(
    nodes: Any,
    node: int,
    layout: Any,
    hists: Any,
    slot: int,
    total: tuple[int, int, int],
    scale: Any,
    least: tuple[int, int],
    scratch: Any,
    tile: int,
) -> None:
    """Best set of categories, by raw gain, of each feature of a tile that has categories.

    The arguments are :func:`~.splitter.scan_features`'s; the outputs, in the nodes, too.
    """
    raise NotImplementedError(COMPILED_ONLY)


def send_sets(
    nodes: Any, node: int, layout: Any, feature: int, missing_left: bool, goes_left: np.ndarray
) -> None:
    """For each code of the column of a feature of categories: whether it goes left.

    As :func:`~.partition.fill_goes_left` for thresholds; nothing is done of numbers.
    """
    raise NotImplementedError(COMPILED_ONLY)


def _no_search(nodes, node, layout, hists, slot, total, scale, least, scratch, tile):
    pass


def _with_search(nodes, node, layout, hists, slot, total, scale, least, scratch, tile):
    _search(nodes, node, layout, hists, slot, total, scale, least, scratch, tile)


def _no_sending(nodes, node, layout, feature, missing_left, goes_left):
    pass


def _with_sending(nodes, node, layout, feature, missing_left, goes_left):
    _send(nodes, node, layout, feature, missing_left, goes_left)


def _has_sets(nodes) -> bool:
    return "place" in getattr(getattr(nodes, "instance_class", None), "_fields", ())


@chosen_by_class(search_sets)
def _choose_search(nodes, *_):
    return _with_search if _has_sets(nodes) else _no_search


@chosen_by_class(send_sets)
def _choose_sending(nodes, *_):
    return _with_sending if _has_sets(nodes) else _no_sending
