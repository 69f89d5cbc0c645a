"""Stages of Viola and Jones: boosted on the rows that are left until validation rows are content.

The reference is :func:`reference.viola_jones.train_stage`.
"""

from __future__ import annotations

import copy
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..stumps.boosting import alpha_of, best_stump
from ..stumps.columns import Columns
from ..stumps.pair_weights import PairWeights
from ..stumps.sampling import Problem
from ..stumps.search import DefaultCodes
from .classifier import Stump

SLACK = 1e-9  # 1 - 0.9 of ten rows is one row


class Rows(NamedTuple):
    """Rows that earlier stages let pass, and what all rows weigh."""

    X: np.ndarray  # (n_inside, n_features) uint8 or float64
    positive: np.ndarray  # (n_inside,) bool
    counts: np.ndarray  # (n_inside,) int64
    # Weight of all positives and all negatives, also of those that are rejected
    totals: tuple[float, float]

    def take(self, rows: np.ndarray) -> Rows:
        """Keep some rows, of those that are inside."""
        return self._replace(X=self.X[rows], positive=self.positive[rows], counts=self.counts[rows])


class Stage(NamedTuple):
    """A trained stage."""

    stumps: list[Stump]
    threshold: float  # A row with a lower score is rejected
    # Shares of all validation positives and negatives that are left after it
    rates: tuple[float, float]
    reached: bool  # Whether it has the rate of negatives that was asked for
    target: int = 0  # Place of that rate, from 0

    def passing(self, X: np.ndarray) -> np.ndarray:
        """Rows that it does not reject, (n_samples,) bool."""
        scores = np.zeros(len(X))
        for stump in self.stumps:
            scores += stump.answers(X)
        return ~(scores < self.threshold)


def _balanced(weights: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Weights with which both classes weigh the same; whole numbers stay whole."""
    sums = math.fsum(weights[positive]), math.fsum(weights[~positive])
    if np.all(weights == np.rint(weights)):
        common = math.gcd(int(sums[0]), int(sums[1]))
        return weights * np.where(positive, sums[1] / common, sums[0] / common)
    return weights / np.where(positive, sums[0], sums[1])


def _threshold(scores: np.ndarray, counts: np.ndarray, needed: float) -> float:
    """Largest threshold, 0 at most, that keeps enough weight of some positives."""
    order = np.argsort(-scores, kind="stable")
    scores, kept = scores[order], np.cumsum(counts[order])
    enough = int(np.flatnonzero(kept >= needed)[0])  # equal ones stay together
    return min(0.0, float(scores[enough]))


class StageBoosting:
    """Boosts stages on the training rows that are left, whose columns are kept as bytes."""

    def __init__(
        self,
        X: np.ndarray,
        signs: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        max_stumps: int,
        n_threads: int,
    ) -> None:
        self._X, self._positive = X, signs > 0
        self._weights = np.ones(len(signs)) if weights is None else weights
        self._max_stumps, self._n_threads = max_stumps, n_threads
        self._columns = Columns(X, weights)
        self.inside = np.ones(len(signs), dtype=bool)

    def negatives(self) -> int:
        """Number of negatives that are left."""
        return int(np.count_nonzero(self.inside & ~self._positive))

    def reject(self, stage: Stage) -> int:
        """Leave the negatives out that a stage rejects, and tell how many."""
        before = self.negatives()
        self.inside &= self._positive | stage.passing(self._X)
        return before - self.negatives()

    def _problem(self) -> tuple[Problem, Columns]:
        """The rows that are left, with fresh weights."""
        rows = np.flatnonzero(self.inside)
        columns, positive = copy.copy(self._columns), self._positive[rows]
        if len(rows) < len(self.inside):
            columns.codes = read_only(np.ascontiguousarray(columns.codes[:, rows]))
            columns.defaults = DefaultCodes(columns.codes)
        targets = np.where(positive, 1, -1).astype(np.int8)[:, None]
        problem = Problem(
            columns=columns.codes,
            defaults=columns.defaults,
            families=[np.arange(len(columns.codes))],
            max_cost=1.0,
            n_rounds=self._max_stumps,
            weights=PairWeights(targets, _balanced(self._weights[rows], positive)),
            rng=np.random.default_rng(0),
            n_threads=self._n_threads,
        )
        return problem, columns

    def stage(self, valid: Rows, tpr: float, fpr: float) -> Stage:
        """Boost until the rates are reached on the validation rows."""
        problem, columns = self._problem()
        features, weights = problem.all_features(), problem.weights
        scores, stage = np.zeros(len(valid.X)), Stage([], 0.0, (1.0, 1.0), False)
        while len(stage.stumps) < self._max_stumps:
            taken = best_stump(problem, features)
            alpha = alpha_of(taken.edge, weights.total)
            if alpha == 0 and stage.stumps:
                break
            constant = taken.feature < 0
            threshold = 0.0 if constant else columns.threshold(taken.feature, taken.cut)
            stump = Stump(taken.feature, threshold, int(taken.votes[0]), alpha)
            column = problem.columns[max(taken.feature, 0)]
            weights.add(column, taken.cut, alpha * taken.votes)
            problem.next_round()
            scores += stump.answers(valid.X)
            stage = _judged([*stage.stumps, stump], scores, valid, tpr, fpr)
            if stage.reached or alpha == 0:
                break
        return stage


def _judged(stumps: list[Stump], scores, valid: Rows, tpr: float, fpr: float) -> Stage:
    """A stage by what it does to the validation rows."""
    positive, counts = valid.positive, valid.counts
    needed = tpr * valid.totals[0] * (1 - SLACK)
    threshold = _threshold(scores[positive], counts[positive], needed)
    passing = ~(scores < threshold)
    left = [int(counts[passing & side].sum()) for side in (positive, ~positive)]
    rates = left[0] / valid.totals[0], left[1] / valid.totals[1]
    return Stage(stumps, threshold, rates, left[1] <= fpr * valid.totals[1] * (1 + SLACK))
