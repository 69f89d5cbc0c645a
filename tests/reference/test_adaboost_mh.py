"""The AdaBoost.MH reference by hand, against brute force and scikit-learn's AdaBoost."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from reference import adaboost_mh as mh
from reference import adaptive_sampling, feature_sampling
from reference.feature_sampling import all_features, uniform_1q, uniform_naive, uniform_q1
from reference.grid import unit_exponent


def rng_of(seed):
    return np.random.default_rng(seed)


def draw(seed, n=30, d=4, K=3):
    rng = rng_of(seed)
    X = rng.integers(0, 6, (n, d)).astype(np.uint8)
    y = (X[:, 0] + rng.integers(0, 4, n)) % max(K, 2)
    return X, np.where(y[:, None] == np.arange(K), 1, -1)


# --- by hand ---------------------------------------------------------------------------------


def test_two_rounds_by_hand():
    # x = 1 2 3 4, y = - + - +, K = 1. All weights 1/4. Cuts: 1.5 has edge (1 + 1)/4 = 1/2 (one
    # wrong: row 3), 2.5 has 0, 3.5 has 1/2 (one wrong: row 2); the lowest is taken. α = ½ log 3.
    # Row 3 now weighs √3 : 1/√3 = 3 : 1, so 1/2 against 1/6 each. Cut 1.5 has 1/6+1/6-1/2+1/6 = 0,
    # 2.5, votes -: 1/6 - 1/6 + 1/2 - 1/6 = 1/3, 3.5: 1/6 - 1/6 + 1/2 + 1/6 = 2/3. α = ½ log 5.
    X, Y = np.array([[1], [2], [3], [4]], dtype=np.uint8), np.array([[-1], [1], [-1], [1]])
    model = mh.fit(X, Y, all_features(), n_estimators=2, rng=rng_of(0))
    first, second = model.trace
    assert (first.feature, first.threshold, first.votes, first.edge) == (0, 1.5, (1,), 0.5)
    assert first.alpha == pytest.approx(0.5 * math.log(3), rel=1e-15)
    # loss: √(1 - ¼), then times √(1 - 4/9)
    assert first.log_loss == pytest.approx(0.5 * math.log(0.75), rel=1e-8)
    assert (second.feature, second.threshold, second.votes) == (0, 3.5, (1,))
    assert second.edge == pytest.approx(2 / 3, rel=1e-8)
    assert second.alpha == pytest.approx(0.5 * math.log(5), rel=1e-8)
    assert second.log_loss == pytest.approx(0.5 * math.log(0.75 * 5 / 9), rel=1e-8)
    *_, scores = mh.staged_scores(model, X, 1)
    a, b = model.alphas
    np.testing.assert_array_equal(scores[:, 0], [-a - b, a - b, a - b, a + b])
    np.testing.assert_array_equal(mh.labels_of(scores), [0, 0, 0, 1])
    assert mh.evaluations(model) == 2


def test_one_sign_per_label_by_hand():
    # Three labels. Cut 0.5: label 0 is yes on the left only: vote -; label 1 on the right only: +;
    # label 2 never: edge 0, and so a vote of +. Edge 2/3, constant vote: 1/3 (label 2).
    X, y = np.array([[0], [1], [0], [1]], dtype=np.uint8), np.array([0, 1, 0, 1])
    Y = np.where(y[:, None] == np.arange(3), 1, -1)
    model = mh.fit(X, Y, all_features(), n_estimators=1, rng=rng_of(0))
    assert model.trace[0].votes == (-1, 1, 1)
    assert model.trace[0].edge == pytest.approx(2 / 3, rel=1e-15)
    np.testing.assert_array_equal(mh.responses(model.stumps[0], X[:2]), [[1, -1, -1], [-1, 1, 1]])


@pytest.mark.parametrize(("K", "log10_loss"), [(10, -0.222), (101, -0.703)])
def test_a_constant_vote_starts_where_the_papers_tables_do(K, log10_loss):
    X = np.zeros((2 * K, 1), dtype=np.uint8)
    Y = np.where(np.repeat(np.arange(K), 2)[:, None] == np.arange(K), 1, -1)
    model = mh.fit(X, Y, all_features(), n_estimators=1, rng=rng_of(0))
    assert model.trace[0].feature == -1
    assert model.trace[0].votes == (-1,) * K
    assert model.trace[0].log_loss / math.log(10) == pytest.approx(log10_loss, abs=5e-4)


# --- weights ---------------------------------------------------------------------------------


def test_weights_are_a_distribution_on_a_grid():
    scores = rng_of(1).normal(scale=8, size=(50, 4))
    _, Y = draw(1, n=50, K=4)
    weights = mh.pair_weights(scores, Y)
    exact = np.exp(-Y * scores)
    assert weights.ints.max() == 2**weights.exponent
    relative = exact / exact.max()
    np.testing.assert_allclose(weights.ints / 2.0**30, relative, rtol=0, atol=1.0001 * 2.0**-31)
    assert weights.total == weights.ints.sum()
    assert mh.log_loss(weights) == pytest.approx(np.log(exact.mean()), abs=200 * 2.0**-31)
    assert weights.total < 2**53


def test_sums_stay_exact_for_very_many_pairs():
    for n_pairs in (1, 4_000_000, 2**22, 10**9):
        k = unit_exponent(n_pairs)
        assert n_pairs * 2**k <= 2**53
        assert k == 30 or n_pairs * 2 ** (k + 1) >= 2**52
    assert unit_exponent(4_000_000) == 30


def test_weights_survive_thousands_of_rounds():
    """After 1,500 rounds the loss itself is no float64 any more; weights and edges are as exact."""
    X, Y = draw(2, n=20, d=2, K=1)
    X[:, 1] = np.arange(20)  # tells all rows apart
    model = mh.fit(X, Y, all_features(), n_estimators=1500, rng=rng_of(0))
    *_, scores = mh.staged_scores(model, X, 1)
    assert model.trace[-1].log_loss < -30
    assert (Y * scores).min() > 0
    weights = mh.pair_weights(1000 * scores, Y)
    assert math.exp(mh.log_loss(weights)) == 0.0
    assert mh.log_loss(weights) == pytest.approx(-1000 * (Y * scores).min(), rel=1e-3)
    assert weights.ints.max() == 2**30
    edges = [decision.edge for decision in model.trace]
    assert 0 < min(edges) < max(edges) < 1


def test_the_loss_is_the_product_of_what_the_edges_promise():
    X, Y = draw(3, n=200, K=5)
    for decision, bound in zip(*with_bounds(X, Y), strict=True):
        assert decision.log_loss == pytest.approx(bound, rel=1e-6)


def with_bounds(X, Y):
    trace = mh.fit(X, Y, all_features(), n_estimators=30, rng=rng_of(0)).trace
    return trace, np.cumsum([0.5 * math.log1p(-(d.edge**2)) for d in trace])


# --- limits ----------------------------------------------------------------------------------


def test_an_edge_of_one_has_a_finite_weight():
    X, Y = np.array([[0], [1]], dtype=np.uint8), np.array([[-1], [1]])
    model = mh.fit(X, Y, all_features(), n_estimators=3, rng=rng_of(0))
    assert [decision.edge for decision in model.trace] == [1.0] * 3
    # Two pairs of 2**30 grid steps, all right: ½ log(2 · 2**31 / 1).
    assert model.alphas == [0.5 * math.log(2**32)] * 3
    assert model.trace[-1].log_loss == pytest.approx(-3 * model.alphas[0], rel=1e-15)


def test_a_round_without_edge_changes_nothing():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.uint8)
    Y = np.array([[1], [-1], [-1], [1]])  # exclusive or: no stump has an edge
    model = mh.fit(X, Y, all_features(), n_estimators=2, rng=rng_of(0))
    assert [(d.feature, d.edge, d.alpha, d.log_loss) for d in model.trace] == [(-1, 0, 0, 0)] * 2


def test_a_constant_vote_is_taken_unless_a_stump_is_better():
    # Three of four are yes; the stump after 0 gets the same three right.
    X, Y = np.array([[0], [1], [1], [1]], dtype=np.uint8), np.array([[1], [1], [1], [-1]])
    (decision,) = mh.fit(X, Y, all_features(), n_estimators=1, rng=rng_of(0)).trace
    assert (decision.feature, decision.votes, decision.edge) == (-1, (1,), 0.5)
    Y[0] = -1
    (decision,) = mh.fit(X, Y, all_features(), n_estimators=1, rng=rng_of(0)).trace
    assert (decision.feature, decision.edge) == (0, 0.5)


@pytest.mark.parametrize("seed", range(3))
def test_two_columns_for_two_classes_change_nothing(seed):
    X, Y = draw(seed, n=40, K=1)
    one = mh.fit(X, Y, uniform_naive(), n_estimators=20, max_cost=2, rng=rng_of(seed))
    two = mh.fit(
        X, np.column_stack([-Y, Y]), uniform_naive(), n_estimators=20, max_cost=2, rng=rng_of(seed)
    )
    for a, b in zip(one.trace, two.trace, strict=True):
        assert (a.feature, a.threshold, a.features) == (b.feature, b.threshold, b.features)
        assert (a.edge, a.log_loss) == (b.edge, b.log_loss)
        assert a.alpha == pytest.approx(b.alpha, rel=1e-12)


# --- independent implementations -------------------------------------------------------------


def all_stumps(X, K):
    """Every weak learner there is: votes (n, K) of each."""
    shapes = [np.ones(len(X))] + [
        np.where(X[:, m] > cut, 1, -1) for m in range(X.shape[1]) for cut in range(256)
    ]
    for phi in shapes:
        for votes in itertools.product([-1, 1], repeat=K):
            yield phi[:, None] * np.array(votes)


@pytest.mark.parametrize(("seed", "K"), [(0, 1), (1, 2), (2, 3), (3, 3)])
def test_no_stump_at_all_has_a_larger_edge(seed, K):
    X, Y = draw(seed, n=12, d=2, K=K)
    model = mh.fit(X, Y, all_features(), n_estimators=4, rng=rng_of(0))
    scores = np.zeros(Y.shape)
    for decision, after in zip(model.trace, mh.staged_scores(model, X, K), strict=True):
        weights = np.exp(-Y * scores)
        weights /= weights.sum()
        best = max(float(np.sum(weights * Y * votes)) for votes in all_stumps(X, K))
        assert decision.edge == pytest.approx(best, abs=1e-8)
        scores = after


class LeastErrorStump(ClassifierMixin, BaseEstimator):
    """The stump of the smallest weighted error, by trying all; the lowest among (near) equals."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.array([0, 1])
        self.best_ = math.inf, None
        stumps = itertools.product(range(X.shape[1]), np.arange(8) + 0.5, (1, 0))
        for m, cut, right in [(0, -1, 1), (0, -1, 0), *stumps]:  # constant votes come first
            wrong = np.where(X[:, m] > cut, right, 1 - right) != y
            error = np.sum(sample_weight[wrong]) / np.sum(sample_weight)
            if error < self.best_[0] - 1e-9:
                self.best_ = error, (m, cut, right)
        return self

    def predict(self, X):
        m, cut, right = self.best_[1]
        return np.where(X[:, m] > cut, right, 1 - right)


