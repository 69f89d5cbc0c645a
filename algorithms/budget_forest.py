"""BudgetRF: random forests of greedy minimax trees under feature costs.

F. Nan, J. Wang, V. Saligrama: Feature-budgeted random forest. Proceedings of the 32nd International
Conference on Machine Learning (2015). The reference is :mod:`reference.budget_forest`, which lists
the deviations.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import costs
from .estimators.fitting import (
    ConstantModelWarning,
    all_or_nothing,
    check_queries,
    numbers,
    one_eval_set,
)
from .estimators.parameters import (
    METERED,
    MOST_ROUNDS,
    N_JOBS,
    N_THREADS,
    Parameter,
    check_number,
    check_seed,
    check_seed_or_state,
    check_whole_number,
    checked_parameters,
    choice,
    documented,
    flag,
    keep,
    shown,
    whole,
)
from .estimators.scoring import ScoredInFull
from .estimators.validation import validate_data
from .forests.growing import (
    ENTROPY,
    MOST_WEIGHT,
    PAIRS,
    CountedForest,
    Rules,
    binned_rows,
    grow_forest,
    log_table,
)
from .forests.voting import (
    VOTE,
    VotingClassifier,
    VotingForest,
    check_rows_with_targets,
    whole_weights,
)
from .kernels.arrays import read_only
from .trees.binning import MAX_BINS
from .validation.prices import column_labels
from .validation.types import EvalSet, FeatureCosts, FeatureGroups, GroupCosts, Seed

_MOST_GRADES = 2**10  # of a regressor: each leaf counts the rows of all


def _check_budget(name: str, value) -> float | None:
    return None if value is None else check_number(name, value)


_PARAMETERS = {
    "n_estimators": whole("int", "Number of trees.", 0, most=MOST_ROUNDS),
    "impurity": choice(
        "F: threshold-Pairs, of whose two children the worse counts, or n times the entropy, of "
        "whose children the sum counts, as in the authors' program.",
        "pairs",
        "entropy",
    ),
    "impurity_threshold": Parameter(
        "float",
        "alpha, below which an impurity counts as 0: a whole number of rows of each class for "
        "Pairs, a value of H(S) for entropy. A larger one gives smaller, cheaper trees.",
        check_number,
    ),
    "max_features": whole(
        "int or None", "Features drawn at each node; None: all.", 1, or_none=True
    ),
    "max_depth": whole(
        "int or None", "Splits between the root and a leaf at most.", 1, or_none=True
    ),
    "bootstrap": flag("Whether each tree gets a sample of the rows, of their size, or all rows."),
    "vote": VOTE,
    "budget": Parameter(
        "float or None",
        "Mean bill of the rows of `eval_set` at most, or of the training rows if there are none: "
        "trees are dropped from the end until it is kept, all of them if need be. None: all trees "
        "are kept.",
        _check_budget,
    ),
    "max_bins": whole(
        "int",
        "Bins per feature at most; see :func:`algorithms.trees.binning.bin_edges`.",
        2,
        most=MAX_BINS,
    ),
    **METERED,
    "feature_costs": METERED["feature_costs"]._replace(
        text="c_t: acquisition cost per row and feature, in the user's own unit, which trees grow "
        "by and rows pay; a feature of a group counts with the group's price. None means free. "
        "A dict or a Series is matched by the names of the columns."
    ),
    "n_threads": N_THREADS,
    "n_jobs": N_JOBS,
    "random_state": Parameter(
        "int, RandomState or None",
        "Seed of the samples and of the features drawn.",
        check_seed_or_state,
    ),
}


class _BudgetForest(VotingForest):
    """What the classifier and the regressor share."""

    _parameters = _PARAMETERS

    def __init__(
        self,
        *,
        n_estimators: int = 40,
        impurity: Literal["pairs", "entropy"] = "pairs",
        impurity_threshold: float = 0,
        max_features: int | None = None,
        max_depth: int | None = None,
        bootstrap: bool = True,
        vote: Literal["labels", "counts", "distributions"] = "labels",
        budget: float | None = None,
        max_bins: int = 255,
        split_cost: float = 0.0,
        feature_costs: FeatureCosts = None,
        feature_groups: FeatureGroups = None,
        group_costs: GroupCosts = None,
        feature_sharing: FeatureCosts = None,
        n_threads: int | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        keep(self, locals())

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        query_id: ArrayLike | None = None,
        eval_set: EvalSet | None = None,
    ) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Converted to float64; missing and infinite values are refused.
        y : array-like of shape (n_samples,)
            Class labels; of a regressor grades, of which at most 1024 may differ.
        sample_weight : array-like of shape (n_samples,), optional
            Whole row weights >= 0, that sum to at most 2**26. A weight of 3 equals three copies of
            the row side by side; rows of weight 0 are left out.
        query_id : array-like of shape (n_samples,), optional
            Query of each row, in blocks. Checked only: impurities are by row.
        eval_set : tuple (X, y) or (X, y, query_id), or a list of one, optional
            Validation rows, whose mean bill `budget` limits.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit. Whatever stops a fit, an earlier one is then
            still there, whole.
        """
        checked = self._checked()
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=False)
        check_queries(query_id, len(X), "query_id")
        weights = whole_weights(sample_weight, len(X))
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        encoded, n_classes = self._encode(y)
        prices, validation = self._growing_prices(), self._validation_rows(eval_set)
        if n_classes == 1:
            warnings.warn(
                f"y is constant ({y[:1].tolist()[0]!r}): the model predicts it for every row.",
                ConstantModelWarning,
                stacklevel=3,
            )
        grown = self._grown(X, encoded, n_classes, weights, checked, prices)
        totals = np.bincount(encoded, weights, n_classes).astype(np.int64)
        self._set_fitted(grown, totals, checked["vote"])
        if checked["budget"] is not None:
            billed = (read_only(X), weights) if validation is None else (validation, None)
            kept = self._affordable(*billed, checked["budget"])
            self._set_fitted(_first(grown, kept), totals, checked["vote"])
        return self

    def _grown(self, X, encoded, n_classes, weights, checked: dict, prices) -> CountedForest:
        """Grow all trees."""
        counted = None if np.all(weights == 1) else weights
        data, edges = binned_rows(X, encoded, n_classes, counted, checked["max_bins"])
        rng = np.random.default_rng(check_seed("random_state", self.random_state))
        return grow_forest(
            data,
            edges,
            weights,
            _rules(checked, prices, int(weights.sum())),
            rng.integers(0, 2**63 - 1, checked["n_estimators"]),
            drawn=checked["bootstrap"],
            n_threads=checked["n_threads"],
        )

    def first_rounds(self, n_rounds: int) -> Self:
        """Give the forest of the first trees.

        Parameters
        ----------
        n_rounds : int
            0 to `n_estimators_`.

        Returns
        -------
        estimator
            A fitted copy; its parameters are those of this estimator.

        Raises
        ------
        ValueError
            If the forest does not have so many trees.
        """
        check_is_fitted(self)
        kept = check_whole_number("n_rounds", n_rounds, 0, most=self.n_estimators_)
        shorter = copy.copy(self)
        whole = CountedForest(self.trees_, self.class_counts_, self.out_of_bag_counts_)
        shorter._set_fitted(_first(whole, kept), self.training_counts_, self._vote)
        return shorter

    def _checked(self) -> dict:
        checked = checked_parameters(self)
        alpha = checked["impurity_threshold"]
        if checked["impurity"] == "pairs" and (alpha != round(alpha) or alpha > MOST_WEIGHT):
            raise ValueError(
                f"impurity_threshold must be a whole number of rows, at most {MOST_WEIGHT}, for "
                f"impurity='pairs', got {shown(self.impurity_threshold)}."
            )
        return checked

    def _growing_prices(self) -> np.ndarray:
        """Price of each feature by itself; wrong prices of the meter show up here, too."""
        names, n_features = column_labels(self), self.n_features_in_
        listed = costs.price_list(
            self.feature_costs, self.feature_groups, self.group_costs, n_features, names
        )
        costs.split_prices(self.split_cost, self.feature_sharing, n_features, names)
        return listed.shared[listed.unit] + listed.own

    def _validation_rows(self, eval_set) -> np.ndarray | None:
        if eval_set is None:
            return None
        X, y = check_rows_with_targets(self, one_eval_set(eval_set))
        self._check_known(y)
        return X

    def _affordable(self, X: np.ndarray, weights: np.ndarray | None, budget: float) -> int:
        """How many of the first trees have a mean bill within the budget."""
        prices, kept = self._grid_prices(), 0
        for _, paid, _ in self._walk(X, prices, range(1, self.n_estimators_ + 1)):
            if np.average(prices.cost(paid), weights=weights) > budget:
                break
            kept += 1
        return kept

    def _check_restored(self) -> None:
        self._checked()
        self._refuse_wrong_prices()


