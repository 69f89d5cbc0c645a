"""Forests in which splits may send a set of categories left, and how grown trees get there.

A forest without such splits is a plain :class:`~.forest.Forest`, and no kernel that works on one
knows of sets: numba compiles :func:`goes_right` by the class of the forest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels.decorators import COMPILED_ONLY, chosen_by_class
from .forest import Forest, ForestBuilder
from .grower import Nodes
from .monotonic import MonotonicNodes
from .searching_sets import WORDS, CategoricalNodes

if TYPE_CHECKING:
    from .splitter import Scale


class CategoricalForest(NamedTuple):
    """A :class:`~.forest.Forest` of rows whose categories are codes, whole numbers below 256."""

    # tree, feature, threshold, left, value, gain, count, depth, missing_left: As of a plain forest;
    # the threshold of a split of categories is 0 and means nothing
    tree: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    value: np.ndarray
    gain: np.ndarray
    count: np.ndarray
    depth: np.ndarray
    missing_left: np.ndarray
    by_set: np.ndarray  # (n_nodes,) uint8: whether the node splits categories, 1 or 0
    # (n_nodes, 4) uint64: the codes that go left, one bit each: those of the training rows that
    # did, and, if missing values go left, those that no training row of the node had. All 0 in
    # other nodes
    left_set: np.ndarray

    n_trees = Forest.n_trees
    first = Forest.first
    take = Forest.take
    n_split_trees = Forest.n_split_trees

    def plain(self) -> Forest:
        """The same nodes without their sets."""
        return Forest(*self[: len(Forest._fields)])

    def codes_left(self, node: int) -> list[int]:
        """Codes that go left from a node that splits categories, ascending."""
        bits = np.unpackbits(self.left_set[node].view(np.uint8), bitorder="little")
        return np.flatnonzero(bits).tolist()


def with_sets(forest: Forest, is_categorical: np.ndarray, left_set: np.ndarray) -> Any:
    """Give a forest whose splits of some features are by sets."""
    by_set = (forest.feature >= 0) & is_categorical[forest.feature]
    return CategoricalForest(*forest, by_set.astype(np.uint8), left_set)


def refuse_sets(forest: Any, reader: str) -> None:
    """Refuse a forest that splits categories where only thresholds are read (ValueError)."""
    if isinstance(forest, CategoricalForest):
        raise ValueError(
            f"{reader} reads thresholds only, and this model splits categories by sets: encode "
            "them as numbers (OneHotEncoder in a PricedPipeline is one purchase a column) and fit "
            "without categorical_features."
        )


def check_sets(forest: CategoricalForest, n_known: np.ndarray) -> None:
    """Check the sets of a forest from a file; all else is :func:`~.forest.check_forest`'s."""
    n_nodes = len(forest.feature)
    if forest.left_set.shape != (n_nodes, WORDS):
        raise ValueError(f"left_set of its trees must be of shape ({n_nodes}, {WORDS})")
    allowed = np.where(forest.by_set == 1, n_known[forest.feature], 0)
    if np.any(forest.left_set & ~_first_bits(allowed)):
        raise ValueError("a split of its trees sends a category left that there is not")


def _first_bits(n_bits: np.ndarray) -> np.ndarray:
    """The first so many of 256 bits are set, (n, 4) uint64."""
    bits = np.arange(64 * WORDS) < np.asarray(n_bits)[:, None]
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


class CategoricalForestBuilder(ForestBuilder):
    """Collects grown trees that may split categories."""

    def __init__(
        self, edges: list[np.ndarray], is_categorical: np.ndarray, n_known: np.ndarray
    ) -> None:
        super().__init__(edges)
        self._is_categorical, self._n_known = is_categorical, n_known
        self._left_sets = [np.zeros((0, WORDS), dtype=np.uint64)]

    def add(
        self,
        nodes: CategoricalNodes | MonotonicNodes,
        n_nodes: int,
        scale: Scale,
        least_hessian: float,
        newton: tuple[np.ndarray, float] | None = None,
    ) -> np.ndarray:
        """Store a grown tree and return its node values; see the plain builder."""
        first = self._starts[-1]
        plain = Nodes(*nodes[: len(Nodes._fields)])
        values = super().add(plain, n_nodes, scale, least_hessian, newton)
        feature = nodes.feature[:n_nodes]
        by_set = np.flatnonzero((feature >= 0) & self._is_categorical[feature])
        place, tested = nodes.place[feature[by_set]], feature[by_set]
        unseen = ~nodes.seen_bins[by_set, place] & _first_bits(self._n_known[tested])
        unseen[~nodes.missing_left[by_set]] = 0  # they go where missing values go
        left_set = np.zeros((n_nodes, WORDS), dtype=np.uint64)
        left_set[by_set] = nodes.left_bins[by_set, place] | unseen
        self._left_sets.append(left_set)
        self._arrays.threshold[first + by_set] = 0.0
        return values

    def forest(self) -> CategoricalForest:
        """Return a forest of all trees so far."""
        self._left_sets = [np.concatenate(self._left_sets)]
        return with_sets(super().forest(), self._is_categorical, self._left_sets[0])


def builder_of(
    edges: list[np.ndarray], n_known: np.ndarray | None = None
) -> ForestBuilder | CategoricalForestBuilder:
    """Builder for features of numbers, or of which some are of so many categories."""
    if n_known is None:
        return ForestBuilder(edges)
    return CategoricalForestBuilder(edges, n_known >= 0, n_known)


# --- Which way a row goes --------------------------------------------------------------------


def goes_right(forest: Any, node: int, x: float) -> bool:
    """Whether a row goes right from a split node whose feature has the value x, not missing."""
    raise NotImplementedError(COMPILED_ONLY)


def _above_threshold(forest, node, x):
    return x > forest.threshold[node]


def _outside_set(forest, node, x):
    if forest.by_set[node] == 0:
        return x > forest.threshold[node]
    code = np.uint64(x)
    if code >= np.uint64(256):  # no code of a row is, and memory is not read by one
        return True
    word = forest.left_set[node, code >> np.uint64(6)]
    return (word >> (code & np.uint64(63))) & np.uint64(1) == np.uint64(0)


@chosen_by_class(goes_right)
def _by_class(forest, *_):
    sets = getattr(forest, "instance_class", None) is CategoricalForest
    return _outside_set if sets else _above_threshold
