"""Cascades on demand: a row buys what its stages need until its exit, and nothing beyond."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.cronus import CronusClassifier
from algorithms.fcboost import FCBoostClassifier
from algorithms.gbrt import GBRTRegressor
from algorithms.on_demand import OnDemandPredictor
from algorithms.raykar_cascade import RaykarCascadeClassifier
from algorithms.viola_jones import ViolaJonesClassifier
from tests.algorithms.on_demand.test_predictor import Functions, assert_accounted
from tests.test_cronus import PRICES, SMALL, draw, trees

GROUPS = {"feature_groups": [3, 4, 3, 4, 5], "group_costs": {3: 8.0, 4: 0.5, 5: 2.0}}
LIMITS = (20, 40, 200)


@pytest.fixture(scope="module")
def rows():
    return draw(0)


def fitted(cls, rows, size=None, **options):
    X, y, weights = rows
    size = {} if size is None else size
    own = SMALL | {"max_cycles": 0} if cls is CronusClassifier else {"price_limits": LIMITS}
    own |= {"tradeoff": 3e-2} if cls is RaykarCascadeClassifier else {}
    model = cls(
        trees(n_estimators=10, **size), feature_costs=PRICES, split_cost=0.25, **own, **options
    )
    return model.fit(X, y, sample_weight=weights)


def assert_on_demand(model, X, **options):
    """Assert that all equals the full matrix, and that what was computed is what was needed."""
    functions = Functions(model, X)
    result = OnDemandPredictor(model, functions, **options).predict(range(len(X)))
    expected = model.exits(X)
    np.testing.assert_array_equal(result.exits.stage, expected.stage)
    np.testing.assert_array_equal(result.exits.scores, expected.scores)
    np.testing.assert_array_equal(result.predictions, model.predict(X))
    np.testing.assert_array_equal(result.acquired, model.acquired_features(X))
    np.testing.assert_array_equal(result.evaluations, model.evaluations(X))
    np.testing.assert_array_equal(result.cost, model.prediction_cost(X))
    assert_accounted(model, functions, result)
    decided = OnDemandPredictor(model, functions, **options).decision_function(range(len(X)))
    np.testing.assert_array_equal(decided.predictions, model.decision_function(X))
    return functions, result


def detectors(**options):
    """The cascades of stumps, whose stages have scores of their own, share stumps, or are one."""
    options |= {"feature_costs": PRICES, "split_cost": 0.25}
    return [
        ViolaJonesClassifier(max_stages=4, max_stumps=6, validation_share=0.0, **options),
        FCBoostClassifier(n_estimators=15, eta=0.02, **options),
        BourdevCascadeClassifier(AdaBoostMH(n_estimators=30), detection_rate=0.9, **options),
    ]


@pytest.mark.filterwarnings("ignore::algorithms.viola_jones.UnreachedRateWarning")
@pytest.mark.parametrize("groups", [{}, GROUPS], ids=["features", "groups with remainders"])
@pytest.mark.parametrize("kind", range(3))
def test_detectors_equal_the_full_matrix(kind, groups, rows):
    X, y, weights = rows
    model = detectors(**groups)[kind].fit(X, y, sample_weight=weights)
    for batch_size in (7, 1024):
        _, result = assert_on_demand(model, X, batch_size=batch_size)
    assert len(np.unique(result.exits.stage)) > 1


@pytest.mark.parametrize("groups", [{}, GROUPS], ids=["features", "groups with remainders"])
@pytest.mark.parametrize("cls", [CronusClassifier, RaykarCascadeClassifier, AndOrCascadeClassifier])
def test_equals_the_full_matrix(cls, groups, rows):
    model, X = fitted(cls, rows, **groups), rows[0]
    for batch_size in (1, 7, 1024):
        _, result = assert_on_demand(model, X, batch_size=batch_size)
    assert len(np.unique(result.exits.stage)) > 1


def test_who_leaves_buys_nothing_of_later_stages(rows):
    """The soft cascade's first stages test cheap features only."""
    model, X = fitted(RaykarCascadeClassifier, rows), rows[0]
    functions, result = assert_on_demand(model, X)
    hard = model._hard_
    forest = hard.responses.forest
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree))
    split, n_early = forest.feature >= 0, 0
    for stage in np.unique(result.exits.stage):
        known = set(forest.feature[split & (tree < hard.stops[stage - 1])].tolist())
        left = set(np.flatnonzero(result.exits.stage == stage).tolist())
        assert {key for key, row in functions.purchases() if row in left} <= known
        n_early += len(left) * (len(known) < len({key for key, _ in functions.purchases()}))
    assert n_early > 0


def test_trees_too_large_for_tiles():
    rows = draw(0, n=1500)
    model = fitted(CronusClassifier, rows, {"max_leaves": 100, "min_samples_leaf": 1})
    assert model._hard_.tiled is None
    assert_on_demand(model, rows[0], batch_size=500)


