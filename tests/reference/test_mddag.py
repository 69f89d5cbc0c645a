"""MDDAG by hand, against literal replacing traces and against exhaustive search."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from reference import mddag
from reference.mddag import EVAL, QUIT, SKIP
from tests.decision_problems import both


def problem_of(outputs, labels, *, beta=0.1, n_bins=4, **others) -> mddag.Problem:
    """A process of one score whose steps are worth 1."""
    outputs = np.array(outputs, dtype=np.int64)[:, :, None]
    sizes = np.abs(outputs).max(axis=(0, 2))
    n = len(labels)
    return mddag.Problem(
        outputs, sizes, int(sizes.sum()), 1.0, np.zeros(1, dtype=np.int64), np.array(labels),
        np.ones(n, dtype=np.int64), beta, n_bins=n_bins, **others,
    )  # fmt: skip


# Two rows that the first base classifier cannot tell and the second can: Σα = 1 + 3.
HAND = problem_of([[1, 3], [1, -3]], [1, 0])


def test_objective_by_hand():
    policy = mddag.all_eval(HAND)
    assert mddag.objective(HAND, policy) == 0.2  # nothing is wrong; two evaluations
    policy[0] = QUIT
    assert mddag.objective(HAND, policy) == 1.0  # f = 0 is a tie, and a tie is an error
    policy[0], policy[1] = EVAL, QUIT
    np.testing.assert_allclose(mddag.objective(HAND, policy), 0.5 + 0.1, rtol=1e-15)
    policy[0], policy[1] = SKIP, EVAL
    assert mddag.objective(HAND, policy) == 0.1


def test_descent_by_hand():
    # j = 2, f = 1: EVAL costs 0.1, SKIP and QUIT 0.5. j = 1: EVAL 0.2; SKIP leads to f = 0, in the
    # bin of f = 1, where EVAL is best: 0.1.
    found = mddag.descend(HAND, mddag.all_eval(HAND))
    np.testing.assert_array_equal(found.history, [0.2, 0.1])
    assert found.policy[0, mddag.uniform_bin(4, 8, 4)] == SKIP


def test_an_episode_by_hand():
    # All values are 0: EVAL wins ties. TD errors -0.1, -0.1 and 0; the first gets 0.95 of the
    # second back.
    q, settings = np.zeros((3, 4, 3)), mddag.Settings()
    steps = mddag.episode(HAND, q, 0, 0.0, np.random.default_rng(0))
    assert [state for state, _ in steps] == [(0, 2, EVAL), (1, 2, EVAL), (2, 3, QUIT)]
    mddag.update(HAND, q, steps, 0.2, settings)
    np.testing.assert_allclose(q[0, 2], [-0.2 * 0.195, 0, 0], rtol=1e-15)
    np.testing.assert_allclose(q[1, 2], [-0.02, 0, 0], rtol=1e-15)
    assert mddag.greedy(HAND, q)[0, 2] == SKIP


def test_gaussians_by_hand():
    problem = problem_of([[1]], [1], kind="gaussians", n_bins=101)
    q = mddag.no_values(problem)
    mddag.add(q, (0, 50, QUIT), -0.2, -0.05)  # too small an error for a centre
    assert mddag.value(q, (0, 50, QUIT)) == 0
    mddag.add(q, (0, 50, QUIT), -0.2, -1.0)
    assert mddag.value(q, (0, 50, QUIT)) == -0.2
    near = math.exp(-0.5)  # a cell is one σ
    np.testing.assert_allclose(mddag.value(q, (0, 51, QUIT)), -0.2 * near, rtol=1e-12)
    mddag.add(q, (0, 51, QUIT), -0.1, -1.0)  # near enough to the first: no centre
    np.testing.assert_allclose(mddag.value(q, (0, 50, QUIT)), -0.2 - 0.1 * near, rtol=1e-12)
    mddag.add(q, (0, 60, QUIT), -0.1, -1.0)
    assert q.centres[0, QUIT] == [50, 60]
    assert mddag.value(q, (0, 50, SKIP)) == mddag.value(q, (1, 50, QUIT)) == 0
    assert mddag.greedy(problem, q)[0, 50] == EVAL


def test_losses_by_hand():
    scores = np.array([3, 5, 5])
    assert [mddag.margin_of(scores, label) for label in range(3)] == [-2, 0, 0]
    tables = mddag.exponential_tables(20)
    for label, exponent in ((0, 7), (1, 3), (2, 3)):
        loss = mddag.exponential_loss(scores, label, 1.0, tables) * 2.0**-20
        np.testing.assert_allclose(loss, math.exp(exponent), rtol=1e-4)
    loss = mddag.exponential_loss(np.array([3]), 1, 0.5, tables) * 2.0**-20
    np.testing.assert_allclose(loss, math.exp(-1.5), rtol=1e-4)
    highest = mddag.exponential_loss(np.array([-90]), 1, 1.0, tables) * 2.0**-20
    np.testing.assert_allclose(highest, math.exp(20), rtol=1e-4)


def literal_traces(problem, q, steps, rate, decay):
    """SARSA(λ) as Sutton and Barto print it: each TD error to all live, replacing traces."""
    traces = np.zeros_like(q)
    for t, (state, reward) in enumerate(steps):
        follows = q[steps[t + 1][0]] if t + 1 < len(steps) else 0.0
        delta = reward + follows - q[state]
        traces[state[0], state[1]] = 0.0
        traces[state] = 1.0
        q += rate * delta * traces
        traces *= decay


@pytest.mark.parametrize("loss", ["zero_one", "exponential"])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_backward_returns_are_replacing_traces(loss, n_columns):
    problem = both(1, loss=loss, n_columns=n_columns, size=1).problem
    q, rng = np.zeros((problem.n_base + 1, problem.n_cells, 3)), np.random.default_rng(0)
    literal, settings = q.copy(), mddag.Settings()
    for _ in range(150):
        i = int(rng.integers(0, len(problem.labels)))
        steps = mddag.episode(problem, q, i, 0.3, rng)
        literal_traces(problem, literal, steps, 0.2, 0.95)
        mddag.update(problem, q, steps, 0.2, settings)
        np.testing.assert_allclose(q, literal, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(mddag.greedy(problem, q), mddag.greedy(problem, literal))
    assert np.count_nonzero(q) > 30


def best_of_all(problem) -> float:
    """Least (8) of all policies, over the states that any policy can reach."""
    states = [set() for _ in range(problem.n_base)]
    for i, b in itertools.product(
        range(len(problem.labels)), itertools.product((False, True), repeat=problem.n_base)
    ):
        for j in range(problem.n_base):
            path = np.array(b[:j], dtype=bool)
            states[j].add(mddag.cell(problem, mddag.built(problem, i, path), path))
    where = [(j, at) for j, cells in enumerate(states) for at in sorted(cells)]
    assert len(where) <= 9  # 3^9 policies
    best, policy = math.inf, mddag.all_eval(problem)
    for actions in itertools.product(range(3), repeat=len(where)):
        for (j, at), action in zip(where, actions, strict=True):
            policy[j, at] = action
        best = min(best, mddag.objective(problem, policy))
    return best


@pytest.mark.parametrize("seed", range(3))
def test_never_below_exhaustive_search(seed):
    problem = both(seed, n=5, n_base=3, n_codes=2, n_bins=3, size=1, beta=0.05).problem
    best = best_of_all(problem)
    start = mddag.all_eval(problem)
    descended = mddag.descend(problem, start)
    settings = mddag.Settings(n_episodes=1000, score_every=200)
    learned = mddag.learn(problem, settings, np.random.default_rng(0))
    from_learned = mddag.descend(problem, learned.policy)
    for solution in (descended, learned, from_learned):
        assert solution.objective >= best
        assert solution.objective == mddag.objective(problem, solution.policy)
    assert descended.objective <= mddag.objective(problem, start)
    assert from_learned.objective <= learned.objective
    assert np.all(np.diff(descended.history) < 0)
    np.testing.assert_allclose(min(learned.objective, descended.objective), best, atol=0.12)


def least_by_masks(problem) -> float:
    """Least (8) of all policies that see a row's own path: each row on its own best path."""
    masks = itertools.product((False, True), repeat=problem.n_base)
    paths = [np.array(mask, dtype=bool) for mask in masks]
    total = sum(
        problem.copies[i] * min(mddag.weighed(problem, mddag.cost_of(problem, i, p)) for p in paths)
        for i in range(len(problem.labels))
    )
    return total / problem.copies.sum()


