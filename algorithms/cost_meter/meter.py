"""What predictions of any model cost: its features, each once, and its evaluations.

A model says in one method, :meth:`Metered._walk`, how its rows go through its base classifiers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .. import costs
from ..estimators.parameters import check_whole_number
from ..validation.prices import column_labels
from ..validation.types import AcquiredFeatures, FeatureCosts

DENSE_FEATURES = 256  # beyond this `acquired_features` is sparse


def tested_features(feature: np.ndarray, n_features: int) -> np.ndarray:
    """Features among the numbers `feature`, of which -1 is none: (n_features,) bool."""
    tested = np.zeros(n_features, dtype=bool)
    tested[feature[feature >= 0]] = True
    return tested


def from_bits(
    words: np.ndarray, n_features: int, columns: np.ndarray | None = None
) -> AcquiredFeatures:
    """Bits of rows of 64-bit words as a matrix, sparse if there are many features.

    They are those of all features, or of some columns.
    """
    columns = np.arange(n_features) if columns is None else columns
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    bits = bits[:, : len(columns)].astype(bool)
    if n_features > DENSE_FEATURES:
        some = sparse.csr_matrix(bits)
        parts = (some.data, columns[some.indices], some.indptr)
        return sparse.csr_matrix(parts, (len(bits), n_features))
    acquired = np.zeros((len(bits), n_features), dtype=bool)
    acquired[:, columns] = bits
    return acquired


class NoCostsWarning(UserWarning):
    """A bill was asked for, and no price was ever given: everything is free."""


def warn_if_free(
    model: object,
    feature_costs: FeatureCosts,
    split_cost: float | None,
    tree_cost: float | None = None,
    stacklevel: int = 3,
) -> None:
    """Warn of a bill that is 0, or counts trees only, because nobody gave a price."""
    given = (feature_costs, split_cost, model.feature_costs, model.group_costs)
    if any(prices is not None for prices in given) or model.split_cost != 0:
        return
    said = "so every prediction costs 0: give feature_costs or split_cost"
    if tree_cost:
        said = (
            f"so features are free, and each tree that a row passes costs {tree_cost:g}: give "
            "feature_costs, split_cost or tree_cost"
        )
    warnings.warn(
        f"No cost was ever given, {said}, to the model or here.",
        NoCostsWarning,
        stacklevel=stacklevel,
    )


class Metered:
    """The cost meter's half of an estimator; a mixin."""

    def _walk(self, X, prices: costs.GridPrices, ends: Sequence[int] | None = None):
        """Yield (what is paid for as bits, cost in grid steps, evaluations) after so many learners.

        Each has a row of X in its first dimension. `ends` count base classifiers, trees or stumps,
        and ascend; None: once, after all.
        """
        raise NotImplementedError

    def _round_ends(self) -> Sequence[int]:
        """Base classifiers that a row has passed after each round."""
        raise NotImplementedError

    def _tested(self) -> np.ndarray:
        """Feature of each node that a row may pass, -1 where nothing is evaluated."""
        raise NotImplementedError

    def _priced_by(self):
        """Whose prices count."""
        return self

    def _grid_prices(self, feature_costs=None, split_cost=None) -> costs.GridPrices:
        """Prices on the cost meter's grid: the estimator's own but for those given here."""
        by = self._priced_by()
        return costs.grid_prices(
            by.feature_costs if feature_costs is None else feature_costs,
            by.split_cost if split_cost is None else split_cost,
            by.feature_groups,
            getattr(by, "feature_sharing", None),
            self.n_features_in_,
            int(np.count_nonzero(self._tested() >= 0)),
            column_labels(self),
            by.group_costs,
        )

    def acquired_features(self, X: ArrayLike) -> AcquiredFeatures:
        """Features that each row asks for: those on its paths through trees, all that stumps test.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool, or CSR matrix if there are more than 256 features, \
of shape (n_samples, n_features)
            Features tested; what a group brings along is not marked.
        """
        acquired = self._acquired_by(self._check_X(X))
        return sparse.csr_matrix(acquired) if acquired.shape[1] > DENSE_FEATURES else acquired

    def _acquired_by(self, X: np.ndarray) -> np.ndarray:
        """As :meth:`acquired_features`, of rows that are checked, and always dense."""
        ((used, _, _),) = self._walk(X, costs.free_of_charge(X.shape[1]))
        bits = np.unpackbits(used.view(np.uint8), axis=1, bitorder="little")
        return bits[:, : X.shape[1]].astype(bool)

    def evaluations(self, X: ArrayLike) -> np.ndarray:
        """Split nodes, or stumps, that each row passes; constant votes are free.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int64
        """
        X = self._check_X(X)
        ((_, _, passed),) = self._walk(X, costs.free_of_charge(X.shape[1]))
        return passed

    def prediction_cost(
        self,
        X: ArrayLike,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
    ) -> np.ndarray:
        """Cost of predicting each row, Eqs. (4) and (6): first uses of features, and evaluations.

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
        X = self._check_X(X)
        grid = self._grid_prices(feature_costs, split_cost)
        warn_if_free(self, feature_costs, split_cost)
        ((_, paid, _),) = self._walk(X, grid)
        return grid.cost(paid)

    def staged_cost(
        self,
        X: ArrayLike,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        rounds: Iterable[int] | None = None,
    ) -> Iterator[np.ndarray]:
        """Cost of predicting each row with the first 1, 2, … rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        feature_costs, split_cost : optional
            Charge these prices instead of the estimator's own. A dict or a Series is matched by
            the names of the columns.
        rounds : sequence of int, optional
            Only after these rounds, ascending, which is faster than all.

        Yields
        ------
        ndarray of shape (n_samples,), float64

        Raises
        ------
        ValueError
            If `rounds` do not ascend from 1 or more to at most those of the model.
        """
        X = self._check_X(X)
        grid = self._grid_prices(feature_costs, split_cost)
        warn_if_free(self, feature_costs, split_cost)
        ends = self._round_ends()
        if rounds is not None:
            rounds = [check_whole_number("rounds", r, 1, most=len(ends)) for r in rounds]
            if any(b <= a for a, b in pairwise(rounds)):
                raise ValueError(f"rounds must ascend, got {rounds}.")
            ends = [ends[r - 1] for r in rounds]
        for _, paid, _ in self._walk(X, grid, ends):
            yield grid.cost(paid)

    def model_features(self) -> np.ndarray:
        """Features that any tree or stump tests: ndarray of shape (n_features,), bool."""
        check_is_fitted(self)
        return tested_features(self._tested(), self.n_features_in_)
