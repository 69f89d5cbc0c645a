"""Early exits: equal to the reference, for models of this package and of other libraries."""

from __future__ import annotations

import copy
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.early_exit import EarlyExit
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.exits import exit_rules
from algorithms.exits import hard_cascade as walking
from algorithms.exits.fitted_trees import fitted_trees_of
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier
from algorithms.interop import from_catboost, from_lightgbm, from_scikit_learn, from_xgboost
from algorithms.kernels import decorators
from algorithms.trees.binning import ALL_PRESENT
from reference import cegb, early_exit, forest_costs, gbrt
from tests.algorithms.estimators.changed_files import rewritten
from tests.twins import BILL, awkward_data, fit_twins, meter_prices

RULES = {"proximity": 0.3, "score": 0.2, "capacity": 0.7, "rank": 6}
RULES_OF_RANKER = RULES | {"score": 1.5}  # its scores are about 2
REFERENCES = {GBRTRegressor: gbrt, GBRTClassifier: gbrt, CEGBRegressor: cegb, CEGBClassifier: cegb}
PRICES = [1.0, 5.0, 20.0, 0.5]


def queries_of(rng, n_samples):
    """Labels of queries of 1 to 20 rows in blocks, not in order."""
    sizes = []
    while sum(sizes) < n_samples:
        sizes.append(int(rng.integers(1, 21)))
    labels = rng.permutation(len(sizes)) + 7
    return np.repeat(labels, sizes)[:n_samples]


def bills_of(early, model, n_features, tree_cost=1.25):
    """The reference's bill of the forest after each round."""
    prices = {name: getattr(early, name) for name in BILL[:-1]} | {"tree_cost": tree_cost}
    return list(forest_costs.staged_forest_cost(model, n_features, **prices))


def assert_as_reference(early, model, X, query=None, tree_cost=1.25, bills=None):
    """Assert that exits, scores, rankings and costs are the reference's."""
    prices = meter_prices(early.model)
    options = {"rule": early.rule, "s": early.threshold, "every": early.every, "place": early.place}
    if early.rule == "likelihood":
        options["loss"] = "logistic" if len(model.initial_scores) == 1 else "multinomial"
    stages = early_exit.stages_of(model, X)
    expected = early_exit.leave(stages.scores, query, **options)
    exits = early.exits(X, query)
    for name in ("exit", "rounds", "scores"):
        np.testing.assert_array_equal(getattr(exits, name), getattr(expected, name), name)
    if early.rule != "likelihood":
        np.testing.assert_array_equal(early.ranking_score(X, query), expected.ranking)
    passed = early_exit.passed_until_exit(stages, expected)
    np.testing.assert_array_equal(early.evaluations(X, query), passed.sum(axis=1))
    acquired = early.acquired_features(X, query)
    np.testing.assert_array_equal(acquired, passed > 0)
    for e in (0.0, tree_cost):
        cost = early_exit.row_cost(stages, expected, tree_cost=e, **prices)
        np.testing.assert_array_equal(early.prediction_cost(X, query, tree_cost=e), cost)
    if bills is None:
        bills = bills_of(early.model, model, X.shape[1], tree_cost)
    np.testing.assert_array_equal(
        early.forest_cost_until_exit(X, query, tree_cost=tree_cost),
        early_exit.forest_cost_until_exit([0.0, *bills], expected),
    )
    return exits


# --- twins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cls", [GBRTRegressor, CEGBRegressor])
def test_rankings_equal_the_reference(cls, seed):
    rng = np.random.default_rng(seed)
    X, y = awkward_data(rng, 230, 4, "squared")
    y = y / max(np.abs(y).max(), 1e-300)  # thresholds below are of that scale
    model = cls(
        n_estimators=int(rng.integers(1, 14)),
        max_leaves=int(rng.integers(2, 9)),
        min_samples_leaf=int(rng.integers(1, 30)),
        learning_rate=0.4,
        feature_costs=PRICES,
        split_cost=float(rng.choice([0.0, 0.3])),
        feature_groups=[None, ["a", "b", "c", "d"], ["a", "b", "a", "b"]][seed % 3],
        group_costs=[None, None, {"a": 3.0, "b": 0.25}][seed % 3],
    )
    reference = fit_twins(model, REFERENCES[cls], X, y)
    query = queries_of(rng, len(X))
    for rule, s in RULES.items():
        for every in (1, 3, 20):
            early = EarlyExit(model, rule=rule, threshold=s, every=every)
            assert_as_reference(early, reference, X, query)
    for rule, s in {"proximity": 0.0, "capacity": 0.0, "rank": 0.5, "score": -0.1}.items():
        early = EarlyExit(model, rule=rule, threshold=s, every=2, place=int(rng.integers(1, 8)))
        assert_as_reference(early, reference, X, query)
        assert_as_reference(early, reference, X)


