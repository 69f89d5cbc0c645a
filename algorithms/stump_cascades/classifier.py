"""Cascades that train their own decision stumps: rows as 8-bit columns, stumps as trees.

In a :class:`CumulativeCascade` stages are one tree each and share one score: thresholds on a
running sum. A thousand stages have no matrix of weights: the walk adds each tree once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimators.parameters import Parameter
from ..exits.classifier import CascadeClassifier
from ..exits.files import LARGEST_SCORE, largest_answers
from ..exits.fitted_trees import FittedTrees, fitted_trees_of
from ..exits.hard_cascade import Exits, HardCascade, check_thresholds, ordered, stages_of, walk
from ..interop.forest import MeteredForest
from ..interop.nodes import AS_SEEN, flat_stumps
from ..validation.prices import take_column_numbers

if TYPE_CHECKING:
    from ..cost_meter.trees import MeteredTrees
    from ..costs import GridPrices


class Stump(NamedTuple):
    """A stump, and what it adds to the score of its stage."""

    feature: int  # -1 is a constant vote
    threshold: float
    vote: int  # 1 or -1, of values above the threshold; the others get minus that
    alpha: float

    def answers(self, X: np.ndarray) -> np.ndarray:
        """What it adds to the score of each row, (n_samples,) float64."""
        step = self.alpha * self.vote
        if self.feature < 0:
            return np.full(len(X), step)
        return np.where(X[:, self.feature] > self.threshold, step, -step)


def forest_of(stumps: list[Stump], n_features: int, names: Sequence[str] | None) -> MeteredForest:
    """Stumps as trees that answer with their votes."""
    columns = (np.array([getattr(s, n) for s in stumps]) for n in ("feature", "threshold", "vote"))
    feature, threshold, vote = columns
    high = vote.astype(np.float64)[:, None]
    return MeteredForest(
        flat_stumps(feature, threshold, -high, high),
        np.zeros(1),
        n_features,
        as_seen=AS_SEEN["double"],
        library="cascade's",
        feature_names=names,
    )


class StumpCascade(CascadeClassifier):
    """Base of these cascades; not to be used by itself."""

    _attributes: ClassVar[dict[str, Parameter]] = {
        name: parameter
        for name, parameter in CascadeClassifier._attributes.items()
        if name != "estimator_"
    } | {
        "n_stumps_": Parameter(
            "ndarray of shape (n_stages,), int64",
            "Stumps that each stage is the first to evaluate; constant votes are not evaluated.",
        )
    }

    def _responses(self, stumps: list[Stump]) -> FittedTrees:
        """Stumps as a model; wrong prices are refused."""
        names = getattr(self, "feature_names_in_", None)
        meter = forest_of(stumps, self.n_features_in_, names)
        take_column_numbers(meter, self)
        responses = fitted_trees_of(meter)
        self._priced(responses)
        return responses

    def _set_up(self, responses, coef, intercept, thresholds, final_threshold=0.0) -> None:
        super()._set_up(responses, coef, intercept, thresholds, final_threshold)
        evaluated = self._hard_.responses.forest.n_split_trees(1)
        self.n_stumps_ = np.diff(evaluated[self._hard_.stops], prepend=0)

    def _restore_trees(self, meter: MeteredForest) -> None:
        """Nothing: trained again, the cascade has other stumps."""


class CumulativeCascade(HardCascade):
    """Trees in the order of their stages."""

    def __init__(
        self,
        responses: FittedTrees,
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

    def metered(self, meter: MeteredTrees) -> CumulativeCascade:
        """Return the same with another meter of its trees: other prices, other threads."""
        other = super().metered(meter)
        walked = self._stages.responses._replace(meter=meter)
        other._stages = self._stages._replace(responses=walked)
        return other

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
