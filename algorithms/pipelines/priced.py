"""A pipeline whose prices are those of the raw columns: trained by them, and billed by them.

A feature that is made of columns needs all of its columns, each bought once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..costs import price_list
from ..estimators.fitting import all_or_nothing, one_eval_set
from ..estimators.validation import keep_column_numbers
from ..validation.prices import column_labels, labels_of_columns
from ..validation.types import FeatureCosts, FeatureGroups, GroupCosts
from .made_features import OnRawColumns, bought
from .transformers import made_of


class Purchases(NamedTuple):
    """What can be bought, and what each feature that is made of columns needs of it."""

    # (n_purchases,) float64: of each group of columns, then of each column what it costs besides
    price: np.ndarray
    needs: np.ndarray  # (n_made, n_purchases) bool

    def cost(self, acquired: Any) -> np.ndarray:
        """What rows pay for features: each purchase once."""
        return bought(acquired, self.needs) @ self.price

    def as_groups(self) -> tuple[np.ndarray, np.ndarray, dict[int, float]]:
        """Give the prices in the words of an estimator, whose features are in one group each.

        A feature's group is the dearest purchase that it needs, paid once; what else it needs is
        its own price. Where features need more than one purchase, an estimator that trains with
        these prices, or bills by them, counts a purchase again that another feature has brought:
        it never counts too little.
        """
        priced = np.where(self.needs, self.price, -1.0)
        label = np.argmax(priced, axis=1)
        label[~self.needs.any(axis=1)] = len(self.price)  # of nothing: a constant
        price = np.append(self.price, 0.0)
        own = np.array(
            [
                self.price[[p for p in np.flatnonzero(needs) if p != of]].sum()
                for needs, of in zip(self.needs, label, strict=True)
            ]
        )
        return own, label, {int(p): float(price[p]) for p in np.unique(label)}

    def cost_as_groups(self, acquired: Any) -> np.ndarray:
        """What rows pay for features as an estimator counts by :meth:`as_groups`."""
        own, label, group_costs = self.as_groups()
        in_group = label[:, None] == np.array(list(group_costs))
        by_group = bought(acquired, in_group) @ np.array(list(group_costs.values()))
        return by_group + acquired @ own


def purchases_of(
    needs: np.ndarray,
    feature_costs: FeatureCosts,
    feature_groups: FeatureGroups = None,
    group_costs: GroupCosts = None,
    names: Sequence[str] | None = None,
) -> Purchases:
    """Say what made features need to be bought, by the prices of columns."""
    prices = price_list(feature_costs, feature_groups, group_costs, needs.shape[1], names)
    of_group = prices.unit[:, None] == np.arange(len(prices.shared))
    besides = np.diag(prices.own > 0)
    of_column = np.concatenate([of_group, besides], axis=1)
    return Purchases(np.concatenate([prices.shared, prices.own]), bought(needs, of_column))


_PRICES = ("feature_costs", "feature_groups", "group_costs")


class PricedPipeline(OnRawColumns, MetaEstimatorMixin, BaseEstimator):
    """A scikit-learn Pipeline with prices of the raw columns that it is given.

    The steps before the last may make any features of the columns. Those that need the same column
    are bought with it, once (all of a column's one-hot features, and its scaled values), and a
    feature that needs several columns needs all of them. Which needs what is asked of the fitted
    steps, see :func:`algorithms.pipelines.made_of`.

    Bills (:meth:`prediction_cost`) count exactly the columns that a row's features need, each once.
    The last step trains by the same prices where every feature needs one purchase. A feature that
    needs several counts, while training, as its dearest one, shared with other features of that
    column, and the others anew: there training thinks it dearer than it may be, never cheaper.

    Parameters
    ----------
    pipeline : Pipeline
        It ends with an estimator that takes `feature_costs`, `feature_groups` and `group_costs`,
        which are not given there, such as the boosted trees of this package.
    feature_costs : array-like of shape (n_columns,), dict, Series or None
        Price of each raw column for a row that needs it, in the user's own unit; None means free. A
        dict or a Series is matched by the names of the columns.
    feature_groups : array-like of int or str of shape (n_columns,), dict, Series or None
        Raw columns with the same label are bought together.
    group_costs : dict or None
        Price of each group by its label, paid once; `feature_costs` are then paid besides.

    Attributes
    ----------
    pipeline_ : Pipeline
        Fitted; the prices of its last step are of the features that it sees.
    needs_ : ndarray of shape (n_made, n_columns), bool
        Whether each feature that the last step sees needs each column.
    n_features_in_ : int
        Number of raw columns.
    feature_names_in_ : ndarray of str
        Their names, if `fit` was given a table with names.

    Notes
    -----
    It has no ``save``: what scikit-learn's own steps have learned is theirs to write. Keep the
    whole with joblib or skops, or the last step alone, with the prices of what it sees, by its
    own ``save``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from algorithms.gbrt import GBRTRegressor
    >>> from algorithms.pipelines import PricedPipeline
    >>> table = pd.DataFrame({"colour": ["red", "blue", "green"] * 20, "size": [1.0, 2.0] * 30})
    >>> steps = make_column_transformer(
    ...     (OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough"
    ... )
    >>> model = PricedPipeline(
    ...     make_pipeline(steps, GBRTRegressor(n_estimators=9, learning_rate=1.0)),
    ...     feature_costs={"colour": 5.0, "size": 1.0},
    ... )
    >>> y = (table["colour"] == "red") + 2.0 * (table["colour"] == "blue")
    >>> model.fit(table, y).prediction_cost(table.head(3))
    array([5., 5., 5.])
    >>> model.model_features()
    array([ True, False])
    """

    # What may be asked of scikit-learn's metadata routing for the last step's fit.
    __metadata_request__fit: ClassVar = {"sample_weight": None, "query_id": None, "eval_set": None}

    def __init__(
        self,
        pipeline: Any,
        *,
        feature_costs: FeatureCosts = None,
        feature_groups: FeatureGroups = None,
        group_costs: GroupCosts = None,
    ) -> None:
        self.pipeline = pipeline
        self.feature_costs = feature_costs
        self.feature_groups = feature_groups
        self.group_costs = group_costs

    def __sklearn_tags__(self):
        tags = get_tags(self.pipeline)
        # Whether steps before the last take missing values they say themselves, when they see some.
        tags.input_tags.allow_nan |= len(getattr(self.pipeline, "steps", ())) > 1
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pipeline_")

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Self:
        """Fit all steps, the last one by the prices of what it sees.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_columns)
        y : array-like of shape (n_samples,)
        **params
            For ``fit`` of the last step, such as `sample_weight`. The rows of an `eval_set` are raw
            ones: they pass the steps before.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If `pipeline` is none, or its last step takes no prices.
        ValueError
            If prices do not fit or are given to the last step, too; if a transformer hides the
            names of its features; and as the steps. Whatever stops a fit, an earlier one is then
            still there, whole.
        """
        self._check_pipeline()
        self._read_columns(X)
        self._purchases(np.zeros((0, self.n_features_in_), dtype=bool))  # before any work
        steps = clone(self.pipeline).steps
        before, (name, last) = Pipeline(steps[:-1]), steps[-1]
        rows = before.fit_transform(X, y) if before.steps else X
        self.needs_ = made_of(before, self._names()) if before.steps else self._one_to_one()
        if self.needs_.shape[0] != rows.shape[1]:
            raise ValueError(
                f"The steps before {type(last).__name__} name {self.needs_.shape[0]} features, but "
                f"make {rows.shape[1]}."
            )
        last.set_params(**dict(zip(_PRICES, self._bought().as_groups(), strict=True)))
        if params.get("eval_set") is not None and before.steps:
            held, *others = one_eval_set(params["eval_set"])
            params["eval_set"] = (before.transform(held), *others)
        last.fit(rows, y, **params)
        self.pipeline_ = Pipeline([*before.steps, (name, last)])
        if hasattr(last, "classes_"):
            self.classes_ = last.classes_
        return self

    def _check_pipeline(self) -> None:
        if not isinstance(self.pipeline, Pipeline):
            raise TypeError(
                f"pipeline must be a Pipeline of scikit-learn, got {type(self.pipeline).__name__}."
            )
        last = self.pipeline.steps[-1][1]
        taken = last.get_params(deep=False) if hasattr(last, "get_params") else {}
        if not all(name in taken for name in _PRICES) or not hasattr(last, "prediction_cost"):
            raise TypeError(
                f"The pipeline must end with an estimator that takes {', '.join(_PRICES)}, such as "
                f"CEGBClassifier; {type(last).__name__} does not."
            )
        given = [name for name in _PRICES if taken[name] is not None]
        if given:
            raise ValueError(
                f"{given[0]} of {type(last).__name__} would be a price of made features: give the "
                "prices of raw columns to PricedPipeline, and none to its last step."
            )

    def _read_columns(self, X) -> None:
        shape = getattr(X, "shape", None) or np.asarray(X).shape
        if len(shape) != 2:
            raise ValueError(f"X must have rows and columns, got an array of shape {shape}.")
        self.n_features_in_, labels = int(shape[1]), labels_of_columns(X)
        vars(self).pop("feature_names_in_", None)
        if labels is not None and all(isinstance(label, str) for label in labels):
            self.feature_names_in_ = np.array(labels, dtype=object)
        keep_column_numbers(self, X)

    def _names(self) -> list[str]:
        labels = column_labels(self)
        return (
            [f"x{m}" for m in range(self.n_features_in_)] if labels is None else [*map(str, labels)]
        )

    def _one_to_one(self) -> np.ndarray:
        return np.eye(self.n_features_in_, dtype=bool)

    def _purchases(self, needs: np.ndarray, feature_costs: FeatureCosts = None) -> Purchases:
        prices = self.feature_costs if feature_costs is None else feature_costs
        return purchases_of(
            needs, prices, self.feature_groups, self.group_costs, column_labels(self)
        )

    def _bought(self) -> Purchases:
        return self._purchases(self.needs_)

    def _rows(self, X) -> Any:
        """Rows as the last step sees them."""
        check_is_fitted(self)
        before = self.pipeline_.steps[:-1]
        return Pipeline(before).transform(X) if before else X

    def _answering(self) -> Any:
        return getattr(self, "pipeline_", self.pipeline).steps[-1][1]

    @property
    def model_(self) -> Any:
        """The last step, fitted."""
        check_is_fitted(self)
        return self.pipeline_.steps[-1][1]

    # --- what it costs ------------------------------------------------------------------------

    def prediction_cost(self, X: ArrayLike, *, feature_costs: FeatureCosts = None) -> np.ndarray:
        """Cost of predicting each row: the raw columns that its features need, and evaluations.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_columns)
        feature_costs : array-like, dict or Series, optional
            Charge these prices of raw columns instead of the pipeline's own.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            In the unit of the prices. Each column, or group of them, once; and what the last step
            charges for evaluations (`split_cost`, `tree_cost`).
        """
        rows = self._rows(X)
        bill, trained = self.model_.prediction_cost(rows), self._bought()
        if feature_costs is None and not np.any(trained.needs.sum(axis=1) > 1):
            return bill  # nothing is counted twice
        acquired = self.model_.acquired_features(rows)
        evaluated = np.maximum(bill - trained.cost_as_groups(acquired), 0.0)
        return evaluated + self._purchases(self.needs_, feature_costs).cost(acquired)
