"""The CEGB reference by hand, its equations against each other, and its limits."""

import math
from itertools import pairwise

import numpy as np
import pytest

from reference import boosting, cegb, losses, trees
from reference.beyond.by_name import fit

# Eight rows; squared loss at F = 0, so g = -y, h = 1.
#   x0: 1 1 1 1 2 2 2 2     x1: 1 2 1 2 1 2 1 2      y: -4 -2 -4 -2 1 5 1 5
# Half gains (the bracket of Eq. (12)):
#   root on x0: ½ (144/4 + 144/4 - 0)    = 36     root on x1: ½ (36/4 + 36/4 - 0) = 9
#   x0 = 1 (sum -12), on x1: ½ (64/2 + 16/2 - 144/4)  = 2
#   x0 = 2 (sum  12), on x1: ½ (4/2 + 100/2 - 144/4)  = 8
#   x1 = 1 (sum  -6), on x0: ½ (64/2 + 4/2 - 36/4)    = 12.5
#   x1 = 2 (sum   6), on x0: ½ (16/2 + 100/2 - 36/4)  = 24.5
X8 = np.array([[1, 1], [1, 2], [1, 1], [1, 2], [2, 1], [2, 2], [2, 1], [2, 2]], dtype=float)
Y8 = np.array([-4.0, -2, -4, -2, 1, 5, 1, 5])


def fit8(**options):
    defaults = {"n_estimators": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "init": "zero"}
    return fit(cegb, X8, Y8, **(defaults | {"tradeoff": 1.0} | options))


def decisions(model):
    """(node, feature, net gain, penalty) of every split in order."""
    return [(d.node, d.feature, d.gain, d.penalty) for d in model.trace]


def test_plain_by_hand():
    model = fit8()
    assert decisions(model) == [(0, 0, 36, 0), (2, 1, 8, 0), (1, 1, 2, 0)]
    (tree,) = model.rounds[0]
    np.testing.assert_array_equal(tree.value, [0, 0, 0, 1, 5, -4, -2])
    np.testing.assert_array_equal(boosting.predict(model, X8)[:, 0], Y8)


def test_split_cost_by_hand():
    # λ = ½, α = 1: root 36 - 8/2, node 2: 8 - 4/2, node 1: 2 - 4/2 = 0 is no gain.
    model = fit8(tradeoff=0.5, split_cost=1.0)
    assert decisions(model) == [(0, 0, 32, 8), (2, 1, 6, 4)]
    np.testing.assert_array_equal(boosting.evaluations(model, X8), [1, 1, 1, 1, 2, 2, 2, 2])
    on = fit8(tradeoff=0.5, split_cost=1.0, stop_on_negative_gain=False)
    assert decisions(on)[2] == (1, 1, 0, 4)
    dear = fit8(split_cost=4.0, stop_on_negative_gain=False)
    assert decisions(dear) == [(0, 0, 4, 32), (2, 1, -8, 16), (1, 1, -14, 16)]


def test_lazy_costs_by_hand():
    # β = (6, 1): root on x0: 36 - 48 < 9 - 8 on x1. Then x0 costs 24 in either leaf: 12.5 - 24,
    # 24.5 - 24 = 0.5 for node 2.
    model = fit8(feature_costs=[6.0, 1.0])
    assert decisions(model) == [(0, 1, 1, 8), (2, 0, 0.5, 24)]
    expected = [[False, True], [True, True]] * 4
    np.testing.assert_array_equal(boosting.acquired_features(model, X8), expected)
    cost = boosting.prediction_cost(model, X8, feature_costs=[6.0, 1.0], split_cost=0.25)
    np.testing.assert_array_equal(cost, [1.25, 7.5] * 4)


