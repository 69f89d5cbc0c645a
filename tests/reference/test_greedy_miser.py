"""The Greedy Miser reference by hand, its equations against each other, and its limits."""

import math
from itertools import pairwise

import numpy as np
import pytest

from reference import boosting, cegb, forest_costs, gbrt, losses, trees
from reference import greedy_miser as miser
from reference.beyond.by_name import fit

# Eight rows; squared loss at F = 0, so r = y.
#   x0: 1 1 1 1 2 2 2 2     x1: 1 2 1 2 1 2 1 2      y: -4 -2 -4 -2 1 5 1 5
# How far a split lowers the impurity (5), without its price:
#   root on x0: ½ (144/4 + 144/4 - 0)    = 36     root on x1: ½ (36/4 + 36/4 - 0) = 9
#   x0 = 1 (sum -12), on x1: ½ (64/2 + 16/2 - 144/4)  = 2
#   x0 = 2 (sum  12), on x1: ½ (4/2 + 100/2 - 144/4)  = 8
#   x1 = 1 (sum  -6), on x0: ½ (64/2 + 4/2 - 36/4)    = 12.5
#   x1 = 2 (sum   6), on x0: ½ (16/2 + 100/2 - 36/4)  = 24.5
X8 = np.array([[1, 1], [1, 2], [1, 1], [1, 2], [2, 1], [2, 2], [2, 1], [2, 2]], dtype=float)
Y8 = np.array([-4.0, -2, -4, -2, 1, 5, 1, 5])

# Three classes of two rows at x = 0, 1, 2; F = 0: r = 2/3 in a class's own rows, -1/3 elsewhere.
#   class 0, after 0: ½ ((4/3)²/2 + (4/3)²/4) = 2/3    class 2, after 1: the same
#   class 1, after 0: ½ ((2/3)²/2 + (2/3)²/4) = 1/6    (a tie with after 1)
X6, Y6 = np.repeat([0.0, 1, 2], 2)[:, None], np.repeat([0, 1, 2], 2)


def fit8(**options):
    defaults = {"n_estimators": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "tradeoff": 1.0}
    return fit(miser, X8, Y8, **(defaults | options))


def fit6(**options):
    return fit(miser, X6, Y6, **(STUMP | {"loss": "multinomial"} | options))


def decisions(model):
    """(round, node, feature, gain, charge) of every split in order."""
    return [(d.round, d.node, d.feature, d.gain, d.penalty) for d in model.trace]


def bills(model):
    """Eq. (3)'s cost after every split."""
    return [d.cumulative_cost for d in model.trace]


# --- both rules of charging, by hand --------------------------------------------------------


def test_charged_at_first_use_by_hand():
    # Root: 36 - 20 on x0 is more than 9 - 3 on x1. Node 1 (x0 = 1) on x1: 2 - 3 < 0, no split.
    # Node 2 on x1: 8 - 3. With η = ½ the residuals are then, row by row,
    #   -4 + 1.5 = -2.5, -2 + 1.5 = -0.5 (twice each), 1 - 0.5 = 0.5, 5 - 2.5 = 2.5 (twice each):
    # root on x0: ½ (6²/4 + 6²/4) = 9, node 1 on x1: ½ (5²/2 + 1²/2 - 6²/4) = 2, node 2: the same.
    # All is paid for by then. The bill: 1 + 20, + 3, and 1 for the second tree.
    model = fit8(feature_costs=[20.0, 3.0], n_estimators=2, learning_rate=0.5)
    assert decisions(model) == [
        (0, 0, 0, 16, 20), (0, 2, 1, 5, 3),
        (1, 0, 0, 9, 0), (1, 1, 1, 2, 0), (1, 2, 1, 2, 0),
    ]  # fmt: skip
    assert bills(model) == [21, 24, 25, 25, 25]
    np.testing.assert_array_equal(model.rounds[0][0].value, [0, -3, 0, 1, 5])
    assert list(forest_costs.staged_forest_cost(model, 2, feature_costs=[20.0, 3.0])) == [24, 25]


def test_the_authors_rule_by_hand():
    # Root as above. Node 1 splits though it loses 1 by it, and node 2 pays for x1 once more.
    # After the round both are free; η = ½ leaves half the residuals and a quarter of the gains.
    # The bill of the model is the same: it has bought x1 once.
    costs = {"feature_costs": [20.0, 3.0]}
    model = fit8(charging="authors", n_estimators=2, learning_rate=0.5, **costs)
    assert decisions(model) == [
        (0, 0, 0, 16, 20), (0, 1, 1, -1, 3), (0, 2, 1, 5, 3),
        (1, 0, 0, 9, 0), (1, 1, 1, 0.5, 0), (1, 2, 1, 2, 0),
    ]  # fmt: skip
    assert bills(model) == [21, 24, 24, 25, 25, 25]


