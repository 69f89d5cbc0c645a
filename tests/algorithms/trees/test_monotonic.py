"""Monotonic constraints in the fast trees: equal to the reference, and scores that keep to them."""

import numpy as np
import pytest

from algorithms.cegb import CEGBRegressor
from algorithms.gbrt import GBRTRegressor
from algorithms.registry.loading import load_model
from tests.twins import KINDS, assert_twins, draw_weights

pytestmark = [
    pytest.mark.slow,  # kernels of their own are compiled
    pytest.mark.filterwarnings("ignore::algorithms.validation.categories.ManyCategoriesWarning"),
]


def draw_rows(rng, n_samples):
    """Ties, duplicates, a constant, mostly zero (bundled), missing; the last two of categories."""
    X = rng.normal(size=(n_samples, 7))
    X[:, 1] = rng.integers(0, 3, n_samples)
    X[:, 2] = X[:, 0]
    X[:, 3] = np.where(rng.random(n_samples) < 0.15, rng.integers(1, 4, n_samples), 0)
    X[:, 4] = np.where(X[:, 3] == 0, rng.random(n_samples) < 0.1, 0)
    X[:, 5] = rng.integers(0, 9, n_samples)
    X[:, 6] = rng.integers(0, 2, n_samples)
    y = X[:, 0] - X[:, 1] + np.sin(9 * X[:, 0]) + (X[:, 5] == 3) + X[:, 3]
    y += rng.normal(size=n_samples) * rng.choice([0.0, 1.0])
    if rng.random() < 0.6:
        X[rng.random(n_samples) < 0.2, 0] = np.nan
    if rng.random() < 0.3:
        X[rng.random(n_samples) < 0.5, 5] = np.nan
    return X, y


def draw_case(seed, kind):
    rng = np.random.default_rng([35, seed])
    X, y = draw_rows(rng, int(rng.integers(30, 300)))
    signs = rng.integers(-1, 2, 7)
    signs[rng.integers(0, 5)] = rng.choice([-1, 1])
    categories = bool(rng.random() < 0.5)
    if categories:
        signs[5:] = 0
    parameters = {
        "n_estimators": int(rng.integers(1, 6)),
        "learning_rate": 0.5,
        "max_depth": rng.choice([None, 1, 3]),
        "min_samples_leaf": int(rng.choice([1, 2, 5, 20])),
        "max_bins": int(rng.choice([2, 5, 255])),
        "reg_lambda": float(rng.choice([0.0, 0.3, 50.0])),
        "monotonic_cst": signs,
        "categorical_features": [5, 6] if categories else None,
        "n_threads": 1,
    }
    if kind != "gbrt":
        parameters["feature_costs"] = rng.choice([0.0, 0.1, 5.0], 7)
        parameters["tradeoff"] = float(rng.choice([0.0, 1e-2, 0.1]))
    if kind != "miser":
        parameters["growth"] = str(rng.choice(["best_first", "breadth_first"]))
    if rng.random() < 0.3:
        parameters |= {"subsample": 0.6, "colsample_bytree": 0.7, "random_state": seed}
    return rng, X, y, parameters


@pytest.mark.parametrize("seed", range(120))
def test_equals_reference(seed):
    kind = list(KINDS)[seed % 3]
    rng, X, y, parameters = draw_case(seed, kind)
    regressor, classifier, reference = KINDS[kind]
    two_classes = (seed // 3) % 2 == 1
    if two_classes:
        y = (y > np.median(y)).astype(int)
    model = (classifier if two_classes else regressor)(**parameters)
    assert_twins(model, reference, X, y, [X[::-1]], weights=draw_weights(rng, len(y)))
    scores = model.decision_function if two_classes else model.predict
    for m in np.flatnonzero(parameters["monotonic_cst"]):
        along = np.tile(X[:15], (40, 1))
        along[:, m] = np.repeat(np.linspace(-4, 10, 40), 15)
        steps = np.diff(scores(along).reshape(40, 15), axis=0)
        assert np.all(parameters["monotonic_cst"][m] * steps >= 0)


def test_a_free_model_breaks_what_a_constrained_one_keeps():
    x = np.linspace(0, 1, 400)
    y = np.sin(8 * x) + x
    free = GBRTRegressor(n_estimators=30).fit(x[:, None], y)
    rising = GBRTRegressor(n_estimators=30, monotonic_cst=[1]).fit(x[:, None], y)
    neutral = GBRTRegressor(n_estimators=30, monotonic_cst=[0]).fit(x[:, None], y)
    assert np.diff(free.predict(x[:, None])).min() < -0.01
    assert np.diff(rising.predict(x[:, None])).min() >= 0
    assert neutral.predict(x[:, None]).tobytes() == free.predict(x[:, None]).tobytes()


def test_as_good_as_scikit_learn_s():
    from sklearn.ensemble import HistGradientBoostingRegressor

    rng = np.random.default_rng(1)
    X = rng.uniform(size=(3000, 3))
    y = np.sqrt(X[:, 0]) - X[:, 1] ** 2 + np.sin(7 * X[:, 2]) + rng.normal(size=3000) * 0.5
    asked = {"learning_rate": 0.1, "min_samples_leaf": 20, "monotonic_cst": [1, -1, 0]}
    theirs = HistGradientBoostingRegressor(
        max_iter=60, max_leaf_nodes=31, l2_regularization=1.0, early_stopping=False, **asked
    ).fit(X[:2000], y[:2000])
    ours = GBRTRegressor(n_estimators=60, max_leaves=31, reg_lambda=1.0, **asked)
    ours.fit(X[:2000], y[:2000])
    errors = [np.mean((m.predict(X[2000:]) - y[2000:]) ** 2) for m in (ours, theirs)]
    assert errors[0] < 1.02 * errors[1]


def test_going_on_threads_and_files(tmp_path):
    rng = np.random.default_rng(2)
    X, y = draw_rows(rng, 20_000)
    asked = {"min_samples_leaf": 5, "monotonic_cst": [1, -1, 0, 1, 0, 0, 0]}
    whole = CEGBRegressor(n_estimators=6, n_threads=1, **asked).fit(X, y)
    going_on = CEGBRegressor(n_estimators=2, n_threads=2, warm_start=True, **asked).fit(X, y)
    going_on.set_params(n_estimators=6).fit(X, y)
    assert going_on.predict(X).tobytes() == whole.predict(X).tobytes()
    whole.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.predict(X).tobytes() == whole.predict(X).tobytes()
    assert list(again.monotonic_cst) == asked["monotonic_cst"]
