"""How many features and examples to draw: Monte Carlo, exhaustive search, and the two twins."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms import edge_models, sample_sizes
from reference import edge_models as reference
from reference import sample_sizes as reference_sizes
from tests.test_edge_models import EDGES, twins_of

# --- Expected edge of the chosen learner -------------------------------------------------------


def draw_models(rng):
    """Mixtures as a pilot gives them, a noise, and a number of learners for each subset."""
    base, spread = rng.uniform(0.02, 0.7), 10 ** rng.uniform(-2.3, -0.7)
    edges = [
        np.clip(base + spread * rng.standard_normal(10) * rng.choice([0.2, 1]), 0, 1)
        for _ in range(rng.integers(1, 6))
    ]
    noise = float(rng.choice([10 ** -rng.uniform(0.5, 4.8), 0]))
    return edges, noise, (10 ** rng.uniform(0, 3, len(edges))).astype(int).tolist()


def on_a_line(rng):
    """Models of three families to a dozen, whose edges lie about different places."""
    edges = [
        np.clip(
            rng.uniform(0.02, 0.6) + 10 ** rng.uniform(-3, -0.7) * rng.standard_normal(10), 0, 1
        )
        for _ in range(rng.integers(3, 13))
    ]
    sizes = (10 ** rng.uniform(0.5, 4, len(edges))).astype(np.int64)
    return edge_models.fit_mixtures(edges), sizes, int(10 ** rng.uniform(1, 4.5))


def test_no_value_exceeds_its_bound_and_most_are_left_out(monkeypatch):
    """With everything evaluated the same sizes are found, by the same bits."""
    rng, n_known, n_all = np.random.default_rng(17), 0, 0
    evaluate = sample_sizes._evaluate

    def counting(table, wanted, counts, values):
        nonlocal n_known, n_all
        evaluate(table, wanted, counts, values)
        n_known, n_all = n_known + np.isfinite(values).sum(), n_all + values.size
        bounds = sample_sizes._bounds(np.log(counts), table.log_moments())
        assert (values <= bounds + 1e-9).all()

    monkeypatch.setattr(sample_sizes, "_evaluate", counting)
    for _ in range(60):
        problem = *on_a_line(rng), float(10 ** rng.uniform(1, 5.5))
        found, shares = [], []
        for margin in (1e-6, np.inf):
            monkeypatch.setattr(sample_sizes, "_MARGIN", margin)
            n_known = n_all = 0
            sizes = sample_sizes.best_family_sizes(*problem)
            found.append([*sizes.n_features, *sizes[1:]])
            shares.append(n_known / n_all)
        assert found[0] == found[1]
        assert shares[0] <= shares[1]


def test_greedy_increments_are_tried_with_every_number_of_examples(monkeypatch):
    """No bound holds for several families: their quotients may be of rounding errors."""
    greedy, values = sample_sizes._greedy_counts, []
    monkeypatch.setattr(
        sample_sizes, "_greedy_counts", lambda *given: values.append(greedy(*given)) or values[-1]
    )
    mixtures, sizes, n_samples = on_a_line(np.random.default_rng(3))
    best = sample_sizes.greedy_sizes(mixtures, sizes, n_samples, 1000.0)
    assert len(values) == len(
        sample_sizes._numbers_of_examples(n_samples, 1000.0, int(sizes.sum()))
    )
    assert best.expected == max(values)


def test_bounds_leave_most_out():
    """Two families, one of them far below the other: neither it nor most sizes are evaluated."""
    mixtures = edge_models.fit_mixtures(
        [np.linspace(0.1, 0.12, 10), np.linspace(0.5, 0.9, 10)], n_components=3
    )
    table = sample_sizes._Table(mixtures, np.array([0.0, 0.01, 0.1]))
    bounds = sample_sizes._bounds(np.log([[10, 10], [100, 100], [1000, 1000]]), table.log_moments())
    values = np.full((3, 2), -np.inf)
    sample_sizes._evaluate(table, bounds == bounds.max(), np.array([[10, 10]] * 3), values)
    assert np.isfinite(values).sum() == 1
    assert (bounds[:, 0] < values.max()).all()


def reference_value(mixtures, noise, counts, n_nodes=reference_sizes.N_NODES):
    table = reference_sizes.cells(mixtures, noise, n_nodes)
    drawn = reference_sizes.Drawn(
        np.ones(n_nodes + 2), np.zeros(n_nodes + 1), np.zeros(n_nodes + 1)
    )
    for k, Q in enumerate(counts):
        drawn = reference_sizes.draw_more(drawn, table, k, Q)
    return reference_sizes.expected_edge(drawn)


def test_error_of_the_sum_over_cells():
    """The numbers that the reference's header states."""
    rng = np.random.default_rng(6)
    errors = []
    for _ in range(50):
        edges, noise, counts = draw_models(rng)
        mixtures = [reference.fit_mixture(some) for some in edges]
        exact = reference_value(mixtures, noise, counts, 5000)
        errors.append(abs(reference_value(mixtures, noise, counts) - exact))
    assert max(errors) < 1e-3
    assert np.median(errors) < 1e-5


