"""The boosting loop of AdaBoost.MH: a sampler proposes, the best stump is taken.

The reference is :func:`reference.adaboost_mh.fit`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .sampling import Problem, Proposal, Sampler
from .search import label_edges


class Stumps(NamedTuple):
    """A fitted classifier, stump by stump.

    Attributes
    ----------
    feature : ndarray of shape (n_stumps,), int64
        -1 is a constant vote.
    threshold : ndarray of shape (n_stumps,), float64
        Values above it get `votes`, the others minus that.
    votes : ndarray of shape (n_stumps, n_labels), int8
        -1 or 1.
    alpha : ndarray of shape (n_stumps,), float64
    edge : ndarray of shape (n_stumps,), float64
        On the training set, in [0, 1].
    """

    feature: np.ndarray
    threshold: np.ndarray
    votes: np.ndarray
    alpha: np.ndarray
    edge: np.ndarray


class Boosted(NamedTuple):
    """What boosting returns.

    Attributes
    ----------
    stumps : Stumps
    log_loss : ndarray of shape (n_stumps,), float64
        Logarithm of the mean exponential loss after each round.
    cost : ndarray of shape (n_stumps, 2), int64
        Evaluations of a feature on an example: as the paper counts, and all.
    family_rows : ndarray of shape (n_stumps, n_families), int64
        Rows that asked for a family of features for the first time.
    """

    stumps: Stumps
    log_loss: np.ndarray
    cost: np.ndarray
    family_rows: np.ndarray


class _Taken(NamedTuple):
    """The weak learner of a round, its edge in grid steps."""

    feature: int
    cut: int
    votes: np.ndarray
    edge: int


def checked(proposal: Proposal, n_features: int) -> np.ndarray:
    """Features of a proposal, ascending.

    Raises
    ------
    ValueError
        If a sampler proposed no feature, or one that does not exist, or one twice.
    """
    features = np.asarray(proposal.features)
    if features.ndim != 1 or not len(features) or features.dtype.kind not in "iu":
        raise ValueError("A sampler must propose at least one feature, as an array of integers.")
    features = np.sort(features).astype(np.int64)
    if features[0] < 0 or features[-1] >= n_features or np.any(features[1:] == features[:-1]):
        raise ValueError(
            f"A sampler must propose distinct features from 0 to {n_features - 1}, "
            f"got {features.tolist()[:10]}."
        )
    return features


def best_stump(problem: Problem, features: np.ndarray) -> _Taken:
    """Best stump on any of some features, or the constant vote if none is better.

    Parameters
    ----------
    problem : Problem
    features : ndarray of shape (n_searched,), int64
        Ascending: of equal ones the lowest is taken.

    Returns
    -------
    _Taken
    """
    weights = problem.weights
    n_labels = weights.targets.shape[1]
    found = problem.search(features)
    best = int(np.argmax(found.edges))  # the first of equals
    constant = weights.totals
    edge = int(np.abs(constant).sum())
    if found.edges[best] <= edge:
        return _Taken(-1, -1, _signs(constant[:n_labels]), edge)
    feature, cut = int(features[best]), int(found.cuts[best])
    edges = np.empty_like(constant)
    label_edges(problem.columns[feature], cut, weights.signed, edges)
    return _Taken(feature, cut, _signs(edges[:n_labels]), int(found.edges[best]))


def _signs(edges: np.ndarray) -> np.ndarray:
    return np.where(edges >= 0, 1, -1).astype(np.int8)


def alpha_of(edge: int, total: int) -> float:
    """½ log((1 + ε) / (1 - ε)); a wrong weight of 0 counts as half a grid step.

    Parameters
    ----------
    edge, total : int
        Edge and weight of all pairs, in grid steps: ε is their ratio.

    Returns
    -------
    float
    """
    return 0.5 * float(np.log((total + edge) / max(total - edge, 1)))


def boost(
    problem: Problem,
    sampler: Sampler,
    n_estimators: int,
    threshold_of: Callable[[int, int], float],
) -> Boosted:
    """Add `n_estimators` stumps.

    Parameters
    ----------
    problem : Problem
        With fresh weights.
    sampler : Sampler
    n_estimators : int
    threshold_of : callable (feature, cut) -> float
        Threshold between the codes up to `cut` and those above.

    Returns
    -------
    Boosted
    """
    weights = problem.weights
    n_features = len(problem.columns)
    stumps, losses, costs, family_rows = [], [], [], []
    sampler.begin(problem)
    for _ in range(n_estimators):
        proposal = sampler.propose(problem)
        features = checked(proposal, n_features)
        taken = best_stump(problem, features)
        alpha, edge = alpha_of(taken.edge, weights.total), taken.edge / weights.total
        constant = taken.feature < 0
        threshold = 0.0 if constant else threshold_of(taken.feature, taken.cut)
        weights.add(problem.columns[max(taken.feature, 0)], taken.cut, alpha * taken.votes)
        sampler.update(taken.feature, edge)
        stumps.append((taken.feature, threshold, taken.votes, alpha, edge))
        losses.append(weights.log_loss)
        costs.append((proposal.paper_cost, problem.meter.evaluations))
        family_rows.append(problem.meter.family_rows.copy())
        problem.next_round()
    cost = np.array(costs, dtype=np.int64).reshape(-1, 2)
    cost[:, 1] = np.diff(cost[:, 1], prepend=0)
    rows = np.array(family_rows, dtype=np.int64).reshape(-1, len(problem.families))
    return Boosted(
        _as_arrays(stumps, weights.targets.shape[1]),
        np.array(losses, dtype=np.float64),
        cost,
        np.diff(rows, axis=0, prepend=0),
    )


def _as_arrays(stumps: list, n_labels: int) -> Stumps:
    """Turn the rounds into arrays."""
    feature, threshold, votes, alphas, edges = zip(*stumps, strict=True) if stumps else [()] * 5
    return Stumps(
        np.array(feature, dtype=np.int64),
        np.array(threshold, dtype=np.float64),
        np.array(votes, dtype=np.int8).reshape(len(stumps), n_labels),
        np.array(alphas, dtype=np.float64),
        np.array(edges, dtype=np.float64),
    )


def boost_best(
    new_problem: Callable[[], Problem],
    samplers: list[Sampler],
    n_estimators: int,
    threshold_of: Callable[[int, int], float],
) -> tuple[Boosted, int]:
    """Boost with each sampler and keep the smallest final loss ("Best family", tuned bandits).

    Parameters
    ----------
    new_problem : callable
        Gives the problem with fresh weights and a generator in the same state each time.
    samplers : list of Sampler
        At least one.
    n_estimators, threshold_of
        As in :func:`boost`.

    Returns
    -------
    Boosted
        Its evaluations are those of all trainings together; a row that asks for a family does so
        for all of them, as if they went on side by side (exact for samplers that look at all rows
        of a family, or at none).
    int
        Place of the sampler, the first among equals.
    """
    best, place, evaluations, met = None, 0, 0, 0
    for k, sampler in enumerate(samplers):
        fitted = boost(new_problem(), sampler, n_estimators, threshold_of)
        evaluations = evaluations + fitted.cost[:, 1]
        met = np.maximum(met, np.cumsum(fitted.family_rows, axis=0))
        if best is None or (n_estimators and fitted.log_loss[-1] < best.log_loss[-1]):
            best, place = fitted, k
    cost = np.column_stack([best.cost[:, 0], evaluations])
    return best._replace(cost=cost, family_rows=np.diff(met, axis=0, prepend=0)), place
