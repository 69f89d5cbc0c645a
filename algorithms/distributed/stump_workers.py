"""The rows that one worker holds of a fit of AdaBoost.MH, and what it is asked of them.

Above all histograms of signed weights by code and label. A column's histogram goes out code by
code, all labels of a code together, without the padding that it is added up with
(:mod:`algorithms.stumps.histograms`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.arrays import read_only
from ..kernels.decorators import allocating_kernel, kernel
from ..kernels.loops import for_each
from ..stumps.columns import Columns
from ..stumps.histograms import (
    COLUMNS,
    SLOT,
    add_default,
    block_of,
    fill,
    fill_sparse,
    n_slots,
)
from ..stumps.lanes import N_CODES, WIDEST
from ..stumps.pair_weights import PairWeights, Sample, WeightUnit, sample_of_draws, targets_of
from ..stumps.sampling import Meter
from ..stumps.search import Leaves, totals
from .row_partitions import Accepted, Held, exact_sums, in_turn


def begins_of(n_codes: np.ndarray, n_labels: int) -> np.ndarray:
    """Where each column's histogram begins, and the last ends: (n_searched + 1,) int64."""
    return np.append(0, np.cumsum(n_codes)) * n_labels


# --- on a worker --------------------------------------------------------------------------------


@kernel
def _tell(sums, apart, lanes, n_labels, out):
    """Write the histogram of a column, and empty it; `sums` and `apart` as for `add_default`."""
    n_codes = out.shape[0] // n_labels
    for label in range(0, n_labels, WIDEST):
        width, block = min(WIDEST, lanes - label), block_of(sums, label, lanes, apart)
        told = min(width, n_labels - label)
        for code in range(n_codes):
            for k in range(told):
                out[code * n_labels + label + k] = block[code * width + k]
        block[:] = 0


