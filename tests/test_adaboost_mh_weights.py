"""AdaBoost.MH with weights of rows, initial weights and a smoothed α as MultiBoost has it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.feature_sampling import BEST_FAMILY
from algorithms.kernels.decorators import available_threads
from algorithms.stumps import search as stumps
from algorithms.stumps.boosting import alpha_of
from algorithms.stumps.pair_weights import PairWeights
from reference import adaboost_mh as reference
from reference import adaptive_sampling
from tests.reference.test_adaboost_mh import LeastErrorStump
from tests.test_adaboost_mh import (
    NAMES,
    TREES,
    assert_same_model,
    assert_same_rounds,
    assert_twins_on_bins,
    draw_data,
    draw_families,
    labels_of,
    reference_of,
)

# Samplers that look at all examples or at none: what they decide does not depend on how many rows
# a weight is spread over.
WHOLE = [name for name in NAMES if name != "laminating" and not name.startswith("mas_")]


def draw_weights(rng, n_samples, kind):
    if kind == "whole":
        return rng.integers(1, 6, n_samples).astype(float)
    if kind == "fractions":
        return rng.gamma(0.5, size=n_samples) + 1e-6
    if kind == "far apart":
        return 10.0 ** rng.integers(-300, 10, n_samples)
    return 1e9 * rng.integers(1, 1000, n_samples)  # whole, but too many copies


KINDS = ["whole", "fractions", "far apart", "many copies"]
BALANCED = {"initial_weights": "balanced"}


# --- against the reference -------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_reference(name, kind):
    rng = np.random.default_rng([2017, NAMES.index(name), KINDS.index(kind)])
    X, y = draw_data(rng, 70, 9, int(rng.choice([2, 4])))
    weights = draw_weights(rng, 70, kind)
    model = AdaBoostMH(
        sampler=name, n_estimators=5, max_cost=3, families=draw_families(rng, 9),
        random_state=int(rng.integers(1000)), n_threads=1,
    )  # fmt: skip
    model.fit(X, y, sample_weight=weights)
    assert_same_rounds(model, reference_of(model, X, y, sample_weight=weights))
    unweighted = clone(model).fit(X, y)
    assert (unweighted.log_train_loss_ != model.log_train_loss_).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_weight", [True, False])
def test_samples_of_examples_equal_the_references(kind, by_weight):
    rng = np.random.default_rng([2018, KINDS.index(kind), by_weight])
    X, y = draw_data(rng, 150, 12, 3)
    weights = draw_weights(rng, 150, kind)
    model = AdaBoostMH(sampler=Laminating(8, 10, by_weight), n_estimators=12, random_state=1)
    model.fit(X, y, sample_weight=weights)

    def twin():
        return adaptive_sampling.laminating(8, 10, by_weight)

    assert_same_rounds(model, reference_of(model, X, y, twin, weights))


@pytest.mark.parametrize("kind", KINDS)
def test_bins_of_real_numbers_equal_the_references(kind):
    """More values than bins: edges at quantiles of the weight."""
    rng = np.random.default_rng([2019, KINDS.index(kind)])
    X = rng.normal(size=(400, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=400), [-1, 1])
    weights = draw_weights(rng, 400, kind)
    assert_twins_on_bins(AdaBoostMH(n_estimators=6), X, y, weights)


@pytest.mark.parametrize("n_chunks", [1, 3])
def test_weights_of_64_bits_are_searched_like_those_of_32(n_chunks):
    """Dense columns and sparse ones, four at a time and fewer."""
    rng = np.random.default_rng(6)
    X = rng.integers(0, 256, (11, 3000)).astype(np.uint8)
    X[4:8] = np.where(rng.random((4, 3000)) < 0.9, 0, X[4:8])
    narrow = PairWeights(labels_of(np.arange(6), rng.integers(0, 6, 3000)).astype(np.int8)).signed
    narrow = (narrow * rng.random(narrow.shape)).astype(np.int32)
    known = stumps.DefaultCodes(X)
    assert known.of(np.arange(11)).max() == 0
    for some in (np.arange(11), np.array([3]), np.array([5, 6])):
        for factor in (1, 2**20):
            a, b = (
                stumps.search(X, some, signed, n_chunks, defaults=known.of(some))
                for signed in (narrow, narrow.astype(np.int64) * factor)
            )
            np.testing.assert_array_equal(a.edges * factor, b.edges)
            np.testing.assert_array_equal(a.cuts, b.cuts)


# --- copies ----------------------------------------------------------------------------------


SMOOTHED = BALANCED | {"smoothing": 0.3}


@pytest.mark.parametrize(
    ("name", "real", "options"),
    [
        *((name, real, {}) for name in WHOLE for real in (False, True)),
        *((name, False, SMOOTHED) for name in WHOLE),
        *(("all_features", real, TREES) for real in (False, True)),
        *(("all_features", real, TREES | SMOOTHED) for real in (False, True)),
    ],
)
def test_a_weight_of_3_equals_three_copies(name, real, options):
    rng = np.random.default_rng([2020, WHOLE.index(name)])
    X, y = draw_data(rng, 300, 8, 3)
    if real:
        X = X + rng.normal(size=X.shape)  # more values than bins
    weights = rng.integers(0, 5, 300)
    weights[y == 2] *= rng.random(np.sum(y == 2)) < 0.5
    model = AdaBoostMH(
        sampler=name, n_estimators=15, max_cost=2, families=[[0, 2, 4], [1, 3, 5, 6, 7]],
        random_state=2, n_threads=1, **options,
    )  # fmt: skip
    copies = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_same_model(model.fit(X, y, sample_weight=weights), copies)
    np.testing.assert_array_equal(model.predict(X), copies.predict(X))
    # Costs count rows: those that there are, not what they stand for.
    rows = np.count_nonzero(weights)
    assert (model.sampling_cost_ * weights.sum() == copies.sampling_cost_ * rows).all()


def test_drawn_copies_are_drawn_like_their_row():
    """As long as no sample is as large as the training set, whose size is in rows."""
    rng = np.random.default_rng(2021)
    X, y = draw_data(rng, 300, 12, 4)
    weights = rng.integers(0, 5, 300)
    model = AdaBoostMH(sampler=Laminating(8, 20), n_estimators=25, random_state=3)
    copies = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_same_model(model.fit(X, y, sample_weight=weights), copies)


def test_weights_of_zero_equal_missing_rows():
    """Neither their classes nor their values are known: midpoints are between the others'."""
    X = np.array([[0], [100], [200], [90], [7]], dtype=np.uint8)
    y, weights = np.array(["a", "a", "b", "c", "b"]), [1, 1, 1, 0, 0]
    for Z in (X, X.astype(float)):
        model = AdaBoostMH(n_estimators=2).fit(Z, y, sample_weight=weights)
        assert model.classes_.tolist() == ["a", "b"]
        assert model.stumps_.threshold[0] == 150.0
        assert_same_model(model, AdaBoostMH(n_estimators=2).fit(Z[:3], y[:3]))
        np.testing.assert_array_equal(model.sampling_cost_, 3)
    with pytest.warns(ConstantModelWarning, match="y is constant"):
        AdaBoostMH().fit(X, y, sample_weight=[1, 1, 0, 0, 0])


