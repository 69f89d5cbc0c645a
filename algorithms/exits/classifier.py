"""What all cascades of weighted trees can do once they are fitted: leave early, rank, and pay."""

from __future__ import annotations

import copy
import warnings
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from .. import costs
from ..estimators.fitting import (
    ConstantModelWarning,
    check_queries,
    check_sample_weight,
    weights_by_class,
)
from ..estimators.parameters import Parameter
from ..estimators.scoring import ScoredInFull
from ..estimators.validation import validate_data
from ..kernels.arrays import read_only
from ..metrics import query_starts
from ..validation.types import FeatureCosts
from .exit_rules import ranks_by_exit
from .files import SavedCascade
from .fitted_trees import FittedTrees
from .hard_cascade import Exits, HardCascade
from .prices import THRESHOLDS, PricedTrees

KINDS = [np.float64, np.uint8]  # training rows are copied only if they are neither


class CascadeClassifier(SavedCascade, PricedTrees, ScoredInFull, ClassifierMixin, BaseEstimator):
    """Base of the cascades; not to be used by itself.

    A subclass learns ``coef_``, ``intercept_`` and ``thresholds_`` and calls ``_set_up``.
    """

    _attributes: ClassVar[dict[str, Parameter]] = {
        "coef_": Parameter(
            "ndarray of shape (n_stages, n_trees)",
            "Weight of each tree's answer (its leaf value before the learning rate) at each stage.",
        ),
        "intercept_": Parameter("ndarray of shape (n_stages,)", "Constant of each stage."),
        "thresholds_": THRESHOLDS,
        "estimator_": Parameter("estimator", "The fitted trees."),
        "classes_": Parameter("ndarray of shape (2,)", "Class labels, ascending; or the only one."),
        "n_features_in_": Parameter("int", "Number of columns."),
        "feature_names_in_": Parameter(
            "ndarray of str", "Names of the columns, if `fit` was given a table with names."
        ),
    }

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_hard_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # --- fitting --------------------------------------------------------------------------------

    def _read_rows(self, X, y, sample_weight, query_id):
        """Check a training set; return rows as they were given, targets, ±1 and weights."""
        checked, y = validate_data(self, X, y, dtype=KINDS, y_numeric=False)
        weights, kept = check_sample_weight(sample_weight, len(checked))
        check_queries(query_id, len(checked), "query_id")
        if kept is not None:
            rows = np.flatnonzero(kept)
            X, y, weights = _safe_indexing(X, rows), y[kept], weights[kept]
        check_classification_targets(y)
        self.classes_, encoded = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}."
            )
        if len(self.classes_) == 1:
            only = self.classes_.tolist()[0]
            warnings.warn(
                f"y is constant ({only!r}): the model predicts it for every row.",
                ConstantModelWarning,
                stacklevel=4,
            )
            encoded = encoded + 1
        else:
            weights = weights_by_class(self.class_weight, self.classes_, encoded, weights)
        return X, y, np.where(encoded == 1, 1.0, -1.0), weights

    def _set_up(
        self, responses: FittedTrees, coef, intercept, thresholds, final_threshold=0.0
    ) -> None:
        """Take over a cascade; a ValueError says what no fit can have left."""
        self._hard_ = HardCascade(responses, coef, intercept, thresholds, final_threshold)
        self._responses_ = responses
        self.coef_, self.intercept_, self.thresholds_ = coef, intercept, thresholds

    def _now(self, *, priced: bool = False) -> HardCascade:
        """The fitted cascade with the threads, and perhaps prices, that the parameters tell now."""
        check_is_fitted(self)
        responses = self._hard_.responses
        if priced:
            return self._hard_.metered(self._priced(responses).meter)
        meter = copy.copy(responses.meter)
        meter.n_threads = self.n_threads
        return self._hard_.metered(meter)

    # --- leaving --------------------------------------------------------------------------------

    def _rows(self, X) -> np.ndarray:
        """Rows as the trees compare them."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        as_seen = getattr(self._hard_.responses.meter, "_as_seen", None)
        return read_only(X if as_seen is None else as_seen(X))

    def exits(self, X: ArrayLike) -> Exits:
        """Walk rows through the stages until each leaves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Exits
            Stages from 1, and the scores there.
        """
        X = self._rows(X)
        return self._now().exits(X)

    def exit_stage(self, X: ArrayLike) -> np.ndarray:
        """Stage at which each row leaves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int64
            1 … K; K for all that are not rejected earlier.
        """
        return self.exits(X).stage

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score of the last stage over its threshold, -1 if rejected before.

        To rank, take :meth:`ranking_score`: here all rejected rows are tied.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        return self._decision(self.exits(X))

    def _decision(self, exits: Exits) -> np.ndarray:
        return self._hard_.decision(exits)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict classes: the second one if the decision is above 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), of the dtype of `classes_`
        """
        return self._labels(self.exits(X))

    def _labels(self, exits: Exits) -> np.ndarray:
        positive = self._decision(exits) > 0
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(positive))
        return self.classes_[positive.astype(np.int64)]

    def ranking_score(self, X: ArrayLike, query_id: ArrayLike | None = None) -> np.ndarray:
        """Number of rows of the same query that rank lower: rejected earlier, or with less score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        query_id : array-like of shape (n_samples,), optional
            Query of each row, in blocks. Without it all rows are one query.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            To be given to a ranking metric in the place of scores.

        Raises
        ------
        ValueError
            If a query's rows are not one block.
        """
        exits = self.exits(X)
        query_id = check_queries(query_id, len(exits.stage), "query_id")
        starts = np.zeros(1, dtype=np.int64) if query_id is None else query_starts(query_id)
        return ranks_by_exit(exits.stage, exits.scores, starts)

    # --- paying ---------------------------------------------------------------------------------

    def evaluations(self, X: ArrayLike) -> np.ndarray:
        """Split nodes that each row passes until its exit: ndarray of shape (n_samples,), int64."""
        _, _, passed, _ = self._free_walk(X)
        return passed

    def _free_walk(self, X):
        """What rows use and pass until their exits, if nothing has a price."""
        X, hard = self._rows(X), self._now()
        return hard.charge(X, costs.free_of_charge(X.shape[1]), hard.exits(X).stage)

    def _payer(self, priced: bool):
        hard = self._now(priced=priced)

        def charge(X, prices, staged: bool):
            stage = hard.exits(X).stage
            if staged:
                for paid, n_trees in hard.staged_charges(X, prices, stage):
                    yield None, paid, n_trees
                return
            used, paid, _, n_trees = hard.charge(X, prices, stage)
            yield used, paid, n_trees

        return hard.responses.meter, charge

    def stage_bills(
        self, *, feature_costs: FeatureCosts = None, tree_cost: float | None = None
    ) -> np.ndarray:
        """Bill of a row that leaves at each stage, as the papers on test-time budgets make it.

        Every feature that any tree evaluated until then tests, on the row's paths or not, and e for
        each of these trees.

        Parameters
        ----------
        feature_costs, tree_cost : optional
            Charge these prices instead of the model's own.

        Returns
        -------
        ndarray of shape (n_stages,), float64
            In the unit of the prices, correctly rounded.
        """
        hard, each = self._now(priced=True), self._price_of_a_tree(tree_cost)
        return hard.bills(self._price_list(hard.responses.meter, feature_costs), each)

    def forest_cost_until_exit(
        self, X: ArrayLike, *, feature_costs: FeatureCosts = None, tree_cost: float | None = None
    ) -> np.ndarray:
        """Cost of each row by :meth:`stage_bills`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        feature_costs, tree_cost : optional
            As for :meth:`stage_bills`.

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        bills = self.stage_bills(feature_costs=feature_costs, tree_cost=tree_cost)
        return bills[self.exits(X).stage - 1]
