"""Greedy Miser by hand, at its limits, and what it refuses."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pytest

from algorithms.boosted_trees import estimator as boosted_trees
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from reference import forest_costs
from reference import greedy_miser as miser
from reference.beyond.by_name import fit

BOTH = [GreedyMiserRegressor, GreedyMiserClassifier]

# Eight rows; squared loss at F = 0. How far a split lowers the impurity (5), without its price:
#   root on x0 36, on x1 9; node 1 (x0 = 1) on x1 2; node 2 (x0 = 2) on x1 8.
X8 = np.array([[1, 1], [1, 2], [1, 1], [1, 2], [2, 1], [2, 2], [2, 1], [2, 2]], dtype=float)
Y8 = np.array([-4.0, -2, -4, -2, 1, 5, 1, 5])


def fit8(**options):
    defaults = {"n_estimators": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "tradeoff": 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        return GreedyMiserRegressor(**(defaults | options)).fit(X8, Y8)


def splits(model):
    """(round, node, feature, net gain) of every split in order."""
    forest = model.trees_
    return [
        (t, int(node - forest.tree[t]), int(forest.feature[node]), float(forest.gain[node]))
        for t in range(forest.n_trees)
        for node in range(forest.tree[t], forest.tree[t + 1])
        if forest.feature[node] >= 0
    ]


# --- by hand ---------------------------------------------------------------------------------


def test_charged_at_first_use_by_hand():
    # Root: 36 - 20. Node 1: 2 - 3 < 0, no split. Node 2: 8 - 3. In the second round all is free.
    model = fit8(feature_costs=[20.0, 3.0], n_estimators=2, learning_rate=0.5)
    assert splits(model) == [(0, 0, 0, 16), (0, 2, 1, 5), (1, 0, 0, 9), (1, 1, 1, 2), (1, 2, 1, 2)]
    assert list(model.staged_forest_cost()) == [24, 25]
    # One row, beside it: every row's path tests x0 and, sooner or later, x1.
    np.testing.assert_array_equal(model.prediction_cost(X8), 23)


def test_the_authors_rule_by_hand():
    # Node 1 splits though it loses 1 by it, and node 2 pays for x1 once more.
    model = fit8(charging="authors", feature_costs=[20.0, 3.0], n_estimators=2, learning_rate=0.5)
    assert splits(model) == [
        (0, 0, 0, 16), (0, 1, 1, -1), (0, 2, 1, 5), (1, 0, 0, 9), (1, 1, 1, 0.5), (1, 2, 1, 2),
    ]  # fmt: skip
    assert list(model.staged_forest_cost()) == [24, 25]


def test_a_group_with_remainders_by_hand():
    # The group costs 10, x0 1 and x1 4 besides: 36 - 11 on x0; then x1 costs 4.
    prices = {"feature_costs": [1.0, 4.0], "feature_groups": [7, 7], "group_costs": {7: 10.0}}
    model = fit8(**prices)
    assert splits(model) == [(0, 0, 0, 25), (0, 2, 1, 4)]
    assert model.forest_cost() == 16
    assert model.forest_cost(tree_cost=0.0, feature_costs=[2.0, 0.0]) == 12
    # A row with x0 = 2 pays the group, x0 and x1; the others the group and x0.
    np.testing.assert_array_equal(model.prediction_cost(X8), [11, 11, 11, 11, 15, 15, 15, 15])


def test_budget_by_hand():
    prices = {"feature_costs": [20.0, 3.0], "tradeoff": 0.0}
    options = {"learning_rate": 0.5, "n_estimators": 9, **prices}
    model = fit8(budget=23.0, **options)
    assert splits(model) == [(0, 0, 0, 36), (1, 0, 0, 9), (2, 0, 0, 2.25)]
    assert list(model.staged_forest_cost()) == [21, 22, 23]
    assert splits(fit8(budget=4.0, **options)) == [(0, 0, 1, 9)]
    assert splits(fit8(budget=3.5, **options)) == []


def test_a_leaf_that_was_a_candidate_is_not_split_once_the_budget_is_spent():
    # B = 33 pays for one tree, x0 and either x1 or x2, which are alike: node 1 buys x1, and node 2,
    # which would buy x2 by the authors' rule of splitting always, has nothing left but x0 and x1.
    X = np.column_stack([X8, X8[:, 1]])
    X[:4, 2], X[4:, 1] = 1.0, 1.0  # x1 tells something on the left only, x2 on the right only
    options = {"n_estimators": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "tradeoff": 0.0}
    prices = {"feature_costs": [20.0, 12.0, 12.0], "budget": 33.0}
    for charging in ("first_use", "authors"):
        model = GreedyMiserRegressor(**options, **prices, charging=charging).fit(X, Y8)
        assert splits(model) == [(0, 0, 0, 36), (0, 1, 1, 2)]
        more = GreedyMiserRegressor(**options, **prices | {"budget": 45.0}, charging=charging)
        assert splits(more.fit(X, Y8)) == [(0, 0, 0, 36), (0, 1, 1, 2), (0, 2, 2, 8)]


# --- limits ----------------------------------------------------------------------------------

PRICES = {"feature_costs": [4.0, 1, 1, 2, 0, 0.3]}
GROUPS = {
    "feature_costs": [0.1, 0.2, 0.3, 0.0, 0.7, 1.0],
    "feature_groups": ["a", "b", "b", "c", "c", "d"],
    "group_costs": {"a": 1.1, "b": 0.0, "c": 2.3, "d": 1.0},
}
SHORT = {"n_estimators": 6, "min_samples_leaf": 5}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 6))
    y = X[:, 0] + X[:, 3] * (X[:, 1] > 0) + np.abs(X[:, 5]) + 0.3 * rng.normal(size=400)
    return X, y


def target(cls, y):
    return y if cls in (GreedyMiserRegressor, CEGBRegressor) else np.digitize(y, [0.3, 1.2])


def same_trees(a, b):
    for name, values in a.trees_._asdict().items():
        np.testing.assert_array_equal(values, getattr(b.trees_, name), name)


def test_no_tradeoff_is_plain_boosting(data):
    X, y = data
    plain = GBRTRegressor(
        **SHORT, max_leaves=None, max_depth=4, growth="breadth_first", init="mean",
        min_hessian_leaf=0.0,
    ).fit(X, y)  # fmt: skip
    same_trees(GreedyMiserRegressor(**SHORT, **PRICES).fit(X, y), plain)
    same_trees(GreedyMiserRegressor(**SHORT, tradeoff=9.0, tree_cost=0.0).fit(X, y), plain)
    same_trees(GreedyMiserRegressor(**SHORT, **PRICES, charging="authors").fit(X, y), plain)
    paid = GreedyMiserRegressor(**SHORT, **PRICES, tradeoff=9.0).fit(X, y)
    assert not np.array_equal(paid.predict(X), plain.predict(X))


@pytest.mark.parametrize(
    ("miser_class", "cegb"),
    [(GreedyMiserRegressor, CEGBRegressor), (GreedyMiserClassifier, CEGBClassifier)],
)
def test_restricted_cegb_builds_the_same_trees(data, miser_class, cegb):
    """Features at the model's expense, first-order terms, breadth first, 16 leaves, from 0."""
    X, y = data[0], target(miser_class, data[1])
    costs, used = np.array(PRICES["feature_costs"]), set()
    for tradeoff in (0.5, 3.0, 9.0):
        restricted = cegb(
            **SHORT, tradeoff=tradeoff, model_feature_costs=costs, max_leaves=None, max_depth=4,
            growth="breadth_first", second_order=False, init="mean", min_hessian_leaf=0.0,
        ).fit(X, y)  # fmt: skip
        model = miser_class(**SHORT, tradeoff=tradeoff, feature_costs=costs).fit(X, y)
        same_trees(model, restricted)
        assert model.forest_cost(tree_cost=0.0) == restricted.model_cost()
        used.add(int(model.model_features().sum()))
    assert len(used) > 1  # prices decide


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("charging", ["first_use", "authors"])
def test_whole_weights_equal_copies(data, cls, charging):
    X, y = data[0], target(cls, data[1])
    copies = np.where(np.arange(400) % 3 == 0, 10, 1)
    parameters = SHORT | GROUPS | {"tradeoff": 2.0, "budget": 9.0, "charging": charging}
    weighted = cls(**parameters).fit(X, y, sample_weight=copies)
    repeated = cls(**parameters).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    same_trees(weighted, repeated)
    assert len(weighted.trees_.feature) > 10


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("charging", ["first_use", "authors"])
@pytest.mark.parametrize("prices", [PRICES, GROUPS], ids=["features", "groups"])
def test_the_budget_is_never_passed(data, cls, charging, prices):
    X, y = data[0], target(cls, data[1])
    sizes = set()
    for budget in (0.0, 0.25, 0.3, 1.0, 2.6, 3.4, 5.7, 9.9, 14.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantModelWarning)
            model = cls(**SHORT, **prices, charging=charging, budget=budget, tree_cost=0.3).fit(
                X, y
            )
        bills = list(model.staged_forest_cost())
        assert bills == sorted(bills)
        assert all(bill <= budget for bill in bills)
        sizes.add(len(model.trees_.feature))
    assert len(sizes) > 4  # the budgets make a difference
    without = cls(**SHORT, **prices, charging=charging, tree_cost=0.3).fit(X, y)
    for budget in (np.inf, 1e6, without.forest_cost() + 1e-9):
        same = cls(**SHORT, **prices, charging=charging, tree_cost=0.3, budget=budget).fit(X, y)
        same_trees(same, without)
        assert same.n_estimators_ == 6


