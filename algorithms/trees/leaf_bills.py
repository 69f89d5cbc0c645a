"""What rows pay for their predictions, read off the leaves in which they end.

A leaf knows all of its path: the units that it asks for, the sum of its splits' prices, how many
they are. Rows find their leaves by bit-vectors, sixteen at once; what they have acquired is the
union over their leaves, one bit a unit, paid for once at the end. All prices are whole numbers of
grid steps, so that the bills are those of :func:`algorithms.trees.predictor.charge`, which walks
down, bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from ..costs import GridPrices
from ..kernels.decorators import kernel, parallel_kernel
from ..kernels.simd import LANES, lowest_bit
from .forest import Forest
from .predictor import BitVectors, leaf_ranges, reach_leaves, transpose_rows

LEAST_ROWS = 64  # for fewer, to tell every leaf its path takes longer than to walk
MOST_WORDS = 8  # of 64 units: with more, a leaf's path has far fewer splits than words


class LeafBills(NamedTuple):
    """What the paths to all leaves ask for: tree by tree, leaves from left to right.

    Attributes
    ----------
    steps : ndarray of shape (n_leaves,), int64
        Grid steps paid for evaluations.
    passed : ndarray of shape (n_leaves,), int64
        Split nodes.
    marks : ndarray of shape (n_words, n_leaves), uint64
        What is paid for once, as the bits of a row in :func:`algorithms.trees.predictor.charge`.
    """

    steps: np.ndarray
    passed: np.ndarray
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
    """Follow all paths of a forest and note at the leaves what they ask for.

    Parameters
    ----------
    forest : Forest
    prices : GridPrices
    n_words : int
        Words of 64 bits for what is paid once.

    Returns
    -------
    LeafBills
    """
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
def _add_leaves(block, bills, first_leaf, vectors, n_rows, row0, used, paid, passed):
    """Add what the leaves of a block of trees ask for to up to sixteen rows."""
    n_trees = block.leaf.shape[0] - 1
    for lane in range(n_rows):
        steps = n_splits = np.int64(0)
        for t in range(n_trees):
            leaf = lowest_bit(np.uint64(vectors[t * LANES + lane])) + block.leaf[t] + first_leaf
            steps += bills.steps[leaf]
            n_splits += bills.passed[leaf]
        paid[row0 + lane] += steps
        passed[row0 + lane] += n_splits
        for w in range(bills.marks.shape[0]):
            marks = np.uint64(0)
            for t in range(n_trees):
                leaf = lowest_bit(np.uint64(vectors[t * LANES + lane])) + block.leaf[t] + first_leaf
                marks |= bills.marks[w, leaf]
            used[row0 + lane, w] |= marks


@parallel_kernel
def _charge_block(block, bills, first_leaf, X, vectors, ones, used, paid, passed):
    n_samples, n_features = X.shape
    n_tasks = vectors.shape[0]
    for task in prange(n_tasks):
        begin, end = n_samples * task // n_tasks, n_samples * (task + 1) // n_tasks
        x = np.zeros(n_features * LANES)
        for row0 in range(begin, end, LANES):
            n_rows = min(LANES, end - row0)
            transpose_rows(block, X, row0, n_rows, x)
            reach_leaves(block, x, vectors[task], ones)
            _add_leaves(block, bills, first_leaf, vectors[task], n_rows, row0, used, paid, passed)


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
    blocks: list[BitVectors],
    prices: GridPrices,
    X: np.ndarray,
    n_threads: int,
    used: np.ndarray,
    paid: np.ndarray,
    passed: np.ndarray,
) -> None:
    """Charge rows that have paid for nothing yet for all trees, as the walk down does.

    Parameters
    ----------
    forest : Forest
    blocks : list of BitVectors
        Its bit-vectors.
    prices : GridPrices
    X : ndarray of shape (n_samples, n_features), float64
    n_threads : int
    used : ndarray of shape (n_samples, n_words), uint64
        All 0; as for :func:`algorithms.trees.predictor.charge`.
    paid, passed : ndarray of shape (n_samples,), int64
        Added to.
    """
    bills, first_leaf = leaf_bills(forest, prices, used.shape[1]), 0
    n_tasks = max(1, min(n_threads, len(X) // LANES))
    for block in blocks:
        ones = block.mask.dtype.type(np.iinfo(block.mask.dtype).max)
        vectors = np.empty((n_tasks, (len(block.leaf) - 1) * LANES), dtype=block.mask.dtype)
        _charge_block(block, bills, first_leaf, X, vectors, ones, used, paid, passed)
        first_leaf += int(block.leaf[-1])
    _pay_once(prices, used, paid)