def stationary(problem, policy) -> bool:
    """Whether no single cell of a policy can be changed to lower (8), by trying all of them."""
    least = mddag.objective(problem, policy)
    for j, at in itertools.product(range(problem.n_base), range(problem.n_cells)):
        for action in range(3):
            other = policy.copy()
            other[j, at] = action
            if mddag.objective(problem, other) < least - 1e-12:
                return False
    return True


@pytest.mark.parametrize("weight", [1.0, 5.0])
@pytest.mark.parametrize("n_base", [1, 2, 3, 4])
def test_every_policy_of_up_to_four_base_classifiers(n_base, weight):
    """Descent and SARSA stay between the best policy of all and a solution of their own kind."""
    reached = []
    for seed in range(2 if n_base == 4 else 3):
        problem = both(
            seed, n=5, n_base=n_base, n_codes=2, n_bins=2, size=1, beta=0.05, negative_weight=weight
        ).problem
        best, start = best_of_all(problem), mddag.all_eval(problem)
        descended = mddag.descend(problem, start)
        settings = mddag.Settings(n_episodes=500, score_every=100)
        learned = mddag.learn(problem, settings, np.random.default_rng(seed))
        after = mddag.descend(problem, learned.policy)
        assert least_by_masks(problem) <= best + 1e-12
        for solution in (descended, learned, after):
            assert solution.objective >= best - 1e-12
        for solution in (descended, after):
            assert stationary(problem, solution.policy)
        reached.append(min(learned.objective, after.objective, descended.objective) - best)
    assert np.median(reached) < 1e-9


