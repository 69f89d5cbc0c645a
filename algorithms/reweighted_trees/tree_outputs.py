"""What the trees of a forest answer to the rows of a training set, in one byte per answer.

The matrix H of n rows and T trees is kept as the *leaf codes* of each tree (uint8; wider only if a
tree has more than 256 leaves) and the values of its leaves. Products with vectors look values up;
for the products of columns with each other, blocks of rows are expanded for BLAS. Trees of at most
16 leaves can be looked up two at a time, by a byte that holds both codes. Sums over rows and over
trees are made in one order whatever the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimators.validation import all_finite
from ..kernels.decorators import allocating_kernel, kernel, threads
from ..kernels.loops import for_each
from ..trees.forest import Forest
from ..trees.predictor import leaf_of, numbered_leaves
from ..trees.tiles import leaves_of_all, tiled_forest

_BITS = 4
_HALF = 1 << _BITS  # leaves of trees of which a byte holds two codes
_ROWS = 2048  # rows whose sums stay in the first-level cache
_COLUMNS = 128  # columns of a product of columns that one thread computes


class TreeOutputs(NamedTuple):
    """H by leaf codes."""

    # (n_trees, n_samples) unsigned: leaf of each row, numbered within its tree in the order of
    # nodes
    codes: np.ndarray
    values: np.ndarray  # (n_trees, n_codes) float64: value of each leaf; 0 beyond the tree's last
    n_threads: int
    # (ceil(n_trees / 2) n_samples), uint8, or None: codes of two trees each, the second one's in
    # the upper half
    pairs: np.ndarray | None = None

    @property
    def n_trees(self) -> int:
        """Number of trees T."""
        return self.codes.shape[0]

    @property
    def n_rows(self) -> int:
        """Number of rows n."""
        return self.codes.shape[1]

    def take(self, trees: np.ndarray) -> TreeOutputs:
        """Return the outputs of some trees, with codes of their own."""
        return TreeOutputs(self.codes[trees], self.values[trees], self.n_threads)

    def paired(self) -> TreeOutputs:
        """Return the same, made ready for many products with all trees, unless one is too large.

        They take about half the time, for half as much memory again.
        """
        if self.values.shape[1] > _HALF:
            return self
        pairs = self.codes[::2].copy()
        pairs[: self.n_trees // 2] |= self.codes[1::2] << _BITS
        return self._replace(pairs=pairs)

    def times(
        self, trees: NDArray[np.int64] | None, weights: np.ndarray, constant: float = 0.0
    ) -> np.ndarray:
        """Sum of the answers of all trees (None), or some, times weights, and a constant: (n,)."""
        out, weights = np.full(self.n_rows, constant), np.ascontiguousarray(weights)
        by_pairs = trees is None and self.pairs is not None
        trees = np.arange(self.n_trees) if trees is None else trees
        with threads(self.n_threads, len(trees) * self.n_rows):
            if by_pairs:
                _add_weighted_pairs(self.pairs, self.values, weights, out)
            else:
                _add_weighted(self.codes, self.values, trees, weights, out)
        return out

    def correlations(
        self, v: np.ndarray, trees: NDArray[np.int64] | None = None, *, squared: bool = False
    ) -> np.ndarray:
        """Hᵀv of all trees or of some, or with the squares of H: (n_trees,) float64."""
        by_pairs = trees is None and self.pairs is not None
        trees = np.arange(self.n_trees) if trees is None else trees
        out, v = np.empty(len(trees)), np.ascontiguousarray(v)
        values = self.values**2 if squared else self.values
        with threads(self.n_threads, len(trees) * self.n_rows):
            if by_pairs:
                _correlate_pairs(self.pairs, values, v, out)
            else:
                _correlate(self.codes, values, trees, v, out)
        return out

    def products(self, left: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """HᵀΩH of some trees with some others, (n_left, n_right) float64; a tree -1 is a constant.

        BLAS should run on one thread; the columns are divided among threads here.
        """
        out = np.zeros((len(left), len(right)))
        step = max(256, min(8192, 2**22 // max(1, len(left) + len(right))))
        cuts = [slice(a, a + _COLUMNS) for a in range(0, len(right), _COLUMNS)]
        same = np.array_equal(left[len(left) - len(right) :], right)  # expanded once
        alone = self.n_threads == 1 or len(cuts) < 2  # starting a thread outlasts a small product
        with nullcontext() if alone else ThreadPoolExecutor(self.n_threads) as pool:
            for first in range(0, self.n_rows, step):
                rows = slice(first, min(first + step, self.n_rows))
                a = self._expanded(left, rows)
                b = a[len(left) - len(right) :] if same else self._expanded(right, rows)
                b = b * weights[rows]

                def add(cut, a=a, b=b):
                    out[:, cut] += a @ b[cut].T

                list(map(add, cuts) if pool is None else pool.map(add, cuts))
        return out

    def _expanded(self, trees: np.ndarray, rows: slice) -> np.ndarray:
        """Answers of some trees (a tree in a row) to a block of rows."""
        out = np.empty((len(trees), rows.stop - rows.start))
        with threads(self.n_threads, out.size):
            _expand(self.codes, self.values, trees, rows.start, out)
        return out


def tree_outputs(forest: Forest, X: np.ndarray, n_threads: int) -> TreeOutputs:
    """Send rows through a forest."""
    leaf = np.flatnonzero(forest.left < 0)
    n_leaves, place, _ = numbered_leaves(forest)
    tree = np.repeat(np.arange(forest.n_trees), n_leaves)
    # Products are summed over a tree's leaves in the order of their nodes.
    own = np.arange(len(leaf)) - np.repeat(np.cumsum(n_leaves) - n_leaves, n_leaves)
    number = np.zeros(len(forest.left), dtype=np.int64)
    number[leaf] = own
    shape = (forest.n_trees, np.max(n_leaves, initial=1))
    values, numbers = np.zeros(shape), np.zeros(shape, dtype=np.min_scalar_type(shape[1] - 1))
    values[tree, own], numbers[tree, place[leaf]] = forest.value[leaf], own
    codes = np.empty((forest.n_trees, len(X)), dtype=numbers.dtype)
    # Tiles do not know where missing values go.
    tiled = tiled_forest(forest, forest.value) if all_finite(X) else None
    with threads(n_threads, X.size):
        if tiled is None:
            _leaf_codes(forest, number, X, codes)
        else:
            leaves_of_all(tiled, X, numbers, n_threads, codes)
    return TreeOutputs(codes, values, n_threads)


@kernel
def _leaf_codes_of_tile(tile, forest, number, X, codes):
    n_trees, n_rows = codes.shape
    for t in range(n_trees):
        for i in range(tile * 64, min(n_rows, tile * 64 + 64)):
            codes[t, i] = number[leaf_of(forest, t, X, i)]


@kernel
def _leaf_codes(forest, number, X, codes):
    """Write the leaf in which each row ends; rows in tiles, since codes lie tree by tree."""
    n_tiles = (codes.shape[1] + 63) // 64
    for_each(_leaf_codes_of_tile, n_tiles, True, (forest, number, X, codes))


@allocating_kernel
def _add_weighted_to_tile(tile, codes, values, trees, weights, out):
    begin, end = tile * _ROWS, min(out.shape[0], tile * _ROWS + _ROWS)
    table = np.empty(values.shape[1])
    for j in range(trees.shape[0]):
        t = trees[j]
        for leaf in range(values.shape[1]):
            table[leaf] = values[t, leaf] * weights[j]
        for i in range(begin, end):
            out[i] += table[codes[t, i]]


@kernel
def _add_weighted(codes, values, trees, weights, out):
    """Add the trees' answers times their weights, in order."""
    n_tiles = (out.shape[0] + _ROWS - 1) // _ROWS
    for_each(_add_weighted_to_tile, n_tiles, True, (codes, values, trees, weights, out))


