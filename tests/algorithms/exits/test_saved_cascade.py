"""Cascades as files: with the forest; whatever is damaged is refused."""

from __future__ import annotations

import json
import math
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.cronus import CronusClassifier
from algorithms.raykar_cascade import RaykarCascadeClassifier
from tests.algorithms.estimators.changed_files import rewritten
from tests.test_cronus import PRICES, SMALL, draw, trees

NAMES = list("pqrst")
BY_NAME = dict(zip(NAMES, PRICES.tolist(), strict=True))


def saved(model, folder):
    path = folder / "model"
    model.save(path)
    return path


def assert_equal(ours, theirs, X):
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.exit_stage(X), theirs.exit_stage(X))
    np.testing.assert_array_equal(ours.prediction_cost(X), theirs.prediction_cost(X))
    np.testing.assert_array_equal(ours.forest_cost_until_exit(X), theirs.forest_cost_until_exit(X))
    np.testing.assert_array_equal(ours.acquired_features(X), theirs.acquired_features(X))


@pytest.fixture(scope="module")
def frame():
    X, y, weights = draw(0)
    return pd.DataFrame(X, columns=NAMES), y, weights


@pytest.fixture(scope="module")
def model(frame):
    X, y, weights = frame
    inner = trees(feature_costs=BY_NAME, split_cost=0.25)
    return CronusClassifier(inner, **SMALL, max_cycles=1).fit(X, y, sample_weight=weights)


def test_a_round_trip(model, frame, tmp_path):
    X, y, weights = frame
    loaded = CronusClassifier.load(saved(model, tmp_path))
    assert_equal(loaded, model, X)
    assert loaded.objective_ == model.objective_
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    assert loaded.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    again = CronusClassifier.load(saved(loaded, tmp_path))
    assert_equal(again, model, X)
    refitted = loaded.fit(X, y, sample_weight=weights)  # takes the same trees
    # Leaves are numbered anew, so that sums are rounded otherwise; the optimisation is not convex.
    np.testing.assert_allclose(refitted.initial_objective_, model.initial_objective_, rtol=1e-9)
    np.testing.assert_allclose(refitted.objective_, model.objective_, rtol=0.01)
    with pytest.raises(ValueError, match="no longer has its initialisation"):
        again.initialised()


@pytest.mark.parametrize("cls", [RaykarCascadeClassifier, AndOrCascadeClassifier])
def test_the_rivals(cls, frame, tmp_path):
    X, y, _ = frame
    inner = trees(n_estimators=4)
    rival = cls(inner, price_limits=(1, 1e9), feature_costs=BY_NAME).fit(X, y)
    loaded = cls.load(saved(rival, tmp_path))
    assert_equal(loaded, rival, X)
    np.testing.assert_array_equal(loaded.pools_, rival.pools_)


def test_trees_of_other_libraries_need_them_no_more(tmp_path):
    X, y, _ = draw(1)
    signs = np.where(y == "yes", 1.0, -1.0)
    models = [GradientBoostingRegressor(n_estimators=8, max_depth=2).fit(X, signs)]
    try:
        import lightgbm
    except ImportError:
        pass
    else:
        models.append(lightgbm.LGBMRegressor(n_estimators=8, verbose=-1).fit(X, signs))
    for inner in models:
        for estimator in (inner, FrozenEstimator(inner)):
            cascade = CronusClassifier(estimator, feature_costs=PRICES, max_cycles=0, **SMALL)
            cascade.fit(X, y)
            loaded = CronusClassifier.load(saved(cascade, tmp_path))
            # Between doubles, where float32 and tiny values decide.
            assert_equal(loaded, cascade, np.concatenate([X, X + 1e-9, X * 1e-36]))


def test_one_class(frame, tmp_path):
    X, _, _ = frame
    with pytest.warns(UserWarning, match="constant"):
        cascade = CronusClassifier(trees(), n_stages=2).fit(X, [True] * len(X))
    np.testing.assert_array_equal(cascade.exit_stage(X), 2)
    assert_equal(CronusClassifier.load(saved(cascade, tmp_path)), cascade, X)


def first(name, value):
    def change(header, arrays):
        arrays[name].flat[0] = value

    return change


def replace(name, value):
    return lambda header, arrays: arrays.update({name: value(arrays[name])})


def price(name, value):
    return lambda header, arrays: header["prices"].update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (first("thresholds", math.nan), "must not be missing"),
        (first("coef", math.inf), "must be finite"),
        (first("coef", 1e308), "no finite numbers"),
        (first("intercept", math.nan), "must be finite"),
        (replace("coef", lambda a: a[:, 1:].copy()), "tree is for 25 trees, and its array coef"),
        (replace("thresholds", lambda a: a[1:]), "a weight for each stage and tree"),
        (first("left", 10**6), "neither|child"),
        (first("feature", 5), "beyond the 5"),
        (price("split_cost", -1.0), "split_cost"),
        (price("split_cost", None), "split_cost"),
        (price("feature_costs", [1.0, 2.0]), "one value for each"),
        (price("magic", 1), "prices of all kinds"),
        (lambda header, arrays: header.pop("prices"), "lacks 'prices'"),
        (lambda header, arrays: header.update(as_seen="dimly"), "unknown way"),
        (lambda header, arrays: header["params"].update(n_stages=-1), "n_stages"),
        (lambda header, arrays: header.update(objective="low"), "objective"),
    ],
)
def test_what_no_fit_left_is_refused(model, tmp_path, change, message):
    path = saved(model, tmp_path)
    rewritten(path, change)
    with pytest.raises(ValueError, match=message):
        CronusClassifier.load(path)


def test_damage_is_noticed(model, tmp_path):
    path = saved(model, tmp_path)
    with pytest.raises(ValueError, match="not RaykarCascadeClassifier"):
        RaykarCascadeClassifier.load(path)
    content = path.read_bytes()
    for at in (len(content) // 3, len(content) // 2):
        damaged = bytearray(content)
        damaged[at] ^= 0x55
        path.write_bytes(bytes(damaged))
        with pytest.raises(ValueError, match="damaged"):
            CronusClassifier.load(path)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="damaged"):
        CronusClassifier.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({}))
    with pytest.raises(ValueError, match="not a saved model"):
        CronusClassifier.load(path)
    with pytest.raises(FileNotFoundError):
        CronusClassifier.load(tmp_path / "nothing")
