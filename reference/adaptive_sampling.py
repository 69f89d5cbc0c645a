"""Sampling features and examples: Maximum Adaptive Sampling (M.A.S.) and Laminating.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, sections 5.3 and 5.4. Each is a ``Sampler`` of
:mod:`reference.adaboost_mh`; the model of the edges is in :mod:`reference.edge_models`, how many
features and examples follow from it in :mod:`reference.sample_sizes`.

=================  ========================================================================
symbol             name
=================  ========================================================================
Q, S               ``n_features``, ``n_examples`` of the first iteration (Laminating)
Q*, S*, Q_k        learners and examples of a round of M.A.S.; learners of subset k
gmm                ``mixture``, ``mixtures``
Cost               ``budget``: ``max_cost`` N, in evaluations of a feature on an example
N_s                ``rows``: the sampled examples
ε̂_q                ``estimated_edges``, ``look``
=================  ========================================================================

Deviations, and choices where the paper is silent

1. Examples are drawn, with replacement, by their boosting weight, as Eqs. (1) and (2) say; then a
   drawn example counts 1, shared out over its labels as ω_nl / Σ_l ω_nl. The boxes of Algorithms 3
   and 4 say uniformly (``by_weight=False``): then a pair counts with its own weight. They print
   no weight there, but without one the edge would be that of the first round for ever.
2. S >= N means all examples, once each, with their own weights: the edges are exact.
3. The weak learner of a feature is its best stump on the sample.
4. Q and S are not printed but for Q S log2(Q) = 10 N. If not given: Q = 2**(``max_cost`` / 2), for
   10 N thus 32, and S as many as the cost allows, so that the last iteration, of two features,
   looks at about as many examples as there are. Q is never more than the features there are.
5. Of Q features Q // 2 are kept; equal edges keep the lower feature. Features are distinct.
6. Lemma 1 is printed with exp(-δ²S/2). Its proof needs P(Δ_q >= δ/2) for the mean of S votes in
   [-1, 1], for which Hoeffding's inequality gives exp(-2 S (δ/2)² / 2²) = exp(-δ²S/8); the printed
   exponent is that of votes in [0, 1]. The other steps hold, for odd Q too: at most Q - 1 learners
   can be counted, and (Q - 1) / (Q // 2) <= 2. Theorem 1 follows with δ_k = (δ/C) √(k/2^(k-1)),
   which sum to at most δ, and iteration k's S 2^(k-1) examples: 4 / (1 - exp(-δ²S/(8C²))) - 4 with
   8C² = 274.9 (``failure_bound_of_votes``), against the printed 69, about 2C² = 68.7. Both are
   here. The lemma as printed is false: of two learners with edges δ/2 and -δ/2 that always
   disagree, the better is not ahead in 5 % of the draws with δ = ½ and S = 48 (behind in 3 %, level
   in 2 %), the printed bound being 1 %.
7. The first round of M.A.S. Naive has no model: Q and S are both about the root of the cost.
8. M.A.S. 1.Q and Q.1 spend their 10 % on a pilot: Q_0 features of each subset on the same S_0
   examples. Q_0 is 10, but no more than S_0; both are at least 1, whatever the cost.
9. The model of M.A.S. takes the noise of an edge as N(0, 1/S), as printed. The edge of the best
   stump on a sample is also too large, as its threshold and votes were chosen there: not modelled.
   Nor is the noise taken off the fitted variances, unless ``deconvolve``.
10. Equal models: the first subset. Where a pilot has few examples and many labels, all stumps can
    have the same edge on it, round after round; M.A.S. 1.Q and Q.1 then stay in the first subset
    (Caltech-101: 33 subsets leave the pilot 7 examples of 101 classes, and both methods are the
    same for the first hundred rounds).
11. ``ties="spread"`` (M.A.S. Q.1, Laminating): of equal features some at random, in place of the
    lowest; of subsets that promise the same the one with the fewest features so far, then the
    first in an order that is drawn anew in each round.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from reference.adaboost_mh import (
    Problem,
    Proposal,
    Sampler,
    Weights,
    estimated_edges,
)
from reference.edge_models import N_COMPONENTS, Mixture, fit_mixture, without_noise
from reference.feature_sampling import draw, keep_problem
from reference.grid import unit_exponent
from reference.sample_sizes import best_family_sizes, greedy_sizes, noise_of

PILOT_SHARE = 0.1
PILOT_FEATURES = 10


# --- Sampling examples -------------------------------------------------------------------------


def sample_by_weight(weights: Weights, Y: np.ndarray, S: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Rows (S,) drawn by weight, and their ω y (S, K), each row's |ω| summing to 1; Eq. (2)."""
    of_row = np.sum(weights.ints, axis=1)
    rows = np.searchsorted(np.cumsum(of_row), rng.integers(weights.total, size=S), side="right")
    shares = weights.ints[rows] / of_row[rows, None]
    return rows, np.rint(np.ldexp(shares, unit_exponent(S * Y.shape[1]))).astype(np.int64) * Y[rows]


