"""Sampling features and examples: Maximum Adaptive Sampling (M.A.S.) and Laminating.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, sections 5.3 and 5.4. The reference, with its deviations, is
:mod:`reference.adaptive_sampling`.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from .edge_models import N_COMPONENTS, Mixtures, fit_mixtures, without_noise
from .estimators.parameters import check_choice, check_flag, check_whole_number
from .sample_sizes import Sizes, best_family_sizes, greedy_sizes
from .stumps.pair_weights import Sample
from .stumps.sampling import Problem, Proposal, Sampler, draw

_PILOT_SHARE = 0.1
_PILOT_FEATURES = 10

MOST_COMPONENTS = 100

TIES = ("lowest", "spread")


def sample(problem: Problem, size: int, by_weight: bool) -> Sample | None:
    """Draw examples.

    Parameters
    ----------
    problem : Problem
    size : int
        Number S of examples.
    by_weight : bool
        By boosting weight, or uniformly.

    Returns
    -------
    Sample or None
        None, all examples with their weights, if S is as large as their number.
    """
    return None if size >= problem.n_samples else problem.sample(size, by_weight)


# --- Maximum Adaptive Sampling, section 5.3 ------------------------------------------------------


class _MAS(Sampler):
    """Base of the three: a model of the edges says how many features and examples to draw."""

    for_one_stump = True

    def __init__(self, n_components=N_COMPONENTS, by_weight=True, deconvolve=False) -> None:
        self.n_components = n_components
        self.by_weight = by_weight
        self.deconvolve = deconvolve

    def check_parameters(self) -> None:
        """Check the model of the edges and how examples are drawn."""
        if check_whole_number("n_components", self.n_components, 1) > MOST_COMPONENTS:
            raise ValueError(
                f"n_components must be at most {MOST_COMPONENTS}, got {self.n_components!r}."
            )
        check_flag("by_weight", self.by_weight)
        check_flag("deconvolve", self.deconvolve)

    def begin(self, problem: Problem) -> None:
        """Check the parameters."""
        self.check_parameters()
        self._n_components = int(self.n_components)
        # 2**62 is more than any data can cost, and more would be no int64
        self._budget = min(problem.max_cost * problem.n_samples, 2.0**62)

    def _edges(self, problem: Problem, features: np.ndarray, size: int) -> np.ndarray:
        """Edges of the best stumps on so many examples, relative to all weight."""
        drawn = sample(problem, size, self.by_weight)
        edges = problem.edges_on(drawn, features)
        # Examples that are drawn uniformly may weigh nothing.
        return edges / (problem.weights.total if drawn is None else max(1, drawn.weight))

    def _fit(self, problem: Problem, edges: list[np.ndarray], size: int) -> Mixtures:
        """Model of the edges of each family, estimated on so many examples."""
        mixtures = fit_mixtures(edges, self._n_components)
        if self.deconvolve and size < problem.n_samples:
            mixtures = without_noise(mixtures, 1 / size)
        return mixtures


class MASNaive(_MAS):
    """M.A.S. Naive, Algorithm 3: the model of all edges estimated in the previous round.

    The first round has none, and Q and S are both about the root of the cost.
    """

    def begin(self, problem: Problem) -> None:
        """Check the parameters; know no edges."""
        super().begin(problem)
        self._features = problem.all_features()
        self._mixture: Mixtures | None = None

    def _sizes(self, problem: Problem) -> tuple[int, int]:
        n_features = len(self._features)
        if self._mixture is None:
            S = max(1, min(int(math.sqrt(self._budget)), problem.n_samples))
            return max(1, int(min(self._budget // S, n_features))), S
        sizes = best_family_sizes(
            self._mixture, np.array([n_features]), problem.n_samples, self._budget
        )
        return int(sizes.n_features[0]), sizes.n_examples

    def propose(self, problem: Problem) -> Proposal:
        """Choose one feature."""
        Q, S = self._sizes(problem)
        features = np.sort(draw(self._features, Q, problem.rng))
        edges = self._edges(problem, features, S)
        self._mixture = self._fit(problem, [edges], S)
        return Proposal(features[[np.argmax(edges)]], Q * S)


class _MASWithPilot(_MAS):
    """Base of M.A.S. 1.Q and Q.1: a pilot in each round takes a tenth of the cost.

    Q_0 features of each family are searched on the same S_0 examples; Q_0 is 10, but no more than
    S_0. With many families, few examples and many labels, S_0 can be so small that all edges are
    equal: all models are then, and the first family is taken.
    """

    def begin(self, problem: Problem) -> None:
        """Check the parameters and settle the pilot."""
        super().begin(problem)
        self._sizes = np.array([len(family) for family in problem.families], dtype=np.int64)
        share = _PILOT_SHARE * problem.max_cost * problem.n_samples / len(self._sizes)
        self._Q = max(1, int(min(_PILOT_FEATURES, math.sqrt(share))))
        self._S = max(1, int(min(share / self._Q, problem.n_samples)))

    def _best_sizes(
        self, mixtures: Mixtures, n_samples: int, budget: float, rng: np.random.Generator
    ) -> Sizes:
        raise NotImplementedError

    def _best(self, edges: np.ndarray, rng: np.random.Generator) -> int:
        """Place of the largest edge, the first of equals."""
        return int(np.argmax(edges))

    def propose(self, problem: Problem) -> Proposal:
        """Choose one feature."""
        rng, families = problem.rng, problem.families
        pilot = [draw(family, self._Q, rng) for family in families]
        edges = self._edges(problem, np.concatenate(pilot), self._S)
        ends = np.cumsum([len(features) for features in pilot])
        mixtures = self._fit(problem, np.split(edges, ends[:-1]), self._S)
        spent = len(edges) * self._S
        sizes = self._best_sizes(mixtures, problem.n_samples, self._budget - spent, rng)
        drawn = [
            draw(families[k], int(sizes.n_features[k]), rng)
            for k in np.flatnonzero(sizes.n_features)
        ]
        features = np.sort(np.concatenate(drawn))
        edges = self._edges(problem, features, sizes.n_examples)
        cost = spent + len(features) * sizes.n_examples
        return Proposal(features[[self._best(edges, rng)]], cost)


class MAS1Q(_MASWithPilot):
    """M.A.S. 1.Q: one family, and Q and S for it, by models of all families."""

    def _best_sizes(
        self, mixtures: Mixtures, n_samples: int, budget: float, rng: np.random.Generator
    ) -> Sizes:
        return best_family_sizes(mixtures, self._sizes, n_samples, budget)


class MASQ1(_MASWithPilot):
    """M.A.S. Q.1: features of each family by greedy increments, and S, by models of all."""

    def __init__(
        self,
        n_components: int = N_COMPONENTS,
        by_weight: bool = True,
        deconvolve: bool = False,
        ties: Literal["lowest", "spread"] = "lowest",
    ) -> None:
        super().__init__(n_components, by_weight, deconvolve)
        self.ties = ties

    def check_parameters(self) -> None:
        """Check the model of the edges, how examples are drawn, and the rule among equals."""
        super().check_parameters()
        check_choice("ties", self.ties, TIES)

    def begin(self, problem: Problem) -> None:
        """Check the parameters and settle the pilot."""
        super().begin(problem)
        self._spread = self.ties == "spread"

    def _best_sizes(
        self, mixtures: Mixtures, n_samples: int, budget: float, rng: np.random.Generator
    ) -> Sizes:
        order = rng.permutation(len(self._sizes)) if self._spread else None
        return greedy_sizes(mixtures, self._sizes, n_samples, budget, order)

    def _best(self, edges: np.ndarray, rng: np.random.Generator) -> int:
        """Place of the largest edge; one of equals."""
        if not self._spread:
            return super()._best(edges, rng)
        equals = np.flatnonzero(edges == edges.max())
        return int(equals[rng.integers(len(equals))])


# --- Laminating, section 5.4 ---------------------------------------------------------------------


class Laminating(Sampler):
    """Algorithm 4: halve the features and double the examples until one feature is left."""

    for_one_stump = True

    def __init__(
        self,
        n_features: int | None = None,
        n_examples: int | None = None,
        by_weight: bool = True,
        ties: Literal["lowest", "spread"] = "lowest",
    ) -> None:
        self.n_features = n_features
        self.n_examples = n_examples
        self.by_weight = by_weight
        self.ties = ties

    def check_parameters(self) -> None:
        """Check Q and S, how examples are drawn, and the rule among equals."""
        check_whole_number("n_features", self.n_features, 1, or_none=True)
        check_whole_number("n_examples", self.n_examples, 1, or_none=True)
        check_flag("by_weight", self.by_weight)
        check_choice("ties", self.ties, TIES)

    def begin(self, problem: Problem) -> None:
        """Check the parameters and settle Q and S."""
        self.check_parameters()
        Q, S = (None if n is None else int(n) for n in (self.n_features, self.n_examples))
        self._features = problem.all_features()
        if Q is None:  # 2**62 is more than any data have, and more would be no int64
            Q = 2 ** max(1, min(int(problem.max_cost / 2), 62))
        self._Q = min(Q, len(self._features))
        self._n_iterations = self._Q.bit_length() - 1
        if S is None:
            budget = problem.max_cost * problem.n_samples
            S = int(budget / (self._Q * max(1, self._n_iterations)))
        self._S = max(1, min(S, problem.n_samples))
        self._spread = self.ties == "spread"

    def propose(self, problem: Problem) -> Proposal:
        """Choose one feature."""
        features = np.sort(draw(self._features, self._Q, problem.rng))
        size = self._S
        while len(features) > 1:
            edges = problem.edges_on(sample(problem, size, self.by_weight), features)
            place = problem.rng.permutation(len(edges)) if self._spread else np.arange(len(edges))
            best = np.lexsort((place, -edges))[: len(features) // 2]
            features = np.sort(features[best])
            size *= 2
        return Proposal(features, self._Q * self._S * self._n_iterations)