def test_paid_features_stay_free_in_later_trees():
    # β = (2, 0.25): root 36 - 16, node 2: 8 - 1, node 1: 2 - 1. With learning rate ½ the second
    # round has half the gradients, a quarter of the gains, and nothing left to pay.
    model = fit8(feature_costs=[2.0, 0.25], n_estimators=2, learning_rate=0.5)
    assert decisions(model)[:3] == [(0, 0, 20, 16), (2, 1, 7, 1), (1, 1, 1, 1)]
    assert decisions(model)[3:] == [(0, 0, 9, 0), (2, 1, 2, 0), (1, 1, 0.5, 0)]
    assert [d.cumulative_cost for d in model.trace] == [16, 17, 18, 18, 18, 18]


def test_coupled_costs_by_hand():
    # γ = (34, 3): root on x0: 36 - 34 < 9 - 3; afterwards x0 would still cost 34 > 24.5.
    assert decisions(fit8(model_feature_costs=[34.0, 3.0])) == [(0, 1, 6, 3)]


def test_a_coupled_feature_that_becomes_free_re_ranks_every_leaf():
    # γ = (20, 3): root 36 - 20 on x0. Node 2 on x1: 8 - 3 = 5; node 1: 2 - 3 < 0. Once node 2
    # has paid for x1, node 1 gains 2.
    options = {"model_feature_costs": [20.0, 3.0]}
    assert decisions(fit8(**options)) == [(0, 0, 16, 20), (2, 1, 5, 3), (1, 1, 2, 0)]
    # Node 1 is passed over before x1 becomes free, and breadth-first does not come back.
    breadth = fit8(growth="breadth_first", **options)
    assert decisions(breadth) == [(0, 0, 16, 20), (2, 1, 5, 3)]


def test_other_costs_still_count_when_a_coupled_feature_becomes_free():
    # With α = ½: root 36 - 4 - 20, node 2: 8 - 2 - 3 = 3; node 1: 2 - 2 = 0, not 2.
    model = fit8(model_feature_costs=[20.0, 3.0], split_cost=0.5)
    assert decisions(model) == [(0, 0, 12, 24), (2, 1, 3, 5)]


def test_groups_are_paid_for_together():
    model = fit8(feature_costs=[2.0, 2.0], model_feature_costs=[3, 3], feature_groups=["a", "a"])
    assert decisions(model) == [(0, 0, 17, 19), (2, 1, 8, 0), (1, 1, 2, 0)]
    cost = boosting.prediction_cost(model, X8, feature_costs=[2.0, 2.0], feature_groups=["a", "a"])
    np.testing.assert_array_equal(cost, 2.0)


def test_shared_values_divide_the_split_cost():
    # α = 2, x1 shared by 8 rows: root on x0: 36 - 8 * 2; node 2 on x1: 8 - 4 * 2/8.
    model = fit8(split_cost=2.0, feature_sharing=[1, 8])
    assert decisions(model) == [(0, 0, 20, 16), (2, 1, 7, 1), (1, 1, 1, 1)]
    cost = boosting.prediction_cost(model, X8, split_cost=2.0, feature_sharing=[1, 8])
    np.testing.assert_array_equal(cost, 2.25)


