"""A fit that fails or is interrupted changes nothing, whatever stops it and wherever."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import algorithms
from algorithms.adaboost_mh import AdaBoostMH
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.stumps.sampling import Sampler
from tests.algorithms.estimators.kinds import (
    EVERY,
    OF_EACH_FIT,
    REGRESSORS,
    TREES,
    n_classes,
    small_size,
)

PACKAGE = Path(algorithms.__file__).parent
WIDTH = 40

RNG = np.random.default_rng(3)
FRAME = pd.DataFrame(RNG.normal(size=(200, WIDTH)), columns=[f"c{m}" for m in range(WIDTH)])
LABELS = np.array(["no", "perhaps", "yes"])[np.digitize(FRAME["c39"], [-0.5, 0.5])]
OTHER_LABELS = np.array(["ape", "bee", "cat"])[np.digitize(FRAME["c0"], [-0.5, 0.5])]
NARROW = FRAME[["c1", "c0"]]


def new(cls, **parameters):
    prices = {"feature_costs": np.ones(WIDTH), "split_cost": 0.25}
    return cls(**small_size(cls) | prices | parameters)


def target(cls, labels=LABELS):
    if cls in REGRESSORS:
        return np.unique(labels, return_inverse=True)[1] * 2.5
    top = np.unique(labels)[: n_classes(cls)][-1]
    return np.where(labels > top, top, labels)


def contents(model, folder):
    """What a saved model holds; the bytes of the archive also tell when it was written."""
    model.save(folder / "model")
    with zipfile.ZipFile(folder / "model") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


class Interrupted(Sampler):
    """Proposes features for one round, and is interrupted in the second."""

    def begin(self, problem):
        self._rounds = 0

    def propose(self, problem):
        self._rounds += 1
        if self._rounds > 1:
            raise KeyboardInterrupt
        return problem.edges(np.arange(2), signed=problem.weights.signed)


def raising(error):
    def function(*_, **__):
        raise error

    return function


def late_metric(error):
    """A metric of the user's own that fails in the third round."""
    calls = []

    def metric(y, scores, query_id):
        calls.append(1)
        if len(calls) == 3:
            raise error
        return 0.0

    return metric


def refused_weight(model, cls, patch):
    return {"sample_weight": np.full(200, -1.0)}


def refused_price(model, cls, patch):
    model.set_params(feature_costs=[1.0, -1.0])
    return {}


def refused_group(model, cls, patch):
    model.set_params(feature_costs=None, feature_groups=[1, 2, 3])
    return {}


def refused_targets(model, cls, patch):
    return {"y": np.full(200, np.nan)}


def refused_parameter(model, cls, patch):
    model.set_params(n_threads=0)
    return {}


@functools.cache
def calls_of_a_fit(cls):
    """How many calls of this package's functions the fit makes that is to fail."""
    fit = new(cls, feature_costs=None).fit
    n_calls = watch_calls()
    fit(NARROW, target(cls, OTHER_LABELS))
    sys.setprofile(None)
    assert n_calls[0] > 5
    return n_calls[0]


def stopping(share, error):
    """Fail at a share of the calls of this package's functions that the fit makes."""

    def failure(model, cls, patch):
        model.set_params(feature_costs=None)
        at = int(share * calls_of_a_fit(cls))
        watch_calls(at, error)  # which ends by itself when it raises
        return {}

    failure.__name__ = f"{error.__name__}_at_{share:g}_of_its_calls"
    return failure


@functools.cache
def counts(filename):
    path = Path(filename)
    return PACKAGE in path.parents and path.parent.name != "kernels"


def watch_calls(stop_at=None, error=None):
    """Count calls of this package's functions, but for those that compile; raise at one."""
    n_calls = [0]

    def called(frame, event, _):
        if event == "call" and counts(frame.f_code.co_filename):
            n_calls[0] += 1
            if n_calls[0] == stop_at:
                raise error

    sys.setprofile(called)
    return n_calls


def interrupted_after_boosting(model, cls, patch):
    model.set_params(feature_costs=None)
    name = "_set_up" if hasattr(cls, "_set_up") else "_set_fitted"
    original = getattr(cls, name)

    def set_and_stop(self, *fitted):
        original(self, *fitted)
        raise KeyboardInterrupt

    patch.setattr(cls, name, set_and_stop)
    return {}


def metric_fails(model, cls, patch):
    model.set_params(feature_costs=None, eval_metric=late_metric(RuntimeError("metric")))
    return {"eval_set": (NARROW, target(cls, OTHER_LABELS))}


def metric_interrupted(model, cls, patch):
    model.set_params(feature_costs=None, eval_metric=late_metric(KeyboardInterrupt()))
    return {"eval_set": (NARROW, target(cls, OTHER_LABELS))}


def refused_validation_set(model, cls, patch):
    model.set_params(feature_costs=None)
    return {"eval_set": (FRAME, target(cls, OTHER_LABELS))}


def split_queries(model, cls, patch):
    model.set_params(feature_costs=None)
    return {"query_id": np.arange(200) % 2}


def sampler_interrupted(model, cls, patch):
    model.set_params(feature_costs=None, sampler=Interrupted())
    return {}


