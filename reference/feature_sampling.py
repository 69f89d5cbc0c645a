"""Sampling of features for boosting: the uniform baselines.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, section 6.3. Each is a ``Sampler`` of
:mod:`reference.adaboost_mh`; all examples are used, S = N.

=================  ========================================================================
symbol             name
=================  ========================================================================
Q                  ``n_features``: whole passes that ``max_cost`` pays for, at least 1
K, F_k             number of families; ``families[k]``
=================  ========================================================================

Deliberately absent, as yet: Tasting (section 4) and the bandits (section 6.4).

Deviations, and choices where the paper is silent

1. Features of a round are distinct (drawn without replacement), so a family with fewer than Q is
   searched whole, and costs no more than that. Uniform Q.1 draws families with replacement only if
   Q > K, as printed; the same feature drawn twice is searched and paid for once.
2. Best family trains once per family with the same seed and keeps the one with the smallest final
   loss, the lowest family among equals. As the paper counts a round costs what one of these costs;
   all evaluations are those of all of them.
"""

import dataclasses

import numpy as np

from reference.adaboost_mh import Model, Problem, Proposal, Sampler, fit


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


def fit_best_family(X, Y, *, families=None, seed, **options) -> Model:
    """Best family: train on each family alone and keep the smallest final loss.

    Parameters are those of :func:`reference.adaboost_mh.fit`, with a ``seed`` for each training.
    """
    families = [np.arange(X.shape[1])] if families is None else families
    models = [
        fit(X, Y, fixed_family(k), families=families, rng=np.random.default_rng(seed), **options)
        for k in range(len(families))
    ]
    best = min(models, key=lambda model: model.trace[-1].log_loss if model.trace else 0.0)
    trace = [
        dataclasses.replace(best.trace[t], evaluations=sum(m.trace[t].evaluations for m in models))
        for t in range(len(best.trace))
    ]
    return Model(best.stumps, best.alphas, trace)
