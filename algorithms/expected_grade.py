"""McRank's expected grade: from the scores of a classifier of grades to one score for ranking.

P. Li, C. Burges, Q. Wu: McRank: learning to rank using multiple classification and gradient
boosting. Advances in Neural Information Processing Systems 20 (2007), pages 897-904. The reference
is :mod:`reference.expected_grade`, with the choices where the papers are silent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .estimators.parameters import check_choice

_LARGEST_SCORE = 1e300  # twice as much is finite, too


def _checked(scores, n_grades: int | None) -> np.ndarray:
    """Scores (n, n_labels) float64; of one label, which stands for two grades, both signs."""
    scores = np.asarray(scores, dtype=np.float64, order="C")
    if scores.ndim not in (1, 2) or (scores.ndim == 2 and scores.shape[1] < 2):
        raise ValueError(
            "scores must be (n_samples,) for two grades, or (n_samples, n_grades) for more; got an "
            f"array of shape {scores.shape}."
        )
    if not np.all(np.abs(scores) <= _LARGEST_SCORE):
        raise ValueError("scores must be finite numbers, none beyond 1e300.")
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if n_grades is not None and scores.shape[1] != n_grades:
        raise ValueError(f"The scores are of {scores.shape[1]} grades, and there are {n_grades}.")
    return scores


def class_probabilities(scores: ArrayLike, *, initial_weights: str = "uniform") -> np.ndarray:
    """Class probabilities of a classifier that was boosted by the exponential loss of each label.

    A label's loss is least where its score is half its log-odds, so the probability is
    σ(2 f_l); these are divided by their sum over the labels. Nothing is fitted.

    Parameters
    ----------
    scores : array-like of shape (n_samples,) or (n_samples, n_classes)
        As `decision_function` of :class:`algorithms.adaboost_mh.AdaBoostMH` gives them: of the
        second of two classes, or of each of three or more. Of a part of the model's rounds, too.
    initial_weights : {"uniform", "balanced"}
        The parameter that the model was trained with. Balanced ones move the log-odds by
        log(n_classes - 1), which is taken back.

    Returns
    -------
    ndarray of shape (n_samples, n_classes), float64

    Raises
    ------
    ValueError
        If the scores are of another shape or not finite, or the initial weights are unknown.

    Examples
    --------
    >>> from algorithms.expected_grade import class_probabilities
    >>> class_probabilities([0.0, 1.0]).round(3).tolist()
    [[0.5, 0.5], [0.119, 0.881]]
    """
    check_choice("initial_weights", initial_weights, ("uniform", "balanced"))
    return _probabilities(_checked(scores, None), initial_weights)


def _probabilities(scores: np.ndarray, initial_weights: str) -> np.ndarray:
    offset = np.log(scores.shape[1] - 1.0) if initial_weights == "balanced" else 0.0
    logs = -np.logaddexp(0.0, -(2.0 * scores - offset))
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))  # the largest is 1: no sum is 0
    # Added up in the order of the labels: numpy's own sum depends on the layout.
    return likely / np.cumsum(likely, axis=1)[:, -1:]


def expected_grade(
    scores: ArrayLike, grades: ArrayLike, *, initial_weights: str = "uniform"
) -> np.ndarray:
    """Score of documents for ranking: the mean of their grade by the class probabilities.

    Parameters
    ----------
    scores : array-like of shape (n_samples,) or (n_samples, n_grades)
        See :func:`class_probabilities`.
    grades : array-like of shape (n_grades,)
        Grade of each class in the order of the scores: `classes_` of the model.
    initial_weights : {"uniform", "balanced"}
        See :func:`class_probabilities`.

    Returns
    -------
    ndarray of shape (n_samples,), float64
        In the unit of the grades, between the smallest and the largest.

    Raises
    ------
    ValueError
        If the scores or grades are of another shape or not finite, or the initial weights are
        unknown.

    Examples
    --------
    >>> from algorithms.expected_grade import expected_grade
    >>> expected_grade([[9.0, -9.0, -9.0], [-9.0, 0.0, 0.0]], [0, 1, 2]).round(3).tolist()
    [0.0, 1.5]
    """
    check_choice("initial_weights", initial_weights, ("uniform", "balanced"))
    grades = np.asarray(grades, dtype=np.float64)
    if grades.ndim != 1 or not np.all(np.isfinite(grades)):
        raise ValueError("grades must be a list of finite numbers.")
    probabilities = _probabilities(_checked(scores, len(grades)), initial_weights)
    return np.cumsum(probabilities * grades, axis=1)[:, -1]
