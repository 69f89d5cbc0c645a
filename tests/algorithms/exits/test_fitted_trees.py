"""The trees of cascades: of fitted models that estimators take, and boosted Hamming trees.

Of the former their classes, and a cascade to start from; of the latter scores, bills, cascades and
prediction on demand.
"""

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
from algorithms.early_exit import EarlyExit
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.exits import hard_cascade as walking
from algorithms.exits.fitted_trees import fitted_trees_of
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.mddag import MDDAGClassifier
from algorithms.on_demand import OnDemandPredictor
from algorithms.raykar_cascade import RaykarCascadeClassifier
from tests.algorithms.on_demand.test_predictor import Functions, assert_accounted
from tests.test_adaboost_mh import draw_data
from tests.test_cronus import SMALL

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
TAKERS = {
    "cronus": (CronusClassifier, {"n_stages": 2, "max_cycles": 1}),
    "raykar": (RaykarCascadeClassifier, {"price_limits": [1.0], "max_evaluations": 5}),
    "and_or": (AndOrCascadeClassifier, {"price_limits": [1.0], "max_cycles": 1}),
    "bourdev": (BourdevCascadeClassifier, {}),
    "mddag": (MDDAGClassifier, {"solver": "descent"}),
}
PRICES = [1.0, 5.0, 20.0, 0.5]


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


# --- boosted Hamming trees as an additive model ---------------------------------------------------


def fitted(n_classes, n_estimators=9, **parameters):
    X, y = draw_data(np.random.default_rng(n_classes), 150, 4, n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        options = {"weak_learner": "hamming_tree", "initial_weights": "balanced"} | parameters
        return (
            X,
            y,
            AdaBoostMH(
                n_estimators=n_estimators, feature_costs=PRICES, split_cost=0.5, **options
            ).fit(X, y),
        )


@pytest.mark.parametrize("options", [{}, {"weak_learner": "stump"}], ids=["trees", "stumps"])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
def test_scores_paths_and_bills_are_the_models(n_classes, options):
    groups = {"feature_groups": [1, 1, 2, 3], "group_costs": {1: 3, 2: 1, 3: 0}}
    X, _, model = fitted(n_classes, **groups, **options)
    responses = fitted_trees_of(model)
    K = max(1, n_classes) if n_classes > 2 else 1
    assert (responses.n_columns, responses.n_rounds) == (K, model.n_estimators_)
    if not options:
        sizes = np.diff(responses.meter._flat.forest.tree)
        assert ((sizes + 1) // 2 <= 8).all()
    rows = responses.meter._check_X(X)
    stages = walking.stages_of(responses, [4] if n_classes > 1 else [])
    left = walking.walk(stages, 0, rows, None, None)
    np.testing.assert_array_equal(left.scores, model._raw_scores(X))
    np.testing.assert_array_equal(responses.labels(left.scores), model.predict(X))
    prices = responses.meter._grid_prices()
    bills = np.array([np.zeros(len(X)), *model.staged_cost(X)])
    rounds = np.random.default_rng(1).integers(0, len(bills), len(X))
    _, paid, passed = responses.charge(rows, prices, rounds)
    np.testing.assert_array_equal(prices.cost(paid), bills[rounds, np.arange(len(X))])
    everything = responses.charge(rows, prices, np.full(len(X), model.n_estimators_))
    np.testing.assert_array_equal(everything[2], model.evaluations(X))
    assert (passed <= everything[2]).all()
    if options:  # a constant vote is free
        tested = np.cumsum(np.append(False, model.stumps_.feature >= 0))
        np.testing.assert_array_equal(passed, tested[rounds])
    np.testing.assert_array_equal(responses.meter.acquired_features(X), model.acquired_features(X))


@pytest.mark.parametrize("weak_learner", ["stump", "hamming_tree"])
def test_early_exit_says_why_it_has_no_rule_for_them(weak_learner):
    X, _, model = fitted(2, weak_learner=weak_learner)
    with pytest.raises(ValueError, match="no log-odds"):
        EarlyExit(model, rule="likelihood", threshold=0.9).predict(X)
    with pytest.raises(ValueError, match="is a classifier"):
        EarlyExit(model, rule="score", threshold=0.9).predict(X)


@pytest.mark.parametrize("cls", [CronusClassifier, RaykarCascadeClassifier])
def test_cascades_and_prediction_on_demand(cls):
    X, y, model = fitted(2, n_estimators=12)
    own = {"price_limits": (2.0, 100.0), "tradeoff": 0.03}
    own = SMALL | {"max_cycles": 0} if cls is CronusClassifier else own
    cascade = cls(FrozenEstimator(model), feature_costs=PRICES, split_cost=0.25, **own)
    Z = X.astype(float)
    cascade.fit(Z, y)
    assert (cascade.predict(Z) == y).mean() > 0.9
    functions = Functions(cascade, Z)
    result = OnDemandPredictor(cascade, functions).predict(range(len(Z)))
    np.testing.assert_array_equal(result.predictions, cascade.predict(Z))
    np.testing.assert_array_equal(result.cost, cascade.prediction_cost(Z))
    np.testing.assert_array_equal(result.evaluations, cascade.evaluations(Z))
    assert_accounted(cascade, functions, result)
