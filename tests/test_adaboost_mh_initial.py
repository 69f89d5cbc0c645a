"""AdaBoost.MH as MultiBoost has it: balanced initial weights, and a smoothed α; both twins."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.stumps.boosting import alpha_of
from algorithms.stumps.pair_weights import PairWeights
from reference import adaboost_mh as reference
from tests.test_adaboost_mh import (
    NAMES,
    assert_same_rounds,
    draw_data,
    draw_families,
    labels_of,
    reference_of,
)
from tests.test_adaboost_mh_weights import KINDS, WHOLE, draw_weights, same_model

BALANCED = {"initial_weights": "balanced"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("smoothing", [0.0, 0.01, 2.0])
def test_equals_reference(name, smoothing):
    rng = np.random.default_rng([2012, NAMES.index(name), int(100 * smoothing)])
    kind, n_classes = rng.permutation([*KINDS, None])[0], rng.choice([2, 3, 5, 10])
    X, y = draw_data(rng, 70, 9, n_classes)
    weights = None if kind is None else draw_weights(rng, 70, kind)
    model = AdaBoostMH(
        sampler=name, n_estimators=6, max_cost=3, families=draw_families(rng, 9),
        smoothing=smoothing, random_state=int(rng.integers(1000)), n_threads=1, **BALANCED,
    )  # fmt: skip
    model.fit(X, y, sample_weight=weights)
    assert_same_rounds(model, reference_of(model, X, y, sample_weight=weights))


# --- initial weights -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, *KINDS])
@pytest.mark.parametrize("n_classes", [3, 4, 11])
def test_half_is_on_the_own_label(kind, n_classes):
    rng = np.random.default_rng([1, n_classes])
    y = rng.integers(0, n_classes, 300)
    Y = labels_of(np.arange(n_classes), y)
    weights = None if kind is None else draw_weights(rng, 300, kind)
    examples = reference.example_weights(weights, Y, "balanced")
    pairs = reference.pair_weights(np.zeros(Y.shape), Y, examples)
    shares = pairs.ints / pairs.total
    of_example = np.ones(300) if weights is None else weights
    of_example = of_example / of_example.sum()
    expected = np.where(Y > 0, 0.5, 0.5 / (n_classes - 1)) * of_example[:, None]
    np.testing.assert_allclose(shares, expected, rtol=0, atol=2.0**-20 * expected.max())
    assert reference.log_loss(pairs) == pytest.approx(0.0, abs=1e-6)
    ours = PairWeights(Y.astype(np.int8), weights, "balanced")
    np.testing.assert_array_equal(ours.signed[:, :n_classes], pairs.ints * Y)
    assert ours.log_loss == reference.log_loss(pairs)


def test_by_hand():
    # Three classes, one row each: x = 0 1 2. Each row: 1/6 on its own label, 1/12 on the others.
    # Cut 0.5: label 0 has -1/6 on the right twice 1/12, on the left 1/6: edge 1/6 + 2/12 = 1/3 with
    # vote -; labels 1 and 2 have -1/12 on the left and 1/6 - 1/12 = 1/12 on the right: 1/6 each.
    # Edge 2/3; the constant vote has |1/6 - 2/12| = 0 for each label. α = ½ log((5/6) / (1/6)).
    X, y = np.array([[0], [1], [2]], dtype=np.uint8), np.array([0, 1, 2])
    model = AdaBoostMH(n_estimators=1, **BALANCED).fit(X, y)
    assert model.stumps_.threshold[0] == 0.5
    np.testing.assert_array_equal(model.stumps_.votes, [[-1, 1, 1]])
    assert model.stumps_.edge[0] == pytest.approx(2 / 3, rel=1e-8)
    assert model.stumps_.alpha[0] == pytest.approx(0.5 * np.log(5), rel=1e-8)
    assert model.train_loss_[0] == pytest.approx(2 * np.sqrt(5) / 6, rel=1e-8)
    uniform = AdaBoostMH(n_estimators=1).fit(X, y)  # where "none of them" is as good
    assert uniform.stumps_.edge[0] < 2 / 3


def test_the_loss_is_the_mean_weighted_as_initially():
    X, y = draw_data(np.random.default_rng(2), 120, 6, 5)
    w = np.random.default_rng(3).random(120) + 0.1
    model = AdaBoostMH(n_estimators=12, **BALANCED).fit(X, y, sample_weight=w)
    Y = labels_of(model.classes_, y)
    pairs = w[:, None] * np.where(Y > 0, 1 / 2, 1 / 8)
    for scores, loss in zip(model.staged_decision_function(X), model.train_loss_, strict=True):
        assert loss == pytest.approx(np.average(np.exp(-Y * scores), weights=pairs), rel=1e-6)


def test_two_classes_are_balanced_already():
    X, y = draw_data(np.random.default_rng(4), 90, 6, 2)
    plain = AdaBoostMH(n_estimators=15).fit(X, y)
    same_model(clone(plain).set_params(**BALANCED).fit(X, y), plain)
    X, y = draw_data(np.random.default_rng(4), 90, 6, 3)
    plain, other = AdaBoostMH(n_estimators=15).fit(X, y), AdaBoostMH(n_estimators=15, **BALANCED)
    assert (other.fit(X, y).log_train_loss_ != plain.log_train_loss_).all()


@pytest.mark.parametrize("name", WHOLE)
def test_a_weight_of_3_equals_three_copies(name):
    rng = np.random.default_rng([2020, WHOLE.index(name)])
    X, y = draw_data(rng, 200, 8, 4)
    weights = rng.integers(0, 5, 200)
    model = AdaBoostMH(
        sampler=name, n_estimators=12, max_cost=2, families=[[0, 2, 4], [1, 3, 5, 6, 7]],
        random_state=2, smoothing=0.3, n_threads=1, **BALANCED,
    )  # fmt: skip
    copies = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    same_model(model.fit(X, y, sample_weight=weights), copies)


# --- smoothing -------------------------------------------------------------------------------


def test_alpha_by_hand():
    total = 2**40
    for function in (alpha_of, reference.alpha_of):
        # ε = ½: ε₊ = 3/4, ε₋ = 1/4; s = 0.2 and N = 4 add 1/20 to both.
        smoothed = function(total // 2, total, 0.2, 4)
        assert smoothed == pytest.approx(0.5 * np.log(0.8 / 0.3), rel=1e-14)
        assert function(total // 2, total) == function(total // 2, total, 0.0, 4)
        assert function(total // 2, total) == pytest.approx(0.5 * np.log(3), rel=1e-14)
        assert function(total, total, 0.01, 100) == pytest.approx(0.5 * np.log(10001), rel=1e-12)
        assert 0 <= function(total, total, 1e100, 1) < 1e-80
        assert np.isfinite(function(2**53, 2**53, 1e-300, 1e9))
        assert function(0, total, 0.01, 7) == 0.0


@pytest.mark.parametrize("weak_learner", ["stump", "hamming_tree"])
def test_more_smoothing_makes_smaller_steps(weak_learner):
    X, y = draw_data(np.random.default_rng(5), 100, 6, 3)
    alphas = []
    for smoothing in (0.0, 0.01, 1.0, 100.0, 1e100):
        model = AdaBoostMH(n_estimators=1, weak_learner=weak_learner, smoothing=smoothing)
        learners = model.fit(X, y)._learners
        alphas.append(learners.alpha[0])
        right, wrong = (1 + learners.edge[0]) / 2, (1 - learners.edge[0]) / 2
        expected = 0.5 * np.log((right + smoothing / 100) / (wrong + smoothing / 100))
        assert learners.alpha[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert (np.diff(alphas) < 0).all()


def test_a_perfect_stump_gets_a_step_of_a_size_that_can_be_said():
    X = np.arange(10, dtype=np.uint8)[:, None]
    y = (X[:, 0] > 4).astype(int)
    model = AdaBoostMH(n_estimators=3, smoothing=0.01).fit(X, y)
    np.testing.assert_allclose(model.stumps_.alpha, 0.5 * np.log(1001), rtol=1e-9)
    for weights in (np.full(10, 0.3), np.full(10, 1e12)):  # in units of the largest
        same = clone(model).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(same.stumps_.alpha, model.stumps_.alpha, rtol=1e-9)
    doubled = clone(model).fit(X, y, sample_weight=np.full(10, 2.0))
    np.testing.assert_allclose(doubled.stumps_.alpha, 0.5 * np.log(2001), rtol=1e-9)
