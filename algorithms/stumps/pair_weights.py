"""Scores of AdaBoost.MH and the weights of (example, label) pairs, on an exact grid.

exp and log run in NumPy, never in a kernel, and weights are rounded before they are summed, so both
twins get the same bits (DESIGN §4). The reference is :func:`reference.adaboost_mh.pair_weights`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..grid import unit_exponent
from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from .search import n_lanes, totals

_SHARED_ROWS = 2**13  # from which on threads share what is done to each
_BLOCK_PAIRS = 2**16  # weighed at a time, so that they stay in the cache
_MOST_COPIES = 2.0**30  # pairs that whole weights may stand for; the grid is then 2**-21 at worst


class ExampleWeights(NamedTuple):
    """What the pairs count in the loss; their weights at f = 0 are ``counts * exp(logs)``."""

    # (n_samples,) int64, or None: copies that an example stands for: its weight, if all are whole
    # numbers; None: 1 each
    counts: np.ndarray | None
    # (n_samples, 1) or (n_samples, n_labels), float64, or None: logarithm of what a copy's pairs
    # weigh, relative to the largest; None: 0 each
    logs: np.ndarray | None
    total: float  # Sum of the examples' weights (relative ones if they are not whole)
    per_example: int  # What the pairs of an example weigh together if its largest weighs 1


class WeightUnit(NamedTuple):
    """How the weights of all examples count."""

    copies: bool  # Whether they are copies; if not, they count relative to the largest
    largest: float
    total: float  # Their sum, of copies an int
    # Copies, or examples if they are none: so many weights of at most 1 are summed for a label
    n_copies: int


def are_copies(whole: bool, total: float, n_labels: int) -> bool:
    """Whether weights stand for copies, the pairs of which can be counted exactly."""
    return bool(whole and total * n_labels <= _MOST_COPIES)


def weight_unit(sample_weight: np.ndarray | None, n_samples: int, n_labels: int) -> WeightUnit:
    """How all examples' weights count; see :func:`example_weights`."""
    if sample_weight is None:
        return WeightUnit(False, 1.0, n_samples, n_samples)
    whole, largest = np.all(sample_weight == np.rint(sample_weight)), float(sample_weight.max())
    if are_copies(whole, np.sum(sample_weight), n_labels):
        n_copies = int(sample_weight.astype(np.int64).sum())
        return WeightUnit(True, largest, n_copies, n_copies)
    return WeightUnit(False, largest, math.fsum(sample_weight / largest), n_samples)


