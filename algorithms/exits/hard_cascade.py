"""Rows that walk through an additive model, or a cascade of its trees, and leave it at hard exits.

Only those that remain are computed. Rows lie in tiles of sixteen, as :mod:`algorithms.trees.tiles`
wants them: a feature is coded once, when a tree first tests it, for the rows that are still there.
A tile without a remaining row is skipped, and as soon as a quarter of the rows in tiles has left,
the others are packed anew. Trees with more than 64 leaves have no such form; there each remaining
row walks down.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import GridPrices, PriceList
from ..forest_costs import staged_bill
from ..kernels.decorators import kernel, resolve_n_threads, threads
from ..kernels.loops import for_each
from ..kernels.simd import LANES
from ..trees.predictor import leaf_of
from ..trees.tiles import (
    TiledForest,
    fill_tiles,
    pack_tiles,
    score_tiles,
    scratch_words,
    tiled_forest,
)
from .fitted_trees import FittedTrees
from .weighted_walk import Exits, WeightedStages, walk_weighted

if TYPE_CHECKING:
    from ..cost_meter.trees import MeteredTrees


BATCH_ROWS = 32768  # rows that walk together: their tiles should stay in the processor's cache
_FULL_ENOUGH = 0.75  # share of remaining rows below which tiles are packed anew


class Stages(NamedTuple):
    """An additive model cut into stages."""

    responses: FittedTrees
    stops: np.ndarray  # (n_stages,) int64: rounds evaluated after each stage; the last are all
    tiled: TiledForest | None  # None if a tree is too large for tiles


def stages_of(responses: FittedTrees, stops: list[int]) -> Stages:
    """Cut a model into stages."""
    bounds = [0, *stops, responses.n_rounds + 1]
    if any(a >= b for a, b in itertools.pairwise(bounds)):  # kernels would follow
        raise ValueError(f"stops must rise from 1 to at most {responses.n_rounds}, got {stops}.")
    if responses.n_rounds > (stops[-1] if stops else 0):
        stops = [*stops, responses.n_rounds]
    rounds = np.array(stops, dtype=np.int64)
    trees = rounds * responses.n_columns
    return Stages(responses, rounds, tiled_forest(responses.forest, responses.contributions, trees))


@kernel
def _walk_row(j, forest, first_tree, last_tree, contributions, X, rows, places, out):
    place = places[j]
    for t in range(first_tree, last_tree):
        out[place, t % out.shape[1]] += contributions[leaf_of(forest, t, X, rows[place])]


@kernel
def _walk_rows(forest, first_tree, last_tree, contributions, X, rows, places, out):
    """Add trees to the scores of the remaining rows by walking down."""
    captured = forest, first_tree, last_tree, contributions, X, rows, places, out
    for_each(_walk_row, places.shape[0], True, captured)


@kernel
def _leave(stays, rows, places, scores, stage, starts, wanted, exit_stage, exit_scores):
    """Note who leaves at an exit, and close the gaps in `places` and `starts`."""
    n_remaining, n_queries, q = 0, 0, 0
    wanted[:] = False
    for j in range(places.shape[0]):
        # A query of which nobody stays is overwritten by the next.
        while q < starts.shape[0] and starts[q] <= j:
            if n_queries == 0 or starts[n_queries - 1] < n_remaining:
                n_queries += 1
            starts[n_queries - 1] = n_remaining
            q += 1
        place = places[j]
        if stays[j]:
            places[n_remaining] = place
            wanted[place // LANES] = True
            n_remaining += 1
        else:
            row = rows[place]
            exit_stage[row] = stage
            for k in range(scores.shape[1]):  # of rows of arrays numba would count the holders
                exit_scores[row, k] = scores[place, k]
    if n_queries > 0:
        if starts[n_queries - 1] < n_remaining:
            n_queries += 1
        starts[n_queries - 1] = n_remaining
    return n_remaining, n_queries - 1


class _Packed:
    """Rows that remain, each at a place of its own."""

    def __init__(self, stages: Stages, X: np.ndarray, starts: np.ndarray | None = None) -> None:
        self._stages, self._X = stages, X
        self._n_threads = resolve_n_threads(stages.responses.meter.n_threads)
        self.starts = np.zeros(0, dtype=np.int64) if starts is None else starts.copy()
        self._rows = np.arange(len(X))
        self._settle(np.tile(stages.responses.initial_scores, (len(X), 1)))
        if (tiled := stages.tiled) is not None:
            self._words = scratch_words(tiled, self._n_threads, self._n_threads)
            self._tiles, self._n_coded = self._room(), 0

    def _settle(self, scores: np.ndarray) -> None:
        """Give each row a place in the order of rows, and its score."""
        n_rows = len(self._rows)
        n_tiles = -(-n_rows // LANES)
        self.places, self._wanted = np.arange(n_rows), np.ones(n_tiles, dtype=bool)
        self.scores = np.zeros((n_tiles * LANES, scores.shape[1]))
        self.scores[:n_rows] = scores

    def _room(self) -> np.ndarray:
        """Tiles to be filled, for all places."""
        width = len(self._stages.tiled.tested) * LANES
        return np.empty((len(self._wanted), width), dtype=np.int16)

    def _pack(self) -> None:
        """Bring the rows that remain together."""
        places = self.places
        self._rows = self.rows
        self._settle(self.scores[places])
        if self._stages.tiled is not None:
            packed = self._room()
            with threads(self._n_threads, packed.size):
                pack_tiles(self._tiles, places, self._n_coded, packed)
            self._tiles = packed

    @property
    def rows(self) -> np.ndarray:
        """Rows of X that remain, ascending."""
        return self._rows[self.places]

    def remaining_scores(self) -> np.ndarray:
        """Scores (n_remaining, n_columns) of the rows that remain; not to be written to."""
        n_places = len(self._rows)
        whole = len(self.places) == n_places
        return self.scores[:n_places] if whole else self.scores[self.places]

    def keep(self, stays: np.ndarray, stage: int, left: Left) -> None:
        """Let all rows leave but those that stay, bool by place."""
        n_remaining, n_queries = _leave(
            stays, self._rows, self.places, self.scores, stage, self.starts, self._wanted, *left
        )
        self.places, self.starts = self.places[:n_remaining], self.starts[: n_queries + 1]
        if n_remaining <= _FULL_ENOUGH * len(self._rows):
            self._pack()

    def _code(self, n_trees: int) -> None:
        """Code what the first trees test and no tree before did, for the rows that remain."""
        n_needed = int(self._stages.tiled.n_needed[n_trees])
        if n_needed > self._n_coded:
            n_values = len(self._rows) * (n_needed - self._n_coded)
            with threads(self._n_threads, n_values):
                where = (self._X, self._rows, self._wanted)
                fill_tiles(self._stages.tiled, *where, self._n_coded, n_needed, self._tiles)
            self._n_coded = n_needed

    def advance(self, stage: int) -> None:
        """Add the trees of a stage to the scores."""
        stages = self._stages
        responses, tiled, each = stages.responses, stages.tiled, stages.responses.n_columns
        first = int(stages.stops[stage - 1]) * each if stage else 0
        last = int(stages.stops[stage]) * each
        if first == last:
            return
        # A row passes ten trees in 20 ns: it takes many to make up for waking a thread.
        n_values = len(self.places) * (last - first) // 3 if tiled is not None else self._X.size
        if tiled is not None:
            self._code(last)
        with threads(self._n_threads, n_values):
            if tiled is not None:
                score_tiles(tiled, first, last, self._tiles, self._wanted, self._words, self.scores)
            else:
                what = (responses.forest, first, last, responses.contributions)
                _walk_rows(*what, self._X, self._rows, self.places, self.scores)


class Left(NamedTuple):
    """How rows left the walk."""

    # (n_samples,) int64: stage after which each row left, from 0; the number of exits if it never
    # did
    stage: np.ndarray
    scores: np.ndarray  # (n_samples, n_columns) float64: scores there


def walk(
    stages: Stages,
    n_exits: int,
    X: np.ndarray,
    query_starts: NDArray[np.int64] | None,
    stays: Callable,
) -> Left:
    """Walk rows through the stages, and let them leave after the first `n_exits`."""
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
        starts = None
        if query_starts is not None:
            inside = query_starts[(query_starts >= begin) & (query_starts < end)]
            starts = np.append(inside, end) - begin
        part = Left(left.stage[begin:end], left.scores[begin:end])
        with threads(1, 0):  # what is worth more threads asks for them; to set them takes its time
            _walk_batch(stages, n_exits, X[begin:end], starts, stays, part)
    return left


def _walk_batch(stages: Stages, n_exits: int, X, starts, stays: Callable, left: Left) -> None:
    """Walk one batch; `starts` holds the first row of each query, and the number of rows."""
    packed = _Packed(stages, X, starts)
    for stage in range(len(stages.stops)):
        packed.advance(stage)
        if stage >= n_exits:
            continue
        stay = stays(stage, packed.remaining_scores(), None if starts is None else packed.starts)
        if stay.all():
            continue
        packed.keep(stay, stage, left)
        if not len(packed.places):
            return
    left.scores[packed.rows] = packed.remaining_scores()


# --- a cascade of weighted trees, and both bills -----------------------------------------------


def check_thresholds(thresholds: np.ndarray) -> None:
    """Refuse thresholds that compare with nothing."""
    if np.any(np.isnan(thresholds)):
        raise ValueError("thresholds of a cascade must not be missing (NaN)")


def ordered(responses: FittedTrees, order: np.ndarray) -> FittedTrees:
    """Some trees of a model in another order, without what is there before the first."""
    forest = responses.forest.take(order)
    meter = copy.copy(responses.meter)
    meter.trees_, meter.initial_scores_ = forest, np.zeros(1)
    return responses._replace(
        forest=forest, contributions=forest.value, initial_scores=np.zeros(1), meter=meter
    )


class HardCascade:
    """Trees in the order of the stages that use them first."""

    def __init__(
        self,
        responses: FittedTrees,
        weights: NDArray[np.float64],
        constants: NDArray[np.float64],
        thresholds: NDArray[np.float64],
        final_threshold: float = 0.0,
    ) -> None:
        n_stages, n_trees = len(constants), responses.forest.n_trees
        shapes = weights.shape == (n_stages, n_trees) and thresholds.shape == (n_stages - 1,)
        if not shapes or constants.shape != (n_stages,):
            raise ValueError("a cascade needs a weight for each stage and tree")
        if not np.all(np.isfinite(weights)) or not np.all(np.isfinite(constants)):
            raise ValueError("weights of a cascade must be finite")
        check_thresholds(thresholds)
        used = weights != 0
        first = np.where(used.any(axis=0), used.argmax(axis=0), n_stages)
        order = np.argsort(first, kind="stable")[: np.count_nonzero(first < n_stages)]
        self.stops = np.searchsorted(first[order], np.arange(n_stages), side="right")
        self.thresholds, self.final_threshold = thresholds, final_threshold
        self.responses = ordered(responses, order)
        self.constants, self.weights = constants, np.ascontiguousarray(weights[:, order].T)
        trees = self.responses
        self.tiled = tiled_forest(trees.forest, trees.contributions, self.stops.tolist())

    @property
    def n_stages(self) -> int:
        """Number of stages."""
        return len(self.stops)

    def decision(self, exits: Exits) -> np.ndarray:
        """Score of the last stage over its threshold, -1 if rejected before: (n_samples,)."""
        above = exits.scores - self.final_threshold if self.final_threshold else exits.scores
        return np.where(exits.stage < self.n_stages, -1.0, above)

    def metered(self, meter: MeteredTrees) -> HardCascade:
        """Return the same with another meter of its trees: other prices, other threads."""
        other = copy.copy(self)
        other.responses = self.responses._replace(meter=meter)
        return other

    def exits(self, X: np.ndarray) -> Exits:
        """Walk rows until each leaves."""
        trees = self.responses
        n_threads = resolve_n_threads(trees.meter.n_threads)
        stages = WeightedStages(self.stops, self.weights, self.constants, self.thresholds)
        how = (self.tiled, trees.forest, trees.contributions, X, n_threads)
        return walk_weighted(stages, *how)

    def charge(
        self, X: np.ndarray, prices: GridPrices, stage: np.ndarray
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Charge rows by the meter for their own paths until the end of a stage, 1 … K."""
        trees = self.stops[stage - 1]
        n_split = self.responses.forest.n_split_trees(1)
        return (*self.responses.charge(X, prices, trees), n_split[trees])

    def staged_charges(
        self, X: np.ndarray, prices: GridPrices, stage: np.ndarray
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield `paid` and `n_trees` until the end of each stage, or a row's own if it is earlier.

        Parameters
        ----------
        X, prices
            As for :meth:`charge`.
        stage : ndarray of shape (n_samples,), int64
            At which each row leaves.
        """
        n_split = self.responses.forest.n_split_trees(1)
        before = np.zeros(len(X), dtype=np.int64)
        for k, walked in enumerate(self.responses.meter._walk(X, prices, self.stops), start=1):
            before = np.where(stage < k, before, walked[1])
            yield before, n_split[self.stops[np.minimum(stage, k) - 1]]

    def bills(self, prices: PriceList, tree_cost: float) -> np.ndarray:
        """Bill of a row that leaves at each stage: all features of its trees, and e per tree."""
        staged = [0.0, *staged_bill(self.responses.forest, 1, prices, tree_cost)]
        return np.array(staged)[self.stops]
