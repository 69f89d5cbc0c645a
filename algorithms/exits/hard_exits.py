"""A cascade of weighted trees as rows walk through it: hard exits, and both bills.

Trees are evaluated at the first stage that uses them and add to an accumulator of every stage, so
that none is evaluated twice. The reference is :mod:`reference.cascades`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import GridPrices, PriceList
from ..forest_costs import staged_bill
from .responses import Responses
from .walk import walk, weighted_stages

if TYPE_CHECKING:
    from ..metering.trees import MeteredTrees


class Exits(NamedTuple):
    """How each row left a cascade."""

    stage: np.ndarray  # (n_samples,) int64: 1 … K; the last stage is everyone's who comes there
    scores: np.ndarray  # (n_samples,) float64: f^k at the exit


def check_thresholds(thresholds: np.ndarray) -> None:
    """Refuse thresholds that compare with nothing."""
    if np.any(np.isnan(thresholds)):
        raise ValueError("thresholds of a cascade must not be missing (NaN)")


def ordered(responses: Responses, order: np.ndarray) -> Responses:
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
        responses: Responses,
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
        stages = self.responses._replace(initial_scores=constants)
        self.constants, self.weights = constants, np.ascontiguousarray(weights[:, order].T)
        self._stages = weighted_stages(stages, self.stops.tolist(), self.weights)

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
        other._stages = self._stages._replace(
            responses=self._stages.responses._replace(meter=meter)
        )
        return other

    def exits(self, X: np.ndarray) -> Exits:
        """Walk rows until each leaves."""

        def stays(k, scores, _):
            return ~(scores[:, k] < self.thresholds[k])

        left = walk(self._stages, len(self.thresholds), X, None, stays)
        return Exits(left.stage + 1, left.scores[np.arange(len(X)), left.stage])

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
