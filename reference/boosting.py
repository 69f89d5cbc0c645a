"""Additive models of trees: the loop that adds the rounds, and what the model can do after.

Shared by :mod:`reference.gbrt` and :mod:`reference.cegb`. Nothing is remembered between calls.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from reference import costs, losses, metrics, trees
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


def best_round(scores: list[float], larger_is_better: bool) -> int | None:
    """Find the first best round, counted from 1; None if no score is a finite number."""
    best = None
    for number, score in enumerate(scores, start=1):
        signed = score if larger_is_better else -score
        if math.isfinite(signed) and (best is None or signed > best[0]):
            best = signed, number
    return None if best is None else best[1]


def should_stop(scores: list[float], larger_is_better: bool, patience: int | None) -> bool:
    """Whether the last ``patience`` rounds brought no better validation score."""
    if patience is None or not scores:
        return False
    return len(scores) - (best_round(scores, larger_is_better) or 0) >= patience


def boost(
    grow_round: Callable[[int, np.ndarray], list[Tree]],
    X: np.ndarray,
    y: np.ndarray,
    initial_scores: np.ndarray,
    *,
    loss: str,
    n_estimators: int,
    learning_rate: float,
    early_stopping_rounds: int | None,
    eval_metric,
    eval_set,
    callbacks=(),
    earlier: Model | None = None,
) -> tuple[list[list[Tree]], list[float], int | None]:
    """Add rounds of trees, each grown by ``grow_round(t, F)`` from the scores F (n, K) so far.

    A round in which nothing was split ends the training and is not kept; so does a constant
    target. With ``early_stopping_rounds`` only the rounds up to the best are kept. ``callbacks``
    are asked after every round, ``(number of rounds, validation scores)``, whether it is the last.
    The rounds of an ``earlier`` model are the first ones.

    Returns
    -------
    rounds, validation scores after each round, number of the best round
    """
    rounds, scores = [] if earlier is None else list(earlier.rounds), []
    F = start_scores(initial_scores, len(y))
    if eval_set is not None:
        X_eval, y_eval = np.asarray(eval_set[0], dtype=np.float64), np.asarray(eval_set[1])
        V = start_scores(initial_scores, len(y_eval))
    for trees_of_round in rounds:
        F = add_round(F, trees_of_round, learning_rate, X)
        if eval_set is not None:
            V = add_round(V, trees_of_round, learning_rate, X_eval)
            scores.append(metrics.validation_score(eval_metric, loss, V, y_eval, *eval_set[2:]))
    for t in range(len(rounds), 0 if losses.is_constant(y) else n_estimators):
        trees_of_round = grow_round(t, F)
        if all(tree.n_splits == 0 for tree in trees_of_round):
            break
        rounds.append(trees_of_round)
        F = add_round(F, trees_of_round, learning_rate, X)
        if eval_set is not None:
            V = add_round(V, trees_of_round, learning_rate, X_eval)
            scores.append(metrics.validation_score(eval_metric, loss, V, y_eval, *eval_set[2:]))
        stop = any([callback(len(rounds), scores) for callback in callbacks])
        if stop or should_stop(scores, eval_metric != "loss", early_stopping_rounds):
            break
    best = best_round(scores, eval_metric != "loss")
    if early_stopping_rounds is not None and best is not None:
        rounds = rounds[:best]
    return rounds, scores, best
