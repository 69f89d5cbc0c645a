"""What predictions with boosted stumps cost.

Nothing is adaptive: every row asks for all features that the model tests, and passes all stumps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .. import costs
from .by_name import feature_names
from .trees import DENSE_FEATURES, tested_features


class MeteredStumps:
    """The cost meter's half of an estimator of boosted stumps; a mixin."""

    def _grid_prices(self, feature_costs, split_cost, n_stumps: int) -> costs.GridPrices:
        """Prices on the cost meter's grid: the estimator's own but for those given here."""
        return costs.grid_prices(
            self.feature_costs if feature_costs is None else feature_costs,
            self.split_cost if split_cost is None else split_cost,
            self.feature_groups,
            None,
            self.n_features_in_,
            n_stumps,
            feature_names(self),
            self.group_costs,
        )

    def _bills(self, feature_costs, split_cost) -> np.ndarray:
        """Cost of any row after each round, (n_rounds,); constant votes are not evaluated."""
        check_is_fitted(self, "stumps_")
        evaluated = self.stumps_.feature >= 0
        n_evaluated = np.cumsum(evaluated)
        prices = self._grid_prices(feature_costs, split_cost, int(evaluated.sum()))
        steps = prices.path_steps(self.stumps_.feature[evaluated])
        return prices.cost(np.concatenate([[0], steps])[n_evaluated])

    def model_features(self) -> np.ndarray:
        """Features that any stump tests: ndarray of shape (n_features,), bool."""
        check_is_fitted(self, "stumps_")
        return tested_features(self.stumps_.feature, self.n_features_in_)

    def acquired_features(self, X):
        """Features that each row asks for: every row asks for all that the model tests.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool, or CSR matrix if there are more than 256 features, \
of shape (n_samples, n_features)
            Features tested; what a group brings along is not marked.
        """
        acquired = np.broadcast_to(self.model_features(), self._check_X(X).shape)
        sparsely = acquired.shape[1] > DENSE_FEATURES
        return sparse.csr_matrix(acquired) if sparsely else acquired.copy()

    def evaluations(self, X) -> np.ndarray:
        """Stumps that each row passes (constant votes are not evaluated).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int64
        """
        return np.full(len(self._check_X(X)), np.count_nonzero(self.stumps_.feature >= 0))

    def prediction_cost(self, X, *, feature_costs=None, split_cost=None) -> np.ndarray:
        """Cost of predicting each row: the features of the model, and its stumps.

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
        bills = self._bills(feature_costs, split_cost)
        return np.full(len(self._check_X(X)), bills[-1] if len(bills) else 0.0)

    def staged_cost(self, X, *, feature_costs=None, split_cost=None) -> Iterator[np.ndarray]:
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
        n_samples = len(self._check_X(X))
        for bill in self._bills(feature_costs, split_cost):
            yield np.full(n_samples, bill)