def test_the_authors_rule_charges_again_below_a_node_of_the_same_feature():
    # One feature, y falls twice: root after 2 (sums 4 and 0): ½ (4²/2 + 0 - 4²/4) = 2, after 1:
    # ½ (3²/1 + 1²/3 - 4) = 8/3, after 3: ½ (4²/3 + 0 - 4) = 2/3. Below, at x = 2, 3, 4 with
    # y = 1 0 0: after 2: ½ (1 + 0 - 1/3) = 1/3; x = 3, 4 are alike.
    X, y = np.arange(1.0, 5)[:, None], np.array([3.0, 1, 0, 0])
    options = {"n_estimators": 1, "min_samples_leaf": 1, "tradeoff": 0.5, "feature_costs": [2.0]}
    model = fit(miser, X, y, charging="authors", **options)
    np.testing.assert_allclose([d.gain for d in model.trace], [5 / 3, -2 / 3], rtol=1e-8)
    assert [d.penalty for d in model.trace] == [2, 2]
    model = fit(miser, X, y, **options)
    np.testing.assert_allclose([d.gain for d in model.trace], [5 / 3, 1 / 3], rtol=1e-8)
    assert [d.penalty for d in model.trace] == [2, 0]


def test_all_trees_of_a_round_pay_by_the_authors_rule():
    # λ = ½, c = 1. First use: 2/3 - ½, then 1/6 and 2/3 for nothing. Authors: each pays.
    # The bill: 1 for x and 1 for each tree.
    options = {"tradeoff": 0.5, "feature_costs": [1.0]}
    first, theirs = fit6(**options), fit6(charging="authors", **options)
    np.testing.assert_allclose([d.gain for d in first.trace], [1 / 6, 1 / 6, 2 / 3], rtol=1e-8)
    np.testing.assert_allclose([d.gain for d in theirs.trace], [1 / 6, -1 / 3, 1 / 6], rtol=1e-8)
    assert [d.penalty for d in first.trace] == [1, 0, 0]
    assert [d.penalty for d in theirs.trace] == [1, 1, 1]
    assert bills(first) == bills(theirs) == [2, 3, 4]
    # Two rounds: in the second nothing is charged.
    again = fit6(charging="authors", n_estimators=2, **options)
    assert [d.penalty for d in again.trace] == [1, 1, 1, 0, 0, 0]


def test_a_node_splits_only_if_the_impurity_falls():
    # 36 - 36 is no gain, and 9 - 9 neither.
    assert fit8(feature_costs=[36.0, 9.0]).rounds == []
    assert decisions(fit8(feature_costs=[35.0, 9.0])) == [(0, 0, 0, 1, 35)]
    # Below the root x1 must cost less than the 8 it brings in node 2.
    assert decisions(fit8(feature_costs=[27.5, 7.5]))[1:] == [(0, 2, 1, 0.5, 7.5)]
    assert decisions(fit8(feature_costs=[27.0, 8.0]))[1:] == []
    # The authors' program splits at any loss; the tie of the root goes to the lower feature.
    forced = fit8(feature_costs=[72.0, 45.0], charging="authors")
    assert decisions(forced)[0] == (0, 0, 0, -36, 72)
    assert len(forced.trace) == 3


def test_nodes_take_their_turn_once():
    # Node 1 is passed over (2 - 3 < 0) before node 2 pays for x1, which then would be free.
    model = fit8(feature_costs=[0.0, 3.0])
    assert decisions(model) == [(0, 0, 0, 36, 0), (0, 2, 1, 5, 3)]


# --- groups ---------------------------------------------------------------------------------


def test_a_group_has_one_price():
    model = fit8(feature_costs=[3.0, 3.0], feature_groups=["a", "a"])
    assert decisions(model) == [(0, 0, 0, 33, 3), (0, 1, 1, 2, 0), (0, 2, 1, 8, 0)]
    prices = {"feature_costs": [3.0, 3.0], "feature_groups": ["a", "a"]}
    assert forest_costs.forest_cost(model, 2, **prices) == 4


