"""Prediction with a fitted forest, and what it costs on the way.

Scores come from a vectorised QuickScorer (Lucchese et al. 2015; Ye et al. 2018): instead of walking
down, every split that a row fails clears, in a bit-vector of its tree, the leaves that the row can
no longer reach; the lowest bit left is the row's leaf. Sixteen rows go side by side. Trees with
more than 64 leaves, and everything that must see the path (costs), walk down: every walk of this
package takes its steps by :func:`next_node`. The bit-vectors are the one other place that knows
which way a row goes, since they compare sixteen rows with a threshold at once
(:func:`algorithms.kernels.simd.clear_above`). Estimators score batches in tiles
(:mod:`algorithms.trees.tiles`) and fall back on this where a forest has no such form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..kernels.decorators import allocating_kernel, inlined_kernel, kernel, threads
from ..kernels.loops import for_each
from ..kernels.simd import LANES, clear_above, lowest_bit
from .categorical_forest import CategoricalForest, goes_right
from .forest import Forest

if TYPE_CHECKING:
    from ..costs import GridPrices

_BLOCK_TREES = 256  # bit-vectors of a block of trees: 256 x 16 x 4 bytes, half a first-level cache


class BitVectors(NamedTuple):
    """Splits of a block of trees, by feature and rising threshold."""

    feature: np.ndarray  # (n_used,) int32: features tested in the block
    split: np.ndarray  # (n_used + 1,) int64: first split of each
    threshold: np.ndarray  # (n_splits,) float64
    tree: np.ndarray  # (n_splits,) int32: tree within the block
    # (n_splits,) uint32 or uint64: leaves that stay reachable if the row goes right
    mask: np.ndarray
    missing_left: np.ndarray  # (n_splits,) uint8: whether a row goes left if its value is missing
    leaf: np.ndarray  # (n_trees + 1,) int64: first leaf of each tree
    # (n_leaves,) float64: contribution of each leaf, learning rate included; leaves from left to
    # right
    value: np.ndarray
    column: np.ndarray  # (n_trees,) int64: score column of each tree


@inlined_kernel
def next_node(forest: Forest, node: int, x: float) -> int:
    """Node that a row goes to from a split node."""
    if x != x:
        return np.int64(forest.left[node]) + 1 - forest.missing_left[node]
    return np.int64(forest.left[node]) + (1 if goes_right(forest, node, x) else 0)


@kernel
def leaf_ranges(
    forest: Forest,
    tree: int,
    position: NDArray[np.int64],
    first_leaf: NDArray[np.int64],
    last_leaf: NDArray[np.int64],
) -> int:
    """Number the leaves of a tree from left to right; return how many there are."""
    begin, end = forest.tree[tree], forest.tree[tree + 1]
    # Children have larger numbers than their parent: sizes upwards, positions downwards.
    for node in range(end - 1, begin - 1, -1):
        left = forest.left[node]
        last_leaf[node] = 1 if left < 0 else last_leaf[left] + last_leaf[left + 1]
    first_leaf[begin] = 0
    n_leaves = last_leaf[begin]
    for node in range(begin, end):
        left = forest.left[node]
        size = last_leaf[node]
        if left >= 0:
            first_leaf[left] = first_leaf[node]
            first_leaf[left + 1] = first_leaf[node] + last_leaf[left]
        position[node] = size
    for node in range(begin, end):
        last_leaf[node] = first_leaf[node] + position[node]
    return n_leaves


class LeafRanges(NamedTuple):
    """Leaves of all trees, numbered within each from left to right."""

    n_leaves: np.ndarray  # (n_trees,) int64
    # first, last: (n_nodes,) int64: the first leaf below each node, and one more than its last
    first: np.ndarray
    last: np.ndarray


@kernel
def _number_leaves(forest, scratch, n_leaves):
    for t in range(n_leaves.shape[0]):
        n_leaves[t] = leaf_ranges(forest, t, scratch[0], scratch[1], scratch[2])


def numbered_leaves(forest: Forest) -> LeafRanges:
    """Number the leaves of each tree of a forest."""
    scratch = np.empty((3, len(forest.feature)), dtype=np.int64)
    n_leaves = np.empty(forest.n_trees, dtype=np.int64)
    _number_leaves(forest, scratch, n_leaves)
    return LeafRanges(n_leaves, scratch[1], scratch[2])


def bit_vectors(
    forest: Forest, contributions: np.ndarray, n_columns: int, block_trees: int | None = None
) -> list[BitVectors]:
    """Build the bit-vector form of a forest."""
    n_leaves, first_leaf, last_leaf = numbered_leaves(forest)
    most = np.max(n_leaves, initial=0)
    if not 0 < most <= 64 or isinstance(forest, CategoricalForest):
        return []
    bits = np.uint32 if most <= 32 else np.uint64
    block_trees = block_trees or _BLOCK_TREES * 4 // np.dtype(bits).itemsize
    tree_of_node = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree))
    full = np.uint64(0xFFFFFFFFFFFFFFFF)
    blocks = []
    for begin in range(0, forest.n_trees, block_trees):
        end = min(begin + block_trees, forest.n_trees)
        nodes = np.arange(forest.tree[begin], forest.tree[end])
        leaves = nodes[forest.feature[nodes] < 0]
        leaves = leaves[np.lexsort((first_leaf[leaves], tree_of_node[leaves]))]
        splits = nodes[forest.feature[nodes] >= 0]
        order = np.lexsort((splits, forest.threshold[splits], forest.feature[splits]))
        splits = splits[order]
        lost = forest.left[splits]  # going right loses the leaves of the left child
        low, size = first_leaf[lost].astype(np.uint64), (last_leaf - first_leaf)[lost]
        run = full >> (np.uint64(64) - size.astype(np.uint64))
        feature, start = np.unique(forest.feature[splits], return_index=True)
        blocks.append(
            BitVectors(
                feature.astype(np.int32),
                np.append(start, len(splits)).astype(np.int64),
                forest.threshold[splits],
                (tree_of_node[splits] - begin).astype(np.int32),
                (~(run << low)).astype(bits),
                forest.missing_left[splits],
                np.cumsum([0, *n_leaves[begin:end]], dtype=np.int64),
                contributions[leaves],
                np.arange(begin, end) % n_columns,
            )
        )
    return blocks


@kernel
def _clear_missing(block, x, n_rows, vectors):
    """Clear what rows lose that are missing a value and go right for it."""
    for u in range(block.feature.shape[0]):
        base = np.int64(block.feature[u]) * LANES
        for lane in range(n_rows):
            if x[base + lane] == -np.inf:
                for s in range(block.split[u], block.split[u + 1]):
                    if block.missing_left[s] == 0:
                        vectors[np.int64(block.tree[s]) * LANES + lane] &= block.mask[s]


@kernel
def score_block(
    block: np.ndarray,
    x: NDArray[np.float64],
    n_rows: int,
    some_missing: bool,
    vectors: np.ndarray,
    ones: int,
    out: np.ndarray,
    row0: int,
) -> None:
    """Add a block of trees to the scores of up to sixteen rows."""
    n_trees = block.leaf.shape[0] - 1
    vectors[: n_trees * LANES] = ones
    for u in range(block.feature.shape[0]):
        base = np.int64(block.feature[u]) * LANES
        largest = x[base]
        for lane in range(1, LANES):
            largest = max(largest, x[base + lane])
        for s in range(block.split[u], block.split[u + 1]):
            threshold = block.threshold[s]
            if not threshold < largest:
                break
            at = np.int64(block.tree[s]) * LANES
            clear_above(vectors, at, x, base, threshold, block.mask[s])
    if some_missing:
        _clear_missing(block, x, n_rows, vectors)
    for t in range(n_trees):
        first, column = block.leaf[t], block.column[t]
        for lane in range(n_rows):
            leaf = lowest_bit(np.uint64(vectors[t * LANES + lane]))
            out[row0 + lane, column] += block.value[first + leaf]


@allocating_kernel
def _add_scores_of_part(part, block, X, vectors, ones, out):
    n_samples, n_features = X.shape
    n_parts = vectors.shape[0]
    begin, end = n_samples * part // n_parts, n_samples * (part + 1) // n_parts
    x = np.zeros(n_features * LANES)
    for row0 in range(begin, end, LANES):
        n_rows, some_missing = min(LANES, end - row0), False
        for u in range(block.feature.shape[0]):
            m = np.int64(block.feature[u])
            for lane in range(n_rows):
                value = X[row0 + lane, m]
                missing = value != value
                some_missing |= missing
                x[m * LANES + lane] = -np.inf if missing else value
        score_block(block, x, n_rows, some_missing, vectors[part], ones, out, row0)


@kernel
def _add_scores(block, X, vectors, ones, out):
    for_each(_add_scores_of_part, vectors.shape[0], True, (block, X, vectors, ones, out))


@inlined_kernel
def leaf_of(forest: Forest, t: int, X: np.ndarray, i: int) -> int:
    """Node in which row i ends in tree t."""
    node = forest.tree[t]
    while forest.left[node] >= 0:
        node = next_node(forest, node, X[i, forest.feature[node]])
    return node


@kernel
def _walk_row(i, forest, first_tree, contributions, X, out):
    for t in range(first_tree, forest.tree.shape[0] - 1):
        out[i, t % out.shape[1]] += contributions[leaf_of(forest, t, X, i)]


@kernel
def walk_scores(
    forest: Forest,
    first_tree: int,
    contributions: NDArray[np.float64],
    X: np.ndarray,
    out: NDArray[np.float64],
) -> None:
    """Add the trees from `first_tree` on to the scores `out`, in order, walking down each."""
    for_each(_walk_row, X.shape[0], True, (forest, first_tree, contributions, X, out))


@kernel
def _leaves_of_row(i, forest, X, out):
    for t in range(out.shape[1]):
        out[i, t] = leaf_of(forest, t, X, i)


@kernel
def leaf_nodes(forest: Forest, X: np.ndarray, out: NDArray[np.int64]) -> None:
    """Write the node in which each row ends, for each tree."""
    for_each(_leaves_of_row, X.shape[0], True, (forest, X, out))


def staged_scores(
    forest: Forest, contributions: np.ndarray, initial: np.ndarray, X: np.ndarray, n_threads: int
) -> Iterator[np.ndarray]:
    """Scores after 1, 2, … rounds, each a new array."""
    out = np.tile(initial, (len(X), 1))
    for first in range(0, forest.n_trees, len(initial)):
        begun = forest._replace(tree=forest.tree[: first + len(initial) + 1])
        with threads(n_threads, X.size):
            walk_scores(begun, first, contributions, read_only(X), out)
        yield out.copy()


def add_scores(blocks: list[BitVectors], X: np.ndarray, out: np.ndarray, n_threads: int) -> None:
    """Add all trees to the scores `out`, in order, through the bit-vectors."""
    n_tasks = max(1, min(n_threads, len(X) // LANES))
    for block in blocks:
        ones = block.mask.dtype.type(np.iinfo(block.mask.dtype).max)
        n_words = (len(block.leaf) - 1) * LANES
        vectors = np.empty((n_tasks, n_words), dtype=block.mask.dtype)
        _add_scores(block, read_only(X), vectors, ones, out)


@kernel
def charge_tree(
    forest: Forest, t: int, prices: GridPrices, X: np.ndarray, i: int, used: NDArray[np.uint64]
) -> tuple[float, int]:
    """Walk row i down tree t and charge what its path asks for."""
    one, n_units = np.uint64(1), prices.unit_price.shape[0]
    cost = count = np.int64(0)
    node = forest.tree[t]
    while forest.left[node] >= 0:
        feature = np.int64(forest.feature[node])
        unit = prices.unit[feature]
        bit = one << np.uint64(unit & 63)
        if used[i, unit >> 6] & bit == np.uint64(0):
            used[i, unit >> 6] |= bit
            cost += prices.unit_price[unit]
        own = prices.own_price[feature]
        if own > 0:
            mark = n_units + feature
            bit = one << np.uint64(mark & 63)
            if used[i, mark >> 6] & bit == np.uint64(0):
                used[i, mark >> 6] |= bit
                cost += own
        cost += prices.split_price[feature]
        count += 1
        node = next_node(forest, node, X[i, feature])
    return cost, count


@kernel
def _charge_row(i, forest, first_tree, ends, prices, X, used, paid, passed):
    cost = count = np.int64(0)
    for t in range(first_tree, ends[i]):
        steps, n_splits = charge_tree(forest, t, prices, X, i, used)
        cost += steps
        count += n_splits
    paid[i] += cost
    passed[i] += count


@kernel
def charge(
    forest: Forest,
    first_tree: int,
    ends: NDArray[np.int64],
    prices: GridPrices,
    X: np.ndarray,
    used: NDArray[np.uint64],
    paid: NDArray[np.int64],
    passed: NDArray[np.int64],
) -> None:
    """Walk trees ``first_tree … ends[i] - 1`` for row i and charge what their paths ask for.

    Parameters
    ----------
    ends : ndarray of shape (n_samples,), int64
    prices : GridPrices
        See :class:`algorithms.costs.GridPrices`.
    used : ndarray of shape (n_samples, n_words), uint64
        Units that the row has acquired, one bit each, and behind them the features whose own price
        it has paid; brought up to date.
    paid : ndarray of shape (n_samples,), int64
        Costs in grid steps; added to.
    passed : ndarray of shape (n_samples,), int64
        Split nodes evaluated; added to.
    """
    captured = forest, first_tree, ends, prices, X, used, paid, passed
    for_each(_charge_row, X.shape[0], True, captured)
