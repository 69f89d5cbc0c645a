"""Trees of a fitted model as flat arrays, and how a grown tree gets there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from algorithms.kernels import kernel, parallel_kernel


class Forest(NamedTuple):
    """All trees one after the other; children are numbered within the whole forest.

    Attributes
    ----------
    tree : ndarray of shape (n_trees + 1,), int64
        First node of each tree, its root. Within a round the trees are in class order.
    feature : ndarray of shape (n_nodes,), int32
        Feature tested, -1 in a leaf.
    threshold : ndarray of shape (n_nodes,), float64
        ``x <= threshold`` goes left; 0 in a leaf.
    left : ndarray of shape (n_nodes,), int32
        Left child, -1 in a leaf. The right child is the next node.
    value : ndarray of shape (n_nodes,), float64
        Leaf value before the learning rate; 0 in a split node.
    gain : ndarray of shape (n_nodes,), float64
        Net gain of the split when it was made, Eq. (12); 0 in a leaf.
    count : ndarray of shape (n_nodes,), float64
        Weighted training rows.
    depth : ndarray of shape (n_nodes,), int32
        0 in a root.
    """

    tree: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    value: np.ndarray
    gain: np.ndarray
    count: np.ndarray
    depth: np.ndarray

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree) - 1

    def first(self, n_trees: int) -> Forest:
        """Return the forest of the first `n_trees` trees."""
        n_nodes = int(self.tree[n_trees])
        return Forest(self.tree[: n_trees + 1].copy(), *(a[:n_nodes].copy() for a in self[1:]))


_DTYPES = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "value": np.float64,
    "gain": np.float64,
    "count": np.float64,
    "depth": np.int32,
}


@kernel
def _store(nodes, n_nodes, first, edges, edge_start, scale, least_hessian, forest):
    for node in range(n_nodes):
        at = first + node
        feature = nodes.feature[node]
        forest.feature[at] = feature
        forest.count[at] = nodes.sums[node, 2] * scale.count
        forest.depth[at] = nodes.depth[node]
        if feature < 0:
            gradient = nodes.sums[node, 0] * scale.gradient
            hessian = nodes.sums[node, 1] * scale.hessian
            forest.value[at] = -gradient / hessian if hessian >= least_hessian else 0.0
            forest.threshold[at] = 0.0
            forest.left[at] = -1
            forest.gain[at] = 0.0
        else:
            forest.value[at] = 0.0
            forest.threshold[at] = edges[edge_start[feature] + nodes.threshold[node]]
            forest.left[at] = first + nodes.left[node]
            forest.gain[at] = nodes.gain[node]


@parallel_kernel
def add_to_scores(nodes, n_nodes, rows, values, learning_rate, scores):
    """Add each leaf's value to the scores of its rows."""
    for node in prange(n_nodes):
        if nodes.feature[node] < 0:
            step = learning_rate * values[node]
            for i in range(nodes.start[node], nodes.stop[node]):
                scores[rows[i]] += step


@kernel
def _newton_values(nodes, n_nodes, rows, gradient_step, newton, least_hessian, values):
    """Friedman's one Newton step per leaf, with hessians that did not choose the splits."""
    for node in range(n_nodes):
        if nodes.feature[node] < 0:
            total = np.int64(0)
            for i in range(nodes.start[node], nodes.stop[node]):
                total += np.int64(newton.gh[rows[i], 1])
            gradient, hessian = nodes.sums[node, 0] * gradient_step, total * newton.hessian_step
            values[node] = -gradient / hessian if hessian >= least_hessian else 0.0


class ForestBuilder:
    """Collects grown trees.

    Parameters
    ----------
    edges : list of ndarray
        Bin edges per feature.
    """

    def __init__(self, edges: list[np.ndarray]) -> None:
        self._edges = np.concatenate([*edges, np.zeros(1)])
        lengths = [len(e) for e in edges]
        self._edge_start = np.cumsum([0, *lengths[:-1]], dtype=np.int64)
        self._starts = [0]
        self._arrays = Forest(
            np.zeros(0, dtype=np.int64), *(np.empty(1024, dtype=t) for t in _DTYPES.values())
        )

    def add(
        self, nodes, n_nodes: int, scale, least_hessian: float, newton=None, rows=None
    ) -> np.ndarray:
        """Store a grown tree and return its node values (before the learning rate).

        Parameters
        ----------
        nodes : Nodes
        n_nodes : int
        scale : Scale
        least_hessian : float
            A leaf with less has the value 0: -G/H means nothing there.
        newton : Derivatives, optional
            Hessians for the leaf values where they differ from those that chose the splits.
        rows : ndarray of int32, optional
            Rows ordered by leaf; needed with `newton`.
        """
        first = self._starts[-1]
        if first + n_nodes > len(self._arrays.feature):
            size = 2 * (first + n_nodes)
            grown = (
                np.concatenate([a, np.empty(size - len(a), a.dtype)]) for a in self._arrays[1:]
            )
            self._arrays = Forest(self._arrays.tree, *grown)
        _store(
            nodes,
            n_nodes,
            first,
            self._edges,
            self._edge_start,
            scale,
            least_hessian,
            self._arrays,
        )
        values = self._arrays.value[first : first + n_nodes]
        if newton is not None:
            _newton_values(nodes, n_nodes, rows, scale.gradient, newton, least_hessian, values)
        self._starts.append(first + n_nodes)
        return values

    def forest(self) -> Forest:
        """Return a forest of all trees so far that shares this builder's memory."""
        n_nodes = self._starts[-1]
        tree = np.array(self._starts, dtype=np.int64)
        return Forest(tree, *(a[:n_nodes] for a in self._arrays[1:]))
