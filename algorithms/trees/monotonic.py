"""Monotonic constraints while a tree grows: bounds of nodes, and splits whose values keep to them.

The rule is :mod:`reference.beyond.monotonic`'s. The grower asks :func:`search_features` and
:func:`hand_down`, which numba compiles by the class of its nodes: where no feature is constrained,
to the search without bounds and to nothing at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.decorators import COMPILED_ONLY, chosen_by_class, kernel
from .searching_sets import (
    CategoricalNodes,
    bins_of,
    copy_ordered,
    keep_set,
    put_in_order,
    search_sets,
    with_room_for_sets,
)
from .splitter import MIN_RELATIVE_GAIN, MISSING_LEFT, MISSING_RIGHT, scan_features


class MonotonicNodes(NamedTuple):
    """A growing tree, as :class:`~.searching_sets.CategoricalNodes`, with bounds of its values."""

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
    cut: np.ndarray
    missing_left: np.ndarray
    place: np.ndarray
    left_bins: np.ndarray
    seen_bins: np.ndarray
    ordered: np.ndarray
    order: np.ndarray
    ratio: np.ndarray
    sign: np.ndarray  # (n_features,) int8: 1 scores never fall, -1 they never rise, 0 either
    low: np.ndarray  # (n_nodes,) float64, bounds of the values of all leaves below
    high: np.ndarray


def with_bounds(nodes: Any, sign: np.ndarray, n_tiles: int) -> MonotonicNodes:
    """Allocate the bounds of a tree's nodes; the root has none."""
    if not isinstance(nodes, CategoricalNodes):
        nodes = with_room_for_sets(nodes, np.zeros(len(sign), dtype=bool), n_tiles)
    n_nodes = len(nodes.feature)
    return MonotonicNodes(*nodes, sign, np.full(n_nodes, -np.inf), np.full(n_nodes, np.inf))


@kernel
def _clipped(v, low, high):
    """Give the bound that a value is beyond, or the value."""
    if v < low:
        return low
    return high if v > high else v


@kernel
def _taken_off(G, H, v):
    """Twice what a leaf of value v takes off the objective, operation by operation."""
    return -((2.0 * G + H * v) * v)


@kernel
def _scan_bounded(g, h, c, begin, n_bins, before, total, scale, least, low, high, sign):
    """Largest raw gain of the thresholds between bins, and the first bin of those with it."""
    G, H = total[0] * scale.gradient, total[1] * scale.hessian
    reg = scale.reg_lambda
    of_node = _taken_off(G, H + reg, _clipped(-G / (H + reg), low, high))
    best, at = 0.0, np.int64(-1)
    sum_g, sum_h, sum_n = before
    for b in range(n_bins - 1):
        sum_g += g[begin + b]
        sum_h += h[begin + b]
        sum_n += c[begin + b]
        if sum_n < least[1] or sum_h < least[0]:
            continue
        if total[2] - sum_n < least[1] or total[1] - sum_h < least[0]:
            break
        GL, HL = sum_g * scale.gradient, sum_h * scale.hessian
        GR, HR = G - GL, H - HL
        HL, HR = HL + reg, HR + reg
        v_left, v_right = _clipped(-GL / HL, low, high), _clipped(-GR / HR, low, high)
        if sign * v_left > sign * v_right:
            continue
        gain = (_taken_off(GL, HL, v_left) + _taken_off(GR, HR, v_right)) - of_node
        if gain > best:
            best, at = gain, np.int64(b)
    return best, at


@kernel
def _noise(total, scale, low, high):
    """Raw gain that may be rounding alone."""
    G, H = total[0] * scale.gradient, total[1] * scale.hessian + scale.reg_lambda
    v = abs(_clipped(-G / H, low, high))
    rounded = total[2] * scale.count * scale.rounding
    return max(MIN_RELATIVE_GAIN * ((2.0 * abs(G) + H * v) * v), rounded * rounded / H)


@kernel
def _best_cut(g, h, c, begin, n_bins, some_missing, total, scale, least, low, high, sign):
    """As a feature's place in ``cut``, and its raw gain; with missing values on either side."""
    nothing = np.int64(0), np.int64(0), np.int64(0)
    gain, cut = _scan_bounded(g, h, c, begin, n_bins, nothing, total, scale, least, low, high, sign)
    last = begin + n_bins - 1
    if some_missing and c[last] != 0:
        cut += MISSING_RIGHT
        missing = g[last], h[last], c[last]
        gain_left, cut_left = _scan_bounded(
            g, h, c, begin, n_bins - 1, missing, total, scale, least, low, high, sign
        )
        if gain_left > gain:
            gain, cut = gain_left, cut_left + MISSING_LEFT
    if gain > _noise(total, scale, low, high):
        return gain, cut
    return 0.0, np.int64(-1)


