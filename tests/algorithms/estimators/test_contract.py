"""What every estimator promises of its numbers: threads, weights, one class, files, wrong rows."""

from __future__ import annotations

import copy
import functools
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.cronus import CronusClassifier
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.fcboost import FCBoostClassifier
from algorithms.kernels import decorators
from algorithms.raykar_cascade import RaykarCascadeClassifier
from algorithms.viola_jones import ViolaJonesClassifier
from tests.algorithms.estimators.kinds import (
    CLASSIFIERS,
    EVERY,
    OF_TWO_CLASSES,
    REGRESSORS,
    n_classes,
    small_size,
    takes,
)
from tests.algorithms.estimators.test_masked_arrays import PREDICTIONS, answers

N_ROWS, WIDTH = 120, 6
# Copies are other rows to an optimisation that ends at a limit, or sums in floating point.
OPTIMISED = (AndOrCascadeClassifier, CronusClassifier, RaykarCascadeClassifier)
NOT_FINITE = (math.nan, math.inf)
REFUSED = {
    # What is wrong with a parameter of each family's own: name, values, words
    AndOrCascadeClassifier: [
        ("price_limits", [5], "rising numbers"),
        ("ridge", [0], "ridge must be"),
        ("negative_weight", NOT_FINITE, "negative_weight must be"),
        ("max_cycles", [0], "max_cycles must be"),
        ("estimator", ["trees"], "fitted additive model"),
    ],
    RaykarCascadeClassifier: [
        ("price_limits", [(5, 1), (), (1, math.nan)], "rising numbers"),
        ("reject_below", [1.0], "above 0 and below 1"),
        ("ridge", [0.0], "ridge must be"),
        ("tradeoff", NOT_FINITE, "tradeoff must be"),
    ],
    BourdevCascadeClassifier: [
        ("detection_rate", [0.0, math.nan], "detection_rate must be"),
        ("detection_rate", [1.01], "above 0 and at most 1"),
        ("alpha", [math.nan, "1", True], "alpha must be a finite number"),
        ("n_stages", [0], "n_stages must be"),
        ("n_stages", [6], "at most the 3 base classifiers"),
        ("estimator", [AdaBoostMH(n_estimators=0)], "no base classifiers"),
        ("estimator", ["stumps"], "fitted additive model"),
    ],
    ViolaJonesClassifier: [
        ("max_fpr", [0.0], "max_fpr must be"),
        ("max_fpr", [1.5], "above 0 and at most 1"),
        ("min_tpr", [0, math.nan], "min_tpr must be"),
        ("max_stages", [0], "max_stages must be"),
        ("max_stumps", [0], "max_stumps must be"),
        ("validation_share", [1.0], "validation_share must be"),
        ("validation_share", [0.001], "no validation rows"),
        ("validation_share", [0.999], "no training rows"),
        ("random_state", [-1], "random_state must be"),
    ],
    FCBoostClassifier: [
        ("eta", [-1e-9, math.nan], "eta must be"),
        ("steepness", [0.0, math.inf], "steepness must be"),
        ("n_estimators", [-1], "n_estimators must be"),
    ],
    CronusClassifier: [
        ("n_stages", [0], "n_stages must be a whole number from 1 to 1000"),
        ("tradeoff", [-1], "tradeoff must be a finite number >= 0"),
        ("tradeoff", [1e300], "times all prices"),
        ("rejection", [1.0], "rejection must be at least 0 and below 1"),
        ("steepness", [0], "steepness must be a finite number > 0"),
        ("positive_weight", [0], "positive_weight must be a finite number > 0"),
        ("threshold_rule", ["hard"], "threshold_rule must be 'soft' or 'quantile'"),
        ("last_penalty", [math.nan], "last_penalty must be"),
        ("tree_cost", [math.inf], "tree_cost must be"),
        ("feature_costs", [[1, 2, 3, 4, 5, -6]], "must not be negative"),
        ("feature_costs", [[1, 2, 3]], "one value for each of the 6 features"),
        ("max_evaluations", [0], "max_evaluations must be"),
        ("estimator", ["gbrt"], "must be a fitted additive model"),
    ],
}