def test_the_input_is_left_alone():
    X, y = draw_data(np.random.default_rng(0), 40, 5, 3)
    weights = np.random.default_rng(1).integers(0, 3, 40).astype(float)
    before = X.copy(), weights.copy()
    for Z in (X, np.asfortranarray(X)):
        assert_same_model(
            AdaBoostMH(n_estimators=4).fit(Z, y, sample_weight=weights),
            AdaBoostMH(n_estimators=4).fit(X.tolist(), y, sample_weight=weights.tolist()),
        )
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(weights, before[1])


# --- what weights mean -----------------------------------------------------------------------


def test_by_hand():
    # x = 1 2 3 4, y = - + - +, weights 1 2 1 2: cut 1.5 is wrong on row 3 only, weight 1 of 6, cut
    # 3.5 on row 2 only, weight 2. α = ½ log((6 - 1) / 1), loss = (5 e^-α + e^α) / 6 = 2 √5 / 6.
    X, y = np.array([[1], [2], [3], [4]], dtype=np.uint8), [0, 1, 0, 1]
    for scale in (1, 0.1, 1e12):
        weights = scale * np.array([1.0, 2, 1, 2])
        model = AdaBoostMH(n_estimators=1).fit(X, y, sample_weight=weights)
        assert model.stumps_.threshold[0] == 1.5
        assert model.stumps_.edge[0] == pytest.approx(4 / 6, rel=1e-8)
        assert model.stumps_.alpha[0] == pytest.approx(0.5 * np.log(5), rel=1e-8)
        assert model.train_loss_[0] == pytest.approx(np.sqrt(5) / 3, rel=1e-8)


