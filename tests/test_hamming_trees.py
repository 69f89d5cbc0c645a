"""AdaBoost.MH with Hamming trees: the estimator against its reference, by hand, and its meter."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from algorithms.feature_sampling import BEST_FAMILY, SAMPLERS
from algorithms.stumps import search
from reference import adaboost_mh as boosting
from reference import costs, trees
from reference import hamming_trees as reference
from tests.test_adaboost_mh import (
    assert_same_model,
    draw_data,
    draw_families,
    labels_of,
    reference_of,
)
from tests.twins import meter_prices

NAMES = [n for n in SAMPLERS if not SAMPLERS[n].for_one_stump] + [BEST_FAMILY]


def of_trees(**parameters):
    return AdaBoostMH(**{"weak_learner": "hamming_tree", "n_threads": 1} | parameters)


def flattened(tree):
    """A reference's tree node by node: the children of each split get the next two numbers."""
    feature, threshold, left = [-1], [0.0], [-1]
    depth, votes, place = [0], [tree.stumps[0].votes], {0: 0}
    for j, (stump, below) in enumerate(zip(tree.stumps, tree.below, strict=True)):
        node = place[j]
        if stump.feature < 0:
            continue
        feature[node], threshold[node], left[node] = stump.feature, stump.threshold, len(feature)
        votes[node] = 0 * stump.votes
        for side, sign in zip(below, (-1, 1), strict=True):
            place[side] = len(feature)
            feature, threshold, left = [*feature, -1], [*threshold, 0.0], [*left, -1]
            depth, votes = [*depth, depth[node] + 1], [*votes, sign * stump.votes]
    return feature, threshold, left, depth, votes


def assert_same_trees(model, theirs, threshold_of=lambda feature, threshold: threshold):
    """Assert that every decision is the same, bit for bit."""
    ours, trace = model.trees_, theirs.trace
    assert model.n_estimators_ == len(trace)
    for t, tree in enumerate(theirs.stumps):
        begin, end = ours.tree[t], ours.tree[t + 1]
        feature, threshold, left, depth, votes = flattened(tree)
        np.testing.assert_array_equal(ours.feature[begin:end], feature)
        threshold = [
            threshold_of(m, at) if m >= 0 else 0.0 for m, at in zip(feature, threshold, strict=True)
        ]
        np.testing.assert_array_equal(ours.threshold[begin:end], threshold)
        at = ours.left[begin:end]
        np.testing.assert_array_equal(np.where(at >= 0, at - begin, -1), left)
        np.testing.assert_array_equal(ours.depth[begin:end], depth)
        np.testing.assert_array_equal(ours.votes[begin:end], votes)
    np.testing.assert_array_equal(ours.edge, [d.edge for d in trace])
    np.testing.assert_array_equal(ours.alpha, [d.alpha for d in trace])
    np.testing.assert_array_equal(model.log_train_loss_, [d.log_loss for d in trace])
    spent = [(d.paper_cost, d.evaluations) for d in trace]
    np.testing.assert_array_equal(model.sampling_cost_, np.reshape(spent, (-1, 2)))
    np.testing.assert_array_equal(model.family_rows_, [d.family_rows for d in trace])


def assert_same_predictions(model, theirs, Z):
    """Assert equal scores and classes after each round, and what each row asks for and pays."""
    K = model.trees_.votes.shape[1]
    staged = list(boosting.staged_scores(theirs, Z, K))
    for scores, expected, classes in zip(
        model.staged_decision_function(Z), staged, model.staged_predict(Z), strict=True
    ):
        np.testing.assert_array_equal(scores, expected[:, 0] if K == 1 else expected)
        np.testing.assert_array_equal(classes, model.classes_[boosting.labels_of(expected)])
    np.testing.assert_array_equal(model.predict(Z), classes)
    np.testing.assert_array_equal(model.decision_function(Z), scores)
    np.testing.assert_array_equal(
        model.acquired_features(Z), reference.acquired_features(theirs, Z)
    )
    np.testing.assert_array_equal(model.evaluations(Z), reference.evaluations(theirs, Z))
    n_splits = np.count_nonzero(model.trees_.feature >= 0)
    for t, bill in enumerate(model.staged_cost(Z)):
        passed = reference.passed(theirs, Z, t + 1)
        expected = costs.prediction_cost(passed, n_splits, **meter_prices(model))
        np.testing.assert_array_equal(bill, expected)
    np.testing.assert_array_equal(model.prediction_cost(Z), bill)


