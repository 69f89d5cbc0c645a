"""Boosting on rows that workers hold, from frames of Dask and targets to the fitted trees.

A tree grows on histograms that workers have added up, and its splits are decided here, by the
functions that decide them on one machine, on the same integers. Here are no rows, only sums.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..boosting import Boosted, Callback, Options, Validation, bounded, check_leaves, run_rounds
from ..estimators.fitting import check_total_weight, of_dask
from ..grid import RowWeights, row_weights, value_exponent, weights_on_grid
from ..kernels.decorators import kernel
from ..losses import SQUARED, Loss
from ..trees import grower, splitter
from ..trees.binning import without_rows
from ..trees.forest import ForestBuilder
from ..trees.histogram import subtract
from ..trees.penalty import Charging, begin_tree
from . import row_partitions
from .row_partitions import Summary
from .tree_workers import Plan
from .workers import Workers, connected_client, naming_a_lost_scheduler

# --- frames of Dask as arrays ------------------------------------------------------------------


def dask_column_names(X: object) -> np.ndarray | None:
    """Names of a Dask frame's columns, by scikit-learn's rule for tables."""
    columns = list(getattr(X, "columns", ())) if of_dask(X) else []
    strings = sum(isinstance(column, str) for column in columns)
    if 0 < strings < len(columns):
        raise TypeError(
            "Columns must be named by strings, all or none: give X.rename(columns=str)."
        )
    return np.array(columns, dtype=object) if strings else None


def as_dask_arrays(*given: Any) -> tuple[Any, ...]:
    """Give Dask frames and series as Dask arrays whose blocks' lengths are known."""
    if not any(map(_is_frame, given)):
        return given
    with naming_a_lost_scheduler(connected_client()):
        return tuple(_as_array(values) if _is_frame(values) else values for values in given)


def _is_frame(values: object) -> bool:
    """Whether values are a frame or a series of Dask's."""
    return of_dask(values) and hasattr(values, "to_dask_array")


def _as_array(frame):
    if hasattr(frame, "map_partitions") and getattr(frame, "ndim", 1) == 2:
        frame = frame.map_partitions(_in_order, list(frame.columns), meta=frame._meta)
    return frame.to_dask_array(lengths=True)


def _in_order(part, columns: list):
    """Put the columns of a part of a frame into the frame's order."""
    own = list(part.columns)
    if own == columns:
        return part
    if len(set(own)) != len(own) or set(own) != set(columns):
        raise ValueError(
            f"A part of the Dask frame has the columns {own}, and the frame says {columns}: give "
            "all parts the same columns."
        )
    return part[columns]


# --- growing a tree on sums --------------------------------------------------------------------


@kernel
def _open_root(training, memory, penalty):
    grower.plant(memory.nodes, memory.workspace)
    begin_tree(penalty)


@kernel
def _read_histogram(hists, slot, told, hessian):
    """Put a histogram that was told into a slot; without hessians each is `hessian` times a count.

    See :func:`.tree_workers.tell_histogram`.
    """
    n_entries = hists.count.shape[1]
    counts_at = n_entries if hessian > 0 else 2 * n_entries
    for e in range(n_entries):
        n = told[counts_at + e]
        hists.gradient[slot, e] = told[e]
        hists.hessian[slot, e] = hessian * n if hessian > 0 else told[n_entries + e]
        hists.count[slot, e] = n


@kernel
def _scan(training, memory, node, slot):
    """Best threshold of every feature in a node."""
    for tile in range(training.layout.tile_start.shape[0]):
        grower.scan_tile(training, memory, node, slot, tile)


@kernel
def _take_root(training, memory, penalty, sums, told, hessian):
    """Put down what is told of the root, and rank its splits."""
    nodes, root = memory.nodes, np.int64(0)
    for k in range(3):
        nodes.sums[root, k] = sums[k]
    _read_histogram(memory.hists, nodes.slot[root], told, hessian)
    _scan(training, memory, root, nodes.slot[root])
    grower.rank(training, nodes, penalty, root)


@kernel
def _sum_left(layout, hists, slot, feature, cut, missing_left, sums):
    """Sums of the rows that a split sends left, from the histogram of its node."""
    entry, n_bins = layout.column_code[feature], layout.feature_n_bins[feature]
    sums[:] = 0
    for b in range(n_bins):
        if b <= cut or (missing_left and b == n_bins - 1):
            sums[0] += hists.gradient[slot, entry + b]
            sums[1] += hists.hessian[slot, entry + b]
            sums[2] += hists.count[slot, entry + b]