@kernel
def _search(nodes, node, layout, hists, slot, total, scale, least, scratch, tile):
    order, ratio, ordered = nodes.order[tile], nodes.ratio[tile], nodes.ordered[tile]
    low, high = nodes.low[node], nodes.high[node]
    for position in range(layout.tile_feature[tile], layout.tile_feature[tile + 1]):
        feature = layout.tile_features[position]
        n_bins, some_missing = layout.feature_n_bins[feature], layout.feature_missing[feature]
        g, h, c, entry = bins_of(layout, feature, hists, slot, total, scratch, tile)
        place, n = nodes.place[feature], np.int64(0)
        if place >= 0:
            n_known = n_bins - 1 if some_missing else n_bins
            n = put_in_order(g, h, c, entry, n_known, order, ratio)
            copy_ordered(g, h, c, entry, order, n, some_missing, n_known, ordered)
            g, h, c, entry = ordered[0], ordered[1], ordered[2], np.int64(0)
            n_bins = n + 1 if some_missing else n
        gain, cut = 0.0, np.int64(-1)
        if n_bins > 0:
            gain, cut = _best_cut(
                g, h, c, entry, n_bins, some_missing, total, scale, least, low, high,
                nodes.sign[feature],
            )  # fmt: skip
        nodes.raw_gain[node, feature], nodes.cut[node, feature] = gain, cut
        if place >= 0 and cut >= 0:
            left_bins, seen_bins = nodes.left_bins[node, place], nodes.seen_bins[node, place]
            keep_set(order, n, cut & 255, left_bins, seen_bins)


@kernel
def _value(G, H, scale, hessian_step, least_hessian):
    """Newton step -G/(H + λ), 0 where there is too little H."""
    hessian = H * hessian_step
    if hessian >= least_hessian:
        return -(G * scale.gradient) / (hessian + scale.reg_lambda)
    return 0.0


@kernel
def _bound_children(nodes, node, v_left, v_right):
    """Bounds of the children of a split node, whose own values are given within its bounds."""
    left, right = nodes.left[node], nodes.left[node] + 1
    low, high, sign = nodes.low[node], nodes.high[node], nodes.sign[nodes.feature[node]]
    for child in (left, right):
        nodes.low[child], nodes.high[child] = low, high
    middle = 0.5 * (_clipped(v_left, low, high) + _clipped(v_right, low, high))
    if sign > 0:
        nodes.high[left] = nodes.low[right] = middle
    elif sign < 0:
        nodes.low[left] = nodes.high[right] = middle


@kernel
def _hand_down(nodes, node, scale, least_hessian):
    left, sums = nodes.left[node], nodes.sums
    v_left = _value(sums[left, 0], sums[left, 1], scale, scale.hessian, least_hessian)
    v_right = _value(sums[left + 1, 0], sums[left + 1, 1], scale, scale.hessian, least_hessian)
    _bound_children(nodes, node, v_left, v_right)


@kernel
def bound_anew(
    nodes: Any,
    n_nodes: int,
    scale: Any,
    least_hessian: float,
    sums: np.ndarray,
    hessian_step: float,
) -> None:
    """Bounds by the hessians of the leaf values, where others have chosen the splits."""
    for node in range(n_nodes - 1, -1, -1):  # children come after their parents
        if nodes.feature[node] >= 0:
            sums[node] = sums[nodes.left[node]] + sums[nodes.left[node] + 1]
    for node in range(n_nodes):
        if nodes.feature[node] >= 0:
            left = nodes.left[node]
            v_left, v_right = (
                _value(nodes.sums[left, 0], sums[left], scale, hessian_step, least_hessian),
                _value(nodes.sums[left + 1, 0], sums[left + 1], scale, hessian_step, least_hessian),
            )
            _bound_children(nodes, node, v_left, v_right)


@kernel
def keep_within(nodes: Any, n_nodes: int, values: np.ndarray) -> None:
    """Put each leaf's value, (n_nodes,) float64, within its bounds."""
    for node in range(n_nodes):
        if nodes.feature[node] < 0:
            values[node] = _clipped(values[node], nodes.low[node], nodes.high[node])


# --- What the grower asks --------------------------------------------------------------------


def search_features(
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
    """Best split of each feature of a tile by raw gain, within the node's bounds if it has any.

    The arguments are :func:`~.splitter.scan_features`'s; the outputs, in the nodes, too.
    """
    raise NotImplementedError(COMPILED_ONLY)


def hand_down(nodes: Any, node: int, scale: Any, least_hessian: float) -> None:
    """Bounds of the two leaves that a node was split into, by their sums."""
    raise NotImplementedError(COMPILED_ONLY)


def _free_search(nodes, node, layout, hists, slot, total, scale, least, scratch, tile):
    begin, end = layout.tile_feature[tile], layout.tile_feature[tile + 1]
    scan_features(
        layout, begin, end, hists, slot, total, scale, least, scratch, tile,
        nodes.raw_gain[node], nodes.cut[node],
    )  # fmt: skip
    search_sets(nodes, node, layout, hists, slot, total, scale, least, scratch, tile)


def _bounded_search(nodes, node, layout, hists, slot, total, scale, least, scratch, tile):
    _search(nodes, node, layout, hists, slot, total, scale, least, scratch, tile)


def _nothing_down(nodes, node, scale, least_hessian):
    pass


def _bounds_down(nodes, node, scale, least_hessian):
    _hand_down(nodes, node, scale, least_hessian)


def _bounded(nodes) -> bool:
    return getattr(nodes, "instance_class", None) is MonotonicNodes


@chosen_by_class(search_features)
def _choose_search(nodes, *_):
    return _bounded_search if _bounded(nodes) else _free_search


@chosen_by_class(hand_down)
def _choose_bounds(nodes, *_):
    return _bounds_down if _bounded(nodes) else _nothing_down