@pytest.mark.parametrize("seed", range(3))
def test_against_scikit_learn_with_stumps_of_least_error(seed):
    X, Y = draw(seed, n=60, d=5, K=1)
    y = (Y[:, 0] > 0).astype(int)
    theirs = AdaBoostClassifier(LeastErrorStump(), n_estimators=15).fit(X, y)
    ours = mh.fit(X, Y, all_features(), n_estimators=15, rng=rng_of(0))
    np.testing.assert_allclose(2 * np.array(ours.alphas), theirs.estimator_weights_, rtol=1e-6)
    same = [e.best_[1][0] if e.best_[1][1] > 0 else -1 for e in theirs.estimators_]
    assert [d.feature for d in ours.trace] == same
    assert len(set(same)) > 2
    *_, scores = mh.staged_scores(ours, X, 1)
    share = scores[:, 0] / np.sum(ours.alphas)  # theirs is the difference of two such shares
    np.testing.assert_allclose(2 * share, theirs.decision_function(X), rtol=0, atol=1e-6)


def test_against_scikit_learns_own_stumps_as_long_as_they_agree():
    """Trees split by Gini impurity, not by error: equal only while both take the same stump."""
    rng = rng_of(4)
    y = np.arange(200) % 2
    flips = [np.argsort(rng.random(200))[: 20 + 8 * m] for m in range(6)]
    X = np.tile(y[:, None], 6).astype(np.uint8)
    for m, flipped in enumerate(flips):
        X[flipped, m] ^= 1
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5).fit(X, y)
    ours = mh.fit(X, 2 * y[:, None] - 1, all_features(), n_estimators=5, rng=rng_of(0))
    assert [d.feature for d in ours.trace[:3]] == [
        e.tree_.feature[0] for e in theirs.estimators_[:3]
    ]
    np.testing.assert_allclose(
        2 * np.array(ours.alphas[:3]), theirs.estimator_weights_[:3], rtol=1e-6
    )


