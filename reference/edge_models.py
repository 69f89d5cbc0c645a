"""Models of the edges of weak learners: one Gaussian, and mixtures.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, sections 5.1 to 5.3. What they are for, how many learners and
examples to draw, is in :mod:`reference.sample_sizes`.

=================  ========================================================================
symbol             name
=================  ========================================================================
ε_q                true edge of a weak learner, drawn from a ``Mixture``
Δ_q, σ²            noise of its estimate, normal; its variance ``noise``, 1/S
ε*                 true edge of the learner with the largest ε_q + Δ_q
Q                  number of learners drawn
S                  number of examples drawn
J, j               number of components of a mixture; the component
Φ                  ``ndtr``, the normal distribution function
=================  ========================================================================

Deliberately absent: mixtures for the noise (the paper's is one Gaussian, Eq. 3).

Deviations, and choices where the paper is silent

1. A mixture has J = 3 components, fitted by 30 steps of the EM algorithm from equal slices of the
   sorted edges: no random start. No variance is below 1e-6, and a component responsible for less
   than 1e-9 of an edge is dropped. Of more than 1000 edges, 1000 evenly spaced ones of the sorted
   list are fitted.
2. Edges are estimates; their own noise adds to the fitted variances, as the paper has it ("fits
   the model to the edges estimated"). ``without_noise`` takes it off again, if asked to.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

N_COMPONENTS = 3
N_STEPS = 30
MIN_VARIANCE = 1e-6
MIN_RESPONSIBILITY = 1e-9
MOST_FITTED = 1000


@dataclass(frozen=True)
class Mixture:
    """Density Σ_j w_j N(μ_j, s_j²) of true edges; a weight of 0 is a dropped component."""

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray


def add_up(values: np.ndarray) -> float:
    """Sum from left to right: ``np.sum`` would depend on the layout."""
    return float(np.cumsum(values)[-1])


# --- One Gaussian (section 5.2, Figure 1) ------------------------------------------------------


def expected_edge_of_one_gaussian(Q: int, S: float, std: float) -> float:  # Eq. (6)
    """Q/√(σ²+1) E[ε_1 Φ(ε_1)^(Q-1)] for ε_q ~ N(0, 1), scaled to ε_q ~ N(0, std²), σ² = 1/S."""
    z = np.linspace(-12, 12, 1201)
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    largest = Q * np.sum(z * density * ndtr(z) ** (Q - 1)) * (z[1] - z[0])
    return float(std * largest / math.sqrt(1 / (S * std**2) + 1))


# --- Fitting (section 5.3, "fit") --------------------------------------------------------------


def maximise(x: np.ndarray, responsibilities: np.ndarray) -> Mixture:
    """M step: weights, means and variances from the responsibilities (J, n)."""
    J = len(responsibilities)
    weights, means, variances = np.zeros(J), np.zeros(J), np.full(J, MIN_VARIANCE)
    for j, share in enumerate(responsibilities):
        mass = add_up(share)
        if mass < MIN_RESPONSIBILITY:
            continue
        weights[j], means[j] = mass, add_up(share * x) / mass
        away = x - means[j]
        variances[j] = max(add_up(share * (away * away)) / mass, MIN_VARIANCE)
    return Mixture(weights / add_up(weights), means, variances)


def responsibilities_of(mixture: Mixture, x: np.ndarray) -> np.ndarray:
    """E step: probability (J, n) that an edge comes from a component."""
    away = x - mixture.means[:, None]
    exponents = -(away * away) / (2.0 * mixture.variances[:, None])
    exponents[mixture.weights == 0] = -np.inf
    heights = mixture.weights / np.sqrt(mixture.variances)
    densities = heights[:, None] * np.exp(exponents - np.max(exponents, axis=0))
    return densities / np.cumsum(densities, axis=0)[-1]


def fit_mixture(edges: np.ndarray, n_components: int = N_COMPONENTS) -> Mixture:
    """Fit a mixture to estimated edges by the EM algorithm."""
    x, n = np.sort(edges), len(edges)
    if n > MOST_FITTED:
        x, n = x[(2 * np.arange(MOST_FITTED) + 1) * n // (2 * MOST_FITTED)], MOST_FITTED
    slices = np.arange(n) * n_components // n
    mixture = maximise(x, (slices == np.arange(n_components)[:, None]).astype(np.float64))
    for _ in range(N_STEPS):
        mixture = maximise(x, responsibilities_of(mixture, x))
    return mixture


def without_noise(mixture: Mixture, noise: float) -> Mixture:
    """Take the variance of the noise, 1/S by Eq. (3), off that of each component."""
    variances = np.maximum(mixture.variances - noise, MIN_VARIANCE)
    return Mixture(mixture.weights, mixture.means, variances)
