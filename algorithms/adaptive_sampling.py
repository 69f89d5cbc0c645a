"""Laminating: ever fewer features on ever more examples.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, section 5.4. The reference, with its deviations, is
:mod:`reference.adaptive_sampling`.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from algorithms.kernels import kernel, parallel_kernel
from algorithms.pair_weights import PairWeights, grid_exponent
from algorithms.sampling import Problem, Proposal, Sampler, check_whole, draw


@kernel
def rows_of(draws, of_row, rows):
    """Row that each draw falls into, rows lying end to end.

    Parameters
    ----------
    draws : ndarray of shape (n_draws,), int64
        Ascending, from 0 to the sum of `of_row` less 1.
    of_row : ndarray of shape (n_rows,), int64
        Weight of each row, >= 0.
    rows : ndarray of shape (n_draws,), int64
        Output.
    """
    row, end = 0, of_row[0]
    for s in range(draws.shape[0]):
        while draws[s] >= end:
            row += 1
            end += of_row[row]
        rows[s] = row


@parallel_kernel
def _share_out(rows, signed, of_row, scale, out):
    """Weights of the drawn rows relative to the row's, on a grid; signs are kept."""
    n_chunks = max(1, rows.shape[0] >> 10)
    for c in prange(n_chunks):
        for s in range(rows.shape[0] * c // n_chunks, rows.shape[0] * (c + 1) // n_chunks):
            total = np.float64(of_row[rows[s]])
            for k in range(signed.shape[1]):
                out[s, k] = np.int32(np.rint(signed[rows[s], k] / total * scale))


def sample_by_weight(
    weights: PairWeights, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw examples by their boosting weight, Eq. (2).

    Parameters
    ----------
    weights : PairWeights
    size : int
        Number S of draws, with replacement.
    rng : numpy.random.Generator

    Returns
    -------
    rows : ndarray of shape (size,), int64
        Ascending.
    signed : ndarray of shape (size, n_lanes), int32
        Weight times label; each row's weights sum to 1, in grid steps.
    """
    draws = rng.integers(weights.total, size=size)
    draws.sort()  # sums do not depend on the order; finding the rows, and memory, do
    rows = np.empty(size, dtype=np.int64)
    rows_of(draws, weights.of_row, rows)
    signed = np.empty((size, weights.signed.shape[1]), dtype=np.int32)
    exponent = grid_exponent(size * weights.targets.shape[1])
    _share_out(rows, weights.signed, weights.of_row, 2.0**exponent, signed)
    return rows, signed


class Laminating(Sampler):
    """Algorithm 4: halve the features and double the examples until one feature is left.

    Parameters
    ----------
    n_features : int or None, default=None
        Features Q of the first iteration; None: 2**(max_cost / 2).
    n_examples : int or None, default=None
        Examples S of the first iteration; None: as many as `max_cost` allows. As many as there
        are, or more, means all of them, once each.
    by_weight : bool, default=True
        Draw examples by their boosting weight, as Eq. (2), or uniformly, as the box of Algorithm 4.
    """

    def __init__(self, n_features=None, n_examples=None, by_weight=True) -> None:
        self.n_features = n_features
        self.n_examples = n_examples
        self.by_weight = by_weight

    def begin(self, problem: Problem) -> None:
        """Check the parameters and settle Q and S."""
        Q = check_whole("n_features", self.n_features, 1, or_none=True)
        S = check_whole("n_examples", self.n_examples, 1, or_none=True)
        if not isinstance(self.by_weight, bool | np.bool_):
            raise ValueError(f"by_weight must be True or False, got {self.by_weight!r}.")
        self._features = problem.all_features()
        if Q is None:  # 2**62 is more than any data have, and more would be no int64
            Q = 2 ** max(1, min(int(problem.max_cost / 2), 62))
        self._Q = min(Q, len(self._features))
        self._n_iterations = self._Q.bit_length() - 1
        if S is None:
            budget = problem.max_cost * problem.n_samples
            S = int(budget / (self._Q * max(1, self._n_iterations)))
        self._S = max(1, min(S, problem.n_samples))

    def _sample(self, problem: Problem, size: int):
        """Rows and weight times label; (None, None) for all examples with their weights."""
        if size >= problem.n_samples:
            return None, None
        if self.by_weight:
            return sample_by_weight(problem.weights, size, problem.rng)
        rows = problem.rng.integers(problem.n_samples, size=size)
        rows.sort()
        return rows, problem.weights.signed[rows]

    def propose(self, problem: Problem) -> Proposal:
        """Choose one feature."""
        features = np.sort(draw(self._features, self._Q, problem.rng))
        size = self._S
        while len(features) > 1:
            edges = problem.edges(features, *self._sample(problem, size))
            best = np.argsort(-edges, kind="stable")[: len(features) // 2]
            features = np.sort(features[best])
            size *= 2
        return Proposal(features, self._Q * self._S * self._n_iterations)