def draw(cls, seed=0):
    """Rows with ties, a constant and a copy; whole weights, some of them 0."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, (N_ROWS, WIDTH)) + 0.0
    X[:, 1], X[:, 2], X[:, 3] = 3.0, X[:, 0], rng.normal(size=N_ROWS)
    y = np.digitize(X[:, 0] + X[:, 4] * X[:, 3], [0.0, 9.0]) % n_classes(cls)
    weights = rng.integers(0, 4, N_ROWS)
    return X, y * 2.5 if cls in REGRESSORS else y, weights


def new(cls, **parameters):
    prices = {"feature_costs": np.arange(1.0, WIDTH + 1), "split_cost": 0.25}
    seed = {"random_state": 0} if takes(cls, "random_state") else {}
    return cls(**small_size(cls) | prices | seed | parameters)


def fitted(model, X, y, **others):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows are constant, or save nothing
        return model.fit(X, y, **others)


@functools.cache
def earlier(cls):
    """A fitted model, to be copied."""
    return fitted(new(cls), *draw(cls)[:2])


def assert_same(one, other, X, but=()):
    """Equal in all that is saved, predicted and billed."""
    (_, arrays), (_, others) = one._contents(), other._contents()
    assert arrays.keys() == others.keys()
    for name, values in arrays.items():
        if name in but:
            continue
        np.testing.assert_array_equal(values, others[name], name)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.prediction_cost(X), other.prediction_cost(X))


@pytest.mark.parametrize("cls", EVERY)
def test_threads_change_nothing(cls, monkeypatch):
    X, y, weights = draw(cls)
    one = fitted(new(cls, n_threads=1), X, y, sample_weight=weights)
    monkeypatch.setattr(decorators, "_PARALLEL_VALUES", 0)  # else so little work is not shared
    two = fitted(new(cls, n_threads=2), X, y, sample_weight=weights)
    assert_same(one, two, X)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("cls", [cls for cls in EVERY if cls not in OPTIMISED])
def test_weights_are_copies(cls, seed):
    X, y, weights = draw(cls, seed)
    weighted = fitted(new(cls), X, y, sample_weight=weights)
    copies = fitted(new(cls), np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_same(weighted, copies, X, but=("sampling_cost_", "family_rows_"))  # of rows


@pytest.mark.parametrize("n_rows", [1, 20])
@pytest.mark.parametrize("cls", EVERY)
def test_one_class_is_predicted_for_nothing(cls, n_rows, tmp_path):
    X = draw(cls)[0][:n_rows]
    label = 2.5 if cls in REGRESSORS else "b"
    model = new(cls)
    with pytest.warns(ConstantModelWarning, match="y is constant"):
        model.fit(X, [label] * n_rows)
    model.save(tmp_path / "model")
    for one in (model, cls.load(tmp_path / "model")):
        assert one.predict(X).tolist() == [label] * n_rows
        assert one.prediction_cost(X).tolist() == [0.0] * n_rows
        assert not any(bill.any() for bill in one.staged_cost(X))
        assert not one.acquired_features(X).any()
        assert not one.evaluations(X).any()
        if hasattr(one, "predict_proba"):
            np.testing.assert_array_equal(one.predict_proba(X), np.ones((n_rows, 1)))


@pytest.mark.parametrize("cls", EVERY)
def test_files_pickles_and_tables_answer_alike(cls, tmp_path):
    model, (X, y, _) = earlier(cls), draw(cls)
    model.save(tmp_path / "model")
    table = pd.DataFrame(X, columns=list("abcdef"))
    for other, rows in (
        (cls.load(tmp_path / "model"), X),
        (pickle.loads(pickle.dumps(model)), X),
        (fitted(new(cls), table, y), table),
    ):
        for name in PREDICTIONS:
            if hasattr(model, name):
                ours, theirs = answers(other, name, rows), answers(model, name, X)
                np.testing.assert_array_equal(ours, theirs, name)
        for name, value in vars(model).items():
            if name.endswith("_") and isinstance(value, int | float | np.ndarray):
                np.testing.assert_array_equal(getattr(other, name, value), value, name)


@pytest.mark.parametrize("cls", EVERY)
def test_wrong_rows_and_targets(cls):
    model, (X, y, _) = earlier(cls), draw(cls)

    def refuse(words, X=X, y=y, predict=True):
        with pytest.raises(ValueError, match=words):
            new(cls).fit(X, y)
        if predict:
            with pytest.raises(ValueError, match=words):
                model.predict(X)

    for bad, words in ((np.nan, "NaN"), (np.inf, "infinity")):
        if words == "infinity" or not model.__sklearn_tags__().input_tags.allow_nan:
            refuse(f"X contains {words}", np.where(np.eye(*X.shape, 1), bad, X))
    refuse("Expected 2D array", X[0])
    with pytest.raises(ValueError, match="X has 5 features"):
        model.predict(X[:, :5])
    if cls in CLASSIFIERS:
        refuse("Unknown label type", y=y + 0.5 * X[:, 3], predict=False)
    if cls in OF_TWO_CLASSES:
        refuse("Only binary classification", y=np.arange(N_ROWS) % 3, predict=False)


@pytest.mark.parametrize(
    ("cls", "name", "value", "words"),
    [(cls, name, v, words) for cls in REFUSED for name, vs, words in REFUSED[cls] for v in vs],
)
def test_a_wrong_parameter_leaves_the_earlier_fit(cls, name, value, words):
    X, y, _ = draw(cls)
    model = copy.copy(earlier(cls))
    before = model.predict(X)
    with pytest.raises(ValueError, match=words):
        model.set_params(**{name: value}).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)
