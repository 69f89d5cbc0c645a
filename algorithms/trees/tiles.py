"""Some trees of a forest at a time, for rows that were read once: tiles of coded values.

Early exits evaluate ten trees, ask who stays, and go on. The bit-vectors of
:mod:`algorithms.trees.predictor` are not made for that: their splits are sorted by feature over
hundreds of trees, and looking sixteen floats over for the largest one of each feature takes longer
than all splits of ten trees.

Here a value is replaced, once, by the number of the forest's thresholds of its feature that lie
below it, in 16 bits, and sixteen rows lie side by side in a *tile*. A split then compares sixteen
integers at once, and the leaves that a tree still offers stay in a register from its first split to
its last. Nothing depends on the order of splits; leaf values are added in the order of trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..kernels.decorators import allocating_kernel, kernel
from ..kernels.loops import for_each
from ..kernels.simd import LANES, count_below, lowest_bit, reachable_leaves
from .categorical_forest import CategoricalForest
from .forest import Forest
from .predictor import numbered_leaves

TREES_AT_ONCE = 64  # their words, 16 rows each, stay in the first-level cache
_CODE_BITS, _LOWEST_CODE = 16, -(2**15)
_PART = 16  # leaves that are looked at together
_WORDS = {1: np.uint16, 2: np.uint32, 4: np.uint64}  # by the parts of the largest tree


class TiledForest(NamedTuple):
    """Splits and leaves of a forest, tree after tree, for rows in tiles."""

    # (n_tested,) int64: columns that the forest tests, those of earlier stages first; of a stage in
    # rising order, since memory gives neighbours sooner than columns in the order of trees
    tested: np.ndarray
    # (n_trees + 1,) int64: how many of them to code before the first 0, 1, 2, … trees: those of all
    # stages begun
    n_needed: np.ndarray
    # (n_edges,) float64: distinct thresholds of each of them, rising, and infinities to make them
    # 2^k - 1
    edge: np.ndarray
    edge_start: np.ndarray  # (n_tested + 1,) int64: first threshold of each
    n_steps: np.ndarray  # (n_tested,) int64: k of each: the steps of a bisection
    # (n_trees, n_parts + 1) int64: first split of each part of a tree's leaves, 16 from left to
    # right, and where the last one's end; a split that takes leaves of two parts is there twice
    split: np.ndarray
    feature: np.ndarray  # (n_splits,) int32: place in `tested`
    code: np.ndarray  # (n_splits,) int16: A row goes right if its code is larger
    # (n_splits,) uint16: leaves of the part out of reach for a row that goes right
    lost: np.ndarray
    leaf: np.ndarray  # (n_trees + 1,) int64: first leaf of each tree
    # (n_leaves,) float64: contribution of each leaf, learning rate included; leaves from left to
    # right
    value: np.ndarray


def tiled_forest(
    forest: Forest, contributions: np.ndarray, stops: Sequence[int] = ()
) -> TiledForest | None:
    """Build the form of a forest that tiles pass."""
    n_leaves, first_leaf, last_leaf = numbered_leaves(forest)
    most = np.max(n_leaves, initial=0)
    if not 0 < most <= 64 or isinstance(forest, CategoricalForest):
        return None
    n_parts = next(n for n in _WORDS if most <= _PART * n)
    splits = np.flatnonzero(forest.feature >= 0)
    tested, first_split, feature = np.unique(
        forest.feature[splits], return_index=True, return_inverse=True
    )
    first_tree = np.searchsorted(forest.tree, splits[first_split], side="right")
    first_stage = np.searchsorted(stops, first_tree)  # of the first, second, … tree
    order = np.argsort(first_stage, kind="stable")
    tested, feature = tested[order], np.argsort(order)[feature]
    begun = np.searchsorted(stops, np.arange(1, forest.n_trees + 1))
    n_needed = np.searchsorted(first_stage[order], begun, side="right")
    threshold = forest.threshold[splits]
    rising = np.lexsort((threshold, feature))
    of, at = feature[rising], threshold[rising]
    new = np.ones(len(rising), dtype=bool)
    new[1:] = (of[1:] != of[:-1]) | (at[1:] != at[:-1])
    n_edges = np.bincount(of[new], minlength=len(tested))
    before = np.cumsum(n_edges) - n_edges  # edges of earlier columns
    code = np.empty(len(splits), dtype=np.int64)
    code[rising] = np.cumsum(new) - 1 - before[of]
    n_steps = np.array([n.bit_length() for n in n_edges.tolist()], dtype=np.int64)
    if np.max(n_steps, initial=0) > _CODE_BITS:
        return None
    edge_start = np.append(0, np.cumsum(2**n_steps - 1))
    edge = np.full(edge_start[-1], np.inf)
    edge[np.arange(n_edges.sum()) + np.repeat(edge_start[:-1] - before, n_edges)] = at[new]
    lost = forest.left[splits]  # going right loses the leaves of the left child
    size = (last_leaf - first_leaf)[lost].astype(np.uint64)
    run = np.uint64(2**64 - 1) >> (np.uint64(64) - size)
    in_tree = np.searchsorted(forest.tree, splits, side="right") - 1
    which, lost, first_of_part = _by_part(
        run << first_leaf[lost].astype(np.uint64), in_tree, forest.n_trees, n_parts
    )
    leaves = np.flatnonzero(forest.feature < 0)
    tree_of_leaf = np.searchsorted(forest.tree, leaves, side="right")
    leaves = leaves[np.lexsort((first_leaf[leaves], tree_of_leaf))]
    return TiledForest(
        tested=tested.astype(np.int64),
        n_needed=np.append(0, n_needed),
        edge=edge,
        edge_start=edge_start,
        n_steps=n_steps,
        split=first_of_part,
        feature=feature[which].astype(np.int32),
        code=(code[which] + _LOWEST_CODE).astype(np.int16),
        lost=lost,
        leaf=np.cumsum([0, *n_leaves], dtype=np.int64),
        value=contributions[leaves],
    )


def _by_part(
    lost: np.ndarray, tree: np.ndarray, n_trees: int, n_parts: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Splits once for each part that they take leaves of, these leaves, and each part's first."""
    of_part = lost[:, None] >> np.arange(0, _PART * n_parts, _PART, dtype=np.uint64)
    of_part = of_part.astype(np.uint16)  # the lowest 16
    which, part = np.nonzero(of_part)
    place = tree[which] * n_parts + part
    order = np.argsort(place, kind="stable")
    first = np.searchsorted(place[order], np.arange(n_trees * n_parts + 1))
    bounds = np.arange(n_trees)[:, None] * n_parts + np.arange(n_parts + 1)
    return which[order], of_part[which, part][order], first[bounds]


