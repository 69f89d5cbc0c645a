"""Boosted trees for regression and for classification."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from ..estimators.fitting import numbers
from ..estimators.parameters import Parameter
from ..estimators.scoring import ScoredInFull
from ..losses import Loss, class_numbers, probabilities
from ..metrics import labels_of
from .estimator import BoostedTrees


class BoostedRegressor(ScoredInFull, RegressorMixin, BoostedTrees):
    """Squared loss, or the pairs of a ranking (:mod:`algorithms.lambdarank`)."""

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R²; of a ranking, whose scores are in no unit of the targets, ValueError."""
        if self.objective is not None:
            raise ValueError(
                "R² says nothing of a ranking's scores: use algorithms.metrics.ndcg_at_k(y, "
                "predict(X), query_id, k)."
            )
        return super().score(X, y, sample_weight)

    def _encode_targets(self, y) -> tuple[np.ndarray, Loss]:
        return self._encode_known(y), Loss("squared")

    def _encode_known(self, y) -> np.ndarray:
        y = numbers(y)
        if np.max(np.abs(y), initial=0.0) > 1e100:
            raise ValueError("y is too large: its squares would not be finite numbers.")
        return y

    def _decode(self, value):
        return float(value)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict targets; of a ranking, scores by which the documents of a query are ordered.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        return self._scores_of(X)[:, 0]

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Predict with the first 1, 2, … rounds; yields arrays of shape (n_samples,)."""
        for scores in self._staged_raw_scores(self._check_X(X)):
            yield scores[:, 0]


class BoostedClassifier(ScoredInFull, ClassifierMixin, BoostedTrees):
    """Logistic loss for two classes, multinomial for more."""

    _attributes = BoostedTrees._attributes | {
        "classes_": Parameter("ndarray of shape (n_classes,)", "Class labels, ascending.")
    }

    def _encode_targets(self, y) -> tuple[np.ndarray, Loss]:
        check_classification_targets(y)
        self.classes_, encoded = np.unique(y, return_inverse=True)
        n_classes = len(self.classes_)
        loss = Loss("multinomial", n_classes) if n_classes > 2 else Loss("logistic")
        return encoded.astype(class_numbers(n_classes)), loss

    def _encode_known(self, y) -> np.ndarray:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            unknown = unknown[:1].tolist()[0]
            raise ValueError(f"eval_set has a class that the training data lack: {unknown!r}.")
        return np.searchsorted(self.classes_, y).astype(np.int32)

    def _decode(self, value):
        return self.classes_[value : value + 1].tolist()[0]

    def _shape(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        return probabilities(scores)

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        if scores.size == 1:  # arrays on the way would take as long as the trees
            return self.classes_[1:].copy() if scores.item() > 0 else self.classes_[:1].copy()
        return self.classes_[labels_of(scores)]

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Raw scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), float64
            Log-odds of the second class, or one score for each of three classes or more.
        """
        return self._shape(self._scores_of(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Raw scores with the first 1, 2, … rounds, shaped as by :meth:`decision_function`."""
        for scores in self._staged_raw_scores(self._check_X(X)):
            yield self._shape(scores)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), float64
        """
        return self._probabilities(self._scores_of(X))

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Class probabilities with the first 1, 2, … rounds."""
        for scores in self._staged_raw_scores(self._check_X(X)):
            yield self._probabilities(scores)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict classes; equal scores go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), of the dtype of `classes_`
        """
        return self._labels(self._scores_of(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Predict classes with the first 1, 2, … rounds."""
        for scores in self._staged_raw_scores(self._check_X(X)):
            yield self._labels(scores)