def sample(weights: Weights, Y: np.ndarray, S: int, by_weight: bool, rng):
    """Rows and their ω y, in grid steps."""
    if S >= len(Y):
        rows = np.arange(len(Y))
    elif by_weight:
        return sample_by_weight(weights, Y, S, rng)
    else:
        rows = rng.integers(len(Y), size=S)
    return rows, weights.ints[rows] * Y[rows]


def look(problem: Problem, weights: Weights, features, S: int, by_weight: bool, rng):  # Eq. (2)
    """Edges ε̂ of the best stumps, relative to all weight, on S examples; and the look itself."""
    rows, signed = sample(weights, problem.Y, S, by_weight, rng)
    total = max(1, int(np.sum(np.abs(signed))))  # examples drawn uniformly may weigh nothing
    edges = estimated_edges(problem.X[rows], signed, features) / total
    return edges, (features, None if S >= len(problem.X) else rows)


# --- Section 5.3: Maximum Adaptive Sampling ----------------------------------------------------


@dataclass(frozen=True)
class Naive:
    """What M.A.S. Naive hands on: the mixture fitted in the previous round, None at first."""

    problem: Problem
    mixture: Mixture | None


def modelled(edges: np.ndarray, noise: float, n_components: int, deconvolve: bool) -> Mixture:
    """Mixture of the edges, as estimated or with the noise taken off."""
    mixture = fit_mixture(edges, n_components)
    return without_noise(mixture, noise) if deconvolve else mixture


