"""How many features and examples to draw: the expected edge, maximised under a budget.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, section 5.3. The reference is
:mod:`reference.sample_sizes`, with the quadrature and the error it makes.

exp and Φ run in NumPy and SciPy, kernels only add, multiply and divide in a fixed order, so both
twins choose by the same bits (DESIGN §4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from .edge_models import Mixtures
from .kernels.decorators import allocating_kernel, kernel

_N_NODES = 192
_REACH = -2.0, 5.0
_N_BLOCKS = 32
_RATES = 4.0 * 2.0 ** np.arange(11)  # λ of the bounds
_MARGIN = 1e-6  # far above the rounding errors of a value and its bound

# --- Expected edge of the chosen learner, Eq. (6) ----------------------------------------------


class _Cells(NamedTuple):
    """What E[ε*] is summed from, for each of several pairs of a family and a number of examples.

    ``below`` (n_pairs, n_nodes + 2) is P(estimated edge <= x) at -∞, the nodes and ∞; ``edges`` and
    ``learners`` (…, n_nodes + 1) are, for each cell between them, the increments of
    E[ε; estimate <= x] and of P over the mean of P.
    """

    below: np.ndarray
    edges: np.ndarray
    learners: np.ndarray


@allocating_kernel
def _add_components(mixtures, roots, probability, density, below, edges, learners):
    """Add up the components; `edges` and `learners` are outputs by cell."""
    weights, means, variances = mixtures
    n_nodes = below.shape[1]
    first = np.empty(n_nodes)
    for k in range(below.shape[0]):
        F = below[k]
        F[:], first[:] = 0.0, 0.0
        for j in range(weights.shape[1]):
            w, mean, slope = weights[k, j], means[k, j], variances[k, j] / roots[k, j]
            for i in range(1, n_nodes - 1):
                p, d = probability[k, j, i - 1], density[k, j, i - 1]
                F[i] += w * p
                first[i] += w * (mean * p - slope * d)
            first[n_nodes - 1] += w * mean
        F[n_nodes - 1] = 1.0
        for i in range(n_nodes - 1):
            middle = 0.5 * (F[i] + F[i + 1])
            edges[k, i], learners[k, i] = 0.0, 0.0
            if middle > 0:
                edges[k, i] = (first[i + 1] - first[i]) / middle
                learners[k, i] = (F[i + 1] - F[i]) / middle


class _Table:
    """Tabulates :class:`_Cells` for pairs of a family and a variance of the noise, as asked for.

    All families with the same noise have the same nodes.
    """

    def __init__(self, mixtures: Mixtures, noise: np.ndarray, n_nodes: int = _N_NODES) -> None:
        self._mixtures, self._noise = mixtures, noise
        self._roots = roots = np.sqrt(mixtures.variances + noise[:, None, None])
        alive = mixtures.weights > 0
        low = np.where(alive, mixtures.means + _REACH[0] * roots, np.inf).min(axis=(1, 2))
        high = np.where(alive, mixtures.means + _REACH[1] * roots, -np.inf).max(axis=(1, 2))
        self._x = low[:, None] + ((high - low) / (n_nodes - 1))[:, None] * np.arange(n_nodes)

    def cells(self, s: np.ndarray, k: np.ndarray) -> _Cells:
        """Give the cells of the families `k` with the variances at `s`, place by place."""
        mixtures, roots, x = Mixtures(*(part[k] for part in self._mixtures)), self._roots, self._x
        roots = roots[s, k]
        z = (x[s][:, None, :] - mixtures.means[..., None]) / roots[..., None]
        probability = ndtr(z)
        np.multiply(z, z, out=z)
        z *= -0.5
        density = np.exp(z, out=z)
        density *= 1 / np.sqrt(2 * np.pi)
        shape = len(roots), x.shape[1] + 1
        cells = _Cells(np.empty((shape[0], shape[1] + 1)), np.empty(shape), np.empty(shape))
        _add_components(tuple(mixtures), roots, probability, density, *cells)
        return cells

    def log_moments(self) -> np.ndarray:
        """Logarithm of E[exp(λ e)] for each λ of a series, number and family.

        e is the mean of a learner's true edge when its estimate and its component are known.
        """
        weights, means, variances = self._mixtures
        spread = variances * variances / (variances + self._noise[:, None, None])
        rates = _RATES[:, None, None, None]
        exponents = rates * (means + 0.5 * rates * spread)
        exponents = np.where(weights > 0, exponents, -np.inf)
        top = exponents.max(axis=-1)
        return top + np.log((weights * np.exp(exponents - top[..., None])).sum(axis=-1))


@kernel
def _power(x, n):
    """x**n by multiplications alone."""
    result = 1.0
    while n > 0:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result


@kernel
def _expected_edge(below, powers, edges, more_edges, learners, more_learners, n, terms):  # Eq. (6)
    """E[ε*] when `n` learners of a family join those drawn."""
    for i in range(terms.shape[0]):
        share = learners[i] + n * more_learners[i]
        step = below[i + 1] * powers[i + 1] - below[i] * powers[i]
        terms[i] = step * ((edges[i] + n * more_edges[i]) / share) if share > 0 else 0.0
    total = 0.0
    for i in range(terms.shape[0]):
        total += terms[i]
    return total


@allocating_kernel
def _expected_edges_of_one_family(cells, counts, out):
    """E[ε*] of `counts` (n_pairs,) learners, all of the pair's family."""
    below, edges, learners = cells
    nobody, nothing = np.ones(below.shape[1]), np.zeros(edges.shape[1])
    powers, terms = np.empty(below.shape[1]), np.empty(edges.shape[1])
    for k in range(counts.shape[0]):
        for i in range(powers.shape[0]):
            powers[i] = _power(below[k, i], counts[k])
        out[k] = _expected_edge(
            nobody, powers, nothing, edges[k], nothing, learners[k], counts[k], terms
        )