@pytest.mark.parametrize("initial_weights", ["uniform", "balanced"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_mean_weighted_as_initially(kind, initial_weights):
    rng = np.random.default_rng([2022, KINDS.index(kind)])
    X, y = draw_data(rng, 120, 6, 5)
    weights = draw_weights(rng, 120, kind)
    model = AdaBoostMH(n_estimators=12, initial_weights=initial_weights)
    model.fit(X, y, sample_weight=weights)
    Y = labels_of(model.classes_, y)
    others = 1 / 8 if initial_weights == "balanced" else 1 / 2
    pairs = weights[:, None] * np.where(Y > 0, 1 / 2, others)
    for scores, loss in zip(model.staged_decision_function(X), model.train_loss_, strict=True):
        assert loss == pytest.approx(np.average(np.exp(-Y * scores), weights=pairs), rel=1e-6)


@pytest.mark.parametrize("factor", [0.3, 7.0, 1e-200, 1e6])
def test_only_ratios_of_weights_matter(factor):
    rng = np.random.default_rng(2023)
    X, y = draw_data(rng, 90, 6, 3)
    equal = AdaBoostMH(n_estimators=8).fit(X, y, sample_weight=np.full(90, factor))
    if factor < 100:  # else its copies are so many that their grid is coarser
        assert_same_model(equal, AdaBoostMH(n_estimators=8).fit(X, y))
    weights = rng.integers(1, 9, 90).astype(float)
    a, b = (
        AdaBoostMH(n_estimators=8).fit(X, y, sample_weight=w) for w in (weights, factor * weights)
    )
    np.testing.assert_array_equal(a.stumps_.feature, b.stumps_.feature)
    np.testing.assert_array_equal(a.stumps_.threshold, b.stumps_.threshold)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=0, atol=1e-6)


def test_a_small_weight_does_not_make_the_others_coarse():
    """A row that is always wrong has the largest weight, were it not for its own of 1e-12."""
    rng = np.random.default_rng(2024)
    X, y = draw_data(rng, 100, 6, 2)
    weights = rng.random(100) + 0.5
    alone = AdaBoostMH(n_estimators=40).fit(X, y, sample_weight=weights)
    X, y, weights = np.vstack([X, X[:1]]), np.append(y, 1 - y[0]), np.append(weights, 1e-12)
    model = AdaBoostMH(n_estimators=40).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.stumps_.feature, alone.stumps_.feature)
    np.testing.assert_allclose(model.stumps_.alpha, alone.stumps_.alpha, rtol=1e-6)


def test_against_scikit_learn_with_stumps_of_least_error():
    rng = np.random.default_rng(2025)
    X = rng.integers(0, 6, (60, 5)).astype(np.uint8)
    y = ((X[:, 0] + rng.integers(0, 4, 60)) % 2).astype(int)
    weights = rng.random(60) + 0.1
    theirs = AdaBoostClassifier(LeastErrorStump(), n_estimators=15)
    theirs.fit(X, y, sample_weight=weights)
    ours = AdaBoostMH(n_estimators=15).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(2 * ours.stumps_.alpha, theirs.estimator_weights_, rtol=1e-6)
    same = [e.best_[1][0] if e.best_[1][1] > 0 else -1 for e in theirs.estimators_]
    np.testing.assert_array_equal(ours.stumps_.feature, same)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        *(({"sampler": name}, None) for name in NAMES),
        *(({"sampler": "laminating"}, kind) for kind in KINDS),
        *((TREES | {"sampler": s}, None) for s in ("all_features", "tasting_q1", BEST_FAMILY)),
    ],
)
@pytest.mark.skipif(available_threads() < 2, reason="only one thread: set NUMBA_NUM_THREADS=2")
def test_threads_change_nothing(options, kind):
    rng = np.random.default_rng(2026)
    X, y = draw_data(rng, 9000, 15, 4)
    weights = kind and draw_weights(rng, 9000, kind)
    options = {"n_estimators": 4, "random_state": 0, "max_cost": 5} | options
    one, two = (AdaBoostMH(**options, n_threads=n).fit(X, y, sample_weight=weights) for n in (1, 2))
    assert_same_model(one, two)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_sums_of_weighted_pairs_stay_exact():
    for kind in KINDS:
        rng = np.random.default_rng(2027)
        Y = labels_of(np.arange(5), rng.integers(0, 5, 2000))
        examples = reference.example_weights(draw_weights(rng, 2000, kind), Y)
        weights = reference.pair_weights(rng.normal(scale=9, size=Y.shape), Y, examples)
        assert 2.0**20 <= weights.total < 2.0**53
        assert weights.exponent >= 21
        # The largest pair, if its example stands for one: exactly 1.
        assert weights.ints.max() % 2**weights.exponent == 0 or kind == "whole"


# --- initial weights -------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("smoothing", [0.0, 0.01, 2.0])
def test_equals_reference_when_balanced_and_smoothed(name, smoothing):
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


def test_balanced_by_hand():
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


def test_two_classes_are_balanced_already():
    X, y = draw_data(np.random.default_rng(4), 90, 6, 2)
    plain = AdaBoostMH(n_estimators=15).fit(X, y)
    assert_same_model(clone(plain).set_params(**BALANCED).fit(X, y), plain)
    X, y = draw_data(np.random.default_rng(4), 90, 6, 3)
    plain, other = AdaBoostMH(n_estimators=15).fit(X, y), AdaBoostMH(n_estimators=15, **BALANCED)
    assert (other.fit(X, y).log_train_loss_ != plain.log_train_loss_).all()


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