stopping_late = stopping(0.9, KeyboardInterrupt)
REFUSALS = [refused_weight, refused_price, refused_group, refused_targets, refused_parameter]
ANYWHERE = [stopping_late, interrupted_after_boosting]
OF_TREES = [metric_fails, metric_interrupted, refused_validation_set, split_queries]
CASES = [
    # One function makes all of a fit or nothing: refusals, by one list of checks, come in turns.
    *((cls, REFUSALS[k % len(REFUSALS)]) for k, cls in enumerate(EVERY)),
    *((cls, failure) for cls in EVERY for failure in ANYWHERE),
    *((cls, stopping(0.4, MemoryError)) for cls in OF_EACH_FIT),
    *((cls, failure) for cls in TREES for failure in OF_TREES),
    (AdaBoostMH, sampler_interrupted),
]


def fail(model, cls, failure):
    """Fit on two columns and other classes, and let it fail."""
    with pytest.MonkeyPatch.context() as patch:
        data = {"X": NARROW, "y": target(cls, OTHER_LABELS)} | failure(model, cls, patch)
        with pytest.raises((ValueError, RuntimeError, MemoryError, KeyboardInterrupt)):
            model.fit(**data)


@functools.cache
def fitted(cls):
    return new(cls).fit(FRAME, target(cls))


@functools.cache
def answers(cls):
    """Predictions, bills and file of the model before a fit fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = contents(fitted(cls), Path(folder))
    return fitted(cls).predict(FRAME), fitted(cls).prediction_cost(FRAME), file


@pytest.mark.parametrize(("cls", "failure"), CASES)
def test_a_failed_refit_leaves_the_earlier_model_whole(cls, failure, tmp_path):
    model, before = copy.copy(fitted(cls)), answers(cls)
    parameters, attributes = model.get_params(deep=False), dict(vars(model))
    fail(model, cls, failure)
    model.set_params(**parameters)
    assert vars(model).keys() == attributes.keys()
    assert all(vars(model)[name] is value for name, value in attributes.items())
    assert model.n_features_in_ == WIDTH
    assert list(model.feature_names_in_) == list(FRAME.columns)
    np.testing.assert_array_equal(model.predict(FRAME), before[0])
    np.testing.assert_array_equal(model.prediction_cost(FRAME), before[1])
    assert contents(model, tmp_path) == before[2]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(NARROW)


LATE = {interrupted_after_boosting, metric_fails, sampler_interrupted}


@pytest.mark.parametrize(("cls", "failure"), [case for case in CASES if case[1] in LATE])
def test_a_failed_first_fit_leaves_no_model(cls, failure):
    model = new(cls)
    attributes = set(vars(model))
    fail(model, cls, failure)
    assert set(vars(model)) == attributes
    with pytest.raises(NotFittedError):
        model.predict(NARROW)


@pytest.mark.parametrize("cls", EVERY)
def test_nothing_of_an_earlier_fit_stays_but_what_a_user_keeps_with_it(cls):
    """Also what only some fits have: names of columns, the sampler chosen from a list."""
    listed = {"sampler": ["all_features", "ucb"]} if cls is AdaBoostMH else {}
    model = new(cls, **listed).fit(FRAME, target(cls)) if listed else copy.copy(fitted(cls))
    model.note = "mine"
    model.set_params(**({"sampler": "all_features"} if listed else {}))
    assert model.fit(FRAME.to_numpy(), target(cls)) is model
    assert model.note == "mine"
    fresh = new(cls).fit(FRAME.to_numpy(), target(cls))
    assert set(vars(model)) == {*vars(fresh), "note"}


@pytest.mark.parametrize("cls", EVERY)
def test_fit_shows_its_arguments_and_warns_where_it_is_called(cls):
    assert "sample_weight" in inspect.signature(cls.fit).parameters
    assert "Parameters" in cls.fit.__doc__
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        new(cls).fit(FRAME, np.full(200, 1))
    ours = [one for one in caught if issubclass(one.category, ConstantModelWarning)]
    assert [warning.filename for warning in ours] == [__file__]


@pytest.mark.parametrize("cls", EVERY)
def test_parameters_set_after_a_fit_are_checked_again(cls):
    """No price or group that does not fit the fitted trees reaches a kernel."""
    model, (expected, *_) = copy.copy(fitted(cls)), answers(cls)
    for wrong in ({"feature_groups": [0, 1]}, {"feature_costs": [1.0, 2.0]}, {"split_cost": -1}):
        model.set_params(feature_groups=None, feature_costs=None, split_cost=0.0)
        model.set_params(**wrong)
        np.testing.assert_array_equal(model.predict(FRAME), expected)
        with pytest.raises(ValueError, match=next(iter(wrong))):
            model.prediction_cost(FRAME)
    model.set_params(n_threads=0)
    with pytest.raises(ValueError, match="n_threads"):
        model.predict(FRAME)


@pytest.mark.parametrize("cls", TREES)
def test_a_fit_between_two_stages_does_not_change_the_later_ones(cls):
    model = new(cls).fit(FRAME, target(cls))
    whole = list(map(np.copy, model.staged_cost(FRAME)))
    stages = model.staged_cost(FRAME)
    first = next(stages).copy()
    model.set_params(feature_costs=None).fit(NARROW, target(cls, OTHER_LABELS))
    later = [first, *map(np.copy, stages)]
    np.testing.assert_array_equal(later, whole)


@pytest.mark.parametrize("cls", TREES)
def test_a_list_of_one_validation_set_is_that_set(cls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    for pair in ((X, y), (X, y, np.arange(60) // 5)):
        first, *others = (
            cls(**small_size(cls, n_estimators=2)).fit(X, y, eval_set=given).validation_scores_
            for given in (pair, [pair], [list(pair)])
        )
        assert len(first) == 2
        for scores in others:
            np.testing.assert_array_equal(scores, first)
