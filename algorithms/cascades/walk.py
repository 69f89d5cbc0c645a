"""A walk through an additive model that rows may leave: only those that remain are computed.

Sixteen rows lie side by side in a *tile*, with the features that the model tests only, as the
bit-vectors of :mod:`algorithms.trees.predictor` want them. A tile without a remaining row is
skipped, and as soon as a quarter of the rows in tiles has left, the others are packed anew.
Trees with more than 64 leaves have no bit-vectors; there each remaining row walks down.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import prange

from ..kernels.decorators import kernel, parallel_kernel, resolve_n_threads, threads
from ..kernels.simd import LANES
from ..trees.predictor import BitVectors, bit_vectors, next_node, score_block
from .responses import Responses

BATCH_ROWS = 8192  # rows that walk together: their tiles should stay in the processor's cache
_FULL_ENOUGH = 0.75  # share of remaining rows below which tiles are packed anew


class Stages(NamedTuple):
    """An additive model cut into stages.

    Attributes
    ----------
    responses : Responses
        With features numbered among those that the forest tests.
    tested : ndarray of shape (n_tested,), int64
        Columns of these features.
    stops : ndarray of shape (n_stages,), int64
        Rounds evaluated after each stage; the last are all.
    blocks : list of n_stages lists of BitVectors
        Empty lists if a tree is too large for bit-vectors.
    """

    responses: Responses
    tested: np.ndarray
    stops: np.ndarray
    blocks: list[list[BitVectors]]


def stages_of(responses: Responses, stops: list[int]) -> Stages:
    """Cut a model into stages.

    Parameters
    ----------
    responses : Responses
    stops : list of int
        Rounds after which rows may leave, rising. What follows the last is a stage of its own.

    Returns
    -------
    Stages

    Raises
    ------
    ValueError
        If `stops` do not rise, or go beyond the model.
    """
    forest, n_columns = responses.forest, responses.n_columns
    bounds = [0, *stops, responses.n_rounds + 1]
    if any(a >= b for a, b in itertools.pairwise(bounds)):  # kernels would follow
        raise ValueError(f"stops must rise from 1 to at most {responses.n_rounds}, got {stops}.")
    if responses.n_rounds > (stops[-1] if stops else 0):
        stops = [*stops, responses.n_rounds]
    tested = np.unique(forest.feature[forest.feature >= 0])
    feature = np.where(forest.feature >= 0, np.searchsorted(tested, forest.feature), -1)
    forest = forest._replace(feature=feature.astype(np.int32))
    trees = [stop * n_columns for stop in stops]
    blocks = iter(bit_vectors(forest, responses.contributions, n_columns, trees))
    by_stage: list[list[BitVectors]] = []
    block, reached = next(blocks, None), 0
    for last in trees:
        by_stage.append([])
        while block is not None and reached < last:
            by_stage[-1].append(block)
            reached += len(block.leaf) - 1
            block = next(blocks, None)
    responses = responses._replace(forest=forest)
    return Stages(responses, tested.astype(np.int64), np.array(stops, dtype=np.int64), by_stage)


@parallel_kernel
def _fill_tiles(X, rows, tested, tiles):
    """Lay the tested features of some rows out in tiles; lanes without a row are 0."""
    for tile in prange(tiles.shape[0]):
        tiles[tile] = 0.0
        first = tile * LANES
        for lane in range(min(LANES, rows.shape[0] - first)):
            i = rows[first + lane]
            for u in range(tested.shape[0]):
                tiles[tile, u * LANES + lane] = X[i, tested[u]]


@parallel_kernel
def _score_tiles(block, tiles, n_remaining, vectors, ones, out):
    """Add a block of trees to the scores of the tiles in which rows remain."""
    n_tiles, n_parts = tiles.shape[0], vectors.shape[0]
    for part in prange(n_parts):
        for tile in range(n_tiles * part // n_parts, n_tiles * (part + 1) // n_parts):
            if n_remaining[tile] > 0:
                first = tile * LANES
                n_rows = min(LANES, out.shape[0] - first)
                score_block(block, tiles[tile], n_rows, vectors[part], ones, out, first)


@parallel_kernel
def _walk_rows(forest, first_tree, last_tree, contributions, tested, X, rows, places, out):
    """Add trees to the scores of the remaining rows by walking down.

    Parameters
    ----------
    first_tree, last_tree : int
        The former is a multiple of the number of score columns.
    rows : ndarray of int64
        Row of X at each place.
    places : ndarray of int64
        Places whose rows remain.
    out : ndarray of shape (n_places, n_columns), float64
    """
    n_columns = out.shape[1]
    for j in prange(places.shape[0]):
        place = places[j]
        i = rows[place]
        for t in range(first_tree, last_tree):
            node = forest.tree[t]
            while forest.left[node] >= 0:
                node = next_node(forest, node, X[i, tested[forest.feature[node]]])
            out[place, t % n_columns] += contributions[node]


class _Packed:
    """Rows that remain, each at a place of its own.

    Attributes
    ----------
    places : ndarray of int64
        Places whose rows remain, ascending.
    scores : ndarray of shape (n_places, n_columns), float64
    """

    def __init__(self, stages: Stages, X: np.ndarray) -> None:
        self._stages, self._X = stages, X
        self._n_threads = resolve_n_threads(stages.responses.meter.n_threads)
        self._tiled = any(stages.blocks)
        initial = stages.responses.initial_scores
        self._pack(np.arange(len(X)), np.tile(initial, (len(X), 1)))

    def _pack(self, rows: np.ndarray, scores: np.ndarray) -> None:
        """Give each row a place anew."""
        self._rows, self.scores, self.places = rows, scores, np.arange(len(rows))
        if self._tiled:
            tested = self._stages.tested
            tiles = np.empty((-(-len(rows) // LANES), len(tested) * LANES))
            with threads(self._n_threads, tiles.size):
                _fill_tiles(self._X, rows, tested, tiles)
            self._tiles = tiles
            self._count()

    def _count(self) -> None:
        n_tiles = len(self._tiles)
        self._n_remaining = np.bincount(self.places // LANES, minlength=n_tiles)

    @property
    def rows(self) -> np.ndarray:
        """Rows of X that remain, ascending."""
        return self._rows[self.places]

    def keep(self, stays: np.ndarray) -> None:
        """Let all rows leave but those that stay, bool by place."""
        self.places = self.places[stays]
        if len(self.places) <= _FULL_ENOUGH * len(self._rows):
            self._pack(self.rows, self.scores[self.places])
        elif self._tiled:
            self._count()

    def advance(self, stage: int) -> None:
        """Add the trees of a stage to the scores."""
        stages = self._stages
        responses = stages.responses
        if self._tiled:
            size = self._tiles.size
            n_parts = self._n_threads
            for block in stages.blocks[stage]:
                ones = block.mask.dtype.type(np.iinfo(block.mask.dtype).max)
                vectors = np.empty((n_parts, (len(block.leaf) - 1) * LANES), block.mask.dtype)
                with threads(n_parts, size):
                    _score_tiles(block, self._tiles, self._n_remaining, vectors, ones, self.scores)
            return
        first = stages.stops[stage - 1] if stage else 0
        trees = np.array([first, stages.stops[stage]]) * responses.n_columns
        with threads(self._n_threads, len(self.places) * self._X.shape[1]):
            _walk_rows(
                responses.forest,
                trees[0],
                trees[1],
                responses.contributions,
                stages.tested,
                self._X,
                self._rows,
                self.places,
                self.scores,
            )


class Left(NamedTuple):
    """How rows left the walk.

    Attributes
    ----------
    stage : ndarray of shape (n_samples,), int64
        Stage after which each row left, from 0; the number of exits if it never did.
    scores : ndarray of shape (n_samples, n_columns), float64
        Scores there.
    """

    stage: np.ndarray
    scores: np.ndarray


def walk(stages: Stages, n_exits: int, X: np.ndarray, query_starts, stays: Callable) -> Left:
    """Walk rows through the stages, and let them leave after the first `n_exits`.

    Parameters
    ----------
    stages : Stages
    n_exits : int
        At most the number of stages.
    X : ndarray of shape (n_samples, n_features), float64
        As the meter's ``_check_X`` returns it.
    query_starts : ndarray of int64, or None
        First row of each query; None if rows are decided one by one.
    stays : callable
        ``(exit, scores, starts) -> stays``: which of the remaining rows stay at an exit (from 0)
        by their scores (n_remaining, n_columns). `starts` (n_queries + 1,) holds the first of each
        query that remains, and their number; None without queries.

    Returns
    -------
    Left
    """
    n_samples = len(X)
    left = Left(
        np.full(n_samples, n_exits), np.tile(stages.responses.initial_scores, (n_samples, 1))
    )
    if query_starts is None:
        cuts = np.arange(0, n_samples, BATCH_ROWS)
    else:  # a query that would make a batch too large begins the next one
        begun = query_starts // BATCH_ROWS
        cuts = query_starts[np.flatnonzero(np.diff(begun, prepend=-1))]
    for begin, end in zip(cuts, [*cuts[1:], n_samples], strict=True):
        query = None
        if query_starts is not None:
            query = np.searchsorted(query_starts, np.arange(begin, end), side="right")
        part = Left(left.stage[begin:end], left.scores[begin:end])
        _walk_batch(stages, n_exits, X[begin:end], query, stays, part)
    return left


def _walk_batch(stages: Stages, n_exits: int, X, query, stays: Callable, left: Left) -> None:
    """Walk one batch; `query` (n_rows,) numbers the rows' queries, rising."""
    packed = _Packed(stages, X)
    starts = None if query is None else _starts(query)
    for stage in range(len(stages.stops)):
        packed.advance(stage)
        if stage >= n_exits:
            continue
        stay = stays(stage, packed.scores[packed.places], starts)
        if np.all(stay):
            continue
        gone = packed.rows[~stay]
        left.stage[gone] = stage
        left.scores[gone] = packed.scores[packed.places[~stay]]
        packed.keep(stay)
        if not len(packed.places):
            return
        if query is not None:
            starts = _starts(query[packed.rows])
    left.scores[packed.rows] = packed.scores[packed.places]


def _starts(query: np.ndarray) -> np.ndarray:
    """First row of each query, and the number of rows."""
    changes = np.flatnonzero(query[1:] != query[:-1]) + 1
    return np.concatenate([[0], changes, [len(query)]])


@kernel
def _kth_largest(values, k):
    """Find the k-th largest value (k from 1); the values change places."""
    low, high = 0, values.shape[0] - 1
    place = values.shape[0] - k
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:  # equal values are exchanged, so that ties divide evenly
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


@parallel_kernel
def kth_largest(scores, starts, k, scratch, out):
    """Write the k-th largest score of each query, k its own.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), float64
    starts : ndarray of shape (n_queries + 1,), int64
    k : ndarray of shape (n_queries,), int64
        A query whose k is 0 or more than its rows gets infinity or minus infinity.
    scratch : ndarray like `scores`
    out : ndarray of shape (n_queries,), float64
    """
    for q in prange(k.shape[0]):
        begin, end = starts[q], starts[q + 1]
        if k[q] < 1:
            out[q] = np.inf
        elif k[q] > end - begin:
            out[q] = -np.inf
        else:
            scratch[begin:end] = scores[begin:end]
            out[q] = _kth_largest(scratch[begin:end], k[q])