@kernel
def fill_tile(
    forest: Forest,
    X: np.ndarray,
    rows: Any,
    first: int,
    last: int,
    values: np.ndarray,
    codes: np.ndarray,
) -> None:
    """Code tested features ``first … last - 1`` of up to 16 rows; `values` (16,) is scratch."""
    n_rows = np.uint64(rows.shape[0])
    for u in range(first, last):
        m = np.uint64(forest.tested[u])
        for lane in range(n_rows):
            # Signed places would each be looked at for being negative.
            values[lane] = X[np.uint64(rows[lane]), m]
        start, n_steps = forest.edge_start[u], forest.n_steps[u]
        count_below(forest.edge, start, n_steps, values, codes, u * LANES, _LOWEST_CODE)


@allocating_kernel
def _fill_wanted(tile, forest, X, rows, wanted, first, last, tiles):
    if wanted[tile]:
        here = rows[tile * LANES : min(tile * LANES + LANES, rows.shape[0])]
        fill_tile(forest, X, here, first, last, np.zeros(LANES), tiles[tile])


@kernel
def fill_tiles(
    forest: TiledForest,
    X: np.ndarray,
    rows: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    first: int,
    last: int,
    tiles: NDArray[np.int16],
) -> None:
    """Code tested features ``first … last - 1`` of some rows."""
    captured = forest, X, rows, wanted, first, last, tiles
    for_each(_fill_wanted, tiles.shape[0], True, captured)


@kernel
def _pack_tile(tile, old, places, n_coded, new):
    first = tile * LANES
    n_lanes = min(LANES, places.shape[0] - first)
    if n_lanes < LANES:
        new[tile] = 0
    for lane in range(n_lanes):
        place = places[first + lane]
        source, from_lane = place // LANES, place % LANES
        for u in range(n_coded):
            new[tile, u * LANES + lane] = old[source, u * LANES + from_lane]


