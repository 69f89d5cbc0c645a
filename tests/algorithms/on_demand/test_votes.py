"""Trees whose leaves hold a value for each class: forests that vote, AdaBoost.MH, and others'."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.budget_forest import BudgetForestClassifier, BudgetForestRegressor
from algorithms.budget_prune import BudgetPruneClassifier
from algorithms.interop import MeteredForest
from algorithms.interop.nodes import ClassLink, flat_stumps
from algorithms.on_demand import OnDemandPredictor
from tests.algorithms.on_demand.test_predictor import Functions, assert_on_demand

PRICES = {"feature_costs": [1.0, 2.0, 0.5, 4.0, 3.0], "split_cost": 0.125}
GROUPS = {"feature_groups": [4, 4, -1, 7, 7], "group_costs": {4: 3.0, -1: 1.0, 7: 0.1}}


def drawn(n_classes, n=150, decimals=0):
    """Rows with many ties, and classes that all features tell something of."""
    rng = np.random.default_rng(n_classes)
    X = np.round(rng.normal(size=(n, 5)), decimals)
    signal = X[:, 0] + np.abs(X[:, 1]) * X[:, 2] + 0.3 * X[:, 3] * X[:, 4] + rng.normal(size=n)
    return X, np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("vote", ["labels", "counts", "distributions"])
@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_forests_vote_as_on_the_full_matrix(n_classes, vote):
    X, y = drawn(n_classes)
    forest = BudgetForestClassifier(
        n_estimators=5, max_depth=4, vote=vote, random_state=0, **PRICES, **GROUPS
    ).fit(X, y)
    for model in (forest, forest.first_rounds(0), BudgetPruneClassifier(forest).fit(X, y)):
        assert_on_demand(model, X, batch_size=11)
        assert_on_demand(model, X, method="predict_proba")


def test_a_forest_of_grades():
    X, y = drawn(4)
    model = BudgetForestRegressor(n_estimators=4, max_depth=3, random_state=0, **PRICES).fit(X, y)
    assert len(np.unique(model.predict(X))) > 4
    assert_on_demand(model, X, batch_size=7)
    with pytest.raises(ValueError, match="has no predict_proba on demand"):
        OnDemandPredictor(model, Functions(model, X)).predict_proba(range(3))


@pytest.mark.parametrize("weak_learner", ["stump", "hamming_tree"])
@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_adaboost_mh(n_classes, weak_learner):
    X, y = drawn(n_classes)
    model = AdaBoostMH(
        n_estimators=9, weak_learner=weak_learner, random_state=0, **PRICES, **GROUPS
    ).fit(X, y)
    assert_on_demand(model, X, batch_size=13)
    assert_on_demand(model, X, method="decision_function")


def test_another_librarys_trees():
    """Which compares numbers of half the precision."""
    X, rng = drawn(3, decimals=1)[0], np.random.default_rng(0)
    features = np.array([0, 3, 0, 2, 4, 3])
    values = rng.normal(size=(2, len(features), 3))
    stumps = flat_stumps(features, np.float64(np.float32(X[:6, 1])), *values)
    model = MeteredForest(
        stumps, np.array([0.1, 0.2, 0.0]), 5, library="a", **PRICES, **GROUPS,
        as_seen=lambda X: X.astype(np.float32).astype(np.float64),
        link=ClassLink(np.array(list("xyz")), "multinomial"),
    )  # fmt: skip
    assert_on_demand(model, X, batch_size=11)
    assert_on_demand(model.first_rounds(4), X, method="predict_proba")
