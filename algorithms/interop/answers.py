"""What a forest of another library predicts, as scikit-learn's tools ask for it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags
from sklearn.utils.metaestimators import available_if

from ..estimators.scoring import check_scored
from ..losses import probabilities

if TYPE_CHECKING:
    pass


def _has_classes(forest) -> bool:
    return forest.link is not None


def _has_likelihoods(forest) -> bool:
    return forest.link is not None and forest.link.likelihood is not None


class ForestAnswers:
    """The predictions of a :class:`algorithms.interop.MeteredForest`; a mixin."""

    def fit(self, X: ArrayLike | None = None, y: ArrayLike | None = None) -> Self:
        """Learn nothing: the forest stays as it was read."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        classifies = self.link is not None and self.inverse_link is None
        return Tags(
            estimator_type="classifier" if classifies else "regressor",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags() if classifies else None,
            regressor_tags=None if classifies else RegressorTags(),
            input_tags=InputTags(allow_nan=self.allow_nan),
        )

    @property
    def classes_(self) -> np.ndarray:
        """Class labels, of a classifier."""
        if self.link is None:
            raise AttributeError(f"This {self.library} model is no classifier: no classes_.")
        return self.link.classes

    def as_classifier(self) -> Self:
        """Give the forest with a `predict` that gives classes, as scorers ask for; if it has any.

        Returns
        -------
        MeteredForest
            A copy where `predict` gives likelihoods, as a Booster of LightGBM does; else itself.
        """
        if self.link is None or self.inverse_link is None:
            return self
        classifier = copy.copy(self)
        classifier.inverse_link = None
        return classifier

    def _answer(self, scores: np.ndarray) -> np.ndarray:
        """What `predict` gives of scores (n_samples, n_outputs)."""
        if self.inverse_link is not None:
            return self._shaped(self.inverse_link(scores, self.library))
        return self._shaped(scores) if self.link is None else self.link.labels(scores)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict what the library's own ``predict`` does."""
        return self._answer(self._raw_columns(self._check_X(X)))

    @available_if(_has_classes)
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Raw scores of a classifier; as :meth:`predict_raw`."""
        return self.predict_raw(X)

    @available_if(_has_likelihoods)
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Likelihoods of the classes, where scores are log-odds or their like."""
        return self._likelihoods(self._raw_columns(self._check_X(X)))

    def _likelihoods(self, scores: np.ndarray) -> np.ndarray:
        if len(self.link.classes) == 1:
            return np.ones((len(scores), 1))
        return probabilities(scores)

    def staged_raw(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Raw scores after 1, 2, … rounds."""
        for scores in self._staged_columns(X):
            yield self._shaped(scores)

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """What :meth:`predict` gives after 1, 2, … rounds."""
        for scores in self._staged_columns(X):
            yield np.copy(self._answer(scores))

    @available_if(_has_classes)
    def staged_decision_function(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """What :meth:`decision_function` gives after 1, 2, … rounds."""
        yield from self.staged_raw(X)

    @available_if(_has_likelihoods)
    def staged_predict_proba(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """What :meth:`predict_proba` gives after 1, 2, … rounds."""
        for scores in self._staged_columns(X):
            yield self._likelihoods(scores)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of a forest that has classes, else R²."""
        check_scored(y, sample_weight)
        metric = r2_score if self.link is None else accuracy_score
        predicted = self.as_classifier().predict(X)
        return float(metric(y, predicted, sample_weight=sample_weight))
