"""What predictions with boosted stumps, and with boosted trees of them, cost.

Of stumps nothing is adaptive: every row asks for all features that the model tests, and passes all
stumps. Through trees each row takes its own paths, charged by :mod:`algorithms.cost_meter.trees`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .. import costs
from ..estimators.threads import threads_elsewhere
from ..kernels.arrays import read_only
from .meter import Metered
from .trees import MeteredTrees


class _Paths(MeteredTrees):
    """The paths through the trees of a model, as the meter of trees takes them."""

    def __init__(self, model: MeteredStumps) -> None:
        self.trees_, self.n_threads = model.trees_.forest(), threads_elsewhere(model)


class MeteredStumps(Metered):
    """The cost meter's half of an estimator of boosted stumps or trees of them; a mixin."""

    def _tested(self) -> np.ndarray:
        return self._learners.feature

    def _round_ends(self) -> Sequence[int]:
        return range(1, self.n_estimators_ + 1)

    def _walk(
        self, X: np.ndarray, prices: costs.GridPrices, ends: Sequence[int] | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """As of any model; all rows pay the same for stumps."""
        if hasattr(self, "trees_"):
            X = read_only(np.ascontiguousarray(X, dtype=np.float64))
            yield from _Paths(self)._walk(X, prices, ends)
            return
        n, feature = len(X), self.stumps_.feature
        evaluated = np.concatenate([[0], np.cumsum(feature >= 0)])  # constant votes are not
        steps = np.concatenate([[0], prices.path_steps(feature[feature >= 0])])
        for end in [len(feature)] if ends is None else ends:
            marks, passed = prices.marks(feature[:end]), evaluated[end]
            yield np.tile(marks, (n, 1)), np.full(n, steps[passed]), np.full(n, passed)
