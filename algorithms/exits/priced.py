"""Prices of an estimator that is made of the trees of another one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .. import costs
from ..estimators.threads import threads_elsewhere
from ..inputs.types import AcquiredFeatures, FeatureCosts
from ..metering.trees import MeteredTrees, from_bits
from ..prices.by_name import column_labels, take_column_numbers
from .parameters import PRICES, check_tree_cost, warn_if_unpriced
from .responses import Responses


class PricedTrees:
    """The prices of such an estimator, where it has any, and else those of the trees; a mixin."""

    def _priced(self, responses: Responses) -> Responses:
        """Put this estimator's prices, where it has any, in the place of the trees' own."""
        meter = copy.copy(responses.meter)
        meter.n_threads, meter.n_jobs = threads_elsewhere(self), None
        take_column_numbers(meter, self)
        for name in PRICES:
            value = getattr(self, name)
            if value is not None:
                by_name = name in ("feature_costs", "feature_groups")
                setattr(meter, name, meter._in_its_spelling(value) if by_name else value)
        if meter.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"X has {self.n_features_in_} features, but the trees were trained on "
                f"{meter.n_features_in_}."
            )
        responses = responses._replace(meter=meter)
        if costs.by_column(meter):
            self._price_list(meter)
        meter._refuse_wrong_prices()
        return responses

    def _price_list(self, meter, feature_costs=None) -> costs.PriceList:
        """What is paid once: the meter's prices but for those given here."""
        own = feature_costs is None
        return costs.price_list(
            meter.feature_costs if own else meter._in_its_spelling(feature_costs),
            meter.feature_groups,
            meter.group_costs,
            meter.n_features_in_,
            column_labels(meter),
        )

    # --- paying ---------------------------------------------------------------------------------

    def _payer(self, priced: bool) -> tuple[MeteredTrees, Callable]:
        """The meter, and ``(X, prices, staged) -> yields (used, paid, n_trees)``."""
        raise NotImplementedError

    def _price_of_a_tree(self, tree_cost=None) -> float:
        return check_tree_cost("tree_cost", self.tree_cost if tree_cost is None else tree_cost)

    def _costs(self, X, staged: bool, *, feature_costs, split_cost, tree_cost):
        """Yield the cost after each stage, or after all."""
        check_is_fitted(self)
        meter, charge = self._payer(priced=True)
        prices = meter._grid_prices(feature_costs, split_cost)
        each, X = self._price_of_a_tree(tree_cost), self._rows(X)
        warn_if_unpriced(self, meter, feature_costs, split_cost, tree_cost, stacklevel=4)
        for _, paid, n_trees in charge(X, prices, staged):
            yield prices.cost(paid) + each * n_trees

    def acquired_features(self, X: ArrayLike) -> AcquiredFeatures:
        """Features that each row's paths ask for in the trees that it evaluates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool, or CSR matrix if there are more than 256 features, \
of shape (n_samples, n_features)
        """
        X, d = self._rows(X), self.n_features_in_
        ((used, _, _),) = self._payer(priced=False)[1](X, costs.free_of_charge(d), False)
        return from_bits(used, d)

    def prediction_cost(
        self,
        X: ArrayLike,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        tree_cost: float | None = None,
    ) -> np.ndarray:
        """Cost of predicting each row: what its own paths ask for, and e per tree evaluated.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        feature_costs, split_cost, tree_cost : optional
            Charge these prices instead of the model's own. A dict or a Series is matched by the
            names of the columns.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            In the unit of the prices.
        """
        given = {"feature_costs": feature_costs, "split_cost": split_cost, "tree_cost": tree_cost}
        (cost,) = self._costs(X, False, **given)
        return cost

    def staged_cost(
        self,
        X: ArrayLike,
        *,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        tree_cost: float | None = None,
    ) -> Iterator[np.ndarray]:
        """Cost of predicting each row until each stage, or its exit if that comes first.

        Parameters and what is yielded are as for :meth:`prediction_cost`.
        """
        given = {"feature_costs": feature_costs, "split_cost": split_cost, "tree_cost": tree_cost}
        yield from self._costs(X, True, **given)
