"""Which features a round of boosting looks at: the protocol of a sampler, and the uniform ones.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, section 6.3. The reference is
:mod:`reference.feature_sampling`.

A sampler is an object with three methods that the boosting loop calls: ``begin`` once, ``propose``
and ``update`` in every round. A new way to sample is one class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from algorithms.pair_weights import PairWeights
from algorithms.stumps import Search, search

_MOST_DRAWS = 1_000_000


class Proposal(NamedTuple):
    """Features to search on all examples, and what it cost to find them.

    Attributes
    ----------
    features : ndarray of int
        Distinct features.
    paper_cost : int
        Evaluations of a feature on an example as the paper counts them (section 6.5).
    evaluations : int
        Those that the sampler made itself, beside the search on all examples that follows.
    """

    features: np.ndarray
    paper_cost: int
    evaluations: int = 0


@dataclass(frozen=True)
class Problem:
    """What a sampler may look at.

    Attributes
    ----------
    columns : ndarray of shape (n_features, n_samples), uint8
        Training features, one row each.
    defaults : ndarray of shape (n_features,), int64
        See :func:`algorithms.stumps.default_codes`.
    families : list of ndarray of int
        Disjoint subsets of the features.
    max_cost : float
        What a round may cost as the paper counts, in passes of one feature over all examples.
    weights : PairWeights
        Boosting weights of the current round.
    rng : numpy.random.Generator
        The only source of randomness.
    n_threads : int
    """

    columns: np.ndarray
    defaults: np.ndarray
    families: list[np.ndarray]
    max_cost: float
    weights: PairWeights
    rng: np.random.Generator
    n_threads: int

    @property
    def n_samples(self) -> int:
        """Number of examples N."""
        return self.columns.shape[1]

    @property
    def n_passes(self) -> int:
        """Features that the cost of a round pays for on all examples: Q, at least 1."""
        return max(1, int(self.max_cost))

    def all_features(self) -> np.ndarray:
        """Features of all families, ascending."""
        return np.sort(np.concatenate(self.families))

    def search(self, features: np.ndarray, signed: np.ndarray, rows=None) -> Search:
        """Best cut of each of some features, see :func:`algorithms.stumps.search`."""
        return search(self.columns, features, signed, self.n_threads, rows, self.defaults)

    def edges(self, features: np.ndarray, rows=None, signed=None) -> np.ndarray:
        """Edge of the best stump on each feature (or the constant vote's), in grid steps.

        Parameters
        ----------
        features : ndarray of int
        rows : ndarray of int, optional
            A sample of the examples, repeated or in any order.
        signed : ndarray of shape (n_rows, n_lanes), int32, optional
            Weight times label of the sample; the boosting weights themselves if not given.

        Returns
        -------
        ndarray of shape (n_searched,), int64
        """
        if signed is None:
            signed = self.weights.signed if rows is None else self.weights.signed[rows]
        return self.search(features, signed, rows).edges


class Sampler:
    """Base of the samplers: what the boosting loop calls."""

    def begin(self, problem: Problem) -> None:
        """Get ready; called once, before the first round.

        Raises
        ------
        ValueError
            If the sampler's parameters do not fit the problem.
        """

    def propose(self, problem: Problem) -> Proposal:
        """Choose the features of a round."""
        raise NotImplementedError

    def update(self, feature: int, edge: float) -> None:
        """Learn which feature was taken (-1: none, a constant vote), and its edge in [0, 1]."""


def draw(family: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Distinct features of a family, or all there are."""
    if size >= len(family):
        return family
    return family[rng.choice(len(family), size, replace=False)]


def on_all_examples(problem: Problem, features: np.ndarray) -> Proposal:
    """Propose features that cost one pass over all examples each."""
    features = np.unique(features)
    return Proposal(features, len(features) * problem.n_samples)


class AllFeatures(Sampler):
    """Every feature in every round: textbook AdaBoost, whatever it costs."""

    def propose(self, problem: Problem) -> Proposal:
        """Choose all features."""
        return on_all_examples(problem, problem.all_features())


class UniformNaive(Sampler):
    """Q features of all, whatever the sizes of the families."""

    def propose(self, problem: Problem) -> Proposal:
        """Choose uniformly among all features."""
        features = draw(problem.all_features(), problem.n_passes, problem.rng)
        return on_all_examples(problem, features)


class Uniform1Q(Sampler):
    """Uniform 1.Q: one family at random, and Q features of it."""

    def propose(self, problem: Problem) -> Proposal:
        """Choose a family, then its features."""
        family = problem.families[int(problem.rng.integers(len(problem.families)))]
        return on_all_examples(problem, draw(family, problem.n_passes, problem.rng))


class UniformQ1(Sampler):
    """Uniform Q.1: Q families at random, and one feature of each."""

    def begin(self, problem: Problem) -> None:
        """Check that so many draws are meant."""
        if problem.n_passes > _MOST_DRAWS:
            raise ValueError(
                f"uniform_q1 draws one family for each pass of max_cost, at most {_MOST_DRAWS}; "
                f"got max_cost={problem.max_cost!r}."
            )

    def propose(self, problem: Problem) -> Proposal:
        """Choose families (with replacement if there are fewer than Q), then features."""
        n_families, Q = len(problem.families), problem.n_passes
        chosen = problem.rng.choice(n_families, Q, replace=Q > n_families)
        places = problem.rng.integers(np.array([len(problem.families[k]) for k in chosen]))
        features = [problem.families[k][i] for k, i in zip(chosen, places, strict=True)]
        return on_all_examples(problem, np.array(features))


class FixedFamily(Sampler):
    """Q features of one family in every round; the best of all families is "Best family".

    Parameters
    ----------
    family : int
        Number of the family.
    """

    def __init__(self, family: int) -> None:
        self.family = family

    def begin(self, problem: Problem) -> None:
        """Check that there is such a family."""
        if not 0 <= self.family < len(problem.families):
            raise ValueError(
                f"There is no family {self.family!r}: families are numbered from 0 to "
                f"{len(problem.families) - 1}."
            )

    def propose(self, problem: Problem) -> Proposal:
        """Choose among the family's features."""
        family = problem.families[self.family]
        return on_all_examples(problem, draw(family, problem.n_passes, problem.rng))
