"""Fitted models as a scan of a picture follows them: stumps, stages, and where windows leave."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..decision_dag.estimator import DecisionDAGEstimator
from ..decision_dag.rewards import EVAL, SKIP, Cells
from ..exits.classifier import CascadeClassifier
from ..exits.fitted_trees import FittedTrees, fitted_trees_of
from ..exits.hard_cascade import Exits
from ..trees.forest import Forest

AFRESH, ONWARD, ANEW = 0, 1, 2
"""How a stage begins its score: from its constant; from the score of the stage before; from its
constant and what all earlier stumps answered, with weights of its own."""


class Votes(NamedTuple):
    """Stumps without the features that they test."""

    feature: np.ndarray  # (n_stumps,) int64: column tested; 0 where the answer is constant
    cut: np.ndarray  # (n_stumps,) int64: lowest byte that goes right: 0 if all do, 256 if none does
    answer: np.ndarray  # (n_stumps, 2) float64: of a window that goes left, and right
    leaf: np.ndarray  # (n_stumps, 2) int64: node of the forest that answers
    split: np.ndarray  # (n_stumps,) bool: whether it tests anything


class RunningSum(NamedTuple):
    """Stumps whose votes add up one after the other, and where windows leave."""

    # (n_stumps, 2) float64: what each stump adds, of a window that goes left, and right
    vote: np.ndarray
    # (n_stumps,) float64: what the sum is set to before a stump: a stage's constant. NaN: it goes
    # on
    begin: np.ndarray
    # (n_stumps,) float64: A window with a lower sum after a stump leaves; minus infinity where none
    # does
    threshold: np.ndarray
    stage: np.ndarray  # (n_stumps,) int64: of each stump, from 1
    passed: np.ndarray  # (n_stumps,) int64: stumps with a split among the first ones until each


class StageTable(NamedTuple):
    """A cascade as kernels walk through it; a model without stages has one."""

    stop: np.ndarray  # (n_stages + 1,) int64: first stump of each stage, and their number
    passed: np.ndarray  # (n_stages,) int64: stumps with a split until the end of each stage
    start: np.ndarray  # (n_stages,) int64: AFRESH, ONWARD or ANEW
    constant: np.ndarray  # (n_stages,) float64
    # (n_stages,) float64: A window with a lower score leaves; of the last stage minus infinity
    threshold: np.ndarray
    vote: np.ndarray  # (n_stumps, 2) float64: what a stump adds at the stage that evaluates it
    # (n_stumps, n_stages) float64: of each stump's answer; empty if no stage begins ANEW
    weight: np.ndarray
    answer: np.ndarray  # (n_stumps, 2) float64


class Policy(NamedTuple):
    """A decision DAG of stumps: which of them a window passes, by its score so far."""

    # (n_stumps, 2) int64: what each stump adds to the score, in steps, of a window that goes left,
    # and right
    answer: np.ndarray
    # (n_stumps + 1, n_cells) int16, or int32 of very many stumps: next stump that is evaluated,
    # from each one on, in a cell of the scores; their number where a window quits. A skipped stump
    # leaves the cell as it is
    jump: np.ndarray
    cells: Cells
    split: np.ndarray  # (n_stumps,) bool: whether a stump tests anything; else it is no evaluation


class Detector(NamedTuple):
    """A model that scores windows."""

    votes: Votes
    follow: RunningSum | StageTable | Policy
    n_features: int
    # ``(left, scores) -> (scores, remained)``: what the model's ``decision_function`` gives, and
    # which windows were not rejected, by the stage at which they left, from 1, and their score
    # there; of a decision DAG `left` is the score in steps
    finish: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def detector_of(model: object) -> Detector:
    """Read a fitted model as it is now: stumps that add up to one score, or else a ValueError."""
    if isinstance(model, CascadeClassifier):
        return _of_cascade(copy.copy(model))
    if isinstance(model, DecisionDAGEstimator):
        return _of_dag(copy.copy(model))
    responses = fitted_trees_of(model)
    _check_one_score(responses)
    votes = votes_of(responses)
    n_stumps = len(votes.feature)
    stages = _stage_table(
        votes,
        np.array([n_stumps]),
        np.ones((n_stumps, 1)),
        responses.initial_scores,
        np.zeros(0),
    )

    def finish(left: np.ndarray, scores: np.ndarray):
        return scores, np.ones(len(scores), dtype=bool)

    return Detector(votes, _fastest(stages, votes), responses.meter.n_features_in_, finish)


def _of_cascade(model: CascadeClassifier) -> Detector:
    check_is_fitted(model)
    _check_classes(model.classes_)
    hard = model._now()
    votes = votes_of(hard.responses)
    stages = _stage_table(votes, hard.stops, hard.weights, hard.constants, hard.thresholds)

    def finish(left: np.ndarray, scores: np.ndarray):
        return model._decision(Exits(left, scores)), left == len(hard.stops)

    return Detector(votes, _fastest(stages, votes), hard.responses.meter.n_features_in_, finish)


def _of_dag(model: DecisionDAGEstimator) -> Detector:
    check_is_fitted(model)
    responses, dag = model._responses_, model._dag_
    _check_classes(getattr(model, "classes_", None))
    _check_one_score(responses)
    votes = votes_of(responses)
    answer = dag.base.answers[votes.leaf, 0]

    def finish(left: np.ndarray, scores: np.ndarray):
        return model._scores(left[:, None])[:, 0], np.ones(len(left), dtype=bool)

    follow = Policy(answer, jumps(dag.policy), dag.cells, votes.split)
    return Detector(votes, follow, responses.meter.n_features_in_, finish)


def jumps(policy: np.ndarray) -> np.ndarray:
    """Next stump that is evaluated from each one on; see :class:`Policy`."""
    n_stumps, n_cells = policy.shape
    dtype = np.int16 if n_stumps < 2**15 else np.int32
    jump = np.full((n_stumps + 1, n_cells), n_stumps, dtype=dtype)
    for j in range(n_stumps - 1, -1, -1):
        jump[j] = np.where(policy[j] == SKIP, jump[j + 1], n_stumps)
        jump[j, policy[j] == EVAL] = j
    return jump


def _check_one_score(responses: FittedTrees) -> None:
    """Refuse a model of several scores, or of one class."""
    if responses.n_columns != 1:
        raise ValueError(
            "A detector gives one score to each window: its model has two classes, but "
            f"{responses.name} gives {responses.n_columns}."
        )
    _check_classes(None if responses.link is None else responses.link.classes)


def _check_classes(classes: np.ndarray | None) -> None:
    """Refuse a model that was trained on one class."""
    if classes is not None and len(classes) < 2:
        raise ValueError(
            f"The model knows one class only ({classes.tolist()[0]!r}): there is nothing to detect."
        )


def _fastest(stages: StageTable, votes: Votes) -> RunningSum | StageTable:
    follow = running_sum(stages, votes.split)
    return stages if follow is None else follow


def running_sum(table: StageTable, split: np.ndarray) -> RunningSum | None:
    """Give a cascade as one sum that goes on or begins afresh, which is faster to follow.

    None where it is none: a stage has no stumps of its own, or weighs earlier ones anew.
    """
    sizes = np.diff(table.stop)
    if np.any(table.start == ANEW) or not np.all(sizes):
        return None
    last = table.stop[1:] - 1
    begin, threshold = np.full(len(split), np.nan), np.full(len(split), -np.inf)
    afresh = table.start == AFRESH
    begin[table.stop[:-1][afresh]] = table.constant[afresh]
    threshold[last] = table.threshold
    stage = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    return RunningSum(table.vote, begin, threshold, stage, np.cumsum(split))


def votes_of(responses: FittedTrees) -> Votes:
    """Read the stumps of an additive model with one score; refuse deeper trees (ValueError)."""
    forest = responses.forest
    roots, sizes = forest.tree[:-1], np.diff(forest.tree)
    if not np.all((sizes == 1) | (sizes == 3)):
        raise ValueError(
            f"Pictures are scanned with stumps; a tree of {responses.name} has more than one split."
        )
    split = forest.left[roots] >= 0
    left = np.where(split, forest.left[roots], roots)
    right = np.where(split, left + 1, roots)
    leaf = np.stack((left, right), axis=1)
    feature = np.where(split, forest.feature[roots], 0).astype(np.int64)
    cut = np.where(split, _cuts(responses, forest, roots), 0)
    return Votes(feature, cut, responses.contributions[leaf], leaf, split)


def _cuts(responses: FittedTrees, forest: Forest, roots: np.ndarray) -> np.ndarray:
    """Lowest byte above each root's threshold, as the model sees bytes; (n_trees,) int64."""
    feature = np.maximum(forest.feature[roots], 0)
    used, place = np.unique(feature, return_inverse=True)
    every = np.zeros((256, responses.meter.n_features_in_))
    every[:, used] = np.arange(256.0)[:, None]
    as_seen = getattr(responses.meter, "_as_seen", None)
    seen = (every if as_seen is None else as_seen(every))[:, used]
    return np.sum(seen[:, place] <= forest.threshold[roots], axis=0).astype(np.int64)


def _stage_table(
    votes: Votes,
    stops: np.ndarray,
    weights: np.ndarray,
    constants: np.ndarray,
    thresholds: np.ndarray,
) -> StageTable:
    """Say how each stage begins: what can go on from the stage before is not added up again."""
    n_stages, answer = len(stops), votes.answer
    stop = np.concatenate([[0], stops]).astype(np.int64)
    start = np.full(n_stages, ANEW)
    vote = np.empty_like(answer)
    for k in range(n_stages):
        before, own = weights[: stop[k], k], slice(stop[k], stop[k + 1])
        vote[own] = weights[own, k, None] * answer[own]
        if not before.any():
            start[k] = AFRESH
        elif constants[k] == constants[k - 1] and np.array_equal(before, weights[: stop[k], k - 1]):
            start[k] = ONWARD
    anew = bool(np.any(start == ANEW))
    return StageTable(
        stop,
        np.concatenate([[0], np.cumsum(votes.split)])[stops].astype(np.int64),
        start,
        np.array(constants, dtype=np.float64),
        np.append(thresholds, -np.inf),
        vote,
        np.ascontiguousarray(weights) if anew else np.zeros((0, 0)),
        np.ascontiguousarray(answer),
    )