@pytest.mark.parametrize(("seed", "n_classes"), [(0, 1), (0, 2), (1, 2), (0, 3)])
@pytest.mark.parametrize("cls", [GBRTClassifier, CEGBClassifier])
def test_classes_equal_the_reference(cls, n_classes, seed):
    rng = np.random.default_rng(seed)
    X, y = awkward_data(rng, 150, 4, "multinomial", 3)
    y = np.minimum(y, n_classes - 1)
    model = cls(n_estimators=7, max_leaves=5, min_samples_leaf=4, feature_costs=PRICES)
    reference = fit_twins(model, REFERENCES[cls], X, y)
    left = 0
    for s in (0.0, 0.5, 0.7, 0.9, 1.0):
        early = EarlyExit(model, rule="likelihood", threshold=s, every=2)
        exits = assert_as_reference(early, reference, X)
        left += np.count_nonzero(exits.exit <= early.n_exits_)
        assert set(early.predict(X)) <= set(model.classes_)
        assert early.decision_function(X).shape == ((len(X), 3) if n_classes == 3 else (len(X),))
    assert left > 0 or n_classes == 1
    never = EarlyExit(model, rule="likelihood", threshold=1.0, every=2)
    np.testing.assert_array_equal(never.predict(X), model.predict(X))


def test_of_a_model_that_knows_missing_values():
    """Rows that miss nothing leave it as any other."""
    rng = np.random.default_rng(6)
    X, y = awkward_data(rng, 240, 4, "squared")
    few = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    few[y > np.median(y), 1] = np.nan  # so that some trees split the missing from all others
    ranker = GBRTRegressor(n_estimators=20, max_leaves=6, min_samples_leaf=3)
    model = fit_twins(ranker, gbrt, few, y)
    assert (ranker.trees_.threshold == ALL_PRESENT).any()
    early = EarlyExit(ranker, threshold=0.3 * np.std(y), every=5)
    assert_as_reference(early, model, X, queries_of(rng, 240))
    with pytest.raises(ValueError, match="EarlyExit does not support missing values"):
        early.prediction_cost(few)


@pytest.mark.parametrize("max_leaves", [50, 100])
def test_trees_with_and_without_bit_vectors(max_leaves):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=400)
    model = GBRTRegressor(n_estimators=6, max_leaves=max_leaves, min_samples_leaf=1)
    model.set_params(feature_costs=PRICES)
    reference = fit_twins(model, gbrt, X, y)
    assert bool(model._bit_vectors) == (max_leaves <= 64)
    query = queries_of(rng, len(X))
    early = EarlyExit(model, rule="capacity", threshold=0.6, every=1)
    exits = assert_as_reference(early, reference, X, query)
    assert len(set(exits.exit)) == 7


