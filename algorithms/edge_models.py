"""Models of the edges of weak learners: one Gaussian, and mixtures.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, sections 5.1 to 5.3. The reference is
:mod:`reference.edge_models`, with the choices where the paper is silent.

exp runs in NumPy, kernels only add, multiply and divide in a fixed order, so both twins fit the
same bits (DESIGN §4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from .kernels.decorators import kernel

N_COMPONENTS = 3
_N_STEPS = 30
MIN_VARIANCE = 1e-6
_MIN_RESPONSIBILITY = 1e-9
_MOST_FITTED = 1000
_TAIL = np.arange(-10.0, 13.0, 1 / 32)  # where the largest of up to 10**12 normal values may lie


def expected_maximum(n_values: ArrayLike) -> np.ndarray:
    """Mean of the largest of Q independent standard normal values.

    The integral of z d(Φ(z)**Q) by the trapezoidal rule, which converges exponentially here: the
    error is below 1e-12 for Q up to 10**9.
    """
    Q = np.asarray(n_values, dtype=np.float64)
    if not np.all(Q >= 1):
        raise ValueError("n_values must be numbers >= 1.")
    distinct, place = np.unique(Q, return_inverse=True)
    density = np.exp(-0.5 * _TAIL * _TAIL) * (_TAIL[1] - _TAIL[0]) / np.sqrt(2 * np.pi)
    weighted, log_below = density * _TAIL, log_ndtr(_TAIL)
    means = [q * np.dot(weighted, np.exp((q - 1) * log_below)) for q in distinct]
    return np.array(means, dtype=np.float64)[place].reshape(Q.shape)


def expected_edge_of_one_gaussian(
    n_features: ArrayLike, n_examples: ArrayLike, std: ArrayLike
) -> np.ndarray:  # Eq. (6)
    """Mean true edge of the learner that looks best, if edges and noise are Gaussian.

    Section 5.2 and Figure 1: Q learners have edges ε ~ N(0, std²), each seen with a noise of
    N(0, 1/S); the one with the largest sum is taken. E[ε*] = std² / √(std² + 1/S) times the
    mean of the largest of Q standard normal values.

    Examples
    --------
    >>> from algorithms.edge_models import expected_edge_of_one_gaussian
    >>> expected_edge_of_one_gaussian([10, 100], 100, 0.1).round(4).tolist()
    [0.1088, 0.1773]
    """
    S, std = np.asarray(n_examples, dtype=np.float64), np.asarray(std, dtype=np.float64)
    if not np.all(S > 0):
        raise ValueError("n_examples must be numbers > 0.")
    if not np.all((std > 0) & np.isfinite(std)):
        raise ValueError("std must be finite numbers > 0.")
    variance = std * std
    return variance / np.sqrt(variance + 1 / S) * expected_maximum(n_features)


# --- Mixtures ----------------------------------------------------------------------------------


class Mixtures(NamedTuple):
    """Gaussian mixtures of the true edges, one for each family."""

    # (n_families, n_components) float64: they sum to 1; 0 is a component that was dropped
    weights: np.ndarray
    means: np.ndarray  # (n_families, n_components) float64
    variances: np.ndarray  # (n_families, n_components) float64


@kernel
def _maximise(x, counts, shares, weights, means, variances):
    """M step, from the responsibilities (n_families, n_components, n_edges)."""
    for k in range(shares.shape[0]):
        total = 0.0
        for j in range(shares.shape[1]):
            mass, first, second = 0.0, 0.0, 0.0
            for i in range(counts[k]):
                mass += shares[k, j, i]
            weights[k, j], means[k, j], variances[k, j] = 0.0, 0.0, MIN_VARIANCE
            if mass < _MIN_RESPONSIBILITY:
                continue
            for i in range(counts[k]):
                first += shares[k, j, i] * x[k, i]
            mean = first / mass
            for i in range(counts[k]):
                away = x[k, i] - mean
                second += shares[k, j, i] * (away * away)
            weights[k, j], means[k, j] = mass, mean
            variances[k, j] = max(second / mass, MIN_VARIANCE)
        for j in range(shares.shape[1]):
            total += weights[k, j]
        for j in range(shares.shape[1]):
            weights[k, j] /= total


@kernel
def _exponents(x, counts, weights, means, variances, out):
    """Exponents of the components' densities at each edge, less the largest."""
    for k in range(x.shape[0]):
        for i in range(counts[k]):
            top = -np.inf
            for j in range(weights.shape[1]):
                away = x[k, i] - means[k, j]
                value = -(away * away) / (2.0 * variances[k, j])
                out[k, j, i] = value if weights[k, j] > 0 else -np.inf
                top = max(top, out[k, j, i])
            for j in range(weights.shape[1]):
                out[k, j, i] -= top
        out[k, :, counts[k] :] = 0.0  # padding: its exp must not overflow


@kernel
def _share_out(counts, weights, variances, densities):
    """E step: turn exp of the exponents into responsibilities, in place."""
    for k in range(densities.shape[0]):
        for i in range(counts[k]):
            total = 0.0
            for j in range(densities.shape[1]):
                densities[k, j, i] *= weights[k, j] / np.sqrt(variances[k, j])
                total += densities[k, j, i]
            for j in range(densities.shape[1]):
                densities[k, j, i] /= total


@kernel
def _step(x, counts, shares, weights, means, variances):
    """Both steps, from exp of the exponents to the next exponents, in place."""
    _share_out(counts, weights, variances, shares)
    _maximise(x, counts, shares, weights, means, variances)
    _exponents(x, counts, weights, means, variances, shares)


def _sorted_rows(edges: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Edges of each family in ascending order, (n_families, most), zeros behind; how many."""
    counts = np.array([len(of_family) for of_family in edges], dtype=np.int64)
    filled = np.arange(counts.max()) < counts[:, None]
    x = np.full(filled.shape, np.inf)
    x[filled] = np.concatenate(edges)
    x.sort(axis=1)
    if len(x[0]) > _MOST_FITTED:
        n_kept = np.minimum(counts, _MOST_FITTED)
        places = (2 * np.arange(_MOST_FITTED) + 1) * counts[:, None] // (2 * _MOST_FITTED)
        few = counts[:, None] <= _MOST_FITTED
        places = np.where(few, np.arange(_MOST_FITTED), places)
        x, counts = np.take_along_axis(x, places, axis=1), n_kept
        filled = np.arange(_MOST_FITTED) < counts[:, None]
    x[~filled] = 0.0
    return x, counts


def fit_mixtures(edges: Sequence[np.ndarray], n_components: int = N_COMPONENTS) -> Mixtures:
    """Fit a mixture to the edges of each family by 30 steps of the EM algorithm.

    It begins with equal slices of the sorted edges, so there is no randomness.
    """
    x, counts = _sorted_rows(edges)
    shape = len(edges), n_components
    of_slice = np.arange(x.shape[1]) * n_components // counts[:, None]
    shares = (of_slice[:, None, :] == np.arange(n_components)[:, None]).astype(np.float64)
    mixtures = Mixtures(np.empty(shape), np.empty(shape), np.empty(shape))
    _maximise(x, counts, shares, *mixtures)
    _exponents(x, counts, *mixtures, shares)
    for _ in range(_N_STEPS):
        np.exp(shares, out=shares)
        _step(x, counts, shares, *mixtures)
    return mixtures


def without_noise(mixtures: Mixtures, noise: float) -> Mixtures:
    """Take the variance of the noise off that of each component."""
    return mixtures._replace(variances=np.maximum(mixtures.variances - noise, MIN_VARIANCE))
