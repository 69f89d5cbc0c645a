"""Rows on their way through a fitted decision DAG: what is skipped is neither computed nor paid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..costs import GridPrices
from ..kernels.decorators import kernel
from ..trees.predictor import charge_tree, next_node
from .base_classifiers import BaseClassifiers
from .rewards import EVAL, QUIT, Cells, cell_of

_ROWS = 4096  # that walk, and are kept in mind, together
_NO_PATH = np.zeros((0, 0), dtype=np.bool_)


class Graph(NamedTuple):
    """The decision DAG of some rows, section 3.1."""

    # (n_nodes,) int64: base classifiers that any row evaluates, from 0, ascending
    nodes: np.ndarray
    node_counts: np.ndarray  # (n_nodes,) int64: rows that evaluate them
    # (n_edges, 2) int64: pairs of base classifiers that any row evaluates one after the other
    edges: np.ndarray
    edge_counts: np.ndarray  # (n_edges,) int64: rows that do: the edge's multiplicity
    groups: np.ndarray  # (n_groups,): labels of the groups of rows
    # node_shares, edge_shares: (n_nodes or n_edges, n_groups) float64: which part of these rows is
    # of each group
    node_shares: np.ndarray
    edge_shares: np.ndarray


class DecisionDAG(NamedTuple):
    """Base classifiers and the policy that chooses among them."""

    base: BaseClassifiers
    cells: Cells
    policy: np.ndarray  # (n_base, n_cells) int8

    def columns(
        self, X: np.ndarray, as_seen: Callable[[np.ndarray], np.ndarray] | None
    ) -> np.ndarray:
        """The columns that are tested, as the trees compare them: (n_samples, n_used) float64."""
        used = np.ascontiguousarray(X[:, self.base.used], dtype=np.float64)
        return used if as_seen is None else as_seen(used)

    def _batches(self, X: np.ndarray, n_threads: int, keep_paths: bool) -> Iterator[tuple]:
        """Yield (first row, scores, evaluations, paths) of each batch, in order."""

        def walk(first):
            rows = X[first : first + _ROWS]
            g = np.tile(self.cells.initial, (len(rows), 1))
            evaluations = np.zeros(len(rows), dtype=np.int64)
            path = np.zeros((len(rows), self.base.n_base), np.bool_) if keep_paths else _NO_PATH
            forest, answers, n_parts = self.base.forest, self.base.answers, self.base.n_parts
            _walk(forest, answers, n_parts, self.cells, self.policy, rows, g, evaluations, path)
            return first, g, evaluations, path

        cuts = range(0, len(X), _ROWS)
        if n_threads == 1 or len(cuts) < 2:
            yield from map(walk, cuts)
            return
        with ThreadPoolExecutor(min(n_threads, len(cuts))) as pool:
            yield from pool.map(walk, cuts)

    def scores(self, X: np.ndarray, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores in steps (n_samples, n_columns) int64 at quitting, and evaluations (n_samples,).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_used), float64
            From :meth:`columns`.
        n_threads : int
        """
        g = np.empty((len(X), len(self.cells.initial)), dtype=np.int64)
        evaluations = np.empty(len(X), dtype=np.int64)
        for first, scores, counts, _ in self._batches(X, n_threads, keep_paths=False):
            g[first : first + _ROWS], evaluations[first : first + _ROWS] = scores, counts
        return g, evaluations

    def paths(self, X: np.ndarray, n_threads: int) -> sparse.csr_matrix:
        """Which base classifiers each row evaluates: (n_samples, n_base) bool."""
        parts = [
            sparse.csr_matrix(path) for *_, path in self._batches(X, n_threads, keep_paths=True)
        ]
        return sparse.vstack(parts, format="csr")

    def charge(
        self, X: np.ndarray, prices: GridPrices, n_threads: int, *, staged: bool = False
    ) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]]:
        """Charge each row for its own paths in the base classifiers that it evaluates."""
        at = self.base.used
        narrow = prices._replace(
            unit=prices.unit[at], own_price=prices.own_price[at], split_price=prices.split_price[at]
        )
        n_marks = len(prices.unit_price) + len(at)
        used = np.zeros((len(X), -(-n_marks // 64)), dtype=np.uint64)
        paid, evaluations = np.zeros((2, len(X)), dtype=np.int64)
        paths, forest, n_parts = self.paths(X, n_threads), self.base.forest, self.base.n_parts
        counts = self.base.evaluates.astype(np.int64)
        step = 1 if staged else max(1, self.base.n_base)
        for first in range(0, self.base.n_base, step):
            now = paths[:, first : first + step]
            evaluations += now @ counts[first : first + step]
            _charge(forest, n_parts, narrow, X, now.indptr, now.indices, first, used, paid)
            if staged:
                yield used, paid, evaluations
        if not staged:
            yield used, paid, evaluations


class Steps(NamedTuple):
    """A DAG as :func:`algorithms.on_demand.predictor.advance` follows it."""

    answers: np.ndarray  # (n_nodes, n_columns) int64: what each leaf adds to the scores, in steps
    n_parts: int  # Trees of a base classifier
    cells: Cells
    policy: np.ndarray  # (n_base, n_cells) int8
    evaluates: np.ndarray  # (n_base,) bool


@kernel
def next_base(
    cells: Cells, policy: NDArray[np.int8], j: int, g: NDArray[np.int64], ran: int
) -> int:
    """Give the next base classifier, from j on, that a row evaluates; n_base if it quits before."""
    cell = cell_of(cells, g, ran)
    while j < policy.shape[0]:
        action = policy[j, cell]
        if action == QUIT:
            return policy.shape[0]
        if action == EVAL:
            return j
        j += 1
    return j


@kernel
def _walk(forest, answers, n_parts, cells, policy, X, g, evaluations, path):
    """Send rows through the DAG; write scores, and paths if there is room for them."""
    for i in range(X.shape[0]):
        ran = np.int64(0)
        scores = g[i]
        cell = cell_of(cells, scores, ran)
        for j in range(policy.shape[0]):
            action = policy[j, cell]
            if action == QUIT:
                break
            if action != EVAL:
                continue
            splits = False
            for t in range(j * n_parts, (j + 1) * n_parts):
                node = forest.tree[t]
                splits |= forest.left[node] >= 0
                while forest.left[node] >= 0:
                    node = next_node(forest, node, X[i, forest.feature[node]])
                for k in range(scores.shape[0]):
                    scores[k] += answers[node, k]
            ran += cells.sizes[j]
            cell = cell_of(cells, scores, ran)
            evaluations[i] += np.int64(splits)  # none for a constant vote
            if path.shape[0] > 0:
                path[i, j] = True


@kernel
def _charge(forest, n_parts, prices, X, starts, evaluated, first, used, paid):
    """Charge rows for base classifiers on their paths, numbered from a first one."""
    for i in range(X.shape[0]):
        for at in range(starts[i], starts[i + 1]):
            j = np.int64(first) + evaluated[at]
            for t in range(j * n_parts, (j + 1) * n_parts):
                paid[i] += charge_tree(forest, t, prices, X, i, used)[0]


def graph_of(paths: sparse.csr_matrix, groups: np.ndarray | None) -> Graph:
    """Count how many rows pass each node and each edge."""
    n_rows, n_base = paths.shape
    groups = np.zeros(n_rows, dtype=np.int64) if groups is None else groups
    labels, group = np.unique(groups, return_inverse=True)
    paths.sort_indices()
    row = np.repeat(np.arange(n_rows), np.diff(paths.indptr))
    node = paths.indices.astype(np.int64)
    follows = np.flatnonzero(row[1:] == row[:-1])
    nodes, node_counts = _by_group(node, group[row], len(labels))
    keys = node[follows] * n_base + node[follows + 1]
    edges, edge_counts = _by_group(keys, group[row[follows]], len(labels))
    n_nodes, n_edges = node_counts.sum(axis=1), edge_counts.sum(axis=1)
    return Graph(
        nodes,
        n_nodes,
        np.column_stack([edges // max(1, n_base), edges % max(1, n_base)]),
        n_edges,
        labels,
        node_counts / n_nodes[:, None],
        edge_counts / n_edges[:, None],
    )


def _by_group(keys: np.ndarray, group: np.ndarray, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys, ascending, and how often each occurs in each group."""
    distinct, which = np.unique(keys, return_inverse=True)
    counts = np.bincount(which * n_groups + group, minlength=len(distinct) * n_groups)
    return distinct, counts.reshape(len(distinct), n_groups)
