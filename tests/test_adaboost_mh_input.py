"""AdaBoostMH: bad input, and its place among scikit-learn's estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating, MASNaive
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.feature_sampling import (
    BEST_FAMILY,
    SAMPLERS,
    UCB,
    EpsilonGreedy,
    Exp3P,
    FixedFamily,
    Tasting1Q,
)
from algorithms.stumps.sampling import Proposal, Sampler
from tests.test_adaboost_mh import TREES, assert_same_model, draw_data

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
        ({"sampler": UCB}, r"sampler must be an object, not a class: UCB\(\)"),
        ({"sampler": [["ucb"], "exp3p"]}, "a list of samplers cannot hold a list"),
        ({"sampler": FixedFamily("a")}, "family must be a whole number >= 0, got 'a'"),
        ({"sampler": FixedFamily(True)}, "family must be a whole number"),
        ({"sampler": UCB(scale=10**400)}, "scale must be a finite number > 0"),
        ({"sampler": MASNaive(n_components=10**9)}, "n_components must be at most 100"),
        ({"max_cost": 10**400}, "max_cost must be a finite number > 0"),
        ({"families": 3}, "families must be a list of lists of column numbers, got 3"),
        ({"families": [[0, [1]], [2]]}, "family 0 must be a list of column numbers"),
        ({"random_state": -1}, "random_state must be a whole number >= 0, got -1"),
        ({"sampler": ["ucb", "best_family"]}, "'best_family' is a list itself"),
        ({"sampler": ["ucb", 3]}, "sampler must be a name, or an object"),
        ({"weak_learner": "tree"}, "weak_learner must be 'stump' or 'hamming_tree', got 'tree'"),
        (TREES | {"n_leaves": 1}, "n_leaves must be a whole number >= 2, got 1"),
        (TREES | {"n_leaves": 2.5}, "n_leaves must be a whole number"),
        ({"initial_weights": None}, "initial_weights must be 'uniform' or 'balanced'"),
        ({"smoothing": -0.1}, "smoothing must be a finite number >= 0"),
        ({"smoothing": np.inf}, "smoothing must be a finite number >= 0"),
        ({"smoothing": 1e200}, r"smoothing must be at most 1e\+100"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostMH(**parameters).fit(np.eye(3, dtype=np.uint8), [0, 1, 1])


def test_a_samplers_parameters_can_be_searched_over():
    model = AdaBoostMH(n_estimators=3, sampler=UCB(scale=1.0), random_state=0)
    search = GridSearchCV(model, {"sampler__scale": [1.0, 8.0]}, cv=2)
    X, y = draw_data(np.random.default_rng(0), 40, 6, 2)
    search.fit(X, y)
    assert search.best_params_["sampler__scale"] in (1.0, 8.0)
    assert clone(model).get_params()["sampler__scale"] == 1.0
    assert repr(UCB(scale=2.0)) == "UCB(scale=2.0)"


def test_weights_of_ones_own_belong_to_a_sample():
    class Confused(Sampler):
        def propose(self, problem):
            problem.edges(np.arange(2), signed=problem.weights.signed)

    with pytest.raises(ValueError, match="give its rows too"):
        AdaBoostMH(sampler=Confused()).fit(np.eye(3, dtype=np.uint8), [0, 1, 1])


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


def test_one_class_has_no_rounds():
    model = AdaBoostMH()
    with pytest.warns(ConstantModelWarning, match="y is constant"):
        model.fit(np.eye(3, dtype=np.uint8), ["only"] * 3)
    np.testing.assert_array_equal(model.decision_function(np.eye(3)), 0)
    assert list(model.staged_predict(np.eye(3))) == list(model.staged_cost(np.eye(3))) == []
    assert (model.train_loss_.shape, model.sampling_cost_.shape) == ((0,), (0, 2))


def test_labels_never_seen_in_training_are_errors_and_no_more():
    X, y = draw_data(np.random.default_rng(8), 60, 3, 3)
    model = AdaBoostMH(n_estimators=20).fit(X, y)
    seen = model.score(X, y)
    assert 0 < model.score(np.concatenate([X, X]), np.concatenate([y, y + 10])) == seen / 2
    assert model.score(X, y + 10) == 0.0
    staged = [np.mean(labels == y + 10) for labels in model.staged_predict(X)]
    assert staged == [0.0] * 20  # and never one of them is predicted
    assert set(model.predict(X)) <= set(model.classes_)
    with pytest.raises((ValueError, TypeError)):  # words for a model of numbers
        model.score(X, np.array(["a", "b", "c"])[y])


FAMILIES = [[0], [1, 2], [3, 4, 5, 6]]


@pytest.mark.parametrize("name", [*SAMPLERS, BEST_FAMILY])
def test_more_is_asked_for_than_there_is(name):
    """Q larger than each family and all of them, S larger than N: as many as there are."""
    X, y = draw_data(np.random.default_rng(10), 30, 7, 3)
    for max_cost in (3, 200):
        model = AdaBoostMH(
            sampler=name, max_cost=max_cost, families=FAMILIES, n_estimators=8, random_state=0
        ).fit(X, y)
        assert model.n_estimators_ == 8
        assert (model.stumps_.edge > 0).all()
        assert (model.family_rows_.sum(axis=0) <= 30).all()


def test_samples_larger_than_the_training_set_are_the_training_set():
    X, y = draw_data(np.random.default_rng(11), 40, 6, 3)
    exact = AdaBoostMH(n_estimators=6).fit(X, y)
    for by_weight in (True, False):
        sampler = Laminating(n_features=6, n_examples=41, by_weight=by_weight)
        model = AdaBoostMH(sampler=sampler, n_estimators=6).fit(X, y)
        assert_same_model(model, exact)  # of all features, with exact edges: the best
        assert (model.sampling_cost_[:, 0] == 6 * 40 * 2).all()


def test_one_row_of_each_class():
    X = np.array([[3], [4]], dtype=np.uint8)
    model = AdaBoostMH(n_estimators=2).fit(X, [1, 0])
    np.testing.assert_array_equal(model.predict(X), [1, 0])
    assert model.stumps_.edge[0] == 1.0
    assert np.isfinite(model.stumps_.alpha).all()


# --- thousands of rounds ---------------------------------------------------------------------


class TwoPhases(Sampler):
    """Features 7 to 13 for 1,500 rounds, then 0 to 9."""

    def begin(self, problem):
        self._round = 0

    def propose(self, problem):
        self._round += 1
        features = np.arange(7, 14) if self._round <= 1500 else np.arange(10)
        return Proposal(features, len(features) * problem.n_samples)


def test_no_example_is_lost_in_5000_rounds():
    """The last row is right by far until its weight is no float64; then it becomes a hard one.

    Weights that were multiplied round by round would have been 0 by then, and stayed so.
    """
    rows, y = np.arange(56), np.arange(58) % 2
    wrong = np.zeros((58, 14), dtype=bool)  # votes of the features
    wrong[rows, rows // 2 % 7] = wrong[rows, 7 + rows // 2 % 7] = True
    wrong[56, [0, 1, 7, 8]] = True  # hard from the first round
    wrong[57, :7] = True
    X = (wrong ^ (y == 1)[:, None]).astype(np.uint8)
    model = AdaBoostMH(n_estimators=5000, sampler=TwoPhases()).fit(X, y)

    signs = 2 * y - 1
    margins = np.array(list(model.staged_decision_function(X))) * signs
    assert np.exp(margins[1499].min() - margins[1499, 57]) == 0.0
    final = np.exp(margins[-1].min() - margins[-1])
    final /= final.sum()
    assert final[57] > 0.25
    assert final[56] > 0.25
    np.testing.assert_array_equal(model.predict(X), y)
    # The loss, far below any float64, is still what the edges promise, round after round.
    assert model.train_loss_[-1] == 0.0
    promised = np.cumsum(0.5 * np.log1p(-(model.stumps_.edge**2)))
    np.testing.assert_allclose(model.log_train_loss_, promised, rtol=1e-7)
    assert promised[-1] < -3000

    multiplied = np.ones(58) / 58
    above = X[:, model.stumps_.feature] > model.stumps_.threshold
    for right, vote, alpha in zip(above.T, model.stumps_.votes, model.stumps_.alpha, strict=True):
        multiplied *= np.exp(-alpha * vote * np.where(right, 1, -1) * signs)
        multiplied /= multiplied.sum()
    assert abs(multiplied[57] - final[57]) > 0.25


@pytest.mark.parametrize("weight", [None, 3.0, 0.25])
def test_an_edge_of_exactly_1_round_after_round(weight):
    """A feature that tells all: α stays finite, and later rounds add the same."""
    X, y = np.repeat(np.arange(2, dtype=np.uint8), 4)[:, None], np.repeat(np.arange(2), 4)
    weights = None if weight is None else np.full(8, weight)
    model = AdaBoostMH(n_estimators=300).fit(X, y, sample_weight=weights)
    assert set(model.stumps_.edge) == {1.0}
    assert set(model.stumps_.alpha) == {model.stumps_.alpha[0]}
    # A wrong weight of 0 counts as half a step of 2**-30: ½ log(2 · 8 · 2**30), or of 24 copies.
    copies = 24 if weight == 3 else 8
    assert model.stumps_.alpha[0] == pytest.approx(0.5 * np.log(2.0**31 * copies), rel=1e-12)
    np.testing.assert_allclose(
        model.log_train_loss_, -model.stumps_.alpha[0] * np.arange(1, 301), rtol=1e-12
    )
    np.testing.assert_array_equal(model.predict(X), y)


# --- among scikit-learn's estimators ---------------------------------------------------------


def test_kinds_of_input(tmp_path):
    X, y = draw_data(np.random.default_rng(9), 80, 6, 3)
    expected = AdaBoostMH(n_estimators=5).fit(X, y)
    on_disk = np.memmap(tmp_path / "X", dtype=np.uint8, mode="w+", shape=X.shape[::-1]).T
    on_disk[:] = X
    read_only = np.asfortranarray(X)
    read_only.flags.writeable = False
    for Z in (np.asfortranarray(X), X[::-1][::-1], read_only, on_disk, pd.DataFrame(X)):
        other = AdaBoostMH(n_estimators=5).fit(Z, y.tolist())
        assert_same_model(other, expected)
        np.testing.assert_array_equal(other.predict(Z), expected.predict(X))
    np.testing.assert_array_equal(np.asarray(on_disk), X)


def test_seeds():
    X, y = draw_data(np.random.default_rng(10), 80, 20, 3)
    options = {"n_estimators": 6, "sampler": "uniform_naive", "max_cost": 2}
    for seed in (4, np.int64(4)):
        assert_same_model(
            AdaBoostMH(**options, random_state=seed).fit(X, y),
            AdaBoostMH(**options, random_state=4).fit(X, y),
        )
    a, b = (AdaBoostMH(**options, random_state=seed).fit(X, y) for seed in (4, 5))
    assert (a.stumps_.feature != b.stumps_.feature).any()
    a, b = (
        AdaBoostMH(**options, random_state=np.random.RandomState(1)).fit(X, y) for _ in range(2)
    )
    assert_same_model(a, b)
