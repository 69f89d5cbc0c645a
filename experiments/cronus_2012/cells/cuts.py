"""Thresholds of a cascade moved after it was trained: the same settings for every method.

Where rows are rejected decides what a cascade costs, and moving thresholds trains nothing. So each
cascade, whoever trained it, is measured with its own thresholds and with the same shares rejected.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import numpy as np

from algorithms.exits.classifier import CascadeClassifier
from algorithms.reweighted_trees.tree_outputs import tree_outputs
from experiments.cronus_2012.cells.task import Part

AS_TRAINED = -1.0
"""In the place of a share: the thresholds that the cascade was trained with."""


def cut_anew(
    model: CascadeClassifier, train: Part, shares: Sequence[float]
) -> Iterator[CascadeClassifier]:
    """Yield the cascade once for each share, with thresholds that reject it at every stage.

    A stage without trees gives all rows one score and rejects nobody.
    """
    fitted, scores = (
        (model._responses_, model.coef_, model.intercept_),
        stage_scores(model, train.X),
    )
    for share in shares:
        trained = share == AS_TRAINED
        other = copy.copy(model)
        other._set_up(*fitted, model.thresholds_ if trained else cuts(scores, train.copies, share))
        yield other


def stage_scores(model: CascadeClassifier, X: np.ndarray) -> np.ndarray:
    """Return f^k of all rows, (n_stages, n) float64."""
    used = np.flatnonzero(model.coef_.any(axis=0))
    answers = outputs(model._responses_.forest, used, X)
    return model.intercept_[:, None] + model.coef_[:, used] @ answers.T


def outputs(forest, trees: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return what some trees answer, (n, n_trees) float64."""
    held = tree_outputs(forest.take(trees), X, 1)
    answers = np.zeros((len(X), len(trees)))
    for t in range(len(trees)):
        answers[:, t] = held.values[t, held.codes[t]]
    return answers


def cuts(scores: np.ndarray, copies: np.ndarray, share: float) -> np.ndarray:
    """Return thresholds that reject a share of the inputs that come to each stage but the last."""
    alive, thresholds = np.ones(len(copies), dtype=bool), []
    for score in scores[:-1]:
        order = np.flatnonzero(alive)[np.argsort(score[alive], kind="stable")]
        below = np.cumsum(copies[order]) - copies[order]
        fits = below <= share * copies[alive].sum()
        thresholds.append(score[order[fits][-1]])
        alive &= ~(score < thresholds[-1])
    return np.array(thresholds)