# --- samplers --------------------------------------------------------------------------------

FAMILIES = [np.array([0]), np.array([1, 2, 3]), np.arange(4, 10)]


def rounds_of(sampler, **options):
    X, Y = draw(5, n=64, d=10)
    options = {"families": FAMILIES, "n_estimators": 300, "max_cost": 2} | options
    return mh.fit(X, Y, sampler, rng=rng_of(0), **options).trace


def shares(trace):
    return np.bincount(np.concatenate([d.features for d in trace]), minlength=10) / len(trace)


def test_uniform_naive_draws_every_feature_alike():
    trace = rounds_of(uniform_naive())
    assert {len(d.features) for d in trace} == {2}
    np.testing.assert_allclose(shares(trace), 2 / 10, atol=0.07)
    assert {(d.paper_cost, d.evaluations) for d in trace} == {(2 * 64, 2 * 64)}


def test_uniform_1q_draws_every_family_alike_and_small_ones_whole():
    trace = rounds_of(uniform_1q())
    number = {m: k for k, family in enumerate(FAMILIES) for m in family}
    assert all(len({number[m] for m in d.features}) == 1 for d in trace)
    np.testing.assert_allclose(shares(trace), [1 / 3] + [2 / 9] * 3 + [1 / 9] * 6, atol=0.07)
    assert {len(d.features): d.paper_cost for d in trace} == {1: 64, 2: 128}


