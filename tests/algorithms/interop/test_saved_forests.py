"""Forests of other libraries as files: the same predictions and costs without the library."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from algorithms.estimators.archives import digest
from algorithms.interop import MeteredForest, from_catboost, from_lightgbm, from_scikit_learn
from tests.algorithms.interop.test_libraries import (
    PEER,
    PRICES,
    SPLIT,
    TASKS,
    catboost_model,
    lightgbm_model,
    make_data,
    rows_to_judge,
)


def same(one, two, X):
    """All that a forest answers, bit for bit."""
    np.testing.assert_array_equal(one.predict_raw(X), two.predict_raw(X))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_array_equal(one.prediction_cost(X), two.prediction_cost(X))
    np.testing.assert_array_equal(one.leaves(X), two.leaves(X))
    for before, after in zip(one.staged_raw(X), two.staged_raw(X), strict=True):
        np.testing.assert_array_equal(before, after)
    for name, values in one.trees_._asdict().items():
        np.testing.assert_array_equal(values, getattr(two.trees_, name), err_msg=name)


def reloaded(forest, tmp_path):
    forest.save(tmp_path / "forest.zip")
    return MeteredForest.load(tmp_path / "forest.zip")


@pytest.mark.parametrize("task", TASKS)
def test_a_saved_forest_of_scikit_learn(task, tmp_path):
    X, y = make_data(task)
    kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    model = kind(max_iter=5, max_leaf_nodes=6).fit(X, y)
    forest = from_scikit_learn(model, feature_costs=PRICES, split_cost=SPLIT)
    again = reloaded(forest, tmp_path)
    same(forest, again, rows_to_judge(forest, X))
    same(forest, reloaded(again, tmp_path), X)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("task", TASKS)
def test_saved_forests_of_lightgbm_and_catboost(task, tmp_path):
    pytest.importorskip("lightgbm", reason=PEER)
    pytest.importorskip("catboost", reason=PEER)
    model, X = lightgbm_model(task)
    forest = from_lightgbm(
        model,
        feature_costs=PRICES,
        feature_groups=["a", "a", "b", "b", "c", "d"],
        group_costs={"a": 1, "b": 2, "c": 0, "d": 3},
    )
    same(forest, reloaded(forest, tmp_path), rows_to_judge(forest, X))
    model, X = catboost_model(task, iterations=4)
    forest = from_catboost(model, feature_costs=PRICES, split_cost=SPLIT)
    same(forest, reloaded(forest, tmp_path), rows_to_judge(forest, X))


@pytest.mark.parametrize("task", TASKS)
def test_the_first_rounds_of_a_forest(task, tmp_path):
    """Also of trees whose leaves hold a value for each class."""
    pytest.importorskip("catboost", reason=PEER)
    model, X = catboost_model(task, iterations=4)
    forest = from_catboost(model, feature_costs=PRICES, split_cost=SPLIT)
    stages = zip(forest.staged_raw(X), forest.staged_cost(X), strict=True)
    for rounds, (scores, cost) in enumerate(stages, 1):
        shorter = reloaded(forest.first_rounds(rounds), tmp_path)
        np.testing.assert_array_equal(shorter.predict_raw(X), scores)
        np.testing.assert_array_equal(shorter.leaves(X), forest.leaves(X)[:, :rounds])
        np.testing.assert_allclose(shorter.prediction_cost(X), cost, rtol=1e-12)
    same(forest.first_rounds(4), forest, X)
    with pytest.raises(ValueError, match="n_rounds must be a whole number from 0 to 4"):
        forest.first_rounds(5)


def test_names_and_prices_by_name(tmp_path):
    X, y = make_data("binary")
    table = pd.DataFrame(X, columns=[f"column {m}" for m in range(X.shape[1])])
    model = HistGradientBoostingClassifier(max_iter=3).fit(table, np.where(y, "yes", "no"))
    forest = from_scikit_learn(model, feature_costs=dict(zip(table, PRICES, strict=True)))
    again = reloaded(forest, tmp_path)
    same(forest, again, table)
    assert set(again.predict(table)) == {"yes", "no"}
    with pytest.raises(ValueError, match="column 0 is 'column 5'"):
        again.predict(table[table.columns[::-1]])


def test_the_order_of_columns_that_are_numbers(tmp_path):
    """CatBoost calls columns that have no names by their places."""
    pytest.importorskip("catboost", reason=PEER)
    model, X = catboost_model("regression", iterations=4)
    forest = from_catboost(model)
    again = reloaded(forest, tmp_path)
    table = pd.DataFrame(X)
    for one in (forest, again, reloaded(again, tmp_path)):
        np.testing.assert_array_equal(one.predict(table), forest.predict(X))
        with pytest.raises(ValueError, match=r"columns of X .* in another order"):
            one.predict(table[table.columns[::-1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"as_seen": "upside_down"}, "in an unknown way"),
        ({"library": 3}, "library in its header must be a name"),
        ({"likelihood": "multinomial"}, "does not fit the number of its scores"),
        ({"likelihood": "magic"}, "unknown kind"),
        ({"classes": {"dtype": "<i8", "values": [0, 1, 2]}}, "a score for each class"),
        ({"n_features": 1}, "feature"),
        ({"feature_names": ["one"]}, "a name for each of 6 features"),
        ({"column_numbers": [0, 1, 2]}, "a number of its own for each of 6 features"),
        ({"prices": {}}, "prices of all kinds"),
    ],
)
def test_foreign_headers_are_refused(change, message, tmp_path):
    X, y = make_data("binary")
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, y)
    path = tmp_path / "forest.zip"
    from_scikit_learn(model).save(path)
    with zipfile.ZipFile(path) as archive:
        header, arrays = json.loads(archive.read("header.json")), archive.read("arrays.npz")
    header |= change
    header["sha256"] = digest(header, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("arrays.npz", arrays)
    with pytest.raises(ValueError, match=f"does not hold a whole MeteredForest: .*{message}"):
        MeteredForest.load(path)


def test_damaged_files_are_refused(tmp_path):
    X, y = make_data("regression")
    path = tmp_path / "forest.zip"
    forest = from_scikit_learn(HistGradientBoostingRegressor(max_iter=2).fit(X, y))
    forest.save(path)
    whole, n_refused = path.read_bytes(), 0
    for place in np.random.default_rng(0).integers(len(whole), size=60):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(bytes(damaged))
        try:
            again = MeteredForest.load(path)
        except ValueError:
            n_refused += 1
            continue
        same(forest, again, X)  # a byte that says nothing, such as a date
    assert n_refused > 40
