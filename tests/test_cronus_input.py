"""Cronus's estimator: trees of every origin, and input that must be refused or does no harm."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from algorithms.cegb import CEGBClassifier
from algorithms.cronus import CronusClassifier
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.exits.fitted_trees import fitted_trees_of
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.reweighted_trees.soft_objective import tree_prices
from tests.test_cronus import PRICES, SMALL, assert_same_exits, draw, fitted, trees, uses_of

__all__ = ["fitted"]  # the fixture


# --- other trees ----------------------------------------------------------------------------------


def test_frozen_trees_are_taken_as_they_are(fitted):
    model, X, y, weights = fitted
    frozen = FrozenEstimator(model.estimator_)
    again = CronusClassifier(frozen, feature_costs=PRICES, **SMALL)
    again.fit(X, y, sample_weight=weights)
    assert again.estimator_ is model.estimator_
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert model.estimator is not model.estimator_


@pytest.mark.parametrize("inner", [GBRTClassifier, CEGBClassifier])
def test_classifiers_as_trees_with_prices_of_their_own(inner, fitted):
    _, X, y, _ = fitted
    prices = {"feature_costs": PRICES, "feature_groups": list("abacd"), "group_costs": None}
    prices["feature_costs"] = np.array([20.0, 5, 20, 0, 100])
    inner = inner(n_estimators=12, max_leaves=5, **prices)
    model = CronusClassifier(inner, **SMALL, max_cycles=1).fit(X, y)
    both = model.stage_bills()[-1]
    forest = model._hard_.responses.forest
    used = set(forest.feature[forest.feature >= 0].tolist())
    assert {0, 2} <= used  # one group, paid for once
    expected = sum({0: 20, 1: 5, 3: 0, 4: 100}[m] for m in used - {2})
    assert both == expected + forest.n_split_trees(1)[-1]
    assert np.all(model.prediction_cost(X) <= model.forest_cost_until_exit(X))


def test_groups_with_prices_of_their_own():
    X, y, _ = draw(3)
    groups = {"feature_groups": list("abacd"), "group_costs": {"a": 8, "b": 0, "c": 0, "d": 2}}
    model = CronusClassifier(trees(), feature_costs=PRICES, **groups, **SMALL, max_cycles=0)
    model.fit(X, y)
    prices = tree_prices(
        model._responses_.forest, model._price_list(model._priced(model._responses_).meter), 1.0
    )
    np.testing.assert_array_equal(prices.item, [8, 2, 1, 5, 20, 100])  # a, d; features not free
    uses = uses_of(model._responses_.forest, 5)
    np.testing.assert_array_equal(prices.uses.toarray()[0], np.any(uses[[0, 2]], axis=0))
    np.testing.assert_array_equal(prices.uses.toarray()[2:], uses[[0, 1, 2, 4]])


def test_trees_of_other_libraries():
    X, y, weights = draw(4)
    signs = np.where(y == "yes", 1.0, -1.0)
    models = [
        GradientBoostingRegressor(n_estimators=15, max_depth=2).fit(X, signs),
        HistGradientBoostingClassifier(max_iter=15).fit(X, y),
    ]
    for library, name, options in [
        ("lightgbm", "LGBMRegressor", {"n_estimators": 15, "verbose": -1}),
        ("catboost", "CatBoostRegressor", {
            "iterations": 15, "depth": 3, "verbose": False, "allow_writing_files": False}),
    ]:  # fmt: skip
        try:
            module = __import__(library)
        except ImportError:
            continue
        models.append(getattr(module, name)(**options).fit(X, signs))
    for inner in models:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of libraries about names
            model = CronusClassifier(inner, feature_costs=PRICES, **SMALL, max_cycles=1)
            model.fit(X, y, sample_weight=weights)
        assert model.estimator_ is inner
        assert_same_exits(model, X)
        assert np.any(model.coef_)
        read = fitted_trees_of(inner).meter
        again = CronusClassifier(read, feature_costs=PRICES, **SMALL, max_cycles=1)
        again.fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(again.coef_, model.coef_)
    unfitted = HistGradientBoostingClassifier()
    with pytest.raises((ValueError, NotFittedError)):
        CronusClassifier(unfitted).fit(X, y)


# --- bad input ------------------------------------------------------------------------------------


def test_empty_stages_reject_nobody(fitted):
    _, X, y, _ = fitted
    model = CronusClassifier(trees(), **SMALL | {"tradeoff": 10.0}, max_cycles=2).fit(X, y)
    assert not np.any(model.coef_)
    np.testing.assert_array_equal(model.thresholds_, -math.inf)
    np.testing.assert_array_equal(model.exit_stage(X), 3)
    np.testing.assert_array_equal(model.prediction_cost(X), 0)
    np.testing.assert_array_equal(model.ranking_score(X), 0)
    assert not model.acquired_features(X).any()


def test_ties_are_not_cut():
    X = np.repeat([[0.0], [1.0]], [60, 40], axis=0)
    options = SMALL | {"threshold_rule": "quantile", "rejection": 0.5}
    model = CronusClassifier(trees(), max_cycles=0, **options).fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(model.thresholds_, -math.inf)  # 60 % are too many
    options["rejection"] = 0.61
    model = CronusClassifier(trees(), max_cycles=0, **options).fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(model.exit_stage(X), np.where(X[:, 0] == 0, 1, 3))


@pytest.mark.parametrize("tradeoff", [0.0, 1e-3])
def test_more_trees_than_rows_and_stages_than_trees(tradeoff):
    X, y, _ = draw(5, n=20)
    penalty = tradeoff
    options = {"tradeoff": tradeoff, "penalty": penalty, "max_cycles": 1, "n_stages": 3}
    inner = trees(n_estimators=40, min_samples_leaf=1)
    model = CronusClassifier(inner, **options).fit(X, y)
    assert np.all(np.isfinite(model.coef_))
    assert model.coef_.shape == (3, 40)
    options["n_stages"] = 5
    model = CronusClassifier(trees(n_estimators=2), **options).fit(X, y)
    assert model.coef_.shape == (5, 2)
    assert_same_exits(model, X, np.zeros(5))


def test_trees_without_features_cost_nothing():
    X, y, _ = draw(6)
    inner = GBRTRegressor(n_estimators=3, min_samples_leaf=10**6)
    with pytest.warns(ConstantModelWarning):
        inner.fit(X, np.where(y == "yes", 1.0, -1.0))
    model = CronusClassifier(FrozenEstimator(inner), **SMALL, feature_costs=PRICES).fit(X, y)
    assert model.coef_.shape[1] == inner.trees_.n_trees
    np.testing.assert_array_equal(model.prediction_cost(X), 0)
    np.testing.assert_array_equal(model.forest_cost_until_exit(X), 0)
    lone = GradientBoostingRegressor(n_estimators=3, min_samples_leaf=200).fit(X, y == "yes")
    model = CronusClassifier(lone, **SMALL, feature_costs=PRICES).fit(X, y)
    assert model.coef_.shape == (3, 3)
    np.testing.assert_array_equal(model.forest_cost_until_exit(X), 0)


def test_free_features_and_trees(fitted):
    _, X, y, _ = fitted
    model = CronusClassifier(trees(), **SMALL, tree_cost=0.0, max_cycles=1).fit(X, y)
    np.testing.assert_array_equal(model.prediction_cost(X), 0)
    assert np.any(model.coef_)
    prices = model._price_list(model._priced(model._responses_).meter)
    assert len(tree_prices(model.estimator_.trees_, prices, 0.0).item) == 0


def test_inputs_are_checked(fitted):
    model, X, y, _ = fitted
    three = GBRTClassifier(n_estimators=2).fit(X, np.digitize(X[:, 0], [-1, 1]))
    with pytest.raises(ValueError, match="estimator must give one score to each row"):
        CronusClassifier(FrozenEstimator(three)).fit(X, y)
    narrow = GBRTRegressor(n_estimators=2).fit(X[:, :3], X[:, 0])
    with pytest.raises(ValueError, match="5 features"):
        CronusClassifier(FrozenEstimator(narrow)).fit(X, y)
    with pytest.raises(ValueError, match="tree_cost must be"):
        model.prediction_cost(X, tree_cost=-1)


def test_missing_thresholds_are_refused(fitted):
    model, X, y, _ = fitted
    parts = model._responses_, model.coef_, model.intercept_
    for wrong in ([math.nan, 0.0], [0.0]):
        with pytest.raises(ValueError, match=r"of a cascade|a weight for each"):
            clone(model)._set_up(*parts, np.array(wrong))
    broken = clone(model).fit(X, y)
    broken.thresholds_ = np.array([math.nan, 0.0])
    with pytest.raises(ValueError, match="thresholds_ of start must not be missing"):
        clone(model).fit(X, y, start=broken)


def test_weights_of_zero(fitted):
    model, X, y, weights = fitted
    more = np.concatenate([X, X[:50] + 1])
    padded = np.concatenate([weights, np.zeros(50)])
    again = clone(model).fit(more, np.concatenate([y, y[:50]]), sample_weight=padded)
    np.testing.assert_array_equal(again.coef_, model.coef_)
