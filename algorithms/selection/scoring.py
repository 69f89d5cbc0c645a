"""What predictions cost, as scikit-learn scores models; and an assertion for one's own tests."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from ..cost_meter.errors import error_costs
from ..estimators.parameters import check_number, shown
from ..validation.columns import refuse_masked

if TYPE_CHECKING:
    from ..validation.types import Scoring

_ROUNDING = 1e-9  # of a budget: prices are not the decimals that they are written as


class Measured(NamedTuple):
    """A model's score, and the mean cost of its predictions."""

    score: float  # Larger is better
    cost: float  # Per row, in the unit of the prices


# --- through pipelines ----------------------------------------------------------------------------


def last_step(model: Any) -> Any:
    """Give the predictor inside pipelines: of no pipeline the model itself."""
    while isinstance(model, Pipeline):
        model = model[-1]
    return model


def with_last_step(model: Any, change: Callable[[Any], Any]) -> Any:
    """Give a model, or a copy of its pipelines, with the predictor that a function makes of it."""
    if not isinstance(model, Pipeline):
        return change(model)
    pipeline = copy.copy(model)
    pipeline.steps = [*model.steps[:-1], (model.steps[-1][0], with_last_step(model[-1], change))]
    return pipeline


def as_scored(model: Any) -> Any:
    """Give what scorers ask: of a forest that predicts likelihoods (a Booster's), its classes."""
    return with_last_step(model, lambda m: m.as_classifier() if hasattr(m, "as_classifier") else m)


def inner_rows(model: Any, X: ArrayLike) -> Any:
    """Rows as the predictor inside pipelines sees them."""
    while isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model) > 1 else X
        model = model[-1]
    return X


# --- bills ----------------------------------------------------------------------------------------


def check_metered(model: Any) -> None:
    """Refuse a model that cannot say what its predictions cost, fitted or not (TypeError)."""
    inner = last_step(model)
    if not callable(getattr(inner, "prediction_cost", None)):
        raise TypeError(
            f"{type(inner).__name__} has no prediction_cost(X): take an estimator of this package, "
            "read a fitted model of LightGBM, CatBoost or scikit-learn with algorithms.interop, or "
            "give the class that method."
        )


def prediction_cost(model: Any, X: ArrayLike) -> np.ndarray:
    """Cost of predicting each row, also through pipelines.

    Parameters
    ----------
    model : fitted estimator with ``prediction_cost``, or a Pipeline that ends with one
        Its prices are those of the columns that it sees: steps before it are free, and must keep
        columns as they are (a scaler, say) if the prices are to mean what they did.
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples,), float64
        In the unit of the prices.

    Raises
    ------
    TypeError
        If the model has no ``prediction_cost``.
    ValueError
        If that does not give a finite number >= 0 for each row.
    """
    check_metered(model)
    rows = inner_rows(model, X)
    name = type(last_step(model)).__name__
    costs = np.asarray(last_step(model).prediction_cost(rows), dtype=np.float64)
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if costs.shape != (n_rows,):
        raise ValueError(
            f"prediction_cost of {name} must give one number for each of {n_rows} rows, got shape "
            f"{costs.shape}."
        )
    if not np.all(np.isfinite(costs) & (costs >= 0)):
        raise ValueError(f"prediction_cost of {name} must give finite numbers >= 0.")
    return costs


def total_cost(model: Any, X: ArrayLike, y: ArrayLike, confusion_costs: Any) -> np.ndarray:
    """Cost of each row's prediction, features and error together.

    P. D. Turney: Cost-Sensitive Classification: Empirical Evaluation of a Hybrid Genetic Decision
    Tree Induction Algorithm. JAIR 2 (1995), pages 369-409, section 2.2: the cost of classifying a
    case is that of the tests chosen for it plus C(guessed, actual). Here rows of the matrix are
    actual classes and columns guessed ones, as scikit-learn's ``confusion_matrix`` has them, which
    is Turney's transposed. The reference is :func:`reference.costs.total_cost`.

    Parameters
    ----------
    model : fitted classifier with ``prediction_cost``, or a Pipeline that ends with one
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True classes, all of them known to the model.
    confusion_costs : array-like of shape (n_classes, n_classes), nested mapping or DataFrame
        Price of each error, in the unit of the features' prices: a row for each true class and a
        column for each predicted one, in the order of ``model.classes_``; or by label,
        ``{true: {predicted: price}}``, where what is right costs 0 unless it is there.

    Returns
    -------
    ndarray of shape (n_samples,), float64
        In the unit of the prices.

    Raises
    ------
    TypeError
        If the model is no classifier or has no ``prediction_cost``.
    ValueError
        If prices or classes do not fit.

    Examples
    --------
    A miss costs 10, a false alarm 1; the feature costs 2.

    >>> import numpy as np
    >>> from algorithms.cegb import CEGBClassifier
    >>> from algorithms.selection import total_cost
    >>> X = np.arange(100.0)[:, None]
    >>> model = CEGBClassifier(feature_costs=[2.0]).fit(X, X[:, 0] >= 50)
    >>> total_cost(model, [[10.0], [90.0], [90.0]], [True, False, True], [[0, 1], [10, 0]])
    array([12.,  3.,  2.])
    """
    bills = prediction_cost(model, X)
    classifier = as_scored(model)
    classes = getattr(last_step(classifier), "classes_", None)
    if classes is None:
        raise TypeError(
            f"{type(last_step(model)).__name__} has no classes: confusion_costs are prices of "
            "wrong classes."
        )
    if len(np.asarray(y)) != len(bills):
        raise ValueError(f"y must have one class for each of the {len(bills)} rows.")
    return bills + error_costs(y, classifier.predict(X), np.asarray(classes), confusion_costs)