@kernel
def pack_tiles(
    old: NDArray[np.int16], places: NDArray[np.int64], n_coded: int, new: NDArray[np.int16]
) -> None:
    """Bring some rows of tiles together."""
    for_each(_pack_tile, new.shape[0], True, (old, places, n_coded, new))


@kernel
def _leaf_value(forest, t, word):
    """Value of the lowest leaf left of tree t."""
    leaf = np.uint64(forest.leaf[t]) + np.uint64(lowest_bit(np.uint64(word)))
    return forest.value[leaf]  # by an unsigned number: no check for a negative one


@kernel
def reach_leaves(
    forest: Forest, begin: int, end: int, codes: np.ndarray, words: np.ndarray
) -> None:
    """Leaves that the rows of a tile can reach in at most 64 trees; the lowest is theirs."""
    for t in range(begin, end):
        reachable_leaves(
            codes, forest.feature, forest.code, forest.lost, forest.split, t,
            words, (t - begin) * LANES,
        )  # fmt: skip


@kernel
def _score_tile(forest, first_tree, last_tree, codes, words, out, first_row):
    """Add trees to the scores of the sixteen rows of a tile."""
    n_columns = out.shape[1]
    for begin in range(first_tree, last_tree, TREES_AT_ONCE):
        end = min(begin + TREES_AT_ONCE, last_tree)
        reach_leaves(forest, begin, end, codes, words)
        for column in range(n_columns):
            tree = begin + (column - begin) % n_columns
            # Four sums at a time stay in registers, and none waits for another.
            for lane in range(0, LANES, 4):
                row = first_row + lane
                a, b = out[row, column], out[row + 1, column]
                c, d = out[row + 2, column], out[row + 3, column]
                for t in range(tree, end, n_columns):
                    at = np.uint64((t - begin) * LANES + lane)
                    a += _leaf_value(forest, t, words[at])
                    b += _leaf_value(forest, t, words[at + np.uint64(1)])
                    c += _leaf_value(forest, t, words[at + np.uint64(2)])
                    d += _leaf_value(forest, t, words[at + np.uint64(3)])
                out[row, column], out[row + 1, column] = a, b
                out[row + 2, column], out[row + 3, column] = c, d


