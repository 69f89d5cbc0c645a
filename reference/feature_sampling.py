"""Sampling of features for boosting: the uniform baselines, bandits, and Tasting.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, sections 4, 6.3 and 6.4. Bandits: P. Auer, N. Cesa-Bianchi,
P. Fischer: Finite-time analysis of the multiarmed bandit problem. Machine Learning 47 (2002), pages
235-256 (UCB1, ε_n-greedy); P. Auer, N. Cesa-Bianchi, Y. Freund, R. E. Schapire: The nonstochastic
multiarmed bandit problem. SIAM Journal on Computing 32 (2003), pages 48-77 (Exp3.P). Each is a
``Sampler`` of :mod:`reference.adaboost_mh`; all examples are used, S = N.

=================  ========================================================================
symbol             name
=================  ========================================================================
Q                  ``n_features``: whole passes that ``max_cost`` pays for, at least 1
K, F_k             number of families (arms); ``families[k]``
n                  the round, from 1
r_j, n_j           mean reward ``rewards / pulls`` and number of ``pulls`` of family j
η, λ, T            ``eta``, ``lam``, ``n_rounds`` of Exp3.P
c / d²             ``scale`` of ε-greedy
R                  ``n_tasted``: features stored of each family
f^k_r              ``stored[k]``
ε^k_r              ``edges``, ascending; ε* is ``best``
=================  ========================================================================

Deviations, and choices where the paper is silent

1. Features of a round are distinct (drawn without replacement), so a family with fewer than Q is
   searched whole, and costs no more than that. Uniform Q.1 and Tasting Q.1 draw features one by
   one: the same feature drawn twice is searched and paid for once. Uniform Q.1 draws families with
   replacement only if Q > K, as printed.
2. Best family trains once per family with the same seed and keeps the one with the smallest final
   loss, the lowest family among equals; the bandits' parameter is chosen alike. As the paper counts
   a round costs what one of these costs; all evaluations are those of all of them.
3. The reward is -½ log(1 - ε²), as in R. Busa-Fekete, B. Kégl: Fast boosting using adversarial
   bandits. ICML 2010; ε is the edge of the stump that was taken. UCB and Exp3.P multiply it by
   ``scale`` and cut it at 1, as their rewards lie in [0, 1]; for ε-greedy no scale matters.
4. UCB pulls each arm once first, in order; with ``shuffle`` in a random order, fixed before the
   first round, by which it then also chooses among equals. An arm never pulled has a mean reward
   of 0 for ε-greedy.
5. Exp3.P starts from equal weights (the printed constant cancels out).
6. The R features stored of a family are distinct; R = 10, and a family with fewer stores them all:
   R is then smaller for it in Eq. (5). The paper does not count their K R N evaluations a round;
   the column of all evaluations does.
7. Of equal families the lowest is taken. Not so in Tasting Q.1 once ε* exceeds every stored edge:
   all E[max(ε*, ε^k)] are then ε*, but as computed they may differ in the last bit between families
   with different numbers of stored features, and that decides.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from reference.adaboost_mh import (
    Model,
    Problem,
    Proposal,
    Sampler,
    Weights,
    estimated_edges,
    fit,
)


def n_features(problem: Problem) -> int:
    """Q features of a round, each evaluated on all N examples."""
    return max(1, int(problem.max_cost))


def proposal(problem: Problem, features: np.ndarray) -> Proposal:
    """Propose distinct features that are to be searched on all N examples."""
    features = np.unique(features)
    return Proposal(features, len(features) * len(problem.X))


def draw(family: np.ndarray, size: int, rng) -> np.ndarray:
    """Distinct features of a family, or all there are."""
    if size >= len(family):
        return family
    return family[rng.choice(len(family), size, replace=False)]


def keep_problem(problem: Problem, rng) -> Problem:
    """Begin with nothing but the problem."""
    return problem


def all_features() -> Sampler:
    """Look at every feature: textbook AdaBoost, whatever it costs."""

    def propose(problem, weights, rng):
        return proposal(problem, np.concatenate(problem.families)), problem

    return Sampler(keep_problem, propose)


def uniform_naive() -> Sampler:
    """Q features of all."""

    def propose(problem, weights, rng):
        everything = np.sort(np.concatenate(problem.families))
        return proposal(problem, draw(everything, n_features(problem), rng)), problem

    return Sampler(keep_problem, propose)


def uniform_1q() -> Sampler:
    """One family, Q features of it."""

    def propose(problem, weights, rng):
        family = problem.families[int(rng.integers(len(problem.families)))]
        return proposal(problem, draw(family, n_features(problem), rng)), problem

    return Sampler(keep_problem, propose)


def uniform_q1() -> Sampler:
    """Q families, one feature of each."""

    def propose(problem, weights, rng):
        K, Q = len(problem.families), n_features(problem)
        chosen = rng.choice(K, Q, replace=Q > K)
        sizes = np.array([len(problem.families[k]) for k in chosen])
        places = rng.integers(sizes)
        features = [problem.families[k][i] for k, i in zip(chosen, places, strict=True)]
        return proposal(problem, np.array(features)), problem

    return Sampler(keep_problem, propose)


def fixed_family(k: int) -> Sampler:
    """Q features of family k."""

    def propose(problem, weights, rng):
        return proposal(problem, draw(problem.families[k], n_features(problem), rng)), problem

    return Sampler(keep_problem, propose)


# --- Section 6.4: bandits --------------------------------------------------------------------


@dataclass(frozen=True)
class Arms:
    """What a bandit knows of the families: pulls n_j, sums of rewards, and the last one pulled.

    ``order`` is in which UCB takes them.
    """

    problem: Problem
    pulls: np.ndarray
    rewards: np.ndarray
    log_weights: np.ndarray
    chances: np.ndarray
    last: int = -1
    order: np.ndarray | None = None


def reward(edge: float) -> float:
    """-½ log(1 - ε²): how much a round takes off the logarithm of the loss."""
    return -0.5 * float(np.log(1.0 - edge * edge)) if edge < 1 else math.inf


def new_arms(problem: Problem, rng) -> Arms:
    """Know nothing."""
    K = len(problem.families)
    return Arms(problem, np.zeros(K, dtype=np.int64), *(np.zeros(K) for _ in range(3)))


def pull(arms: Arms, k: int, chances, rng):
    """Propose Q features of family k."""
    family = arms.problem.families[k]
    arms = dataclasses.replace(arms, last=k, chances=chances)
    return proposal(arms.problem, draw(family, n_features(arms.problem), rng)), arms


def paid(arms: Arms, amount: float) -> Arms:
    """Pay the last arm its reward."""
    pulls, rewards = arms.pulls.copy(), arms.rewards.copy()
    pulls[arms.last] += 1
    rewards[arms.last] += amount
    return dataclasses.replace(arms, pulls=pulls, rewards=rewards)


def ucb(scale: float = 1.0, shuffle: bool = False) -> Sampler:
    """UCB: the family with the largest mean reward + sqrt(2 log(n) / n_j), each one once first."""

    def begin(problem: Problem, rng) -> Arms:
        K = len(problem.families)
        order = rng.permutation(K) if shuffle else np.arange(K)
        return dataclasses.replace(new_arms(problem, rng), order=order)

    def propose(arms: Arms, weights, rng):
        n = int(np.sum(arms.pulls)) + 1
        with np.errstate(divide="ignore", invalid="ignore"):
            index = arms.rewards / arms.pulls + np.sqrt(2 * np.log(n) / arms.pulls)
        index[arms.pulls == 0] = np.inf
        k = int(arms.order[np.argmax(index[arms.order])])
        return pull(arms, k, arms.chances, rng)

    def update(arms: Arms, stump, edge: float):
        return paid(arms, min(1.0, scale * reward(edge)))

    return Sampler(begin, propose, update)


def exp3p(scale: float = 1.0, eta: float = 0.3, lam: float = 0.15) -> Sampler:
    """Exp3.P: families drawn by weights that grow with rewards, and with doubt."""

    def propose(arms: Arms, weights, rng):
        w = np.exp(arms.log_weights - np.max(arms.log_weights))
        chances = (1 - lam) * (w / np.cumsum(w)[-1]) + lam / len(w)
        k = int(np.searchsorted(np.cumsum(chances), rng.random(), side="right"))
        return pull(arms, min(k, len(w) - 1), chances, rng)

    def update(arms: Arms, stump, edge: float):
        K, T = len(arms.pulls), arms.problem.n_rounds
        estimate = np.zeros(K)
        estimate[arms.last] = min(1.0, scale * reward(edge)) / arms.chances[arms.last]
        doubt = eta / (arms.chances * math.sqrt(K * T))
        log_weights = arms.log_weights + lam / (3 * K) * (estimate + doubt)
        return dataclasses.replace(arms, log_weights=log_weights)

    return Sampler(new_arms, propose, update)


def epsilon_greedy(scale: float = 1.0) -> Sampler:
    """ε-greedy: the family with the largest mean reward, or with ε_n = c K / (d² n) any."""

    def propose(arms: Arms, weights, rng):
        K, n = len(arms.pulls), int(np.sum(arms.pulls)) + 1
        if rng.random() < scale * K / n:
            return pull(arms, int(rng.integers(K)), arms.chances, rng)
        means = arms.rewards / np.maximum(arms.pulls, 1)
        return pull(arms, int(np.argmax(means)), arms.chances, rng)

    def update(arms: Arms, stump, edge: float):
        return paid(arms, reward(edge))

    return Sampler(new_arms, propose, update)


# --- Section 4: Tasting ----------------------------------------------------------------------


@dataclass(frozen=True)
class Tasters:
    """The features stored of each family, which say what the family is worth."""

    problem: Problem
    stored: list[np.ndarray]


def store(n_tasted: int):
    """Draw R features of each family before training."""

    def begin(problem: Problem, rng) -> Tasters:
        return Tasters(problem, [draw(family, n_tasted, rng) for family in problem.families])

    return begin


def taste(tasters: Tasters, weights: Weights) -> list[np.ndarray]:
    """Edges ε^k_r of the best stump on each stored feature, ascending."""
    problem = tasters.problem
    signed = weights.ints * problem.Y
    return [
        np.sort(estimated_edges(problem.X, signed, features) / weights.total)
        for features in tasters.stored
    ]


def expected_best(edges: np.ndarray, Q: int) -> float:  # Eq. (4), estimated by Eq. (5)
    """Expected largest edge of Q features of a family."""
    R, mean = len(edges), 0.0
    for r in range(1, R + 1):  # Eq. (5)
        mean += ((r / R) ** Q - ((r - 1) / R) ** Q) * edges[r - 1]
    return mean


def expected_gain(edges: np.ndarray, best: float) -> float:
    """E[max(ε*, ε^k)] of one more feature of a family; Algorithm 2."""
    return sum(max(best, edge) for edge in edges.tolist()) / len(edges)


def tasting_1q(n_tasted: int = 10) -> Sampler:
    """Algorithm 1: the family that promises most, and Q features of it."""

    def propose(tasters: Tasters, weights, rng):
        problem = tasters.problem
        Q = n_features(problem)
        k = int(np.argmax([expected_best(edges, Q) for edges in taste(tasters, weights)]))
        proposed = proposal(problem, draw(problem.families[k], Q, rng))
        looks = ((np.concatenate(tasters.stored), None),)
        return dataclasses.replace(proposed, looks=looks), tasters

    return Sampler(store(n_tasted), propose)


def tasting_q1(n_tasted: int = 10) -> Sampler:
    """Algorithm 2: feature by feature the family that promises most, given the best so far."""

    def propose(tasters: Tasters, weights, rng):
        problem, best, features = tasters.problem, 0.0, []
        signed = weights.ints * problem.Y
        edges = taste(tasters, weights)
        for _ in range(n_features(problem)):
            k = int(np.argmax([expected_gain(of_family, best) for of_family in edges]))
            feature = problem.families[k][int(rng.integers(len(problem.families[k])))]
            features.append(feature)
            best = max(best, estimated_edges(problem.X, signed, [feature])[0] / weights.total)
        proposed = proposal(problem, np.array(features))
        looks = ((np.concatenate(tasters.stored), None),)
        return dataclasses.replace(proposed, looks=looks), tasters

    return Sampler(store(n_tasted), propose)


# --- Choosing a posteriori -------------------------------------------------------------------


def fit_best(X, Y, samplers: list[Sampler], *, seed, **options) -> tuple[Model, int]:
    """Train with each sampler and keep the smallest final loss, the first among equals.

    Other parameters are those of :func:`reference.adaboost_mh.fit`, with a ``seed`` for each
    training. Returns the model and the place of its sampler.
    """
    models = [fit(X, Y, s, rng=np.random.default_rng(seed), **options) for s in samplers]
    if not models[0].trace:
        return models[0], 0
    place = int(np.argmin([model.trace[-1].log_loss for model in models]))
    best = models[place]
    # As if the trainings went on side by side, and kept what they compute for each other.
    met = np.cumsum([[d.family_rows for d in model.trace] for model in models], axis=1)
    family_rows = np.diff(np.max(met, axis=0), axis=0, prepend=0)
    trace = [
        dataclasses.replace(
            best.trace[t],
            evaluations=sum(model.trace[t].evaluations for model in models),
            family_rows=tuple(family_rows[t].tolist()),
        )
        for t in range(len(best.trace))
    ]
    return dataclasses.replace(best, trace=trace), place
