"""Trees of a fitted model as flat arrays, and how a grown tree gets there.

Of their paths :class:`Paths` has the parent of each node, and what a row that is new to the tree
pays there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import GridPrices
from ..kernels.decorators import kernel
from ..kernels.loops import for_each
from ..kernels.simd import prefetch
from .histogram import of_row
from .partition import AHEAD

if TYPE_CHECKING:
    from .grower import Nodes
    from .splitter import Scale


_ROWS_AT_ONCE = 2**16


class Forest(NamedTuple):
    """All trees one after the other; children are numbered within the whole forest."""

    # (n_trees + 1,) int64: first node of each tree, its root. Within a round the trees are in class
    # order
    tree: np.ndarray
    feature: np.ndarray  # (n_nodes,) int32: feature tested, -1 in a leaf
    threshold: np.ndarray  # (n_nodes,) float64: ``x <= threshold`` goes left; 0 in a leaf
    left: np.ndarray  # (n_nodes,) int32: left child, -1 in a leaf. The right child is the next node
    value: np.ndarray  # (n_nodes,) float64: leaf value before the learning rate; 0 in a split node
    # (n_nodes,) float64: net gain of the split when it was made, Eq. (12); 0 in a leaf
    gain: np.ndarray
    count: np.ndarray  # (n_nodes,) float64: weighted training rows
    depth: np.ndarray  # (n_nodes,) int32: 0 in a root
    # (n_nodes,) uint8: whether a row whose value is missing (NaN) goes left, 1 or 0; 0 in a leaf.
    # Where rows of the training set were missing it, the side with the larger gain; elsewhere the
    # child with the larger `count`, the right one if they are equal
    missing_left: np.ndarray

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree) - 1

    def first(self, n_trees: int) -> Forest:
        """Return the forest of the first `n_trees` trees."""
        n_nodes = int(self.tree[n_trees])
        return type(self)(self.tree[: n_trees + 1].copy(), *(a[:n_nodes].copy() for a in self[1:]))

    def take(self, trees: np.ndarray) -> Forest:
        """Return a forest of some trees, int64, in the order given."""
        sizes = np.diff(self.tree)[trees]
        tree = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        moved = np.repeat(tree[:-1] - self.tree[trees], sizes)
        nodes = np.arange(tree[-1]) - moved
        left = self.left[nodes]
        left = np.where(left >= 0, left + moved, -1).astype(np.int32)
        return type(self)(tree, *(a[nodes] for a in self[1:]))._replace(left=left)

    def n_split_trees(self, trees_per_round: int) -> np.ndarray:
        """Return the trees with a split in the first 0, 1, … rounds, (n_rounds + 1,) int64."""
        split = self.left[self.tree[:-1]] >= 0
        by_round = split.reshape(-1, trees_per_round).sum(axis=1)
        return np.cumsum(np.concatenate([[0], by_round]))


def joined(forests: list[Forest]) -> Forest:
    """Put forests of one class one after the other."""
    first = np.cumsum([0, *(len(forest.feature) for forest in forests)])
    tree = [forest.tree[:-1] + start for forest, start in zip(forests, first, strict=False)]
    left = [
        np.where(forest.left >= 0, forest.left + start, -1)
        for forest, start in zip(forests, first, strict=False)
    ]
    kind = type(forests[0])
    arrays = {n: np.concatenate([getattr(f, n) for f in forests]) for n in kind._fields[1:]}
    arrays["left"] = np.concatenate(left).astype(np.int32)
    return kind(tree=np.concatenate([*tree, first[-1:]]).astype(np.int64), **arrays)


# Dtype of each array that has one value for each node.
NODE_DTYPES = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "value": np.float64,
    "gain": np.float64,
    "count": np.float64,
    "depth": np.int32,
    "missing_left": np.uint8,
}
_LARGEST_SCORE = np.finfo(np.float64).max / 4


def check_forest(
    forest: Forest,
    n_features: int,
    initial_scores: np.ndarray,
    learning_rate: float = 1.0,
    *,
    infinite_thresholds: bool = False,
) -> None:
    """Check all that the kernels rely on, of a forest from elsewhere: a file, another library.

    Kernels check nothing: a child that is no node reads foreign memory, a cycle never ends.
    """
    _check_arrays(forest)
    _check_tree_starts(forest.tree, len(forest.feature), len(initial_scores))
    _check_nodes(forest, n_features, infinite_thresholds)
    _check_children(forest)
    _check_scores(forest, initial_scores, learning_rate)


def _check_arrays(forest: Forest) -> None:
    """Check dtypes, memory and lengths."""
    for name, values in forest._asdict().items():
        dtype = np.dtype(NODE_DTYPES.get(name, np.int64))
        plain = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == dtype
        if not plain or not values.flags.c_contiguous or not values.flags.aligned:
            raise ValueError(f"{name} of its trees must be a plain array of {dtype.name}")
        if name != "tree" and len(values) != len(forest.feature):
            raise ValueError(
                f"{name} of its trees must have one value for each of the {len(forest.feature)} "
                f"nodes, got {len(values)}"
            )
    if len(forest.feature) > np.iinfo(np.int32).max:
        raise ValueError("its trees have more nodes than 32 bits can number")


def _check_tree_starts(tree: np.ndarray, n_nodes: int, n_columns: int) -> None:
    """Check that the trees lie end to end and make up whole rounds."""
    if not len(tree) or tree[0] != 0 or tree[-1] != n_nodes or np.any(tree[1:] <= tree[:-1]):
        raise ValueError("its trees must lie one after the other, each with at least one node")
    if n_columns < 1 or (len(tree) - 1) % n_columns:
        raise ValueError(
            f"its {len(tree) - 1} trees do not make up rounds of {n_columns}, one for each score"
        )


def _check_nodes(forest: Forest, n_features: int, infinite_thresholds: bool) -> None:
    """Check each node by itself."""
    feature, leaf = forest.feature, forest.left < 0
    if np.any((feature < 0) != leaf) or np.any(forest.left[leaf] != -1):
        raise ValueError("a node of its trees is neither a leaf nor a split")
    if np.any(feature < -1) or np.any(feature >= n_features):
        raise ValueError(f"a split of its trees tests a feature beyond the {n_features} there are")
    for name in ("threshold", "value", "gain", "count"):
        values = getattr(forest, name)
        if name == "threshold" and infinite_thresholds:
            wrong = np.isnan(values)
        else:
            wrong = ~np.isfinite(values)
        if np.any(wrong):
            node = int(np.argmax(wrong))
            raise ValueError(f"{name} of its trees must be finite, node {node} has {values[node]}")
    if np.any(forest.missing_left > ~leaf):
        raise ValueError("missing_left of its trees must be 0 or 1, and 0 in leaves")


def _check_children(forest: Forest) -> None:
    """Check that each tree is one: children come after parents, each node is reached once."""
    split = np.flatnonzero(forest.left >= 0)
    left = forest.left[split].astype(np.int64)
    # Where the tree of each split node ends; the right child is the next node after the left.
    end = forest.tree[np.searchsorted(forest.tree, split, side="right")]
    if np.any(left <= split) or np.any(left + 1 >= end):
        raise ValueError("a child of its trees does not come after its parent within the tree")
    times = np.bincount(left, minlength=len(forest.left) + 1)
    times[1:] += times[:-1].copy()  # as right children, too
    times[forest.tree[:-1]] += 1  # roots
    if np.any(times[:-1] != 1):
        raise ValueError("a node of its trees is not reached exactly once from the root")
    depth = forest.depth
    right_depth = np.all(depth[left] == depth[split] + 1) & np.all(depth[left + 1] == depth[left])
    if not right_depth or np.any(depth[forest.tree[:-1]] != 0):
        raise ValueError("depth of its trees must be 0 in roots and grow by 1 with each split")


def _check_scores(forest: Forest, initial_scores: np.ndarray, learning_rate: float) -> None:
    """Check that no sum of leaf values can be anything but a finite number."""
    if not np.all(np.isfinite(initial_scores)):
        raise ValueError("its initial scores must be finite")
    sizes = np.abs(initial_scores)
    with np.errstate(over="ignore"):
        if forest.n_trees:
            largest = np.maximum.reduceat(np.abs(forest.value), forest.tree[:-1])
            by_round = (learning_rate * largest).reshape(-1, len(initial_scores))
            sizes = sizes + np.sum(by_round, axis=0)
    if not np.all(sizes <= _LARGEST_SCORE):
        raise ValueError("its leaf values are so large that their sum is no finite number")


@kernel
def _store(nodes, n_nodes, first, edges, edge_start, scale, least_hessian, forest):
    for node in range(n_nodes):
        at = first + node
        feature = nodes.feature[node]
        forest.feature[at] = feature
        forest.count[at] = nodes.sums[node, 2] * scale.count
        forest.depth[at] = nodes.depth[node]
        forest.missing_left[at] = nodes.missing_left[node]
        if feature < 0:
            gradient = nodes.sums[node, 0] * scale.gradient
            hessian = nodes.sums[node, 1] * scale.hessian
            below = hessian + scale.reg_lambda
            forest.value[at] = -gradient / below if hessian >= least_hessian else 0.0
            forest.threshold[at] = 0.0
            forest.left[at] = -1
            forest.gain[at] = 0.0
        else:
            forest.value[at] = 0.0
            forest.threshold[at] = edges[edge_start[feature] + nodes.threshold[node]]
            forest.left[at] = first + nodes.left[node]
            forest.gain[at] = nodes.gain[node]


@kernel
def _add_to_rows(rows, start, stop, step, scores):
    last = np.uint64(max(stop - 1, 0))
    for i in range(start, stop):
        at = np.uint64(i)
        prefetch(scores, np.int64(rows[min(at + np.uint64(AHEAD), last)]))
        scores[np.uint64(rows[at])] += step


@kernel
def _add_to_part(part, n_parts, nodes, n_nodes, rows, values, learning_rate, scores):
    n_rows = rows.shape[0]
    begin, end = n_rows * part // n_parts, n_rows * (part + 1) // n_parts
    for node in range(n_nodes):
        if nodes.feature[node] < 0:
            start, stop = max(begin, nodes.start[node]), min(end, nodes.stop[node])
            _add_to_rows(rows, start, stop, learning_rate * values[node], scores)


@kernel
def add_to_scores(
    nodes: Nodes,
    n_nodes: int,
    rows: Any,
    values: NDArray[np.float64],
    learning_rate: float,
    scores: NDArray[np.float64],
) -> None:
    """Add each leaf's value to the scores of its rows.

    Shared out by rows, not by leaves: one leaf may hold most of them.
    """
    n_parts = rows.shape[0] // _ROWS_AT_ONCE + 1
    captured = n_parts, nodes, n_nodes, rows, values, learning_rate, scores
    for_each(_add_to_part, n_parts, True, captured)


@kernel
def sum_hessians(nodes: Nodes, n_nodes: int, rows: Any, gh: np.ndarray, sums: np.ndarray) -> None:
    """Sum of the hessians of each leaf's rows on their grid, for (n_nodes,) int64; 0 elsewhere.

    A single column of `gh` holds hessians here, see :meth:`algorithms.losses.Loss.derivatives`.
    """
    alone = gh.shape[1] == 1
    for node in range(n_nodes):
        sums[node] = 0
        if nodes.feature[node] < 0:
            for i in range(nodes.start[node], nodes.stop[node]):
                sums[node] += np.int64(gh[rows[i], 0]) if alone else of_row(gh, rows[i])[1]


@kernel
def _newton_values(nodes, n_nodes, scale, sums, hessian_step, least_hessian, values):
    """Friedman's one Newton step per leaf, with hessians that did not choose the splits."""
    for node in range(n_nodes):
        if nodes.feature[node] < 0:
            gradient, hessian = nodes.sums[node, 0] * scale.gradient, sums[node] * hessian_step
            below = hessian + scale.reg_lambda
            values[node] = -gradient / below if hessian >= least_hessian else 0.0


