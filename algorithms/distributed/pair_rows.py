"""The rows that one worker holds of a fit of AdaBoost.MH, and what it is asked of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..stumps.columns import Columns
from ..stumps.lanes import N_CODES
from ..stumps.leaves import Leaves
from ..stumps.pair_weights import PairWeights, WeightUnit, targets_of
from ..stumps.samples import Sample, sample_of_draws
from ..stumps.sampling import Meter
from ..stumps.search import totals
from .held import Accepted, Held, exact_sums, in_turn
from .label_histograms import begins_of, mark_codes, tell_histograms


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
        """Send the rows of a tree's leaf into two; see :class:`algorithms.stumps.leaves.Leaves`."""
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
