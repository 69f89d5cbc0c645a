"""The rows that one worker holds of a fit of trees, and what it is asked of them.

Kernels say what becomes of the leaves of its rows while a tree grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..boosting import Options
from ..kernels.arrays import read_only
from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from ..losses import SQUARED, Loss, allocate_gh, class_numbers
from ..trees import grower, histogram
from ..trees.binning import bin_matrix
from ..trees.forest import add_to_scores, sum_hessians
from ..trees.grower import collect_sums, pay_for, plant, split_leaf
from ..trees.penalty import Charging, begin_tree
from ..trees.splitter import Limits, Scale, unbundle
from .row_partitions import Accepted, Held, in_turn

if TYPE_CHECKING:
    from ..trees.binning import Layout
    from ..trees.grower import Memory, Training
    from ..trees.histogram import Histograms
    from ..trees.splitter import Scratch


@kernel
def open_root(training: Training, memory: Memory, penalty: Any) -> None:
    """Begin a tree: all rows are in node 0, whose sums are made."""
    plant(memory.nodes, memory.workspace)
    begin_tree(penalty)
    collect_sums(training, memory, np.int64(0), np.int64(0))


@kernel
def divide_leaf(
    training: Training,
    memory: Memory,
    penalty: NamedTuple,
    node: int,
    feature: int,
    found: int,
    small: int,
    large: int,
) -> None:
    """Split the rows of a leaf, and make the sums of the two new ones."""
    nodes = memory.nodes
    nodes.candidate[node] = feature
    nodes.cut[node, feature] = found
    split_leaf(training, memory, node, min(small, large))
    collect_sums(training, memory, small, np.int64(0))
    for k in range(3):
        nodes.sums[large, k] = nodes.sums[node, k] - nodes.sums[small, k]
    pay_for(training, memory, penalty, node, small, large)


@kernel
def _build_tile(tile, layout, rows, start, stop, gh, hists):
    histogram.build(layout, tile, rows, start, stop, gh, hists, 0, 0)


@kernel
def build_histogram(
    layout: Layout, rows: Any, start: int, stop: int, gh: np.ndarray, hists: Histograms
) -> None:
    """Histogram of rows[start:stop], whose words are made, in slot 0."""
    captured = layout, rows, start, stop, gh, hists
    for_each(_build_tile, layout.tile_start.shape[0], True, captured)


@kernel
def tell_histogram(
    layout: Layout,
    hists: Histograms,
    sums: NDArray[np.int64],
    scratch: Scratch,
    with_hessians: bool,
    out: NDArray[np.int64],
) -> None:
    """Write the histogram in slot 0 feature by feature, none of them bundled."""
    n_entries = np.sum(layout.feature_n_bins)
    counts_at = 2 * n_entries if with_hessians else n_entries
    total, bins, to = (sums[0], sums[1], sums[2]), scratch.bins, 0
    slot = np.int64(0)
    for feature in range(layout.feature_n_bins.shape[0]):
        n_bins, default = layout.feature_n_bins[feature], layout.feature_default[feature]
        entry = layout.column_code[layout.feature_column[feature]] + layout.feature_code[feature]
        if default >= 0:
            unbundle(hists, slot, entry, n_bins, default, total, scratch, slot)
        for b in range(n_bins):
            if default >= 0:
                g, h, n = bins[0, 0, b], bins[0, 1, b], bins[0, 2, b]
            else:
                at = entry + b
                g, h, n = hists.gradient[0, at], hists.hessian[0, at], hists.count[0, at]
            out[to + b] = g
            out[counts_at + to + b] = n
            if with_hessians:
                out[n_entries + to + b] = h
        to += n_bins


class Plan(NamedTuple):
    """What all workers are told when the trees begin."""

    edges: list[np.ndarray]
    options: Options
    limits: Limits  # of a tree of all rows
    charging: Charging
    initial: np.ndarray  # (n_trees_per_round,)
    with_hessians: bool  # whether histograms tell hessians, or counts stand for them


class Rows(Held):
    """Rows of one worker that trees are grown on."""

    accepted = Accepted((np.float64, np.float32), missing=True)

    @in_turn
    def weigh(
        self, n_samples: int, total: float, whole: bool, loss: Loss, classes: np.ndarray | None
    ) -> np.ndarray:
        """Put weights on the grid of all rows and number the classes."""
        self._put_on_grid(n_samples, total, whole)
        if classes is not None:
            self._y = np.searchsorted(classes, self._y).astype(class_numbers(len(classes)))
        self._y, self._loss = read_only(self._y), loss
        return np.array([self._weights.total, loss.largest_target(self._y)])

    @in_turn
    def target_sums(self, k: int) -> np.ndarray:
        """Sum up what the initial score is made of."""
        return self._loss.target_sums(self._y, self._weights, k)

    @in_turn
    def begin(self, plan: Plan) -> None:
        """Bin the rows and let go of their values; set all scores to the initial ones."""
        self._options, self._limits = plan.options, plan.limits
        self._with_hessians = plan.with_hessians
        self._distinct = {}
        self._binned = bin_matrix(self._X, None, plan.options.max_bins, self._n_threads, plan.edges)
        del self._X, self._given
        weights, n_samples = self._weights, self._binned.n_samples
        self._second_order = plan.options.second_order and not plan.options.newton_leaves
        equal_hessians = self._loss.kind == SQUARED or not self._second_order
        self._gh = allocate_gh(weights, n_samples, equal_hessians)
        n_words = histogram.words_of(self._gh, equal_hessians)
        self._memory = grower.allocate(self._binned, plan.limits.max_leaves, n_words)
        self._count_step = 2.0**-weights.exponent
        n_nodes = len(self._memory.nodes.feature)
        self._penalty = plan.charging.begin(n_samples, weights.total, self._count_step, n_nodes)
        self._accounts = plan.charging.row_accounts(self._penalty)
        self._scores = np.empty((n_samples, len(plan.initial)), order="F")
        self._scores[:] = plan.initial
        self._scratch = self._loss.scratch(self._scores, self._memory.hists.words)
        self._tree = -1

    # --- round by round -------------------------------------------------------------------------

    def _add(self, values: np.ndarray | None) -> None:
        """Add the last tree to the scores."""
        if values is not None:
            column, rate = self._scores[:, self._tree], self._options.learning_rate
            rows = self._memory.workspace.rows
            add_to_scores(self._memory.nodes, len(values), rows, values, rate, column)

    def _prepare(self) -> None:
        self._prepared = self._loss.prepare(self._scores, self._scratch, self._n_threads)

    @in_turn
    def begin_round(self, values: np.ndarray | None) -> np.ndarray:
        """Prepare the derivatives of a round."""
        self._add(values)
        self._prepare()
        largest = np.zeros((self._scores.shape[1], 3))
        for tree in range(len(largest)):
            row = self._prepared, self._y, tree
            largest[tree, :2] = self._loss.largest_derivatives(*row, self._second_order)
            if self._options.newton_leaves:
                largest[tree, 2] = self._loss.largest_derivatives(*row, True)[1]
        return largest

    @in_turn
    def begin_tree(
        self, tree: int, exponents: tuple[int, int], values: np.ndarray | None
    ) -> np.ndarray:
        """Begin a tree of the round; see :meth:`_tell` for what is told of its root."""
        self._add(values)
        self._tree = tree
        d = self._loss.derivatives_on_grid(
            self._prepared, self._y, tree, self._weights, self._second_order, exponents, self._gh
        )
        scale = Scale(d.gradient_step, d.hessian_step, self._count_step)
        self._training = grower.Training(self._binned.layout, d.halves, scale, self._limits)
        open_root(self._training, self._memory, self._penalty)
        return self._tell([0], 0)

    @in_turn
    def divide(
        self, node: int, feature: int, found: int, leaves: tuple[int, int], n_told: int
    ) -> np.ndarray:
        """Split a leaf; see :meth:`_tell` for what is told."""
        training, memory = self._training, self._memory
        divide_leaf(training, memory, self._penalty, node, feature, found, *leaves)
        return self._tell(leaves[:n_told], leaves[0])

    def _tell(self, wanted, node: int) -> np.ndarray:
        """Sums and accounts of a node, and histograms, all in one array of int64.

        All that it holds are sums over rows: those of all workers' rows are the sum of the arrays.
        """
        memory, layout = self._memory, self._binned.layout
        nodes, hists, rows = memory.nodes, memory.hists, memory.workspace.rows
        n_accounts = self._accounts.shape[1]
        size = (3 if self._with_hessians else 2) * int(layout.feature_n_bins.sum())
        out = np.empty(3 + n_accounts + size * len(wanted), dtype=np.int64)
        out[:3] = nodes.sums[node]
        if n_accounts:
            out[3 : 3 + n_accounts] = self._accounts[node]
        for i, leaf in enumerate(wanted):
            if i > 0:  # the words of the first are made already
                grower.collect_sums(self._training, memory, leaf, 0)
            start, stop = nodes.start[leaf], nodes.stop[leaf]
            build_histogram(layout, rows, start, stop, self._training.gh, hists)
            at = 3 + n_accounts + i * size
            tell_histogram(
                layout, hists, nodes.sums[leaf], memory.scratch, self._with_hessians,
                out[at : at + size],
            )  # fmt: skip
        return out

    @in_turn
    def leaf_hessians(self, n_nodes: int, exponents: tuple[int, int]) -> np.ndarray:
        """Sum up the true hessians of the grown tree's leaves; see :func:`sum_hessians`."""
        if self._loss.prepared_is_lost:
            self._prepare()  # the scores are as they were
        row = self._prepared, self._y, self._tree
        d = self._loss.derivatives_on_grid(
            *row, self._weights, True, exponents, self._gh, hessians=True
        )
        sums = np.empty(n_nodes, dtype=np.int64)
        sum_hessians(self._memory.nodes, n_nodes, self._memory.workspace.rows, d.halves, sums)
        return sums
