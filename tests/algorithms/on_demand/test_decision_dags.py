"""Decision DAGs on demand: a row buys what the base classifiers that it evaluates test."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.mddag import MDDAGClassifier, MDDAGRegressor
from algorithms.on_demand import OnDemandPredictor
from tests.algorithms.on_demand.test_predictor import Functions, assert_accounted

PRICES = np.array([1.0, 2.0, 0.5, 4.0, 3.0])
GROUPS = {"feature_groups": [3, 4, 3, 4, 5], "group_costs": {3: 8.0, 4: 0.5, 5: 2.0}}
MODELS = {
    "stumps": (MDDAGClassifier, AdaBoostMH(n_estimators=15), 2),
    "stumps of three classes": (MDDAGClassifier, AdaBoostMH(n_estimators=15), 3),
    "trees for each class": (MDDAGClassifier, GBRTClassifier(n_estimators=6, max_leaves=4), 3),
    "numbers": (MDDAGRegressor, GBRTRegressor(n_estimators=10, max_leaves=4), None),
}


def fitted(kind, **options):
    cls, estimator, n_classes = MODELS[kind]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X[:, 0] + np.abs(X[:, 1]) * X[:, 2]
    if n_classes is not None:
        y = np.digitize(y, [0.0, 1.0][: n_classes - 1])
    options = {"beta": 1e-3, "solver": "descent", "tree_cost": 0.25, **options}
    return cls(estimator, feature_costs=PRICES, split_cost=0.125, **options).fit(X, y), X


@pytest.mark.parametrize("groups", [{}, GROUPS], ids=["features", "groups with remainders"])
@pytest.mark.parametrize("kind", list(MODELS))
def test_equals_the_full_matrix(kind, groups):
    model, X = fitted(kind, **groups)
    assert 0 < model.evaluations(X).mean() < model.n_base_
    for batch_size in (7, 1024):
        functions = Functions(model, X)
        predictor = OnDemandPredictor(model, functions, batch_size=batch_size)
        result = predictor.predict(range(len(X)))
        np.testing.assert_array_equal(result.predictions, model.predict(X))
        np.testing.assert_array_equal(result.acquired, model.acquired_features(X))
        np.testing.assert_array_equal(result.evaluations, model.evaluations(X))
        np.testing.assert_array_equal(result.cost, model.prediction_cost(X))
        assert_accounted(model, functions, result)
        if kind != "numbers":
            decided = predictor.decision_function(range(len(X))).predictions
            np.testing.assert_array_equal(decided, model.decision_function(X))


def test_a_row_that_quits_at_once_asks_for_nothing():
    model, X = fitted("stumps", beta=2.0)
    functions = Functions(model, X)
    result = OnDemandPredictor(model, functions).predict(range(len(X)))
    np.testing.assert_array_equal(result.cost, 0.0)
    np.testing.assert_array_equal(result.predictions, model.predict(X))
    assert sum(result.rows_by_function.values()) == 0
