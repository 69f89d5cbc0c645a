"""Hamming trees, weak learners of AdaBoost.MH: best-first trees of stumps whose leaves only vote.

B. Kégl: The return of AdaBoost.MH: multi-class Hamming trees. International Conference on Learning
Representations (2014). The reference is :mod:`reference.hamming_trees`.

A node is searched on its own rows: their columns are gathered, a block of features at a time, and
go through the search for stumps as if they were all there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..kernels.decorators import kernel, threads
from ..kernels.loops import for_each
from ..trees.forest import Forest
from ..trees.predictor import leaf_of
from .boosting import signs
from .sampling import Problem


class HammingTrees(NamedTuple):
    """A fitted classifier, tree by tree; nodes as in :class:`algorithms.trees.forest.Forest`."""

    tree: np.ndarray  # (n_trees + 1,) int64: first node of each tree, its root
    feature: np.ndarray  # (n_nodes,) int32: -1 in a leaf
    threshold: np.ndarray  # (n_nodes,) float64: values above it go right; 0 in a leaf
    left: np.ndarray  # (n_nodes,) int32: left child, -1 in a leaf. The right child is the next node
    depth: np.ndarray  # (n_nodes,) int32: 0 in a root
    votes: np.ndarray  # (n_nodes, n_labels) int8: -1 or 1 in a leaf, 0 in a split node
    alpha: np.ndarray  # (n_trees,) float64
    edge: np.ndarray  # (n_trees,) float64: on the training set, in [0, 1]

    def forest(self) -> Forest:
        """Give the paths as a forest with one tree a round, whose leaves are worth nothing."""
        n_nodes = len(self.feature)
        return Forest(
            self.tree,
            self.feature,
            self.threshold,
            self.left,
            value=np.zeros(n_nodes),
            gain=np.zeros(n_nodes),
            count=np.zeros(n_nodes),
            depth=self.depth,
            missing_left=np.zeros(n_nodes, dtype=np.uint8),
        )

    def contributions(self) -> np.ndarray:
        """Return what a row that ends in a node adds to each score: (n_nodes, n_labels) float64."""
        return np.repeat(self.alpha, np.diff(self.tree))[:, None] * self.votes

    def staged_scores(
        self, X: np.ndarray, rounds: Iterable[int], n_threads: int
    ) -> Iterator[np.ndarray]:
        """Scores after some rounds."""
        used, feature = np.unique(self.feature[self.feature >= 0]), self.feature
        place = np.where(feature >= 0, np.searchsorted(used, feature), -1).astype(np.int32)
        values = np.array(X[:, used], order="C")
        forest, steps = self.forest()._replace(feature=place), self.contributions()
        scores = np.zeros((len(X), steps.shape[1]))
        for first, last in pairwise((0, *rounds)):
            with threads(n_threads, len(X) * (last - first)):
                _add_scores(values, forest, steps, first, last, scores)
            yield scores


@kernel
def _add_votes_to_row(i, values, forest, steps, first, last, scores):
    for t in range(first, last):
        leaf = leaf_of(forest, t, values, i)
        for k in range(scores.shape[1]):
            scores[i, k] += steps[leaf, k]


@kernel
def _add_scores(values, forest, steps, first, last, scores):
    """Add the votes of trees `first` … `last` - 1 to the scores, in order."""
    captured = values, forest, steps, first, last, scores
    for_each(_add_votes_to_row, scores.shape[0], True, captured)


# --- growing -------------------------------------------------------------------------------


class _Node(NamedTuple):
    """A node: codes up to `cut` go to `left`, the others to the next; -1 and votes in a leaf."""

    feature: int
    cut: int
    left: int
    depth: int
    votes: np.ndarray


class GrownTree(NamedTuple):
    """A tree, node by node, and its edge in grid steps."""

    nodes: list[_Node]
    edge: int

    @property
    def feature(self) -> int:
        """Feature that the root tests, -1 if the tree is a constant vote."""
        return self.nodes[0].feature


class _Leaf(NamedTuple):
    """A leaf that may be divided."""

    node: int
    total: np.ndarray  # (n_labels or n_lanes,) int64: sums of the weights times labels of its rows
    weight: int  # Weight of all of their pairs


class _Split(NamedTuple):
    """The best stump of a leaf; `gain` is its edge over the constant vote, 0 if there is none."""

    gain: int
    feature: int
    cut: int


_NO_SPLIT = _Split(0, -1, -1)


def _best_split(problem: Problem, features: np.ndarray, leaves, leaf: _Leaf) -> _Split:
    """Best stump of a leaf: the lowest feature, then cut, of equals."""
    constant = int(np.abs(leaf.total).sum())
    if leaf.node == 0:  # counted, and kept
        edges, cuts = problem.search(features)
    elif constant == leaf.weight:
        return _NO_SPLIT  # all of its rows agree: no stump can do better
    else:
        edges, cuts = leaves.search(leaf.node, features, leaf.total)
    best = int(np.argmax(edges))
    gain = int(edges[best]) - constant
    return _Split(gain, int(features[best]), int(cuts[best])) if gain > 0 else _NO_SPLIT


def grow(problem: Problem, features: np.ndarray, n_leaves: int) -> tuple[GrownTree, Any]:
    """Grow a tree, of all leaves dividing the one whose stump gains most over a constant vote."""
    weights, n_labels = problem.weights, problem.weights.n_labels
    problem.search(features)  # first, as workers weigh their pairs for it
    rows = problem.leaves()
    nodes = [_Node(-1, -1, -1, 0, signs(weights.totals[:n_labels]))]
    leaves = [_Leaf(0, weights.totals, weights.total)]
    splits = [_best_split(problem, features, rows, leaves[0])]
    while len(leaves) < n_leaves:
        best = int(np.argmax([split.gain for split in splits]))  # the first of equals
        if splits[best].gain == 0:
            break
        leaf, split, first = leaves.pop(best), splits.pop(best), len(nodes)
        totals, sums = rows.divide(leaf.node, split.feature, split.cut, first)
        votes = signs((totals[1] - totals[0])[:n_labels])
        depth = nodes[leaf.node].depth
        nodes[leaf.node] = _Node(split.feature, split.cut, first, depth, np.zeros_like(votes))
        nodes += [_Node(-1, -1, -1, depth + 1, sign * votes) for sign in (-1, 1)]
        sides = [_Leaf(first + i, totals[i], int(sums[i])) for i in range(2)]
        leaves += sides
        more = len(leaves) < n_leaves
        splits += [
            _best_split(problem, features, rows, side) if more else _NO_SPLIT for side in sides
        ]
    edge = sum(int((nodes[leaf.node].votes * leaf.total[:n_labels]).sum()) for leaf in leaves)
    return GrownTree(nodes, edge), rows


class TreeLearner:
    """Hamming trees as weak learners, see :class:`algorithms.stumps.boosting.WeakLearner`."""

    def __init__(self, threshold_of: Callable[[int, int], float], n_leaves: int) -> None:
        self._threshold_of = threshold_of
        self._n_leaves = n_leaves

    def best(self, problem: Problem, features: np.ndarray) -> GrownTree:
        """See :func:`grow`."""
        # Not part of the tree, of which a training keeps all: it is as long as the training set.
        grown, self._leaves = grow(problem, features, self._n_leaves)
        return grown

    def add(self, problem: Problem, taken: GrownTree, alpha: float) -> None:
        """Add the tree grown last to the scores of the training rows."""
        votes = np.array([node.votes for node in taken.nodes])
        problem.add_tree(self._leaves, alpha * votes)
        del self._leaves  # as large as the weights of all pairs

    def fitted(
        self, rounds: list[GrownTree], alphas: list, edges: list, n_labels: int
    ) -> HammingTrees:
        """Turn the rounds into arrays."""
        sizes = [len(grown.nodes) for grown in rounds]
        tree = np.cumsum([0, *sizes], dtype=np.int64)
        nodes = [node for grown in rounds for node in grown.nodes]
        left = np.array([node.left for node in nodes], dtype=np.int32)
        threshold = [
            self._threshold_of(node.feature, node.cut) if node.feature >= 0 else 0.0
            for node in nodes
        ]
        return HammingTrees(
            tree,
            np.array([node.feature for node in nodes], dtype=np.int32),
            np.array(threshold, dtype=np.float64),
            np.where(left >= 0, left + np.repeat(tree[:-1], sizes), -1).astype(np.int32),
            np.array([node.depth for node in nodes], dtype=np.int32),
            np.array([node.votes for node in nodes], dtype=np.int8).reshape(-1, n_labels),
            np.array(alphas, dtype=np.float64),
            np.array(edges, dtype=np.float64),
        )
