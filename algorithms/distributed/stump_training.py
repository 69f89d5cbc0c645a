"""AdaBoost.MH on rows that workers hold: weights and histograms are theirs, decisions are not.

What a sampler proposes, the stump of a round and its α are computed by the code that does it on one
machine. A round takes two exchanges with all workers: the stump is added and the largest weight of
a pair told; then, relative to that, pairs are weighed and histograms told. More are taken by
samplers that look at features before they propose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ..grid import unit_exponent
from ..stumps.pair_weights import WeightUnit, are_copies, log_of_mean
from ..stumps.sampling import Problem
from ..stumps.search import Search
from ..trees.binning import MAX_BINS
from .stump_workers import Draws, Plan, best_cuts
from .training import RowsOfAll

if TYPE_CHECKING:
    from .row_partitions import Summary
    from .workers import Workers

_ENTRIES_AT_ONCE = 2**22  # of the histograms that workers tell at a time, 8 bytes each


def _refused(what: str) -> NoReturn:
    raise ValueError(
        f"This sampler reads {what}, which are with the workers of the cluster: give X.compute() "
        "and y.compute() to train in this process, or have the sampler ask problem.search, "
        "problem.edges, problem.sample and problem.edges_on."
    )


class PairsOfAll(RowsOfAll):
    """All workers' rows and their labels, as far as a process knows them that has none."""

    def __init__(self, workers: Workers, summaries: Sequence[Summary]) -> None:
        super().__init__(workers, summaries)
        self.ask = workers.ask
        self.summed, self.largest = workers.summed, workers.largest
        self._summaries = summaries

    def begin(self, n_features: int, families: list[np.ndarray], initial_weights: str) -> None:
        """Have all workers weigh and bin their rows."""
        given, n_classes = self.weights, len(self.targets)
        self.ask("weigh_rows", self.n_samples, given.sum, given.whole, self.targets)
        self.n_labels = n_classes if n_classes > 2 else 1
        self.unit = self._weight_unit()
        self.per_example = self.n_labels
        if initial_weights == "balanced" and self.n_labels > 1:
            self.per_example = 2
        self._edges, self._present = None, None
        if any(s.dtype != np.uint8 for s in self._summaries):
            self._edges = self.edges(n_features, MAX_BINS)
        blocks = sorted(block for s in self._summaries for block in s.blocks)
        numbers, sizes = zip(*blocks, strict=True)
        self.row_starts = np.append(0, np.cumsum(sizes))
        plan = Plan(self._edges, families, n_classes, initial_weights, self.unit, list(numbers))
        self._present = self.largest("begin", plan)
        if self._edges is not None:
            self.n_codes = np.array([len(edges) + 1 for edges in self._edges])
        else:
            self.n_codes = self._present.shape[1] - np.argmax(self._present[:, ::-1], axis=1)

    def _weight_unit(self) -> WeightUnit:
        """As :func:`algorithms.stumps.pair_weights.weight_unit` on one machine."""
        given, n = self.weights, self.n_samples
        if self._summaries[0].weight_sums is None:
            return WeightUnit(False, 1.0, n, n)
        largest = max(s.largest_weight for s in self._summaries)
        if are_copies(given.whole, given.sum, self.n_labels):
            return WeightUnit(True, largest, int(given.sum), int(given.sum))
        parts = self.ask("relative_sums", largest)
        return WeightUnit(False, largest, math.fsum(s for part in parts for s in part), n)

    def threshold(self, feature: int, cut: int) -> float:
        """Halfway between the values that the cut separates."""
        if self._edges is not None:
            return float(self._edges[feature][cut])
        above = np.flatnonzero(self._present[feature, cut + 1 :])
        code = cut + 1 + int(above[0]) if len(above) else self._present.shape[1] - 1
        return 0.5 * (cut + float(code))