# --- scorers --------------------------------------------------------------------------------------


class CostScorer:
    """Minus the mean cost of a prediction, where scikit-learn takes a scorer; more is better.

    :data:`cost_scorer` is the one there is. It stands beside others:
    ``scoring={"accuracy": "accuracy", "cost": cost_scorer}``.
    """

    _requested: bool | str | None = None

    def __call__(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score a fitted model."""
        refuse_masked(sample_weight, "sample_weight")
        return -float(np.average(self._costs(estimator, X, y), weights=sample_weight))

    def _costs(self, estimator, X, y) -> np.ndarray:
        return prediction_cost(estimator, X)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Say whether scikit-learn's metadata routing is to hand on row weights."""
        scorer = copy.copy(self)
        scorer._requested = sample_weight
        return scorer

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn's metadata routing what :meth:`set_score_request` has said."""
        request = MetadataRequest(owner=type(self).__name__)
        request.score.add_request(param="sample_weight", alias=self._requested)
        return request

    def _accept_sample_weight(self) -> bool:  # scikit-learn asks where it does not route
        return True


cost_scorer = CostScorer()


@dataclass(eq=False)
class TotalCostScorer(CostScorer):
    """Minus the mean total cost of a row, where scikit-learn takes a scorer; more is better.

    ``GridSearchCV(model, grid, scoring=TotalCostScorer(confusion_costs))`` chooses the model that
    is cheapest altogether.

    Parameters
    ----------
    confusion_costs : array-like of shape (n_classes, n_classes), nested mapping or DataFrame
        As of :func:`total_cost`. Checked when the first model is scored, for it is the model that
        knows the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from algorithms.cegb import CEGBClassifier
    >>> from algorithms.selection import TotalCostScorer
    >>> X = np.arange(100.0)[:, None]
    >>> model = CEGBClassifier(n_estimators=2, feature_costs=[2.0])
    >>> search = GridSearchCV(
    ...     model, {"tradeoff": [1e-3, 1e3]}, scoring=TotalCostScorer([[0, 9], [9, 0]]), cv=2
    ... )
    >>> search.fit(X, X[:, 0] >= 50).best_params_
    {'tradeoff': 0.001}
    """

    confusion_costs: Any

    def _costs(self, estimator, X, y) -> np.ndarray:
        return total_cost(estimator, X, y, self.confusion_costs)


# --- budgets --------------------------------------------------------------------------------------


def check_budget(name: str, value: object) -> float:
    """Give a budget as a float: a number >= 0, or infinity; refuse anything else."""
    infinite = isinstance(value, Real) and not isinstance(value, bool) and value == math.inf
    return math.inf if infinite else check_number(name, value)


def is_within(cost: ArrayLike, budget: float) -> Any:
    """Tell which costs are at most a budget, or above it by rounding alone (1e-9 of it).

    Three features of 0.1 cost 0.3, though the sum of the numbers next to them is more.
    """
    return cost <= budget + _ROUNDING * budget


def assert_budget(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    min_score: float | None = None,
    max_cost: float | None = None,
    scoring: Scoring | None = None,
) -> Measured:
    """Assert, in a test of one's own, that a model still scores and costs what it should.

    Parameters
    ----------
    model : fitted estimator with ``prediction_cost``, or a Pipeline that ends with one
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    min_score : float, optional
        Smallest score allowed.
    max_cost : float, optional
        Largest mean cost of a prediction allowed, in the unit of the prices; above it by rounding
        alone (1e-9 of it) is allowed.
    scoring : str or callable, optional
        As scikit-learn's: a name or ``(model, X, y) -> float``; None: the model's own ``score``.

    Returns
    -------
    Measured
        Score and cost.

    Raises
    ------
    AssertionError
        If the score is too low or the cost too high; it has both numbers and both limits.
    ValueError
        If no limit is given, or one is no number, or a mask hides targets.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.cegb import CEGBClassifier
    >>> from algorithms.selection import assert_budget
    >>> X = np.arange(100.0)[:, None]
    >>> model = CEGBClassifier(feature_costs=[2.0]).fit(X, X[:, 0] >= 50)
    >>> assert_budget(model, X, X[:, 0] >= 50, min_score=0.9, max_cost=2.0)
    Measured(score=1.0, cost=2.0)
    """
    if min_score is None and max_cost is None:
        raise ValueError("assert_budget needs min_score, max_cost or both.")
    if min_score is not None and (
        not isinstance(min_score, Real) or isinstance(min_score, bool) or math.isnan(min_score)
    ):
        raise ValueError(f"min_score must be a number, got {shown(min_score)}.")
    limit = None if max_cost is None else check_budget("max_cost", max_cost)
    refuse_masked(y, "y")
    scored = as_scored(model)
    score = float(check_scoring(scored, scoring)(scored, X, y))
    measured = Measured(score, -cost_scorer(model, X))
    problems = []
    if min_score is not None and not measured.score >= min_score:
        problems.append(f"the score {measured.score:.6g} is below min_score={min_score:g}")
    if limit is not None and not is_within(measured.cost, limit):
        problems.append(f"the mean prediction cost {measured.cost:.6g} is above max_cost={limit:g}")
    if problems:
        raise AssertionError(
            f"{' and '.join(problems)} (score {measured.score:.6g}, cost {measured.cost:.6g}, "
            f"{len(y)} rows)."
        )
    return measured
