"""Bin edges of rows that lie apart, exactly those of :func:`algorithms.trees.binning.bin_edges`.

A part tells its distinct values with their counts, and the rule is applied to all parts' together.
Where a part has too many, it first tells how many rows lie in each of some thousand ranges; these
bound where each quantile can be, and within the bounds it then tells every value. What lies outside
is counted at a value that cannot be chosen. Nothing is approximate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..trees.binning import MAX_BINS, bin_edges

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
