"""What trees answer to rows, by leaf codes, against walking down each tree in Python."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.gbrt import GBRTRegressor
from algorithms.reweighted_trees.tree_outputs import tree_outputs
from tests.twins import with_missing


def leaves_by_walking(forest, X):
    """Node in which each row ends, and how many of the tree's leaves come before it."""
    nodes = np.empty((forest.n_trees, len(X)), dtype=np.int64)
    numbers = np.empty_like(nodes)
    for t in range(forest.n_trees):
        leaves = [n for n in range(forest.tree[t], forest.tree[t + 1]) if forest.left[n] < 0]
        for i, row in enumerate(X):
            node = int(forest.tree[t])
            while forest.left[node] >= 0:
                x = row[forest.feature[node]]
                right = not forest.missing_left[node] if np.isnan(x) else x > forest.threshold[node]
                node = int(forest.left[node]) + int(right)
            nodes[t, i], numbers[t, i] = node, leaves.index(node)
    return nodes, numbers


@pytest.mark.parametrize(("missing", "n_threads"), [(False, 1), (False, 2), (True, 2)])
@pytest.mark.parametrize(
    ("n_rows", "max_leaves"), [(1, 4), (15, 4), (16, 2), (17, 16), (150, 64), (300, 100)]
)
def test_codes_are_the_leaves_of_walking(n_rows, max_leaves, missing, n_threads):
    """In tiles and, where values are missing or a tree has more than 64 leaves, one by one.

    Their numbers are those of the nodes' order: sums over leaves have one order, bit for bit.
    """
    rng = np.random.default_rng([n_rows, missing])
    X = rng.integers(-5, 6, (400, 7)).astype(float)
    X = with_missing(rng, X) if missing else X
    model = GBRTRegressor(n_estimators=70, max_leaves=max_leaves, min_samples_leaf=1, n_threads=1)
    forest = model.fit(X, rng.normal(size=400)).trees_
    nodes, numbers = leaves_by_walking(forest, X[:n_rows])
    outputs = tree_outputs(forest, X[:n_rows], n_threads)
    np.testing.assert_array_equal(outputs.codes, numbers)
    each = np.arange(forest.n_trees)[:, None]
    np.testing.assert_array_equal(outputs.values[each, outputs.codes], forest.value[nodes])


def test_trees_that_are_one_leaf_and_a_forest_without_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    model = GBRTRegressor(n_estimators=3, min_samples_leaf=1, n_threads=1)
    grown = model.fit(X, rng.normal(size=20)).trees_
    alone = np.flatnonzero(grown.left < 0)[:4]
    leaves = type(grown)(np.arange(5), *(nodes[alone] for nodes in grown[1:]))
    for forest in (leaves, grown.first(0)):
        outputs = tree_outputs(forest, X, 1)
        assert outputs.codes.shape == (forest.n_trees, 20)
        assert not outputs.codes.any()
    np.testing.assert_array_equal(tree_outputs(leaves, X, 1).values[:, 0], grown.value[alone])