@allocating_kernel
def _add_weighted_pairs_to_tile(tile, pairs, values, weights, out):
    n_rows, n_trees, n_codes = out.shape[0], values.shape[0], values.shape[1]
    begin, end = tile * _ROWS, min(n_rows, tile * _ROWS + _ROWS)
    table = np.empty(_HALF * _HALF)
    for p in range(pairs.shape[0]):
        t = 2 * p
        for upper in range(n_codes if t + 1 < n_trees else 1):
            more = values[t + 1, upper] * weights[t + 1] if t + 1 < n_trees else 0.0
            for lower in range(n_codes):
                table[upper * _HALF + lower] = values[t, lower] * weights[t] + more
        for i in range(begin, end):
            out[i] += table[pairs[p, i]]


@kernel
def _add_weighted_pairs(pairs, values, weights, out):
    """The same for all trees, two at a time."""
    n_tiles = (out.shape[0] + _ROWS - 1) // _ROWS
    for_each(_add_weighted_pairs_to_tile, n_tiles, True, (pairs, values, weights, out))


@kernel
def _leaf_sums(codes, v, sums):
    """Sum v by leaf; four partial sums of each leaf keep additions from waiting for each other."""
    sums[:] = 0.0
    n = codes.shape[0]
    for i in range(0, n - 3, 4):
        sums[0, codes[i]] += v[i]
        sums[1, codes[i + 1]] += v[i + 1]
        sums[2, codes[i + 2]] += v[i + 2]
        sums[3, codes[i + 3]] += v[i + 3]
    for i in range(n - n % 4, n):
        sums[0, codes[i]] += v[i]


@allocating_kernel
def _correlate_tree(j, codes, values, trees, v, out):
    t = trees[j]
    sums = np.empty((4, values.shape[1]))
    _leaf_sums(codes[t], v, sums)
    total = 0.0
    for leaf in range(values.shape[1]):
        total += ((sums[0, leaf] + sums[1, leaf]) + (sums[2, leaf] + sums[3, leaf])) * (
            values[t, leaf]
        )
    out[j] = total


@kernel
def _correlate(codes, values, trees, v, out):
    """Write each tree's product with v."""
    for_each(_correlate_tree, trees.shape[0], True, (codes, values, trees, v, out))


@allocating_kernel
def _correlate_pair(p, pairs, values, v, out):
    n_trees, n_codes = values.shape
    t = 2 * p
    sums = np.empty((4, _HALF * _HALF))
    _leaf_sums(pairs[p], v, sums)
    first = second = 0.0
    for upper in range(n_codes):
        for lower in range(n_codes):
            code = upper * _HALF + lower
            here = (sums[0, code] + sums[1, code]) + (sums[2, code] + sums[3, code])
            first += here * values[t, lower]
            if t + 1 < n_trees:
                second += here * values[t + 1, upper]
    out[t] = first
    if t + 1 < n_trees:
        out[t + 1] = second


@kernel
def _correlate_pairs(pairs, values, v, out):
    """The same for all trees, two at a time."""
    for_each(_correlate_pair, pairs.shape[0], True, (pairs, values, v, out))


@kernel
def _expand_tree(j, codes, values, trees, first, out):
    t = trees[j]
    for i in range(out.shape[1]):
        out[j, i] = 1.0 if t < 0 else values[t, codes[t, first + i]]


@kernel
def _expand(codes, values, trees, first, out):
    """Write the answers of trees (-1: a constant), each in a row, to rows from `first` on."""
    for_each(_expand_tree, trees.shape[0], True, (codes, values, trees, first, out))
