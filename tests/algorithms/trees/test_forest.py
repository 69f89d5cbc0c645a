"""What a forest must be before kernels may follow it."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.interop.forest import MeteredForest
from algorithms.interop.nodes import Leaf, Split, Tree
from algorithms.trees.forest import NODE_DTYPES, Forest, check_forest


def two_trees() -> Forest:
    """A fork of five nodes and a stump of three, on features 0 to 2."""
    feature = np.array([0, 1, -1, -1, -1, 2, -1, -1], dtype=np.int32)
    n = len(feature)
    return Forest(
        tree=np.array([0, 5, 8]),
        feature=feature,
        threshold=np.where(feature >= 0, 0.5, 0.0),
        left=np.array([1, 3, -1, -1, -1, 6, -1, -1], dtype=np.int32),
        value=np.where(feature < 0, 1.0, 0.0),
        gain=np.zeros(n),
        count=np.ones(n),
        depth=np.array([0, 1, 1, 2, 2, 0, 1, 1], dtype=np.int32),
        missing_left=np.zeros(n, dtype=np.uint8),
    )


def check(forest, n_features=3, initial=(0.0,), learning_rate=1.0, **options):
    check_forest(forest, n_features, np.array(initial), learning_rate, **options)


def test_a_sound_forest_passes():
    check(two_trees())
    check(two_trees(), initial=(0.0, 0.0))
    nothing = Forest(np.zeros(1, dtype=np.int64), *(np.zeros(0, t) for t in NODE_DTYPES.values()))
    check(nothing)
    check(two_trees()._replace(threshold=np.full(8, -np.inf)), infinite_thresholds=True)


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("left", 0, 0, "does not come after its parent"),
        ("left", 1, 1, "does not come after its parent"),
        ("left", 0, 4, "does not come after its parent"),  # its right child is the next tree's root
        ("left", 5, 7, "does not come after its parent"),
        ("left", 1, 2, "not reached exactly once"),
        ("left", 1, -2, "neither a leaf nor a split"),
        ("left", 2, 3, "neither a leaf nor a split"),
        ("feature", 0, 3, "beyond the 3 there are"),
        ("feature", 0, -1, "neither a leaf nor a split"),
        ("tree", 0, 1, "one after the other"),
        ("tree", 1, 0, "one after the other"),
        ("tree", 1, 9, "one after the other"),
        ("tree", 1, 4, "does not come after its parent"),
        ("tree", 2, 7, "one after the other"),
        ("depth", 5, 1, "depth of its trees"),
        ("threshold", 0, np.inf, "threshold of its trees must be finite"),
        ("value", 2, np.nan, "value of its trees must be finite"),
        ("value", 2, 1.7e308, "sum is no finite number"),
        ("missing_left", 0, 2, "missing_left of its trees must be 0 or 1, and 0 in leaves"),
        ("missing_left", 2, 1, "missing_left of its trees must be 0 or 1, and 0 in leaves"),
    ],
)
def test_wrong_values(name, place, value, message):
    forest = two_trees()
    getattr(forest, name)[place] = value
    with pytest.raises(ValueError, match=message):
        check(forest)


def test_wrong_arrays():
    forest = two_trees()
    for wrong in (
        forest._replace(left=forest.left.astype(np.int64)),
        forest._replace(left=forest.left.astype(">i4")),
        forest._replace(left=np.repeat(forest.left, 2)[::2]),
        forest._replace(left=forest.left[None]),
        forest._replace(left=forest.left.tolist()),
        forest._replace(left=forest.left[:-1]),
    ):
        with pytest.raises(ValueError, match="left of its trees must"):
            check(wrong)
    with pytest.raises(ValueError, match="do not make up rounds of 3"):
        check(forest, initial=(0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="initial scores"):
        check(forest, initial=(np.nan,))
    with pytest.raises(ValueError, match="sum is no finite number"):
        check(forest, learning_rate=1e308)


@pytest.mark.parametrize(
    ("split", "leaf"),
    [((3, 0.0), 1.0), ((0, np.nan), 1.0), ((0, 0.0), np.inf), ((-2, 0.0), 1.0)],
)
def test_forests_of_other_libraries_are_checked(split, leaf):
    tree = Tree(Split(*split, Leaf((0.0,), 0), Leaf((leaf,), 1)), lambda node: node)
    with pytest.raises(ValueError, match="This a model cannot be followed: "):
        MeteredForest([tree], np.zeros(1), 3, as_seen=np.asarray, library="a")