def test_values_are_rounded_as_the_trees_library_does():
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = X[:, 0] > 0
    forest = GradientBoostingRegressor(n_estimators=5, max_depth=2).fit(X, y)
    model = CronusClassifier(FrozenEstimator(forest), **SMALL, feature_costs=[1, 2, 3]).fit(X, y)
    near = np.repeat(forest.estimators_[0, 0].tree_.threshold[:1], 3) * (1 + 1e-9)
    assert_on_demand(model, np.concatenate([X, near[None], near[None] * (1 - 2e-9)]))


def test_a_cascade_from_a_file_and_names(rows, tmp_path):
    X, y, weights = rows
    frame = pd.DataFrame(X, columns=list("pqrst"))
    prices = dict(zip("pqrst", PRICES, strict=True))
    model = CronusClassifier(trees(n_estimators=5), feature_costs=prices, **SMALL, max_cycles=0)
    model.fit(frame, y, sample_weight=weights).save(tmp_path / "model")
    loaded = CronusClassifier.load(tmp_path / "model")
    functions = {name: lambda rows, name=name: frame[name].to_numpy()[rows] for name in "pqrst"}
    result = OnDemandPredictor(loaded, functions).predict(np.arange(len(X)))
    np.testing.assert_array_equal(result.predictions, model.predict(frame))
    np.testing.assert_array_equal(result.cost, model.prediction_cost(frame))


def test_other_prices_and_a_later_fit_change_nothing(rows):
    model, X = fitted(CronusClassifier, rows), rows[0]
    prices = {"feature_costs": [2.0, 1, 7, 3, 5], "split_cost": 0.5, "tree_cost": 0.125}
    expected = model.prediction_cost(X, **prices)
    predictor = OnDemandPredictor(model, Functions(model, X), **prices)
    decisions = model.predict(X)
    model.set_params(tree_cost=9.0, feature_costs=None).fit(X, rows[1])
    result = predictor.predict(range(len(X)))
    np.testing.assert_array_equal(result.cost, expected)
    np.testing.assert_array_equal(result.predictions, decisions)


def test_a_cascade_without_trees_asks_for_nothing(rows):
    X, y, _ = rows
    for n_stages in (1, 3):
        model = CronusClassifier(trees(), **SMALL | {"tradeoff": 10.0, "n_stages": n_stages})
        result = OnDemandPredictor(model.fit(X, y), {}).predict(range(len(X)))
        np.testing.assert_array_equal(result.predictions, model.predict(X))
        np.testing.assert_array_equal(result.exits.stage, n_stages)
        np.testing.assert_array_equal(result.cost, 0)


def test_functions_that_fail(rows):
    model, X = fitted(CronusClassifier, rows), rows[0]
    functions, _ = assert_on_demand(model, X)
    last, _ = functions.calls[-1]  # needed at a late stage, when other rows have left
    sound = functions[last]

    def broken(rows):
        raise OSError("no camera")

    predictor = OnDemandPredictor(model, functions | {last: broken})
    with pytest.raises(OSError, match="no camera"):
        predictor.predict(range(len(X)))
    missing = OnDemandPredictor(model, functions | {last: lambda rows: sound(rows) * np.nan})
    with pytest.raises(ValueError, match="missing or infinite values"):
        missing.predict(range(len(X)))
    result = OnDemandPredictor(model, functions).predict(range(len(X)))
    np.testing.assert_array_equal(result.predictions, model.predict(X))


def test_what_a_model_cannot_give_is_named(rows):
    X, _, _ = rows
    cascade = fitted(CronusClassifier, rows)
    predictor = OnDemandPredictor(cascade, Functions(cascade, X))
    with pytest.raises(ValueError, match="CronusClassifier has no predict_proba on demand"):
        predictor.predict_proba(range(3))
    boosted = GBRTRegressor(n_estimators=2).fit(X, X[:, 0])
    functions = Functions(boosted, X)
    with pytest.raises(ValueError, match="GBRTRegressor has no decision_function on demand"):
        OnDemandPredictor(boosted, functions).decision_function(range(3))
    with pytest.raises(ValueError, match="tree_cost is of cascades, decision DAGs and EarlyExit"):
        OnDemandPredictor(boosted, functions, tree_cost=1.0)
    with pytest.raises(ValueError, match="must be a forest, a cascade or a DAG"):
        OnDemandPredictor("model", {})
    with pytest.raises(ValueError, match="There is no function for: feature"):
        OnDemandPredictor(cascade, {})


def test_stages_behind_one_that_nobody_passes_need_no_function(rows):
    model = copy.deepcopy(fitted(CronusClassifier, rows))
    X, hard = rows[0], model._hard_
    feature = hard.responses.forest.feature[: hard.responses.forest.tree[hard.stops[0]]]
    first = set(feature[feature >= 0].tolist())
    for threshold in (1e6, np.inf):
        hard.thresholds[0] = threshold
        functions = {m: f for m, f in Functions(model, X).items() if m in first}
        result = OnDemandPredictor(model, functions).predict(range(len(X)))
        np.testing.assert_array_equal(result.predictions, model.predict(X))
        np.testing.assert_array_equal(result.acquired, model.acquired_features(X))
