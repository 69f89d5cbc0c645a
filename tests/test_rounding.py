"""Boosting ends with a perfect fit: what rounding leaves of it is neither split nor paid for."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from reference import cegb, gbrt, greedy_miser
from tests.twins import assert_same_trees, fit_twins

REGRESSORS = [
    (GBRTRegressor, gbrt),
    (CEGBRegressor, cegb),
    (GreedyMiserRegressor, greedy_miser),
]
X = np.random.default_rng(0).integers(0, 3, size=(120, 4)).astype(float)
TARGETS = {
    "two values": np.where(X[:, 0] > 0, 0.1, 0.3),
    "two features": 0.1 * X[:, 0] + 0.7 * X[:, 1],
    "large": 1e60 * (X[:, 0] + 0.3),
    "small": 1e-60 * (X[:, 0] + 0.3),
}
DEEP = {"min_samples_leaf": 1, "max_depth": 4, "n_estimators": 1000}


@pytest.mark.parametrize(("cls", "reference"), REGRESSORS)
@pytest.mark.parametrize("name", list(TARGETS))
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tree_that_fits_all_is_the_last(cls, reference, name, weighted):
    y, weights = TARGETS[name], None
    if weighted:
        weights = np.random.default_rng(1).random(len(y)) + 0.5
    model = cls(**DEEP, learning_rate=1.0)
    assert_same_trees(model, fit_twins(model, reference, X, y, weights=weights))
    assert model.n_estimators_ == 1
    np.testing.assert_allclose(model.predict(X), y, rtol=0, atol=4e-9 * y.max())
    assert model.model_features().sum() == (2 if name == "two features" else 1)


@pytest.mark.parametrize(
    ("cls", "reference", "offset"), [(*REGRESSORS[0], 0.0), *((*each, 1e5) for each in REGRESSORS)]
)
def test_small_steps_end_where_residuals_are_rounding(cls, reference, offset):
    y = TARGETS["two features"] + offset
    model = cls(**DEEP, learning_rate=0.3, init="mean")
    assert_same_trees(model, fit_twins(model, reference, X, y))
    assert 30 < model.n_estimators_ < 80
    np.testing.assert_allclose(model.predict(X), y, rtol=0, atol=4e-9 * y.max())


@pytest.mark.parametrize(
    ("cls", "reference"),
    [
        (GBRTClassifier, gbrt),
        (CEGBClassifier, cegb),
        (GreedyMiserClassifier, greedy_miser),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_saturated_probabilities_are_not_split(cls, reference, n_classes):
    """Whoever lets leaves of no hessian be made comes to probabilities that are 0 and 1."""
    y = np.minimum(X[:, 0].astype(int), n_classes - 1)
    options = {"learning_rate": 8.0, "min_hessian_leaf": 0.0}
    if cls is GreedyMiserClassifier:  # one step to there: later ones are as small as residuals
        options = {"learning_rate": 72.0 if n_classes == 2 else 36.0, "init": "zero"}
    model = cls(**DEEP, **options)
    assert_same_trees(model, fit_twins(model, reference, X, y))
    assert model.score(X, y) == 1.0
    assert model.n_estimators_ < 60
    probabilities = model.predict_proba(X)[np.arange(len(y)), y]
    assert 1 - probabilities.min() < 1e-11
