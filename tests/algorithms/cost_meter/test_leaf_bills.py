"""Bills that are read off leaves: what walking down adds up, bit for bit."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from algorithms.cost_meter import leaf_bills
from algorithms.cost_meter import trees as metering
from algorithms.costs import grid_prices
from algorithms.gbrt import GBRTClassifier, GBRTRegressor


def walked(monkeypatch, ask):
    """Let a model say something as it walks down the trees."""

    def refuse(*_):
        raise AssertionError("bills were read off leaves")

    with monkeypatch.context() as patch:
        patch.setattr(metering, "MOST_WORDS", 0)
        patch.setattr(metering, "charge_by_leaves", refuse)
        return ask()


def read_off(monkeypatch, ask):
    """Let a model say something without a step down any tree."""

    def refuse(*_):
        raise AssertionError("rows walked down")

    with monkeypatch.context() as patch:
        patch.setattr(metering, "charge", refuse)
        return ask()


PRICES = {
    "of features": {"feature_costs": lambda d: np.arange(d) % 7 + 0.1, "split_cost": 0.37},
    "of groups": {
        "feature_groups": lambda d: np.arange(d) // 2,
        "feature_costs": lambda d: (np.arange(d) // 2) % 5 + 0.3,
        "feature_sharing": lambda d: np.arange(d) + 1.0,
        "split_cost": 0.1,
    },
    "of groups and features": {
        "feature_groups": lambda d: np.arange(d) % 3,
        "group_costs": lambda d: {0: 3.7, 1: 0.0, 2: 1.1},
        "feature_costs": lambda d: (np.arange(d) % 4) / 3,
    },
    "of nothing": {},
}


@pytest.mark.parametrize("kind", list(PRICES))
@pytest.mark.parametrize(("d", "n_leaves", "n_trees"), [(5, 31, 20), (70, 64, 6), (3, 4, 300)])
def test_bills_equal_those_of_walking(kind, d, n_leaves, n_trees, monkeypatch):
    rng = np.random.default_rng(d)
    X = rng.integers(0, 30, (300, d)).astype(float)
    y = X[:, 0] * X[:, d - 1] + 10 * rng.normal(size=300)
    model = GBRTRegressor(n_estimators=n_trees, max_leaves=n_leaves, min_samples_leaf=1)
    model.set_params(
        **{name: value(d) if callable(value) else value for name, value in PRICES[kind].items()}
    )
    model.fit(X, y)
    assert model._layouts.tiled is not None
    for n_threads, n_rows in ((1, leaf_bills.LEAST_ROWS), (2, 77)):
        model.set_params(n_threads=n_threads)
        Z = rng.normal(15, 15, size=(n_rows, d))
        for name in ("evaluations", "acquired_features", "prediction_cost"):
            if name == "prediction_cost" and kind == "of nothing":
                continue  # which warns
            ask = partial(getattr(model, name), Z)
            np.testing.assert_array_equal(read_off(monkeypatch, ask), walked(monkeypatch, ask))


def test_three_classes(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    model = GBRTClassifier(n_estimators=5, feature_costs=[1, 2, 3, 4]).fit(X, np.arange(300) % 3)
    ask = partial(model.prediction_cost, X, split_cost=0.3)
    bills = read_off(monkeypatch, ask)
    np.testing.assert_array_equal(bills, walked(monkeypatch, ask))
    np.testing.assert_array_equal([*model.staged_cost(X, split_cost=0.3)][-1], bills)


def test_few_rows_huge_trees_and_many_features_walk(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    small = GBRTRegressor(n_estimators=2).fit(X, X[:, 0])
    read_off(monkeypatch, partial(small.evaluations, X))
    monkeypatch.setattr(metering, "charge_by_leaves", lambda *_: pytest.fail("read off leaves"))
    small.evaluations(X[: leaf_bills.LEAST_ROWS - 1])
    GBRTRegressor(n_estimators=2, max_leaves=65, min_samples_leaf=1).fit(X, X[:, 0]).evaluations(X)
    wide = rng.normal(size=(100, 64 * leaf_bills.MOST_WORDS + 1))
    GBRTRegressor(n_estimators=1, max_leaves=3).fit(wide, wide[:, 0]).evaluations(wide)


def test_a_leaf_knows_its_path():
    """Two splits by hand: feature 1, then feature 0 on the right."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    model = GBRTRegressor(n_estimators=1, min_samples_leaf=1).fit(X, [0.0, 10.0, 11.0])
    prices = grid_prices([4.0, 2.0], 1.0, None, [1.0, 2.0], 2, 2)
    bills = leaf_bills.leaf_bills(model.trees_, prices, 1)
    np.testing.assert_array_equal(prices.cost(bills.steps), [0.5, 1.5, 1.5])
    np.testing.assert_array_equal(bills.passed, [1, 2, 2])
    np.testing.assert_array_equal(bills.marks, [[0b10, 0b11, 0b11]])