# --- against the reference -------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::algorithms.estimators.fitting.ConstantModelWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_equals_reference(name, seed):
    rng = np.random.default_rng([2012, seed, NAMES.index(name)])
    d, n_classes = int(rng.integers(1, 12)), int(rng.choice([2, 2, 3, 5, 9]))
    X, y = draw_data(rng, int(rng.integers(1, 120)), d, n_classes)
    prices = rng.choice([0.0, 0.1, 5.0], d)
    model = of_trees(
        sampler=name,
        n_leaves=int(rng.choice([2, 3, 4, 8, 8, 40])),
        n_estimators=int(rng.integers(1, 10)),
        initial_weights=str(rng.choice(["uniform", "balanced"])),
        smoothing=float(rng.choice([0.0, 0.01, 3.0])),
        max_cost=float(rng.choice([1, 2, 3.7, 10])),
        families=draw_families(rng, d),
        random_state=int(rng.integers(1000)),
        feature_costs=prices,
        split_cost=float(rng.choice([0.0, 0.3])),
    )
    kind = rng.integers(4)
    weights = rng.integers(1, 4, len(y)) if kind == 0 else rng.random(len(y)) + 1e-3
    weights = None if kind > 1 else weights.astype(float)
    model.fit(X, y, sample_weight=weights)
    Z = np.concatenate([X, rng.integers(0, 256, (9, d)).astype(np.uint8)])
    if len(np.unique(y)) == 1:
        assert model.n_estimators_ == 0
        np.testing.assert_array_equal(model.predict(Z), y[0])
        np.testing.assert_array_equal(model.prediction_cost(Z), 0.0)
        assert not model.acquired_features(Z).any()
        return
    theirs = reference_of(model, X, y, sample_weight=weights)
    assert_same_trees(model, theirs)
    assert_same_predictions(model, theirs, Z)
    groups = rng.integers(0, 3, d)
    own = dict.fromkeys(groups.tolist(), 2.5)
    model.set_params(feature_groups=groups, group_costs=own)
    assert_same_predictions(model, theirs, Z)


@pytest.mark.parametrize(
    "seed", [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(2, marks=pytest.mark.slow)]
)
def test_real_numbers_equal_the_reference_on_their_bins(seed):
    """More values than bins, in nodes that hold few of them: thresholds are those of all rows."""
    rng = np.random.default_rng([2013, seed])
    X = rng.normal(size=(400, 4))
    X[:, 1] = np.round(X[:, 1])
    y = np.digitize(X[:, 0] * X[:, 1] + rng.normal(size=400), [-1, 1])
    model = of_trees(n_estimators=4).fit(X, y)
    data = trees.training_data(X, y, 255)
    edges, codes = data.edges, data.bins.astype(np.uint8)
    theirs = reference_of(model, codes, y)
    assert_same_trees(model, theirs, lambda feature, at: edges[feature][int(at)])
    *_, scores = boosting.staged_scores(theirs, codes, 3)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.evaluations(X), reference.evaluations(theirs, codes))


def test_blocks_of_features_change_nothing(monkeypatch):
    X, y = draw_data(np.random.default_rng(4), 150, 13, 3)
    whole = of_trees(n_estimators=5).fit(X, y)
    monkeypatch.setattr(search, "_MOST_GATHERED", 200)
    assert_same_model(whole, of_trees(n_estimators=5).fit(X, y))


# --- two leaves are a stump ------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("name", NAMES)
def test_two_leaves_are_a_stump(name, n_classes):
    rng = np.random.default_rng([2014, n_classes])
    X, y = draw_data(rng, 100, 7, n_classes)
    stumps = AdaBoostMH(
        sampler=name, n_estimators=8, families=[[0, 1, 2], [3, 4, 5, 6]], max_cost=2,
        random_state=1, feature_costs=np.arange(7.0), split_cost=0.25, smoothing=0.01,
    ).fit(X, y)  # fmt: skip
    two = clone(stumps).set_params(weak_learner="hamming_tree", n_leaves=2).fit(X, y)
    for method in ("decision_function", "predict", "evaluations", "prediction_cost"):
        np.testing.assert_array_equal(getattr(stumps, method)(X), getattr(two, method)(X))
    np.testing.assert_array_equal(stumps.acquired_features(X), two.acquired_features(X))
    for method in ("staged_decision_function", "staged_cost"):
        np.testing.assert_array_equal(
            list(getattr(stumps, method)(X)), list(getattr(two, method)(X))
        )
    for name in ("log_train_loss_", "sampling_cost_", "family_rows_"):
        np.testing.assert_array_equal(getattr(stumps, name), getattr(two, name))
    roots = two.trees_.tree[:-1]
    np.testing.assert_array_equal(two.trees_.feature[roots], stumps.stumps_.feature)
    np.testing.assert_array_equal(two.trees_.threshold[roots], stumps.stumps_.threshold)
    for name in ("alpha", "edge"):
        np.testing.assert_array_equal(getattr(two.trees_, name), getattr(stumps.stumps_, name))


# --- by hand ---------------------------------------------------------------------------------