def test_uniform_q1_draws_one_feature_of_each_family():
    trace = rounds_of(uniform_q1())
    number = {m: k for k, family in enumerate(FAMILIES) for m in family}
    assert all(len({number[m] for m in d.features}) == 2 for d in trace)
    np.testing.assert_allclose(shares(trace), [2 / 3] + [2 / 9] * 3 + [1 / 9] * 6, atol=0.07)


def test_uniform_q1_with_more_draws_than_families():
    trace = rounds_of(uniform_q1(), max_cost=5)
    assert {len(d.features) for d in trace} <= {1, 2, 3, 4, 5}
    assert all(d.paper_cost == 64 * len(d.features) for d in trace)


def test_best_family_keeps_the_smallest_loss_and_pays_for_all():
    X, Y = draw(6, n=64, d=10)
    options = {"families": FAMILIES, "n_estimators": 20, "max_cost": 2}
    samplers = [feature_sampling.fixed_family(k) for k in range(3)]
    best, place = feature_sampling.fit_best(X, Y, samplers, seed=3, **options)
    alone = [mh.fit(X, Y, sampler, rng=rng_of(3), **options) for sampler in samplers]
    losses = [model.trace[-1].log_loss for model in alone]
    assert place == int(np.argmin(losses))
    winner = alone[place]
    assert len(set(losses)) == 3
    assert [d.log_loss for d in best.trace] == [d.log_loss for d in winner.trace]
    assert {d.evaluations for d in best.trace} == {64 + 2 * 64 + 2 * 64}
    assert {d.paper_cost for d in best.trace} <= {64, 128}
    assert [d.family_rows for d in best.trace] == [(64, 64, 64)] + [(0, 0, 0)] * 19


