"""What a mask hides is missing: NaN where an estimator takes it, and else refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from algorithms.early_exit import EarlyExit
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.interop import from_scikit_learn
from algorithms.metrics import accuracy, average_precision_score, precision_at_k, query_starts
from algorithms.selection import BudgetSearchCV, assert_budget, cost_curve, cost_scorer
from tests.algorithms.estimators.kinds import EVERY, TREES, small_size, takes

N = 80
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int)
HIDDEN = X > 1
RASTER = np.ma.masked_array(np.where(HIDDEN, -9999.0, X), mask=HIDDEN)
MISSING = RASTER.filled(np.nan)
ONE = np.arange(N) == 5
QUERIES = np.repeat([4, 1], N // 2)

PREDICTIONS = (
    "predict",
    "predict_proba",
    "decision_function",
    "prediction_cost",
    "acquired_features",
    "evaluations",
    "exit_stage",
    "exits",
    "staged_predict",
    "staged_predict_proba",
    "staged_decision_function",
    "staged_cost",
)


def answers(model, name, rows):
    answer = getattr(model, name)(rows)
    return list(map(np.copy, answer)) if name.startswith("staged") else answer


def masked(values):
    return np.ma.masked_array(values, mask=ONE)


@pytest.mark.parametrize("cls", EVERY)
def test_hidden_values_are_missing_or_refused(cls):
    allow_nan = cls().__sklearn_tags__().input_tags.allow_nan
    assert allow_nan == (cls in TREES)
    model = cls(**small_size(cls))
    refusal = f"X is a masked array.* {cls.__name__} takes no missing values.*fill it in first"
    if allow_nan:
        expected = cls(**small_size(cls)).fit(MISSING, Y)
        model.fit(RASTER, Y)
        for rows in (RASTER, list(RASTER)):
            np.testing.assert_array_equal(model.predict(rows), expected.predict(MISSING))
    else:
        with pytest.raises(ValueError, match=refusal):
            model.fit(RASTER, Y)
        model.fit(np.ma.masked_array(X), Y)  # hides nothing
    methods = [name for name in PREDICTIONS if hasattr(model, name)]
    assert len(methods) >= 4
    for name in methods:
        if allow_nan:
            got, wanted = answers(model, name, RASTER), answers(expected, name, MISSING)
            np.testing.assert_array_equal(got, wanted)
        else:
            with pytest.raises(ValueError, match=refusal):
                answers(model, name, RASTER)


@pytest.mark.parametrize("cls", EVERY)
def test_hidden_targets_and_weights_are_refused(cls):
    model = cls(**small_size(cls))
    words = ".*not a masked array: fill it in first"
    with pytest.raises(ValueError, match=f"^y {words}"):
        model.fit(X, masked(Y))
    with pytest.raises(ValueError, match=f"^y {words}"):
        model.fit(X, [*Y[1:], np.ma.masked])
    with pytest.raises(ValueError, match=f"^sample_weight {words}"):
        model.fit(X, Y, sample_weight=masked(np.ones(N)))


def refused_by_score(model):
    """Assert that a fitted model scores whole answers, and refuses hidden ones."""
    words = ".*not a masked array: fill it in first"
    whole = np.ma.masked_array(np.ones(N))  # hides nothing
    assert model.score(X, np.ma.masked_array(Y)) == model.score(X, Y)
    assert np.isfinite(model.score(X, Y, sample_weight=whole))
    with pytest.raises(ValueError, match=f"^y {words}"):
        model.score(X, masked(Y))
    with pytest.raises(ValueError, match=f"^sample_weight {words}"):
        model.score(X, Y, masked(np.ones(N)))


@pytest.mark.parametrize("cls", EVERY)
def test_score_refuses_hidden_targets_and_weights(cls):
    assert is_classifier(cls()) or is_regressor(cls())
    refused_by_score(cls(**small_size(cls)).fit(X, Y))


@pytest.mark.parametrize("cls", [HistGradientBoostingRegressor, HistGradientBoostingClassifier])
def test_score_of_what_is_around_another_model(cls):
    model = cls(max_iter=3).fit(X, Y)
    refused_by_score(from_scikit_learn(model))
    rule = "likelihood" if is_classifier(model) else "score"
    refused_by_score(EarlyExit(model, rule=rule, threshold=0.5))


def test_selection_refuses_hidden_targets_and_weights():
    weights = masked(np.ones(N))
    model = GBRTClassifier(n_estimators=2, feature_costs=[1, 2, 3]).fit(X, Y)
    search = BudgetSearchCV(GBRTClassifier(n_estimators=2), {"max_leaves": [2]}, budget=9, cv=2)
    for refused in (
        lambda: assert_budget(model, X, masked(Y), min_score=0),
        lambda: cost_curve(model, X, masked(Y)),
        lambda: search.fit(X, masked(Y)),
        lambda: search.fit(X, Y).score(X, masked(Y)),
    ):
        with pytest.raises(ValueError, match=r"^y .*not a masked array"):
            refused()
    for refused in (
        lambda: cost_scorer(model, X, sample_weight=weights),
        lambda: search.fit(X, Y, sample_weight=weights),
    ):
        with pytest.raises(ValueError, match=r"^sample_weight .*not a masked array"):
            refused()
    assert search.fit(X, Y).score(X, Y) == search.best_estimator_.score(X, Y)


@pytest.mark.parametrize("cls", TREES)
def test_hidden_queries_and_validation_rows(cls):
    size = small_size(cls)
    words = ".*not a masked array: fill it in first"
    with pytest.raises(ValueError, match=f"^query_id {words}"):
        cls(**size).fit(X, Y, query_id=masked(QUERIES))
    with pytest.raises(ValueError, match=f"^y {words}"):
        cls(**size).fit(X, Y, eval_set=(X, masked(Y)))
    with pytest.raises(ValueError, match=f"^the query_id of eval_set {words}"):
        cls(**size).fit(X, Y, eval_set=(X, Y, masked(QUERIES)))
    scores = cls(**size).fit(X, Y, eval_set=(RASTER, Y)).validation_scores_
    expected = cls(**size).fit(X, Y, eval_set=(MISSING, Y)).validation_scores_
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("cls", [cls for cls in EVERY if takes(cls, "max_fpr")])
def test_hidden_validation_rows_of_a_cascade(cls):
    with pytest.raises(ValueError, match="X is a masked array"):
        cls(**small_size(cls)).fit(X, Y, eval_set=(RASTER, Y))
    with pytest.raises(ValueError, match=r"^y .*fill it in first"):
        cls(**small_size(cls)).fit(X, Y, eval_set=(X, masked(Y)))


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.float32, object])
def test_hidden_values_of_every_kind(dtype):
    whole = np.ma.masked_array((10 * np.abs(X)).astype(dtype), mask=HIDDEN)
    missing = np.where(HIDDEN, np.nan, whole.data.astype(np.float64))
    got = GBRTRegressor(n_estimators=2).fit(whole, X[:, 0]).predict(whole)
    expected = GBRTRegressor(n_estimators=2).fit(missing, X[:, 0]).predict(missing)
    np.testing.assert_array_equal(got, expected)


def test_metrics_refuse_hidden_values():
    for y, scores, queries in (
        (masked(Y), X[:, 0], QUERIES),
        (Y, masked(X[:, 0]), QUERIES),
        (Y, X[:, 0], masked(QUERIES)),
    ):
        with pytest.raises(ValueError, match="not a masked array"):
            precision_at_k(y, scores, queries, 2)
    for refused in (
        lambda: query_starts(masked(QUERIES)),
        lambda: accuracy(masked(Y), Y),
        lambda: average_precision_score(Y, Y, sample_weight=masked(np.ones(N))),
    ):
        with pytest.raises(ValueError, match="not a masked array"):
            refused()


def test_wrappers_see_what_is_hidden():
    model = GBRTClassifier(n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="X contains NaN: EarlyExit"):
        EarlyExit(model, rule="likelihood", threshold=1.0).predict(RASTER)
    grid = {"max_leaves": [2, 3]}
    search = BudgetSearchCV(GBRTClassifier(n_estimators=2), grid, budget=99, cv=2)
    got = search.fit(RASTER, Y).cv_results_["mean_test_score"]
    expected = search.fit(MISSING, Y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(got, expected)
