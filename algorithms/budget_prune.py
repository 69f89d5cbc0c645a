"""BudgetPrune: random forests pruned under test-time cost, exactly, for every trade-off at once.

F. Nan, J. Wang, V. Saligrama: Pruning random forests for prediction on a budget. Advances in Neural
Information Processing Systems 29 (2016). The reference is :mod:`reference.budget_prune`, which
lists the deviations.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from . import costs
from .budget_forest import BudgetForestClassifier
from .estimators.files import known_parameters, restored
from .estimators.fitting import ConstantModelWarning, all_or_nothing, check_queries, one_eval_set
from .estimators.parameters import (
    METERED,
    N_JOBS,
    N_THREADS,
    Parameter,
    check_factor,
    check_number,
    check_seed_or_state,
    check_whole_number,
    checked_parameters,
    choice,
    documented,
    keep,
    whole,
)
from .estimators.threads import threads_elsewhere
from .estimators.validation import validate_data
from .forests.growing import CountedForest
from .forests.hull import Hull, authors_pruning, cut_back, hull_of, programme
from .forests.saved_pruning import SavedPruning
from .forests.voting import (
    VOTE,
    VotingClassifier,
    check_rows_with_targets,
    class_counts,
    whole_weights,
)
from .kernels.arrays import read_only
from .validation.prices import column_labels
from .validation.types import EvalSet, FeatureCosts, FeatureGroups, GroupCosts, Seed

_PRICES = ("split_cost", "feature_costs", "feature_groups", "group_costs", "feature_sharing")
_OF_THE_FOREST = " If none of the prices is given, those of the forest."


def _check_tradeoff(name: str, value) -> float:
    infinite = isinstance(value, Real) and value == math.inf
    return math.inf if infinite else check_number(name, value)


def _check_budget(name: str, value) -> float | None:
    return None if value is None else _check_tradeoff(name, value)


_PARAMETERS = {
    "forest": Parameter(
        "estimator or None",
        "Forest to prune: a BudgetForestClassifier is cloned and fitted, one in a FrozenEstimator "
        "taken as it is. None: a BudgetForestClassifier with these prices.",
    ),
    "tradeoff": Parameter(
        "float",
        "lambda: share of errors that a unit of the mean bill must save. 0 prunes only what saves "
        "none, infinity all that costs anything.",
        _check_tradeoff,
    ),
    "budget": Parameter(
        "float or None",
        "Mean bill of the validation rows at most: where the pruning for `tradeoff` costs more, "
        "the best one of `curve_` within the budget is taken. The cheapest costs nothing.",
        _check_budget,
    ),
    "errors": choice(
        "Rows that splits must help: those of each tree's bootstrap sample, as in the paper, the "
        "other training rows, or the validation rows.",
        "in_bag",
        "out_of_bag",
        "validation",
    ),
    "solver": choice(
        "All optima by minimum cuts, or the authors': for this `tradeoff` the best pruning that 50 "
        "steps along a subgradient meet, which need not be one, and no other.",
        "exact",
        "authors",
    ),
    "vote": VOTE,
    "max_billed_rows": whole(
        "int or None",
        "Rows that are billed at most, for memory: of more validation rows so many are drawn, "
        "always the same ones of as many, and a warning and `n_billed_` say so. None: all.",
        1,
        or_none=True,
    ),
    **{
        name: METERED[name]._replace(
            kind=METERED[name].kind if name != "split_cost" else "float or None",
            text=METERED[name].text + _OF_THE_FOREST,
        )
        for name in _PRICES
    },
    "n_threads": N_THREADS,
    "n_jobs": N_JOBS,
    "random_state": Parameter(
        "int, RandomState or None",
        "Of the forest that is grown here if `forest` is None.",
        check_seed_or_state,
    ),
}


class PruningCurve(NamedTuple):
    """All optimal prunings: the lower convex hull of cost and errors.

    No trade-off gives a pruning between two neighbours, however far apart they are.
    """

    cost: np.ndarray  # (n_points,) float64: mean bill of the validation rows, ascending from 0
    # (n_points,) float64: errors of the trees, each by itself, as a share of the rows that judge
    # them
    error: np.ndarray
    tradeoff: np.ndarray  # (n_points,) float64: smallest trade-off at which the pruning is taken
    n_splits: np.ndarray  # (n_points,) int64: splits that stay


@documented
class BudgetPruneClassifier(SavedPruning):
    """A random forest pruned so that errors saved are worth what the rows pay for features.

    Each split stays if, with the others, it saves more errors than its rows' first uses of features
    cost. That is a minimum cut, and is solved exactly. All optimal prunings are found at once;
    :meth:`pruned` gives another one of them.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.budget_prune import BudgetPruneClassifier
    >>> x = np.arange(100.0)
    >>> model = BudgetPruneClassifier(feature_costs=[1.0, 9.0], budget=1.0, random_state=0)
    >>> model = model.fit(np.column_stack([x // 4, x]), x >= 50)
    >>> bool(model.prediction_cost([[3.0, 12.0]])[0] <= 1.0)
    True
    """

    _parameters = _PARAMETERS
    _attributes = VotingClassifier._attributes | {
        "forest_": Parameter("BudgetForestClassifier", "The whole forest."),
        "curve_": Parameter("PruningCurve", "All optimal prunings, from the cheapest."),
        "point_": Parameter("int", "Place on the curve of the pruning that predicts."),
        "n_billed_": Parameter("int", "Rows that were billed; not in a file."),
    }

    def __init__(
        self,
        forest: BaseEstimator | None = None,
        *,
        tradeoff: float = 0.0,
        budget: float | None = None,
        errors: Literal["in_bag", "out_of_bag", "validation"] = "in_bag",
        solver: Literal["exact", "authors"] = "exact",
        vote: Literal["labels", "counts", "distributions"] = "labels",
        max_billed_rows: int | None = 20_000,
        split_cost: float | None = None,
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
        """Fit the forest, unless it is, and find all its optimal prunings.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Converted to float64; missing and infinite values are refused.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Whole row weights >= 0. A weight of 3 equals three copies of the row; rows of weight 0
            are left out.
        query_id : array-like of shape (n_samples,), optional
            Query of each row, in blocks. Checked only.
        eval_set : tuple (X, y) or (X, y, query_id), or a list of one, optional
            Validation rows, whose bill is weighed against the errors. Without them, the training
            rows pay.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit, the forest is of another table, or prices are
            too far apart for whole numbers.
        """
        checked = self._checked()
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=False)
        check_queries(query_id, len(rows), "query_id")
        weights = whole_weights(sample_weight, len(rows))
        self._check_prices()
        self.forest_ = self._fitted_forest(X, y, sample_weight)
        self.classes_ = self.forest_.classes_
        kept = weights > 0
        self._encode_known(labels[kept], "y")
        if eval_set is None:
            billed = read_only(rows[kept]), labels[kept], weights[kept]
        else:
            validation = check_rows_with_targets(self, one_eval_set(eval_set))
            billed = *validation, np.ones(len(validation[0]), dtype=np.int64)
        billed = self._drawn(*billed, checked["max_billed_rows"])
        hull = self._hull_by(*billed, checked, "y" if eval_set is None else "eval_set")
        place = hull.chosen(checked["tradeoff"], checked["budget"])
        self._take(hull, place, checked["vote"])
        if len(self.classes_) == 1:
            warnings.warn(
                f"y is constant ({self.classes_.tolist()[0]!r}): the model predicts it for every "
                "row.",
                ConstantModelWarning,
                stacklevel=3,
            )
        return self

    def _drawn(self, X, y, weights, most: int | None):
        """Give the rows that are billed, and say so where they are not all."""
        rows = billed_rows(len(X), most)
        if rows is not None:
            warnings.warn(
                f"{len(rows):,} of {len(X):,} rows are billed, drawn at random: "
                "max_billed_rows=None takes all.",
                UserWarning,
                stacklevel=4,
            )
            X, y, weights = read_only(X[rows]), y[rows], weights[rows]
        self.n_billed_ = len(X)
        return X, y, weights

    def _fitted_forest(self, X, y, sample_weight) -> BudgetForestClassifier:
        """Give the forest to prune; ValueError if it cannot be one, or is of another table."""
        forest = self.forest
        if isinstance(forest, FrozenEstimator):
            return self._taken(forest.estimator)
        if forest is None:
            prices = {name: getattr(self, name) for name in _PRICES}
            prices["split_cost"] = 0.0 if self.split_cost is None else self.split_cost
            drawn = {"n_threads": threads_elsewhere(self), "random_state": self.random_state}
            forest = BudgetForestClassifier(**prices, **drawn)
        if not isinstance(forest, BudgetForestClassifier):
            raise ValueError(
                "forest must be a BudgetForestClassifier, one in a FrozenEstimator, or None, got "
                f"{type(forest).__name__}."
            )
        fitted = clone(forest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantModelWarning)  # said of the pruned forest
            fitted.fit(X, y, sample_weight=sample_weight)
        return fitted

    def _taken(self, forest: object) -> BudgetForestClassifier:
        """Give a forest that is fitted, if it is of this table."""
        if not isinstance(forest, BudgetForestClassifier):
            raise ValueError(
                "forest must hold a BudgetForestClassifier in its FrozenEstimator, got "
                f"{type(forest).__name__}."
            )
        check_is_fitted(forest)
        if forest.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"forest is of another table: it was fitted on {forest.n_features_in_} features, "
                f"and X has {self.n_features_in_}."
            )
        theirs, ours = column_labels(forest), column_labels(self)
        if theirs is not None and ours is not None and list(theirs) != list(ours):
            raise ValueError("forest is of another table: its columns have other names.")
        return forest

    def _encode_known(self, y: np.ndarray, name: str) -> np.ndarray:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            unknown = unknown[:1].tolist()[0]
            raise ValueError(f"{name} has a class that the training data lack: {unknown!r}.")
        return np.searchsorted(self.classes_, y)

    def _checked(self) -> dict:
        checked = checked_parameters(self)
        if checked["solver"] == "authors":
            if checked["budget"] is not None:
                raise ValueError("budget needs solver='exact': the authors' knows one pruning.")
            if checked["tradeoff"] == math.inf:
                raise ValueError("tradeoff must be finite for solver='authors'.")
        return checked

    def _hull_by(self, X, y, weights, checked: dict, name: str) -> Hull:
        """Find all optima, or the authors' pruning, billed by these rows."""
        y, forest, errors = self._encode_known(y, name), self.forest_, checked["errors"]
        judged = {
            "in_bag": lambda: forest.class_counts_,
            "out_of_bag": lambda: forest.out_of_bag_counts_,
            "validation": lambda: class_counts(forest.trees_, X, weights, y, len(self.classes_)),
        }[errors]()
        if forest.n_estimators_ and not judged[forest.trees_.tree[:-1]].any():
            raise ValueError(
                f"errors={errors!r} has no rows to judge by: no tree leaves a row out of its "
                "sample."
            )
        once, per_split = self._check_prices()
        task = programme(_counted(forest), judged, X, weights, once, per_split)
        if checked["solver"] == "authors":
            check_factor("tradeoff", checked["tradeoff"], float(once.shared.sum() + once.own.sum()))
            return authors_pruning(task, checked["tradeoff"])
        return hull_of(task)

    def _take(self, hull: Hull, place: int, vote: str) -> None:
        """Predict by one of the optimal prunings."""
        self._hull, self.point_ = hull, place
        cut = cut_back(_counted(self.forest_), hull.entry <= place)
        self._set_fitted(cut, self.forest_.training_counts_, vote)

    @property
    def curve_(self) -> PruningCurve:
        """All optimal prunings."""
        check_is_fitted(self)
        hull = self._hull
        entered = np.bincount(hull.entry, minlength=len(hull.cost) + 1)[: len(hull.cost)]
        return PruningCurve(
            np.array([float(hull.mean_cost(cost)) for cost in hull.cost]),
            hull.errors / max(1, hull.n_judged),
            np.array([float(least) for least in hull.tradeoffs()]),
            np.cumsum(entered),
        )

    def pruned(
        self,
        *,
        point: int | None = None,
        tradeoff: float | None = None,
        budget: float | None = None,
    ) -> Self:
        """Give the forest at another place of the curve.

        Parameters
        ----------
        point : int, optional
            Place on the curve; alone.
        tradeoff, budget : float, optional
            As the parameters of the same names, in whose place they are.

        Returns
        -------
        estimator
            A fitted copy, whose parameters are those of this estimator but for `tradeoff` and
            `budget` if they are given.

        Raises
        ------
        ValueError
            If a number does not fit, a place is given beside the others, or the solver is not
            exact.
        """
        check_is_fitted(self)
        if self.solver == "authors":
            raise ValueError("solver='authors' knows one pruning: fit another one.")
        other, hull = copy.copy(self), self._hull
        if point is not None:
            if tradeoff is not None or budget is not None:
                raise ValueError("point stands alone: it says which pruning to take.")
            place = check_whole_number("point", point, 0, most=len(hull.cost) - 1)
        else:
            other.tradeoff = 0.0 if tradeoff is None else _check_tradeoff("tradeoff", tradeoff)
            other.budget = _check_budget("budget", budget)
            place = hull.chosen(other.tradeoff, other.budget)
        other._take(hull, place, self._vote)
        return other

    # --- prices -------------------------------------------------------------------------------

    def _priced_by(self) -> BaseEstimator:
        """Whose prices count: this estimator's, or the forest's if it has none."""
        given = any(getattr(self, name) is not None for name in _PRICES)
        forest = getattr(self, "forest_", None)
        return self if given or forest is None else forest

    def _check_prices(self) -> tuple[costs.PriceList, np.ndarray]:
        """Prices of first uses, and of splits by feature."""
        by, names, n_features = self._priced_by(), column_labels(self), self.n_features_in_
        once = costs.price_list(
            by.feature_costs, by.feature_groups, by.group_costs, n_features, names
        )
        split_cost = 0.0 if by.split_cost is None else by.split_cost
        return once, costs.split_prices(split_cost, by.feature_sharing, n_features, names)

    def _grid_prices(self, feature_costs=None, split_cost=None) -> costs.GridPrices:
        unsaid = split_cost is None and self._priced_by().split_cost is None
        return super()._grid_prices(feature_costs, 0.0 if unsaid else split_cost)

    # --- files --------------------------------------------------------------------------------

    def _new_forest(self, params: Mapping[str, Any]) -> BudgetForestClassifier:
        known = known_parameters(BudgetForestClassifier, {"params": params})
        return BudgetForestClassifier(**{name: restored(value) for name, value in known.items()})

    def _check_restored(self) -> None:
        self._checked()
        by = self._priced_by()
        if costs.by_column(by):
            self._check_prices()
        elif by.split_cost is not None:
            costs.check_split_cost(by.split_cost)


def billed_rows(n_rows: int, most: int | None) -> np.ndarray | None:
    """Draw the rows that are billed of more than `most`; None: all."""
    if most is None or n_rows <= most:
        return None
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:most])


def _counted(forest: BudgetForestClassifier) -> CountedForest:
    return CountedForest(forest.trees_, forest.class_counts_, forest.out_of_bag_counts_)
