"""``score`` of every estimator: scikit-learn's, and what a mask hides is refused."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..validation.columns import refuse_masked


def check_scored(y: object, sample_weight: object) -> None:
    """Refuse targets and weights of `score` that a mask hides (ValueError)."""
    refuse_masked(y, "y")
    refuse_masked(sample_weight, "sample_weight")


class ScoredInFull:
    """A mixin before scikit-learn's, whose metrics read past a mask."""

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of a classifier, R² of a regressor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            In scikit-learn's other forms where the estimator is fitted on them.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If a mask hides targets or weights, and as ``predict``.
        """
        check_scored(y, sample_weight)
        return super().score(X, y, sample_weight=sample_weight)