def test_a_higher_tradeoff_costs_less(data):
    X, y = data
    costs = [
        GreedyMiserRegressor(**SHORT, **PRICES, tradeoff=t).fit(X, y).forest_cost()
        for t in (0.0, 3.0, 30.0, 100.0)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < 0.9 * costs[0]


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
            model = GreedyMiserRegressor(**options, **prices, budget=budget).fit(X, y)
            assert model.n_estimators_ == n_trees
            assert model.forest_cost() == budget
            reference = fit(miser, X, y, **options, **prices, budget=budget)
            assert len(reference.rounds) == n_trees
            assert forest_costs.forest_cost(reference, 1, **prices) == budget


def test_prices_of_groups_in_decimals_are_within_their_sum():
    model = fit8(
        budget=0.6, tree_cost=0.1, feature_costs=[0.1, 0.2], feature_groups=[0, 0],
        group_costs={0: 0.2}, tradeoff=0.0,
    )  # fmt: skip
    assert model.model_features().all()
    assert model.forest_cost() == 0.6


def test_a_budget_of_more_steps_than_a_computer_word_is_not_passed(data):
    """Prices of 17 digits beside a budget of many: steps are no longer exact, and rounded up."""
    X, y = data
    prices = {"feature_costs": [1e9 / 3, 1e-9 / 3, 1e5 / 7, 1e9 / 7, 1e-20, 1e200]}
    prices["tree_cost"] = 1e8 / 9
    for budget in (1e9, 4e8, 5e8 / 3):
        model = GreedyMiserRegressor(**SHORT, **prices, budget=budget).fit(X, y)
        assert 0.3 * budget < model.forest_cost() <= budget
        reference = fit(miser, X, y, **SHORT, **prices, budget=budget)
        assert forest_costs.forest_cost(reference, 6, **prices) == model.forest_cost()


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


def test_the_forests_bill_by_hand(data):
    """Of Eq. (3): each group of which a tree tests a feature, each such feature, each tree."""
    X, y = data[0], target(GreedyMiserClassifier, data[1])
    model = GreedyMiserClassifier(**SHORT, **GROUPS, tradeoff=4.0, tree_cost=0.5).fit(X, y)
    forest = model.trees_
    roots = forest.tree[:-1]
    used = np.flatnonzero(model.model_features())
    labels = {GROUPS["feature_groups"][m] for m in used}
    bill = sum(GROUPS["group_costs"][label] for label in labels)
    bill += sum(GROUPS["feature_costs"][m] for m in used)
    bill += 0.5 * np.count_nonzero(forest.left[roots] >= 0)
    assert model.forest_cost() == pytest.approx(bill, rel=1e-12)
    assert 0 < len(labels) < 4 or len(used) < 6
    # No row pays for more features than the forest has.
    assert model.prediction_cost(X).max() <= model.forest_cost(tree_cost=0.0) + 1e-12


# --- bad input -------------------------------------------------------------------------------

WRONG = [
    ("tradeoff", [-1e-9, np.nan, np.inf, "1", None, True]),
    ("tree_cost", [-1.0, np.nan, np.inf, "1", None, True, 1e271]),
    ("budget", [-1.0, np.nan, -np.inf, "1", True, [3.0], 10**400]),
    ("charging", ["per_node", None, 1, ["authors"]]),
    ("max_depth", [0, -1, 1.5, "3", True]),
    ("feature_costs", [[1, 2], [1, 2, -1], [1, 2, np.nan]]),
    ("feature_groups", [[0, 1], [0, 1, 1.5], [["a", "b"], "b", "b"], ["a", None, "b"]]),
]


@pytest.fixture
def no_work(monkeypatch):
    """Boosting must not begin: what is wrong is said before any work."""

    def begun(*_, **__):
        raise AssertionError("the estimator began to work on wrong input")

    monkeypatch.setattr(boosted_trees, "boost", begun)


@pytest.mark.parametrize(("name", "value"), [(name, v) for name, vs in WRONG for v in vs])
@pytest.mark.parametrize("cls", BOTH)
def test_wrong_parameters_are_refused(no_work, cls, name, value):
    with pytest.raises(ValueError, match=name):
        cls(**{name: value}).fit(np.arange(60.0).reshape(20, 3), np.arange(20) % 2)


@pytest.mark.parametrize(
    ("groups", "prices", "message"),
    [
        (None, {"a": 1.0}, "group_costs needs feature_groups"),
        (["a", "b", "b"], {"a": 1.0}, "no price for 'b'"),
        (["a", "b", "b"], {"a": 1.0, "b": 1.0, "c": 1.0}, "a price for the unknown 'c'"),
        ([1, 2, 2], {"1": 1.0, 2: 2.0}, "no price for 1 and a price for the unknown '1'"),
        (["a", "b", "b"], [1.0, 2.0], "group_costs must be a dict"),
        (["a", "b", "b"], 3.0, "group_costs must be a dict"),
        (["a", "b", "b"], {"a": 1.0, "b": -2.0}, "must not be negative; group 'b' has -2"),
        ([5, 7, 7], {5: 1.0, 7: np.nan}, r"must not be missing \(NaN\); group 7"),
        (["a", "b", "b"], {"a": "1", "b": 1.0}, "group_costs must be numbers, one for each group"),
        (["a", "b", "b"], {"a": [1.0], "b": [1.0]}, "group_costs must have one number"),
        (["a", "b", "b"], {"a": 1.0, "b": True}, "not booleans"),
    ],
)
@pytest.mark.parametrize("cls", [GreedyMiserRegressor, GBRTRegressor, CEGBRegressor])
def test_wrong_groups_are_refused(no_work, cls, groups, prices, message):
    with pytest.raises(ValueError, match=message):
        cls(feature_groups=groups, group_costs=prices).fit(np.ones((20, 3)), np.arange(20) % 2)


def test_a_tradeoff_times_a_price_must_be_a_number(no_work):
    model = GreedyMiserRegressor(tradeoff=1e200, feature_costs=[1e200, 0.0])
    with pytest.raises(ValueError, match="is not a finite number"):
        model.fit(np.arange(40.0).reshape(20, 2), np.arange(20))