def test_logistic_by_hand():
    # x = 1 … 6, y = 0 0 1 0 1 1, F = 0: g = ±½, h = ¼. After 2: 1²/(2/4) + 1²/(4/4) = 3.
    X, y = np.arange(1.0, 7.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
    options = {"loss": "logistic", "init": "zero", "n_estimators": 1, "learning_rate": 1.0}
    model = fit(cegb, X, y, max_leaves=2, min_samples_leaf=1, **options)
    (tree,) = model.rounds[0]
    assert (tree.threshold[0], tree.gain[0]) == (2.5, 1.5)
    np.testing.assert_array_equal(tree.value, [0, -2, 1])
    # First-order terms only: h = 1, half of 1²/2 + 1²/4, leaves are means of -g.
    model = fit(cegb, X, y, max_leaves=2, min_samples_leaf=1, second_order=False, **options)
    (tree,) = model.rounds[0]
    assert (tree.threshold[0], tree.gain[0]) == (2.5, 0.375)
    np.testing.assert_array_equal(tree.value, [0, -0.5, 0.25])


def test_multinomial_by_hand():
    # Three classes of two rows at x = 0, 1, 2; F = 0: p = 1/3, h = 3/2 * 2/9 = 1/3.
    # Class 0: g = -2/3 in its rows, 1/3 elsewhere. Split after 0: (4/3)²/(2/3) + (4/3)²/(4/3) = 4,
    # half: 2; leaves 4/3 / (2/3) = 2 and -1. Class 2 mirrors it. Class 1, cut after 0 (a tie with
    # after 1): (2/3)²/(2/3) + (2/3)²/(4/3) = 1, half: ½; leaves -1 and ½.
    X, y = np.repeat([0.0, 1, 2], 2)[:, None], np.repeat([0, 1, 2], 2)
    options = {"loss": "multinomial", "init": "zero", "n_estimators": 1, "max_leaves": 2}
    model = fit(cegb, X, y, min_samples_leaf=1, learning_rate=1.0, **options)
    gains = [[d.tree, d.threshold, d.gain] for d in model.trace]
    np.testing.assert_allclose(gains, [[0, 0.5, 2], [1, 0.5, 0.5], [2, 1.5, 2]], rtol=1e-8)
    expected = [[2, -1, -1], [-1, 0.5, -1], [-1, 0.5, 2]]
    np.testing.assert_allclose(boosting.predict(model, X[::2]), expected, rtol=1e-8)
    # Half of it is paid for by class 0: the later classes use the feature for nothing.
    model = fit(cegb, X, y, min_samples_leaf=1, tradeoff=0.1, feature_costs=[2.0], **options)
    assert [d.penalty for d in model.trace] == [12, 0, 0]


def test_a_stump_without_split_is_kept_in_a_round_that_goes_on():
    # Class 1's gain of ½ does not pay for its node, those of classes 0 and 2 do.
    X, y = np.repeat([0.0, 1, 2], 2)[:, None], np.repeat([0, 1, 2], 2)
    model = cegb.fit(
        X, y, prices=cegb.price_list(1, split_cost=1.0), loss="multinomial", n_estimators=1,
        tradeoff=0.1, limits=trees.Limits(max_leaves=2, min_samples_leaf=1),
    )  # fmt: skip
    assert [tree.n_splits for tree in model.rounds[0]] == [1, 0, 1]
    assert model.rounds[0][1].value[0] == pytest.approx(0, abs=1e-8)


# --- the equations --------------------------------------------------------------------------


def test_equation_13_by_hand():
    assert cegb.split_penalty(10, 4, True, 0.25, 7.0, 3.0) == 2.5 + 7 + 12
    assert cegb.split_penalty(10, 0, False, 0.25, 7.0, 3.0) == 2.5


def test_equations_4_to_6_by_hand():
    C, beta = np.array([[1, 0, 1], [0, 0, 0]]), np.array([1.0, 5, 20])
    np.testing.assert_array_equal(cegb.feature_cost(C, beta), [21, 0])
    assert cegb.model_feature_cost(np.array([0, 1, 1]), beta) == 25
    np.testing.assert_array_equal(cegb.evaluation_cost([[3, 1], [2, 0]], 0.25), [1.25, 0.25])


@pytest.fixture(scope="module")
def grown():
    """Two rounds of a model with all kinds of costs, and what it paid."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (160, 4)).astype(float)
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 4) + rng.normal(size=160)
    costs = {"feature_costs": np.array([0.5, 1, 2, 4]), "split_cost": 0.25}
    gamma = np.array([8.0, 4, 2, 1])
    model = cegb.fit(
        X, y, prices=cegb.price_list(4, model_feature_costs=gamma, **costs), n_estimators=2,
        learning_rate=1.0, tradeoff=0.05, limits=trees.Limits(max_leaves=5, min_samples_leaf=4),
    )  # fmt: skip
    return X, y, model, costs, gamma


def costs_of_stage(X, model, costs, gamma, k):
    """Ψ(k, i) by Eqs. (4) and (6), Ψ_c(k) by Eq. (5), from the trees alone."""
    some = [tree for round_ in model.rounds[:k] for tree in round_]
    passed = np.array([trees.nodes_passed(tree, X) for tree in some]).reshape(k, *X.shape)
    C = np.any(passed > 0, axis=0)
    row_costs = cegb.feature_cost(C, costs["feature_costs"]) + cegb.evaluation_cost(
        passed.sum(axis=2), costs["split_cost"]
    )
    return row_costs, cegb.model_feature_cost(np.any(C, axis=0), gamma)


def test_penalties_of_a_tree_add_up_to_its_cost(grown):
    X, _, model, costs, gamma = grown
    before = np.zeros(len(X)), 0.0
    for k in (1, 2):
        after = costs_of_stage(X, model, costs, gamma, k)
        row_change = cegb.row_cost_change(after[0], before[0])  # Eq. (9c)
        model_change = cegb.model_cost_change(after[1], before[1])  # Eq. (9d)
        paid = math.fsum(d.penalty for d in model.trace if d.round == k - 1)
        assert paid == pytest.approx(math.fsum(row_change) + model_change, rel=1e-12)
        assert paid > 0
        before = after
    np.testing.assert_allclose(boosting.prediction_cost(model, X, **costs), before[0], rtol=1e-12)
    assert model.trace[-1].cumulative_cost == pytest.approx(math.fsum(before[0]) + before[1])


def test_objectives_agree_and_net_gains_add_up_to_the_reduction(grown):
    X, y, model, costs, gamma = grown
    tree, tradeoff = model.rounds[1][0], 0.05
    before, after = (costs_of_stage(X, model, costs, gamma, k) for k in (1, 2))
    F = next(iter(boosting.staged_scores(model, X)))
    ((g, h),) = losses.derivatives("squared", F, y)
    t = trees.predict_tree(tree, X)
    row_change, model_change = after[0] - before[0], after[1] - before[1]
    leaf = trees.walk(tree, X)[0]
    members = [leaf == number for number in np.unique(leaf)]
    G, H, w = (np.array([v[rows].sum() for rows in members]) for v in (g, h, row_change))
    value = cegb.optimal_leaf_value(G, H)
    np.testing.assert_allclose(value, tree.value[np.unique(leaf)], rtol=1e-6)
    taylor = cegb.taylor_objective(g, h, t, row_change, model_change, tradeoff)
    by_leaf = cegb.leafwise_objective(G, H, value, w, model_change, tradeoff)
    best = cegb.optimal_objective(G, H, w, model_change, tradeoff)
    assert taylor == pytest.approx(by_leaf, rel=1e-6) == pytest.approx(best, rel=1e-6)
    # Eq. (7): for squared loss the expansion is exact, so Õ is the change of O.
    of_stage = [
        cegb.objective(losses.row_losses("squared", scores, y), *stage_costs, tradeoff)
        for scores, stage_costs in ((F, before), (boosting.predict(model, X), after))
    ]
    assert of_stage[1] - of_stage[0] == pytest.approx(taylor, rel=1e-6)
    # Eq. (12): from the root alone (Eq. (11b) with one leaf) each split brings its net gain.
    root = cegb.optimal_objective(g.sum(keepdims=True), h.sum(keepdims=True), 0.0, 0.0, tradeoff)
    gains = math.fsum(d.gain for d in model.trace if d.round == 1)
    assert root - best == pytest.approx(gains, rel=1e-6)


def test_loss_plus_penalty():
    assert cegb.empirical_loss([1.0, 2.0]) == 3.0
    assert cegb.penalised_loss([1.0, 2.0], [10.0, 20.0], 0.1) == 6.0
    assert cegb.regularised_loss([1.0, 2.0], [0.5]) == 3.5
    assert cegb.objective([1.0, 2.0], [10.0, 20.0], 5.0, 0.1) == 6.5


# --- limits ---------------------------------------------------------------------------------


def random_data(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 10, (n, 5)).astype(float)
    return X, X[:, 0] + X[:, 3] * (X[:, 1] > 4) + rng.normal(size=n)


COSTS = {
    "feature_costs": np.array([4.0, 1, 1, 2, 0]),
    "model_feature_costs": np.array([5.0, 3, 3, 0, 9]),
    "feature_groups": [0, 1, 1, 3, 4],
    "split_cost": 0.5,
    "feature_sharing": [1, 1, 4, 4, 1],
}
SHORT = {"n_estimators": 4, "max_leaves": 6, "min_samples_leaf": 5}


def test_no_tradeoff_or_no_costs_is_plain_boosting():
    X, y = random_data()
    plain = fit(cegb, X, y, **SHORT)
    unweighed = fit(cegb, X, y, tradeoff=0.0, **COSTS, **SHORT)
    np.testing.assert_array_equal(boosting.predict(plain, X), boosting.predict(unweighed, X))
    assert [d.gain for d in plain.trace] == [d.gain for d in unweighed.trace]
    paid = fit(cegb, X, y, tradeoff=2.0, **COSTS, **SHORT)
    assert not np.array_equal(boosting.predict(plain, X), boosting.predict(paid, X))


def test_prohibitive_costs_leave_a_constant():
    X, y = random_data()
    model = fit(cegb, X, y, tradeoff=1e6, split_cost=1.0, **SHORT)
    assert model.rounds == model.trace == []
    np.testing.assert_array_equal(boosting.prediction_cost(model, X, split_cost=1.0), 0)


@pytest.mark.parametrize("growth", ["best_first", "breadth_first"])
def test_weight_three_equals_three_copies(growth):
    X, y = random_data(1, 80)
    copies = np.random.default_rng(1).integers(0, 4, 80)
    options = COSTS | SHORT | {"tradeoff": 0.05, "growth": growth, "max_bins": 6}
    weighted = fit(cegb, X, y, sample_weight=copies, **options)
    repeated = fit(cegb, np.repeat(X, copies, axis=0), np.repeat(y, copies), **options)
    assert weighted.trace == repeated.trace
    assert len(weighted.trace) > 5
    np.testing.assert_array_equal(weighted.initial_scores, repeated.initial_scores)


def test_breadth_first_equals_best_first_when_nothing_limits():
    # Without coupled costs the order of the leaves does not matter: a leaf's own rows decide.
    X, y = random_data(2)
    costs = {"feature_costs": COSTS["feature_costs"], "split_cost": 0.5, "tradeoff": 0.05}
    options = {"n_estimators": 3, "max_leaves": None, "min_samples_leaf": 5} | costs
    best = fit(cegb, X, y, **options)
    breadth = fit(cegb, X, y, growth="breadth_first", **options)
    np.testing.assert_array_equal(boosting.predict(best, X), boosting.predict(breadth, X))
    assert len(best.trace) == len(breadth.trace) > 10


def test_higher_tradeoff_costs_less():
    X, y = random_data(3)
    mean_costs = []
    for tradeoff in (0.0, 0.02, 0.2, 2.0):
        model = fit(cegb, X, y, tradeoff=tradeoff, feature_costs=np.arange(1.0, 6), **SHORT)
        cost = boosting.prediction_cost(model, X, feature_costs=np.arange(1.0, 6))
        mean_costs.append(cost.mean())
    assert mean_costs == sorted(mean_costs, reverse=True)
    assert mean_costs[-1] < mean_costs[0]


def test_staged_costs_and_model_features():
    X, y = random_data(4)
    model = fit(cegb, X, y, tradeoff=0.02, feature_costs=COSTS["feature_costs"], **SHORT)
    stages = list(boosting.staged_cost(model, X, feature_costs=COSTS["feature_costs"]))
    assert len(stages) == len(model.rounds) == 4
    assert all(np.all(a <= b) for a, b in pairwise(stages))
    np.testing.assert_array_equal(
        stages[-1], boosting.prediction_cost(model, X, feature_costs=COSTS["feature_costs"])
    )
    used = boosting.model_features(model, 5)
    np.testing.assert_array_equal(np.flatnonzero(used), sorted({d.feature for d in model.trace}))
    assert boosting.n_split_nodes(model) == len(model.trace)