def targets_of(classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Labels -1 or 1 of examples."""
    numbers = np.arange(n_classes) if n_classes > 2 else np.array([n_classes - 1])
    return np.where(classes[:, None] == numbers, 1, -1).astype(np.int8)


def example_weights(
    sample_weight: np.ndarray | None,
    targets: np.ndarray,
    initial_weights: str = "uniform",
    unit: WeightUnit | None = None,
) -> ExampleWeights:
    """Weights of the examples as copies or as logarithms.

    Whole numbers are copies: the grid is that of the copies, so the model is theirs bit for bit.
    Others, and those that stand for more than 2**30 pairs, count relative to the largest: the grid
    is as fine for them as without weights, whatever their unit.
    """
    n_samples, n_labels = targets.shape
    initial, per_example = None, n_labels
    if initial_weights == "balanced" and n_labels > 1:
        initial, per_example = np.where(targets > 0, 0.0, -np.log(n_labels - 1.0)), 2
    unit = weight_unit(sample_weight, n_samples, n_labels) if unit is None else unit
    if sample_weight is None:
        return ExampleWeights(None, initial, unit.total, per_example)
    if unit.copies:
        return ExampleWeights(sample_weight.astype(np.int64), initial, unit.total, per_example)
    logs = (np.log(sample_weight) - np.log(unit.largest))[:, None]
    logs = logs if initial is None else logs + initial
    return ExampleWeights(None, logs, unit.total, per_example)


@kernel
def _add_votes_to_row(i, codes, cut, steps, targets, losing):
    side = 1.0 if codes[i] > cut else -1.0
    for k in range(losing.shape[1]):  # signs are exact: the bits are those of -y (f + α h)
        losing[i, k] -= side * steps[k] * targets[i, k]


@kernel
def _add_votes(codes, cut, steps, targets, losing):
    """Add a stump's votes to -y f."""
    n = losing.shape[0]
    for_each(_add_votes_to_row, n, n >= _SHARED_ROWS, (codes, cut, steps, targets, losing))


@kernel
def _add_votes_of_leaf(i, leaf, steps, targets, losing):
    for k in range(losing.shape[1]):
        losing[i, k] -= steps[leaf[i], k] * targets[i, k]


@kernel
def _add_votes_of_leaves(leaf, steps, targets, losing):
    """Add the votes of a tree's leaves to -y f."""
    n = losing.shape[0]
    for_each(_add_votes_of_leaf, n, n >= _SHARED_ROWS, (leaf, steps, targets, losing))


@kernel
def _round_row(i, weights, targets, counts, scale, signed, of_row):
    total = np.int64(0)
    for k in range(weights.shape[1]):
        w = np.int32(np.rint(weights[i, k] * scale))  # at most 2**30
        total += w
        if counts is None:
            signed[i, k] = w * targets[i, k]
        else:
            signed[i, k] = np.int64(w) * counts[i] * targets[i, k]
    of_row[i] = total if counts is None else total * counts[i]


@kernel
def _round_weights(weights, targets, counts, scale, signed, of_row):
    """Weights on the grid, times copies, signed by the label; their sum in each row."""
    n = weights.shape[0]
    for_each(_round_row, n, n >= _SHARED_ROWS, (weights, targets, counts, scale, signed, of_row))


class PairWeights:
    """Scores of the training rows and the boosting weights of all (example, label) pairs.

    Weights are recomputed from the scores, relative to the largest, and rounded to a grid: after
    any number of rounds the largest is 1 and the rest is as exact as in the first round. Only then
    is a weight multiplied by the copies that its example stands for.
    """

    def __init__(
        self,
        targets: np.ndarray,
        sample_weight: np.ndarray | None = None,
        initial_weights: str = "uniform",
        unit: WeightUnit | None = None,
    ) -> None:
        n_samples, n_labels = targets.shape
        self.targets, self.n_labels, of_part = targets, n_labels, unit is not None
        unit = unit if of_part else weight_unit(sample_weight, n_samples, n_labels)
        self._examples = example_weights(sample_weight, targets, initial_weights, unit)
        self.n_examples, copies = self._examples.total, self._examples.counts
        self._exponent = unit_exponent(unit.n_copies * n_labels)
        self._losing = np.zeros((n_samples, n_labels))  # -y f
        self._block_rows = max(1, min(n_samples, _BLOCK_PAIRS // n_labels))
        self._block = np.empty((self._block_rows, n_labels))
        dtype = np.int32 if copies is None else np.int64  # a weight of 1 fits 32 bits with its sign
        self.signed = np.zeros((n_samples, n_lanes(n_labels)), dtype=dtype)
        self.of_row = np.empty(n_samples, dtype=np.int64)
        if not of_part:
            self._weigh_anew()

    def add(self, codes: np.ndarray, cut: int, steps: np.ndarray) -> None:
        """Add a stump to the scores and weigh anew; see :meth:`vote`."""
        self.vote(codes, cut, steps)
        self._weigh_anew()

    def vote(self, codes: np.ndarray, cut: int, steps: np.ndarray) -> None:
        """Add a stump to the scores."""
        _add_votes(codes, cut, steps, self.targets, self._losing)

    def add_tree(self, leaf: np.ndarray, steps: np.ndarray) -> None:
        """Add a tree to the scores and weigh anew; see :meth:`vote_tree`."""
        self.vote_tree(leaf, steps)
        self._weigh_anew()

    def vote_tree(self, leaf: np.ndarray, steps: np.ndarray) -> None:
        """Add a tree to the scores."""
        _add_votes_of_leaves(leaf, steps, self.targets, self._losing)

    def _weigh_anew(self) -> None:
        """Bring weights, their sums and the loss up to date with the scores."""
        shift = self.log_of_largest()
        self.weigh(shift)
        whole = self._examples.total * self._examples.per_example
        self.log_loss = log_of_mean(self.total, whole, self._exponent, shift)

    def log_of_largest(self) -> float:
        """Logarithm of the largest weight of a pair, by the scores."""
        logs = self._examples.logs
        return float((self._losing if logs is None else self._losing + logs).max())

    def weigh(self, shift: float) -> None:
        """Weights by the scores, relative to the largest of all, and their sums."""
        counts, logs = self._examples.counts, self._examples.logs
        losing, scale = self._losing, 2.0**self._exponent
        for begin in range(0, len(losing), self._block_rows):
            rows = slice(begin, begin + self._block_rows)
            weights = self._block[: len(losing) - begin]
            if logs is None:
                np.subtract(losing[rows], shift, out=weights)
            else:
                np.add(losing[rows], logs[rows], out=weights)
                weights -= shift
            np.exp(weights, out=weights)
            copies = None if counts is None else counts[rows]
            _round_weights(
                weights, self.targets[rows], copies, scale, self.signed[rows], self.of_row[rows]
            )
        self.totals, self.total = totals(self.signed), int(self.of_row.sum())


def log_of_mean(total: int, whole: float, exponent: int, shift: float) -> float:
    """Logarithm of the mean of exp(-y f)."""
    return float(np.log(np.ldexp(total / whole, -exponent))) + shift


# --- Prediction ----------------------------------------------------------------------------


@kernel
def _add_scores_of_row(i, values, place, threshold, steps, first, last, scores):
    for t in range(first, last):
        right = place[t] < 0 or values[i, place[t]] > threshold[t]
        for k in range(scores.shape[1]):
            scores[i, k] += steps[t, k] if right else -steps[t, k]


@kernel
def add_scores(
    values: np.ndarray,
    place: NDArray[np.int64],
    threshold: NDArray[np.float64],
    steps: NDArray[np.float64],
    first: int,
    last: int,
    scores: NDArray[np.float64],
) -> None:
    """Add the votes of stumps `first` … `last` - 1 to the scores, in order."""
    captured = values, place, threshold, steps, first, last, scores
    for_each(_add_scores_of_row, scores.shape[0], True, captured)


# --- samples of the training examples, drawn by boosting weight --------------------------------

# C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
# Research 15 (2014), pages 1431-1453, Eq. (2). The reference is :mod:`reference.adaptive_sampling`.

_SHARED_DRAWS = 2**11  # from which on threads share what is done to drawn rows


class Sample(NamedTuple):
    """Some of the examples."""

    rows: np.ndarray  # (size,) int64: ascending; repeated if drawn repeatedly
    signed: np.ndarray  # (size, n_lanes) int32 or int64: weight times label, in grid steps

    @property
    def weight(self) -> int:
        """Weight of all pairs of the sample, in grid steps."""
        return int(np.abs(self.signed).sum(dtype=np.int64))


@kernel
def rows_of(draws: NDArray[np.int64], of_row: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Row that each draw falls into, rows lying end to end.

    Parameters
    ----------
    draws : ndarray of shape (n_draws,), int64
        Ascending, from 0 to the sum of `of_row` less 1.
    of_row : ndarray of shape (n_rows,), int64
        Weight of each row, >= 0.
    rows : ndarray of shape (n_draws,), int64
        Output.
    """
    row, end = 0, of_row[0]
    for s in range(draws.shape[0]):
        while draws[s] >= end:
            row += 1
            end += of_row[row]
        rows[s] = row


@kernel
def _share_row(s, rows, signed, of_row, scale, out):
    total = np.float64(of_row[rows[s]])
    for k in range(signed.shape[1]):
        out[s, k] = np.int32(np.rint(signed[rows[s], k] / total * scale))


@kernel
def _share_out(rows, signed, of_row, scale, out):
    """Weights of the drawn rows relative to the row's, on a grid; signs are kept."""
    n = rows.shape[0]
    for_each(_share_row, n, n >= _SHARED_DRAWS, (rows, signed, of_row, scale, out))


def sample_by_weight(weights: PairWeights, size: int, rng: np.random.Generator) -> Sample:
    """Draw examples by their boosting weight, Eq. (2)."""
    draws = rng.integers(weights.total, size=size)
    draws.sort()  # sums do not depend on the order; finding the rows, and memory, do
    return sample_of_draws(weights, draws, size)


def sample_of_draws(weights: PairWeights, draws: np.ndarray, size: int) -> Sample:
    """Give the examples that draws by weight fall into."""
    rows = np.empty(len(draws), dtype=np.int64)
    rows_of(draws, weights.of_row, rows)
    signed = np.empty((len(draws), weights.signed.shape[1]), dtype=np.int32)
    exponent = unit_exponent(size * weights.n_labels)
    _share_out(rows, weights.signed, weights.of_row, 2.0**exponent, signed)
    return Sample(rows, signed)
