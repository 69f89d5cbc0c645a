"""AdaBoostMH: bad input, and its place among scikit-learn's estimators."""

from __future__ import annotations

import doctest
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import algorithms.adaboost_mh
from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from algorithms.feature_sampling import UCB, EpsilonGreedy, Exp3P, FixedFamily, Tasting1Q
from tests.test_adaboost_mh import draw_data

# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": -1}, "n_estimators must be a whole number"),
        ({"n_estimators": 2.5}, "n_estimators must be a whole number"),
        ({"max_cost": 0}, "max_cost must be a finite number > 0"),
        ({"max_cost": np.nan}, "max_cost must be a finite number > 0"),
        ({"max_cost": "10"}, "max_cost must be a finite number > 0"),
        ({"sampler": "uniform"}, "sampler must be one of 'best_family', 'all_features'"),
        ({"sampler": 3}, "sampler must be a name, or an object with begin"),
        ({"families": [[0, 1], []]}, "family 1 has no columns"),
        ({"families": [[0], [2]]}, "column 1 is in 0 of them"),
        ({"families": [[0, 1], [1, 2]]}, "column 1 is in 2 of them"),
        ({"families": [[0, 1, 3]]}, r"family 0 has a column that X lacks \(0 to 2\)"),
        ({"families": [[0, 1, -1]]}, "family 0 has a column that X lacks"),
        ({"families": [[0, 1.5], [2]]}, "family 0 must be a list of column numbers"),
        ({"families": []}, "column 0 is in 0 of them"),
        ({"feature_costs": [1, 2]}, "one value for each of the 3 features"),
        ({"feature_costs": [1, 2, -1]}, "feature_costs must not be negative"),
        ({"split_cost": -1}, "split_cost must be a finite number"),
        ({"feature_groups": [1, 2]}, "feature_groups must have one label"),
        ({"n_threads": 0}, "n_threads"),
        ({"sampler": Laminating(n_features=0)}, "n_features must be None or a whole number"),
        ({"sampler": Laminating(n_examples=1.5)}, "n_examples must be None or a whole number"),
        ({"sampler": Laminating(by_weight=1)}, "by_weight must be True or False"),
        ({"sampler": FixedFamily(1)}, "There is no family 1"),
        ({"sampler": "uniform_q1", "max_cost": 1e300}, "at most 1000000"),
        ({"sampler": "tasting_q1", "max_cost": 1e300}, "tasting_q1 draws .* at most 1000000"),
        ({"sampler": Tasting1Q(n_tasted=0)}, "n_tasted must be a whole number >= 1, got 0"),
        ({"sampler": UCB(scale=0)}, "scale must be a finite number > 0"),
        ({"sampler": EpsilonGreedy(scale="big")}, "scale must be a finite number > 0"),
        ({"sampler": Exp3P(eta=-1)}, "eta must be a finite number > 0"),
        ({"sampler": Exp3P(lam=1.5)}, "lam must be at most 1"),
        ({"sampler": []}, "sampler is an empty list"),
        ({"sampler": ["ucb", "best_family"]}, "'best_family' is a list itself"),
        ({"sampler": ["ucb", 3]}, "sampler must be a name, or an object"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostMH(**parameters).fit(np.eye(3, dtype=np.uint8), [0, 1, 1])


def test_bad_data():
    X = np.eye(3, dtype=np.uint8)
    for wrong, message in (([[np.nan]] * 3, "NaN"), ([[np.inf]] * 3, "infinity"), (X[0], "2D")):
        with pytest.raises(ValueError, match=message):
            AdaBoostMH().fit(wrong, [0, 1, 1])
    with pytest.raises(ValueError, match="Unknown label type"):
        AdaBoostMH().fit(X, [0.5, 1.25, 1.5])
    with pytest.raises(ValueError, match="X has 2 features"):
        AdaBoostMH().fit(X, [0, 1, 1]).predict(X[:, :2])


def test_more_features_asked_for_than_there_are():
    """Q larger than a family, or than all of them: as many as there are."""
    X, y = draw_data(np.random.default_rng(7), 40, 5, 3)
    names = ("uniform_naive", "uniform_1q", "mas_naive", "mas_1q", "mas_q1", "laminating")
    for name in names:
        model = AdaBoostMH(sampler=name, max_cost=1e300, n_estimators=3, random_state=0).fit(X, y)
        assert model.sampling_cost_[:, 0].max() <= 5 * 40 * 2
    exact = AdaBoostMH(n_estimators=3).fit(X, y)
    naive = AdaBoostMH(sampler="uniform_naive", max_cost=6, n_estimators=3).fit(X, y)
    np.testing.assert_array_equal(naive.stumps_.alpha, exact.stumps_.alpha)


def test_one_class_is_constant_and_says_so():
    with pytest.warns(UserWarning, match="y is constant"):
        model = AdaBoostMH().fit(np.eye(3, dtype=np.uint8), ["only"] * 3)
    assert model.n_estimators_ == 0
    np.testing.assert_array_equal(model.predict(np.eye(3)), ["only"] * 3)
    np.testing.assert_array_equal(model.decision_function(np.eye(3)), 0)
    np.testing.assert_array_equal(model.prediction_cost(np.eye(3)), 0)
    assert list(model.staged_predict(np.eye(3))) == list(model.staged_cost(np.eye(3))) == []
    assert model.train_loss_.shape == (0,)
    assert model.sampling_cost_.shape == (0, 2)


def test_labels_never_seen_in_training_are_errors_and_no_more():
    X, y = draw_data(np.random.default_rng(8), 60, 3, 3)
    model = AdaBoostMH(n_estimators=20).fit(X, y)
    seen = model.score(X, y)
    assert 0 < model.score(np.concatenate([X, X]), np.concatenate([y, y + 10])) == seen / 2


def test_one_row_of_each_class():
    X = np.array([[3], [4]], dtype=np.uint8)
    model = AdaBoostMH(n_estimators=2).fit(X, [1, 0])
    np.testing.assert_array_equal(model.predict(X), [1, 0])
    assert model.stumps_.edge[0] == 1.0
    assert np.isfinite(model.stumps_.alpha).all()


# --- among scikit-learn's estimators ---------------------------------------------------------


def expected_failures(estimator):
    if estimator.sampler not in ("laminating", "mas_q1"):
        return {}
    reason = "draws examples: those it draws of a row's copies are not those it draws of the row"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks(
    [
        AdaBoostMH(n_estimators=5, n_threads=1),
        AdaBoostMH(n_estimators=5, sampler="tasting_1q", max_cost=2, n_threads=1),
        AdaBoostMH(n_estimators=5, sampler=Laminating(n_examples=10**6), n_threads=1),
        AdaBoostMH(n_estimators=5, sampler="laminating", random_state=0, n_threads=1),
        AdaBoostMH(n_estimators=5, sampler="mas_q1", random_state=0, n_threads=1),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_parameters_are_documented_and_by_keyword():
    signature = inspect.signature(AdaBoostMH.__init__).parameters
    assert all(p.kind is p.KEYWORD_ONLY for name, p in signature.items() if name != "self")
    assert all(name == "self" or f"    {name} : " in AdaBoostMH.__doc__ for name in signature)


def same(a, b):
    for name, values in a.stumps_._asdict().items():
        np.testing.assert_array_equal(values, getattr(b.stumps_, name), name)


def test_kinds_of_input(tmp_path):
    X, y = draw_data(np.random.default_rng(9), 80, 6, 3)
    expected = AdaBoostMH(n_estimators=5).fit(X, y)
    on_disk = np.memmap(tmp_path / "X", dtype=np.uint8, mode="w+", shape=X.shape[::-1]).T
    on_disk[:] = X
    read_only = np.asfortranarray(X)
    read_only.flags.writeable = False
    for Z in (np.asfortranarray(X), X[::-1][::-1], read_only, on_disk, pd.DataFrame(X)):
        other = AdaBoostMH(n_estimators=5).fit(Z, y.tolist())
        same(other, expected)
        np.testing.assert_array_equal(other.predict(Z), expected.predict(X))
    np.testing.assert_array_equal(np.asarray(on_disk), X)


def test_seeds():
    X, y = draw_data(np.random.default_rng(10), 80, 20, 3)
    options = {"n_estimators": 6, "sampler": "uniform_naive", "max_cost": 2}
    for seed in (4, np.int64(4)):
        same(
            AdaBoostMH(**options, random_state=seed).fit(X, y),
            AdaBoostMH(**options, random_state=4).fit(X, y),
        )
    a, b = (AdaBoostMH(**options, random_state=seed).fit(X, y) for seed in (4, 5))
    assert (a.stumps_.feature != b.stumps_.feature).any()
    a, b = (
        AdaBoostMH(**options, random_state=np.random.RandomState(1)).fit(X, y) for _ in range(2)
    )
    same(a, b)


def test_pickle_and_refit():
    X, y = draw_data(np.random.default_rng(11), 80, 6, 3)
    model = AdaBoostMH(n_estimators=5).fit(X, y)
    same(pickle.loads(pickle.dumps(model)), model)
    other = clone(model).fit(X[:, ::-1], y)
    same(other.fit(X, y), model)


def test_examples_in_the_documentation():
    results = doctest.testmod(algorithms.adaboost_mh)
    assert results.attempted >= 4
    assert results.failed == 0
