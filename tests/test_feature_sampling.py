"""Bandits and Tasting: the references by hand and against simulation."""

from __future__ import annotations

import dataclasses
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from algorithms import feature_sampling as fast
from algorithms.adaboost_mh import AdaBoostMH
from algorithms.stumps.sampling import Meter
from reference import adaboost_mh as mh
from reference import feature_sampling as ref

FAMILIES = [np.arange(0, 3), np.arange(3, 5), np.arange(5, 10)]


def problem_of(n_rounds=50, max_cost=2, d=10):
    X = np.random.default_rng(0).integers(0, 9, (30, d)).astype(np.uint8)
    Y = np.where(X[:, :1] > 4, 1, -1)
    return mh.Problem(X, Y, FAMILIES, max_cost, n_rounds)


def play(sampler, edges_of, n_rounds=50):
    """Arms pulled when a round's edge is that of the arm, whatever is proposed."""
    rng = np.random.default_rng(0)
    state = sampler.begin(problem_of(n_rounds), rng)
    arms = []
    for _ in range(n_rounds):
        _, state = sampler.propose(state, None, rng)
        arms.append(state.last)
        state = sampler.update(state, None, edges_of[state.last])
    return arms, state


def test_the_reward_is_what_the_loss_loses():
    # The loss is multiplied by sqrt(1 - ε²) by a stump of edge ε.
    for edge in (0.0, 0.1, 0.9):
        assert math.isclose(math.exp(-ref.reward(edge)), math.sqrt(1 - edge**2))
        assert fast.reward(edge) == ref.reward(edge)
    assert ref.reward(1.0) == fast.reward(1.0) == math.inf


def test_ucb_by_hand():
    arms, _ = play(ref.ucb(1.0), [0.0, 0.0, 0.0], 7)
    assert arms == [0, 1, 2, 0, 1, 2, 0]  # no reward: the least pulled, the lowest first
    arms, state = play(ref.ucb(1.0), [0.2, 1.0, 0.2], 40)
    assert arms[:3] == [0, 1, 2]
    means = state.rewards / state.pulls
    np.testing.assert_allclose(means, [ref.reward(0.2), 1.0, ref.reward(0.2)])  # cut at 1
    # The next choice, from the printed formula.
    bounds = means + np.sqrt(2 * np.log(41) / state.pulls)
    _, after = ref.ucb(1.0).propose(state, None, np.random.default_rng(1))
    assert after.last == np.argmax(bounds)
    assert state.pulls[1] > state.pulls[0] + state.pulls[2]


def test_the_scale_of_the_rewards_decides_how_soon_ucb_exploits():
    pulls = [play(ref.ucb(scale), [0.05, 0.2, 0.05], 300)[1].pulls[1] for scale in (1, 32)]
    assert pulls[0] < 120 < 250 < pulls[1]


def test_exp3p_draws_arms_that_pay_and_never_forgets_the_others():
    arms, state = play(ref.exp3p(32.0), [0.0, 0.0, 0.5], 2000)
    last = np.bincount(arms[-500:], minlength=3) / 500
    assert last[2] > 0.75
    np.testing.assert_allclose(state.chances.sum(), 1)
    assert (state.chances >= 0.15 / 3).all()


def test_exp3p_moves_its_weights_as_printed():
    sampler = ref.exp3p(4.0)
    rng = np.random.default_rng(0)
    state = sampler.begin(problem_of(n_rounds=100), rng)
    _, state = sampler.propose(state, None, rng)
    np.testing.assert_allclose(state.chances, 1 / 3)
    moved = sampler.update(state, None, 0.3)
    paid = 4.0 * -0.5 * math.log(1 - 0.09) / (1 / 3)
    doubt = 0.3 / (1 / 3 * math.sqrt(3 * 100))
    expected = np.full(3, 0.15 / 9 * doubt)
    expected[state.last] += 0.15 / 9 * paid
    np.testing.assert_allclose(moved.log_weights, expected, rtol=1e-12)


def test_epsilon_greedy_explores_first_and_then_exploits():
    arms, state = play(ref.epsilon_greedy(4.0), [0.1, 0.2, 0.1], 600)
    assert len(set(arms[:12])) == 3  # ε_n = 4 · 3 / n is at least 1 so long
    late = np.array(arms[300:])
    # ε_n falls from 12/300 to 12/600, and a random arm is the best one in a third of the draws.
    assert 0.93 < np.mean(late == 1) < 1
    np.testing.assert_allclose(
        state.rewards / state.pulls, [ref.reward(e) for e in (0.1, 0.2, 0.1)]
    )


class FixedDraws:
    """A generator whose uniform draw is given and whose integer is always the last."""

    def __init__(self, uniform):
        self.uniform = uniform

    def random(self):
        return self.uniform

    def integers(self, n):
        return n - 1

    def choice(self, n, size, replace):
        return np.arange(size)


@pytest.mark.parametrize(("uniform", "arm"), [(0.59, 2), (0.61, 1)])
def test_epsilon_is_c_K_over_d2_n(uniform, arm):
    """Round 10 of three arms with c/d² = 2: ε_n = 2 · 3 / 10; else the best mean, arm 1's."""
    pulls, rewards = np.array([3, 4, 2]), np.array([0.3, 2.0, 0.1])
    state = dataclasses.replace(ref.new_arms(problem_of(), None), pulls=pulls, rewards=rewards)
    _, after = ref.epsilon_greedy(2.0).propose(state, None, FixedDraws(uniform))
    assert after.last == arm
    sampler = fast.EpsilonGreedy(2.0)
    sampler.begin(SimpleNamespace(families=FAMILIES))
    sampler._pulls, sampler._rewards = pulls, rewards
    assert sampler.choose(SimpleNamespace(rng=FixedDraws(uniform))) == arm


