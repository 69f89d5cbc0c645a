"""What an additive model of trees can do once it is fitted, shared by the boosting references.

Each function is one line of arithmetic per tree; nothing is remembered between calls.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from reference import costs, trees
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


def staged_scores(model: Model, X: np.ndarray) -> Iterator[np.ndarray]:
    """Raw scores (n, K) after each round."""
    scores = np.tile(model.initial_scores, (len(X), 1))
    for round_ in model.rounds:
        scores = scores.copy()
        for k, tree in enumerate(round_):
            scores[:, k] += model.learning_rate * trees.predict_tree(tree, X)
        yield scores


def predict(model: Model, X: np.ndarray) -> np.ndarray:
    """Raw scores (n, K)."""
    scores = np.tile(model.initial_scores, (len(X), 1))
    for scores in staged_scores(model, X):  # noqa: B007 - the last one counts
        pass
    return scores


def staged_passed(model: Model, X: np.ndarray) -> Iterator[np.ndarray]:
    """Split nodes (n, d) passed so far by feature, after each round."""
    passed = np.zeros(X.shape, dtype=np.int64)
    for round_ in model.rounds:
        for tree in round_:
            passed = passed + trees.nodes_passed(tree, X)
        yield passed


def nodes_passed(model: Model, X: np.ndarray) -> np.ndarray:
    """Split nodes (n, d) passed by feature in the whole model."""
    passed = np.zeros(X.shape, dtype=np.int64)
    for passed in staged_passed(model, X):  # noqa: B007 - the last one counts
        pass
    return passed


def acquired_features(model: Model, X: np.ndarray) -> np.ndarray:
    """Which features (n, d) bool each row's paths test."""
    return nodes_passed(model, X) > 0


def evaluations(model: Model, X: np.ndarray) -> np.ndarray:
    """How many split nodes (n,) each row passes."""
    return np.sum(nodes_passed(model, X), axis=1)


def n_split_nodes(model: Model) -> int:
    """Split nodes of all trees."""
    return sum(tree.n_splits for round_ in model.rounds for tree in round_)


def staged_cost(
    model: Model,
    X: np.ndarray,
    *,
    feature_costs=None,
    split_cost: float = 0.0,
    feature_groups=None,
    feature_sharing=None,
) -> Iterator[np.ndarray]:
    """Prediction cost (n,) after each round."""
    split_price = costs.split_prices(split_cost, feature_sharing, X.shape[1])
    for passed in staged_passed(model, X):
        yield costs.prediction_cost(
            passed, feature_costs, split_price, n_split_nodes(model), feature_groups
        )


def prediction_cost(model: Model, X: np.ndarray, **prices) -> np.ndarray:
    """Prediction cost (n,) of the whole model; prices as in :func:`staged_cost`."""
    cost = np.zeros(len(X))
    for cost in staged_cost(model, X, **prices):  # noqa: B007 - the last one counts
        pass
    return cost


def model_features(model: Model, n_features: int) -> np.ndarray:
    """Which features (d,) bool any tree tests."""
    used = np.zeros(n_features, dtype=bool)
    for round_ in model.rounds:
        for tree in round_:
            used[tree.feature[tree.feature >= 0]] = True
    return used


def best_round(scores: list[float], larger_is_better: bool) -> int | None:
    """Number (from 1) of the first best round; None if every score is NaN."""
    best = None
    for number, score in enumerate(scores, start=1):
        signed = score if larger_is_better else -score
        if signed == signed and (best is None or signed > best[0]):
            best = signed, number
    return None if best is None else best[1]
