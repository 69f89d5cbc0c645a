"""What a model says of the raw columns that its features are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from ..estimators.scoring import check_scored


def bought(acquired: Any, needs: np.ndarray) -> np.ndarray:
    """Whether each row needs each purchase, (n_samples, n_purchases) bool."""
    return np.asarray(acquired @ needs.astype(np.int64)) > 0


def can(name: str) -> Callable[[Any], bool]:
    """Whether the model that answers has a method; asked by scikit-learn's ``available_if``."""
    return lambda self: hasattr(self._answering(), name)


class OnRawColumns:
    """Predictions and bills of a model, asked by raw columns; a mixin.

    A subclass defines `_rows`, and `model_` (fitted) and `needs_` as attributes.
    """

    if TYPE_CHECKING:
        model_: Any
        needs_: np.ndarray

    def _rows(self, X: Any) -> Any:
        """Rows as the model sees them."""
        raise NotImplementedError

    def _answering(self) -> Any:
        """Give the model, fitted or not yet."""
        return self.model_

    def _asked(self, name: str, X: Any, *more: Any) -> Any:
        """What a method of the model says of rows."""
        return getattr(self.model_, name)(self._rows(X), *more)

    def acquired_features(self, X: ArrayLike) -> np.ndarray:
        """Raw columns that each row's features need.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_samples, n_columns), bool
        """
        return bought(self._asked("acquired_features", X), self.needs_)

    def evaluations(self, X: ArrayLike) -> np.ndarray:
        """Split nodes, or base classifiers, that each row passes: (n_samples,) int64."""
        return self._asked("evaluations", X)

    @available_if(can("model_features"))
    def model_features(self) -> np.ndarray:
        """Raw columns that any feature in use needs: ndarray of shape (n_columns,), bool."""
        return self.needs_[self.model_.model_features()].any(axis=0)

    # --- what it predicts ---------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict as the model does: ndarray of shape (n_samples,)."""
        return self._asked("predict", X)

    @available_if(can("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class probabilities: ndarray of shape (n_samples, n_classes), float64."""
        return self._asked("predict_proba", X)

    @available_if(can("decision_function"))
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Raw scores, shaped as by the model."""
        return self._asked("decision_function", X)

    @available_if(can("staged_predict"))
    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Predict with the first 1, 2, … rounds; yields arrays of shape (n_samples,)."""
        yield from self._asked("staged_predict", X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score as the model does: accuracy of a classifier, R² of a regressor.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_columns)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If a mask hides targets or weights.
        """
        check_scored(y, sample_weight)
        return self._asked("score", X, y, sample_weight)
