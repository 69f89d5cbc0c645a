"""Early exits on demand: a row buys what the trees until its exit test, and nothing beyond."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from algorithms.early_exit import EarlyExit
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.interop import MeteredForest, from_scikit_learn
from algorithms.interop.nodes import ClassLink, flat_stumps
from algorithms.on_demand import OnDemandPredictor
from tests.algorithms.on_demand.test_predictor import Functions, assert_accounted

PRICES = np.array([1.0, 2.0, 0.5, 4.0, 3.0])
SMALL = {"n_estimators": 10, "feature_costs": PRICES, "split_cost": 0.125}
KINDS = {
    "score": (GBRTRegressor, "score", None, 0.0),
    "two classes": (GBRTClassifier, "likelihood", 2, 0.7),
    "three classes": (GBRTClassifier, "likelihood", 3, 0.5),
}


def fitted(kind, every=2, threshold=None, max_leaves=4):
    cls, rule, n_classes, usual = KINDS[kind]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + np.abs(X[:, 1]) * X[:, 2] + 0.1 * X[:, 3] * X[:, 4]
    if n_classes is not None:
        y = np.digitize(y, [0.0, 1.0][: n_classes - 1])
    threshold = usual if threshold is None else threshold
    model = cls(**SMALL, max_leaves=max_leaves).fit(X, y)
    return EarlyExit(model, rule=rule, threshold=threshold, every=every), X


@pytest.mark.parametrize("every", [2, 3, 50], ids="every {}".format)
@pytest.mark.parametrize("kind", list(KINDS))
def test_equals_the_full_matrix(kind, every):
    early, X = fitted(kind, every)
    expected = early.exits(X)
    assert every > 10 or len(np.unique(expected.exit)) > 1
    for batch_size in (7, 1024):
        functions = Functions(early.model, X)
        predictor = OnDemandPredictor(early, functions, batch_size=batch_size, tree_cost=0.25)
        result = predictor.predict(range(len(X)))
        for field in expected._fields:
            np.testing.assert_array_equal(getattr(result.exits, field), getattr(expected, field))
        np.testing.assert_array_equal(result.predictions, early.predict(X))
        np.testing.assert_array_equal(result.acquired, early.acquired_features(X))
        np.testing.assert_array_equal(result.evaluations, early.evaluations(X))
        np.testing.assert_array_equal(result.cost, early.prediction_cost(X, tree_cost=0.25))
        assert_accounted(early.model, functions, result)
    decided = OnDemandPredictor(early, Functions(early.model, X)).decision_function(range(len(X)))
    np.testing.assert_array_equal(decided.predictions, early.decision_function(X))
    np.testing.assert_array_equal(decided.cost, early.prediction_cost(X))


@pytest.mark.parametrize(("kind", "threshold"), [("score", np.inf), ("two classes", 0.1)])
def test_what_lies_behind_an_exit_that_all_take_needs_no_function(kind, threshold):
    early, X = fitted(kind, every=1, threshold=threshold, max_leaves=2)
    n_first = early.model.trees_.tree[len(early.model.initial_scores_)]
    feature = early.model.trees_.feature[:n_first]
    first = set(feature[feature >= 0].tolist())
    assert len(first) < early.model.model_features().sum()
    functions = Functions(early.model, X)
    asked = {m: functions[m] for m in first}
    result = OnDemandPredictor(early, asked).predict(range(len(X)))
    np.testing.assert_array_equal(result.predictions, early.predict(X))
    np.testing.assert_array_equal(result.acquired, early.acquired_features(X))
    asked.pop(first.pop())
    with pytest.raises(ValueError, match="There is no function for"):
        OnDemandPredictor(early, asked)


@pytest.mark.parametrize("rule", ["proximity", "capacity", "rank"])
def test_rules_that_compare_rows_are_refused(rule):
    early, X = fitted("score")
    early.set_params(rule=rule, threshold=0.5)
    with pytest.raises(ValueError, match=r"compares each row with the others .* rule='score'"):
        OnDemandPredictor(early, Functions(early.model, X))


def test_what_early_exits_cannot_give_is_named():
    early, X = fitted("score")
    functions = Functions(early.model, X)
    with pytest.raises(ValueError, match="has no predict_proba on demand"):
        OnDemandPredictor(early, functions).predict_proba(range(3))
    with pytest.raises(ValueError, match="tree_cost"):
        OnDemandPredictor(early, functions, tree_cost=-1.0)
    functions[0] = lambda rows: np.full(len(rows), np.nan)
    with pytest.raises(ValueError, match="missing or infinite"):
        OnDemandPredictor(early, functions).predict(range(len(X)))
    triples = flat_stumps(np.zeros(2, int), np.zeros(2), np.zeros((2, 3)), np.ones((2, 3)))
    link = ClassLink(np.arange(3), "multinomial")
    many = MeteredForest(triples, np.zeros(3), 5, as_seen=np.asarray, library="a", link=link)
    early = EarlyExit(many, rule="likelihood", threshold=0.5, every=1)
    assert early.predict(X).shape == (len(X),)
    with pytest.raises(ValueError, match="trees whose leaves hold one value, not around the a"):
        OnDemandPredictor(early, functions)


def test_around_another_librarys_trees():
    _, X = fitted("score")
    other = GradientBoostingRegressor(n_estimators=6, random_state=0).fit(X, X[:, 0] + X[:, 1])
    metered = from_scikit_learn(other, feature_costs=PRICES, split_cost=0.125)
    early = EarlyExit(metered, rule="score", threshold=0.1, every=2)
    assert len(np.unique(early.exits(X).exit)) > 1
    functions = Functions(metered, X)
    result = OnDemandPredictor(early, functions, batch_size=7).predict(range(len(X)))
    np.testing.assert_array_equal(result.predictions, early.predict(X))
    np.testing.assert_array_equal(result.acquired, early.acquired_features(X))
    np.testing.assert_array_equal(result.cost, early.prediction_cost(X))
    assert_accounted(metered, functions, result)
