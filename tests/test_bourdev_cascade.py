"""The soft cascade of detectors: by hand, equal to its reference, limits, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.frozen import FrozenEstimator

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.bourdev_cascade import BourdevCascadeClassifier, rejection_vector
from algorithms.gbrt import GBRTRegressor
from reference import adaboost_mh as stumps
from reference import bourdev_cascade as reference
from tests.test_adaboost_mh import draw_data


def draw(seed, n=150, weighted=False):
    """Columns of bytes with ties and constants, few positives."""
    rng = np.random.default_rng(seed)
    X, _ = draw_data(rng, n, 6, 2)
    signal = X.astype(float) @ rng.normal(size=6) + 60 * rng.normal(size=n)
    y = np.where(signal > np.quantile(signal, 0.6), "face", "none")
    y = np.where(y == "face", 1, 0)
    kinds = [None, rng.integers(1, 5, n).astype(float), rng.random(n) + 0.01]
    return X, y, kinds[seed % 3] if weighted else None


def outputs_of(pool, X):
    """What each stump adds, (n, N)."""
    ours = pool.stumps_
    each = [
        ours.alpha[t] * stumps.responses(stumps.Stump(*[getattr(ours, name)[t] for name in (
            "feature", "threshold", "votes")]), X)[:, 0]
        for t in range(pool.n_estimators_)
    ]  # fmt: skip
    return np.column_stack(each)


def assert_twins(model, X, y, weights=None, initial=0.0, outputs=None):
    """Fit the reference to the fitted cascade's pool; return it."""
    H = outputs_of(model.estimator_, X) if outputs is None else outputs
    twin = reference.fit(
        H, np.where(y == model.classes_[-1], 1, -1), n_stages=model.n_stages,
        detection_rate=model.detection_rate, alpha=model.alpha, initial_score=initial,
        weights=weights,
    )  # fmt: skip
    np.testing.assert_array_equal(model.order_, twin.order)
    np.testing.assert_array_equal(model.thresholds_, twin.thresholds[:-1])
    assert model.final_threshold_ == np.nextafter(twin.thresholds[-1], -np.inf)
    np.testing.assert_array_equal(model.gaps_, [d.gap for d in twin.trace])
    expected, exits = reference.leave(twin, H), model.exits(X)
    np.testing.assert_array_equal(exits.stage, expected.stage)
    np.testing.assert_array_equal(exits.scores, expected.scores)
    np.testing.assert_array_equal(model.predict(X) == model.classes_[-1], expected.accepted)
    return twin


# --- by hand ---------------------------------------------------------------------------------

