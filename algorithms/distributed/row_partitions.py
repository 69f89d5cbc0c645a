"""What a worker holds of any fit: its rows, checked; and what it is asked before the rounds.

That is above all the bin edges of rows that lie apart, exactly those of
:func:`algorithms.trees.binning.bin_edges`. A part tells its distinct values with their counts, and
the rule is applied to all parts' together. Where a part has too many, it first tells how many rows
lie in each of some thousand ranges; these bound where each quantile can be, and within the bounds
it then tells every value. What lies outside is counted at a value that cannot be chosen. Nothing is
approximate.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y

from ..estimators.fitting import check_sample_weight, numbers
from ..grid import row_weights, weights_on_grid
from ..kernels.arrays import read_only
from ..kernels.cache import source_hash
from ..kernels.decorators import resolve_n_threads, threads
from ..trees.binning import MAX_BINS, bin_edges
from ..validation.columns import check_whole_numbers, masked_as_missing, refuse_masked
from ..validation.prices import labels_of_columns

MOST_VALUES = 8_192
"""Distinct values, or ranges of them, that a part tells of a feature at a time."""


class Values(NamedTuple):
    """Distinct values of a feature in one part, rising."""

    values: np.ndarray  # (n_distinct,) float64
    # (n_distinct,) int64: weight of the rows that have each, on the weights' grid
    counts: np.ndarray
    some_missing: bool  # Whether rows are missing the feature


class Ranges(NamedTuple):
    """The same by ranges, where there are too many."""

    first: np.ndarray  # first, last: (n_ranges,) float64: smallest and largest value of each range
    last: np.ndarray
    counts: np.ndarray  # (n_ranges,) int64
    some_missing: bool


# --- what a part tells --------------------------------------------------------------------------


def distinct(column: np.ndarray, counts: np.ndarray | None) -> Values:
    """Distinct values of a part's rows."""
    missing = np.isnan(column)
    some_missing = bool(missing.any())
    if some_missing:
        column, counts = column[~missing], counts if counts is None else counts[~missing]
    order = None if counts is None else np.argsort(column)
    ordered = np.sort(column) if order is None else column[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    if order is None:
        total = np.diff(np.append(first, len(ordered)))
    else:
        total = np.add.reduceat(counts[order], first) if len(first) else counts[:0]
    return Values(ordered[first], total.astype(np.int64), some_missing)


def in_short(of_part: Values, most: int) -> Values | Ranges:
    """All values if they are few, else ranges of about equal count."""
    values, counts, some_missing = of_part
    if len(values) <= most:
        return of_part
    cumulative = np.cumsum(counts)
    ends = np.searchsorted(cumulative, cumulative[-1] * (np.arange(1, most + 1) / most))
    ends = np.unique(np.append(np.minimum(ends, len(values) - 1), len(values) - 1))
    first = np.append(0, ends[:-1] + 1)
    return Ranges(values[first], values[ends], np.add.reduceat(counts, first), some_missing)


def within(of_part: Values, above: np.ndarray, upto: np.ndarray, most: int) -> Values:
    """All values if they are few; else those in intervals, their neighbours, and some between."""
    values, counts, some_missing = of_part
    if len(values) <= most:
        return of_part
    begin = np.searchsorted(values, above, side="right")
    end = np.searchsorted(values, upto, side="right")
    change = np.zeros(len(values) + 2, dtype=np.int64)
    # The value before an interval takes what lies below it; the one behind may be a neighbour.
    np.add.at(change, np.maximum(begin - 1, 0), 1)
    np.add.at(change, np.minimum(end, len(values) - 1) + 1, -1)
    told = np.cumsum(change)[: len(values)] > 0
    # So many that nobody takes them for all there are: those would have an edge each.
    told[np.linspace(0, len(values) - 1, MAX_BINS + 2).astype(np.int64)] = True
    ends = np.flatnonzero(told)
    return Values(values[ends], np.add.reduceat(counts, np.append(0, ends[:-1] + 1)), some_missing)


# --- what is made of it -------------------------------------------------------------------------


def intervals(
    parts: Sequence[Values | Ranges], max_bins: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Where the quantiles can be."""
    if all(isinstance(part, Values) for part in parts):
        return None
    first = np.concatenate([part[0] for part in parts])
    last = np.concatenate([part.last if isinstance(part, Ranges) else part[0] for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    # Rows at or below a value: all of a range may be once the value reaches its first, and are
    # once it reaches its last.
    most, least = _cumulative(first, counts), _cumulative(last, counts)
    targets = np.arange(1, max_bins, dtype=np.int64) * int(counts.sum())
    below = np.searchsorted(most[1] * max_bins, targets, side="left") - 1
    above = np.where(below < 0, -np.inf, most[0][np.maximum(below, 0)])
    upto = least[0][np.searchsorted(least[1] * max_bins, targets, side="left")]
    return _joined(above, upto)


def _cumulative(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values, rising, and the count at or below each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return ordered[last], np.cumsum(counts[order])[last]


def _joined(above: np.ndarray, upto: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals, rising at both ends, with those that overlap made one."""
    new = np.append(True, above[1:] > upto[:-1])
    return above[new], upto[np.append(np.flatnonzero(new)[1:] - 1, len(upto) - 1)]


def edges_of(parts: Sequence[Values], max_bins: int) -> np.ndarray:
    """Bin edges of all parts' rows; see :func:`algorithms.trees.binning.bin_edges`."""
    values = np.concatenate([part.values for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    if any(part.some_missing for part in parts):
        values, counts = np.append(values, np.nan), np.append(counts, 1)
    return bin_edges(values, counts, max_bins)


# --- what a worker holds -----------------------------------------------------------------------


class Part(NamedTuple):
    """Rows of one block, checked; those of weight 0 are gone."""

    number: int  # of the block
    X: np.ndarray  # (n_samples, n_features), of a type that is kept
    y: np.ndarray  # (n_samples,)
    weights: np.ndarray | None  # (n_samples,) float64
    n_given: int  # rows of the block, whatever their weight


class Accepted(NamedTuple):
    """Which rows a fit takes."""

    dtypes: tuple[type, ...]  # that are kept; all else becomes the first
    missing: bool  # whether values may be


def checked_part(
    number: int,
    X: np.ndarray,
    y: ArrayLike,
    weights: ArrayLike | None,
    is_classifier: bool,
    accepted: Accepted,
    n_features: int,
) -> Part:
    """Check a block of rows as `fit` checks all of them, and that it is what its array declares."""
    if np.ndim(X) != 2 or np.shape(X)[1] != n_features:
        raise ValueError(
            f"its shape is {np.shape(X)}, and the array declares {n_features} columns."
        )
    if np.shape(y)[:1] != (len(X),):
        raise ValueError(f"X has {len(X)} rows, and y the shape {np.shape(y)}.")
    if len(X):
        finite = "allow-nan" if accepted.missing else True
        X = masked_as_missing(X, accepted.missing, "the estimator")
        refuse_masked(y, "y")
        check_whole_numbers(X, labels_of_columns(X))
        X, y = check_X_y(
            X, y, dtype=accepted.dtypes, order="C", ensure_all_finite=finite, y_numeric=False
        )
    if is_classifier and len(X):
        # Few rows of a block may well be of many classes; three times the same rows draw no warning
        # of it. Filters of warnings are the whole process's, where other threads check blocks, too.
        check_classification_targets(np.tile(y, 3))
    elif not is_classifier:
        y = numbers(y)
    refuse_masked(weights, "sample_weight")
    if weights is None or not len(X):
        return Part(number, X, y, None if weights is None else np.zeros(0), len(X))
    if np.shape(weights) == (len(X),) and not np.any(weights):
        return Part(number, X[:0], y[:0], np.zeros(0), len(X))
    weights, kept = check_sample_weight(weights, len(X))
    if kept is None:
        return Part(number, X, y, weights, len(X))
    return Part(number, X[kept], y[kept], weights[kept], len(X))


class Summary(NamedTuple):
    """What a worker tells of its rows before the fit begins."""

    n_samples: int
    blocks: list[tuple[int, int]]  # numbers of its blocks, and their rows
    dtype: np.dtype
    weight_sums: list[float] | None  # whose exact sum is that of the weights
    largest_weight: float
    whole: bool  # whether the weights are integers
    targets: np.ndarray  # distinct classes, or smallest and largest target
    machine: tuple[str, str]  # see fingerprint


def fingerprint() -> tuple[str, str]:
    """What must be equal for equal bits: sources and NumPy, and how exp and log round here."""
    values = np.linspace(-700.0, 700.0, 4_001)
    answers = np.concatenate([np.exp(values), np.log(np.abs(values) + 0.5)])
    return (
        f"sources {source_hash()}, NumPy {np.__version__}",
        f"exp and log {hashlib.sha256(answers.tobytes()).hexdigest()[:16]}",
    )


def exact_sums(values: np.ndarray) -> list[float]:
    """Few numbers with the same exact sum."""
    sums = []
    while (rest := math.fsum([*values.tolist(), *(-s for s in sums)])) != 0.0:
        sums.append(rest)
    return sums


def in_turn(method: Callable) -> Callable:
    """Let a method be called once for each step, in order: what comes again is refused."""

    @functools.wraps(method)
    def guarded(self, step: int, *args):
        if step != self._step + 1:
            raise RuntimeError(f"step {step} came after {self._step}")
        self._step = step
        with threads(self._n_threads, self._n_values):
            return method(self, *args)

    return guarded


class Held:
    """Rows of one worker, in its memory; base of the actors."""

    accepted: ClassVar[Accepted]

    def __init__(self, parts: list[Part], is_classifier: bool, n_threads: int | None) -> None:
        parts = [part for part in parts if len(part.y)]
        self._blocks = [(part.number, len(part.y)) for part in parts]
        self._X = read_only(np.concatenate([part.X for part in parts]))
        self._y = np.concatenate([part.y for part in parts])
        self._given = None
        if parts[0].weights is not None:
            self._given = read_only(np.concatenate([part.weights for part in parts]))
        self._is_classifier = is_classifier
        if n_threads is None:
            from distributed import get_worker

            n_threads = get_worker().state.nthreads
        self._n_threads, self._n_values = resolve_n_threads(n_threads), self._X.size
        self._distinct: dict[int, Values] = {}
        self._step = 0

    # --- before the first round -----------------------------------------------------------------

    @in_turn
    def summary(self) -> Summary:
        """Tell what the fit as a whole depends on."""
        y, weights = self._y, self._given
        targets = np.unique(y) if self._is_classifier else np.array([y.min(), y.max()])
        sums = None if weights is None else exact_sums(weights)
        whole = weights is None or bool(np.all(weights == np.rint(weights)))
        largest = 1.0 if weights is None else float(weights.max())
        return Summary(
            len(y), self._blocks, self._X.dtype, sums, largest, whole, targets, fingerprint()
        )

    def _put_on_grid(self, n_samples: int, total: float, whole: bool) -> None:
        """Put the weights on the grid of all rows; see :class:`.training.RowsOfAll`."""
        if self._given is None:
            self._weights = row_weights(None, n_samples)._replace(total=len(self._y))
        else:
            self._weights = weights_on_grid(self._given, total, whole)

    @in_turn
    def distinct(self, features: list[int], most: int) -> list[Values | Ranges]:
        """Tell the distinct values of features, by ranges where they are many."""
        columns = {f: self._X[:, f].astype(np.float64) for f in features}
        self._distinct = {f: distinct(columns[f], self._weights.counts) for f in features}
        return [in_short(self._distinct[f], most) for f in features]

    @in_turn
    def within(self, where: dict[int, tuple[np.ndarray, np.ndarray]], most: int) -> list[Values]:
        """Tell the values of features in intervals; see :func:`.row_partitions.within`."""
        return [within(self._distinct[f], *bounds, most) for f, bounds in where.items()]