class WeightsOfAll:
    """Sums of the boosting weights of all workers' pairs."""

    def __init__(self, pairs: PairsOfAll) -> None:
        self._pairs, self.n_labels = pairs, pairs.n_labels
        self.n_examples = pairs.unit.total
        self._exponent = unit_exponent(pairs.unit.n_copies * pairs.n_labels)
        self._shift, self._is_told = float(pairs.largest("restart")), False

    def add(self, method: str, *args: object) -> None:
        """Have a stump ("add") or the grown tree ("add_tree") added to the scores."""
        self._shift, self._is_told = float(self._pairs.largest(method, *args)), False

    def histograms(self, features: np.ndarray, n_codes: np.ndarray) -> np.ndarray:
        """Histograms of features, of all workers together; see :mod:`.stump_workers`."""
        shift = None if self._is_told else self._shift
        told = self._pairs.summed("histograms", shift, features, n_codes)
        n_labels, n_blocks = self.n_labels, len(self._pairs.row_starts) - 1
        self._totals = told[:n_labels]
        self._starts = np.append(0, np.cumsum(told[n_labels : n_labels + n_blocks]))
        self._is_told = True
        return told[n_labels + n_blocks :]

    def _told(self) -> None:
        if not self._is_told:
            nothing = np.zeros(0, dtype=np.int64)
            self.histograms(nothing, nothing)

    @property
    def totals(self) -> np.ndarray:
        """Edge of each label for the constant vote, (n_labels,) int64."""
        self._told()
        return self._totals

    @property
    def block_starts(self) -> np.ndarray:
        """Weight before each block of rows, (n_blocks + 1,) int64."""
        self._told()
        return self._starts

    @property
    def total(self) -> int:
        """Weight of all pairs."""
        return int(self.block_starts[-1])

    @property
    def log_loss(self) -> float:
        """Logarithm of the mean of exp(-y f) over all pairs, weighted as they are initially."""
        whole = self.n_examples * self._pairs.per_example
        return log_of_mean(self.total, whole, self._exponent, self._shift)

    @property
    def signed(self) -> NoReturn:
        """Weights of rows: refused."""
        _refused("the weights of rows")

    targets = of_row = signed


class LeavesOfAll:
    """All workers' rows in the leaves of a tree; see :class:`algorithms.stumps.search.Leaves`."""

    def __init__(self, problem: ProblemOfAll) -> None:
        self.search, self._divide = problem.search_in, problem.divide

    def divide(self, node: int, feature: int, cut: int, first: int) -> tuple:
        """Send the rows of a leaf into two; sums without padding."""
        told = self._divide(node, feature, cut, first)
        return np.ascontiguousarray(told[:, :-1]), told[:, -1]


class SampleOfAll:
    """Some of all workers' examples; see :class:`algorithms.stumps.pair_weights.Sample`."""

    def __init__(self, problem: ProblemOfAll, draws: Draws) -> None:
        self._problem, self.draws = problem, draws
        self._weight: int | None = None

    def __iter__(self) -> NoReturn:
        """Rows and weights: refused."""
        _refused("the rows of a sample")

    @property
    def weight(self) -> int:
        """Weight of all pairs of the sample, in grid steps; told with its histograms."""
        if self._weight is None:
            self._problem.edges_on(self, np.zeros(0, dtype=np.int64))
        return self._weight

    @weight.setter
    def weight(self, told: int) -> None:
        self._weight = told


