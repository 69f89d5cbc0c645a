"""The reference tree by hand, and against scikit-learn's."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from reference import trees
from reference.beyond import Beyond
from reference.grid import real_count, real_sum, round_to_grid, row_weights

LIMITS = trees.Limits(max_leaves=None, min_samples_leaf=1, min_hessian_leaf=0.0)


def ones(n):
    return row_weights(np.ones(n))


def grow(X, g, limits=LIMITS, h=None, weights=None, max_bins=255):
    """Plain second-order tree on gradients g."""
    weights = ones(len(X)) if weights is None else weights
    beyond = Beyond(sample_weight=weights.real)
    data = beyond.training_data(X, g, replace(limits, max_bins=max_bins))
    return trees.grow_tree(
        data,
        data.on_grid(g),
        data.on_grid(np.ones(len(X)) if h is None else h, positive=True),
        limits,
        lambda raw, rows, m: 0.5 * raw,
        lambda *decision: None,
    )


# --- the grid -------------------------------------------------------------------------------


def test_grid_by_hand():
    # 4 rows of weight 1: W = 4 = 0.5 * 2**3, so 49 bits, at most 30. Largest value 0.75 has
    # exponent 0: k = 30.
    values = np.array([0.75, -0.5, 2.0**-31, 3 * 2.0**-32])
    grid = round_to_grid(values, ones(4))
    assert grid.exponent == 30
    # 2**-31 is half a step: to even, 0. 3 * 2**-32 is 0.75 of a step: 1.
    np.testing.assert_array_equal(grid.ints, [0.75 * 2**30, -0.5 * 2**30, 0, 1])
    assert real_sum(grid, np.arange(2)) == 0.25
    hessians = round_to_grid(np.abs(values), ones(4), positive=True)
    assert hessians.ints[2] == 1


def test_grid_of_zeros():
    grid = round_to_grid(np.zeros(3), ones(3))
    assert grid.exponent == 0
    np.testing.assert_array_equal(grid.ints, 0)


def test_whole_weights_count_as_copies():
    values = np.random.default_rng(0).normal(size=5)
    copies = np.array([3, 1, 2, 1, 4])
    weighted = round_to_grid(values, row_weights(copies))
    repeated = round_to_grid(np.repeat(values, copies), ones(copies.sum()))
    assert weighted.exponent == repeated.exponent
    assert weighted.ints.sum() == repeated.ints.sum()


def test_fractional_weights_are_exact_integers():
    weights = row_weights(np.array([0.5, 0.25, 1e-30]))
    # W = 0.75 has exponent 0: the step is 2**-52; the tiniest weight is one step, not none.
    assert weights.exponent == 52
    np.testing.assert_array_equal(weights.counts, [2**51, 2**50, 1])
    assert real_count(weights, np.array([0, 1])) == 0.75


def test_grid_sums_are_exact_in_any_order():
    rng = np.random.default_rng(1)
    weights = row_weights(rng.random(1000))
    values = rng.normal(size=1000) * 10.0 ** rng.integers(-9, 3, 1000)
    ints = round_to_grid(values, weights).ints
    assert abs(ints).sum() < 2**53
    assert ints.sum() == ints[rng.permutation(1000)].sum() == math.fsum(ints)
    exact = math.fsum(weights.real * values)
    assert real_sum(round_to_grid(values, weights), np.arange(1000)) == pytest.approx(
        exact, abs=1e-9 * np.abs(values).max()
    )


# --- binning --------------------------------------------------------------------------------


def test_every_midpoint_is_an_edge():
    x = np.array([3.0, 1.0, 2.0, 1.0, 6.0])
    np.testing.assert_array_equal(trees.bin_edges(x, ones(5), 4), [1.5, 2.5, 4.5])
    np.testing.assert_array_equal(trees.bin_numbers(x, np.array([1.5, 2.5, 4.5])), [2, 0, 1, 0, 3])
    assert len(trees.bin_edges(np.full(3, 7.0), ones(3), 255)) == 0


def test_quantile_edges_by_hand():
    # Values 1 … 6 with counts 4 1 1 1 1 4 (12 rows), cumulative 4 5 6 7 8 12; 3 bins: cut
    # after the first value with c * 3 >= 12 (value 1) and c * 3 >= 24 (value 5).
    x = np.repeat(np.arange(1.0, 7.0), [4, 1, 1, 1, 1, 4])
    np.testing.assert_array_equal(trees.bin_edges(x, ones(12), 3), [1.5, 5.5])
    # A single heavy value takes several quantiles: duplicates merge. The last value: no edge.
    x = np.repeat(np.arange(1.0, 7.0), [1, 1, 1, 1, 1, 45])
    np.testing.assert_array_equal(trees.bin_edges(x, ones(50), 5), [])
    # Weights count as copies.
    weights = row_weights(np.array([4.0, 1, 1, 1, 1, 4]))
    np.testing.assert_array_equal(trees.bin_edges(np.arange(1.0, 7.0), weights, 3), [1.5, 5.5])


def test_edges_at_the_limits_of_float64():
    a = 1.0
    b = np.nextafter(a, 2)
    edges = trees.bin_edges(np.array([a, b]), ones(2), 255)
    np.testing.assert_array_equal(trees.bin_numbers(np.array([a, b]), edges), [0, 1])
    huge = trees.bin_edges(np.array([-1.7e308, 1.7e308]), ones(2), 255)
    np.testing.assert_array_equal(huge, [0.0])
    assert len(trees.bin_edges(np.array([-0.0, 0.0]), ones(2), 255)) == 0


def test_missing_values_have_the_last_bin():
    x = np.array([3.0, np.nan, 1.0, np.nan])
    edges = trees.bin_edges(x, ones(4), 2)
    np.testing.assert_array_equal(edges, [2.0, trees.ALL_PRESENT])
    largest = np.finfo(np.float64).max
    column = np.append(x, [largest, -largest])
    np.testing.assert_array_equal(trees.bin_numbers(column, edges), [1, 2, 0, 2, 1, 0])
    np.testing.assert_array_equal(
        trees.bin_edges(np.full(3, np.nan), ones(3), 255), [trees.ALL_PRESENT]
    )


# --- one split ------------------------------------------------------------------------------

# Eight rows; squared loss at F = 0, so g = -y, h = 1.
#   x0: 1 1 1 1 2 2 2 2     x1: 1 2 1 2 1 2 1 2      y: -4 -2 -4 -2 1 5 1 5
X8 = np.array([[1, 1], [1, 2], [1, 1], [1, 2], [2, 1], [2, 2], [2, 1], [2, 2]], dtype=float)
Y8 = np.array([-4.0, -2, -4, -2, 1, 5, 1, 5])


def test_gain_by_hand():
    # On x0: sides -12 and 12 of 4 rows: 144/4 + 144/4 - 0 = 72.
    assert trees.gain(12.0, 4.0, -12.0, 4.0, 0.0, 8.0) == 72.0


def test_tree_by_hand():
    tree = grow(X8, -Y8)
    # Root: x0, half of 72. Node 2 (y 1 5 1 5, x0 = 2): 2²/2 + 10²/2 - 12²/4 = 16, half: 8.
    # Node 1 (y -4 -2 -4 -2): 8²/2 + 4²/2 - 12²/4 = 4, half: 2. So node 2 is split first.
    np.testing.assert_array_equal(tree.feature, [0, 1, 1, -1, -1, -1, -1])
    np.testing.assert_array_equal(tree.threshold, [1.5, 1.5, 1.5, 0, 0, 0, 0])
    np.testing.assert_array_equal(tree.left, [1, 5, 3, -1, -1, -1, -1])
    np.testing.assert_array_equal(tree.right, [2, 6, 4, -1, -1, -1, -1])
    np.testing.assert_array_equal(tree.gain, [36, 2, 8, 0, 0, 0, 0])
    np.testing.assert_array_equal(tree.value, [0, 0, 0, 1, 5, -4, -2])
    np.testing.assert_array_equal(tree.count, [8, 4, 4, 2, 2, 2, 2])
    np.testing.assert_array_equal(tree.depth, [0, 1, 1, 2, 2, 2, 2])
    np.testing.assert_array_equal(trees.predict_tree(tree, X8), Y8)
    np.testing.assert_array_equal(trees.nodes_passed(tree, X8), np.ones((8, 2)))
    # An edge value goes left.
    np.testing.assert_array_equal(trees.predict_tree(tree, np.array([[1.5, 1.5]])), [-4])


@pytest.mark.parametrize(
    ("limits", "features"),
    [
        ({"max_leaves": 3}, [0, -1, 1, -1, -1]),
        ({"max_leaves": 3, "growth": "breadth_first"}, [0, 1, -1, -1, -1]),
        ({"max_depth": 1}, [0, -1, -1]),
        ({"max_depth": 0}, [-1]),
        ({"max_leaves": 1}, [-1]),
        ({"min_samples_leaf": 4}, [0, -1, -1]),
        ({"min_samples_leaf": 4.5}, [-1]),
        ({"min_hessian_leaf": 3}, [0, -1, -1]),
    ],
)
def test_limits(limits, features):
    limits = {"max_leaves": None, "min_samples_leaf": 1, "min_hessian_leaf": 0.0} | limits
    np.testing.assert_array_equal(grow(X8, -Y8, trees.Limits(**limits)).feature, features)


def test_ties_go_to_the_lowest_feature_threshold_and_node():
    # Two equal columns: feature 0. Symmetric gradients: thresholds 1.5 and 3.5 tie, 1.5 wins.
    x = np.array([1.0, 2, 3, 4])
    tree = grow(np.stack([x, x], axis=1), np.array([1.0, 0, 0, 1]), trees.Limits(2, None, 1, 0.0))
    assert (tree.feature[0], tree.threshold[0]) == (0, 1.5)
    # Both children gain alike: the lower number is split.
    limits = trees.Limits(3, None, 1, 0.0)
    tree = grow(x[:, None], np.array([3.0, 1, -1, -3]), limits)
    np.testing.assert_array_equal(tree.feature, [0, 0, -1, -1, -1])


def test_rounding_noise_never_splits():
    # Constant gradients: every gain is 0 up to rounding, whatever the size of G²/H.
    X = np.arange(30.0)[:, None]
    h = np.random.default_rng(0).random(30)
    assert len(grow(X, 1e6 * h, h=h).feature) == 1


def test_growth_orders_agree_when_nothing_limits_them():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 9, (200, 3)).astype(float)
    g = rng.normal(size=200)
    limits = {"max_leaves": None, "max_depth": 4, "min_samples_leaf": 5}
    best = grow(X, g, trees.Limits(**limits))
    breadth = grow(X, g, trees.Limits(**limits, growth="breadth_first"))
    assert best.n_splits == breadth.n_splits > 10
    np.testing.assert_array_equal(trees.predict_tree(best, X), trees.predict_tree(breadth, X))
    assert np.any(best.depth != breadth.depth)  # though the nodes were made in another order


def test_weight_three_equals_three_copies():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    g = rng.normal(size=120)
    copies = rng.integers(1, 4, 120)
    limits = trees.Limits(12, None, 9)
    weighted = grow(X, g, limits, weights=row_weights(copies), max_bins=16)
    repeated = grow(np.repeat(X, copies, axis=0), np.repeat(g, copies), limits, max_bins=16)
    for name in vars(weighted):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name))
    assert weighted.n_splits > 3


NONE = math.nan


@pytest.mark.parametrize(
    ("y", "threshold", "missing_left", "new_rows_left"),
    [
        # Present: 1 2 3 4; two rows are missing it. Sides {1, 2, missing} and {3, 4}.
        ([0, 0, 4, 4, 0, 0], 2.5, True, [True, False, True]),
        ([0, 0, 4, 4, 4, 4], 2.5, False, [True, False, False]),
        # Missing against all that is present: every number goes left.
        ([0, 0, 0, 0, 4, 4], trees.ALL_PRESENT, False, [True, True, False]),
        # Either side gains 36 - 144/6 (by hand: 0 + 12²/4, or 4²/4 + 8²/2): right.
        ([0, 0, 4, 4, 2, 2], 2.5, False, [True, False, False]),
        # Symmetric: threshold 1.5 with missing left gains as much as 3.5 with missing right.
        ([4, 0, 0, 4, 4, 4], 3.5, False, [True, False, False]),
    ],
)
def test_missing_values_by_hand(y, threshold, missing_left, new_rows_left):
    x = np.array([1, 2, 3, 4, NONE, NONE])[:, None]
    tree = grow(x, -np.array(y, dtype=float), trees.Limits(2, None, 1, 0.0))
    assert (tree.threshold[0], tree.missing_left[0]) == (threshold, missing_left)
    assert not tree.missing_left[1:].any()
    leaf, passed = trees.walk(tree, np.array([[0.0], [9.0], [NONE]]))
    np.testing.assert_array_equal(leaf == 1, new_rows_left)
    np.testing.assert_array_equal(passed, 1)  # a row that is missing it has asked for it


def test_what_no_row_was_missing_goes_with_most():
    limits = trees.Limits(2, None, 1, 0.0)
    for y, weights, left in (
        ([0, 0, 0, 4], None, True),
        ([0, 4, 4, 4], None, False),
        ([0, 0, 4, 4], None, False),
        ([0, 4, 4, 4], [4.0, 1, 1, 1], True),
    ):
        weights = None if weights is None else row_weights(np.array(weights))
        tree = grow(np.arange(4.0)[:, None], -np.array(y, dtype=float), limits, weights=weights)
        assert tree.missing_left[0] == left


def test_constant_and_absent_features_with_missing_values():
    y = np.array([0.0, 0, 4, 4])
    tree = grow(np.array([[7.0], [7.0], [NONE], [NONE]]), -y)
    np.testing.assert_array_equal(tree.threshold, [trees.ALL_PRESENT, 0, 0])
    np.testing.assert_array_equal(tree.value, [0, 0, 4])
    assert len(grow(np.full((4, 1), NONE), -y).feature) == 1


@pytest.mark.parametrize("max_leaves", [2, 7, 25])
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_against_scikit_learn(max_leaves, share_missing):
    rng = np.random.default_rng(max_leaves)
    X = rng.integers(0, 12, (300, 4)).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)
    if share_missing:
        X[rng.random(X.shape) < share_missing] = NONE
    ours = grow(X, -y, trees.Limits(max_leaves, None, 3))
    theirs = DecisionTreeRegressor(max_leaf_nodes=max_leaves, min_samples_leaf=3).fit(X, y).tree_

    def same(node, other, rows):
        if ours.feature[node] < 0:
            assert theirs.children_left[other] == -1
            # The grid rounds y to about 2**-31 of its largest value.
            assert ours.value[node] == pytest.approx(theirs.value[other].item(), abs=1e-7)
            return
        m = ours.feature[node]
        assert m == theirs.feature[other]
        assert ours.count[node] == theirs.n_node_samples[other] == len(rows)
        goes_left, missing = X[rows, m] <= ours.threshold[node], np.isnan(X[rows, m])
        goes_left[missing] = ours.missing_left[node]
        other_left = X[rows, m] <= theirs.threshold[other]
        other_left[missing] = theirs.missing_go_to_left[other]
        np.testing.assert_array_equal(goes_left, other_left)
        same(ours.left[node], theirs.children_left[other], rows[goes_left])
        same(ours.right[node], theirs.children_right[other], rows[~goes_left])

    assert ours.n_splits == max_leaves - 1
    same(0, 0, np.arange(300))
