"""Prices of an estimator that is made of the trees of another one, and cascades' parameters.

The parameters are those that all cascades of weighted trees have, for the tables of their
estimators.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from inspect import signature
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .. import costs
from ..cost_meter.meter import from_bits, warn_if_free
from ..estimators.parameters import (
    CLASS_WEIGHT,
    LARGEST_FACTOR,
    METERED,
    N_JOBS,
    N_THREADS,
    Parameter,
    check_number,
    check_seed_or_state,
    number,
)
from ..estimators.threads import threads_elsewhere
from ..validation.prices import column_labels, take_column_numbers
from ..validation.types import AcquiredFeatures, FeatureCosts
from .fitted_trees import FittedTrees

if TYPE_CHECKING:
    from ..cost_meter.trees import MeteredTrees


PRICES = ("feature_costs", "split_cost", "feature_groups", "group_costs")
OF_THE_TREES = " None: as the trees of `estimator` have it."


def check_tree_cost(name: str, value: object) -> float:
    """Give the price of a tree as a float; refuse what no bill could hold."""
    price = check_number(name, value)
    if price > costs.LARGEST_PRICE:
        raise ValueError(f"{name} must be at most {costs.LARGEST_PRICE:g}, got {value!r}.")
    return price


def warn_if_unpriced(
    estimator: object,
    meter: MeteredTrees,
    feature_costs: FeatureCosts,
    split_cost: float | None,
    tree_cost: float | None,
    stacklevel: int = 3,
) -> None:
    """Warn of a bill for which nobody gave a price; that of a tree has a default."""
    default = signature(type(estimator)).parameters["tree_cost"].default
    if tree_cost is None and estimator.tree_cost in (0, default):
        warn_if_free(meter, feature_costs, split_cost, estimator.tree_cost, stacklevel + 1)


ESTIMATOR = Parameter(
    "estimator or None",
    "Trees with one score. Boosted trees of this package are cloned and fitted, regressors on "
    "-1 and +1; what is in a FrozenEstimator, a MeteredForest, and models of LightGBM, CatBoost "
    "and scikit-learn are taken as fitted. None: GBRTRegressor with trees of depth 4.",
)
THRESHOLDS = Parameter(
    "ndarray of shape (n_stages - 1,)",
    "A row with a lower score is rejected at the stage; minus infinity rejects none.",
)
PRICED = {
    "tree_cost": Parameter(
        "float", "e: price of evaluating one tree that has a split.", check_tree_cost
    ),
    **{
        name: Parameter(
            METERED[name].kind if name != "split_cost" else "float or None",
            METERED[name]
            .text.replace("; None means free", "")
            .replace("None: the features of a group have one price together. ", "")
            + OF_THE_TREES,
        )
        for name in PRICES
    },
    "n_threads": N_THREADS,
    "n_jobs": N_JOBS,
    "random_state": Parameter(
        "int or None",
        "Not used: nothing is drawn at random, but perhaps by `estimator`.",
        check_seed_or_state,
    ),
}
PRICED_STUMPS = {  # of a cascade that trains its own stumps, and has no prices but its own
    "tree_cost": Parameter("float", "e: price of evaluating one stump.", check_tree_cost),
    **{name: METERED[name] for name in PRICES},
    "class_weight": CLASS_WEIGHT,
    "n_threads": N_THREADS,
    "n_jobs": N_JOBS,
}
PRICED_CLASSES = PRICED | {"class_weight": CLASS_WEIGHT}
FINAL_THRESHOLD = Parameter(
    "float",
    "A row that comes to the last stage is positive if its score there is larger: just below the "
    "threshold of that stage.",
)
POSITIVE_WEIGHT = number(
    "float",
    "omega+: weight of positives (the second class) in the loss; negatives have 1.",
    positive=True,
    most=LARGEST_FACTOR,
)


class PricedTrees:
    """The prices of such an estimator, where it has any, and else those of the trees; a mixin."""

    def _priced(self, responses: FittedTrees) -> FittedTrees:
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