# Three classifiers, two positives and three negatives. Gaps of class means: 1, 4/3, 2/3.
BY_HAND = np.array([[1, 1, 1], [1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
SIGNS = np.array([1, 1, -1, -1, -1])


def test_by_hand():
    twin = reference.fit(BY_HAND, SIGNS, detection_rate=1.0)
    # Gaps: 1 - (-1/3) = 4/3, 4/3 again, 0 - (-1/3) = 1/3. The first of equals rejects rows 3 and 4.
    # Of row 2, the second then says -1: gap 2, and all negatives are gone.
    np.testing.assert_array_equal(twin.order, [0, 1])
    np.testing.assert_array_equal(twin.thresholds, [1.0, 2.0])
    np.testing.assert_allclose([d.gap for d in twin.trace], [4 / 3, 2.0], rtol=1e-8)
    assert [(d.positives, d.negatives) for d in twin.trace] == [(2, 1), (2, 0)]
    exits = reference.leave(twin, BY_HAND)
    np.testing.assert_array_equal(exits.stage, [2, 2, 2, 1, 1])
    np.testing.assert_array_equal(exits.accepted, [True, True, False, False, False])


def test_by_hand_estimator():
    """One column, whose stumps are known."""
    X = np.array([[0], [1], [2], [3]], dtype=np.uint8)
    model = BourdevCascadeClassifier(AdaBoostMH(n_estimators=3), detection_rate=1.0)
    model.fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.order_, [0])  # all negatives leave: the end
    alpha = model.estimator_.stumps_.alpha[0]
    np.testing.assert_array_equal(model.decision_function(X) > 0, [False, False, True, True])
    np.testing.assert_array_equal(model.exits(X).scores, [-alpha, -alpha, alpha, alpha])
    np.testing.assert_array_equal(model.remaining_, [[2, 0]])
    np.testing.assert_array_equal(model.evaluations(X), 1)


def test_unspent_rejections_carry_over():
    """Ten positives in two tied halves: one may go at each stage, none can, until five may."""
    first = np.r_[-np.ones(5), np.ones(5), -np.ones(4)]
    outputs = np.column_stack([first * 0.5**k for k in range(10)])
    signs = np.r_[np.ones(10), -np.ones(4)]
    twin = reference.fit(outputs, signs, detection_rate=0.5)
    assert [d.positives for d in twin.trace] == [10] * 9 + [5]
    even = reference.fit(outputs, signs, detection_rate=0.5 - 1e-6, alpha=-500.0)
    assert [d.positives for d in even.trace] == [5]  # all of it at once, and no negative is left


@pytest.mark.parametrize("alpha", [-800.0, -3.0, 0.0, 2.0, 800.0])
def test_the_papers_vector_is_the_same_for_both_signs(alpha):
    """K exp(αt/T) or k exp(-α(1 - t/T)), k such that it sums to 1."""
    T = 7
    t = np.arange(1, T + 1)
    v = np.exp(np.longdouble(alpha) * (t / T if alpha >= 0 else -(1 - t / T)))
    expected = (np.cumsum(v) / v.sum()).astype(float)
    np.testing.assert_allclose(reference.rejection_vector(T, alpha), expected, rtol=1e-12)
    np.testing.assert_array_equal(rejection_vector(T, alpha), reference.rejection_vector(T, alpha))


# --- twins -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_equals_the_reference(seed):
    X, y, weights = draw(seed, weighted=True)
    rng = np.random.default_rng(seed)
    model = BourdevCascadeClassifier(
        AdaBoostMH(n_estimators=30),
        n_stages=[None, 12, 30][seed % 3],
        detection_rate=float(rng.choice([0.9, 0.99, 1.0, 0.7])),
        alpha=float(rng.choice([-4.0, 0.0, 3.0])),
    )
    model.fit(X, y, sample_weight=weights)
    twin = assert_twins(model, X, y, weights)
    walked = reference.leave(twin, outputs_of(model.estimator_, X)).stage
    is_split = model.estimator_.stumps_.feature[model.order_] >= 0
    np.testing.assert_array_equal(
        model.evaluations(X), np.concatenate([[0], np.cumsum(is_split)])[walked]
    )
    assert len(set(walked)) > 1


@pytest.mark.parametrize("seed", range(2))
def test_a_pool_of_deeper_trees_that_starts_elsewhere(seed):
    X, y, _ = draw(seed)
    trees = GBRTRegressor(n_estimators=10, max_leaves=4, min_samples_leaf=5)
    model = BourdevCascadeClassifier(trees, detection_rate=0.95, alpha=-1.0).fit(X, y)
    pool = model.estimator_
    staged = np.column_stack([np.full(len(X), pool.initial_scores_[0]), *pool.staged_predict(X)])
    outputs = np.round(np.diff(staged, axis=1), 12)  # of one leaf they differ in the last bits
    leaves = np.unique(np.round(pool._contributions, 12))
    raw = np.unique(pool._contributions)
    outputs = raw[np.searchsorted(leaves, outputs)]
    assert_twins(model, X, y, initial=float(pool.initial_scores_[0]), outputs=outputs)


# --- limits and invariants -------------------------------------------------------------------


def test_a_detection_rate_of_1_rejects_no_training_positive():
    X, y, _ = draw(0)
    for alpha in (-5.0, 0.0, 5.0):
        model = BourdevCascadeClassifier(
            AdaBoostMH(n_estimators=20), detection_rate=1.0, alpha=alpha
        ).fit(X, y)
        assert np.all(model.predict(X)[y == 1] == 1)


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_the_detection_rate_is_kept_and_late_rejection_costs_more(rate):
    X, y, _ = draw(3, n=400)
    pool = FrozenEstimator(AdaBoostMH(n_estimators=40).fit(X, y))
    spent = []
    for alpha in (-8.0, 0.0, 8.0):
        model = BourdevCascadeClassifier(pool, detection_rate=rate, alpha=alpha).fit(X, y)
        assert np.mean(model.predict(X)[y == 1] == 1) >= rate
        assert np.all(np.diff(model.remaining_, axis=0) <= 0)
        spent.append(model.evaluations(X).mean())
    assert spent[0] < spent[1] < spent[2]


def test_one_stage_is_the_best_stump_with_a_threshold():
    X, y, _ = draw(1)
    pool = AdaBoostMH(n_estimators=5).fit(X, y)
    model = BourdevCascadeClassifier(FrozenEstimator(pool), n_stages=1, detection_rate=1.0)
    model.fit(X, y)
    H = outputs_of(pool, X)
    gaps = H[y == 1].mean(axis=0) - H[y == 0].mean(axis=0)
    best = int(np.argmax(gaps))
    assert model.order_.tolist() == [best]
    np.testing.assert_array_equal(model.predict(X) == 1, H[:, best] >= H[y == 1, best].min())


def test_many_stages_have_no_matrix(monkeypatch):
    """A thousand stages; costs of each equal those of the walk until there."""
    X, y, _ = draw(6, n=300)
    model = BourdevCascadeClassifier(
        AdaBoostMH(n_estimators=400), detection_rate=1.0, alpha=3.0, split_cost=0.5
    ).fit(X, y)
    staged = list(model.staged_cost(X))
    assert len(staged) == len(model.order_)
    stage, passed = model.exit_stage(X), model.evaluations(X)
    np.testing.assert_array_equal(staged[-1], model.prediction_cost(X))
    np.testing.assert_allclose(staged[-1], 1.5 * passed)
    is_split = model.estimator_.stumps_.feature[model.order_] >= 0
    for k in range(1, len(staged) + 1, 37):
        np.testing.assert_allclose(
            staged[k - 1], 1.5 * np.concatenate([[0], np.cumsum(is_split)])[np.minimum(stage, k)]
        )
    ranking = model.ranking_score(X)
    for early in np.unique(stage)[:-1]:
        assert ranking[stage == early].max() < ranking[stage > early].min()


def test_another_librarys_pool(tmp_path):
    X, y, _ = draw(7)
    theirs = GradientBoostingClassifier(n_estimators=12, max_depth=1).fit(X, y)
    model = BourdevCascadeClassifier(theirs, detection_rate=0.9).fit(X, y)
    assert model.estimator_ is theirs
    assert np.mean(model.predict(X)[y == 1] == 1) >= 0.9
    model.save(tmp_path / "model")
    loaded = BourdevCascadeClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.exits(X).scores, model.exits(X).scores)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    again = loaded.fit(X, y)  # takes the same pool
    np.testing.assert_array_equal(again.order_, model.order_)


# --- the calibration in plain Python -----------------------------------------------------------


def calibrated(outputs, positive, counts, n_stages, detection_rate, alpha):
    """Order and thresholds, from the words of the reference's header, in whole numbers."""
    if alpha >= 0:
        vector = [math.exp(alpha * t / n_stages) for t in range(1, n_stages + 1)]
    else:  # falls with t: early stages may reject more
        vector = [math.exp(-alpha * (1 - t / n_stages)) for t in range(1, n_stages + 1)]
    n_positive = sum(c for c, p in zip(counts, positive, strict=True) if p)
    rows, pool = list(range(len(outputs))), list(range(len(outputs[0])))
    scores, order, thresholds, rejected = [0] * len(outputs), [], [], 0
    for t in range(n_stages):

        def mean(j, side, rows=tuple(rows)):
            mine = [i for i in rows if positive[i] == side]
            return sum(counts[i] * outputs[i][j] for i in mine) / sum(counts[i] for i in mine)

        best = max(pool, key=lambda j: (mean(j, True) - mean(j, False), -j))
        pool.remove(best)
        for i in rows:
            scores[i] += outputs[i][best]
        may = (1 - detection_rate) * sum(vector[: t + 1]) / sum(vector) * n_positive
        may = may * (1 + 1e-9) - rejected
        candidates = sorted({scores[i] for i in rows if positive[i]})
        threshold = max(
            s
            for s in candidates
            if sum(counts[i] for i in rows if positive[i] and scores[i] < s) <= may
        )
        rejected += sum(counts[i] for i in rows if positive[i] and scores[i] < threshold)
        rows = [i for i in rows if scores[i] >= threshold]
        order.append(best)
        thresholds.append(threshold)
        if all(positive[i] for i in rows):
            break
    return order, thresholds


@pytest.mark.parametrize("alpha", [-8.0, -1.0, 0.0, 4.0])
@pytest.mark.parametrize("seed", range(6))
def test_calibration_in_plain_python(seed, alpha):
    """Whole answers, so that no sum is rounded; a third of the rows counts more than once."""
    rng = np.random.default_rng(seed)
    n, n_classifiers = 60, 8
    positive = rng.random(n) < 0.5
    outputs = rng.integers(-3, 4, (n, n_classifiers)) + positive[:, None]
    counts = rng.integers(1, 4, n)
    for detection_rate in (0.7, 0.95, 1.0):
        given = {"n_stages": 6, "detection_rate": detection_rate, "alpha": alpha}
        model = reference.fit(
            outputs.astype(float), np.where(positive, 1, -1), weights=counts.astype(float), **given
        )
        order, thresholds = calibrated(
            outputs.tolist(), positive.tolist(), counts.tolist(), **given
        )
        assert model.order.tolist() == order
        assert model.thresholds.tolist() == thresholds
