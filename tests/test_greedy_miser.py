"""Greedy Miser by hand, and at the limits of its budget."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from reference import greedy_miser as reference
from tests.reference.test_greedy_miser import X8, Y8
from tests.twins import assert_twins

BOTH = [GreedyMiserRegressor, GreedyMiserClassifier]
ONE_TREE = {"n_estimators": 1, "learning_rate": 1.0, "min_samples_leaf": 1}
TWO_TREES = {"n_estimators": 2, "learning_rate": 0.5, "tradeoff": 1.0, "feature_costs": [20.0, 3.0]}
GROUP = {"feature_costs": [1.0, 4.0], "feature_groups": [7, 7], "group_costs": {7: 10.0}}


@pytest.mark.parametrize(
    "options",
    [
        TWO_TREES,
        TWO_TREES | {"charging": "authors"},
        GROUP | {"tradeoff": 1.0},
        *(TWO_TREES | {"n_estimators": 9, "tradeoff": 0.0, "budget": b} for b in (23.0, 4.0, 3.5)),
    ],
)
def test_what_is_computed_by_hand_of_the_reference(options):
    assert_twins(GreedyMiserRegressor(**ONE_TREE | options), reference, X8, Y8)


def test_bills_of_a_group_by_hand():
    model = GreedyMiserRegressor(**ONE_TREE, **GROUP, tradeoff=1.0).fit(X8, Y8)
    assert model.forest_cost() == 16
    assert model.forest_cost(tree_cost=0.0, feature_costs=[2.0, 0.0]) == 12
    # A row with x0 = 2 pays the group, x0 and x1; the others the group and x0.
    np.testing.assert_array_equal(model.prediction_cost(X8), [11, 11, 11, 11, 15, 15, 15, 15])


def splits(model):
    """(node, feature, net gain) of every split of a tree in order."""
    forest = model.trees_
    nodes = np.flatnonzero(forest.feature >= 0)
    return list(zip(nodes, forest.feature[nodes], forest.gain[nodes], strict=True))


def test_a_leaf_that_was_a_candidate_is_not_split_once_the_budget_is_spent():
    # B = 33 pays for one tree, x0 and either x1 or x2, which are alike: node 1 buys x1, and node 2,
    # which would buy x2 by the authors' rule of splitting always, has nothing left but x0 and x1.
    X = np.column_stack([X8, X8[:, 1]])
    X[:4, 2], X[4:, 1] = 1.0, 1.0  # x1 tells something on the left only, x2 on the right only
    for charging in ("first_use", "authors"):
        options = ONE_TREE | {"feature_costs": [20.0, 12.0, 12.0], "charging": charging}
        model = GreedyMiserRegressor(**options, budget=33.0, tradeoff=0.0).fit(X, Y8)
        assert splits(model) == [(0, 0, 36), (1, 1, 2)]
        model.set_params(budget=45.0).fit(X, Y8)
        assert splits(model) == [(0, 0, 36), (1, 1, 2), (2, 2, 8)]


# --- limits ----------------------------------------------------------------------------------

SHORT = {"n_estimators": 6, "min_samples_leaf": 5}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 6))
    y = X[:, 0] + X[:, 3] * (X[:, 1] > 0) + np.abs(X[:, 5]) + 0.3 * rng.normal(size=400)
    return X, y


def target(cls, y):
    return y if cls is GreedyMiserRegressor else np.digitize(y, [0.3, 1.2])


PRICES = {"feature_costs": [4.0, 1, 1, 2, 0, 0.3]}
GROUPS = {
    "feature_costs": [0.1, 0.2, 0.3, 0.0, 0.7, 1.0],
    "feature_groups": ["a", "b", "b", "c", "c", "d"],
    "group_costs": {"a": 1.1, "b": 0.0, "c": 2.3, "d": 1.0},
}


@pytest.mark.filterwarnings("ignore::algorithms.estimators.fitting.ConstantModelWarning")
@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("charging", ["first_use", "authors"])
@pytest.mark.parametrize("prices", [PRICES, GROUPS], ids=["features", "groups"])
def test_the_budget_is_never_passed(data, cls, charging, prices):
    X, y = data[0], target(cls, data[1])
    model, sizes = cls(**SHORT, **prices, charging=charging, tree_cost=0.3), set()
    for budget in (0.0, 0.25, 0.3, 1.0, 2.6, 3.4, 5.7, 9.9, 14.0):
        bills = list(model.set_params(budget=budget).fit(X, y).staged_forest_cost())
        assert bills == sorted(bills)
        assert all(bill <= budget for bill in bills)
        sizes.add(len(model.trees_.feature))
    assert len(sizes) > 4  # the budgets make a difference


@pytest.mark.parametrize("tree_cost", ["0.1", "0.7", "0.01", "1.1", "9.31", "1e-05"])
@pytest.mark.parametrize("charging", ["first_use", "authors"])
def test_a_budget_in_decimals_is_spent_to_the_last_tree(tree_cost, charging):
    """What is affordable is counted in decimals, as a person would."""
    X, y = np.arange(40.0)[:, None], np.where(np.arange(40) < 20, 0.0, 1.0)
    options = {"n_estimators": 30, "min_samples_leaf": 1, "max_depth": 1, "charging": charging}
    for n_trees in (1, 3, 10):
        for price in ("0", "0.3"):
            budget = float(n_trees * Decimal(tree_cost) + Decimal(price))
            prices = {"tree_cost": float(tree_cost), "feature_costs": [float(price)]}
            model = GreedyMiserRegressor(**options, **prices, budget=budget)
            assert_twins(model, reference, X, y)
            assert model.n_estimators_ == n_trees
            assert model.forest_cost() == budget


def test_prices_of_groups_in_decimals_are_within_their_sum():
    prices = {"feature_costs": [0.1, 0.2], "feature_groups": [0, 0], "group_costs": {0: 0.2}}
    model = GreedyMiserRegressor(**ONE_TREE, **prices, budget=0.6, tree_cost=0.1, tradeoff=0.0)
    model.fit(X8, Y8)
    assert model.model_features().all()
    assert model.forest_cost() == 0.6


def test_a_budget_of_more_steps_than_a_computer_word_is_not_passed(data):
    """Prices of 17 digits beside a budget of many: steps are no longer exact, and rounded up."""
    X, y = data
    prices = {"feature_costs": [1e9 / 3, 1e-9 / 3, 1e5 / 7, 1e9 / 7, 1e-20, 1e200]}
    prices["tree_cost"] = 1e8 / 9
    for budget in (1e9, 4e8, 5e8 / 3):
        model = GreedyMiserRegressor(**SHORT, **prices, budget=budget)
        assert_twins(model, reference, X, y)
        assert 0.3 * budget < model.forest_cost() <= budget


@pytest.mark.parametrize("cls", BOTH)
def test_a_budget_below_the_cheapest_feature_leaves_a_constant_and_says_so(data, cls):
    X, y = data[0], target(cls, data[1])
    with pytest.warns(ConstantModelWarning, match=r"budget=1\.2 is less than one tree"):
        model = cls(**SHORT, feature_costs=np.full(6, 0.25), budget=1.2).fit(X, y)
    assert model.n_estimators_ == 0
    assert len(set(model.predict(X))) == 1
    assert (model.forest_cost(), list(model.staged_forest_cost())) == (0.0, [])
    np.testing.assert_array_equal(model.prediction_cost(X), 0)
    assert cls(**SHORT, feature_costs=np.full(6, 0.25), budget=1.25).fit(X, y).n_estimators_ == 1
    with pytest.warns(ConstantModelWarning, match="No split is worth its cost"):
        cls(**SHORT, tradeoff=1e9, feature_costs=np.ones(6)).fit(X, y)
    with pytest.warns(ConstantModelWarning, match="min_samples_leaf=300 counts row weight"):
        cls(min_samples_leaf=300, budget=0.0).fit(X, y)


def test_a_tradeoff_times_a_price_must_be_a_number():
    model = GreedyMiserRegressor(tradeoff=1e200, feature_costs=[1e200, 0.0])
    with pytest.raises(ValueError, match="is not a finite number"):
        model.fit(X8, Y8)
