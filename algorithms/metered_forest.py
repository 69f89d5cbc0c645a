"""A forest grown elsewhere, as flat arrays that predict and are charged like our own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from sklearn.utils.validation import check_array

from algorithms import costs
from algorithms.kernels import parallel_kernel, resolve_n_threads, threads
from algorithms.metering import MeteredTrees, tested_features
from algorithms.trees.forest import Forest
from algorithms.trees.predictor import staged_scores, walk_scores


class Leaf(NamedTuple):
    """A leaf: its value for each output, and the number that the library gives it."""

    value: Sequence[float]
    number: int


class Split(NamedTuple):
    """A split node: ``x <= threshold`` goes to `left`."""

    feature: int
    threshold: float
    left: Any
    right: Any


class Tree(NamedTuple):
    """A root, and what turns a node of the library's own kind into a leaf or a split."""

    root: Any
    read: Callable[[Any], Leaf | Split]


@parallel_kernel
def _leaf_nodes(forest, X, out):
    """Write the node in which each row ends, for each tree: `out` is (n_samples, n_trees)."""
    for i in prange(X.shape[0]):
        for t in range(out.shape[1]):
            node = forest.tree[t]
            while forest.left[node] >= 0:
                right = X[i, forest.feature[node]] > forest.threshold[node]
                node = forest.left[node] + (1 if right else 0)
            out[i, t] = node


class MeteredForest(MeteredTrees):
    """A forest read from another library; made by :mod:`algorithms.interop`.

    Parameters
    ----------
    trees : sequence of Tree
        Round by round. Where a leaf holds a value for each output, one tree makes a round; else a
        round has one tree for each output.
    initial_scores : (n_outputs,) float64
    n_features : int
    as_seen : callable
        ``(n, d) float64 -> (n, d) float64``: the numbers that the library compares with thresholds.
    library : str
        Whose trees they are; for messages.
    feature_costs : (n_features,) array-like of float, optional
        Price that a row pays at its first use of a feature; None: all are free.
    split_cost : float
        Price of each split node that a row passes.
    feature_groups : (n_features,) array-like of int, optional
        Features with the same label are acquired together.
    feature_names : sequence of str, optional
        Names of the columns that the model was trained on, if it was told any.

    Attributes
    ----------
    trees_ : Forest
        Paths that are charged. A round of a tree with many outputs is that tree and, for each
        further output, a lone leaf, since the row passes the tree once. Gains and counts are 0.
    initial_scores_ : ndarray of shape (n_outputs,), float64
    n_features_in_, n_estimators_ : int

    Raises
    ------
    ValueError
        If prices are negative, missing or not one for each feature.
    """

    feature_sharing = None

    def __init__(
        self,
        trees: Sequence[Tree],
        initial_scores: np.ndarray,
        n_features: int,
        *,
        as_seen: Callable[[np.ndarray], np.ndarray],
        library: str,
        feature_costs=None,
        split_cost: float = 0.0,
        feature_groups=None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.library = library
        self._feature_names = None if feature_names is None else list(feature_names)
        self.initial_scores_ = np.asarray(initial_scores, dtype=np.float64)
        self.n_features_in_ = int(n_features)
        self.n_threads: int | None = None
        self.feature_costs, self.feature_groups = feature_costs, feature_groups
        self.split_cost = split_cost
        self._as_seen = as_seen
        costs.acquisition_units(feature_costs, feature_groups, self.n_features_in_)
        costs.check_split_cost(split_cost)
        n_outputs = len(self.initial_scores_)
        flat = [_flatten(tree) for tree in trees]
        self._many_valued = any(values.shape[1] > 1 for _, values, _ in flat)
        self._scored = _forest(_per_output(flat, n_outputs) if self._many_valued else flat)
        self.trees_ = _forest(_with_stubs(flat, n_outputs)) if self._many_valued else self._scored
        self._leaf_numbers = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(numbers for _, _, numbers in flat)]
        )
        self._paths = _forest(flat)
        self.n_estimators_ = self.trees_.n_trees // n_outputs

    def _check_X(self, X) -> np.ndarray:
        """Rows as the library compares them."""
        columns = list(getattr(X, "columns", ()))
        X = check_array(X, dtype=np.float64, order="C", estimator=f"a {self.library} forest")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but this {self.library} model was trained on "
                f"{self.n_features_in_}."
            )
        self._check_names(columns)
        X = self._as_seen(X)
        X = X.view()
        X.flags.writeable = False
        return X

    def _check_names(self, columns: list) -> None:
        """Refuse a table whose columns bear other names than in training, or in another order."""
        if self._feature_names is None or not all(isinstance(name, str) for name in columns):
            return
        for m, (got, wanted) in enumerate(zip(columns, self._feature_names, strict=False)):
            if got.replace(" ", "_") != wanted.replace(" ", "_"):  # LightGBM writes them so
                raise ValueError(
                    f"X's columns have other names or another order than those that this "
                    f"{self.library} model was trained on: column {m} is {got!r}, not {wanted!r}."
                )

    def predict_raw(self, X) -> np.ndarray:
        """Raw scores: the sum of the leaves' values, before any link function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_outputs) if there are several, float64

        Raises
        ------
        ValueError
            If a value is missing or infinite, or the number of features is another, or the names
            of a table's columns are.
        """
        X = self._check_X(X)
        out = np.tile(self.initial_scores_, (len(X), 1))
        with threads(resolve_n_threads(self.n_threads), X.size):
            walk_scores(self._scored, 0, self._scored.value, X, out)
        return self._shaped(out)

    def staged_raw(self, X) -> Iterator[np.ndarray]:
        """Raw scores after 1, 2, … rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray
            As from :meth:`predict_raw`.
        """
        X, n_threads = self._check_X(X), resolve_n_threads(self.n_threads)
        forest, initial = self._scored, self.initial_scores_
        for scores in staged_scores(forest, forest.value, initial, X, n_threads):
            yield self._shaped(scores)

    def leaves(self, X) -> np.ndarray:
        """Leaf of each row in each tree, numbered as the library does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_trees), int64
            Trees as the library counts them: one for all outputs where its leaves hold many values.
        """
        X = self._check_X(X)
        nodes = np.empty((len(X), self._paths.n_trees), dtype=np.int64)
        with threads(resolve_n_threads(self.n_threads), X.size):
            _leaf_nodes(self._paths, X, nodes)
        return self._leaf_numbers[nodes]

    def model_features(self) -> np.ndarray:
        """Features that any tree tests: ndarray of shape (n_features,), bool."""
        return tested_features(self.trees_.feature, self.n_features_in_)

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if scores.shape[1] == 1 else scores


