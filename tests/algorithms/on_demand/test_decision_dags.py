"""Decision DAGs on demand: a row buys what the base classifiers that it evaluates test."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.decision_dag.rewards import EVAL, QUIT, SKIP
from algorithms.gbrt import GBRTClassifier
from algorithms.mddag import MDDAGClassifier
from algorithms.on_demand import OnDemandPredictor, plans
from tests.algorithms.on_demand.test_predictor import Functions, assert_on_demand

PRICES = np.array([1.0, 2.0, 0.5, 4.0, 3.0])
GROUPS = {"feature_groups": [3, 4, 3, 4, 5], "group_costs": {3: 8.0, 4: 0.5, 5: 2.0}}
MODELS = {
    "stumps": (AdaBoostMH(n_estimators=15), 2),
    "stumps of three classes": (AdaBoostMH(n_estimators=15), 3),
    "trees": (GBRTClassifier(n_estimators=10, max_leaves=4), 2),
    "trees for each class": (GBRTClassifier(n_estimators=6, max_leaves=4), 3),
}


def fitted(kind, **options):
    estimator, n_classes = MODELS[kind]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X[:, 0] + np.abs(X[:, 1]) * X[:, 2]
    y = np.digitize(y, [0.0, 1.0][: n_classes - 1])
    options = {"beta": 1e-3, "solver": "descent", "tree_cost": 0.25, **options}
    dag = MDDAGClassifier(estimator, feature_costs=PRICES, split_cost=0.125, **options)
    return dag.fit(X, y), X


@pytest.mark.parametrize("groups", [{}, GROUPS], ids=["features", "groups with remainders"])
@pytest.mark.parametrize("kind", list(MODELS))
def test_equals_the_full_matrix(kind, groups):
    model, X = fitted(kind, **groups)
    assert 0 < model.evaluations(X).mean() < model.n_base_
    assert_on_demand(model, X, batch_size=7)
    assert_on_demand(model, X, method="decision_function")


def test_a_row_that_quits_at_once_asks_for_nothing():
    model, X = fitted("stumps", beta=2.0)
    functions = Functions(model, X)
    result = OnDemandPredictor(model, functions).predict(range(len(X)))
    np.testing.assert_array_equal(result.cost, 0.0)
    np.testing.assert_array_equal(result.predictions, model.predict(X))
    assert sum(result.rows_by_function.values()) == 0


def test_a_dag_that_sends_no_row_to_any_tree_needs_no_function():
    model, X = fitted("stumps", beta=2.0)
    result = OnDemandPredictor(model, {}).predict(range(len(X)))
    np.testing.assert_array_equal(result.predictions, model.predict(X))
    np.testing.assert_array_equal(result.acquired, model.acquired_features(X))


@pytest.mark.filterwarnings("ignore::algorithms.estimators.fitting.ConstantModelWarning")
def test_a_constant_dag_needs_no_function():
    model, X = fitted("stumps")
    model.fit(X, np.ones(len(X)))
    np.testing.assert_array_equal(OnDemandPredictor(model, {}).predict([1, 2]).predictions, 1.0)


@pytest.mark.parametrize("most", [1, 4096])
@pytest.mark.parametrize("kind", list(MODELS))
def test_functions_are_needed_for_what_rows_can_come_to(kind, most, monkeypatch):
    """A feature whose base classifiers are all skipped is not asked for, on any rows."""
    monkeypatch.setattr(plans, "MOST_STATES", most)
    model, _ = fitted(kind)
    base, policy = model._dag_.base, model._dag_.policy
    tree = base.forest.tree[:: base.n_parts]
    inside = [base.used[f[f >= 0]] for f in np.split(base.forest.feature, tree[1:-1])]
    for j, features in enumerate(inside):
        if 2 in features:
            policy[j] = SKIP
    asked = plans.features_of_dag(model._dag_, 5)
    assert not asked[2]
    rows = np.random.default_rng(1).normal(size=(500, 5)) * 3.0
    assert not np.any(model.acquired_features(rows) & ~asked)
    reached = plans.reached_bases(model._dag_)
    paths = model.classification_path(rows).toarray().astype(bool)
    assert not np.any(paths & ~reached)
    functions = {m: f for m, f in Functions(model, rows).items() if asked[m]}
    result = OnDemandPredictor(model, functions).predict(range(len(rows)))
    np.testing.assert_array_equal(result.predictions, model.predict(rows))
    np.testing.assert_array_equal(result.cost, model.prediction_cost(rows))


def test_a_base_classifier_that_no_score_leads_to_is_not_reached():
    """The policy evaluates it somewhere, but rows quit before."""
    model, _ = fitted("stumps")
    policy = model._dag_.policy
    policy[:] = EVAL
    assert plans.reached_bases(model._dag_).all()
    policy[2] = QUIT
    assert np.flatnonzero(plans.reached_bases(model._dag_)).tolist() == [0, 1]
