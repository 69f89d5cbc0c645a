"""Models of the edges: closed forms, Monte Carlo, and the two twins."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr

from algorithms import edge_models


def test_examples_in_the_documentation():
    assert doctest.testmod(edge_models).failed == 0


# --- One Gaussian (section 5.2, Figure 1) ------------------------------------------------------


def test_the_largest_of_few_normal_values_in_closed_form():
    root = 1 / np.sqrt(np.pi)
    largest_of_4 = 6 * root / np.pi * np.arctan(np.sqrt(2))
    expected = [[0, root], [1.5 * root, largest_of_4]]
    np.testing.assert_allclose(
        edge_models.expected_maximum([[1, 2], [3, 4]]), expected, rtol=1e-14, atol=1e-15
    )


@pytest.mark.parametrize("Q", [7, 1000, 10**4, 10**9])
def test_the_largest_of_many_normal_values_against_another_integral(Q):
    """E[X] = ∫ P(X > z) over z > 0 less ∫ P(X < z) over z < 0."""
    above = quad(lambda z: -np.expm1(Q * log_ndtr(z)), 0, 14, limit=500, epsabs=1e-13)[0]
    below = quad(lambda z: np.exp(Q * log_ndtr(z)), -14, 0, limit=500, epsabs=1e-13)[0]
    assert abs(edge_models.expected_maximum(Q) - (above - below)) < 1e-12


def test_expected_edge_is_what_is_drawn():
    """Against the definition, Eq. (6): draw edges and noise, take what looks best."""
    rng = np.random.default_rng(4)
    for Q, S, std in [(1, 9, 0.3), (5, 100, 0.1), (40, 4, 0.2), (40, 10**6, 0.01)]:
        edges = rng.normal(0, std, (40_000, Q))
        seen = edges + rng.normal(0, 1 / np.sqrt(S), edges.shape)
        chosen = np.take_along_axis(edges, seen.argmax(axis=1)[:, None], axis=1)
        error = chosen.mean() - edge_models.expected_edge(Q, S, std)
        assert abs(error) < 5 * chosen.std() / np.sqrt(len(chosen))


def test_expected_edge_broadcasts_and_grows_with_both():
    Q, S = np.array([1, 2, 10, 10**4])[:, None], np.array([1, 10, 10**4, np.inf])
    values = edge_models.expected_edge(Q, S, 0.1)
    assert values.shape == (4, 4)
    assert np.all(np.diff(values[1:], axis=0) > 0)
    assert np.all(np.diff(values[1:], axis=1) > 0)
    np.testing.assert_allclose(values[0], 0, atol=1e-15)
    np.testing.assert_allclose(values[:, 3], 0.1 * edge_models.expected_maximum(Q[:, 0]))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((0, 1, 0.1), "n_values"), ((1, 0, 0.1), "n_examples"), ((1, 1, 0), "std"),
     ((1, np.nan, 0.1), "n_examples"), ((1, 1, np.inf), "std")],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(arguments, named):
    with pytest.raises(ValueError, match=named):
        edge_models.expected_edge(*arguments)