def _rules(checked: dict, prices: np.ndarray, n: int) -> Rules:
    """How trees grow on rows of total weight n."""
    entropy, drawn, depth = (
        checked["impurity"] == "entropy",
        checked["max_features"],
        checked["max_depth"],
    )
    return Rules(
        ENTROPY if entropy else PAIRS,
        checked["impurity_threshold"],
        len(prices) if drawn is None else drawn,
        -1 if depth is None else depth,
        prices,
        log_table(n) if entropy else np.zeros(1),
    )


def _first(grown: CountedForest, n_trees: int) -> CountedForest:
    """Give the forest of the first trees."""
    n_nodes = int(grown.forest.tree[n_trees])
    counts, outside = (each[:n_nodes].copy() for each in (grown.counts, grown.out_of_bag))
    return CountedForest(grown.forest.first(n_trees), counts, outside)


@documented
class BudgetForestClassifier(VotingClassifier, _BudgetForest):
    """A random forest of greedy minimax trees: cheap features that part classes in the worst case.

    A node takes the feature with the least price for what it reduces the impurity by, at the
    threshold whose worse child is best. Prunings under test-time cost are
    :class:`algorithms.budget_prune.BudgetPruneClassifier`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from algorithms.budget_forest import BudgetForestClassifier
    >>> model = BudgetForestClassifier(n_estimators=5, random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).n_estimators_
    5
    """

    def _encode(self, y) -> tuple[np.ndarray, int]:
        check_classification_targets(y)
        self.classes_, encoded = np.unique(y, return_inverse=True)
        return encoded, len(self.classes_)

    def _check_known(self, y) -> None:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            unknown = unknown[:1].tolist()[0]
            raise ValueError(f"eval_set has a class that the training data lack: {unknown!r}.")


