"""Turney's total cost: what a prediction's features cost, and what its error costs, in one unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..inputs.masks import refuse_masked
from ..metering.errors import error_costs
from .scoring import as_scored, last_step, prediction_cost


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


@dataclass(frozen=True, eq=False)
class TotalCostScorer:
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

    def __call__(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score a fitted model.

        Parameters
        ----------
        estimator, X, y
            As of :func:`total_cost`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the mean.

        Returns
        -------
        float
            In the unit of the prices, at most 0.

        Raises
        ------
        TypeError, ValueError
            As :func:`total_cost`; and if a mask hides weights.
        """
        refuse_masked(sample_weight, "sample_weight")
        costs = total_cost(estimator, X, y, self.confusion_costs)
        mean = np.mean(costs) if sample_weight is None else np.average(costs, weights=sample_weight)
        return -float(mean)