# --- from any tree to flat arrays ---------------------------------------------------------------


class _Nodes(NamedTuple):
    """One tree with children next to each other, numbered from 0, breadth first."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    depth: np.ndarray


_STUB = _Nodes(np.array([-1]), np.zeros(1), np.array([-1]), np.zeros(1, dtype=np.int64))


def _flatten(tree: Tree) -> tuple[_Nodes, np.ndarray, np.ndarray]:
    """Return a tree's nodes, their values (n_nodes, n_values) and the library's leaf numbers."""
    waiting, rows, leaves, n_nodes = deque([(tree.root, 0)]), [], [], 1
    while waiting:
        node, depth = waiting.popleft()
        found = tree.read(node)
        if isinstance(found, Leaf):
            rows.append((-1, 0.0, -1, depth))
            leaves.append((len(rows) - 1, found))
            continue
        rows.append((found.feature, found.threshold, n_nodes, depth))
        waiting += [(found.left, depth + 1), (found.right, depth + 1)]
        n_nodes += 2
    nodes = _Nodes(*(np.array(column) for column in zip(*rows, strict=True)))
    values = np.zeros((len(rows), len(leaves[0][1].value)))
    numbers = np.full(len(rows), -1, dtype=np.int64)
    for at, leaf in leaves:
        values[at], numbers[at] = leaf.value, leaf.number
    return nodes, values, numbers


def _per_output(flat, n_outputs: int) -> list:
    """Return each tree once for every output, with that output's values."""
    return [
        (nodes, values[:, [k]], numbers)
        for nodes, values, numbers in flat
        for k in range(n_outputs)
    ]


def _with_stubs(flat, n_outputs: int) -> list:
    """Return each tree once, followed by lone leaves to make up a round."""
    stub = (_STUB, np.zeros((1, 1)), np.zeros(1, dtype=np.int64))
    return [part for tree in flat for part in (tree, *[stub] * (n_outputs - 1))]


def _forest(flat) -> Forest:
    """Put trees one after the other; of many values the first is kept."""
    sizes = [len(nodes.feature) for nodes, _, _ in flat]
    starts = np.cumsum([0, *sizes], dtype=np.int64)

    def joined(arrays, dtype):
        return np.concatenate([np.zeros(0, dtype=dtype), *arrays]).astype(dtype)

    shifted = [
        np.where(nodes.left < 0, -1, nodes.left + start)
        for (nodes, _, _), start in zip(flat, starts[:-1], strict=True)
    ]
    zeros = np.zeros(int(starts[-1]))
    return Forest(
        tree=starts,
        feature=joined([nodes.feature for nodes, _, _ in flat], np.int32),
        threshold=joined([nodes.threshold for nodes, _, _ in flat], np.float64),
        left=joined(shifted, np.int32),
        value=joined([values[:, 0] for _, values, _ in flat], np.float64),
        gain=zeros,
        count=zeros.copy(),
        depth=joined([nodes.depth for nodes, _, _ in flat], np.int32),
    )
