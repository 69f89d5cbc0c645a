"""Turney's total cost: bills and errors in one unit, by model, search and pipeline."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.selection import TotalCostScorer, prediction_cost, total_cost
from reference import costs as reference

rng = np.random.default_rng(5)
X = rng.normal(size=(120, 3))
CLASSES = np.array(["a", "b", "c"])
Y = CLASSES[np.digitize(X[:, 0] + 0.5 * rng.normal(size=120), [-0.5, 0.7])]
MATRIX = np.array([[0.0, 1.0, 2.0], [30.0, 0.5, 4.0], [5.0, 6.0, 0.0]])
SMALL = {"n_estimators": 3, "max_leaves": 4, "feature_costs": [1.0, 2.0, 3.0], "n_threads": 1}


@pytest.fixture(scope="module")
def model():
    return CEGBClassifier(**SMALL).fit(X, Y)


def test_it_equals_the_reference(model):
    bills, predicted = model.prediction_cost(X), model.predict(X)
    assert (predicted != Y).any()
    wanted = reference.total_cost(bills, Y, predicted, CLASSES, MATRIX)
    np.testing.assert_array_equal(total_cost(model, X, Y, MATRIX), wanted)
    labelled = {
        a: {b: MATRIX[i, j] for j, b in enumerate(CLASSES) if MATRIX[i, j]}
        for i, a in enumerate(CLASSES)
    }
    np.testing.assert_array_equal(total_cost(model, X, Y, labelled), wanted)
    frame = pd.DataFrame(MATRIX, CLASSES, CLASSES).iloc[::-1, [1, 2, 0]]
    np.testing.assert_array_equal(total_cost(model, X, Y, frame), wanted)
    piped = make_pipeline(StandardScaler(), CEGBClassifier(**SMALL)).fit(X, Y)
    wanted = reference.total_cost(prediction_cost(piped, X), Y, piped.predict(X), CLASSES, MATRIX)
    np.testing.assert_array_equal(total_cost(piped, X, Y, MATRIX), wanted)


def test_a_scorer_for_searches(model):
    scorer = pickle.loads(pickle.dumps(TotalCostScorer(MATRIX)))
    weights = np.arange(120.0)
    assert scorer(model, X, Y) == -np.mean(total_cost(model, X, Y, MATRIX))
    mean = np.average(total_cost(model, X, Y, MATRIX), weights=weights)
    assert scorer(model, X, Y, sample_weight=weights) == -mean
    assert cross_val_score(CEGBClassifier(**SMALL), X, Y, scoring=scorer, cv=2).max() < 0
    dear = TotalCostScorer(1e6 * MATRIX)
    grid = {"feature_costs": [[0.0, 0.0, 0.0], [50.0, 50.0, 50.0]], "tradeoff": [1e9]}
    cheap = GridSearchCV(CEGBClassifier(**SMALL), grid, scoring=dear, cv=2).fit(X, Y)
    assert cheap.best_params_["feature_costs"] == [0.0, 0.0, 0.0]  # which may learn


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [1, 0]], "a row for each of the 3 true classes"),
        (np.full((3, 3), -1.0), "from 0 to 1e\\+270; predicting 'a' for 'a' has -1.0"),
        (np.where(np.eye(3), np.nan, 0), "has nan"),
        (np.where(np.eye(3), np.inf, 0), "has inf"),
        ([["0", "1", "2"]] * 3, "must be numbers, one for each pair"),
        (MATRIX > 1, "must be numbers, one for each pair"),
        (None, "must be numbers|a row for each"),
        ({"a": {"b": 1, "c": 1}}, r"lacks the price of \(true, predicted\) \('b', 'a'\)"),
        ({"a": {"z": 1}}, "has 'z', but classes are 'a', 'b', 'c'"),
        ({"a": 3}, "a dict of dicts"),
        (np.ma.array(MATRIX, mask=np.eye(3)), "not a masked array"),
    ],
)
def test_matrices_that_are_none(model, matrix, message):
    with pytest.raises(ValueError, match=message):
        total_cost(model, X, Y, matrix)


def test_models_and_classes_that_do_not_fit(model):
    with pytest.raises(ValueError, match="y has a class that the model does not know: 'z'"):
        total_cost(model, X[:2], ["a", "z"], MATRIX)
    with pytest.raises(ValueError, match="one class for each of the 2 rows"):
        total_cost(model, X[:2], ["a"], MATRIX)
    with pytest.raises(TypeError, match="CEGBRegressor has no classes"):
        total_cost(CEGBRegressor(**SMALL).fit(X, X[:, 0]), X, X[:, 0], MATRIX)
    with pytest.raises(TypeError, match="LogisticRegression has no prediction_cost"):
        total_cost(LogisticRegression().fit(X, Y), X, Y, MATRIX)