@kernel
def _tell_dense_chunk(c, columns, features, weights, lanes, n_labels, begins, work, out):
    n_chunks, apart = work.shape[0], COLUMNS * SLOT
    stop, sums = features.shape[0] * (c + 1) // n_chunks, work[c]
    for q in range(features.shape[0] * c // n_chunks, stop, COLUMNS):
        # The last of a chunk may be fewer than four; then the last is added again.
        r, s, t = min(q + 1, stop - 1), min(q + 2, stop - 1), min(q + 3, stop - 1)
        others = columns[features[r]], columns[features[s]], columns[features[t]]
        fill(columns[features[q]], others, weights, lanes, sums)
        for j in range(COLUMNS):  # all of them, as that empties them
            at = min(q + j, stop - 1)
            _tell(sums[j * SLOT :], apart, lanes, n_labels, out[begins[at] : begins[at + 1]])


@kernel
def _tell_dense(columns, features, weights, lanes, n_labels, begins, work, out):
    """Histograms of columns, four at a time; chunks of them are independent."""
    captured = columns, features, weights, lanes, n_labels, begins, work, out
    for_each(_tell_dense_chunk, work.shape[0], True, captured)


@allocating_kernel
def _tell_sparse_chunk(c, columns, features, defaults, weights, total, n_labels, begins, work, out):
    n_chunks, lanes = work.shape[0], total.shape[0]
    stop, sums = features.shape[0] * (c + 1) // n_chunks, work[c]
    rest = np.empty(WIDEST, dtype=np.int64)
    for q in range(features.shape[0] * c // n_chunks, stop):
        touched = fill_sparse(columns[features[q]], defaults[q], weights, lanes, sums)
        add_default(sums, SLOT, defaults[q], touched, total, rest)
        _tell(sums, SLOT, lanes, n_labels, out[begins[q] : begins[q + 1]])


@kernel
def _tell_sparse(columns, features, defaults, weights, total, n_labels, begins, work, out):
    """The same for columns that mostly hold their default code."""
    captured = columns, features, defaults, weights, total, n_labels, begins, work, out
    for_each(_tell_sparse_chunk, work.shape[0], True, captured)


def tell_histograms(
    columns: np.ndarray,
    features: np.ndarray,
    defaults: np.ndarray,
    n_codes: np.ndarray,
    signed: np.ndarray,
    total: np.ndarray,
    n_labels: int,
    n_threads: int,
    out: np.ndarray,
) -> None:
    """Histograms of some columns on all rows of a worker, or on a sample."""
    columns, weights, lanes = read_only(columns), signed.reshape(-1), signed.shape[1]
    begins = begins_of(n_codes, n_labels)
    for sparse in (False, True):
        places = np.flatnonzero((defaults >= 0) == sparse)
        if not len(places):
            continue
        n_chunks, columns_at_once = max(1, min(n_threads, len(places))), 1 if sparse else COLUMNS
        work = np.zeros((n_chunks, columns_at_once * n_slots(lanes) * SLOT), dtype=np.int64)
        to = begins_of(n_codes[places], n_labels)
        told = np.empty(to[-1], dtype=np.int64)
        if sparse:
            of_features = features[places], defaults[places], weights, total
            _tell_sparse(columns, *of_features, n_labels, to, work, told)
        else:
            _tell_dense(columns, features[places], weights, lanes, n_labels, to, work, told)
        for i, place in enumerate(places.tolist()):
            out[begins[place] : begins[place + 1]] = told[to[i] : to[i + 1]]


@kernel
def _mark_codes_of_column(m, columns, present):
    for i in range(columns.shape[1]):
        present[m, columns[m, i]] = True


@kernel
def mark_codes(columns: NDArray[np.uint8], present: NDArray[np.bool_]) -> None:
    """Say which codes the columns hold."""
    for_each(_mark_codes_of_column, columns.shape[0], True, (columns, present))


# --- where `fit` was called ---------------------------------------------------------------------


@allocating_kernel
def _best_cuts(told, begins, total, edges, cuts, of_labels):
    n_labels = total.shape[0]
    rest = np.empty(n_labels, dtype=np.int64)
    for q in range(edges.shape[0]):
        for k in range(n_labels):
            rest[k] = total[k]
        best = np.int64(-1)
        for at in range(begins[q], begins[q + 1], n_labels):
            edge = np.int64(0)
            for k in range(n_labels):
                rest[k] -= 2 * told[at + k]
                edge += abs(rest[k])
            if edge > best:
                best, cuts[q] = edge, (at - begins[q]) // n_labels
                for k in range(n_labels):
                    of_labels[q, k] = rest[k]
        edges[q] = best


def best_cuts(
    told: np.ndarray, n_codes: np.ndarray, total: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best cut of each column by its histogram, the lowest among equals: Eq. (1)."""
    edges, cuts = np.empty(len(n_codes), np.int64), np.empty(len(n_codes), np.int64)
    of_labels = np.empty((len(n_codes), len(total)), np.int64)
    _best_cuts(told, begins_of(n_codes, len(total)), total, edges, cuts, of_labels)
    return edges, cuts, of_labels


# --- the rows of a worker ----------------------------------------------------------------------


class Plan(NamedTuple):
    """What all workers are told when the rounds begin."""

    edges: list[np.ndarray] | None  # of each feature; None if all features are bytes
    families: list[np.ndarray]
    n_classes: int
    initial_weights: str
    unit: WeightUnit
    blocks: list[int]  # numbers of all workers' blocks, rising


class Draws(NamedTuple):
    """Examples that were drawn among all workers'."""

    # (size,) int64: ascending: numbers of rows, or weights to which the rows lie end to end
    places: np.ndarray
    # (n_blocks + 1,) int64: where each block begins, and the last ends: first row, or first weight
    starts: np.ndarray
    by_weight: bool


class PairRows(Held):
    """Rows of one worker, with the weights of their pairs with labels."""

    accepted = Accepted((np.float64, np.uint8), missing=False)

    # --- before the first round -----------------------------------------------------------------

    @in_turn
    def weigh_rows(self, n_samples: int, total: float, whole: bool, classes: np.ndarray) -> None:
        """Put weights on the grid of all rows and number the classes."""
        self._put_on_grid(n_samples, total, whole)
        self._y = np.searchsorted(classes, self._y)

    @in_turn
    def relative_sums(self, largest: float) -> list[float]:
        """Tell the exact sum of the weights in units of the largest of all; see `exact_sums`."""
        return exact_sums(self._given / largest)

    @in_turn
    def begin(self, plan: Plan) -> np.ndarray:
        """Bin the rows and let go of their values."""
        X, self._plan, self._distinct = self._X, plan, {}
        if plan.edges is not None:
            X = X.astype(np.float64, copy=False)  # some other worker's are no bytes
        self._columns = Columns(X, None, plan.edges)
        del self._X
        self._targets = targets_of(self._y, plan.n_classes)
        numbers, sizes = zip(*self._blocks, strict=True)
        self._places = np.searchsorted(plan.blocks, numbers)
        self._block_starts = np.append(0, np.cumsum(sizes))
        told = self._columns.codes[: 0 if plan.edges is not None else None]
        present = np.zeros((len(told), N_CODES), dtype=bool)
        mark_codes(told, present)
        return present

    # --- round by round -------------------------------------------------------------------------

    @in_turn
    def restart(self) -> float:
        """Begin a training; tell the logarithm of the largest weight of a pair."""
        plan = self._plan
        self._pairs = PairWeights(self._targets, self._given, plan.initial_weights, plan.unit)
        self._meter = Meter(plan.families, *self._columns.codes.shape)
        return self._pairs.log_of_largest()

    @in_turn
    def add(self, feature: int, cut: int, steps: np.ndarray) -> float:
        """Add a stump to the scores; tell the logarithm of the largest weight of a pair."""
        self._pairs.vote(self._columns.codes[max(feature, 0)], cut, steps)
        return self._pairs.log_of_largest()

    @in_turn
    def histograms(
        self, shift: float | None, features: np.ndarray, n_codes: NDArray[np.int64]
    ) -> np.ndarray:
        """Tell sums of weights, and the histograms of features."""
        pairs, n_labels, n_blocks = self._pairs, self._pairs.n_labels, len(self._plan.blocks)
        if shift is not None:
            pairs.weigh(shift)
        told = np.zeros(n_labels + n_blocks + n_labels * int(n_codes.sum()), dtype=np.int64)
        told[:n_labels] = pairs.totals[:n_labels]
        told[n_labels + self._places] = np.add.reduceat(pairs.of_row, self._block_starts[:-1])
        defaults = self._columns.defaults.of(features)
        self._tell(
            self._columns.codes, features, defaults, n_codes, pairs.signed, pairs.totals,
            told[n_labels + n_blocks :],
        )  # fmt: skip
        return told

    @in_turn
    def histograms_on(
        self, draws: Draws, features: np.ndarray, n_codes: NDArray[np.int64]
    ) -> np.ndarray:
        """Tell the same on a sample of all workers' examples."""
        sample, n_labels = self._sample(draws), self._pairs.n_labels
        self._meter.count(features, sample.rows)
        total, so_far = totals(sample.signed), self._meter.family_rows
        head = np.concatenate([total[:n_labels], [sample.weight], so_far])
        told = np.empty(len(head) + n_labels * int(n_codes.sum()), dtype=np.int64)
        told[: len(head)] = head
        gathered = self._columns.codes[features[:, None], sample.rows]
        self._tell(
            gathered, np.arange(len(features)), self._columns.defaults.of(features), n_codes,
            sample.signed, total, told[len(head) :],
        )  # fmt: skip
        return told

    @in_turn
    def divide(self, node: int, feature: int, cut: int, first: int) -> np.ndarray:
        """Send the rows of a tree's leaf into two; see :class:`algorithms.stumps.search.Leaves`."""
        if node == 0:
            columns, signed = self._columns, self._pairs.signed
            self._leaves = Leaves(columns.codes, columns.defaults, signed, self._n_threads)
        sums, weights = self._leaves.divide(node, feature, cut, first)
        return np.column_stack([sums[:, : self._pairs.n_labels], weights])

    @in_turn
    def histograms_in(self, node: int, features: np.ndarray, n_codes: np.ndarray) -> np.ndarray:
        """Tell histograms of features on the rows of a leaf that is not the root."""
        begins = begins_of(n_codes, self._pairs.n_labels)
        told = np.empty(begins[-1], dtype=np.int64)
        for block, rows, signed, defaults in self._leaves.gathered(node, features):
            of_block, ends = np.arange(len(defaults)), begins[block.start :]
            self._tell(
                self._columns.codes[features[block, None], rows], of_block, defaults,
                n_codes[block], signed, totals(signed), told[ends[0] : ends[len(defaults)]],
            )  # fmt: skip
        return told

    @in_turn
    def add_tree(self, steps: np.ndarray) -> float:
        """Add the grown tree to the scores; tell the logarithm of the largest weight of a pair."""
        leaf_of = np.zeros(len(self._y), dtype=np.int64)
        if len(steps) > 1:
            leaf_of = self._leaves.leaf_of()
            del self._leaves  # as large as the weights of all pairs
        self._pairs.vote_tree(leaf_of, steps)
        return self._pairs.log_of_largest()

    def _tell(self, columns, features, defaults, n_codes, signed, total, out) -> None:
        if len(features):
            tell_histograms(
                columns, features, defaults, n_codes, signed, total, self._pairs.n_labels,
                self._n_threads, out,
            )  # fmt: skip

    def _sample(self, draws: Draws) -> Sample:
        """Those of the drawn examples that are here."""
        pairs, rows = self._pairs, self._block_starts
        begins = rows
        if draws.by_weight:  # the weights of the rows of these blocks, end to end
            begins = np.append(0, np.cumsum(np.add.reduceat(pairs.of_row, rows[:-1])))
        here = []
        for place, begin in zip(self._places, begins[:-1], strict=True):
            of_all = draws.starts[place : place + 2]
            first, last = np.searchsorted(draws.places, of_all)
            here.append(draws.places[first:last] - of_all[0] + begin)
        drawn = np.concatenate(here)
        if draws.by_weight:
            return sample_of_draws(pairs, drawn, len(draws.places))
        return Sample(drawn, pairs.signed[drawn])
