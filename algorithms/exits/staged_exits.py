"""What rows that leave early have answered, and paid, after each round."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score, r2_score

from ..estimators.parameters import check_number
from ..estimators.scoring import check_scored
from ..inputs.types import FeatureCosts
from ..kernels.decorators import resolve_n_threads
from ..metering.trees import warn_if_free
from ..trees.predictor import staged_scores


class StagedExits:
    """The rounds of an :class:`algorithms.early_exit.EarlyExit`; a mixin.

    After round k rows that have left have what they left with, and all others what they have so
    far.
    """

    def _staged_columns(self, X: np.ndarray, starts: np.ndarray) -> Iterator[np.ndarray]:
        """Scores (n_samples, n_columns) of checked rows after 1, 2, … rounds."""
        responses, rounds = self.responses_, self._exits(X, starts).rounds
        model = (responses.forest, responses.contributions, responses.initial_scores)
        kept = np.tile(responses.initial_scores, (len(X), 1))
        stages = staged_scores(*model, X, resolve_n_threads(responses.meter.n_threads))
        for k, scores in enumerate(stages, 1):
            walking = rounds >= k
            kept[walking] = scores[walking]
            yield kept.copy()

    def staged_predict(
        self, X: ArrayLike, query_id: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """What :meth:`predict` gives after 1, 2, … rounds."""
        for scores in self._staged_columns(*self._rows(X, query_id)):
            yield self._predicted(scores)

    def staged_decision_function(
        self, X: ArrayLike, query_id: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """What :meth:`decision_function` gives after 1, 2, … rounds; as :meth:`staged_predict`."""
        for scores in self._staged_columns(*self._rows(X, query_id)):
            yield scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_cost(
        self,
        X: ArrayLike,
        query_id: ArrayLike | None = None,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        tree_cost: float = 0.0,
    ) -> Iterator[np.ndarray]:
        """What :meth:`prediction_cost` gives after 1, 2, … rounds."""
        tree_cost = check_number("tree_cost", tree_cost)
        responses = self.responses_
        prices = responses.meter._grid_prices(feature_costs, split_cost)
        X, starts = self._rows(X, query_id)
        if tree_cost == 0:
            warn_if_free(responses.meter, feature_costs, split_cost)
        rounds = self._exits(X, starts).rounds
        n_trees = responses.meter.trees_.n_split_trees(responses.n_columns)
        ends = [k * responses.n_columns for k in range(1, responses.n_rounds + 1)]
        kept = np.zeros(len(X), dtype=np.int64)
        for k, (_, paid, _) in enumerate(responses.meter._walk(X, prices, ends) if ends else (), 1):
            walking = rounds >= k
            kept[walking] = paid[walking]
            yield prices.cost(kept) + tree_cost * n_trees[np.minimum(rounds, k)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of a classifier, else R², of the predictions at the exits."""
        check_scored(y, sample_weight)
        metric = accuracy_score if self.rule == "likelihood" else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))