# --- Laminating ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_cost", "N", "d", "Q", "S"),
    [
        (10, 60_000, 16_775, 32, 3750),
        (10, 60_000, 20, 20, 7500),
        (4, 100, 50, 4, 50),
        (1, 9, 3, 2, 4),
    ],
)
def test_laminatings_sizes_cost_what_they_may(max_cost, N, d, Q, S):
    X = np.broadcast_to(np.uint8(0), (N, d))
    problem = mh.Problem(X, None, [np.arange(d)], max_cost, 1)
    assert adaptive_sampling.first_sizes(problem, None, None) == (Q, S)
    assert Q * S * adaptive_sampling.n_iterations(Q) <= max_cost * N


def test_laminating_by_hand():
    # Q = 8 features on 4, 8, 16 examples: 8·4 + 4·8 + 2·16 evaluations, then the last one on all.
    X, Y = draw(7, n=64, d=10)
    sampler = adaptive_sampling.laminating(8, 4)
    trace = mh.fit(X, Y, sampler, n_estimators=5, rng=rng_of(0)).trace
    for decision in trace:
        assert len(decision.features) == 1
        assert decision.paper_cost == 8 * 4 * 3
        assert decision.evaluations == 3 * 32 + 64


def test_laminating_on_all_examples_finds_the_best_feature():
    X, Y = draw(8, n=40, d=9)
    exact = mh.fit(X, Y, all_features(), n_estimators=10, rng=rng_of(0))
    for S in (40, 41, 10**9):
        sampler = adaptive_sampling.laminating(9, S)
        model = mh.fit(X, Y, sampler, n_estimators=10, rng=rng_of(0))
        assert [s.feature for s in model.stumps] == [s.feature for s in exact.stumps]
        assert model.alphas == exact.alphas
        # The halves are known already: nothing is evaluated twice on all examples.
        assert model.trace[0].evaluations == 9 * 40


def test_halving_keeps_the_lower_of_equals():
    features, edges = np.array([2, 3, 5, 7, 8]), np.array([1, 4, 4, 4, 0])
    np.testing.assert_array_equal(adaptive_sampling.best_half(features, edges), [3, 5])
    np.testing.assert_array_equal(
        adaptive_sampling.best_half(features[:4], np.array([0, 1, 0, 9])), [3, 7]
    )


def test_sampled_edges_are_unbiased_either_way():
    X, Y = draw(9, n=50, K=3)
    weights = mh.pair_weights(rng_of(1).normal(size=Y.shape), Y)
    phi = np.where(X[:, 0] > 2, 1, -1)
    exact = mh.label_edges(phi, weights.ints * Y) / weights.total
    for by_weight in (True, False):
        rows, signed = map(
            np.concatenate,
            zip(
                *(
                    adaptive_sampling.sample(weights, Y, 40, by_weight, rng_of(s))
                    for s in range(500)
                ),
                strict=True,
            ),
        )
        estimate = mh.label_edges(phi[rows], signed) / np.abs(signed).sum()
        np.testing.assert_allclose(estimate, exact, atol=0.02)


def test_examples_without_weight_are_not_drawn():
    Y = np.ones((4, 1), dtype=np.int64)
    weights = mh.pair_weights(np.array([[0.0], [900.0], [0.0], [900.0]]), Y)
    rows, _ = adaptive_sampling.sample(weights, Y, 3, True, rng_of(0))
    assert set(rows) <= {0, 2}


def test_the_printed_bound():
    # 4 / (1 - exp(-δ²S/69)) - 4 is below 1 only from δ²S = 69 log 5 on.
    assert adaptive_sampling.failure_bound(1.0, 112) < 1 < adaptive_sampling.failure_bound(1.0, 111)
