"""McRank's expected grade: by hand, and against what the probabilities really are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from algorithms.adaboost_mh import AdaBoostMH
from experiments.mddag_2012.cells.expected_grade import class_probabilities, expected_grade

KINDS = ["uniform", "balanced"]


def test_by_hand():
    # σ(2f) of f = ½ log 3, ½ log(1/3), 0: 3/4, 1/4, 1/2, together 3/2.
    f = [[0.5 * np.log(3), -0.5 * np.log(3), 0.0]]
    np.testing.assert_allclose(class_probabilities(f), [[1 / 2, 1 / 6, 1 / 3]], rtol=1e-14)
    np.testing.assert_allclose(expected_grade(f, [0, 1, 2]), [1 / 6 + 2 / 3], rtol=1e-14)
    # Balanced, the odds are half of that: 3/5, 1/7, 1/3.
    balanced = np.array([3 / 5, 1 / 7, 1 / 3])
    np.testing.assert_allclose(
        class_probabilities(f, initial_weights="balanced")[0], balanced / balanced.sum(), rtol=1e-14
    )
    f = np.array([-0.3, 0.0, 2.0])  # one score for two grades
    np.testing.assert_allclose(class_probabilities(f)[:, 1], expit(2 * f), rtol=1e-14)
    np.testing.assert_allclose(expected_grade(f, [10, 20]), 10 + 10 * expit(2 * f), rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_any_size_give_probabilities(kind):
    scores = np.random.default_rng(2007).choice([-1e300, -400.0, 0.0, 400.0, 1e300], (50, 4))
    np.testing.assert_allclose(class_probabilities(scores, kind).sum(axis=1), 1.0, rtol=1e-12)
    grades = np.array([2.0, -1.0, 0.5, 0.0])
    expected = expected_grade(scores, grades, kind)
    assert (expected >= grades.min() - 1e-9).all()
    assert (expected <= grades.max() + 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weak_learner", ["stump", "hamming_tree"])
def test_boosting_on_cells_finds_their_grades(kind, weak_learner):
    """Rows that only their cell tells apart: the loss is least at the shares of each cell."""
    shares = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]])
    counts = np.rint(shares * 1000).astype(int)
    cell = np.repeat(np.arange(4), 1000)
    y = np.concatenate([np.repeat([0, 1, 2], of_cell) for of_cell in counts])
    model = AdaBoostMH(n_estimators=600, initial_weights=kind, weak_learner=weak_learner)
    model.fit(np.eye(4, dtype=np.uint8)[cell], y)
    f = model.decision_function(np.eye(4, dtype=np.uint8))
    np.testing.assert_allclose(class_probabilities(f, initial_weights=kind), shares, atol=0.005)
    expected = expected_grade(f, model.classes_, initial_weights=kind)
    np.testing.assert_allclose(expected, shares @ [0, 1, 2], atol=0.01)