@documented
class BudgetForestRegressor(ScoredInFull, RegressorMixin, _BudgetForest):
    """A random forest of greedy minimax trees that predicts the mean of the labels voted for.

    For rankings by grades: trees are grown as by :class:`BudgetForestClassifier`, with each grade a
    class.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from algorithms.budget_forest import BudgetForestRegressor
    >>> model = BudgetForestRegressor(n_estimators=2, bootstrap=False)
    >>> model.fit([[0.0], [1.0], [2.0]], [0, 2, 4]).predict([[1.0]]).tolist()
    [2.0]
    """

    _attributes = VotingForest._attributes | {
        "grades_": Parameter("ndarray of shape (n_grades,), float64", "Grades, ascending.")
    }
    _stored_arrays: ClassVar = VotingForest._stored_arrays | {"grades": (np.float64, "classes")}

    def _encode(self, y) -> tuple[np.ndarray, int]:
        y = numbers(y) + 0.0
        self.grades_, encoded = np.unique(y, return_inverse=True)
        if len(self.grades_) > _MOST_GRADES:
            raise ValueError(
                f"y must have at most {_MOST_GRADES} different values, since each is a class of "
                f"its own here; it has {len(self.grades_)}."
            )
        if np.max(np.abs(self.grades_)) > 1e100:
            raise ValueError("y is too large: its sums would not be finite numbers.")
        return encoded, len(self.grades_)

    def _check_known(self, y) -> None:
        numbers(y)

    def _mean_labels(self, scores: np.ndarray) -> np.ndarray:
        total, weight = np.zeros(len(scores)), np.zeros(len(scores))
        for k, grade in enumerate(self.grades_):
            total += scores[:, k] * grade
            weight += scores[:, k]
        return total / weight

    def _answers(self) -> dict:
        return {"predict": self._mean_labels}

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the mean of the labels voted for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        return self._mean_labels(self._scores(self._check_X(X)))

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Predict with the first 1, 2, … trees; yields arrays of shape (n_samples,)."""
        X = self._check_X(X)
        for scores in self._staged_scores(X, range(1, self.n_estimators_ + 1)):
            yield self._mean_labels(scores)

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        header, arrays = super()._stored()
        return header, arrays | {"grades": self.grades_}

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        grades = arrays["grades"]
        if not len(grades) or not np.all(np.abs(grades) <= 1e100) or np.any(np.diff(grades) <= 0):
            raise ValueError("its grades must be distinct numbers in ascending order")
        self.grades_ = grades
        self._restored_forest(header, arrays, len(grades))
