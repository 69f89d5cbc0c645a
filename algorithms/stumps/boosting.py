"""The boosting loop of AdaBoost.MH: a sampler proposes, the best weak learner is taken.

The reference is :func:`reference.adaboost_mh.fit`. **A kind of weak learner** is a class with three
methods, as :class:`WeakLearner` names them: stumps are here, trees in
:mod:`algorithms.stumps.hamming_trees`. What it gives back is a NamedTuple of arrays that adds up
scores, as :class:`Stumps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ..boosting import asked_to_stop, check_callbacks
from ..kernels.decorators import threads
from .pair_weights import add_scores
from .sampling import Problem, Proposal, Sampler


class Stumps(NamedTuple):
    """A fitted classifier, stump by stump."""

    feature: np.ndarray  # (n_stumps,) int64: -1 is a constant vote
    threshold: np.ndarray  # (n_stumps,) float64: values above it get `votes`, the others minus that
    votes: np.ndarray  # (n_stumps, n_labels) int8: -1 or 1
    alpha: np.ndarray  # (n_stumps,) float64
    edge: np.ndarray  # (n_stumps,) float64: on the training set, in [0, 1]

    def staged_scores(
        self, X: np.ndarray, rounds: Iterable[int], n_threads: int
    ) -> Iterator[np.ndarray]:
        """Scores after some rounds."""
        used = np.unique(self.feature[self.feature >= 0])
        place = np.where(self.feature >= 0, np.searchsorted(used, self.feature), -1)
        values = np.array(X[:, used], order="C")
        steps = self.alpha[:, None] * self.votes
        scores = np.zeros((len(X), steps.shape[1]))
        for first, last in pairwise((0, *rounds)):
            with threads(n_threads, len(X) * (last - first)):
                add_scores(values, place, self.threshold, steps, first, last, scores)
            yield scores


class Taken(Protocol):
    """The weak learner of a round."""

    feature: int  # That the stump tests, of a tree its root; -1 is a constant vote
    edge: int  # In grid steps


class WeakLearner(Protocol):
    """A kind of weak learner."""

    def best(self, problem: Problem, features: np.ndarray) -> Taken:
        """Give the best one on some features, ascending."""

    def add(self, problem: Problem, taken: Any, alpha: float) -> None:
        """Add the one that was taken last to the scores of the training rows, α times."""

    def fitted(self, rounds: list, alphas: list, edges: list, n_labels: int) -> Any:
        """Turn all that were taken into arrays."""


class Boosted(NamedTuple):
    """What boosting returns."""

    learners: Any
    # (n_rounds,) float64: logarithm of the mean exponential loss after each round
    log_loss: np.ndarray
    # (n_rounds, 2) int64: evaluations of a feature on an example: as the paper counts, and all
    cost: np.ndarray
    # (n_rounds, n_families) int64: rows that asked for a family of features for the first time
    family_rows: np.ndarray


class Stump(NamedTuple):
    """The stump of a round: rows with a code above `cut` get `votes`; its edge in grid steps."""

    feature: int
    cut: int
    votes: np.ndarray
    edge: int


class Round(NamedTuple):
    """What a callback is told after a round."""

    number: int  # From 1
    n_estimators: int  # Rounds at most
    log_loss: float  # Logarithm of the mean exponential loss of the training rows


# Called after each round; True ends the training, None or False goes on.
Callback: TypeAlias = Callable[[Round], bool | None]


def _training_loss(told: Round) -> str:
    return f"training loss {np.exp(told.log_loss):.6g}"


def watching(callbacks: Sequence[Callback] | None, verbose: int) -> tuple[Callback, ...]:
    """Give callbacks as a tuple, with one that prints if it is asked for (ValueError)."""
    return check_callbacks(callbacks, verbose, _training_loss)


def checked(proposal: Proposal, n_features: int) -> np.ndarray:
    """Features of a proposal, ascending."""
    features = np.asarray(proposal.features)
    if features.ndim != 1 or not len(features) or features.dtype.kind not in "iu":
        raise ValueError("A sampler must propose at least one feature, as an array of integers.")
    features = np.sort(features).astype(np.int64, copy=False)
    if features[0] < 0 or features[-1] >= n_features or (features[1:] == features[:-1]).any():
        raise ValueError(
            f"A sampler must propose distinct features from 0 to {n_features - 1}, "
            f"got {features.tolist()[:10]}."
        )
    return features


def best_stump(problem: Problem, features: np.ndarray) -> Stump:
    """Best stump on any of some features, or the constant vote if none is better."""
    searched = problem.search(features)
    best = int(np.argmax(searched.edges))  # the first of equals
    constant = problem.weights.totals
    edge = int(np.abs(constant).sum())
    if searched.edges[best] <= edge:
        return Stump(-1, -1, signs(constant[: problem.weights.n_labels]), edge)
    feature, cut = int(features[best]), int(searched.cuts[best])
    votes = signs(problem.label_edges(feature, cut))
    return Stump(feature, cut, votes, int(searched.edges[best]))


def signs(edges: np.ndarray) -> np.ndarray:
    """Votes that are best for labels with these edges: 1 or, of negative ones, -1; int8."""
    return np.where(edges >= 0, 1, -1).astype(np.int8)


class StumpLearner:
    """Stumps as weak learners."""

    def __init__(self, threshold_of: Callable[[int, int], float]) -> None:
        self._threshold_of = threshold_of

    def best(self, problem: Problem, features: np.ndarray) -> Stump:
        """See :func:`best_stump`."""
        return best_stump(problem, features)

    def add(self, problem: Problem, taken: Stump, alpha: float) -> None:
        """Add a stump to the scores of the training rows."""
        problem.add(taken.feature, taken.cut, alpha * taken.votes)

    def fitted(self, rounds: list[Stump], alphas: list, edges: list, n_labels: int) -> Stumps:
        """Turn the rounds into arrays."""
        threshold = [
            0.0 if stump.feature < 0 else self._threshold_of(stump.feature, stump.cut)
            for stump in rounds
        ]
        votes = np.array([stump.votes for stump in rounds], dtype=np.int8)
        return Stumps(
            np.array([stump.feature for stump in rounds], dtype=np.int64),
            np.array(threshold, dtype=np.float64),
            votes.reshape(len(rounds), n_labels),
            np.array(alphas, dtype=np.float64),
            np.array(edges, dtype=np.float64),
        )


def alpha_of(edge: int, total: int, smoothing: float = 0.0, n_examples: float = 1.0) -> float:
    """½ log((ε₊ + s/N) / (ε₋ + s/N)); a wrong weight of 0 counts as half a grid step."""
    added = 2 * smoothing * total / n_examples if smoothing > 0 else 0
    return 0.5 * float(np.log((total + edge + added) / max(total - edge + added, 1)))


def boost(
    problem: Problem,
    sampler: Sampler,
    n_estimators: int,
    learner: WeakLearner,
    smoothing: float = 0.0,
    callbacks: tuple[Callback, ...] = (),
) -> Boosted:
    """Add `n_estimators` weak learners."""
    weights = problem.weights
    rounds, alphas, edges, losses, costs, family_rows = [], [], [], [], [], []
    sampler.begin(problem)
    for _ in range(n_estimators):
        proposal = sampler.propose(problem)
        taken = learner.best(problem, checked(proposal, problem.n_features))
        if rounds:  # asked for as late as here: workers tell it with what they are searched for
            losses.append(weights.log_loss)
        alphas.append(alpha_of(taken.edge, weights.total, smoothing, weights.n_examples))
        edges.append(taken.edge / weights.total)
        learner.add(problem, taken, alphas[-1])
        sampler.update(taken.feature, edges[-1])
        rounds.append(taken)
        costs.append((proposal.paper_cost, problem.meter.evaluations))
        family_rows.append(problem.meter.family_rows.copy())
        problem.next_round()
        told = Round(len(rounds), n_estimators, weights.log_loss) if callbacks else None
        if asked_to_stop(callbacks, told):
            break
    if rounds:
        losses.append(weights.log_loss)
    cost = np.array(costs, dtype=np.int64).reshape(-1, 2)
    cost[:, 1] = np.diff(cost[:, 1], prepend=0)
    rows = np.array(family_rows, dtype=np.int64).reshape(-1, len(problem.families))
    return Boosted(
        learner.fitted(rounds, alphas, edges, weights.n_labels),
        np.array(losses, dtype=np.float64),
        cost,
        np.diff(rows, axis=0, prepend=0),
    )


def boost_best(
    new_problem: Callable[[], Problem],
    samplers: list[Sampler],
    n_estimators: int,
    learner: WeakLearner,
    smoothing: float = 0.0,
) -> tuple[Boosted, int]:
    """Boost with each sampler and keep the smallest final loss ("Best family", tuned bandits)."""
    best, place, evaluations, met = None, 0, 0, 0
    for k, sampler in enumerate(samplers):
        fitted = boost(new_problem(), sampler, n_estimators, learner, smoothing)
        evaluations = evaluations + fitted.cost[:, 1]
        met = np.maximum(met, np.cumsum(fitted.family_rows, axis=0))
        if best is None or (n_estimators and fitted.log_loss[-1] < best.log_loss[-1]):
            best, place = fitted, k
    cost = np.column_stack([best.cost[:, 0], evaluations])
    return best._replace(cost=cost, family_rows=np.diff(met, axis=0, prepend=0)), place