def test_an_arm_with_an_edge_of_one_is_kept():
    for sampler in (ref.ucb(), ref.exp3p(), ref.epsilon_greedy(0.01)):
        arms, _ = play(sampler, [0.1, 1.0, 0.1], 60)
        assert np.isfinite(arms).all()


def test_equation_5_is_the_expected_maximum():
    edges = np.array([0.1, 0.3, 0.35, 0.8])
    for Q in (1, 2, 3):
        exact = np.mean([max(draw) for draw in itertools.product(edges, repeat=Q)])
        assert math.isclose(ref.expected_best(edges, Q), exact)
    assert math.isclose(ref.expected_best(edges, 1), edges.mean())
    assert math.isclose(ref.expected_best(edges, 500), 0.8)
    assert ref.expected_best(edges[:1], 10) == 0.1


def test_one_more_feature_is_worth_what_it_adds():
    edges = np.array([0.1, 0.3, 0.5])
    assert math.isclose(ref.expected_gain(edges, 0.0), 0.3)
    assert math.isclose(ref.expected_gain(edges, 0.3), (0.3 + 0.3 + 0.5) / 3)
    assert math.isclose(ref.expected_gain(edges, 0.9), 0.9)


def test_tasting_q1_by_hand():
    """Algorithm 2 looks at the best edge so far.

    Edges: 0.5 in the first family; 0.9 and 0 in the second. At first 0.5 against a mean of 0.45;
    then, with ε* = 0.5, the first family can add nothing: 0.5 against (0.9 + 0.5) / 2.
    """
    y = np.arange(20) % 2
    X = np.column_stack([y ^ (np.arange(20) < 5), y ^ (np.arange(20) < 1), np.zeros(20)])
    X, families = X.astype(np.uint8), [np.array([0]), np.array([1, 2])]
    options = {"families": families, "n_estimators": 1, "max_cost": 2}
    for seed in range(5):
        (decision,) = mh.fit(
            X, 2 * y[:, None] - 1, ref.tasting_q1(2), rng=np.random.default_rng(seed), **options
        ).trace
        assert len(decision.features) == 2
        assert decision.features[0] == 0
        model = AdaBoostMH(sampler="tasting_q1", random_state=seed, **options).fit(X, y)
        np.testing.assert_array_equal(model.sampling_cost_, [[2 * 20, 3 * 20]])


def one_good_family(seed=0):
    """Three families; only the second knows anything, and each of its columns something else."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, (200, 30)).astype(np.uint8)
    y = (X[:, 10:20].astype(float).mean(axis=1) > 127).astype(int)
    return X, y, [np.arange(0, 10), np.arange(10, 20), np.arange(20, 30)]


@pytest.mark.parametrize("sampler", ["tasting_1q", "tasting_q1"])
def test_tasting_finds_the_family_that_matters(sampler):
    X, y, families = one_good_family()
    options = {"families": families, "n_estimators": 10, "max_cost": 3, "random_state": 0}
    model = AdaBoostMH(sampler=sampler, **options).fit(X, y)
    assert (model.stumps_.feature // 10 == 1).mean() >= 0.8
    # R features of 3 families, and Q = 3 that may be among them, each on all 200 rows.
    spent = model.sampling_cost_[:, 1] / 200
    assert ((spent >= 30) & (spent <= 33)).all()
    assert (model.sampling_cost_[:, 0] <= 3 * 200).all()
    uniform = AdaBoostMH(sampler="uniform_1q", **options).fit(X, y)
    assert model.train_loss_[-1] < uniform.train_loss_[-1]


def test_a_bandit_learns_the_family_that_matters():
    X, y, families = one_good_family()
    model = AdaBoostMH(
        sampler=[fast.EpsilonGreedy(2.0**n) for n in range(-2, 3)], families=families,
        n_estimators=60, max_cost=2, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert (model.stumps_.feature[20:] // 10 == 1).mean() > 0.6


def test_the_meter_counts_rows_once():
    meter = Meter(FAMILIES, 10, 8)
    meter.count(np.array([0, 3]), np.array([1, 1, 4]))
    assert meter.evaluations == 6
    np.testing.assert_array_equal(meter.family_rows, [2, 2, 0])
    meter.count(np.array([1, 2]), np.array([4, 5]))
    np.testing.assert_array_equal(meter.family_rows, [3, 2, 0])
    meter.count(np.array([4]), None)
    np.testing.assert_array_equal(meter.family_rows, [3, 8, 0])
    meter.count(np.array([4, 9]), np.array([0]))
    np.testing.assert_array_equal(meter.family_rows, [3, 8, 1])
    assert meter.evaluations == 6 + 4 + 8 + 2


def test_the_references_meter_by_hand():
    seen = np.zeros((3, 8), dtype=bool)
    looks = [(np.array([0, 3]), np.array([1, 1, 4])), (np.array([3]), None), (np.array([3]), None)]
    assert mh.n_evaluations(looks, 8) == 6 + 8
    np.testing.assert_array_equal(mh.look_at(seen, looks, FAMILIES), [2, 8, 0])
    np.testing.assert_array_equal(mh.look_at(seen, looks, FAMILIES), [0, 0, 0])


def test_families_smaller_than_what_is_tasted():
    tasters = ref.tasting_1q(4).begin(problem_of(), np.random.default_rng(0))
    assert [len(features) for features in tasters.stored] == [3, 2, 4]
    sampler = fast.Tasting1Q(4)
    sampler.begin(SimpleNamespace(families=FAMILIES, rng=np.random.default_rng(0), n_passes=2))
    np.testing.assert_array_equal(sampler._tasted, np.concatenate(tasters.stored))
