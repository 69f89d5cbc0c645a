"""What rows walk through on demand: boosted trees as one stage, a cascade as several with exits.

Or a decision DAG: one stage, in which each row has trees of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..boosted_trees.estimator import BoostedTrees
from ..decision_dag.estimator import DecisionDAGEstimator
from ..decision_dag.walk import Steps
from ..exits.classifier import CascadeClassifier
from ..exits.hard_exits import Exits
from ..metering.trees import MeteredTrees
from ..trees.forest import Forest


class Course(NamedTuple):
    """Trees in the order in which rows pass them, and where rows may leave.

    Attributes
    ----------
    meter : MeteredTrees
        Knows features, groups and prices.
    forest : Forest
    contributions : ndarray of shape (n_nodes,), float64
    initial_scores : ndarray of shape (n_scores,), float64
    weights : ndarray of shape (n_trees, n_stages), float64
        What each tree's answer is multiplied by for the score of each stage. Empty: tree t adds to
        score t % n_scores, as it is.
    stops : ndarray of shape (n_stages,), int64
        Trees evaluated until the end of each stage.
    thresholds : ndarray of shape (n_stages - 1,), float64
        A row whose score is lower leaves at the stage.
    tree_prices : ndarray of shape (n_stages,), float64
        What the trees themselves cost until the end of each stage.
    as_seen : callable
        How values are compared with thresholds.
    predictions : dict
        What can be predicted, from the Exits or, without stages, from the scores (n, n_scores).
    dag : Steps or None
        Of a decision DAG. Its scores are whole steps; behind them stand the sum of the sizes, and
        the number, of the base classifiers evaluated.
    may_miss : bool
        Whether the model knows what to do with a missing value.
    """

    meter: MeteredTrees
    forest: Forest
    contributions: np.ndarray
    initial_scores: np.ndarray
    weights: np.ndarray
    stops: np.ndarray
    thresholds: np.ndarray
    tree_prices: np.ndarray
    as_seen: Callable[[np.ndarray], np.ndarray]
    predictions: dict[str, Callable]
    dag: Steps | None = None
    may_miss: bool = False

    def finish(self, method: str, exits: Exits | None, scores: np.ndarray) -> np.ndarray:
        """Predictions of rows that have finished."""
        return self.predictions[method](scores if exits is None else exits)


def course_of(model, tree_cost=None) -> Course:
    """Read a fitted model as it is now.

    Parameters
    ----------
    model : boosted trees, cascade or decision DAG of this package
    tree_cost : float, optional
        Of a cascade or DAG: the price of a tree, in the place of its own.

    Returns
    -------
    Course

    Raises
    ------
    ValueError
        If it is none of these, or if boosted trees are given a price of a tree.
    """
    if isinstance(model, CascadeClassifier):
        return _of_cascade(copy.copy(model), tree_cost)
    if isinstance(model, DecisionDAGEstimator):
        return _of_dag(copy.copy(model), tree_cost)
    if not isinstance(model, BoostedTrees):
        raise ValueError(
            f"model must be boosted trees, a cascade or a DAG of this package, got {model!r}."
        )
    if tree_cost is not None:
        raise ValueError("tree_cost is of cascades and decision DAGs only.")
    check_is_fitted(model)
    return _of_boosted_trees(copy.copy(model))


def _of_boosted_trees(model: BoostedTrees) -> Course:
    predictions = {"predict": _targets}
    if hasattr(model, "classes_"):
        predictions = {"predict": model._labels, "predict_proba": model._probabilities}
    return Course(
        model,
        model.trees_,
        model._contributions,
        model.initial_scores_,
        np.zeros((0, 0)),
        np.array([model.trees_.n_trees]),
        np.zeros(0),
        np.zeros(1),
        _as_it_is,
        predictions,
        may_miss=True,
    )


def _of_cascade(model: CascadeClassifier, tree_cost) -> Course:
    hard = model._now(priced=True)
    responses = hard.responses
    n_split = responses.forest.n_split_trees(1)
    return Course(
        responses.meter,
        responses.forest,
        responses.contributions,
        hard.constants,
        hard.weights,
        hard.stops,
        hard.thresholds,
        model._price_of_a_tree(tree_cost) * n_split[hard.stops],
        getattr(responses.meter, "_as_seen", _as_it_is),
        {"predict": model._labels, "decision_function": model._decision},
    )


def _of_dag(model: DecisionDAGEstimator, tree_cost) -> Course:
    check_is_fitted(model)
    base, cells, policy = model._dag_
    responses = model._priced(model._responses_)
    forest, n_columns = base.forest, len(base.initial)
    feature = np.append(base.used, -1)[forest.feature].astype(np.int32)

    def steps(method):
        return lambda scores: method(scores[:, :n_columns].astype(np.int64))

    predictions = {"predict": steps(model._predicted)}
    if hasattr(model, "classes_"):
        predictions["decision_function"] = steps(model._decision)
    return Course(
        responses.meter,
        forest._replace(feature=feature),
        np.zeros(0),
        np.concatenate([base.initial, [0, 0]]).astype(np.float64),
        np.zeros((0, 0)),
        np.array([forest.n_trees]),
        np.zeros(0),
        np.array([model._price_of_an_evaluation(tree_cost)]),
        getattr(responses.meter, "_as_seen", _as_it_is),
        predictions,
        Steps(base.answers, base.n_parts, cells, policy, base.evaluates),
    )


def _as_it_is(values: np.ndarray) -> np.ndarray:
    return values


def _targets(scores: np.ndarray) -> np.ndarray:
    """Predictions of a regressor."""
    return scores[:, 0]