def test_a_group_with_remainders_by_hand():
    # The group costs 10, x0 1 and x1 4 besides: root 36 - 11 on x0 beats 9 - 14. Then x1 costs 4:
    # node 1: 2 - 4 < 0, node 2: 8 - 4.
    prices = {"feature_costs": [1.0, 4.0], "feature_groups": [7, 7], "group_costs": {7: 10.0}}
    model = fit8(**prices)
    assert decisions(model) == [(0, 0, 0, 25, 11), (0, 2, 1, 4, 4)]
    assert bills(model) == [12, 16]
    assert forest_costs.forest_cost(model, 2, **prices) == 16
    # Two groups: each pays its own.
    prices = {"feature_groups": ["b", "a"], "group_costs": {"a": 2.0, "b": 5.0}}
    assert decisions(fit8(**prices)) == [(0, 0, 0, 31, 5), (0, 2, 1, 6, 2)]


def test_a_group_without_a_price_is_an_error():
    with pytest.raises(KeyError, match="b"):
        fit8(feature_groups=["a", "b"], group_costs={"a": 1.0})


# --- the budget -----------------------------------------------------------------------------


def test_budget_by_hand():
    # B = 23, λ = 0: x0 (1 + 20), then x1 (24) is no candidate. Two more trees on x0 reach 23.
    prices = {"feature_costs": [20.0, 3.0], "tree_cost": 1.0}
    options = {"tradeoff": 0.0, "learning_rate": 0.5, "n_estimators": 9}
    model = fit8(budget=23.0, **prices, **options)
    assert decisions(model) == [(0, 0, 0, 36, 20), (1, 0, 0, 9, 0), (2, 0, 0, 2.25, 0)]
    assert bills(model) == [21, 22, 23]
    # B = 4: x0 is out of reach from the start, x1 just not. B = 3.5: nothing is left.
    assert decisions(fit8(budget=4.0, **prices, **options)) == [(0, 0, 1, 9, 3)]
    empty = fit8(budget=3.5, **prices, **options)
    assert (empty.rounds, empty.trace) == ([], [])
    assert forest_costs.forest_cost(empty, 2, **prices) == 0
    np.testing.assert_array_equal(boosting.predict(empty, X8), 0)
    assert fit8(budget=0.0, **prices, **options).rounds == []
    # With λ as well, both limit: 36 - 20 on x0, then x1 for 3 in node 2.
    both = fit8(budget=24.0, tradeoff=1.0, **prices)
    assert decisions(both) == [(0, 0, 0, 16, 20), (0, 2, 1, 5, 3)]


def test_budget_by_hand_with_the_authors_rule():
    # B = 24 pays for x0, x1 and one tree: charging x1 in both nodes does not enter the bill.
    prices = {"feature_costs": [20.0, 3.0], "charging": "authors", "learning_rate": 0.5}
    assert bills(fit8(budget=24.0, n_estimators=5, **prices)) == [21, 24, 24]
    assert bills(fit8(budget=23.0, n_estimators=5, **prices)) == [21, 22, 23]


def test_a_tree_whose_evaluation_would_pass_the_budget_is_not_grown():
    # Three classes, c = 1, e = 1, B = 3: the third class's tree stays a constant.
    model = fit6(budget=3.0, feature_costs=[1.0], n_estimators=5)
    assert [tree.n_splits for tree in model.rounds[0]] == [1, 1, 0]
    assert len(model.rounds) == 1
    assert forest_costs.forest_cost(model, 1, feature_costs=[1.0]) == 3


def random_data(seed=0, n=150, loss="squared"):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 10, (n, 5)).astype(float)
    y = X[:, 0] + X[:, 3] * (X[:, 1] > 4) + rng.normal(size=n)
    if loss == "squared":
        return X, y
    return X, np.digitize(y, [5.0] if loss == "logistic" else [4.0, 8.0])


STUMP = {"n_estimators": 1, "max_depth": 1, "min_samples_leaf": 1}
SHORT = {"n_estimators": 6, "min_samples_leaf": 5, "max_depth": 3}
PRICES = {"feature_costs": [4.1, 1.3, 1.3, 0.0, 2.7]}
REMAINDERS = {
    "feature_costs": [0.1, 0.2, 0.3, 0.0, 0.7],
    "feature_groups": ["a", "b", "b", "c", "c"],
    "group_costs": {"a": 1.1, "b": 0.0, "c": 2.3},
}