def middle_sizes(budget: float, N: int, n_features: int) -> tuple[int, int]:
    """Q and S, each about the root of the cost."""
    S = max(1, min(int(math.sqrt(budget)), N))
    return max(1, min(int(budget // S), n_features)), S


def mas_naive(n_components=N_COMPONENTS, by_weight=True, deconvolve=False) -> Sampler:
    """Algorithm 3: Q and S by the model of the edges estimated in the previous round."""

    def begin(problem: Problem, rng) -> Naive:
        return Naive(problem, None)

    def propose(state: Naive, weights: Weights, rng):
        problem = state.problem
        N, everything = len(problem.X), np.sort(np.concatenate(problem.families))
        budget = problem.max_cost * N
        if state.mixture is None:
            Q, S = middle_sizes(budget, N, len(everything))
        else:
            _, Q, S, _ = best_family_sizes([state.mixture], [len(everything)], N, budget)
        features = np.sort(draw(everything, Q, rng))
        edges, looked = look(problem, weights, features, S, by_weight, rng)
        proposal = Proposal(features[[np.argmax(edges)]], Q * S, (looked,))
        mixture = modelled(edges, noise_of(S, N), n_components, deconvolve)
        return proposal, dataclasses.replace(state, mixture=mixture)

    return Sampler(begin, propose)


def pilot_sizes(problem: Problem) -> tuple[int, int]:
    """Q_0 features of each subset and S_0 examples for 10 % of the cost."""
    N, K = len(problem.X), len(problem.families)
    share = PILOT_SHARE * problem.max_cost * N / K
    Q = max(1, min(PILOT_FEATURES, int(math.sqrt(share))))
    return Q, max(1, min(int(share / Q), N))


def lowest(edges: np.ndarray, rng) -> int:
    """Place of the largest edge, the first of equals."""
    return int(np.argmax(edges))


def any_of_equals(edges: np.ndarray, rng) -> int:
    """Place of the largest edge, one of equals."""
    equals = np.flatnonzero(edges == np.max(edges))
    return int(equals[rng.integers(len(equals))])


def mas_with_pilot(
    counts_of, n_components: int, by_weight: bool, deconvolve: bool, best_of=lowest
) -> Sampler:
    """M.A.S. 1.Q and Q.1: ``counts_of`` maximises E[ε*] over Q_1, …, Q_K and S."""

    def propose(problem: Problem, weights: Weights, rng):
        N, sizes = len(problem.X), [len(family) for family in problem.families]
        Q, S = pilot_sizes(problem)
        pilot = [draw(family, Q, rng) for family in problem.families]
        edges, first = look(problem, weights, np.concatenate(pilot), S, by_weight, rng)
        ends = np.cumsum([len(features) for features in pilot])[:-1]
        mixtures = [
            modelled(of_subset, noise_of(S, N), n_components, deconvolve)
            for of_subset in np.split(edges, ends)
        ]
        spent = len(edges) * S
        counts, S = counts_of(mixtures, sizes, N, problem.max_cost * N - spent, rng)
        drawn = [draw(problem.families[k], counts[k], rng) for k in np.flatnonzero(counts)]
        features = np.sort(np.concatenate(drawn))
        edges, second = look(problem, weights, features, S, by_weight, rng)
        best = features[[best_of(edges, rng)]]
        return Proposal(best, spent + len(features) * S, (first, second)), problem

    return Sampler(keep_problem, propose)


def mas_1q(n_components=N_COMPONENTS, by_weight=True, deconvolve=False) -> Sampler:
    """M.A.S. 1.Q: the best subset, and Q and S for it."""

    def counts_of(mixtures, sizes, N, budget, rng):
        k, Q, S, _ = best_family_sizes(mixtures, sizes, N, budget)
        return np.where(np.arange(len(sizes)) == k, Q, 0), S

    return mas_with_pilot(counts_of, n_components, by_weight, deconvolve)


def mas_q1(n_components=N_COMPONENTS, by_weight=True, deconvolve=False, ties="lowest") -> Sampler:
    """M.A.S. Q.1: greedy increments of Q_1, …, Q_K, for the best S."""

    def counts_of(mixtures, sizes, N, budget, rng):
        order = rng.permutation(len(sizes)) if ties == "spread" else None
        return greedy_sizes(mixtures, sizes, N, budget, order)[:2]

    best_of = any_of_equals if ties == "spread" else lowest
    return mas_with_pilot(counts_of, n_components, by_weight, deconvolve, best_of)


# --- Section 5.4: Laminating -------------------------------------------------------------------


def n_iterations(Q: int) -> int:
    """How often Q can be halved until one is left."""
    return Q.bit_length() - 1


def first_sizes(problem: Problem, Q: int | None, S: int | None) -> tuple[int, int]:
    """Q and S of the first iteration, so that Q S log2(Q) is at most ``max_cost`` N."""
    if Q is None:
        Q = 2 ** max(1, int(problem.max_cost / 2))
    Q = min(Q, sum(len(family) for family in problem.families))
    if S is None:
        S = int(problem.max_cost * len(problem.X) / (Q * max(1, n_iterations(Q))))
    return Q, max(1, S)


def best_half(features: np.ndarray, edges: np.ndarray, places=None) -> np.ndarray:
    """Q // 2 features with the largest edges in ascending order; of equals the first in places.

    Without places, the lowest.
    """
    places = features if places is None else places
    order = sorted(range(len(features)), key=lambda q: (-edges[q], places[q]))
    return np.sort(features[order[: len(features) // 2]])


def laminating(n_features=None, n_examples=None, by_weight=True, ties="lowest") -> Sampler:
    """Algorithm 4."""

    def propose(problem: Problem, weights: Weights, rng):
        Q, S = first_sizes(problem, n_features, n_examples)
        features = np.sort(draw(np.sort(np.concatenate(problem.families)), Q, rng))
        paper_cost, looks = Q * min(S, len(problem.X)) * n_iterations(Q), []
        while len(features) > 1:
            rows, signed = sample(weights, problem.Y, S, by_weight, rng)
            edges = estimated_edges(problem.X[rows], signed, features)
            looks.append((features, None if S >= len(problem.X) else rows))
            places = rng.permutation(len(features)) if ties == "spread" else None
            features, S = best_half(features, edges, places), 2 * S
        return Proposal(features, paper_cost, tuple(looks)), problem

    return Sampler(keep_problem, propose)


# --- section 5.4: Lemma 1 and Theorem 1, as printed and as they follow; deviation 6 --------------

C = math.fsum(math.sqrt(k / 2 ** (k - 1)) for k in range(1, 200))  # √2 Li_{-1/2}(1/√2), 5.862
PRINTED, OF_VOTES = 2.0, 8.0  # δ²S is divided by this in Lemma 1


def lemma_bound(delta: float, S: int, divisor: float = PRINTED) -> float:
    """Lemma 1: probability that an iteration keeps none within δ of the best is at most this."""
    return 4 * math.exp(-(delta**2) * S / divisor)


def failure_bound(delta: float, S: int) -> float:
    """Theorem 1: probability to lose more than δ of the best edge is at most this, as printed."""
    return 4 / (1 - math.exp(-(delta**2) * S / 69)) - 4


def failure_bound_of_votes(delta: float, S: int) -> float:
    """Theorem 1 with Hoeffding's inequality for votes of -1 or 1: Σ_k 4 exp(-δ² S k / (8 C²))."""
    return 4 / (1 - math.exp(-(delta**2) * S / (OF_VOTES * C * C))) - 4