class ForestBuilder:
    """Collects grown trees."""

    def __init__(self, edges: list[np.ndarray]) -> None:
        self._edges = np.concatenate([*edges, np.zeros(1)])
        lengths = [len(e) for e in edges]
        self._edge_start = np.cumsum([0, *lengths[:-1]], dtype=np.int64)
        self._starts = [0]
        self._arrays = Forest(
            np.zeros(0, dtype=np.int64), *(np.empty(1024, dtype=t) for t in NODE_DTYPES.values())
        )

    def add(
        self,
        nodes: Nodes,
        n_nodes: int,
        scale: Scale,
        least_hessian: float,
        newton: tuple[np.ndarray, float] | None = None,
    ) -> np.ndarray:
        """Store a grown tree and return its node values (before the learning rate)."""
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
            _newton_values(nodes, n_nodes, scale, *newton, least_hessian, values)
        self._starts.append(first + n_nodes)
        return values

    def forest(self) -> Forest:
        """Return a forest of all trees so far that shares this builder's memory."""
        n_nodes = self._starts[-1]
        tree = np.array(self._starts, dtype=np.int64)
        return Forest(tree, *(a[:n_nodes] for a in self._arrays[1:]))


class Paths(NamedTuple):
    """What leads to each node of a forest."""

    parent: np.ndarray  # (n_nodes,) int64: number of the node above, -1 of a root
    # (n_nodes,) int64: steps of the price grid that a row has paid once it has evaluated the node,
    # or arrived in it if it is a leaf. The node's tree is the first that the row sees: it owns
    # nothing yet
    bill: np.ndarray


