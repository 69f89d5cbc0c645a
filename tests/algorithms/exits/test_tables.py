"""EarlyExit reads tables of pandas, polars and Arrow alike, and knows their columns by name."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from algorithms.cegb import CEGBRegressor
from algorithms.early_exit import EarlyExit
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserRegressor
from algorithms.interop import from_lightgbm

RNG = np.random.default_rng(5)
X = RNG.normal(size=(150, 4))
Y = X[:, 0] + 2 * X[:, 1]
NAMES = ["age", "scan", "blood", "height"]
TABLE = pd.DataFrame(X, columns=NAMES)
QUERIES = np.repeat([4, 1, 9], 50)
OF_THIS_PACKAGE = [GBRTRegressor, GBRTClassifier, CEGBRegressor, GreedyMiserRegressor]
MODELS = {cls.__name__: lambda cls=cls: cls(n_estimators=6) for cls in OF_THIS_PACKAGE} | {
    "LightGBM": lambda: library("lightgbm").LGBMRegressor(n_estimators=6, verbose=-1),
    "CatBoost": lambda: library("catboost").CatBoostRegressor(
        iterations=6, verbose=0, allow_writing_files=False
    ),
    "scikit-learn": lambda: HistGradientBoostingRegressor(max_iter=6),
}  # fmt: skip


def library(name):
    """A library that need not be there."""
    return pytest.importorskip(name)


@functools.cache
def around(name):
    """EarlyExit around a fitted model, of each class that is read in its own way."""
    if name == "Booster":
        model = around("LightGBM").model.booster_
    elif name == "MeteredForest":
        model = from_lightgbm(around("LightGBM").model)
    else:
        model = MODELS[name]().fit(TABLE, Y > 0 if name == "GBRTClassifier" else Y)
    rule = "likelihood" if name == "GBRTClassifier" else "capacity"
    return EarlyExit(model, rule=rule, threshold=0.6, every=2)


def as_table(kind, columns):
    """A table of a library, of columns by name."""
    if kind == "pandas":
        return pd.DataFrame(columns)
    module = library(kind)
    return module.DataFrame(columns) if kind == "polars" else module.table(columns)


def columns_of(names):
    return {name: np.ascontiguousarray(TABLE[name]) for name in names}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", [*MODELS, "Booster", "MeteredForest"])
def test_tables_are_read_alike_and_by_name(name, kind):
    early = around(name)
    same = as_table(kind, columns_of(NAMES))
    others = {
        "another order": columns_of(NAMES[::-1]),
        "a column less": columns_of(NAMES[:-1]),
        "a column more": columns_of(NAMES) | {"pulse": X[:, 0].copy()},
        "another name": columns_of(NAMES[:-1]) | {"pulse": X[:, 3].copy()},
    }
    assert len(set(early.exit_stage(TABLE))) > 1
    for method in ("predict", "exit_stage", "prediction_cost", "evaluations"):
        answer = getattr(early, method)
        np.testing.assert_array_equal(answer(same), answer(TABLE))
        for columns in others.values():
            with pytest.raises(ValueError, match=r"feature names|names or another order|features"):
                answer(as_table(kind, columns))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_queries_and_missing_values_of_tables(kind):
    early = around("GBRTRegressor")
    table = as_table(kind, columns_of(NAMES) | {"query": QUERIES})
    queries = table["query"]
    rows = as_table(kind, columns_of(NAMES))
    got, expected = early.ranking_score(rows, queries), early.ranking_score(TABLE, QUERIES)
    np.testing.assert_array_equal(got, expected)
    hidden = columns_of(NAMES) | {"age": [None, *X[1:, 0].tolist()]}
    with pytest.raises(ValueError, match="X contains NaN: EarlyExit does not support missing"):
        early.predict(as_table(kind, {name: hidden[name] for name in NAMES}))


def test_the_order_of_columns_that_are_numbers_survives_a_file(tmp_path):
    table = pd.DataFrame(X, columns=[7, 5, 2, 11])
    early = EarlyExit(
        GBRTRegressor(n_estimators=6).fit(table, Y), rule="capacity", threshold=0.6, every=2
    )
    early.save(tmp_path / "early")
    for one in (early, EarlyExit.load(tmp_path / "early")):
        np.testing.assert_array_equal(one.predict(table), early.predict(table))
        with pytest.raises(ValueError, match=r"columns of X .* in another order"):
            one.predict(table[[2, 5, 7, 11]])