@kernel
def _split(training, memory, node, n_nodes, full):
    """Turn a leaf into a split node; say which new leaf is the smaller, and what is to be told."""
    layout, nodes = training.layout, memory.nodes
    slot, feature = nodes.slot[node], nodes.candidate[node]
    grower.split_leaf(training, memory, node, n_nodes)
    left, right = n_nodes, n_nodes + 1
    deep = training.limits.max_depth >= 0 and nodes.depth[left] >= training.limits.max_depth
    if slot < 0:
        return left, right, 0 if full or deep else 2
    cut, missing_left = nodes.threshold[node], nodes.missing_left[node]
    _sum_left(layout, memory.hists, slot, feature, cut, missing_left, nodes.sums[left])
    grower.share_out(nodes, node, left, right)
    if nodes.sums[left, 2] <= nodes.sums[right, 2]:
        small, large = left, right
    else:
        small, large = right, left
    nodes.slot[small], nodes.slot[large] = np.int64(-1), slot
    wanted = grower.may_split(training, nodes, left) or grower.may_split(training, nodes, right)
    if full or not wanted:
        grower.return_slot(memory.workspace, nodes, large)
        return small, large, 0
    return small, large, 1


@kernel
def _take_leaves(training, memory, node, leaves, n_told, sums, told, hessian):
    """Put down what is told of two new leaves; return whether it fits what is known of them."""
    nodes, hists, layout = memory.nodes, memory.hists, training.layout
    small, large = leaves
    for k in range(3):
        if n_told == 1 and nodes.sums[small, k] != sums[k]:
            return False
    for k in range(3):
        nodes.sums[small, k] = sums[k]
    grower.share_out(nodes, node, small, large)
    if n_told == 0:
        return True
    n_slots, size = memory.workspace.free_slots.shape[0] - 1, told.shape[0] // n_told
    nodes.slot[small] = grower.take_slot(memory.workspace)
    small_slot = nodes.slot[small] if nodes.slot[small] >= 0 else n_slots - 2
    large_slot = nodes.slot[large] if nodes.slot[large] >= 0 else n_slots - 1
    _read_histogram(hists, small_slot, told[:size], hessian)
    if n_told == 2:
        _read_histogram(hists, large_slot, told[size:], hessian)
    else:
        for tile in range(layout.tile_start.shape[0]):
            subtract(layout, tile, hists, large_slot, small_slot)
    if grower.may_split(training, nodes, small):
        _scan(training, memory, small, small_slot)
    if grower.may_split(training, nodes, large):
        _scan(training, memory, large, large_slot)
    return True


