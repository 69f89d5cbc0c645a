"""What predictions cost, as scikit-learn scores models; and an assertion for one's own tests."""

from __future__ import annotations

import copy
import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..estimators.parameters import check_number, shown
from ..inputs.masks import hides_values, refuse_masked

if TYPE_CHECKING:
    from ..inputs.types import Scoring

_ROUNDING = 1e-9  # of a budget: prices are not the decimals that they are written as


class Measured(NamedTuple):
    """A model's score, and the mean cost of its predictions.

    Attributes
    ----------
    score : float
        Larger is better.
    cost : float
        Per row, in the unit of the prices.
    """

    score: float
    cost: float


def last_step(model: Any) -> Any:
    """Give the predictor inside pipelines: of no pipeline the model itself."""
    while isinstance(model, Pipeline):
        model = model[-1]
    return model


def check_metered(model: Any) -> None:
    """Refuse a model that cannot say what its predictions cost, fitted or not (TypeError)."""
    inner = last_step(model)
    if not callable(getattr(inner, "prediction_cost", None)):
        raise TypeError(
            f"{type(inner).__name__} has no prediction_cost(X): take an estimator of this package, "
            "read a fitted model of LightGBM, CatBoost or scikit-learn with algorithms.interop, or "
            "give the class that method."
        )


def takes_missing(model: Any) -> bool:
    """Whether a model, or what comes first in its pipelines, takes missing values by its tags."""
    return not hasattr(_first(model), "__sklearn_tags__") or bool(
        get_tags(_first(model)).input_tags.allow_nan
    )


def as_scored(model: Any) -> Any:
    """Give what scorers ask: of a forest that predicts likelihoods (a Booster's), its classes."""
    if not isinstance(model, Pipeline):
        return model.as_classifier() if hasattr(model, "as_classifier") else model
    pipeline = copy.copy(model)
    pipeline.steps = [*model.steps[:-1], (model.steps[-1][0], as_scored(model[-1]))]
    return pipeline


def check_missing(model: Any, X: ArrayLike) -> None:
    """Refuse missing values that a model does not take (ValueError)."""
    if not takes_missing(model) and _some_missing(X):
        raise ValueError(
            f"X has missing values (NaN), which {type(_first(model)).__name__} does not take: "
            "boosted trees of this package do, or put an imputer before it in a Pipeline."
        )


def _first(model):
    """What sees the rows first: of a pipeline its first step that does anything."""
    while isinstance(model, Pipeline):
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        if not steps:
            break
        model = steps[0]
    return model


def _some_missing(X) -> bool:
    if hasattr(X, "isna"):
        return bool(X.isna().to_numpy().any())
    if hides_values(X):
        return True
    values = X.data if issparse(X) else np.asarray(X)
    if values.dtype.kind == "O":
        return any(value is None or value != value for value in values.ravel())
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def inner_rows(model: Any, X: ArrayLike) -> Any:
    """Rows as the predictor inside pipelines sees them."""
    while isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model) > 1 else X
        model = model[-1]
    return X


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


def cost_scorer(
    estimator: object,
    X: ArrayLike,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Score a model by what it costs: minus the mean cost of a prediction, so that more is better.

    It goes where scikit-learn takes a scorer, beside others:
    ``scoring={"accuracy": "accuracy", "cost": cost_scorer}``.

    Parameters
    ----------
    estimator : fitted estimator with ``prediction_cost``, or a Pipeline that ends with one
    X : array-like of shape (n_samples, n_features)
    y : ignored
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the mean.

    Returns
    -------
    float
        In the unit of the prices.

    Raises
    ------
    TypeError, ValueError
        As :func:`prediction_cost`; and if a mask hides weights.
    """
    refuse_masked(sample_weight, "sample_weight")
    costs = prediction_cost(estimator, X)
    mean = np.mean(costs) if sample_weight is None else np.average(costs, weights=sample_weight)
    return -float(mean)


def check_budget(name: str, value: object) -> float:
    """Give a budget as a float: a number >= 0, or infinity; refuse anything else."""
    infinite = isinstance(value, Real) and not isinstance(value, bool) and value == math.inf
    return math.inf if infinite else check_number(name, value)


def is_within(cost: ArrayLike, budget: float) -> Any:
    """Tell what is within a budget: at most it, or above it by rounding alone (1e-9 of it).

    Three features of 0.1 cost 0.3, though the sum of the numbers next to them is more.

    Parameters
    ----------
    cost : float or ndarray
    budget : float

    Returns
    -------
    bool or ndarray of bool
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
        Largest mean cost of a prediction allowed, in the unit of the prices; see :func:`is_within`.
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
