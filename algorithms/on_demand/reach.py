"""What any row can come to: trees that no row is ever sent to need no features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..decision_dag.values import EVAL, QUIT, cell_of
from ..decision_dag.walk import DecisionDAG
from ..kernels.decorators import kernel
from ..metering.trees import tested_features
from ..trees.forest import Forest

MOST_STATES = 4096
"""Scores that are told apart on the way through a DAG; of more, only the policy is looked at."""


def highest_scores(
    forest: Forest,
    contributions: NDArray[np.float64],
    start: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> np.ndarray:
    """Bounds of scores after so many trees, exact to the last bit: rounding keeps order.

    Parameters
    ----------
    forest : Forest
    contributions : ndarray of shape (n_nodes,), float64
    start : ndarray of shape (n_scores,), float64
    weights : ndarray of shape (n_trees, n_scores), float64
        Of each tree's answer for each score.

    Returns
    -------
    ndarray of shape (n_trees + 1, n_scores), float64
        No row has a higher score after the first 0, 1, … trees, added in their order.
    """
    if forest.n_trees == 0:
        return start[None, :]
    leaf = forest.left < 0
    most = np.maximum.reduceat(np.where(leaf, contributions, -np.inf), forest.tree[:-1])
    least = np.minimum.reduceat(np.where(leaf, contributions, np.inf), forest.tree[:-1])
    added = np.maximum(weights * most[:, None], weights * least[:, None])
    return np.add.accumulate(np.vstack([start, added]), axis=0)


def features_until(
    forest: Forest, stops: NDArray[np.int64], empties: NDArray[np.bool_], n_features: int
) -> np.ndarray:
    """Features that stages test until one that every row leaves.

    Parameters
    ----------
    forest : Forest
    stops : ndarray of shape (n_stages,), int64
        Trees evaluated until the end of each stage.
    empties : ndarray of shape (n_stages - 1,), bool
        Whether every row that comes to the end of a stage leaves there.
    n_features : int

    Returns
    -------
    ndarray of shape (n_features,), bool
    """
    last = int(np.argmax(np.append(empties, True)))
    feature = forest.feature[: forest.tree[stops[last]]]
    return tested_features(feature, n_features)


def features_of_dag(dag: DecisionDAG, n_features: int) -> np.ndarray:
    """Features of the base classifiers of a decision DAG that any row can come to evaluate.

    Parameters
    ----------
    dag : DecisionDAG
    n_features : int

    Returns
    -------
    ndarray of shape (n_features,), bool
    """
    base = dag.base
    tree = base.forest.tree
    reached = reached_bases(dag)
    parts = [
        base.forest.feature[tree[j * base.n_parts] : tree[(j + 1) * base.n_parts]]
        for j in np.flatnonzero(reached)
    ]
    feature = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    return tested_features(base.used[feature[feature >= 0]], n_features)


def reached_bases(dag: DecisionDAG) -> np.ndarray:
    """Base classifiers that a row of some features would evaluate: (n_base,) bool.

    Rows are followed by all scores that they may have. Where these are too many, a base classifier
    counts if the policy evaluates it at any score.
    """
    base, cells = dag.base, dag.cells
    reached = np.zeros(base.n_base, dtype=bool)
    states = np.append(cells.initial, 0).astype(np.int64)[None, :]  # scores, sizes evaluated
    for j, policy in enumerate(dag.policy):
        action = policy[_cells_of(cells, states)]
        now = states[action == EVAL]
        states = states[(action != EVAL) & (action != QUIT)]
        if not len(now):
            continue
        reached[j] = True
        answers = _answers_of(base, j)
        if answers is None or len(now) * len(answers) + len(states) > MOST_STATES:
            reached[j + 1 :] = (dag.policy[j + 1 :] == EVAL).any(axis=1)
            break
        after = now[:, None, :].repeat(len(answers), axis=1)
        after[:, :, :-1] += answers
        after[:, :, -1] += cells.sizes[j]
        states = np.unique(np.vstack([states, after.reshape(-1, states.shape[1])]), axis=0)
    return reached


def _answers_of(base, j: int) -> np.ndarray | None:
    """All answers (n, n_columns) of base classifier j, in steps; None if they are too many."""
    answers = np.zeros((1, base.answers.shape[1]), dtype=np.int64)
    for t in range(j * base.n_parts, (j + 1) * base.n_parts):
        nodes = slice(base.forest.tree[t], base.forest.tree[t + 1])
        own = np.unique(base.answers[nodes][base.forest.left[nodes] < 0], axis=0)
        if len(answers) * len(own) > MOST_STATES:
            return None
        answers = (answers[:, None, :] + own).reshape(-1, answers.shape[1])
        answers = np.unique(answers, axis=0)
    return answers


@kernel
def _cells_of(cells, states):
    """Cell of each of some states (scores, and sizes of what was evaluated)."""
    found = np.empty(states.shape[0], dtype=np.int64)
    for i in range(states.shape[0]):
        found[i] = cell_of(cells, states[i, :-1], states[i, -1])
    return found
