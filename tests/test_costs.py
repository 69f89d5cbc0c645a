"""The cost meter by hand, its twins against each other, and its refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import algorithms.costs as fast
import reference.costs as slow


def fast_cost(passed, feature_costs, split_cost, sharing, n_split_nodes, groups, as_csr=False):
    """Feed the algorithm's meter what the reference's meter takes."""
    prices, kind = fast.split_node_prices(split_cost, sharing, passed.shape[1])
    counts = np.stack([passed[:, kind == s].sum(axis=1) for s in range(len(prices))], axis=1)
    acquired = passed > 0
    if as_csr:
        acquired = sparse.csr_array(acquired)
    return fast.prediction_cost(acquired, counts, feature_costs, prices, n_split_nodes, groups)


def slow_cost(passed, feature_costs, split_cost, sharing, n_split_nodes, groups):
    prices = slow.split_prices(split_cost, sharing, passed.shape[1])
    return slow.prediction_cost(passed, feature_costs, prices, n_split_nodes, groups)


@pytest.mark.parametrize("meter", [slow_cost, fast_cost], ids=["reference", "algorithm"])
def test_by_hand(meter):
    passed = np.array([[2, 0, 1], [0, 0, 0], [0, 1, 1]])
    costs = [1.0, 5.0, 20.0]
    # Row 0 buys features 0 and 2 once each (21) and passes 3 nodes at 1/4: 21.75.
    # Row 1 buys nothing. Row 2: 5 + 20 + 2/4 = 25.5.
    np.testing.assert_array_equal(meter(passed, costs, 0.25, None, 9, None), [21.75, 0, 25.5])
    # Features 0 and 2 together cost 7: row 0: 7 + 0.75; row 2: 5 + 7 + 0.5.
    grouped = meter(passed, [7.0, 5.0, 7.0], 0.25, None, 9, [4, 1, 4])
    np.testing.assert_array_equal(grouped, [7.75, 0, 12.5])
    # Feature 2 shared by 4 rows: row 0: 2/4 + 1/16; row 2: 1/4 + 1/16.
    shared = meter(passed, None, 0.25, [1, 1, 4], 9, None)
    np.testing.assert_array_equal(shared, [0.5625, 0, 0.3125])


def test_rows_do_not_depend_on_each_other_and_stages_share_a_grid():
    rng = np.random.default_rng(1)
    passed = rng.integers(0, 3, (50, 4))
    costs = rng.random(4)
    together = fast_cost(passed, costs, 0.1, [1, 2, 4, 4], 100, None)
    alone = [fast_cost(row[None], costs, 0.1, [1, 2, 4, 4], 100, None)[0] for row in passed]
    np.testing.assert_array_equal(together, alone)


def test_price_grid_is_fine_and_cannot_overflow():
    prices = np.array([0.1, 1e-3, 200.0])
    k = fast.price_exponent(prices, np.array([0.25]), 10_000)
    assert k == slow.price_exponent(prices, np.array([0.25]), 10_000)
    most = fast.on_grid(prices, k).sum() + fast.on_grid(0.25, k) * 10_000
    assert 2**51 <= most <= 2**52
    np.testing.assert_allclose(np.ldexp(fast.on_grid(prices, k), -k), prices, rtol=1e-8)
    assert fast.price_exponent(np.zeros(3), np.zeros(1), 5) == 0


finite = st.floats(0, 1e6, allow_nan=False) | st.sampled_from([0.0, 0.1, 1.0, 1e-9, 1e12])


@st.composite
def bills(draw):
    d = draw(st.integers(1, 6))
    n = draw(st.integers(1, 8))
    passed = np.array(
        draw(st.lists(st.lists(st.integers(0, 3), min_size=d, max_size=d), min_size=n, max_size=n))
    )
    groups = draw(st.none() | st.lists(st.integers(-2, 3), min_size=d, max_size=d))
    labels = range(d) if groups is None else groups
    price = {label: draw(finite) for label in labels}
    sharing = draw(st.none() | st.lists(st.sampled_from([1, 4, 16, 64]), min_size=d, max_size=d))
    n_nodes = int(passed.sum(axis=1).max()) + draw(st.integers(0, 1000))
    return passed, [price[label] for label in labels], draw(finite), sharing, n_nodes, groups


@settings(max_examples=80, deadline=None)
@given(bills())
def test_twins_are_equal(bill):
    expected = slow_cost(*bill)
    np.testing.assert_array_equal(fast_cost(*bill), expected)
    np.testing.assert_array_equal(fast_cost(*bill, as_csr=True), expected)
    passed, costs, _, _, _, groups = bill
    used = np.any(passed > 0, axis=0)
    assert fast.model_cost(used, costs, groups) == slow.model_cost(used, costs, groups)
    np.testing.assert_array_equal(
        fast.feature_units(groups, len(costs)), slow.acquisition_units(groups, len(costs))
    )


def test_blocks_of_rows_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    passed = rng.integers(0, 2, (23, 5))
    bill = (passed, [1.5, 1.5, 3.0, 0.1, 0.1], 0.25, None, 40, [0, 0, 1, 2, 2])
    whole = fast_cost(*bill)
    monkeypatch.setattr(fast, "_BLOCK_ROWS", 4)
    np.testing.assert_array_equal(fast_cost(*bill), whole)


def test_explicit_zeros_of_a_sparse_matrix_are_not_bought():
    acquired = sparse.csr_array((np.array([True, False]), ([0, 0], [0, 1])), shape=(2, 3))
    cost = fast.prediction_cost(acquired, np.array([1, 0]), [2.0, 8.0, 1.0], 0.5, 3)
    np.testing.assert_array_equal(cost, [2.5, 0.0])


def test_a_free_feature_never_raises_a_bill():
    rng = np.random.default_rng(4)
    passed, costs = rng.integers(0, 3, (30, 5)), rng.random(5)
    before = fast_cost(passed, costs, 0.2, None, 60, None)
    for m in range(5):
        cheaper = costs.copy()
        cheaper[m] = 0.0
        # Both bills are rounded to their grids of at least 40 bits below the price sum.
        assert np.all(fast_cost(passed, cheaper, 0.2, None, 60, None) <= before + 1e-12)


def test_model_cost_by_hand():
    used = np.array([True, False, True, True])
    assert fast.model_cost(used, [1.0, 2.0, 4.0, 8.0]) == 13.0
    assert fast.model_cost(used, [1.0, 1.0, 4.0, 4.0], [0, 0, 1, 1]) == 5.0
    assert fast.model_cost(used, None) == 0.0
    assert fast.model_cost(np.ones(3, bool), [0.1, 0.2, 0.3]) == math.fsum([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("costs", "groups", "message"),
    [
        ([1, -1, 2], None, "must not be negative; feature 1 has -1"),
        ([1, 2, np.nan], None, r"must not be missing \(NaN\); feature 2"),
        ([np.inf, 2, 3], None, "must not be infinite; feature 0"),
        ([1, 2], None, "one value for each of the 3 features"),
        (5.0, None, "one value for each of the 3 features"),
        ([1, None, "x"], None, "must be numbers"),
        ([1, 2, 1], [0, 0, 1], "features 0 and 1 share a group but cost 1.0 and 2.0"),
        ([1, 1, 1], [0, 0], "feature_groups must have one label"),
        ([1, 1, 1], [0.5, 0, 1], "feature_groups must be whole numbers"),
        ([1, 1, 1], [np.nan, 0, 1], "feature_groups must be whole numbers"),
        ([1, 1, 1], ["a", "b", "c"], "feature_groups must be whole numbers"),
    ],
)
def test_bad_prices_are_named(costs, groups, message):
    with pytest.raises(ValueError, match=message):
        fast.acquisition_units(costs, groups, 3)
    with pytest.raises(ValueError, match="model_" if groups is None else message):
        fast.model_cost(np.ones(3, bool), costs, groups)


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf, "much", None])
def test_bad_split_cost(bad):
    with pytest.raises(ValueError, match="split_cost must be a"):
        fast.check_split_cost(bad)


@pytest.mark.parametrize("bad", [[1, 2], [1, 0, 1], [1, np.nan, 1], [1, -4, 1]])
def test_bad_sharing(bad):
    with pytest.raises(ValueError, match="feature_sharing must"):
        fast.split_node_prices(1.0, bad, 3)


def test_bad_counts():
    acquired = np.ones((2, 3), bool)
    with pytest.raises(ValueError, match="one column for each of the 2 prices"):
        fast.prediction_cost(acquired, np.array([1, 2]), None, [1.0, 2.0], 9)
    with pytest.raises(ValueError, match=r"than the model has \(1\)"):
        fast.prediction_cost(acquired, np.array([1, 2]), None, [1.0], 1)
