"""The rows that one worker holds of a fit of trees, and what it is asked of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..boosting import Options
from ..kernels.arrays import read_only
from ..losses import SQUARED, Loss, allocate_gh, class_numbers
from ..trees import grower, histogram
from ..trees.binning import bin_matrix
from ..trees.forest import add_to_scores, sum_hessians
from ..trees.penalty import Charging
from ..trees.splitter import Limits, Scale
from .held import Accepted, Held, in_turn
from .leaves import build_histogram, divide_leaf, open_root, tell_histogram


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
