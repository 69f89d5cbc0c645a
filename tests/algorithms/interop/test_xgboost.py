"""XGBoost's models under the cost meter: its own scores, leaves and classes."""

import numpy as np
import pytest

from algorithms.interop import MeteredForest, from_xgboost
from tests.algorithms.interop.test_libraries import (
    PEER,
    PRICES,
    SPLIT,
    TASKS,
    D,
    bill,
    make_data,
    missing_data,
    rows_to_judge,
)

xgboost = pytest.importorskip("xgboost", reason=PEER)
OPTIONS = {"n_estimators": 6, "n_jobs": 1, "grow_policy": "lossguide", "max_leaves": 11}


def model_of(task, **options):
    X, y = make_data(task)
    kind = xgboost.XGBRegressor if task == "regression" else xgboost.XGBClassifier
    return kind(**OPTIONS, **options).fit(X, y), X, y


def same_leaves(forest, model, X):
    booster = getattr(model, "get_booster", lambda: model)()
    leaves = booster.predict(xgboost.DMatrix(X), pred_leaf=True).reshape(len(X), -1)
    np.testing.assert_array_equal(forest.leaves(X).reshape(len(X), -1), leaves)


@pytest.mark.parametrize("task", TASKS)
def test_scores_leaves_classes_and_bills(task, tmp_path):
    model, X, _ = model_of(task)
    forest = from_xgboost(model, feature_costs=PRICES, split_cost=SPLIT)
    rows = rows_to_judge(forest, X)  # at every threshold, and to either side
    same_leaves(forest, model, rows)
    raw = model.predict(rows, output_margin=True)
    np.testing.assert_allclose(forest.predict_raw(rows), raw, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(forest.predict(X), model.predict(X), rtol=2e-6, atol=2e-6)
    if task != "regression":
        np.testing.assert_allclose(forest.predict_proba(X), model.predict_proba(X), atol=1e-5)
        booster = from_xgboost(model.get_booster()).predict(X)
        whole = model.get_booster().predict(xgboost.DMatrix(X))
        np.testing.assert_allclose(booster, whole, atol=1e-5)
    cost, _, _ = bill(forest, rows[::9])
    np.testing.assert_allclose(forest.prediction_cost(rows[::9]), cost, rtol=1e-12)
    forest.save(tmp_path / "forest")
    again = MeteredForest.load(tmp_path / "forest")
    np.testing.assert_array_equal(again.predict_raw(rows), forest.predict_raw(rows))


@pytest.mark.parametrize("objective", ["count:poisson", "reg:absoluteerror", "reg:logistic"])
def test_predictions_of_other_objectives(objective):
    X, y = make_data("binary")
    model = xgboost.XGBRegressor(**OPTIONS, objective=objective).fit(X, y)
    np.testing.assert_allclose(from_xgboost(model).predict(X), model.predict(X), rtol=1e-5)


def test_missing_values_and_early_stopping():
    X, y, rows = missing_data("regression")
    model = xgboost.XGBRegressor(**OPTIONS | {"n_estimators": 60}, early_stopping_rounds=2)
    model.fit(X, y, eval_set=[(X[::3], np.roll(y[::3], 1))], verbose=False)
    forest = from_xgboost(model)
    assert forest.n_estimators_ == model.best_iteration + 1 < 60
    np.testing.assert_allclose(forest.predict(rows), model.predict(rows), rtol=2e-6, atol=2e-6)
    same_leaves(from_xgboost(model.get_booster()), model, rows)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"booster": "gblinear", "grow_policy": None, "max_leaves": None}, "booster gblinear"),
        ({"booster": "dart"}, "booster dart"),
        ({"num_parallel_tree": 2, "subsample": 0.5}, "rounds of several trees a score"),
        ({"objective": "reg:quantileerror", "quantile_alpha": 0.3}, "reg:quantileerror"),
    ],
)
def test_what_cannot_be_followed_is_refused(options, why):
    X, y = make_data("regression")
    model = xgboost.XGBRegressor(**OPTIONS | options).fit(X, y)
    with pytest.raises(ValueError, match=why):
        from_xgboost(model)


def test_no_model_none_fitted_and_several_targets():
    with pytest.raises(ValueError, match="needs an XGBoost model, got object"):
        from_xgboost(object())
    with pytest.raises(ValueError, match="not fitted"):
        from_xgboost(xgboost.XGBRegressor())
    X, y = make_data("regression")
    both = xgboost.XGBRegressor(**OPTIONS).fit(X, np.column_stack([y, y[::-1]]))
    with pytest.raises(ValueError, match="several targets"):
        from_xgboost(both)
    assert from_xgboost(xgboost.XGBRegressor(**OPTIONS).fit(X, y)).n_features_in_ == D
