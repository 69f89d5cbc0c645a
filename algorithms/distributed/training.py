"""Boosting on rows that workers hold, from their targets to the fitted trees."""

from __future__ import annotations

import math

import numpy as np

from ..boosting import Boosted, Options, run_rounds
from ..estimators.fitting import check_total_weight
from ..grid import row_weights, value_exponent, weights_on_grid
from ..losses import Loss
from ..trees.penalty import Charging
from ..watching.rounds import Callback, Validation
from . import edges
from .growing import DistributedRounds
from .held import Summary
from .workers import Workers

_VALUES_AT_ONCE = 2**24  # whose features' distinct values workers keep at a time


class RowsOfAll:
    """All workers' rows, as far as a process knows them that has none."""

    def __init__(self, workers: Workers, summaries: list[Summary]) -> None:
        self._workers = workers
        self.n_samples = sum(s.n_samples for s in summaries)
        self._largest_part = max(s.n_samples for s in summaries)
        self.targets = np.unique(np.concatenate([s.targets for s in summaries]))
        if summaries[0].weight_sums is None:
            self.weights = row_weights(None, self.n_samples)
        else:
            total = math.fsum(part for s in summaries for part in s.weight_sums)
            check_total_weight(total > 0, total / 2.0**52)
            whole = all(s.whole for s in summaries)
            self.weights = weights_on_grid(np.empty(0), total, whole)

    def boost(
        self,
        n_features: int,
        loss: Loss,
        classes: np.ndarray | None,
        options: Options,
        charging: Charging,
        validation: Validation | None,
        callbacks: tuple[Callback, ...] = (),
    ) -> Boosted:
        """Fit an additive tree model; see :func:`algorithms.boosting.boost`."""
        ask = self._workers
        given = self.weights
        told = np.array(ask.ask("weigh", self.n_samples, given.sum, given.whole, loss, classes))
        self.weights = given._replace(total=int(told[:, 0].sum()))
        initial, largest_target = np.zeros(loss.n_trees), float(told[:, 1].max())
        if options.start_at_mean:
            k = value_exponent(largest_target, self.weights)
            initial = loss.score_of_sums(ask.summed("target_sums", k), k, self.weights)
        found = self.edges(n_features, options.max_bins)
        state = DistributedRounds(
            ask, found, self.n_samples, self.weights, loss, options, charging, initial,
            largest_target,
        )  # fmt: skip
        return run_rounds(state, initial, options, charging, validation, callbacks)

    def edges(self, n_features: int, max_bins: int) -> list[np.ndarray]:
        """Bin edges of all features, some features at a time."""
        at_once = max(1, _VALUES_AT_ONCE // self._largest_part)
        found = []
        for first in range(0, n_features, at_once):
            features = list(range(first, min(n_features, first + at_once)))
            found += self._edges_of(features, max_bins)
        return found

    def _edges_of(self, features: list[int], max_bins: int) -> list[np.ndarray]:
        most = edges.MOST_VALUES
        told = self._by_feature(features, "distinct", features, most)
        bounds = {f: edges.intervals(parts, max_bins) for f, parts in told.items()}
        where = {f: bound for f, bound in bounds.items() if bound is not None}
        if where:
            told |= self._by_feature(where, "within", where, most)
        return [edges.edges_of(parts, max_bins) for parts in told.values()]

    def _by_feature(self, features, method: str, *args) -> dict[int, tuple]:
        """All parts' answers for each feature."""
        answers = zip(*self._workers.ask(method, *args), strict=True)
        return dict(zip(features, answers, strict=True))
