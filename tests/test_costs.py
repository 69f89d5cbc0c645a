"""The cost meter by hand, its twins against each other, and its refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import algorithms.costs as fast
import reference.costs as slow


def fast_cost(passed, feature_costs, split_cost, sharing, n_split_nodes, groups, by_group=None):
    """Feed the algorithm's meter what the reference's meter takes: each row walks one path."""
    d = passed.shape[1]
    prices = fast.grid_prices(
        feature_costs, split_cost, groups, sharing, d, n_split_nodes, group_costs=by_group
    )
    paths = [np.repeat(np.arange(d), counts) for counts in passed]
    bills = [np.concatenate([[0], prices.path_steps(path)])[-1] for path in paths]
    return prices.cost(np.array(bills))


def slow_cost(passed, feature_costs, split_cost, sharing, n_split_nodes, groups, by_group=None):
    return slow.prediction_cost(
        passed, n_split_nodes, feature_costs=feature_costs, split_cost=split_cost,
        feature_groups=groups, group_costs=by_group, feature_sharing=sharing,
    )  # fmt: skip


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
    # The group of 0 and 2 costs 7, and 0 costs 1, 2 costs 20 besides: row 0: 7 + 1 + 20 + 0.75;
    # row 2: 2 of the other group, 5, 7 and 20, and 0.5.
    remainders = meter(passed, costs, 0.25, None, 9, ["b", "a", "b"], {"a": 2.0, "b": 7.0})
    np.testing.assert_array_equal(remainders, [28.75, 0, 34.5])
    # Without prices of features the group is all.
    only = meter(passed, None, 0.25, None, 9, ["b", "a", "b"], {"a": 2.0, "b": 7.0})
    np.testing.assert_array_equal(only, [7.75, 0, 9.5])


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
    most = fast.on_grid(prices, k).sum() + int(fast.on_grid(0.25, k)) * 10_000
    assert 2**51 <= most <= 2**52
    np.testing.assert_allclose(np.ldexp(fast.on_grid(prices, k), -k), prices, rtol=1e-8)
    assert fast.price_exponent(np.zeros(3), np.zeros(1), 5) == 0


finite = st.floats(0, 1e6, allow_nan=False) | st.sampled_from(
    [0.0, 0.1, 1.0, 1e-9, 1e12, 5e-324, 1e-310, 1e270]
)


@st.composite
def bills(draw):
    d = draw(st.integers(1, 6))
    n = draw(st.integers(1, 8))
    passed = np.array(
        draw(st.lists(st.lists(st.integers(0, 3), min_size=d, max_size=d), min_size=n, max_size=n))
    )
    label = st.integers(-2, 3) if draw(st.booleans()) else st.sampled_from(["", "a", "b", "ä"])
    groups = draw(st.none() | st.lists(label, min_size=d, max_size=d))
    labels = range(d) if groups is None else groups
    price = {label: draw(finite) for label in labels}
    sharing = draw(st.none() | st.lists(st.sampled_from([1, 4, 16, 64]), min_size=d, max_size=d))
    n_nodes = int(passed.sum(axis=1).max()) + draw(st.integers(0, 1000))
    return passed, [price[label] for label in labels], draw(finite), sharing, n_nodes, groups


@settings(max_examples=80, deadline=None, derandomize=True)
@given(bills(), st.data())
def test_twins_are_equal(bill, data):
    expected = slow_cost(*bill)
    np.testing.assert_array_equal(fast_cost(*bill), expected)
    if bill[-1] is not None:
        by_group = {label: data.draw(finite) for label in dict.fromkeys(bill[-1])}
        other = [data.draw(finite) for _ in bill[1]]
        bill_by_group = (bill[0], other, *bill[2:], by_group)
        np.testing.assert_array_equal(fast_cost(*bill_by_group), slow_cost(*bill_by_group))
        # A group that costs nothing leaves the sum of its features' prices.
        free = (bill[0], other, *bill[2:], dict.fromkeys(by_group, 0.0))
        alone = (*free[:5], None)
        np.testing.assert_array_equal(fast_cost(*free), fast_cost(*alone))
    passed, costs, _, _, _, groups = bill
    used = np.any(passed > 0, axis=0)
    assert fast.model_cost(used, costs, groups) == slow.model_cost(used, costs, groups)
    np.testing.assert_array_equal(
        fast.acquisition_units(groups, len(costs)), slow.acquisition_units(groups, len(costs))
    )


def test_a_path_is_billed_step_by_step():
    prices = fast.grid_prices([1.0, 7.0, 7.0], 0.25, ["a", "b", "b"], [1, 1, 2], 3, 8)
    # Feature 2 brings feature 1; each is paid for at its group's first use.
    stages = prices.cost(prices.path_steps(np.array([2, 0, 1, 2, 0])))
    np.testing.assert_array_equal(stages, [7.125, 8.375, 8.625, 8.75, 9.0])
    assert prices.cost(prices.path_steps(np.zeros(0, dtype=int))).shape == (0,)
    # The group costs 7; feature 1 costs 3 and feature 2 costs 2 besides, each once.
    by_group = {"a": 0.0, "b": 7.0}
    prices = fast.grid_prices(
        [1.0, 3.0, 2.0], 0.25, ["a", "b", "b"], [1, 1, 2], 3, 8, group_costs=by_group
    )
    stages = prices.cost(prices.path_steps(np.array([2, 0, 1, 2, 0])))
    np.testing.assert_array_equal(stages, [9.125, 10.375, 13.625, 13.75, 14.0])


@pytest.mark.parametrize("price", [5e-324, 2.3e-308, 1e-300, 1.0, 1e200, 1e270])
def test_bills_of_the_smallest_and_the_largest_prices(price):
    passed = np.array([[1, 0, 2], [3, 3, 3], [0, 0, 0]])
    bill = (passed, [price, price, 2 * price if price < 1e270 else price], price, None, 9, None)
    for cost in (fast_cost(*bill), slow_cost(*bill)):
        assert np.all(np.isfinite(cost))
        assert cost[1] > cost[0] > cost[2] == 0
    np.testing.assert_array_equal(fast_cost(*bill), slow_cost(*bill))
    np.testing.assert_allclose(fast_cost(*bill)[0] / price, 6 if price < 1e270 else 5, rtol=1e-9)


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
        ([1, 2, 1e308], None, r"must not be above 1e\+270; feature 2 has 1e\+308"),
        ([1, 2, 10**400], None, r"must be at most 1e\+270"),
        (["1", "2", "3"], None, "must be numbers, one for each feature, not text"),
        ([1, "2", 3], None, "not text"),
        ([True, False, True], None, "not booleans"),
        ([1, True, 3], None, "not booleans"),
        (np.array([1, True, 3], dtype=object), None, "not booleans"),
        ([1, 2, 3j], None, "not complex numbers"),
        (np.array([1, 2, 3], dtype="datetime64[s]"), None, "not dates"),
        (np.array([1, 2, 3], dtype="timedelta64[s]"), None, "not time spans"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), None, "not a masked array"),
        (pd.Series([1, None, 3], dtype="Float64"), None, "missing"),
        (pd.Series(pd.to_datetime(["2001-01-01"] * 3)), None, "not dates"),
        (pd.Series(pd.to_datetime(["2001-01-01"] * 3, utc=True)), None, "must be numbers"),
        ([[1], [2, 3]], None, "must be numbers"),
        ({1, 2, 3}, None, "must be numbers"),
        ([1, 2, 1], [0, 0, 1], "features 0 and 1 share a group but cost 1.0 and 2.0"),
        ([1, 1, 1], [0, 0], "feature_groups must have one label"),
        ([1, 1, 1], [0.5, 0, 1], "feature_groups must be whole numbers"),
        ([1, 1, 1], [np.nan, 0, 1], "feature_groups must be whole numbers"),
        ([1, 1, 1], ["a", "b", 1], "feature_groups must be whole numbers, or names"),
        ([1, 1, 1], [0, True, 1], "feature_groups must be whole numbers, or names"),
        ([1, 1, 1], [True, False, True], "feature_groups must be whole numbers, or names"),
        ([1, 1, 1], ["a", None, "b"], "feature_groups must be whole numbers, or names"),
        ([1, 1, 1], np.ma.array([1, 2, 3], mask=[0, 1, 0]), "not a masked array"),
    ],
)
def test_bad_prices_are_named(costs, groups, message):
    with pytest.raises(ValueError, match=message):
        fast.unit_prices(costs, fast.acquisition_units(groups, 3))
    with pytest.raises(ValueError, match="model_" if groups is None else message):
        fast.model_cost(np.ones(3, bool), costs, groups)


@pytest.mark.parametrize(
    "bad",
    [-1, np.nan, np.inf, "much", None, True, np.True_, 1j, [1.0], np.timedelta64(1, "s"), 1e308,
     10**400, np.ma.array(1.0, mask=True)],
)  # fmt: skip
def test_bad_split_cost(bad):
    with pytest.raises(ValueError, match="split_cost must be a"):
        fast.check_split_cost(bad)


def test_a_quotient_that_is_too_large():
    with pytest.raises(ValueError, match=r"split_cost / feature_sharing must be .* feature 1"):
        fast.split_prices(1.0, [1.0, 1e-300, 1.0], 3)


@pytest.mark.parametrize("bad", [[1, 2], [True] * 3, [1, 0, 1], [1, np.nan, 1], [1, -4, 1]])
def test_bad_sharing(bad):
    with pytest.raises(ValueError, match="feature_sharing must"):
        fast.split_prices(1.0, bad, 3)