def paths_of(forest: Forest, prices: GridPrices) -> Paths:
    """Follow every path of a forest once."""
    n_nodes, n_units = len(forest.feature), len(prices.unit_price)
    parent = np.full(n_nodes, -1, dtype=np.int64)
    split = np.flatnonzero(forest.left >= 0)
    parent[forest.left[split]] = parent[forest.left[split] + 1] = split
    bill, owned = np.zeros(n_nodes, dtype=np.int64), [0] * n_nodes
    for node, above in enumerate(parent.tolist()):  # parents come before their children
        steps, marks = (int(bill[above]), owned[above]) if above >= 0 else (0, 0)
        feature = int(forest.feature[node])
        if feature >= 0:
            unit = int(prices.unit[feature])
            steps += int(prices.split_price[feature])
            if not marks >> unit & 1:
                steps += int(prices.unit_price[unit])
            if not marks >> (n_units + feature) & 1:
                steps += int(prices.own_price[feature])
            marks |= 1 << unit | 1 << (n_units + feature)
        bill[node], owned[node] = steps, marks
    return Paths(parent, bill)


def own_bill(node: int, parent: np.ndarray, bill: np.ndarray) -> float:
    """What a row pays at a node, of bills as costs: nothing of it was paid above."""
    above = int(parent[node])
    return float(bill[node] - (bill[above] if above >= 0 else 0.0))


def names_of_features(model: Any, feature_names: Sequence[str] | None = None) -> list[str]:
    """Names of a model's columns: those given, else those of the table it was fitted on."""
    names = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    if names is None:
        names = [f"feature_{m}" for m in range(model.n_features_in_)]
    if len(names) != model.n_features_in_:
        raise ValueError(f"feature_names must have {model.n_features_in_} names, got {len(names)}.")
    return [str(name) for name in names]


def one_tree(forest: Forest, tree: int) -> Forest:
    """Give a tree as a forest of itself."""
    whole = isinstance(tree, int | np.integer) and not isinstance(tree, bool)
    if not whole or not 0 <= tree < forest.n_trees:
        raise ValueError(f"tree must be a whole number below {forest.n_trees}, got {tree!r}.")
    return forest.take(np.array([tree]))
