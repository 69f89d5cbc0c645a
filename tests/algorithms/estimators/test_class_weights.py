"""class_weight and n_jobs of all estimators, callbacks of AdaBoostMH: what they equal or refuse."""

import datetime

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from reference.losses import class_weights
from tests.algorithms.estimators.kinds import (
    CLASSIFIERS,
    EVERY,
    OF_TWO_CLASSES,
    TREES,
    small_size,
    takes,
)

rng = np.random.default_rng(5)
X = rng.integers(0, 9, (90, 3)).astype(np.float64)
SCORE = X[:, 0] + 2 * (X[:, 1] > 4) + rng.normal(size=90)
WORDS = np.array(["a", "b", "c"])[np.digitize(SCORE, [4.0, 7.0])]
WEIGHTS = rng.integers(0, 3, 90).astype(float)
WEIGHED = [cls for cls in CLASSIFIERS if takes(cls, "class_weight") and cls not in TREES]
FACTORS = {"a": 3.0, "b": 2.0}


def labels_for(cls):
    return np.where(WORDS == "a", "a", "b") if cls in OF_TWO_CLASSES else WORDS


def answers(model):
    scores = model.decision_function if hasattr(model, "decision_function") else model.predict
    return np.asarray(scores(X)).tobytes()


@pytest.mark.parametrize("cls", WEIGHED)
def test_weights_of_classes_are_weights_of_rows(cls, tmp_path):
    size, y = small_size(cls), labels_for(cls)
    by_row = class_weights(y, FACTORS, WEIGHTS)
    expected = cls(**size).fit(X, y, sample_weight=by_row)
    model = cls(**size, class_weight=FACTORS).fit(X, y, sample_weight=WEIGHTS)
    assert answers(model) == answers(expected)
    for wrong, message in (
        ({"a": np.nan}, "class_weight of 'a' must be a finite number > 0, got nan"),
        ({"a": -1}, "class_weight of 'a' must be a finite number > 0, got -1"),
        ({"z": 1}, "class_weight has 'z', which is no class of y"),
    ):
        before = answers(model)
        with pytest.raises(ValueError, match=message):
            model.set_params(class_weight=wrong).fit(X, y)
        assert answers(model) == before
    balanced = cls(**size, class_weight="balanced").fit(X, y)
    expected = cls(**size).fit(X, y, sample_weight=class_weights(y, "balanced"))
    assert answers(balanced) == answers(expected)
    model.set_params(class_weight=FACTORS).save(tmp_path / "m")
    assert cls.load(tmp_path / "m").class_weight == FACTORS
    assert not {"class_weight", "n_jobs", "verbose"} & set(expected._told_params())


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_dates_are_weighed_whatever_they_are_given_as(unit, tmp_path):
    y = np.array(["2026-11-28", "2026-11-29"], dtype=f"M8[{unit}]")[(SCORE > 4).astype(int)]
    expected = answers(AdaBoostMH(n_estimators=3, class_weight={False: 3.0}).fit(X, y > y.min()))
    for date in (y.min(), np.datetime64("2026-11-28"), datetime.date(2026, 11, 28)):
        model = AdaBoostMH(n_estimators=3, class_weight={date: 3.0}).fit(X, y)
        assert answers(model) == expected
        model.save(tmp_path / "m")
        assert answers(AdaBoostMH.load(tmp_path / "m").fit(X, y)) == expected


def test_every_classifier_that_can_be_weighed_is():
    left_out = {cls.__name__ for cls in CLASSIFIERS if not takes(cls, "class_weight")}
    # Forests draw copies of rows, which are whole: what classes weigh seldom is.
    assert left_out == {"BudgetForestClassifier", "BudgetPruneClassifier"}


@pytest.mark.parametrize("cls", [cls for cls in EVERY if cls not in TREES])
def test_n_jobs_is_n_threads(cls):
    size = small_size(cls)
    y = labels_for(cls) if cls in CLASSIFIERS else np.rint(SCORE)
    model = cls(**size, n_jobs=-1).fit(X, y)
    assert answers(model) == answers(cls(**size, n_threads=1).fit(X, y))
    with pytest.raises(ValueError, match="n_jobs must be None, a whole number >= 1, or -1"):
        cls(**size, n_jobs=0).fit(X, y)
    with pytest.raises(ValueError, match="n_jobs=2 and n_threads=1 differ"):
        cls(**size, n_jobs=2, n_threads=1).fit(X, y)


# --- rounds of AdaBoostMH -------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["stump", "hamming_tree"])
def test_a_callback_stops_adaboost(learner, capsys):
    told, options = [], {"weak_learner": learner, "n_leaves": 3}
    model = AdaBoostMH(n_estimators=4, verbose=3, **options)
    model.fit(X, WORDS, callbacks=[lambda r: told.append(r)])
    assert [(r.number, r.n_estimators) for r in told] == [(k, 4) for k in (1, 2, 3, 4)]
    assert [r.log_loss for r in told] == model.log_train_loss_.tolist()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["round 3 of 4", "round 4 of 4"]
    quiet = AdaBoostMH(n_estimators=9, **options)
    quiet.fit(X, WORDS, callbacks=[lambda r: r.number == 4])
    assert quiet.n_estimators_ == 4
    assert answers(quiet) == answers(model)
    before = answers(quiet)

    def raising(told):
        raise KeyError(told.number)

    with pytest.raises(KeyError):
        quiet.fit(-X, WORDS, callbacks=[raising])
    with pytest.raises(ValueError, match="callbacks must be a list of functions"):
        quiet.fit(-X, WORDS, callbacks=raising)
    with pytest.raises(ValueError, match="neither for a list of samplers nor for Dask"):
        AdaBoostMH(sampler=["uniform_naive", "ucb"], verbose=1).fit(X, WORDS)
    assert answers(quiet) == before
