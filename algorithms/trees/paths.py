"""Paths of trees: the parent of each node, and what a row that is new to the tree pays there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..costs import GridPrices
from .forest import Forest


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