@pytest.mark.parametrize(
    ("loss", "charging", "prices"),
    [
        ("squared", "first_use", PRICES),
        ("logistic", "authors", PRICES),
        ("multinomial", "authors", REMAINDERS),
        ("logistic", "first_use", REMAINDERS),
    ],
)
def test_the_budget_is_never_passed(loss, charging, prices):
    X, y = random_data(1, loss=loss)
    used = set()
    for budget in (0.0, 0.05, 0.4, 1.0, 2.35, 3.4, 4.4, 5.7, 7.1, 9.9, 14.0):
        bill = prices | {"tree_cost": 0.3}
        model = fit(miser, X, y, loss=loss, charging=charging, budget=budget, **bill, **SHORT)
        stages = list(forest_costs.staged_forest_cost(model, 5, **bill))
        assert all(cost <= budget for cost in stages)
        assert all(d.cumulative_cost <= budget for d in model.trace)
        assert stages == sorted(stages)
        used.add(len(model.trace))
    assert len(used) > 4  # the budgets make a difference


def test_an_infinite_budget_changes_nothing():
    X, y = random_data(2)
    options = PRICES | SHORT | {"tradeoff": 3.0}
    assert fit(miser, X, y, **options).trace == fit(miser, X, y, budget=math.inf, **options).trace


def test_prices_that_are_no_binary_fractions_keep_the_budget():
    # Three times the double nearest to 0.1 are more than the double nearest to 0.3.
    prices = forest_costs.price_list(3, [0.1, 0.1, 0.1], None, None, 0.0)
    holdings = forest_costs.nothing_held(prices)
    for m in range(3):
        forest_costs.hold(holdings, prices, m)
    assert not forest_costs.is_within(forest_costs.in_steps(prices, 0.29, 10), holdings, 0)
    assert forest_costs.is_within(forest_costs.in_steps(prices, 0.3, 10), holdings, 0)
    assert forest_costs.bill(holdings, 2, prices) == 0.3


# --- other algorithms -----------------------------------------------------------------------


def assert_same_rounds(ours, theirs):
    assert len(ours.rounds) == len(theirs.rounds)
    for trees_a, trees_b in zip(ours.rounds, theirs.rounds, strict=True):
        for a, b in zip(trees_a, trees_b, strict=True):
            for name in ("feature", "threshold", "left", "right", "value", "gain", "count"):
                np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


DEEP = {"n_estimators": 5, "max_depth": 4, "min_samples_leaf": 4}
GROWTH = {"max_leaves": None, "growth": "breadth_first", "init": "zero"}


@pytest.mark.parametrize("charging", ["first_use", "authors"])
def test_without_tradeoff_it_is_stage_wise_regression(charging):
    X, y = random_data(3)
    weights = np.random.default_rng(3).random(len(y)) + 0.5
    plain = fit(gbrt, X, y, sample_weight=weights, **DEEP, **GROWTH)
    free = fit(miser, X, y, sample_weight=weights, charging=charging, **PRICES, **DEEP)
    assert_same_rounds(free, plain)
    assert len(plain.trace) > 30


@pytest.mark.parametrize(
    ("loss", "groups"),
    [("squared", None), ("logistic", [0, 1, 1, 3, 4]), ("multinomial", [0, 1, 1, 3, 4])],
)
def test_restricted_cegb_builds_the_same_trees(loss, groups):
    # CEGB with prices per model only and h = 1. Its λ, too, stands beside half the bracket.
    X, y = random_data(4, loss=loss)
    costs = PRICES["feature_costs"]
    shared = DEEP | {"n_estimators": 3, "loss": loss, "feature_groups": groups}
    restricted = shared | GROWTH | {"model_feature_costs": costs, "second_order": False}
    bought = set()
    for tradeoff in (0.0, 0.5, 50.0, 500.0):
        ours = fit(miser, X, y, tradeoff=tradeoff, feature_costs=costs, **shared)
        theirs = fit(cegb, X, y, tradeoff=tradeoff, **restricted)
        assert_same_rounds(ours, theirs)
        assert [(d.tree, d.rows) for d in ours.trace] == [(d.tree, d.rows) for d in theirs.trace]
        assert decisions(ours) == decisions(theirs)
        bought.add(tuple(boosting.model_features(theirs, 5)))
    assert len(bought) > 2