@allocating_kernel
def _greedy_counts(cells, sizes, n_learners, block, spread, counts):
    """Increments of `counts` that raise E[ε*] most, until so many learners are drawn; E[ε*].

    Of equals the first, or if they are to be spread the first of those with the fewest so far.
    """
    all_below, all_edges, all_learners = cells
    K, left = sizes.shape[0], n_learners
    below, terms = np.ones(all_below.shape[1]), np.empty(all_edges.shape[1])
    edges, learners = np.zeros(terms.shape[0]), np.zeros(terms.shape[0])
    powers, exponents = np.empty_like(all_below), np.zeros(K, dtype=np.int64)
    value = 0.0
    while left > 0:
        best, value = -1, -np.inf
        for k in range(K):
            step = min(block, left, sizes[k] - counts[k])
            if step == 0:
                continue
            if step != exponents[k]:
                exponents[k] = step
                for i in range(below.shape[0]):
                    powers[k, i] = _power(all_below[k, i], step)
            with_more = _expected_edge(
                below, powers[k], edges, all_edges[k], learners, all_learners[k], step, terms
            )
            fewer = spread and with_more == value and counts[k] < counts[best]
            if with_more > value or fewer:
                best, value = k, with_more
        step = exponents[best]
        counts[best] += step
        left -= step
        below *= powers[best]
        edges += step * all_edges[best]
        learners += step * all_learners[best]
    return value


# --- Maximisation over Q and S (section 5.3) ---------------------------------------------------


class Sizes(NamedTuple):
    """How many learners and examples to draw."""

    n_features: np.ndarray  # (n_families,) int64: of each family
    n_examples: int
    expected: float  # E[ε*] with these


def _numbers_of_examples(n_samples: int, budget: float, most: int) -> np.ndarray:
    """Values N, N/2, N/4, … of S; fewer would pay for more than `most` learners."""
    values = []
    for i in range(n_samples.bit_length()):
        S = n_samples >> i
        if budget // S >= 1:
            values.append(S)
        if budget // S >= most:
            break
    return np.array(values or [1])


