"""What predictions with boosted stumps cost.

Nothing is adaptive: every row asks for all features that the model tests, and passes all stumps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from algorithms import costs
from algorithms.metering import DENSE_FEATURES, tested_features


class MeteredStumps:
    """The cost meter's half of an estimator of boosted stumps; a mixin."""

    def _prices(self, feature_costs, split_cost):
        """Acquisition unit of each feature, prices of the units, price of a stump."""
        given = self.feature_costs if feature_costs is None else feature_costs
        units, prices = costs.acquisition_units(given, self.feature_groups, self.n_features_in_)
        given = self.split_cost if split_cost is None else split_cost
        return units, prices, costs.check_split_cost(given)

    def _bills(self, feature_costs, split_cost) -> np.ndarray:
        """Bill of any row after each round, (n_stumps,): whole numbers of grid steps, so exact."""
        check_is_fitted(self, "stumps_")
        units, prices, stump_price = self._prices(feature_costs, split_cost)
        feature = self.stumps_.feature
        k = costs.price_exponent(prices, np.array([stump_price]), np.count_nonzero(feature >= 0))
        prices = costs.on_grid(prices, k)
        bills = np.where(feature >= 0, costs.on_grid(np.array(stump_price), k), 0.0)
        stumps = np.flatnonzero(feature >= 0)
        bought, first = np.unique(units[feature[stumps]], return_index=True)
        bills[stumps[first]] += prices[bought]
        return np.ldexp(np.cumsum(bills), -k)

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
            Charge these prices instead of the estimator's own.

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
            Charge these prices instead of the estimator's own.

        Yields
        ------
        ndarray of shape (n_samples,), float64
        """
        n_samples = len(self._check_X(X))
        for bill in self._bills(feature_costs, split_cost):
            yield np.full(n_samples, bill)
