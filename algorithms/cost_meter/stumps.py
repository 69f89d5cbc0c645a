"""What predictions with boosted stumps, and with boosted trees of them, cost.

Of stumps nothing is adaptive: every row asks for all features that the model tests, and passes all
stumps. Through trees each row takes its own paths, charged by :mod:`algorithms.cost_meter.trees`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .. import costs
from ..estimators.threads import threads_elsewhere
from ..kernels.arrays import read_only
from ..validation.prices import column_labels
from ..validation.types import AcquiredFeatures, FeatureCosts
from .trees import DENSE_FEATURES, MeteredTrees, tested_features, warn_if_free


class _Paths(MeteredTrees):
    """The paths through the trees of a model, as the meter of trees takes them."""

    initial_scores_ = (0.0,)  # one tree a round, whatever the number of labels

    def __init__(self, model: MeteredStumps) -> None:
        self.trees_ = model.trees_.forest()
        self.n_threads = threads_elsewhere(model)
        self.feature_costs, self.group_costs = model.feature_costs, model.group_costs
        self.split_cost = model.split_cost
        self._model = model

    def _check_X(self, X) -> np.ndarray:
        return read_only(np.ascontiguousarray(self._model._check_X(X), dtype=np.float64))

    def _grid_prices(self, feature_costs=None, split_cost=None) -> costs.GridPrices:
        n_splits = int(np.count_nonzero(self.trees_.feature >= 0))
        return self._model._grid_prices(feature_costs, split_cost, n_splits)


class MeteredStumps:
    """The cost meter's half of an estimator of boosted stumps or trees of them; a mixin."""

    def _paths(self) -> _Paths | None:
        """Paths of a model of trees; None of stumps, which have none."""
        check_is_fitted(self)
        return _Paths(self) if hasattr(self, "trees_") else None

    def _grid_prices(self, feature_costs, split_cost, n_stumps: int) -> costs.GridPrices:
        """Prices on the cost meter's grid: the estimator's own but for those given here."""
        return costs.grid_prices(
            self.feature_costs if feature_costs is None else feature_costs,
            self.split_cost if split_cost is None else split_cost,
            self.feature_groups,
            None,
            self.n_features_in_,
            n_stumps,
            column_labels(self),
            self.group_costs,
        )

    def _bills(self, feature_costs, split_cost) -> np.ndarray:
        """Cost of any row after each round, (n_rounds,); constant votes are not evaluated."""
        evaluated = self.stumps_.feature >= 0
        n_evaluated = np.cumsum(evaluated)
        prices = self._grid_prices(feature_costs, split_cost, int(evaluated.sum()))
        steps = prices.path_steps(self.stumps_.feature[evaluated])
        return prices.cost(np.concatenate([[0], steps])[n_evaluated])

    def model_features(self) -> np.ndarray:
        """Features that any stump tests: ndarray of shape (n_features,), bool."""
        paths = self._paths()
        feature = self.stumps_.feature if paths is None else paths.trees_.feature
        return tested_features(feature, self.n_features_in_)

    def acquired_features(self, X: ArrayLike) -> AcquiredFeatures:
        """Features that each row asks for: all that stumps test, those on its paths through trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool, or CSR matrix if there are more than 256 features, \
of shape (n_samples, n_features)
            Features tested; what a group brings along is not marked.
        """
        if (paths := self._paths()) is not None:
            return paths.acquired_features(X)
        acquired = np.broadcast_to(self.model_features(), self._check_X(X).shape)
        sparsely = acquired.shape[1] > DENSE_FEATURES
        return sparse.csr_matrix(acquired) if sparsely else acquired.copy()

    def evaluations(self, X: ArrayLike) -> np.ndarray:
        """Stumps that each row passes, in trees those on its paths; constant votes are free.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int64
        """
        if (paths := self._paths()) is not None:
            return paths.evaluations(X)
        return np.full(len(self._check_X(X)), np.count_nonzero(self.stumps_.feature >= 0))

    def prediction_cost(
        self, X: ArrayLike, *, feature_costs: FeatureCosts = None, split_cost: float | None = None
    ) -> np.ndarray:
        """Cost of predicting each row: the features that it asks for, and the stumps it passes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        feature_costs, split_cost : optional
            Charge these prices instead of the estimator's own. A dict or a Series is matched by
            the names of the columns.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            In the unit of the prices.
        """
        prices = {"feature_costs": feature_costs, "split_cost": split_cost}
        if (paths := self._paths()) is not None:
            return paths.prediction_cost(X, **prices)
        bills = self._bills(**prices)
        warn_if_free(self, **prices)
        return np.full(len(self._check_X(X)), bills[-1] if len(bills) else 0.0)

    def staged_cost(
        self, X: ArrayLike, *, feature_costs: FeatureCosts = None, split_cost: float | None = None
    ) -> Iterator[np.ndarray]:
        """Cost of predicting each row with the first 1, 2, … rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        feature_costs, split_cost : optional
            Charge these prices instead of the estimator's own. A dict or a Series is matched by
            the names of the columns.

        Yields
        ------
        ndarray of shape (n_samples,), float64
        """
        if (paths := self._paths()) is not None:
            yield from paths.staged_cost(X, feature_costs=feature_costs, split_cost=split_cost)
            return
        n_samples = len(self._check_X(X))
        bills = self._bills(feature_costs, split_cost)
        warn_if_free(self, feature_costs, split_cost)
        for bill in bills:
            yield np.full(n_samples, bill)