def _noise_of(numbers: np.ndarray, n_samples: int) -> np.ndarray:  # Eq. (3)
    """Variance of an estimated edge; none if all examples are used."""
    return np.where(numbers >= n_samples, 0.0, 1 / numbers)


def _bounds(log_counts: np.ndarray, log_moments: np.ndarray) -> np.ndarray:
    """What E[ε*] of Q learners of one family cannot exceed: log(Q E[exp(λ e)]) / λ.

    The smallest of several λ. ε* has the mean of e of the learner that is taken, and by Jensen's
    inequality exp(λ E[ε*]) is at most the mean of the largest exp(λ e), at most that of the sum of
    all. Cells make the estimate coarser, of which the same is true.
    """
    rates = _RATES.reshape(-1, *[1] * log_counts.ndim)
    return ((log_counts + log_moments) / rates).min(axis=0)


def _evaluate(table: _Table, wanted: np.ndarray, counts: np.ndarray, values: np.ndarray) -> None:
    """Set the values (n_numbers, n_families) that are wanted and not known."""
    s, k = np.nonzero(wanted & np.isneginf(values))
    if len(s):
        found = np.empty(len(s))
        _expected_edges_of_one_family(tuple(table.cells(s, k)), counts[s, k], found)
        values[s, k] = found


def best_family_sizes(
    mixtures: Mixtures, sizes: np.ndarray, n_samples: int, budget: float
) -> Sizes:
    """Family, Q and S with the largest E[ε*], all learners of one family (M.A.S. Naive and 1.Q)."""
    numbers = _numbers_of_examples(n_samples, budget, int(sizes.max()))
    counts = np.maximum(1, np.minimum((budget // numbers)[:, None], sizes)).astype(np.int64)
    table = _Table(mixtures, _noise_of(numbers, n_samples))
    bounds = _bounds(np.log(counts), table.log_moments())
    values = np.full(counts.shape, -np.inf)
    _evaluate(table, bounds == bounds.max(), counts, values)
    _evaluate(table, bounds >= values.max() - _MARGIN, counts, values)
    s, k = np.unravel_index(np.argmax(values), values.shape)
    n_features = np.zeros(len(sizes), dtype=np.int64)
    n_features[k] = counts[s, k]
    return Sizes(n_features, int(numbers[s]), float(values[s, k]))


def greedy_sizes(
    mixtures: Mixtures,
    sizes: np.ndarray,
    n_samples: int,
    budget: float,
    order: np.ndarray | None = None,
) -> Sizes:
    """Q of each family and S with the largest E[ε*], by greedy increments (M.A.S. Q.1)."""
    spread = order is not None
    if spread:
        mixtures, sizes = Mixtures(*(part[order] for part in mixtures)), sizes[order]
    most = int(sizes.sum())
    numbers = _numbers_of_examples(n_samples, budget, most)
    totals = np.maximum(1, np.minimum(budget // numbers, most)).astype(np.int64)
    table = _Table(mixtures, _noise_of(numbers, n_samples))
    best = Sizes(np.zeros(len(sizes), dtype=np.int64), 0, -np.inf)
    # All of them: where families' increments cancel to rounding errors, their quotient exceeds any
    # bound, in the reference as here.
    for s, (S, Q) in enumerate(zip(numbers.tolist(), totals.tolist(), strict=True)):
        counts = np.zeros(len(sizes), dtype=np.int64)
        cells = tuple(table.cells(np.full(len(sizes), s), np.arange(len(sizes))))
        value = _greedy_counts(cells, sizes, Q, -(-Q // _N_BLOCKS), spread, counts)
        if value > best.expected:
            best = Sizes(counts, S, value)
    if spread:
        n_features = np.empty_like(best.n_features)
        n_features[order] = best.n_features
        best = best._replace(n_features=n_features)
    return best