@pytest.fixture(scope="module")
def many_trees():
    """Model of 150 trees and its reference, with their rows, queries and bills."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 9, (100, 4)).astype(float)
    y = X[:, 0] - X[:, 1] + rng.normal(size=100)
    model = GBRTRegressor(n_estimators=150, max_leaves=4, min_samples_leaf=5, feature_costs=PRICES)
    reference = fit_twins(model, gbrt, X, y)
    return model, reference, X, queries_of(rng, len(X)), bills_of(model, reference, 4)


@pytest.mark.parametrize("full_enough", [0.0, 1.0])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_neither_threads_nor_batches_nor_packing_matter(
    monkeypatch, many_trees, n_threads, full_enough
):
    fitted, reference, X, query, bills = many_trees
    model = copy.copy(fitted).set_params(n_threads=n_threads)
    monkeypatch.setattr(decorators, "_PARALLEL_VALUES", 0)
    monkeypatch.setattr(walking, "BATCH_ROWS", 40)
    monkeypatch.setattr(walking, "_FULL_ENOUGH", full_enough)
    for rule, s, every in [("proximity", 2.0, 7), ("capacity", 0.9, 140), ("score", 0.0, 10)]:
        early = EarlyExit(model, rule=rule, threshold=s, every=every)
        exits = assert_as_reference(early, reference, X, query, bills=bills)
        assert len(set(exits.exit)) > 1


def test_only_rows_that_remain_are_computed(monkeypatch):
    X = np.arange(80.0)[:, None]
    model = GBRTRegressor(n_estimators=2).fit(X, X[:, 0])
    packed = walking._Packed(walking.stages_of(fitted_trees_of(model), [1]), X)
    packed.advance(0)
    before = packed.scores.copy()
    left = walking.Left(np.full(80, 2), np.zeros((80, 1)))
    packed.keep(np.arange(80) >= 16, 0, left)  # the first tile is empty now
    packed.advance(1)
    np.testing.assert_array_equal(packed.scores[:16], before[:16])
    assert np.all(packed.scores[16:] != before[16:])
    packed.keep(np.arange(64) >= 30, 1, left)
    assert len(packed.scores) == 48  # packed into three tiles
    np.testing.assert_array_equal(packed.rows, np.arange(46, 80))
    np.testing.assert_array_equal(packed.remaining_scores()[:, 0], model.predict(X)[46:])
    np.testing.assert_array_equal(left.stage, np.repeat([0, 1, 2], [16, 30, 34]))
    np.testing.assert_array_equal(left.scores[16:46, 0], model.predict(X)[16:46])


@pytest.mark.parametrize("margin", [0.0, 1.5, math.inf])
def test_who_is_near_the_kth_largest(margin):
    rng = np.random.default_rng(5)
    sizes = np.array([1, 2, 40, 3, 60, 17, 25])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    scores = rng.integers(-9, 9, starts[-1]) / 2  # with ties
    for k in range(62):
        stays = np.empty(len(scores), dtype=bool)
        ks = np.full(len(sizes), k)
        exit_rules.near_kth_largest(scores, starts, ks, margin, np.empty_like(scores), stays)
        for begin, end in itertools.pairwise(starts):
            best = np.sort(scores[begin:end])[::-1]
            least = -math.inf if k > end - begin else best[k - 1] - margin
            expected = scores[begin:end] >= least if k else np.zeros(end - begin, dtype=bool)
            np.testing.assert_array_equal(stays[begin:end], expected)


@pytest.mark.parametrize("n_queries", [1, 4, 30])
def test_queries_of_those_that_remain(n_queries):
    rng = np.random.default_rng(n_queries)
    X = np.arange(90.0)[:, None]
    model = GBRTRegressor(n_estimators=1).fit(X, X[:, 0])
    query = np.sort(rng.integers(0, n_queries, 90))
    starts = np.append(np.unique(query, return_index=True)[1], 90)
    packed = walking._Packed(walking.stages_of(fitted_trees_of(model), [1]), X, starts)
    left = walking.Left(np.full(90, 9), np.zeros((90, 1)))
    for stage, share in enumerate([0.9, 0.5, 0.5, 0.2, 0.0]):
        stays = rng.random(len(packed.places)) < share
        rows = packed.rows[stays]
        packed.keep(stays, stage, left)
        np.testing.assert_array_equal(packed.rows, rows)
        first = np.unique(query[rows], return_index=True)[1]
        np.testing.assert_array_equal(packed.starts, [*first, len(rows)])
    assert np.all(left.stage < 9)


# --- by hand, and limits --------------------------------------------------------------------------


def test_two_stumps_by_hand():
    # Two trees, each a stump at the step of what is left: y is 0 or 8 by feature 0; the residual
    # has 1 more for the last row, by feature 1. One query of six rows, an exit after each tree.
    X = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 0], [1, 1]], dtype=float)
    y = np.array([0, 0, 8, 8, 8, 9], dtype=float)
    model = GBRTRegressor(
        n_estimators=2, learning_rate=1.0, max_leaves=2, min_samples_leaf=1, init="zero",
        feature_costs=[1, 10], split_cost=0.5,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_array_equal(model.trees_.feature, [0, -1, -1, 1, -1, -1])
    # After tree 1 the scores are 0 0 8.25 8.25 8.25 8.25: two are beyond rank 4. After tree 2 the
    # last is ahead, and those beyond rank 4 have left.
    early = EarlyExit(model, rule="rank", threshold=4, every=1)
    np.testing.assert_array_equal(early.exit_stage(X), [1, 1, 3, 3, 3, 3])
    np.testing.assert_array_equal(early.predict(X)[:2], 0)
    np.testing.assert_array_equal(early.ranking_score(X), [0, 0, 2, 2, 2, 5])
    np.testing.assert_array_equal(early.evaluations(X), [1, 1, 2, 2, 2, 2])
    np.testing.assert_array_equal(early.prediction_cost(X), [1.5, 1.5, 12, 12, 12, 12])
    np.testing.assert_array_equal(early.forest_cost_until_exit(X), [2, 2, 13, 13, 13, 13])
    np.testing.assert_array_equal(early.acquired_features(X)[:3], [[1, 0], [1, 0], [1, 1]])
    # Prices of today, not of the fit.
    now = early.prediction_cost(X, feature_costs=[2, 3], split_cost=0, tree_cost=0.25)
    np.testing.assert_array_equal(now, [2.25, 2.25, 5.5, 5.5, 5.5, 5.5])


@pytest.fixture(scope="module")
def ranker():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 8, (240, 4)).astype(float)
    y = X[:, 0] / 3 + X[:, 1] / 5 + rng.normal(size=240)
    model = GBRTRegressor(n_estimators=25, max_leaves=6, feature_costs=PRICES, split_cost=0.25)
    return model.fit(X, y), X, queries_of(rng, 240)


@pytest.mark.parametrize(
    ("rule", "s"),
    [("proximity", math.inf), ("capacity", math.inf), ("capacity", 1), ("rank", math.inf),
     ("score", -math.inf)],
)  # fmt: skip
def test_exits_at_infinity_are_the_full_model(ranker, rule, s):
    model, X, query = ranker
    early = EarlyExit(model, rule=rule, threshold=s, every=1)
    np.testing.assert_array_equal(early.exit_stage(X, query), 26)
    np.testing.assert_array_equal(early.predict(X, query), model.predict(X))
    np.testing.assert_array_equal(early.prediction_cost(X, query), model.prediction_cost(X))
    np.testing.assert_array_equal(early.evaluations(X, query), model.evaluations(X))


@pytest.mark.parametrize("stops", [[0], [3, 3], [5, 4], [26]])
def test_stages_lie_within_the_model(ranker, stops):
    with pytest.raises(ValueError, match="stops must rise from 1 to at most 25"):
        walking.stages_of(fitted_trees_of(ranker[0]), stops)


def test_constant_models_have_no_exits():
    X = np.zeros((5, 2))
    with pytest.warns(ConstantModelWarning):
        model = GBRTRegressor(feature_costs=[1, 1]).fit(X, np.ones(5))
    early = EarlyExit(model, threshold=0.0)
    np.testing.assert_array_equal(early.exit_stage(X), 1)
    np.testing.assert_array_equal(early.predict(X), 1)
    np.testing.assert_array_equal(early.ranking_score(X), 0)
    np.testing.assert_array_equal(early.prediction_cost(X, tree_cost=3), 0)
    np.testing.assert_array_equal(early.forest_cost_until_exit(X), 0)
    assert not early.acquired_features(X).any()


# --- other models ---------------------------------------------------------------------------------


def assert_as_loop(early, meter, X, query, loss="squared"):
    """Assert equality with the reference's exits on the meter's own stages."""
    columns = len(meter.initial_scores_)
    scores = [np.tile(meter.initial_scores_, (len(X), 1))]
    scores += [np.reshape(stage, (len(X), columns)) for stage in meter.staged_raw(X)]
    costs = np.array([np.zeros(len(X)), *meter.staged_cost(X)])
    expected = early_exit.leave(
        scores, query, rule=early.rule, s=early.threshold, every=early.every, loss=loss
    )
    exits = early.exits(X, query)
    np.testing.assert_array_equal(exits.exit, expected.exit)
    np.testing.assert_array_equal(exits.scores, expected.scores)
    assert len(set(exits.exit)) > 2
    paid = early.prediction_cost(X, query, feature_costs=PRICES)
    np.testing.assert_array_equal(paid, costs[expected.rounds, np.arange(len(X))])


def other_models(kind):
    """A regressor or classifier of each library that is there, and its reader."""
    models = [
        (GradientBoostingRegressor(n_estimators=12), from_scikit_learn),
        (HistGradientBoostingRegressor(max_iter=12), from_scikit_learn),
    ]
    if kind == "classifier":
        models = [(HistGradientBoostingClassifier(max_iter=12), from_scikit_learn)]
    for library in ("lightgbm", "xgboost", "catboost"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        if library == "lightgbm":
            cls = module.LGBMClassifier if kind == "classifier" else module.LGBMRegressor
            models.append((cls(n_estimators=12, verbose=-1), from_lightgbm))
        elif library == "xgboost":
            if kind == "regressor":  # its classifier takes no classes but 0, 1, …
                models.append((module.XGBRegressor(n_estimators=12, n_jobs=1), from_xgboost))
        else:
            cls = module.CatBoostClassifier if kind == "classifier" else module.CatBoostRegressor
            options = {"verbose": False, "allow_writing_files": False, "depth": 3}
            models.append((cls(iterations=12, **options), from_catboost))
    return models


def test_rankings_of_other_libraries(ranker):
    _, X, query = ranker
    y = X[:, 0] / 3 + X[:, 1] * X[:, 2] / 20
    for model, read in other_models("regressor"):
        meter = read(model.fit(X, y), feature_costs=PRICES)
        for wrapped in (model, meter):
            early = EarlyExit(wrapped, threshold=0.3, every=3)
            assert_as_loop(early, meter, X, query)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_other_libraries(ranker, n_classes):
    _, X, _ = ranker
    numbers = np.digitize(X[:, 0] / 3 + X[:, 1] / 5, [2.0, 3.0][: n_classes - 1])
    y = np.array(["a", "b", "c"])[numbers]
    loss = "logistic" if n_classes == 2 else "multinomial"
    for model, read in other_models("classifier"):
        meter = read(model.fit(X, y), feature_costs=PRICES)
        s = float(np.median(np.max(model.predict_proba(X), axis=1)))
        early = EarlyExit(model, rule="likelihood", threshold=0.9 * s, every=3)
        assert_as_loop(early, meter, X, None, loss)
        np.testing.assert_array_equal(early.classes_, model.classes_)
        never = EarlyExit(meter, rule="likelihood", threshold=1.0)
        np.testing.assert_array_equal(never.predict(X), np.ravel(model.predict(X)))
        # The likelihoods are the library's own.
        largest = meter_likelihoods(early, X)
        np.testing.assert_allclose(largest, model.predict_proba(X).max(axis=1), rtol=1e-6)


def meter_likelihoods(early, X):
    never = EarlyExit(early.model, rule="likelihood", threshold=1.0)
    return never.responses_.largest_likelihood(never.exits(X).scores)


def test_a_lightgbm_booster_knows_its_classes(ranker):
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is a peer: make setup-peers")
    _, X, _ = ranker
    for objective, sigmoid, expected in [
        ("binary", 1.0, "logistic"),
        ("binary", 2.0, None),  # its likelihoods are of twice the score
        ("multiclass", 1.0, "multinomial"),
        ("multiclassova", 1.0, None),
    ]:
        n_classes = 2 if objective == "binary" else 3
        data = lightgbm.Dataset(X, np.minimum(X[:, 0] // 2, n_classes - 1))
        options = {"objective": objective, "sigmoid": sigmoid, "verbose": -1}
        options["num_class"] = 1 if objective == "binary" else 3
        link = fitted_trees_of(lightgbm.train(options, data, 3)).link
        np.testing.assert_array_equal(link.classes, np.arange(n_classes))
        assert link.likelihood == expected
    regression = lightgbm.train({"verbose": -1}, lightgbm.Dataset(X, X[:, 0]), 3)
    assert fitted_trees_of(regression).link is None


# --- manners --------------------------------------------------------------------------------------


def test_clones_share_the_model_and_a_new_fit_is_noticed(ranker):
    _, X, query = ranker
    model = GBRTRegressor(n_estimators=12, max_leaves=4).fit(X, X[:, 0])
    early = EarlyExit(model, threshold=0.2, every=2)
    first = early.exit_stage(X, query)
    again = clone(early).set_params(threshold=math.inf)
    assert again.model is model
    np.testing.assert_array_equal(again.exit_stage(X, query), 7)
    np.testing.assert_array_equal(early.exit_stage(X, query), first)
    assert early.n_exits_ == 6
    model.fit(X, X[:, 1])
    np.testing.assert_array_equal(again.predict(X, query), model.predict(X))
    assert early.set_params(every=5).n_exits_ == 2
    assert early.fit(X) is early


def test_a_fitted_estimator_among_scikit_learns(ranker):
    _, X, _ = ranker
    early = EarlyExit(GBRTClassifier(n_estimators=6, max_leaves=4), rule="likelihood", threshold=1)
    with pytest.raises(NotFittedError):
        check_is_fitted(early)
    for name in ("classes_", "n_features_in_", "feature_names_in_"):
        assert not hasattr(early, name)
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    labels = np.where(X[:, 0] > 3, "high", "low")
    early.model.fit(table, labels)
    check_is_fitted(early)
    assert early.n_features_in_ == 4
    assert list(early.feature_names_in_) == ["a", "b", "c", "d"]
    assert list(early.classes_) == ["high", "low"]
    assert is_classifier(early)
    assert not is_classifier(clone(early).set_params(rule="rank"))
    assert early.get_params(deep=False).keys() == {"model", "threshold", "rule", "every", "place"}
    assert early.get_params()["model__max_leaves"] == 4
    assert repr(early) == (
        "EarlyExit(model=GBRTClassifier(max_leaves=4, n_estimators=6), rule='likelihood',\n"
        "          threshold=1)"
    )
    assert "fitted" in early._repr_html_()
    np.testing.assert_array_equal(early.predict(table), early.model.predict(table))
    with pytest.raises(ValueError, match="feature names should match"):
        early.predict(table[["b", "a", "c", "d"]])
    copied = pickle.loads(pickle.dumps(early))
    np.testing.assert_array_equal(copied.predict(table), early.predict(table))


def test_a_threshold_can_be_searched_for(ranker):
    _, X, _ = ranker
    y = X[:, 0] > 3
    model = GBRTClassifier(n_estimators=20, max_leaves=4).fit(X, y)
    search = GridSearchCV(
        EarlyExit(model, rule="likelihood", threshold=1.0, every=2),
        {"threshold": [0.5, 0.9, 1.0], "every": [2, 5]},
        scoring="accuracy",
        cv=3,
    ).fit(X, y)
    assert search.best_estimator_.model is model
    assert search.score(X, y) == np.mean(search.best_estimator_.predict(X) == y)


def test_whether_models_of_other_libraries_are_fitted(ranker):
    _, X, _ = ranker
    for model, read in other_models("regressor"):
        with pytest.raises(NotFittedError):
            check_is_fitted(EarlyExit(model, threshold=1.0))
        for wrapped in (model.fit(X, X[:, 0]), read(model)):
            check_is_fitted(EarlyExit(wrapped, threshold=1.0))
            assert EarlyExit(wrapped, threshold=1.0).n_features_in_ == 4
    assert not hasattr(EarlyExit("no model", threshold=1.0), "n_features_in_")


# --- files ----------------------------------------------------------------------------------------


def saved_twin(early, tmp_path):
    early.save(tmp_path / "model")
    return EarlyExit.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("rule", "s"), [*RULES_OF_RANKER.items(), ("rank", math.inf), ("score", -math.inf)]
)
def test_files_of_rankers(ranker, tmp_path, rule, s):
    model, X, query = ranker
    early = EarlyExit(model, rule=rule, threshold=s, every=4, place=3)
    loaded = saved_twin(early, tmp_path)
    own = {"threshold": s, "rule": rule, "every": 4, "place": 3}
    assert loaded.get_params() == {**loaded.get_params(), **own}
    assert type(loaded.model) is GBRTRegressor
    for name, values in model.trees_._asdict().items():
        np.testing.assert_array_equal(getattr(loaded.model.trees_, name), values)
    for expected, got in zip(early.exits(X, query), loaded.exits(X, query), strict=True):
        np.testing.assert_array_equal(got, expected)
    for method in ("ranking_score", "prediction_cost", "forest_cost_until_exit"):
        expected = getattr(early, method)(X, query)
        np.testing.assert_array_equal(getattr(loaded, method)(X, query), expected)


@pytest.mark.parametrize("cls", [GBRTClassifier, CEGBClassifier, GreedyMiserClassifier])
def test_files_of_classifiers(ranker, tmp_path, cls):
    _, X, _ = ranker
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    labels = np.array(["x", "y", "z"])[((X[:, 0] + X[:, 1]) // 5).astype(int)]
    model = cls(n_estimators=8, max_depth=2, feature_costs=dict(zip("abcd", PRICES, strict=True)))
    s = 0.9 * float(np.median(model.fit(table, labels).predict_proba(table).max(axis=1)))
    early = EarlyExit(model, rule="likelihood", threshold=s, every=2)
    loaded = saved_twin(early, tmp_path)
    assert len(set(early.exit_stage(table))) > 1
    np.testing.assert_array_equal(loaded.predict(table), early.predict(table))
    np.testing.assert_array_equal(loaded.prediction_cost(table), early.prediction_cost(table))
    assert list(loaded.feature_names_in_) == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match=f"a model of class EarlyExit, not {cls.__name__}"):
        cls.load(tmp_path / "model")
    model.save(tmp_path / "full")
    with pytest.raises(ValueError, match=f"a model of class {cls.__name__}, not EarlyExit"):
        EarlyExit.load(tmp_path / "full")


def test_what_is_not_saved(ranker, tmp_path):
    model, X, _ = ranker
    for other, read in other_models("regressor"):
        for wrapped in (other.fit(X, X[:, 0]), read(other)):
            with pytest.raises(ValueError, match=f"EarlyExit of a {type(wrapped).__name__}: only"):
                EarlyExit(wrapped, threshold=1.0).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"Cannot save the EarlyExit: .*threshold must be"):
        EarlyExit(model, threshold=-1).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"Cannot save the EarlyExit: .*is for classifiers"):
        EarlyExit(model, rule="likelihood", threshold=1).save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        EarlyExit(GBRTRegressor(), threshold=1.0).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def params(**changes):
    return lambda header, arrays: header["params"].update(changes)


def of_model(**changes):
    return lambda header, arrays: header["model"].update(changes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (params(threshold=-1), "threshold must be a number >= 0"),
        (params(threshold="nan"), "threshold must be a number"),
        (params(threshold=None), "threshold must be a number"),
        (params(threshold=10**400), "threshold must be a number"),
        (params(rule="speed"), "rule must be"),
        (params(rule="likelihood"), "is for classifiers"),
        (params(every=0), "every must be a whole number >= 1"),
        (params(place=1.5), "place must be a whole number >= 1"),
        (params(colour="red"), "no parameter 'colour'"),
        (params(model=3), "no parameter"),
        (lambda header, arrays: header["params"].pop("threshold"), "missing .* 'threshold'"),
        (lambda header, arrays: header.pop("model"), "lacks 'model'"),
        (lambda header, arrays: header.update(model=[1]), "model in its header must be an object"),
        (of_model(**{"class": "AdaBoostMH"}), "its model is of class AdaBoostMH, not one of"),
        (of_model(**{"class": "EarlyExit"}), "its model is of class EarlyExit, not one of"),
        (of_model(**{"class": ["GBRT"]}), "class in its header must be the name of a class"),
        (of_model(**{"class": "GBRTClassifier"}), "classes if it is a classifier"),
        (of_model(n_estimators=7), "its array tree is for 25 trees, where its header has 7"),
        (of_model(params={"max_bins": 1}), "in its GBRTRegressor, .*max_bins must be"),
        (lambda header, arrays: arrays.pop("gain"), "lacks the array gain"),
        (lambda header, arrays: arrays.update(other=np.zeros(1)), "unknown array 'other.npy'"),
        (lambda header, arrays: arrays["left"].put(0, 0), "child of its trees"),
        (
            lambda header, arrays: arrays["value"].put(1, np.inf),
            "value of its trees must be finite",
        ),
    ],
)
def test_wrong_files_are_named(ranker, tmp_path, change, words):
    EarlyExit(ranker[0], threshold=0.5).save(tmp_path / "model")
    rewritten(tmp_path / "model", change)
    with pytest.raises(ValueError, match=f"model does not hold a whole EarlyExit: .*{words}"):
        EarlyExit.load(tmp_path / "model")


# --- inputs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "speed"}, "rule must be"),
        ({"rule": "likelihood"}, "rule='likelihood' is for classifiers"),
        ({"threshold": -0.1}, "threshold must be a number >= 0"),
        ({"threshold": math.nan}, "threshold must be a number"),
        ({"threshold": math.nan, "rule": "score"}, "threshold must be a number"),
        ({"threshold": True}, "threshold must be a number"),
        ({"threshold": "0.4"}, "threshold must be a number"),
        ({"every": 0}, "every must be a whole number >= 1"),
        ({"place": 0}, "place must be a whole number >= 1"),
        ({"threshold": 10**400}, "threshold must be a number"),
        ({"model": 3}, "model must be a fitted additive model"),
    ],
)
def test_wrong_parameters(ranker, options, words):
    model, X, query = ranker
    early = EarlyExit(**({"model": model, "threshold": 0.4} | options))
    for method in (early.predict, early.prediction_cost, early.ranking_score):
        with pytest.raises(ValueError, match=words):
            method(X, query)


def test_wrong_rows_and_queries(ranker):
    model, X, query = ranker
    early = EarlyExit(model, threshold=0.4)
    with pytest.raises(ValueError, match=r"must stand together; query 1 recurs at row 2"):
        early.predict(X[:4], [1, 2, 1, 2])
    with pytest.raises(ValueError, match="one label for each of the 240 rows"):
        early.predict(X, query[:-1])
    with pytest.raises(ValueError, match="NaN: EarlyExit does not support missing values, though"):
        early.predict(np.full((2, 4), np.nan))
    with pytest.raises(ValueError, match="tree_cost must be"):
        early.prediction_cost(X, query, tree_cost=-1)
    with pytest.raises(ValueError, match="tree_cost must be"):
        early.forest_cost_until_exit(X, query, tree_cost=math.nan)
    with pytest.raises(ValueError, match="negative"):
        early.prediction_cost(X, query, feature_costs=[1, 2, 3, -4])
    with pytest.raises(AttributeError, match="no classifier"):
        _ = early.classes_
    with pytest.raises(NotFittedError):
        EarlyExit(GBRTRegressor(), threshold=0.4).predict(X)


@pytest.mark.parametrize("rule", RULES)
def test_classifiers_do_not_rank(ranker, rule):
    _, X, query = ranker
    model = GBRTClassifier(n_estimators=2).fit(X, X[:, 0] > 3)
    with pytest.raises(ValueError, match="is a classifier: use rule='likelihood'"):
        EarlyExit(model, rule=rule, threshold=0.4).predict(X, query)
    with pytest.raises(ValueError, match="does not rank"):
        EarlyExit(model, rule="likelihood", threshold=0.4).ranking_score(X, query)


def test_parameters_are_documented():
    assert "threshold : float" in EarlyExit.__doc__
