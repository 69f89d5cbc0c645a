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

from ..kernels.decorators import parallel_kernel, resolve_n_threads, threads
from ..kernels.simd import LANES, lowest_bit
from ..trees.predictor import (
    BitVectors,
    bit_vectors,
    clear_unreachable,
    next_node,
    score_block,
)
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
    weights : ndarray of shape (n_trees, n_scores), float64, or None
        What each tree's answer is multiplied by for each score; 0 for scores of earlier stages.
        None: tree t adds to score t % n_columns only, as it is.
    """

    responses: Responses
    tested: np.ndarray
    stops: np.ndarray
    blocks: list[list[BitVectors]]
    weights: np.ndarray | None = None


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
    n_columns = responses.n_columns
    bounds = [0, *stops, responses.n_rounds + 1]
    if any(a >= b for a, b in itertools.pairwise(bounds)):  # kernels would follow
        raise ValueError(f"stops must rise from 1 to at most {responses.n_rounds}, got {stops}.")
    if responses.n_rounds > (stops[-1] if stops else 0):
        stops = [*stops, responses.n_rounds]
    responses, tested = _among_tested(responses)
    blocks = _blocks_by_stage(responses, n_columns, stops)
    return Stages(responses, tested, np.array(stops, dtype=np.int64), blocks)


def weighted_stages(responses: Responses, stops: list[int], weights: np.ndarray) -> Stages:
    """Cut a model into stages that each have a score of their own, of all trees so far.

    Parameters
    ----------
    responses : Responses
        With one initial score for each stage; its trees in the order of their stages.
    stops : list of int
        Trees evaluated after each stage, not falling; after the last all of them.
    weights : ndarray of shape (n_trees, n_stages), float64
        What each tree adds to each score; 0 for the stages before its own.

    Returns
    -------
    Stages
    """
    responses, tested = _among_tested(responses)
    blocks = _blocks_by_stage(responses, 1, stops)
    weights = np.ascontiguousarray(weights)
    return Stages(responses, tested, np.array(stops, dtype=np.int64), blocks, weights)


def _among_tested(responses: Responses) -> tuple[Responses, np.ndarray]:
    """Number features among those that the forest tests, whose columns are given, too."""
    forest = responses.forest
    tested = np.unique(forest.feature[forest.feature >= 0])
    feature = np.where(forest.feature >= 0, np.searchsorted(tested, forest.feature), -1)
    forest = forest._replace(feature=feature.astype(np.int32))
    return responses._replace(forest=forest), tested.astype(np.int64)


def _blocks_by_stage(
    responses: Responses, n_columns: int, stops: list[int]
) -> list[list[BitVectors]]:
    trees = [stop * n_columns for stop in stops]
    blocks = iter(bit_vectors(responses.forest, responses.contributions, n_columns, trees))
    by_stage: list[list[BitVectors]] = []
    block, reached = next(blocks, None), 0
    for last in trees:
        by_stage.append([])
        while block is not None and reached < last:
            by_stage[-1].append(block)
            reached += len(block.leaf) - 1
            block = next(blocks, None)
    return by_stage


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


@parallel_kernel
def _weigh_tiles(block, weights, stage, tiles, n_remaining, vectors, ones, out):
    """Add a block of trees, each times its weights, to the scores from `stage` on."""
    n_tiles, n_parts, n_scores = tiles.shape[0], vectors.shape[0], out.shape[1]
    for part in prange(n_parts):
        for tile in range(n_tiles * part // n_parts, n_tiles * (part + 1) // n_parts):
            if n_remaining[tile] == 0:
                continue
            first = tile * LANES
            clear_unreachable(block, tiles[tile], vectors[part], ones)
            for t in range(block.leaf.shape[0] - 1):
                for lane in range(min(LANES, out.shape[0] - first)):
                    leaf = lowest_bit(np.uint64(vectors[part, t * LANES + lane]))
                    value = block.value[block.leaf[t] + leaf]
                    for k in range(stage, n_scores):
                        out[first + lane, k] += weights[t, k] * value


@parallel_kernel
def _weigh_rows(
    forest, first_tree, last_tree, contributions, weights, stage, tested, X, rows, places, out
):
    """Add trees, each times its weights, to the scores of the remaining rows by walking down."""
    for j in prange(places.shape[0]):
        place = places[j]
        i = rows[place]
        for t in range(first_tree, last_tree):
            node = forest.tree[t]
            while forest.left[node] >= 0:
                node = next_node(forest, node, X[i, tested[forest.feature[node]]])
            for k in range(stage, out.shape[1]):
                out[place, k] += weights[t, k] * contributions[node]


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
        begin = int(stages.stops[stage - 1]) if stage else 0
        if self._tiled:
            for block in stages.blocks[stage]:
                self._add_block(block, stage, begin)
                begin += len(block.leaf) - 1
            return
        if begin == stages.stops[stage]:
            return
        responses = stages.responses
        each = 1 if stages.weights is not None else responses.n_columns
        what = (responses.forest, begin * each, int(stages.stops[stage]) * each)
        where = (stages.tested, self._X, self._rows, self.places, self.scores)
        with threads(self._n_threads, len(self.places) * self._X.shape[1]):
            if stages.weights is None:
                _walk_rows(*what, responses.contributions, *where)
            else:
                _weigh_rows(*what, responses.contributions, stages.weights, stage, *where)

    def _add_block(self, block: BitVectors, stage: int, first_tree: int) -> None:
        ones = block.mask.dtype.type(np.iinfo(block.mask.dtype).max)
        n_trees, n_parts = len(block.leaf) - 1, self._n_threads
        vectors = np.empty((n_parts, n_trees * LANES), block.mask.dtype)
        what = (self._tiles, self._n_remaining, vectors, ones, self.scores)
        weights = self._stages.weights
        with threads(n_parts, self._tiles.size):
            if weights is None:
                _score_tiles(block, *what)
            else:
                _weigh_tiles(block, weights[first_tree : first_tree + n_trees], stage, *what)


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