def test_by_hand():
    # x = 0 1 2 3, y = - + + -, each 1/4. The constant vote has edge 0; cut 0.5 has (1 + 2 - 1)/4 =
    # 1/2, cut 1.5 has 0, 2.5 has 1/2: the lowest. Left of it all agree. Right of it + + - has 1/4
    # as a constant; cut 1.5 has |0| + |1| = 1/4, no more; cut 2.5 has 1/4 + 2/4, a gain of 1/2.
    # Three leaves are right everywhere, and no fourth gains: ε₊ = 1, α = ½ log((1 + s/4) / (s/4)).
    X, y = np.array([[0], [1], [2], [3]], dtype=np.uint8), ["no", "yes", "yes", "no"]
    model = of_trees(n_estimators=1, smoothing=0.01, feature_costs=[3.0], split_cost=0.5)
    model.fit(X, y)
    grown = model.trees_
    np.testing.assert_array_equal(grown.tree, [0, 5])
    np.testing.assert_array_equal(grown.feature, [0, -1, 0, -1, -1])
    np.testing.assert_array_equal(grown.threshold, [0.5, 0, 2.5, 0, 0])
    np.testing.assert_array_equal(grown.left, [1, -1, 3, -1, -1])
    np.testing.assert_array_equal(grown.votes[:, 0], [0, -1, 0, 1, -1])
    assert grown.edge[0] == 1.0
    assert grown.alpha[0] == pytest.approx(0.5 * np.log(401), rel=1e-12)
    np.testing.assert_array_equal(model.evaluations(X), [1, 2, 2, 2])
    np.testing.assert_array_equal(model.prediction_cost(X), [3.5, 4.0, 4.0, 4.0])
    np.testing.assert_array_equal(model.predict(X), y)
    assert_same_trees(model, reference_of(model, X, np.array(y)))


def test_leaves_vote_as_their_stump_and_are_not_fitted():
    """With several labels a stump votes for some label against the sum of one of its sides."""
    X, y = draw_data(np.random.default_rng(8), 300, 5, 4)
    model = of_trees(n_estimators=12).fit(X, y)
    Y, grown = labels_of(model.classes_, y), model.trees_
    *_, scores, _ = model.staged_decision_function(X)
    weights = boosting.pair_weights(scores, Y)
    node = np.full(300, grown.tree[11])
    while (inner := grown.left[node] >= 0).any():
        right = X[np.arange(300), grown.feature[node]] > grown.threshold[node]
        node = np.where(inner, grown.left[node] + right, node)
    sums = {leaf: (weights.ints * Y)[node == leaf].sum(axis=0) for leaf in np.unique(node)}
    assert len(sums) > 3
    edge = sum((grown.votes[leaf] * of_leaf).sum() for leaf, of_leaf in sums.items())
    assert grown.edge[11] == edge / weights.total
    assert sum(np.abs(of_leaf).sum() for of_leaf in sums.values()) > edge > 0
    children = grown.left[grown.left >= 0]
    for left in children[(grown.left[children] < 0) & (grown.left[children + 1] < 0)]:
        np.testing.assert_array_equal(grown.votes[left], -grown.votes[left + 1])


def test_more_leaves_begin_alike_and_have_no_smaller_edge():
    X, y = draw_data(np.random.default_rng(9), 200, 6, 3)
    models = [of_trees(n_estimators=1, n_leaves=k).fit(X, y) for k in range(2, 14)]
    for fewer, more in itertools.pairwise(models):
        assert fewer.trees_.edge[0] <= more.trees_.edge[0]
        split = np.flatnonzero(fewer.trees_.left >= 0)
        for name in ("feature", "threshold", "left"):
            expected = getattr(fewer.trees_, name)[split]
            np.testing.assert_array_equal(getattr(more.trees_, name)[split], expected)
    assert models[-1].trees_.edge[0] > models[0].trees_.edge[0]
    best_loss = [m.train_loss_[-1] for m in models]
    assert best_loss[-1] < best_loss[0]


def test_a_tree_tells_what_stumps_cannot():
    """Exclusive or, with two corners that weigh more, so that the first cut gains anything."""
    X = np.array([[0, 0], [0, 1], [0, 1], [1, 0], [1, 1], [1, 1]], dtype=np.uint8)
    y = [0, 1, 1, 1, 0, 0]
    assert (AdaBoostMH(n_estimators=50).fit(X, y).predict(X) != y).any()
    model = of_trees(n_estimators=1, n_leaves=4).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.trees_.edge[0] == 1.0


# --- what does not go ------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(SAMPLERS) - set(NAMES)))
def test_samplers_that_seek_one_feature_are_refused(name):
    for sampler in (name, ["all_features", name], SAMPLERS[name]()):
        with pytest.raises(ValueError, match="does not go with the sampler"):
            of_trees(sampler=sampler).fit(np.eye(3, dtype=np.uint8), [0, 1, 1])
    assert {"laminating", "mas_naive", "mas_1q", "mas_q1"} == set(SAMPLERS) - set(NAMES)
    with pytest.raises(ValueError, match="Laminating"):
        of_trees(sampler=Laminating()).fit(np.eye(3, dtype=np.uint8), [0, 1, 1])


def test_nothing_of_another_weak_learner_stays():
    model = of_trees().fit([[1], [2]], [0, 1])
    assert not hasattr(model, "stumps_")
    assert not hasattr(model.set_params(weak_learner="stump").fit([[1], [2]], [0, 1]), "trees_")
