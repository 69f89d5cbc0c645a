"""Additive models of trees: the loop that adds the rounds, and what the model can do after.

Shared by :mod:`reference.gbrt`, :mod:`reference.cegb` and :mod:`reference.greedy_miser`. Nothing is
remembered between calls.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from reference import costs, losses, trees
from reference.trees import Tree


@dataclass(frozen=True)
class Decision:
    """One split as it was decided.

    ``gain`` is the net gain, ``penalty`` what it was charged (before λ), ``rows`` the weight of
    the node's rows, ``cumulative_cost`` the sum of all penalties up to and with this one.
    """

    round: int
    tree: int
    node: int
    feature: int
    threshold: float
    gain: float
    penalty: float
    rows: float
    cumulative_cost: float


@dataclass(frozen=True)
class Model:
    """A fitted additive model: ``rounds[t][k]`` is the tree of round t for score column k."""

    rounds: list[list[Tree]]
    initial_scores: np.ndarray
    learning_rate: float
    edges: list[np.ndarray]
    trace: list[Decision] = field(default_factory=list)
    validation_scores: list[float] = field(default_factory=list)
    best_round: int | None = None


def add_round(scores: np.ndarray, trees_of_round, learning_rate: float, X) -> np.ndarray:
    """Scores (n, K) after one more round; each contribution is rounded once."""
    scores = scores.copy()
    for k, tree in enumerate(trees_of_round):
        scores[:, k] += learning_rate * trees.predict_tree(tree, X)
    return scores


def start_scores(initial_scores: np.ndarray, n_rows: int) -> np.ndarray:
    """Scores (n, K) before the first round."""
    return np.tile(initial_scores, (n_rows, 1))


def staged_scores(model: Model, X: np.ndarray) -> Iterator[np.ndarray]:
    """Raw scores (n, K) after each round."""
    scores = start_scores(model.initial_scores, len(X))
    for trees_of_round in model.rounds:
        scores = add_round(scores, trees_of_round, model.learning_rate, X)
        yield scores


def predict(model: Model, X: np.ndarray) -> np.ndarray:
    """Raw scores (n, K)."""
    return last(staged_scores(model, X), start_scores(model.initial_scores, len(X)))


def staged_passed(model: Model, X: np.ndarray) -> Iterator[np.ndarray]:
    """Split nodes (n, d) passed so far by feature, after each round."""
    passed = np.zeros(X.shape, dtype=np.int64)
    for trees_of_round in model.rounds:
        for tree in trees_of_round:
            passed = passed + trees.nodes_passed(tree, X)
        yield passed


def nodes_passed(model: Model, X: np.ndarray) -> np.ndarray:
    """Split nodes (n, d) passed by feature in the whole model."""
    return last(staged_passed(model, X), np.zeros(X.shape, dtype=np.int64))


def last(stages: Iterator[np.ndarray], before: np.ndarray) -> np.ndarray:
    """Value of the last stage, or ``before`` if the model has no round."""
    for stage in stages:
        before = stage
    return before


def acquired_features(model: Model, X: np.ndarray) -> np.ndarray:
    """Which features (n, d) bool each row's paths test."""
    return nodes_passed(model, X) > 0


def evaluations(model: Model, X: np.ndarray) -> np.ndarray:
    """How many split nodes (n,) each row passes."""
    return np.sum(nodes_passed(model, X), axis=1)


def n_split_nodes(model: Model) -> int:
    """Split nodes of all trees."""
    return sum(tree.n_splits for trees_of_round in model.rounds for tree in trees_of_round)


def staged_cost(model: Model, X: np.ndarray, **prices) -> Iterator[np.ndarray]:
    """Prediction cost (n,) after each round, by the prices of :mod:`reference.costs`."""
    for passed in staged_passed(model, X):
        yield costs.prediction_cost(passed, n_split_nodes(model), **prices)


def prediction_cost(model: Model, X: np.ndarray, **prices) -> np.ndarray:
    """Prediction cost (n,) of the whole model."""
    return last(staged_cost(model, X, **prices), np.zeros(len(X)))


def model_features(model: Model, n_features: int) -> np.ndarray:
    """Which features (d,) bool any tree tests."""
    used = np.zeros(n_features, dtype=bool)
    for trees_of_round in model.rounds:
        for tree in trees_of_round:
            used[tree.feature[tree.feature >= 0]] = True
    return used


def boost(
    grow: Callable[..., Tree],
    data: trees.TrainingData,
    *,
    loss,
    init: str,
    n_estimators: int,
    learning_rate: float,
    beyond,
) -> Model:
    """Add rounds of trees: one for each score column, grown from the derivatives by that score.

    ``grow(k, g, h, data, record)`` grows the tree of column k, and records its splits. A round in
    which nothing was split ends the training and is not kept; so does a constant target. ``init``
    is the paper's start. A reader of the paper may skip what ``beyond`` is asked.
    """
    initial = losses.initial_scores(loss, data.y, data.weights, beyond.init or init)
    model = beyond.begun(Model([], initial, learning_rate, data.edges))
    rounding = losses.rounding(loss, data.y, data.weights, model.initial_scores)
    seen = beyond.seen(replace(data, rounding=rounding), len(model.rounds) * len(initial))
    F = predict(model, data.X)
    for t in range(len(model.rounds), 0 if losses.is_constant(data.y) else n_estimators):
        of_round = [
            grow(k, g, h, next(seen), partial(note, model.trace, t, k))
            for k, (g, h) in enumerate(losses.derivatives(loss, F, data.y))
        ]
        if all(tree.n_splits == 0 for tree in of_round):
            break
        model.rounds.append(of_round)
        F = add_round(F, of_round, learning_rate, data.X)
        if beyond.is_last(model, loss):
            break
    return beyond.chosen(model, loss)


def note(trace: list[Decision], t, k, node, m, threshold, gain, penalty, n_rows, bill=None) -> None:
    """Write a decision down; without a ``bill`` of their own, penalties add up."""
    if bill is None:
        bill = penalty + (trace[-1].cumulative_cost if trace else 0.0)
    trace.append(Decision(t, k, node, m, threshold, gain, penalty, n_rows, bill))
