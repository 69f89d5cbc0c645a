"""Splits of categories: the estimators against their references, decision by decision."""

import numpy as np
import pytest

from algorithms.cegb import CEGBRegressor
from reference import cegb
from tests.twins import KINDS, assert_twins, draw_weights

pytestmark = [
    pytest.mark.slow,  # kernels of their own are compiled
    pytest.mark.filterwarnings("ignore::algorithms.validation.categories.ManyCategoriesWarning"),
]


def draw_rows(rng, n_samples):
    """Categories many and few, mostly one (bundled), missing, constant; and numbers."""
    n_many = int(rng.choice([2, 3, 9, 40]))
    effect = rng.choice([-1.0, 0.0, 0.5, 2.0], n_many)  # some are equal: ties
    many = rng.integers(0, n_many, n_samples)
    rare = np.where(rng.random(n_samples) < 0.2, rng.integers(1, 4, n_samples), 0)
    other = np.where(rng.random(n_samples) < 0.1, rng.integers(1, 3, n_samples), 7)
    other[rare > 0] = 7  # exclusive: both in one column of the layout
    X = np.column_stack(
        [many * 10.0 - 5, rare, other, np.full(n_samples, 3.0), rng.integers(0, 5, n_samples)]
    )
    y = effect[many] + (rare == 2) + rng.normal(size=n_samples) * rng.choice([0.0, 1.0])
    if rng.random() < 0.6:
        X[rng.random(n_samples) < 0.2, 0] = np.nan
    if rng.random() < 0.3:
        X[:, 3] = np.nan
    return X, y


def draw_case(seed, kind):
    rng = np.random.default_rng([33, seed])
    X, y = draw_rows(rng, int(rng.integers(30, 250)))
    parameters = {
        "n_estimators": int(rng.integers(1, 6)),
        "learning_rate": 0.5,
        "max_depth": rng.choice([None, 1, 3]),
        "min_samples_leaf": int(rng.choice([1, 2, 5, 20])),
        "max_bins": int(rng.choice([2, 5, 255])),
        "categorical_features": [0, 1, 2, 3],
        "feature_costs": rng.choice([0.0, 0.1, 5.0], 5),
        "n_threads": 1,
    }
    if kind != "gbrt":
        parameters["tradeoff"] = float(rng.choice([0.0, 1e-2, 0.1]))
    if kind != "miser":
        parameters["growth"] = str(rng.choice(["best_first", "breadth_first"]))
    new_rows = X[rng.integers(0, len(X), 30)]
    new_rows[:9, 0] = [4.0, -5.0, 1e9, np.nan, -1e300, 0.0, 5.0, 15.0, 5.5]
    return rng, X, y, parameters, new_rows


@pytest.mark.parametrize("seed", range(30))
def test_equals_reference(seed):
    _, X, y, parameters, new_rows = draw_case(seed, "cegb")
    eval_set = (new_rows, np.arange(30.0) % 3) if seed % 2 else None
    assert_twins(CEGBRegressor(**parameters), cegb, X, y, [new_rows], eval_set=eval_set)


@pytest.mark.parametrize("seed", range(60))
def test_equals_reference_of_every_kind(seed):
    kind = list(KINDS)[seed % 3]
    rng, X, y, parameters, new_rows = draw_case(seed, kind)
    regressor, classifier, reference = KINDS[kind]
    n_classes = (seed // 3) % 3 + 1
    if n_classes > 1:
        y = np.argsort(np.argsort(y, kind="stable"), kind="stable") * n_classes // len(y)
    model = (regressor if n_classes == 1 else classifier)(**parameters)
    assert_twins(model, reference, X, y, [new_rows], weights=draw_weights(rng, len(y)))


@pytest.mark.parametrize("seed", range(18))
def test_samples_and_a_warm_start_equal_reference(seed):
    kind = list(KINDS)[seed % 3]
    rng, X, y, parameters, new_rows = draw_case(seed, kind)
    parameters |= {
        "n_estimators": 4,
        "subsample": float(rng.choice([0.3, 0.7, 1.0])),
        "colsample_bytree": float(rng.choice([0.5, 1.0])),
        "random_state": seed,
    }
    regressor, _, reference = KINDS[kind]
    model = regressor(**parameters)
    assert_twins(model, reference, X, y, [new_rows])
    going_on = regressor(**parameters | {"n_estimators": 2, "warm_start": True}).fit(X, y)
    going_on.set_params(n_estimators=4).fit(X, y)
    for ours, theirs in zip(going_on.trees_, model.trees_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    X[:, 0] += 1000.0
    if len(model.categories_[0]) and model.n_estimators_:
        with pytest.raises(ValueError, match="other categories than those"):
            going_on.set_params(n_estimators=5).fit(X, y)


def test_a_column_of_categories_is_paid_once():
    color = np.tile(np.arange(12.0), 20)
    y = np.isin(color, [1, 4, 7, 8]) + 2.0 * np.isin(color, [2, 4, 9])
    prices = {"feature_costs": [3.0], "split_cost": 0.25, "n_threads": 1}
    model = CEGBRegressor(n_estimators=4, categorical_features=[True], **prices)
    model.fit(color[:, None], y)
    assert np.array_equal(model.predict(color[:1, None]), model.predict(color[12:13, None]))
    bills = model.prediction_cost(color[:, None])
    np.testing.assert_array_equal(bills, 3.0 + 0.25 * model.evaluations(color[:, None]))
    one_split = CEGBRegressor(
        n_estimators=1, max_leaves=2, learning_rate=1.0, tradeoff=0.0, categorical_features=[0]
    ).fit(color[:, None], np.isin(color, [1, 4, 7, 8]))
    is_one = np.isin(color, [1, 4, 7, 8])
    np.testing.assert_allclose(one_split.predict(color[:, None]), is_one, rtol=0, atol=1e-9)