class ProblemOfAll(Problem):
    """What a sampler may look at, where workers hold the rows."""

    def __init__(
        self,
        pairs: PairsOfAll,
        *,
        families: Sequence[ArrayLike] | None,
        max_cost: float | None,
        n_rounds: int,
        rng: np.random.Generator,
        n_threads: int | None,
    ) -> None:
        self.families, self.max_cost, self.n_rounds = families, max_cost, n_rounds
        self.rng, self.n_threads = rng, n_threads
        self._pairs, self.weights = pairs, WeightsOfAll(pairs)
        self._set_up(len(pairs.n_codes), pairs.n_samples)
        self._of_labels = np.empty((self.n_features, pairs.n_labels), dtype=np.int64)

    @property
    def columns(self) -> NoReturn:
        """Values of rows: refused."""
        _refused("the columns")

    defaults = columns

    def _blocks(self, features: np.ndarray) -> list[np.ndarray]:
        """Places of the features whose histograms are told together."""
        entries = np.cumsum(self._pairs.n_codes[features]) * self._pairs.n_labels
        ends = np.flatnonzero(np.diff(entries // _ENTRIES_AT_ONCE)) + 1
        return np.split(np.arange(len(features)), ends)

    def _best_cuts(self, features: np.ndarray, ask: Callable) -> tuple[Search, np.ndarray]:
        """Best cut of each feature, and its edge of each label.

        ``ask(features, n_codes) -> (histograms, sums of the labels)`` is asked for some at a time.
        """
        edges, cuts = np.empty((2, len(features)), np.int64)
        of_labels = np.empty((len(features), self._pairs.n_labels), np.int64)
        for places in self._blocks(features):
            n_codes = self._pairs.n_codes[features[places]]
            told, total = ask(features[places], n_codes)
            edges[places], cuts[places], of_labels[places] = best_cuts(told, n_codes, total)
        return Search(edges, cuts), of_labels

    def _searched_now(self, features: np.ndarray) -> Search:
        def ask(some, n_codes):  # the totals come with the histograms
            return self.weights.histograms(some, n_codes), self.weights.totals

        found, self._of_labels[features] = self._best_cuts(features, ask)
        return found

    def edges(
        self, features: np.ndarray, rows: Any | None = None, signed: np.ndarray | None = None
    ) -> np.ndarray:
        """See :meth:`algorithms.stumps.sampling.Problem.edges`; weights cannot be given."""
        if rows is None:
            return super().edges(features, None, signed)
        if signed is not None:
            _refused("the weights of rows")
        drawn = Draws(np.sort(rows).astype(np.int64), self._pairs.row_starts, False)
        return self.edges_on(SampleOfAll(self, drawn), features)

    def sample(self, size: int, by_weight: bool) -> SampleOfAll:
        """See :meth:`algorithms.stumps.sampling.Problem.sample`."""
        most = self.weights.total if by_weight else self.n_samples
        draws = self.rng.integers(most, size=size)
        draws.sort()
        starts = self.weights.block_starts if by_weight else self._pairs.row_starts
        return SampleOfAll(self, Draws(draws, starts, by_weight))

    def edges_on(self, sample: SampleOfAll | None, features: np.ndarray) -> np.ndarray:
        """See :meth:`algorithms.stumps.sampling.Problem.edges_on`."""
        if sample is None:
            return self.edges(features)
        self.weights.block_starts  # noqa: B018 (the workers have weighed their pairs)
        n_labels, size = self._pairs.n_labels, len(sample.draws.places)
        head = n_labels + 1 + len(self.families)

        def ask(some, n_codes):
            told = self._pairs.summed("histograms_on", sample.draws, some, n_codes)
            sample.weight = int(told[n_labels])
            self.meter.count_told(some, size, told[n_labels + 1 : head])
            return told[head:], told[:n_labels]

        return self._best_cuts(features, ask)[0].edges

    def label_edges(self, feature: int, cut: int) -> np.ndarray:
        """See :meth:`algorithms.stumps.sampling.Problem.label_edges`."""
        return self._of_labels[feature]

    def add(self, feature: int, cut: int, steps: np.ndarray) -> None:
        """See :meth:`algorithms.stumps.sampling.Problem.add`."""
        self.weights.add("add", feature, cut, steps)

    def leaves(self) -> LeavesOfAll:
        """See :meth:`algorithms.stumps.sampling.Problem.leaves`."""
        return LeavesOfAll(self)

    def search_in(self, node: int, features: np.ndarray, total: np.ndarray) -> Search:
        """Best cut of each feature on the rows of a tree's leaf; see :class:`LeavesOfAll`."""

        def ask(some, n_codes):
            return self._pairs.summed("histograms_in", node, some, n_codes), total

        return self._best_cuts(features, ask)[0]

    def divide(self, *args: object) -> np.ndarray:
        """Have a leaf divided; see :meth:`.stump_workers.PairRows.divide`."""
        return self._pairs.summed("divide", *args)

    def add_tree(self, leaves: LeavesOfAll, steps: np.ndarray) -> None:
        """See :meth:`algorithms.stumps.sampling.Problem.add_tree`."""
        self.weights.add("add_tree", steps)
