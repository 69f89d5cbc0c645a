"""Rows that walk through a cascade of weighted trees, block by block through all stages.

Trees are evaluated at the first stage that uses them and add to the score of every later one, so
that none is evaluated twice. A row is read at each stage, where it is asked for what no stage
before did: the rows of a block lie in the processor's cache until the last of them has left. Rows
stand in tiles of sixteen, as :mod:`algorithms.trees.tiles` wants them; in the place of one that
leaves comes the last that stays. The reference is :mod:`reference.cascades`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..kernels.decorators import allocating_kernel, kernel, threads
from ..kernels.loops import for_each
from ..kernels.simd import LANES
from ..trees.forest import Forest
from ..trees.predictor import leaf_of
from ..trees.tiles import (
    TREES_AT_ONCE,
    TiledForest,
    fill_tile,
    scratch_words,
    weigh_tile,
)

BLOCK_ROWS = 256


class WeightedStages(NamedTuple):
    """What a cascade of weighted trees is."""

    stops: np.ndarray  # (n_stages,) int64: trees evaluated until the end of each stage
    # (n_trees, n_stages) float64: what each tree's answer is multiplied by for each stage's score
    weights: np.ndarray
    constants: np.ndarray  # (n_stages,) float64: scores before the first tree
    thresholds: np.ndarray  # (n_stages - 1,) float64: rows with a lower score leave


class Exits(NamedTuple):
    """How each row left a cascade."""

    stage: np.ndarray  # (n_samples,) int64: 1 … K; the last stage is everyone's who comes there
    scores: np.ndarray  # (n_samples,) float64: f^k at the exit


class _Block(NamedTuple):
    """Rows that remain of a block, at the first of its places."""

    rows: np.ndarray  # (BLOCK_ROWS,) int64
    scores: np.ndarray  # (BLOCK_ROWS, n_stages) float64
    tiles: np.ndarray  # (BLOCK_ROWS / 16, 16 * n_tested) int16


@kernel
def _move(block, source, to, n_coded):
    """Bring a row to another place."""
    rows, scores, tiles = block.rows, block.scores, block.tiles
    rows[to] = rows[source]
    for k in range(scores.shape[1]):
        scores[to, k] = scores[source, k]
    from_tile, from_lane, to_tile, to_lane = (
        source // LANES, source % LANES, to // LANES, to % LANES,
    )  # fmt: skip
    for u in range(n_coded):
        tiles[to_tile, u * LANES + to_lane] = tiles[from_tile, u * LANES + from_lane]


@kernel
def _leave(block, n, k, threshold, n_coded, exits):
    """Let rows leave after a stage, and close the gaps; return how many remain."""
    rows, scores, place = block.rows, block.scores, 0
    while place < n:
        if not scores[place, k] < threshold:
            place += 1
            continue
        exits.stage[rows[place]], exits.scores[rows[place]] = k + 1, scores[place, k]
        n -= 1
        while n > place and scores[n, k] < threshold:
            exits.stage[rows[n]], exits.scores[rows[n]] = k + 1, scores[n, k]
            n -= 1
        if n > place:
            _move(block, n, place, n_coded)
            place += 1
    return n


@kernel
def _walk_block(block, n, forest, stages, X, values, answers, words, exits):
    """Walk the first n rows of a block until each has left."""
    first, n_coded, last_stage = np.int64(0), np.int64(0), stages.stops.shape[0] - 1
    for k in range(last_stage + 1):
        last = stages.stops[k]
        n_needed = forest.n_needed[last]
        for tile in range((n + LANES - 1) // LANES):
            codes, place = block.tiles[tile], tile * LANES
            here = block.rows[place : min(place + LANES, n)]
            fill_tile(forest, X, here, n_coded, n_needed, values, codes)
            weigh_tile(
                forest, first, last, codes, words, answers, stages.weights, k, block.scores, place
            )
        first, n_coded = last, n_needed
        if k < last_stage:
            n = _leave(block, n, k, stages.thresholds[k], n_coded, exits)
            if n == 0:
                return
    for place in range(n):
        row = block.rows[place]
        exits.stage[row], exits.scores[row] = last_stage + 1, block.scores[place, last_stage]


@allocating_kernel
def _walk_part(part, forest, stages, X, words, exits):
    n_samples, n_stages = X.shape[0], stages.stops.shape[0]
    n_parts, n_blocks = words.shape[0], (n_samples + BLOCK_ROWS - 1) // BLOCK_ROWS
    n_codes = LANES * forest.tested.shape[0]
    block = _Block(
        np.zeros(BLOCK_ROWS, np.int64),
        np.zeros((BLOCK_ROWS, n_stages)),
        np.zeros((BLOCK_ROWS // LANES, n_codes), np.int16),
    )
    values, answers = np.zeros(LANES), np.empty(TREES_AT_ONCE * LANES)
    for b in range(n_blocks * part // n_parts, n_blocks * (part + 1) // n_parts):
        begin = b * BLOCK_ROWS
        n = min(BLOCK_ROWS, n_samples - begin)
        for place in range(n):
            block.rows[place] = begin + place
        for place in range(BLOCK_ROWS):
            for k in range(n_stages):
                block.scores[place, k] = stages.constants[k]
        _walk_block(block, n, forest, stages, X, values, answers, words[part], exits)


@kernel
def _walk_in_tiles(forest, stages, X, words, exits):
    for_each(_walk_part, words.shape[0], True, (forest, stages, X, words, exits))


@kernel
def _walk_row(i, forest, contributions, stages, X, scores, exits):
    """Walk a row down tree after tree: where a tree is too large for tiles."""
    first, n_stages = np.int64(0), stages.stops.shape[0]
    for k in range(n_stages):
        for t in range(first, stages.stops[k]):
            answer = contributions[leaf_of(forest, t, X, i)]
            for later in range(k, n_stages):
                scores[i, later] += stages.weights[t, later] * answer
        first = stages.stops[k]
        if k == n_stages - 1 or scores[i, k] < stages.thresholds[k]:
            exits.stage[i], exits.scores[i] = k + 1, scores[i, k]
            return


@kernel
def _walk_down(forest, contributions, stages, X, scores, exits):
    captured = forest, contributions, stages, X, scores, exits
    for_each(_walk_row, X.shape[0], True, captured)


def walk_weighted(
    stages: WeightedStages,
    tiled: TiledForest | None,
    forest: Forest,
    contributions: NDArray[np.float64],
    X: np.ndarray,
    n_threads: int,
) -> Exits:
    """Walk rows until each leaves: in tiles, or down each tree where there are none."""
    exits, X = Exits(np.empty(len(X), dtype=np.int64), np.empty(len(X))), read_only(X)
    with threads(n_threads, X.size):
        if tiled is not None:
            words = scratch_words(tiled, -(-len(X) // BLOCK_ROWS), n_threads)
            _walk_in_tiles(tiled, stages, X, words, exits)
        else:
            scores = np.tile(stages.constants, (len(X), 1))
            _walk_down(forest, contributions, stages, X, scores, exits)
    return exits
