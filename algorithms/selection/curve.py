"""Score and cost of an additive model after each of its rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags

from ..validation.columns import refuse_masked
from ..validation.types import FeatureCosts
from .scoring import as_scored, inner_rows, last_step

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..validation.types import Scoring

_ANSWERS = ("predict", "predict_proba", "decision_function")


def cost_curve(
    estimator: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    scoring: Scoring | None = None,
    feature_costs: FeatureCosts = None,
    split_cost: float | None = None,
) -> DataFrame:
    """Score and mean prediction cost after each number of rounds.

    One walk through the model serves all rounds.

    Parameters
    ----------
    estimator : fitted estimator with ``staged_predict`` and ``staged_cost``
        Boosted trees of this package, or a Pipeline that ends with them.
    X : array-like of shape (n_samples, n_features)
        With missing values (NaN) if the model takes them, as the boosted trees do.
    y : array-like of shape (n_samples,)
    scoring : str or callable, optional
        As scikit-learn's: a name or ``(model, X, y) -> float``, larger is better, which may ask the
        model for ``predict``, ``predict_proba`` and ``decision_function`` of these rows. None:
        accuracy of a classifier, else R².
    feature_costs, split_cost : optional
        Charge these prices instead of the estimator's own.

    Returns
    -------
    DataFrame
        A row for each number of rounds: ``rounds`` (int64), ``score`` (float64), ``cost`` (float64,
        per row, in the unit of the prices), ``on_frontier`` (bool: no other number of rounds has at
        least that score for at most that cost, and one of the two better).

    Raises
    ------
    TypeError
        If the model cannot be followed round by round.
    ValueError
        If it has no rounds, or an input does not fit, missing values that it does not take and
        targets that a mask hides among them.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.cegb import CEGBRegressor
    >>> from algorithms.selection import cost_curve
    >>> X = np.arange(100.0)[:, None]
    >>> model = CEGBRegressor(n_estimators=2, feature_costs=[2.0]).fit(X, X[:, 0] >= 50)
    >>> cost_curve(model, X, X[:, 0] >= 50)
       rounds   score  cost  on_frontier
    0       1  0.1900   2.0        False
    1       2  0.3439   2.0         True
    """
    import pandas as pd  # nothing else of this package needs it

    refuse_masked(y, "y")
    model, X = last_step(as_scored(estimator)), inner_rows(estimator, X)
    for method in ("staged_predict", "staged_cost"):
        if not callable(getattr(model, method, None)):
            raise TypeError(
                f"{type(model).__name__} has no {method}(X): cost_curve needs a model that can be "
                "followed round by round, such as the boosted trees of this package."
            )
    stages = _Stages(model, X)
    scorer = check_scoring(model, scoring or _default_scoring(model))
    rows = []
    for cost in model.staged_cost(X, feature_costs=feature_costs, split_cost=split_cost):
        stages.n_rounds += 1
        rows.append((stages.n_rounds, float(scorer(stages, X, y)), float(np.mean(cost))))
    if not rows:
        raise ValueError("The model has no rounds: it is constant, and there is no curve.")
    table = pd.DataFrame(rows, columns=["rounds", "score", "cost"])
    return table.assign(on_frontier=on_frontier(table["score"], table["cost"]))


def on_frontier(score: ArrayLike, cost: ArrayLike) -> np.ndarray:
    """Tell which models no other one dominates: with at least the score for at most the cost.

    One of the two must be better. A model that has no score (NaN) is never on the frontier.
    """
    score, cost = np.asarray(score, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    kept = np.zeros(len(score), dtype=bool)
    best = -np.inf
    scored = np.flatnonzero(~np.isnan(score) & ~np.isnan(cost))
    order = scored[np.lexsort((-score[scored], cost[scored]))]
    price = np.nan
    for i in order:
        if score[i] > best:
            best, price = score[i], cost[i]
            kept[i] = True
        else:  # an equal one, which is as good
            kept[i] = score[i] == best and cost[i] == price
    return kept


def _default_scoring(model) -> str:
    return "accuracy" if get_tags(model).estimator_type == "classifier" else "r2"


class _Stages(BaseEstimator):
    """A fitted model after `n_rounds` rounds, as a scorer sees it: it answers for `X` alone."""

    def __init__(self, model, X) -> None:
        self.model = model
        self.X = X
        self.n_rounds = 0
        self._answers: dict[str, tuple] = {}

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self):
        return get_tags(self.model)

    def __getattr__(self, name: str):
        if name in _ANSWERS and hasattr(self.model, f"staged_{name}"):

            def answer(X):
                return self._answer(name, X)

            answer.__name__ = name  # scorers ask a method for its name
            return answer
        if name in ("classes_", "n_features_in_", "feature_names_in_"):
            return getattr(self.model, name)
        raise AttributeError(name)

    def _answer(self, name: str, X) -> np.ndarray:
        """Answer at the present round; what is asked twice is computed once."""
        if X is not self.X:
            raise ValueError("scoring may ask only for predictions of the rows it is given.")
        if name not in self._answers:
            self._answers[name] = (getattr(self.model, f"staged_{name}")(X), 0, None)
        generator, at, value = self._answers[name]
        while at < self.n_rounds:
            value, at = next(generator), at + 1
        self._answers[name] = generator, at, value
        return value