@pytest.mark.parametrize("seed", range(5))
def test_mixtures_against_monte_carlo(seed):
    """Against the definition, Eq. (6), with learners of several subsets."""
    rng = np.random.default_rng([7, seed])
    edges, noise, _ = draw_models(rng)
    counts = rng.integers(1, 12, len(edges)).tolist()
    mixtures = [reference.fit_mixture(some) for some in edges]
    true = []
    for mixture, Q in zip(mixtures, counts, strict=True):
        j = rng.choice(3, (60_000, Q), p=mixture.weights)
        true.append(rng.normal(mixture.means[j], np.sqrt(mixture.variances[j])))
    true = np.concatenate(true, axis=1)
    seen = true + rng.normal(0, np.sqrt(noise), true.shape)
    chosen = np.take_along_axis(true, seen.argmax(axis=1)[:, None], axis=1)
    error = reference_value(mixtures, noise, counts) - chosen.mean()
    assert abs(error) < 5 * chosen.std() / np.sqrt(len(chosen)) + 1e-3


@pytest.mark.parametrize(("Q", "S", "std"), [(1, 10, 0.1), (30, 10, 0.1), (3000, 1000, 0.03)])
def test_one_gaussian_against_the_closed_form(Q, S, std):
    mixture = reference.Mixture(np.ones(1), np.full(1, 0.3), np.full(1, std**2))
    value = reference_value([mixture], 1 / S, [Q])
    exact = 0.3 + edge_models.expected_edge_of_one_gaussian(Q, S, std)
    assert abs(value - exact) < 1e-3 * std * max(1, np.log(Q))


def test_one_learner_is_worth_the_mean_and_constant_edges_what_they_are():
    mixture = reference.fit_mixture(EDGES["skew"])
    mean = reference_value([mixture], 0.01, [1])
    np.testing.assert_allclose(mean, EDGES["skew"].mean(), rtol=1e-9)
    constant = reference.fit_mixture(EDGES["constant"])
    np.testing.assert_allclose(reference_value([constant] * 3, 0.1, [5, 1, 9]), 0.8, atol=1e-4)


