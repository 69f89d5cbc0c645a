"""What rows pay for their predictions, read off the leaves in which they end.

A leaf knows all of its path: the units that it asks for, the sum of its splits' prices, how many
they are. Rows find their leaves in tiles (:mod:`algorithms.trees.tiles`), sixteen at once; what
they have acquired is the union over their leaves, one bit a unit, paid for once at the end. All
prices are whole numbers of grid steps, so that the bills are those of
:func:`algorithms.trees.predictor.charge`, which walks down, bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..costs import GridPrices
from ..kernels.decorators import allocating_kernel, kernel
from ..kernels.loops import for_each
from ..kernels.simd import LANES, lowest_bit
from ..trees.forest import Forest
from ..trees.predictor import leaf_ranges
from ..trees.tiles import TREES_AT_ONCE, TiledForest, fill_tile, reach_leaves, scratch_words

LEAST_ROWS = 64  # for fewer, to tell every leaf its path takes longer than to walk
MOST_WORDS = 8  # of 64 units: with more, a leaf's path has far fewer splits than words


class LeafBills(NamedTuple):
    """What the paths to all leaves ask for: tree by tree, leaves from left to right."""

    steps: np.ndarray  # (n_leaves,) int64: grid steps paid for evaluations
    passed: np.ndarray  # (n_leaves,) int64: split nodes
    # (n_words, n_leaves) uint64: what is paid for once, as the bits of a row in
    # :func:`algorithms.trees.predictor.charge`
    marks: np.ndarray


@kernel
def _follow_paths(forest, prices, scratch, node_steps, node_marks, bills):
    """Fill `bills` from the roots down; `scratch` (3, n_nodes) is that of :func:`leaf_ranges`."""
    one, n_units, n_words = np.uint64(1), prices.unit_price.shape[0], bills.marks.shape[0]
    first_leaf, n_before = scratch[1], 0
    for t in range(forest.tree.shape[0] - 1):
        n_leaves = leaf_ranges(forest, t, scratch[0], first_leaf, scratch[2])
        for node in range(forest.tree[t], forest.tree[t + 1]):
            left, feature = forest.left[node], forest.feature[node]
            if left < 0:
                leaf = n_before + first_leaf[node]
                bills.steps[leaf], bills.passed[leaf] = node_steps[node], forest.depth[node]
                for w in range(n_words):
                    bills.marks[w, leaf] = node_marks[w, node]
                continue
            for child in range(left, left + 2):
                node_steps[child] = node_steps[node] + prices.split_price[feature]
                for w in range(n_words):
                    node_marks[w, child] = node_marks[w, node]
                unit = prices.unit[feature]
                node_marks[unit >> 6, child] |= one << np.uint64(unit & 63)
                if prices.own_price[feature] > 0:
                    mark = n_units + feature
                    node_marks[mark >> 6, child] |= one << np.uint64(mark & 63)
        n_before += n_leaves


def leaf_bills(forest: Forest, prices: GridPrices, n_words: int) -> LeafBills:
    """Follow all paths of a forest and note at the leaves what they ask for."""
    n_nodes, n_leaves = len(forest.feature), int(np.count_nonzero(forest.feature < 0))
    bills = LeafBills(
        np.empty(n_leaves, dtype=np.int64),
        np.empty(n_leaves, dtype=np.int64),
        np.empty((n_words, n_leaves), dtype=np.uint64),
    )
    scratch = np.empty((3, n_nodes), dtype=np.int64)
    node_steps = np.zeros(n_nodes, dtype=np.int64)
    node_marks = np.zeros((n_words, n_nodes), dtype=np.uint64)
    _follow_paths(forest, prices, scratch, node_steps, node_marks, bills)
    return bills


@kernel
def _add_leaves(leaf, begin, end, asked, words, n_rows, row0, used, paid, passed):
    """Add what the leaves of trees ``begin … end - 1`` ask for to up to sixteen rows.

    `asked` (n_leaves * (2 + n_words),), uint64, holds leaf by leaf what :class:`LeafBills` has in
    three arrays, so that a leaf is one cache line. Unsigned places throughout: numba asks of a
    signed index whether it counts from the end.
    """
    n_words = used.shape[1]
    width, one, lanes = np.uint64(2 + n_words), np.uint64(1), np.uint64(LANES)
    for lane in range(n_rows):
        steps = n_splits = marks = np.uint64(0)
        for t in range(np.uint64(end - begin)):
            word = np.uint64(words[t * lanes + np.uint64(lane)])
            at = (np.uint64(leaf[np.uint64(begin) + t]) + np.uint64(lowest_bit(word))) * width
            steps += asked[at]
            n_splits += asked[at + one]
            marks |= asked[at + one + one]
        row = row0 + lane
        paid[row] += np.int64(steps)
        passed[row] += np.int64(n_splits)
        used[row, 0] |= marks
        for w in range(1, n_words):
            marks = np.uint64(0)
            for t in range(np.uint64(end - begin)):
                word = np.uint64(words[t * lanes + np.uint64(lane)])
                at = (np.uint64(leaf[np.uint64(begin) + t]) + np.uint64(lowest_bit(word))) * width
                marks |= asked[at + np.uint64(2 + w)]
            used[row, w] |= marks


@allocating_kernel
def _charge_part(part, tiled, asked, X, rows, words, used, paid, passed):
    n_parts, n_tiles = words.shape[0], (rows.shape[0] + LANES - 1) // LANES
    n_trees, n_tested = tiled.leaf.shape[0] - 1, tiled.tested.shape[0]
    values, codes = np.zeros(LANES), np.zeros(n_tested * LANES, np.int16)
    for tile in range(n_tiles * part // n_parts, n_tiles * (part + 1) // n_parts):
        row0 = tile * LANES
        here = rows[row0 : min(row0 + LANES, rows.shape[0])]
        fill_tile(tiled, X, here, 0, n_tested, values, codes)
        for begin in range(0, n_trees, TREES_AT_ONCE):
            end = min(begin + TREES_AT_ONCE, n_trees)
            reach_leaves(tiled, begin, end, codes, words[part])
            _add_leaves(
                tiled.leaf, begin, end, asked, words[part], here.shape[0], row0, used, paid, passed
            )


@kernel
def _charge_all(tiled, asked, X, rows, words, used, paid, passed):
    captured = tiled, asked, X, rows, words, used, paid, passed
    for_each(_charge_part, words.shape[0], True, captured)


@kernel
def _pay_once(prices, used, paid):
    """Add the prices of the units and features that each row has asked for."""
    n_units = prices.unit_price.shape[0]
    for i in range(used.shape[0]):
        for w in range(used.shape[1]):
            marks = used[i, w]
            while marks != np.uint64(0):
                mark = 64 * w + lowest_bit(marks)
                marks &= marks - np.uint64(1)
                if mark < n_units:
                    paid[i] += prices.unit_price[mark]
                else:
                    paid[i] += prices.own_price[mark - n_units]


def charge_by_leaves(
    forest: Forest,
    tiled: TiledForest,
    prices: GridPrices,
    X: np.ndarray,
    n_threads: int,
    used: np.ndarray,
    paid: np.ndarray,
    passed: np.ndarray,
) -> None:
    """Charge rows that have paid for nothing yet for all trees, as the walk down does."""
    bills = leaf_bills(forest, prices, used.shape[1])
    asked = np.column_stack(
        [bills.steps.view(np.uint64), bills.passed.view(np.uint64), *bills.marks]
    )
    words = scratch_words(tiled, -(-len(X) // LANES), n_threads)
    _charge_all(tiled, asked.ravel(), X, np.arange(len(X)), words, used, paid, passed)
    _pay_once(prices, used, paid)