def test_restricted_cegb_that_goes_on_is_not_the_authors_rule():
    # Charged at once, x1 is free in the second node; the authors charge it again.
    options = {"model_feature_costs": [20.0, 3.0], "min_samples_leaf": 1, "n_estimators": 1}
    options |= GROWTH | {"stop_on_negative_gain": False, "second_order": False}
    going_on = fit(cegb, X8, Y8, tradeoff=1.0, **options)
    assert [d.penalty for d in going_on.trace] == [20, 3, 0]


# --- limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("charging", ["first_use", "authors"])
@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_weight_ten_equals_ten_copies(charging, loss):
    X, y = random_data(5, 80, loss)
    copies = np.where(y < np.median(y), 10, np.random.default_rng(5).integers(0, 3, len(y)))
    options = PRICES | DEEP | {"tradeoff": 2.0, "charging": charging, "loss": loss, "max_bins": 6}
    weighted = fit(miser, X, y, sample_weight=copies, **options)
    repeated = fit(miser, np.repeat(X, copies, axis=0), np.repeat(y, copies), **options)
    assert weighted.trace == repeated.trace
    assert len(weighted.trace) > 10


@pytest.mark.parametrize("charging", ["first_use", "authors"])
def test_what_costs_nothing_is_never_charged(charging):
    X, y = random_data(6)
    model = fit(miser, X, y, tradeoff=2.0, charging=charging, **PRICES, **DEEP)
    charges = {m: [d.penalty for d in model.trace if d.feature == m] for m in range(5)}
    assert len(charges[3]) > 0
    assert set(charges[3]) == {0.0}
    if charging == "first_use":
        for m, price in enumerate(PRICES["feature_costs"]):
            assert charges[m][1:] == [0.0] * (len(charges[m]) - 1)
            assert charges[m][:1] in ([], [price])


