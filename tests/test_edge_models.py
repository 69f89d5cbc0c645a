"""Models of the edges: closed forms, independent fits, and the two twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from algorithms import edge_models
from reference import edge_models as reference

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
        error = chosen.mean() - edge_models.expected_edge_of_one_gaussian(Q, S, std)
        assert abs(error) < 5 * chosen.std() / np.sqrt(len(chosen))


def test_expected_edge_broadcasts_and_grows_with_both():
    Q, S = np.array([1, 2, 10, 10**4])[:, None], np.array([1, 10, 10**4, np.inf])
    values = edge_models.expected_edge_of_one_gaussian(Q, S, 0.1)
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
        edge_models.expected_edge_of_one_gaussian(*arguments)


def test_the_printed_expectation_is_the_same():
    for Q, S, std in [(1, 9, 0.3), (5, 100, 0.1), (40, 4, 0.2), (10**4, 10**6, 0.01)]:
        printed = reference.expected_edge_of_one_gaussian(Q, S, std)
        assert abs(printed - edge_models.expected_edge_of_one_gaussian(Q, S, std)) < 1e-12


def test_the_best_number_of_features_grows_with_the_spread_of_the_edges():
    Q = 2.0 ** np.arange(1, 17)
    best = [
        Q[np.argmax(edge_models.expected_edge_of_one_gaussian(Q, 2**17 / Q, s))]
        for s in (0.01, 0.1, 0.3)
    ]
    assert best[0] < best[1] < best[2]


# --- Mixtures ----------------------------------------------------------------------------------

RNG = np.random.default_rng(5)
EDGES = {
    "one value": np.array([0.25]),
    "two values": np.array([0.5, 0.1]),
    "constant": np.full(9, 0.8),
    "constant but for one": np.array([0.8] * 9 + [0.3]),
    "few values": RNG.choice([0.1, 0.12, 0.4], 30),
    "zeros and ones": np.array([0.0, 1.0, 1.0, 0.0, 0.0]),
    "tiny": np.array([0.0, 5e-324, 1e-300, 1e-16]),
    "ten": RNG.random(10),
    "skew": RNG.exponential(0.05, 400),
    "as many as are fitted": RNG.random(1000),
    "more than are fitted": RNG.random(1001) ** 3,
    "many": RNG.beta(2, 5, 16_775),
}


def twins_of(edges, n_components=3):
    """Fit both, assert that they are equal, and return both."""
    ours = edge_models.fit_mixtures(edges, n_components)
    theirs = [reference.fit_mixture(some, n_components) for some in edges]
    for ours_of, name in zip(ours, ("weights", "means", "variances"), strict=True):
        np.testing.assert_array_equal(ours_of, [getattr(m, name) for m in theirs])
    return ours, theirs


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_fits_equal_the_reference_and_are_sound(n_components):
    ours, _ = twins_of(list(EDGES.values()), n_components)
    np.testing.assert_allclose(ours.weights.sum(axis=1), 1, rtol=1e-14)
    assert (ours.variances >= edge_models.MIN_VARIANCE).all()
    for k, edges in enumerate(EDGES.values()):
        np.testing.assert_allclose(ours.weights[k] @ ours.means[k], edges.mean(), rtol=0.01)
        alone = edge_models.fit_mixtures([edges], n_components)  # padding changes nothing
        np.testing.assert_array_equal(alone.means[0], ours.means[k])
        np.testing.assert_array_equal(alone.variances[0], ours.variances[k])


def test_padding_does_not_overflow():
    with np.errstate(all="raise"):
        edge_models.fit_mixtures([np.array([0.5]), RNG.random(500)])


def test_fit_does_not_depend_on_the_order_of_the_edges():
    edges = RNG.random(50)
    one, other = edge_models.fit_mixtures([edges]), edge_models.fit_mixtures([edges[::-1]])
    np.testing.assert_array_equal(one.means, other.means)


def test_one_component_is_mean_and_variance():
    mixture = edge_models.fit_mixtures([EDGES["skew"]], 1)
    np.testing.assert_allclose(mixture.means[0, 0], EDGES["skew"].mean())
    np.testing.assert_allclose(mixture.variances[0, 0], EDGES["skew"].var())


@pytest.mark.filterwarnings("ignore")  # that it has not converged
def test_em_equals_scikit_learns_from_the_same_start():
    edges = np.sort(np.concatenate([RNG.normal(0.1, 0.02, 300), RNG.normal(0.3, 0.05, 200)]))
    slices = (np.arange(500) * 3 // 500 == np.arange(3)[:, None]).astype(float)
    start = reference.maximise(edges, slices)
    theirs = GaussianMixture(
        3, weights_init=start.weights, means_init=start.means[:, None],
        precisions_init=1 / start.variances[:, None, None], tol=0, max_iter=30, reg_covar=0,
    ).fit(edges[:, None])  # fmt: skip
    ours = edge_models.fit_mixtures([edges])
    np.testing.assert_allclose(ours.weights[0], theirs.weights_, rtol=1e-7)
    np.testing.assert_allclose(ours.means[0], theirs.means_[:, 0], rtol=1e-7)
    np.testing.assert_allclose(ours.variances[0], theirs.covariances_[:, 0, 0], rtol=1e-7)


def test_no_step_of_em_lowers_the_likelihood():
    x = np.sort(EDGES["skew"])
    slices = np.arange(len(x)) * 3 // len(x)
    mixture = reference.maximise(x, (slices == np.arange(3)[:, None]).astype(float))
    last = -np.inf
    for _ in range(30):
        densities = norm.pdf(x[:, None], mixture.means, np.sqrt(mixture.variances))
        likelihood = np.log(densities @ mixture.weights).sum()
        assert likelihood >= last - 1e-9
        last = likelihood
        mixture = reference.maximise(x, reference.responsibilities_of(mixture, x))


def test_noise_is_taken_off_but_not_below_the_floor():
    ours, theirs = twins_of([EDGES["ten"], EDGES["constant"]])
    less = edge_models.without_noise(ours, 0.001)
    twins = [reference.without_noise(mixture, 0.001) for mixture in theirs]
    np.testing.assert_array_equal(less.variances, [m.variances for m in twins])
    np.testing.assert_allclose(
        less.variances, np.maximum(ours.variances - 0.001, edge_models.MIN_VARIANCE)
    )
