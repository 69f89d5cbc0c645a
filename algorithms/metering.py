"""What predictions with a fitted forest cost: first uses of features, and split nodes passed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from algorithms import costs
from algorithms.kernels import resolve_n_threads, threads
from algorithms.trees.predictor import Charges, charge

DENSE_FEATURES = 256  # beyond this `acquired_features` is sparse


def tested_features(feature: np.ndarray, n_features: int) -> np.ndarray:
    """Features among the numbers `feature`, of which -1 is none: (n_features,) bool."""
    tested = np.zeros(n_features, dtype=bool)
    tested[feature[feature >= 0]] = True
    return tested


class MeteredTrees:
    """The cost meter's half of an estimator of boosted trees; a mixin."""

    def _walk(self, X, charges: Charges, stages: bool):
        """Yield (used units as bits, cost in grid steps, nodes passed) per stage or at the end."""
        n_units = len(charges.unit_price)
        used = np.zeros((len(X), -(-n_units // 64)), dtype=np.uint64)
        paid, passed = np.zeros(len(X), dtype=np.int64), np.zeros(len(X), dtype=np.int64)
        n_columns = len(self.initial_scores_)
        step = n_columns if stages else max(1, self.trees_.n_trees)
        for first in range(0, self.trees_.n_trees, step):
            with threads(resolve_n_threads(self.n_threads), X.size):
                charge(self.trees_, first, first + step, charges, X, used, paid, passed)
            if stages:
                yield used, paid, passed
        if not stages:
            yield used, paid, passed

    def _no_charges(self) -> Charges:
        d = self.n_features_in_
        nothing = np.zeros(d, dtype=np.int64)
        return Charges(np.arange(d), nothing, nothing)

    def _charges(self, feature_costs, split_cost) -> tuple[Charges, int]:
        """Prices on the cost meter's grid, and its exponent."""
        d = self.n_features_in_
        units, prices = costs.acquisition_units(
            self.feature_costs if feature_costs is None else feature_costs, self.feature_groups, d
        )
        node_prices, kind = costs.split_node_prices(
            self.split_cost if split_cost is None else split_cost, self.feature_sharing, d
        )
        n_split_nodes = int(np.count_nonzero(self.trees_.feature >= 0))
        k = costs.price_exponent(prices, node_prices, n_split_nodes)
        per_split = costs.on_grid(node_prices, k)[kind]
        charges = Charges(
            units, costs.on_grid(prices, k).astype(np.int64), per_split.astype(np.int64)
        )
        return charges, k

    def acquired_features(self, X):
        """Features that each row's paths ask for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool, or CSR matrix if there are more than 256 features, \
of shape (n_samples, n_features)
            Features tested; what a group brings along is not marked.
        """
        X = self._check_X(X)
        ((used, _, _),) = self._walk(X, self._no_charges(), stages=False)
        bits = np.unpackbits(used.view(np.uint8), axis=1, bitorder="little")
        acquired = bits[:, : X.shape[1]].astype(bool)
        return sparse.csr_matrix(acquired) if X.shape[1] > DENSE_FEATURES else acquired

    def evaluations(self, X) -> np.ndarray:
        """Number of split nodes that each row passes, over all trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int64
        """
        ((_, _, passed),) = self._walk(self._check_X(X), self._no_charges(), stages=False)
        return passed

    def prediction_cost(self, X, *, feature_costs=None, split_cost=None) -> np.ndarray:
        """Cost of predicting each row, Eqs. (4) and (6): first uses of features, and split nodes.

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
        X = self._check_X(X)
        charges, k = self._charges(feature_costs, split_cost)
        ((_, paid, _),) = self._walk(X, charges, stages=False)
        return np.ldexp(paid.astype(np.float64), -k)

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
        X = self._check_X(X)
        charges, k = self._charges(feature_costs, split_cost)
        for _, paid, _ in self._walk(X, charges, stages=True):
            yield np.ldexp(paid.astype(np.float64), -k)

    def model_features(self) -> np.ndarray:
        """Features that any tree tests: ndarray of shape (n_features,), bool."""
        check_is_fitted(self)
        return tested_features(self.trees_.feature, self.n_features_in_)

    def model_cost(self) -> float:
        """Cost that the model pays once whatever the rows, Eq. (5): gamma of its features."""
        prices = getattr(self, "model_feature_costs", None)
        return costs.model_cost(self.model_features(), prices, self.feature_groups)