class DistributedRounds:
    """State of a fit whose rows are on workers; see :class:`algorithms.boosting.Rounds`."""

    def __init__(
        self,
        workers: Workers,
        edges: list[np.ndarray],
        n_samples: int,
        weights: RowWeights,
        loss: Loss,
        options: Options,
        charging: Charging,
        initial: np.ndarray,
        largest_target: float,
    ) -> None:
        self._workers, self._weights, self._loss, self._options = workers, weights, loss, options
        self._limits = bounded(options.limits, n_samples, weights)
        second_order = options.second_order and not options.newton_leaves
        # Hessians of 1 with whole weights: their sums are multiples of the counts.
        self._equal = weights.whole and (loss.kind == SQUARED or not second_order)
        binned = without_rows(edges)
        self._layout, self._memory = (
            binned.layout,
            grower.allocate(binned, self._limits.max_leaves, 1),
        )
        self.builder = ForestBuilder(edges)
        self._count_step = 2.0**-weights.exponent
        self._largest_target, self._rounding = largest_target, None
        n_nodes = len(self._memory.nodes.feature)
        self.penalty = charging.begin(0, weights.total, self._count_step, n_nodes)
        self._accounts = charging.row_accounts(self.penalty)
        self._values: np.ndarray | None = None  # of the last tree, which the workers do not know
        plan = Plan(edges, options, self._limits, charging, initial, not self._equal)
        workers.ask("begin", plan)

    def begin_round(self) -> None:
        """Have the derivatives prepared; their largest values say on which grids they go."""
        largest = self._workers.largest("begin_round", self._values)
        self._values = None
        self._exponents = [
            tuple(value_exponent(float(m), self._weights) for m in of_tree) for of_tree in largest
        ]

    def grow(self, tree: int) -> bool:
        """Grow a tree of the round; the workers bring their scores up to date with the next."""
        k_g, k_h, k_newton = self._exponents[tree]
        if self._rounding is None:  # the first round
            self._rounding = self._loss.rounding(2.0**-k_g, self._largest_target)
        steps = 2.0**-k_g, 2.0**-k_h, self._count_step
        scale = splitter.Scale(*steps, self._rounding, self._options.reg_lambda)
        nothing = np.empty((0, 2), dtype=np.int32)
        training = grower.Training(self._layout, nothing, scale, self._limits)
        n_nodes = self._grow(training, tree, (k_g, k_h))
        newton = None
        if self._options.newton_leaves and self._loss.kind != SQUARED:
            sums = self._workers.summed("leaf_hessians", n_nodes, (k_g, k_newton))
            newton = sums, 2.0**-k_newton
        nodes, least = self._memory.nodes, self._limits.min_hessian_leaf
        values = self.builder.add(nodes, n_nodes, scale, least, newton)
        check_leaves(values)
        self._values = values.copy()  # the builder's memory moves
        return n_nodes > 1

    def _grow(self, training: grower.Training, tree: int, exponents: tuple[int, int]) -> int:
        """Grow a tree leaf by leaf, as :func:`algorithms.trees.grower.grow` does."""
        memory, penalty, nodes = self._memory, self.penalty, self._memory.nodes
        hessian = max(1, round(2.0 ** exponents[1])) if self._equal else 0
        _open_root(training, memory, penalty)
        sums, _, told = self._parted(
            self._workers.summed("begin_tree", tree, exponents, self._values)
        )
        _take_root(training, memory, penalty, sums, told, hessian)
        n_nodes, n_leaves, node = 1, 1, -1
        while n_leaves < self._limits.max_leaves:
            node = grower.next_leaf(training, nodes, penalty, n_nodes, node)
            if node < 0:
                break
            feature = int(nodes.candidate[node])
            found, full = int(nodes.cut[node, feature]), n_leaves + 1 == self._limits.max_leaves
            small, large, n_told = _split(training, memory, node, n_nodes, full)
            n_nodes, n_leaves = n_nodes + 2, n_leaves + 1
            sums, accounts, told = self._parted(
                self._workers.summed("divide", node, feature, found, (small, large), n_told)
            )
            leaves = small, large
            if not _take_leaves(training, memory, node, leaves, n_told, sums, told, hessian):
                raise RuntimeError("The workers' rows are not those that were counted before.")
            changed = grower.pay_for(training, memory, penalty, node, small, large)
            if self._accounts.shape[1]:
                self._accounts[small] = accounts
                self._accounts[large] = self._accounts[node] - accounts
            grower.rank_leaves(training, memory, penalty, n_nodes, changed)
        return n_nodes

    def _parted(self, told: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums, accounts and histograms; see :meth:`.tree_workers.Rows._tell`."""
        histograms = 3 + self._accounts.shape[1]
        return told[:3], told[3:histograms], told[histograms:]


# --- boosting ----------------------------------------------------------------------------------

_VALUES_AT_ONCE = 2**24  # whose features' distinct values workers keep at a time


class RowsOfAll:
    """All workers' rows, as far as a process knows them that has none."""

    def __init__(self, workers: Workers, summaries: list[Summary]) -> None:
        self._workers = workers
        self.n_samples = sum(s.n_samples for s in summaries)
        self._largest_part = max(s.n_samples for s in summaries)
        self.targets = np.unique(np.concatenate([s.targets for s in summaries]))
        if summaries[0].weight_sums is None:
            self.weights = row_weights(None, self.n_samples)
        else:
            total = math.fsum(part for s in summaries for part in s.weight_sums)
            check_total_weight(total > 0, total / 2.0**52)
            whole = all(s.whole for s in summaries)
            self.weights = weights_on_grid(np.empty(0), total, whole)

    def boost(
        self,
        n_features: int,
        loss: Loss,
        classes: np.ndarray | None,
        options: Options,
        charging: Charging,
        validation: Validation | None,
        callbacks: tuple[Callback, ...] = (),
    ) -> Boosted:
        """Fit an additive tree model; see :func:`algorithms.boosting.boost`."""
        ask = self._workers
        given = self.weights
        told = np.array(ask.ask("weigh", self.n_samples, given.sum, given.whole, loss, classes))
        self.weights = given._replace(total=int(told[:, 0].sum()))
        initial, largest_target = np.zeros(loss.n_trees), float(told[:, 1].max())
        if options.start_at_mean:
            k = value_exponent(largest_target, self.weights)
            initial = loss.score_of_sums(ask.summed("target_sums", k), k, self.weights)
        found = self.edges(n_features, options.max_bins)
        state = DistributedRounds(
            ask, found, self.n_samples, self.weights, loss, options, charging, initial,
            largest_target,
        )  # fmt: skip
        return run_rounds(state, initial, options, charging, validation, callbacks)

    def edges(self, n_features: int, max_bins: int) -> list[np.ndarray]:
        """Bin edges of all features, some features at a time."""
        at_once = max(1, _VALUES_AT_ONCE // self._largest_part)
        found = []
        for first in range(0, n_features, at_once):
            features = list(range(first, min(n_features, first + at_once)))
            found += self._edges_of(features, max_bins)
        return found

    def _edges_of(self, features: list[int], max_bins: int) -> list[np.ndarray]:
        most = row_partitions.MOST_VALUES
        told = self._by_feature(features, "distinct", features, most)
        bounds = {f: row_partitions.intervals(parts, max_bins) for f, parts in told.items()}
        where = {f: bound for f, bound in bounds.items() if bound is not None}
        if where:
            told |= self._by_feature(where, "within", where, most)
        return [row_partitions.edges_of(parts, max_bins) for parts in told.values()]

    def _by_feature(self, features, method: str, *args) -> dict[int, tuple]:
        """All parts' answers for each feature."""
        answers = zip(*self._workers.ask(method, *args), strict=True)
        return dict(zip(features, answers, strict=True))