# --- Maximisation over Q and S -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(18))
def test_sizes_equal_the_reference(seed):
    rng = np.random.default_rng([8, seed])
    edges, _, _ = draw_models(rng)
    edges[0] = EDGES[list(EDGES)[seed % 9]]
    ours, theirs = twins_of(edges, int(rng.choice([1, 3, 5])))
    sizes, N = rng.integers(1, 500, len(edges)), int(rng.integers(1, 5000))
    budget = float(N * rng.choice([-1, 0, 0.3, 1, 9, 10, 1e15]))
    found = sample_sizes.best_family_sizes(ours, sizes, N, budget)
    k, Q, S, value = reference_sizes.best_family_sizes(theirs, sizes.tolist(), N, budget)
    assert found.n_features.tolist() == [Q if i == k else 0 for i in range(len(sizes))]
    assert (found.n_examples, found.expected) == (S, value)
    found = sample_sizes.greedy_sizes(ours, sizes, N, budget)
    counts, S, value = reference_sizes.greedy_sizes(theirs, sizes.tolist(), N, budget)
    np.testing.assert_array_equal(found.n_features, counts)
    assert (found.n_examples, found.expected) == (S, value)
    assert 1 <= found.n_features.sum() * found.n_examples <= max(1, budget)
    assert (found.n_features <= sizes).all()


@pytest.mark.parametrize(
    ("N", "budget", "most", "numbers"),
    [
        (60_000, 600_000, 100, [60_000, 30_000, 15_000, 7500, 3750]),
        (1515, 15_150, 360_630, [1515, 757, 378, 189, 94, 47, 23, 11, 5, 2, 1]),
        (5, 3, 2, [2, 1]),
        (1, 0.5, 1, [1]),
        (100, -3.0, 9, [1]),
        (10, 100, 1, [10]),
    ],
)
def test_numbers_of_examples_worth_a_trial(N, budget, most, numbers):
    assert reference_sizes.numbers_of_examples(N, budget, most) == numbers


def test_equals_go_to_all_examples_then_to_the_first_family():
    """Two families alike, and noiseless: neither more features nor fewer examples gain a thing."""
    mixtures = edge_models.Mixtures(np.ones((2, 1)), np.zeros((2, 1)), np.full((2, 1), 1e-6))
    sizes = np.array([1, 1])
    found = sample_sizes.best_family_sizes(mixtures, sizes, 64, 640.0)
    assert (found.n_features.tolist(), found.n_examples) == ([1, 0], 64)
    found = sample_sizes.greedy_sizes(mixtures, np.array([40, 40]), 64, 64.0)
    assert found.n_features[0] >= found.n_features[1]


def test_a_better_family_gets_the_features():
    edges = [np.linspace(0.1, 0.2, 10), np.linspace(0.3, 0.4, 10), np.linspace(0.1, 0.15, 10)]
    mixtures, sizes = edge_models.fit_mixtures(edges), np.array([900, 900, 900])
    for sizes_of in (sample_sizes.best_family_sizes, sample_sizes.greedy_sizes):
        found = sizes_of(mixtures, sizes, 10_000, 90_000.0)
        assert found.n_features[[0, 2]].tolist() == [0, 0]
        assert 9 <= found.n_features[1] <= 900
    exhausted = sample_sizes.greedy_sizes(mixtures, np.array([900, 3, 900]), 10_000, 90_000.0)
    assert exhausted.n_features[1] == 3


@pytest.mark.parametrize("seed", range(10))
def test_greedy_increments_against_all_ways_to_share(seed):
    """Of all ways to share 8 learners among three subsets: greed may lose, but not much."""
    rng = np.random.default_rng([9, seed])
    mixtures = [
        reference.fit_mixture(np.clip(rng.normal(rng.uniform(0.2, 0.25), 0.03, 10), 0, 1))
        for _ in range(3)
    ]
    noise = float(rng.choice([0, 1e-3, 1e-2]))
    table = reference_sizes.cells(mixtures, noise)
    counts, value = reference_sizes.greedy_counts(table, [8, 8, 8], 8)
    assert counts.sum() == 8
    assert abs(value - reference_value(mixtures, noise, counts.tolist())) < 1e-12
    values = [
        reference_value(mixtures, noise, [a, b, 8 - a - b]) for a in range(9) for b in range(9 - a)
    ]
    assert max(values) - 0.005 <= value <= max(values) + 1e-12
    assert value > np.median(values)
