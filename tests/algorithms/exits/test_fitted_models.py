"""Fitted models that estimators take: their classes, and the trees of a cascade to start from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.cronus import CronusClassifier
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.mddag import MDDAGClassifier
from algorithms.raykar_cascade import RaykarCascadeClassifier

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
TAKERS = {
    "cronus": (CronusClassifier, {"n_stages": 2, "max_cycles": 1}),
    "raykar": (RaykarCascadeClassifier, {"price_limits": [1.0], "max_evaluations": 5}),
    "and_or": (AndOrCascadeClassifier, {"price_limits": [1.0], "max_cycles": 1}),
    "bourdev": (BourdevCascadeClassifier, {}),
    "mddag": (MDDAGClassifier, {"solver": "descent"}),
}


def taker(name, model):
    cls, options = TAKERS[name]
    return cls(FrozenEstimator(model), **options)


def small(cls, **options):
    return cls(n_estimators=3, min_samples_leaf=2, **options)


@pytest.mark.parametrize("name", list(TAKERS))
@pytest.mark.parametrize("model", [small(GBRTClassifier), AdaBoostMH(n_estimators=3)])
def test_classes_are_those_of_the_model(name, model):
    fitted = clone(model).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        with pytest.raises(ValueError, match=r"y has one class only \('yes'\), and .* tells 2"):
            taker(name, fitted).fit(X, np.repeat("yes", len(X)))
        with pytest.raises(ValueError, match=r"one class only \('no'\)"):
            taker(name, fitted).fit(X, Y, sample_weight=(Y == "no").astype(float))
        with pytest.raises(ValueError, match=r"labels that .* does not know: \[0, 1\]"):
            taker(name, fitted).fit(X, np.where(Y == "yes", 1, 0))
        one = clone(model).fit(X, np.repeat("yes", len(X)))
        with pytest.raises(ValueError, match=r"labels that .* does not know: \['no'\]"):
            taker(name, one).fit(X, Y)
    assert taker(name, fitted).fit(X, Y).score(X, Y) > 0.5


@pytest.mark.parametrize("name", list(TAKERS))
def test_one_class_with_trees_that_are_fitted_here_is_said(name):
    cls, options = TAKERS[name]
    trees = AdaBoostMH(n_estimators=3) if name in ("bourdev", "mddag") else small(GBRTRegressor)
    with pytest.warns(ConstantModelWarning, match="y is constant"):
        model = cls(trees, **options).fit(X, np.repeat("yes", len(X)))
    assert set(model.predict(X)) == {"yes"}


def test_a_start_of_other_trees_is_refused():
    options = TAKERS["cronus"][1]
    trees = small(GBRTRegressor, max_depth=2)
    start = CronusClassifier(trees, **options).fit(X, Y)
    same = CronusClassifier(trees, **options).fit(X, Y, start=start)
    assert same.objective_ <= start.objective_
    for other in (small(GBRTRegressor, max_depth=1), small(GBRTRegressor, learning_rate=0.3)):
        with pytest.raises(ValueError, match="start must be a cascade of the same trees"):
            CronusClassifier(other, **options).fit(X, Y, start=start)
    with pytest.raises(ValueError, match="start must be a cascade of the same trees"):
        CronusClassifier(trees, **options).fit(X, Y, sample_weight=1.0 + (X[:, 1] > 0), start=start)


def test_a_loaded_start_is_of_the_same_trees(tmp_path):
    options = TAKERS["cronus"][1]
    trees = small(GBRTRegressor, max_depth=2)
    CronusClassifier(trees, **options).fit(X, Y).save(tmp_path / "start")
    start = CronusClassifier.load(tmp_path / "start")
    CronusClassifier(trees, **options).fit(X, Y, start=start)