def test_more_tradeoff_costs_less():
    X, y = random_data(7)
    costs = [
        forest_costs.forest_cost(fit(miser, X, y, tradeoff=tradeoff, **PRICES, **DEEP), 5, **PRICES)
        for tradeoff in (0.0, 5.0, 50.0, 500.0, 1e6)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_a_constant_target_and_the_start():
    assert fit(miser, X8, np.full(8, 0.5), tradeoff=1.0).rounds == []
    np.testing.assert_array_equal(fit8(init="mean").initial_scores, [0.0])
    shifted = fit(miser, X8, Y8 + 2, init="mean", n_estimators=1, min_samples_leaf=1)
    np.testing.assert_array_equal(shifted.initial_scores, [2.0])
    assert fit8().initial_scores == [0.0]


def test_early_stopping_keeps_the_best_rounds():
    X, y = random_data(8)
    noise = np.random.default_rng(8).permutation(y)
    options = PRICES | DEEP | {"n_estimators": 40, "learning_rate": 0.5, "eval_set": (X, noise)}
    stopped = fit(miser, X, y, early_stopping_rounds=3, **options)
    assert len(stopped.rounds) == stopped.best_round < 40
    assert len(list(forest_costs.staged_forest_cost(stopped, 5, **PRICES))) == stopped.best_round


def test_two_classes_are_one_tree_that_moves_half_as_far():
    # One tree on the log-odds, or one for each of two classes: the same splits, and the log-odds
    # F_1 - F_0 of the two trees move twice as far.
    X, y = random_data(9, loss="logistic")
    one = fit(miser, X, y, loss="logistic", n_estimators=1, min_samples_leaf=5)
    two = fit(miser, X, y, loss="multinomial", n_estimators=1, min_samples_leaf=5)
    (tree,), (zero, other) = one.rounds[0], two.rounds[0]
    np.testing.assert_array_equal(tree.feature, other.feature)
    np.testing.assert_array_equal(other.value, -zero.value)
    log_odds = boosting.predict(two, X)[:, 1] - boosting.predict(two, X)[:, 0]
    np.testing.assert_allclose(log_odds, 2 * boosting.predict(one, X)[:, 0], rtol=1e-12)


# --- the equations --------------------------------------------------------------------------


def small_world(seed=0, n=12, d=3, T=6):
    """Outputs h (n, T), uses F (d, T), residual-free targets, costs."""
    rng = np.random.default_rng(seed)
    uses = (rng.random((d, T)) < 0.5).astype(float)
    uses[rng.integers(0, d, T), np.arange(T)] = 1.0  # each tree splits on something
    return rng.normal(size=(n, T)), uses, rng.normal(size=n), rng.integers(1, 9, d).astype(float)


def test_equations_1_and_2_by_hand():
    outputs, beta = np.array([[1.0, 0], [1, 2]]), np.array([0.5, 1.0])
    np.testing.assert_array_equal(miser.predictor(outputs, beta), [0.5, 2.5])
    y = np.array([1.5, 0.5])
    # ((0.5 - 1.5)² + (2.5 - 0.5)²) / 4
    assert miser.loss_of_weights(lambda s: miser.squared_loss(s, y), outputs, beta) == 1.25


def test_equations_3_and_4_by_hand():
    # Two of three trees count; feature 0 is in the tree of weight 0 only.
    uses = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    beta, costs = np.array([0.0, 0.1, 0.1]), np.array([100.0, 5.0, 20.0])
    assert miser.cost_of_weights(beta, uses, costs, 1.0) == 2 + 5 + 20
    assert miser.constrained_loss(0.7, 27.0, 27.0) == 0.7
    assert miser.constrained_loss(0.7, 27.1, 27.0) == math.inf


def test_forest_cost_is_equation_3():
    X, y = random_data(10)
    model = fit(miser, X, y, tradeoff=5.0, **PRICES, **DEEP)
    forest = [tree for trees_of_round in model.rounds for tree in trees_of_round]
    uses = np.array([[m in tree.feature for tree in forest] for m in range(5)])
    beta = np.full(len(forest), 0.1)
    expected = miser.cost_of_weights(beta, uses, np.array(PRICES["feature_costs"]), 0.5)
    bill = forest_costs.forest_cost(model, 5, tree_cost=0.5, **PRICES)
    assert bill == pytest.approx(expected, rel=1e-15)


def test_a_split_lowers_the_impurity_by_its_gain():
    # Eq. (5) of the constant tree less Eq. (5) of the grown tree is the sum of the gains.
    X, y = random_data(11)
    model = fit(miser, X, y, tradeoff=3.0, **PRICES, **SHORT | {"n_estimators": 2})
    ((tree,), (second,)), (F,) = model.rounds, [next(boosting.staged_scores(model, X))[:, 0]]
    for t, grown, scores in ((0, tree, np.zeros(len(y))), (1, second, F)):
        r = -losses.derivatives("squared", scores[:, None], y)[0][0]
        charged = math.fsum(d.penalty for d in model.trace if d.round == t)
        before = miser.impurity(r, np.full(len(y), r.mean()), 0.0, 3.0)
        after = miser.impurity(r, trees.predict_tree(grown, X), charged, 3.0)
        gains = math.fsum(d.gain for d in model.trace if d.round == t)
        assert before - after == pytest.approx(gains, rel=1e-6)
        assert gains > 0
    assert sum(d.penalty > 0 for d in model.trace) > 0


def test_the_relaxations_are_exact_for_weights_of_zero_or_one_step():
    # (6) equals the first term of (3), (8) the second, for every β in {0, η}^T.
    _, uses, _, costs = small_world(1)
    for step in (0.1, 0.25, 1.0):
        for number in range(2**6):
            beta = step * np.array([number >> t & 1 for t in range(6)], dtype=float)
            feature_cost = miser.cost_of_weights(beta, uses, costs, 0.0)
            tree_cost = miser.cost_of_weights(beta, uses, 0 * costs, 2.0)
            assert miser.relaxed_tree_cost(beta, 2.0, step) == pytest.approx(tree_cost, rel=1e-12)
            relaxed = miser.relaxed_feature_cost(beta, uses, costs, step)
            assert relaxed == pytest.approx(feature_cost, rel=1e-12)
    # Between, it is below: half a step costs half.
    half = np.array([0.05, 0, 0, 0, 0, 0])
    relaxed = miser.relaxed_feature_cost(half, uses, costs, 0.1)
    assert relaxed == miser.cost_of_weights(half, uses, costs, 0) / 2


def test_equation_7_by_hand():
    assert [miser.capped(x, 0.5) for x in (0.0, 0.125, 0.25, 0.5, 0.75, 100.0)] == [
        0, 0.25, 0.5, 1, 1, 1,
    ]  # fmt: skip
    for k in range(5):  # q(kη) = ‖kη‖₀
        assert miser.capped(k * 0.1, 0.1) == (k > 0)


def test_equations_9_and_10():
    _, uses, _, costs = small_world(2)
    beta = np.array([0.1, 0, 0.1, 0, 0, 0])
    cost = miser.relaxed_feature_cost(beta, uses, costs, 0.1)
    assert miser.relaxed_objective(0.5, beta, cost, 2.0, 0.1, 2.5) == 0.5 + 2 * cost
    assert miser.relaxed_objective(0.5, beta, cost, 2.0, 0.1, 1.5) == math.inf
    change = np.array([0, 0.1, 0, 0, 0, 0])
    assert miser.step_objective(lambda b: b.sum(), beta, change, 0.1) == pytest.approx(0.3)
    assert miser.step_objective(lambda b: b.sum(), beta, 2 * change, 0.1) == math.inf
    assert miser.step_objective(lambda b: b.sum(), beta, -change, 0.1) == math.inf


def test_equation_15_by_differences():
    # From the right, for features below, at and above one step.
    _, uses, _, _ = small_world(3)
    step, tiny = 0.1, 1e-7
    for beta in ([0.0] * 6, [step, 0, 0, 0, 0, 0], [0.03, 0, 0.04, 0, 0, 0], [step] * 6):
        slopes = miser.capped_slope(np.array(beta), uses, step)
        for alpha in range(3):
            for t in range(6):
                moved = np.array(beta)
                moved[t] += tiny
                change = miser.capped(uses[alpha] @ moved, step) - miser.capped(
                    uses[alpha] @ np.array(beta), step
                )
                assert slopes[alpha, t] == pytest.approx(change / tiny, abs=1e-5)
    assert np.any(miser.capped_slope(np.zeros(6), uses, step) == 1 / step)


def objective_of(world, multiplier, step):
    """L of Eq. (10), with the loss of Eq. (2)."""
    outputs, uses, y, costs = world
    return lambda beta: (
        miser.loss_of_weights(lambda s: miser.squared_loss(s, y), outputs, beta)
        + multiplier * miser.relaxed_feature_cost(beta, uses, costs, step)
    )


def test_equations_16_to_18_by_differences():
    world = outputs, uses, y, costs = small_world(4)
    multiplier, step, tiny = 0.3, 0.1, 1e-7
    objective = objective_of(world, multiplier, step)
    seen = []
    for beta in (np.zeros(6), step * np.eye(6)[0], np.array([step, 0, 0, step, 0, 0])):
        unpaid = uses @ beta < step
        residuals = -(miser.predictor(outputs, beta) - y) / len(y)
        charges = miser.charge(unpaid, costs, uses)
        by_chain = miser.gradient_by_chain_rule(-residuals, outputs, charges, multiplier, step)
        by_residuals = miser.gradient_by_residuals(residuals, outputs, charges, multiplier, step)
        np.testing.assert_allclose(by_chain, by_residuals, rtol=1e-12)
        differences = [(objective(beta + tiny * e) - objective(beta)) / tiny for e in np.eye(6)]
        np.testing.assert_allclose(by_chain, differences, rtol=1e-4, atol=1e-5)
        # Eq. (16)'s cost term is Eq. (15)'s slope, priced.
        slopes = miser.capped_slope(beta, uses, step)
        np.testing.assert_allclose(costs @ slopes * multiplier, multiplier / step * charges)
        seen.extend(charges)
    assert min(seen) == 0 < max(seen)


def test_equations_11_to_14():
    world = outputs, uses, y, costs = small_world(5)
    multiplier, step = 0.001, 0.1
    objective, beta = objective_of(world, multiplier, step), np.zeros(6)
    charges = miser.charge(np.ones(3), costs, uses)
    residuals = y / len(y)
    gradient = miser.gradient_by_residuals(residuals, outputs, charges, multiplier, step)
    # (11): the error of the expansion falls as the square of the change.
    errors = []
    for size in (0.04, 0.02):
        change = size * np.eye(6)[2]
        expansion = miser.taylor(objective(beta), gradient, change)
        errors.append(abs(objective(beta + change) - expansion))
    assert errors[1] == pytest.approx(errors[0] / 4, rel=1e-6)
    # (12)-(14): no change of this length has a smaller product than η at t*.
    best = miser.steepest_change(gradient, step)
    assert miser.steepest(gradient) == int(np.argmin(gradient))
    assert miser.linear_term(gradient, best) == pytest.approx(miser.lower_bound(gradient, step))
    rng = np.random.default_rng(5)
    for _ in range(200):
        change = rng.dirichlet(np.full(6, 0.3)) * step * rng.random()
        assert miser.linear_term(gradient, change) >= miser.lower_bound(gradient, step) - 1e-15
    assert miser.lower_bound(gradient, step) < 0


def normalised_stumps(X, r, n_angles=72):
    """Stumps with Σ h² = 1: outputs (n, T), uses (d, T), splits.

    The values of a split's two leaves, times the roots of their rows, are a point on the unit
    circle: all round it, and the point nearest to the residuals r, the best there is.
    """
    circle = np.linspace(0, 2 * np.pi, n_angles, endpoint=False)
    outputs, uses, splits = [], [], []
    for m in range(X.shape[1]):
        values = np.unique(X[:, m])
        for threshold in (values[1:] + values[:-1]) / 2:
            left = X[:, m] <= threshold
            roots = np.sqrt(left.sum()), np.sqrt((~left).sum())
            best = np.arctan2(r[~left].sum() / roots[1], r[left].sum() / roots[0])
            for angle in [*circle, best]:
                outputs.append(np.where(left, np.cos(angle) / roots[0], np.sin(angle) / roots[1]))
                uses.append(np.arange(X.shape[1]) == m)
                splits.append((m, threshold))
    return np.array(outputs).T, np.array(uses, dtype=float).T, splits


@pytest.mark.parametrize("seed", range(4))
def test_over_normalised_stumps_the_impurity_finds_the_steepest_descent(seed):
    rng = np.random.default_rng(seed)
    X, r = rng.integers(0, 4, (15, 3)).astype(float), rng.normal(size=15)
    outputs, uses, splits = normalised_stumps(X, r)
    np.testing.assert_allclose((outputs**2).sum(axis=0), 1)
    step, costs = 0.1, np.array([1.0, 4.0, 9.0])
    chosen = set()
    for multiplier in (0.0, 0.005, 0.02, 0.1):
        for unpaid in (np.ones(3), np.array([0.0, 1, 1]), np.array([1.0, 1, 0])):
            charges = miser.charge(unpaid, costs, uses)
            gradient = miser.gradient_by_residuals(r, outputs, charges, multiplier, step)
            impurities = miser.quadratic_form(r, outputs, charges, multiplier, step)
            # (19) is (18) and the two constants, so it has the same minimiser.
            constant = 0.5 + 0.5 * math.fsum(r**2)
            np.testing.assert_allclose(impurities, gradient + constant, rtol=0, atol=1e-12)
            best = miser.steepest(gradient)
            assert impurities[best] == pytest.approx(impurities.min(), abs=1e-12)
            assert splits[best] == splits[int(np.argmin(impurities))]
            chosen.add(splits[best])
        if multiplier == 0.0:  # and without costs CART's own stump is on the same split
            model = fit(miser, X, r, **STUMP)
            (tree,) = model.rounds[0]
            assert (tree.feature[0], tree.threshold[0]) == splits[best]
    assert len(chosen) > 1  # costs change the choice


def test_with_costs_trees_that_are_not_normalised_may_choose_otherwise():
    # Deviation 5. On the split A the sides' R²/n add up to 4, on B to 1. Normalised, the best
    # stumps have -√4 and -√1 in Eq. (18); CART's have -4/2 and -1/2 below ½ Σ r² in Eq. (5).
    # With λ'c_A = 1.2 and c_B = 0: -0.8 > -1, but -0.8 < -0.5.
    X = np.array([[1.0, 1], [1, 2], [2, 1], [2, 2]])
    r = np.array([-1.5, -0.5, 0.5, 1.5])  # A: sums -2, 2 -> 4/2 + 4/2; B: -1, 1 -> ½ + ½
    outputs, uses, splits = normalised_stumps(X, r)
    costs, step = np.array([1.2, 0.0]), 0.1
    charges = miser.charge(np.ones(2), costs, uses)
    gradient = miser.gradient_by_residuals(r, outputs, charges, 1.0 * step, step)
    assert gradient.min() == pytest.approx(-1, rel=1e-12)
    assert splits[miser.steepest(gradient)] == (1, 1.5)
    model = fit(miser, X, r, tradeoff=1.0, feature_costs=costs, **STUMP)
    assert (model.trace[0].feature, model.trace[0].gain) == (0, pytest.approx(0.8))


def test_stages_rise():
    X, y = random_data(12)
    model = fit(miser, X, y, tradeoff=2.0, **PRICES, **DEEP)
    for a, b in pairwise(forest_costs.staged_forest_cost(model, 5, **PRICES)):
        assert a <= b
    # The bill of the whole forest is at least that of any row (with no price for nodes).
    rows = boosting.prediction_cost(model, X, feature_costs=PRICES["feature_costs"])
    assert rows.max() <= forest_costs.forest_cost(model, 5, **PRICES)