def test_negative_weight_equals_copies_whose_evaluations_cost_less():
    """Five copies of a negative that each pay a fifth: the same as losing five times as much."""
    for seed in range(5):
        problem = both(seed, beta=0.04, negative_weight=5.0).problem
        negative = problem.labels == 0
        each = np.where(negative, 1, 5)[:, None] * np.ones(problem.n_base, dtype=np.int64)
        nothing = np.zeros((*each.shape, 0), dtype=bool)
        copied = dataclasses.replace(
            problem,
            negative_weight=1.0,
            copies=np.where(negative, 5, 1) * problem.copies,
            beta_step=0.04 / 5,
            prices=mddag.Prices(each, nothing, np.zeros(0, dtype=np.int64)),
        )
        weighed = mddag.descend(problem, mddag.all_eval(problem))
        other = mddag.descend(copied, mddag.all_eval(copied))
        np.testing.assert_array_equal(weighed.policy, other.policy)
        totals = [each.history * each_of.copies.sum() for each, each_of in
                  ((weighed, problem), (other, copied))]  # fmt: skip
        np.testing.assert_allclose(*totals, rtol=1e-12)
        plain = dataclasses.replace(problem, negative_weight=1.0)
        np.testing.assert_array_less(
            mddag.objective(plain, weighed.policy) - 1e-12, mddag.objective(problem, weighed.policy)
        )


def test_evaluating_nothing_if_it_costs_more_than_any_loss():
    problem = both(0, beta=1.5).problem
    settings = mddag.Settings(n_episodes=3000, score_every=500)
    learned = mddag.learn(problem, settings, np.random.default_rng(0))
    for solution in (learned, mddag.descend(problem, mddag.all_eval(problem))):
        assert mddag.totals(problem, solution.policy)[1] == 0
    assert mddag.totals(problem, mddag.all_eval(problem))[1] > 0


def test_prices_are_paid_once_and_evaluations_each_time():
    asks = np.array([[[True, False], [True, True], [True, True]]])
    prices = mddag.Prices(np.array([[1, 1, 2]]), asks, np.array([10, 100]))
    problem = problem_of([[1, 1, 1]], [1], prices=prices)
    assert mddag.steps_of(problem, 0, np.array([True, True, True])) == 1 + 10 + 1 + 100 + 2
    assert mddag.steps_of(problem, 0, np.array([True, False, True])) == 1 + 10 + 2 + 100
    assert mddag.steps_of(problem, 0, np.array([False, False])) == 0


def test_edges_by_hand():
    assert mddag.edges(np.array([True, False, True, True])) == [(0, 2), (2, 3)]
    assert mddag.edges(np.array([True])) == []
    np.testing.assert_array_equal(mddag.evaluated([EVAL, SKIP, EVAL, QUIT]), [1, 0, 1, 0])