@kernel
def _score_part(part, forest, first_tree, last_tree, tiles, wanted, words, out):
    n_tiles, n_parts = tiles.shape[0], words.shape[0]
    for tile in range(n_tiles * part // n_parts, n_tiles * (part + 1) // n_parts):
        if wanted[tile]:
            _score_tile(forest, first_tree, last_tree, tiles[tile], words[part], out, tile * LANES)


@kernel
def score_tiles(
    forest: TiledForest,
    first_tree: int,
    last_tree: int,
    tiles: NDArray[np.int16],
    wanted: NDArray[np.bool_],
    words: np.ndarray,
    out: NDArray[np.float64],
) -> None:
    """Add trees ``first_tree … last_tree - 1`` to the scores, in order."""
    captured = forest, first_tree, last_tree, tiles, wanted, words, out
    for_each(_score_part, words.shape[0], True, captured)


@allocating_kernel
def _score_part_of_all(part, forest, X, rows, words, out):
    n_tiles, n_parts = out.shape[0] // LANES, words.shape[0]
    n_trees, n_tested = forest.leaf.shape[0] - 1, forest.tested.shape[0]
    values, codes = np.zeros(LANES), np.zeros(n_tested * LANES, np.int16)
    for tile in range(n_tiles * part // n_parts, n_tiles * (part + 1) // n_parts):
        here = rows[tile * LANES : min(tile * LANES + LANES, rows.shape[0])]
        fill_tile(forest, X, here, 0, n_tested, values, codes)
        _score_tile(forest, 0, n_trees, codes, words[part], out, tile * LANES)


@kernel
def _score_all(forest, X, rows, words, out):
    for_each(_score_part_of_all, words.shape[0], True, (forest, X, rows, words, out))


def scratch_words(forest: TiledForest, n_tiles: int, n_threads: int) -> np.ndarray:
    """Scratch space for the leaves of 64 trees, for as many parts as can work at once."""
    n_parts = max(1, min(n_threads, n_tiles))
    word = _WORDS[forest.split.shape[1] - 1]
    return np.empty((n_parts, TREES_AT_ONCE * LANES), dtype=word)


def score_all(
    forest: TiledForest, X: np.ndarray, initial: np.ndarray, n_threads: int
) -> np.ndarray:
    """Scores of all rows by all trees."""
    n_tiles = -(-len(X) // LANES)
    out = np.empty((n_tiles * LANES, len(initial)))
    out[:] = initial
    rows, words = np.arange(len(X)), scratch_words(forest, n_tiles, n_threads)
    _score_all(forest, read_only(X), rows, words, out)
    return out[: len(X)]


@allocating_kernel
def _leaves_of_part(part, forest, X, rows, numbers, words, out):
    n_parts, n_rows, n_trees = words.shape[0], rows.shape[0], out.shape[0]
    n_tiles, n_tested = (n_rows + LANES - 1) // LANES, forest.tested.shape[0]
    values, codes = np.zeros(LANES), np.zeros(n_tested * LANES, np.int16)
    for tile in range(n_tiles * part // n_parts, n_tiles * (part + 1) // n_parts):
        first, last = tile * LANES, min(tile * LANES + LANES, n_rows)
        fill_tile(forest, X, rows[first:last], 0, n_tested, values, codes)
        for begin in range(0, n_trees, TREES_AT_ONCE):
            end = min(begin + TREES_AT_ONCE, n_trees)
            reach_leaves(forest, begin, end, codes, words[part])
            for t in range(begin, end):
                for i in range(first, last):
                    at = (t - begin) * LANES + i - first
                    out[t, i] = numbers[t, lowest_bit(np.uint64(words[part, at]))]


@kernel
def _leaves_of_all(forest, X, rows, numbers, words, out):
    for_each(_leaves_of_part, words.shape[0], True, (forest, X, rows, numbers, words, out))


def leaves_of_all(
    forest: TiledForest,
    X: np.ndarray,
    numbers: NDArray[np.uint8],
    n_threads: int,
    out: NDArray[np.uint8],
) -> None:
    """Write the number of the leaf in which each row ends, for each tree."""
    words = scratch_words(forest, -(-len(X) // LANES), n_threads)
    _leaves_of_all(forest, read_only(X), np.arange(len(X)), numbers, words, out)


@kernel
def _tile_values(forest, begin, end, codes, words, values):
    """Answers of trees ``begin … end - 1`` to the sixteen rows of a tile."""
    for t in range(begin, end):
        reachable_leaves(codes, forest.feature, forest.code, forest.lost, forest.split, t, words, 0)
        for lane in range(LANES):
            values[(t - begin) * LANES + lane] = _leaf_value(forest, t, words[lane])


@kernel
def _weigh_trees(begin, end, values, weights, first_score, out, first_row):
    """Add answers times weights to scores: a score's sums stay in registers, tree after tree."""
    for k in range(first_score, out.shape[1]):
        for lane in range(0, LANES, 4):
            row = first_row + lane
            a, b, c, d = out[row, k], out[row + 1, k], out[row + 2, k], out[row + 3, k]
            for t in range(begin, end):
                at, weight = np.uint64((t - begin) * LANES + lane), weights[t, k]
                a += weight * values[at]
                b += weight * values[at + np.uint64(1)]
                c += weight * values[at + np.uint64(2)]
                d += weight * values[at + np.uint64(3)]
            out[row, k], out[row + 1, k] = a, b
            out[row + 2, k], out[row + 3, k] = c, d


@kernel
def weigh_tile(
    forest: TiledForest,
    first_tree: int,
    last_tree: int,
    codes: NDArray[np.int16],
    words: np.ndarray,
    answers: NDArray[np.float64],
    weights: NDArray[np.float64],
    first_score: int,
    out: NDArray[np.float64],
    first_row: int,
) -> None:
    """Add trees, each times its weights, to a tile's scores from a first one on, in order."""
    for begin in range(first_tree, last_tree, TREES_AT_ONCE):
        end = min(begin + TREES_AT_ONCE, last_tree)
        _tile_values(forest, begin, end, codes, words, answers)
        _weigh_trees(begin, end, answers, weights, first_score, out, first_row)
