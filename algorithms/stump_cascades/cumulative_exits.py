"""A cascade whose stages are one tree each and share one score: thresholds on a running sum.

A thousand stages have no matrix of weights: the walk adds each tree once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exits.hard_exits import Exits, HardCascade, check_thresholds, ordered
from ..exits.responses import Responses
from ..exits.saved_cascade import LARGEST_SCORE, largest_answers
from ..exits.walk import stages_of, walk

if TYPE_CHECKING:
    from ..costs import GridPrices


class CumulativeCascade(HardCascade):
    """Trees in the order of their stages."""

    def __init__(
        self,
        responses: Responses,
        order: np.ndarray,
        initial_score: float,
        thresholds: np.ndarray,
        final_threshold: float,
    ) -> None:
        n_trees = responses.forest.n_trees
        if len(order) and not 0 <= order.min() <= order.max() < n_trees:
            raise ValueError(f"order of a cascade must name its {n_trees} trees")
        if len(np.unique(order)) < len(order):
            raise ValueError("order of a cascade must name each tree once at most")
        n_stages = max(1, len(order))
        if thresholds.shape != (n_stages - 1,):
            raise ValueError("a cascade needs a threshold for each stage but the last")
        check_thresholds(thresholds)
        self.thresholds, self.final_threshold = thresholds, final_threshold
        self.responses = ordered(responses, order)
        with np.errstate(over="ignore"):
            largest = np.sum(largest_answers(self.responses.forest)) + abs(initial_score)
        if not max(largest, abs(final_threshold)) <= LARGEST_SCORE:
            raise ValueError("its scores are so large that they are no finite numbers")
        self.constants = np.full(n_stages, initial_score)
        self.stops = np.arange(1, n_stages + 1) if len(order) else np.zeros(1, dtype=np.int64)
        started = self.responses._replace(initial_scores=np.array([initial_score]))
        self._stages = stages_of(started, self.stops.tolist() if len(order) else [])

    @property
    def weights(self) -> np.ndarray:
        """What each tree's answer is multiplied by for the score of each stage: 1 from its own."""
        return np.triu(np.ones((self.responses.forest.n_trees, self.n_stages)))

    def exits(self, X: np.ndarray) -> Exits:
        """Walk rows until each leaves."""

        def stays(k, scores, _):
            return ~(scores[:, 0] < self.thresholds[k])

        left = walk(self._stages, len(self.thresholds), X, None, stays)
        return Exits(left.stage + 1, left.scores[:, 0])

    def staged_charges(
        self, X: NDArray[np.float64], prices: GridPrices, stage: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """As of any cascade, in one walk through all trees."""
        n_split = self.responses.forest.n_split_trees(1)
        kept = np.zeros(len(X), dtype=np.int64)
        ends = range(1, self.responses.meter.trees_.n_trees + 1)
        for k, (_, paid, _) in enumerate(self.responses.meter._walk(X, prices, ends), 1):
            kept = np.where(stage >= k, paid, kept)
            yield kept, n_split[np.minimum(stage, k)]
        if not self.responses.n_rounds:
            yield kept, kept
