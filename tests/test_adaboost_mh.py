"""AdaBoost.MH: the estimator against its reference, by hand, and its samplers."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from algorithms.feature_sampling import (
    BEST_FAMILY,
    SAMPLERS,
    UCB,
    EpsilonGreedy,
    Exp3P,
    FixedFamily,
    Tasting1Q,
    TastingQ1,
)
from algorithms.stumps.pair_weights import rows_of
from algorithms.stumps.sampling import Proposal, Sampler
from reference import adaboost_mh as reference
from reference import adaptive_sampling, costs, feature_sampling, hamming_trees, trees
from tests.twins import assert_equal_arrays, meter_prices

NAMES = [*SAMPLERS, BEST_FAMILY]
TREES = {"weak_learner": "hamming_tree"}


def twin_of(name):
    """The reference's sampler: a function of this name in the file of the same name."""
    file = SAMPLERS[name].__module__.split(".")[-1]
    return getattr(importlib.import_module(f"reference.{file}"), name)


def labels_of(classes, y):
    """Labels -1 or 1, one column a class; one column for two classes."""
    if len(classes) <= 2:
        return np.where(y == classes[-1], 1, -1)[:, None]
    return np.where(np.asarray(y)[:, None] == classes, 1, -1)


def reference_of(model, X, y, twin=None, sample_weight=None):
    """Fit the reference as the estimator was fitted."""
    options = {"n_estimators": model.n_estimators, "max_cost": model.max_cost}
    options["sample_weight"] = sample_weight
    options |= {"initial_weights": model.initial_weights, "smoothing": model.smoothing}
    if model.weak_learner == "hamming_tree":
        options["weak_learner"] = hamming_trees.hamming_trees(model.n_leaves)
    options["families"] = None
    if model.families is not None:
        options["families"] = [np.sort(family) for family in model.families]
    Y, seed = labels_of(model.classes_, y), model.random_state
    if model.sampler == BEST_FAMILY:
        twin = [feature_sampling.fixed_family(k) for k in range(len(options["families"] or [0]))]
    if isinstance(twin, list):
        theirs, place = feature_sampling.fit_best(X, Y, twin, seed=seed, **options)
        assert model.best_sampler_ == place
        return theirs
    sampler = (twin or twin_of(model.sampler))()
    return reference.fit(X, Y, sampler, rng=np.random.default_rng(seed), **options)


def assert_same_rounds(model, theirs):
    """Assert that every decision is the same, bit for bit."""
    trace, ours = theirs.trace, model.stumps_
    assert model.n_estimators_ == len(trace)
    np.testing.assert_array_equal(ours.feature, [d.feature for d in trace])
    np.testing.assert_array_equal(ours.votes, [d.votes for d in trace])
    np.testing.assert_array_equal(ours.edge, [d.edge for d in trace])
    np.testing.assert_array_equal(ours.alpha, [d.alpha for d in trace])
    np.testing.assert_array_equal(model.log_train_loss_, [d.log_loss for d in trace])
    np.testing.assert_array_equal(
        model.sampling_cost_, [(d.paper_cost, d.evaluations) for d in trace]
    )
    np.testing.assert_array_equal(model.family_rows_, [d.family_rows for d in trace])


def assert_same_model(a, b):
    """Assert that two estimators have learned the same."""
    assert_equal_arrays(a._learners, b._learners)
    np.testing.assert_array_equal(a.log_train_loss_, b.log_train_loss_)
    np.testing.assert_array_equal(a.classes_, b.classes_)


def assert_twins_on_bins(model, X, y, sample_weight=None):
    """Fit real numbers, and the reference their bins, and assert that they are equal."""
    model.fit(X, y, sample_weight=sample_weight)
    data = trees.training_data(X, y, 255, sample_weight)
    codes = data.bins.astype(np.uint8)
    theirs = reference_of(model, codes, y, sample_weight=sample_weight)
    assert_same_rounds(model, theirs)
    for decision, threshold in zip(theirs.trace, model.stumps_.threshold, strict=True):
        if decision.feature >= 0:
            assert threshold == data.edges[decision.feature][int(decision.threshold)]
    assert model.stumps_.feature.max() >= 0
    return theirs, codes


def assert_twins(model, X, y, new_rows=None, twin=None):
    """Fit both and assert that they are equal in all they decide, predict and charge."""
    model.fit(X, y)
    theirs = reference_of(model, X, y, twin)
    assert_same_rounds(model, theirs)
    np.testing.assert_array_equal(model.stumps_.threshold, [d.threshold for d in theirs.trace])
    Z = X if new_rows is None else np.concatenate([X, new_rows])
    K = model.stumps_.votes.shape[1]
    staged = list(reference.staged_scores(theirs, Z, K))
    for scores, expected, classes in zip(
        model.staged_decision_function(Z), staged, model.staged_predict(Z), strict=True
    ):
        np.testing.assert_array_equal(scores, expected[:, 0] if K == 1 else expected)
        np.testing.assert_array_equal(classes, model.classes_[reference.labels_of(expected)])
    if staged:
        np.testing.assert_array_equal(
            model.decision_function(Z), staged[-1][:, 0] if K == 1 else staged[-1]
        )
        np.testing.assert_array_equal(
            model.predict(Z), model.classes_[reference.labels_of(staged[-1])]
        )
    used = reference.acquired_features(theirs, X.shape[1])
    np.testing.assert_array_equal(model.model_features(), used)
    np.testing.assert_array_equal(model.evaluations(Z), reference.evaluations(theirs))
    assert_same_bills(model, Z)
    return theirs


def assert_same_bills(model, Z):
    """Against the reference's own meter."""
    feature, d = model.stumps_.feature, Z.shape[1]
    n_stumps = np.count_nonzero(feature >= 0)
    staged = list(model.staged_cost(Z[:3]))
    for t in range(0, len(feature), max(1, len(feature) // 5)):
        passed = np.bincount(feature[: t + 1][feature[: t + 1] >= 0], minlength=d)
        rows = np.tile(passed, (len(Z[:3]), 1))
        bill = costs.prediction_cost(rows, n_stumps, **meter_prices(model))
        np.testing.assert_array_equal(staged[t], bill)
    if staged:
        np.testing.assert_array_equal(model.prediction_cost(Z[:3]), staged[-1])


def draw_data(rng, n_samples, n_features, n_classes):
    """Columns with ties, constants, duplicates and extremes, and noisy classes."""
    X = rng.integers(0, 256, (n_samples, n_features)).astype(np.uint8)
    for m in range(n_features):
        kind = rng.integers(7)
        if kind == 0:
            X[:, m] = rng.choice([0, 7, 255])
        elif kind == 1:
            X[:, m] = rng.integers(0, 3, n_samples)
        elif kind == 2 and m:
            X[:, m] = X[:, m - 1]
        elif kind == 3:
            X[:, m] = np.where(rng.random(n_samples) < 0.8, 0, X[:, m])
        elif kind == 4:
            X[:, m] = rng.choice([0, 255], n_samples)
        elif kind == 5 and m:
            X[:, m] = 255 - X[:, m - 1]
    signal = X.astype(float) @ rng.normal(size=n_features) + 30 * rng.normal(size=n_samples)
    bounds = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return X, np.digitize(signal, bounds)


def draw_families(rng, n_features):
    if n_features == 1 or rng.random() < 0.3:
        return None
    number = rng.integers(0, int(rng.integers(1, 5)), n_features)
    return [np.flatnonzero(number == k) for k in np.unique(number)]


@pytest.mark.filterwarnings("ignore::algorithms.estimators.fitting.ConstantModelWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_equals_reference(name, seed):
    rng = np.random.default_rng([2014, seed, NAMES.index(name)])
    d, n_classes = int(rng.integers(1, 14)), int(rng.choice([2, 2, 3, 5, 10]))
    X, y = draw_data(rng, int(rng.integers(1, 120)), d, n_classes)
    model = AdaBoostMH(
        sampler=name,
        n_estimators=int(rng.integers(1, 12)),
        max_cost=float(rng.choice([0.5, 1, 2, 3.7, 10])),
        families=draw_families(rng, d),
        random_state=int(rng.integers(1000)),
        feature_costs=rng.choice([0.0, 0.1, 5.0], d),
        split_cost=float(rng.choice([0.0, 0.3])),
        n_threads=1,
    )
    if len(np.unique(y)) == 1:
        model.fit(X, y)
        assert model.n_estimators_ == 0
        np.testing.assert_array_equal(model.predict(X), y)
    else:
        assert_twins(model, X, y, rng.integers(0, 256, (9, d)).astype(np.uint8))


@pytest.mark.parametrize("seed", range(12))
def test_laminating_equals_reference_whatever_its_sizes(seed):
    rng = np.random.default_rng([2015, seed])
    X, y = draw_data(rng, int(rng.integers(8, 200)), int(rng.integers(2, 30)), 4)
    Q, S = rng.choice([None, 1, 2, 3, 8, 16, 100]), rng.choice([None, 1, 5, 20, 10**6])
    Q, S = (None if v is None else int(v) for v in (Q, S))
    by_weight = bool(seed % 2)
    model = AdaBoostMH(
        sampler=Laminating(Q, S, by_weight), n_estimators=8, random_state=seed, n_threads=1
    )
    assert_twins(model, X, y, twin=lambda: adaptive_sampling.laminating(Q, S, by_weight))


@pytest.mark.parametrize("max_cost", [1, 3, 8, 9, 20])
def test_uniform_q1_equals_reference_with_fewer_and_more_families_than_draws(max_cost):
    X, y = draw_data(np.random.default_rng(12), 60, 24, 3)
    families = [np.arange(3 * k, 3 * k + 3) for k in range(8)]
    model = AdaBoostMH(
        sampler="uniform_q1", max_cost=max_cost, families=families, n_estimators=10, random_state=2
    )
    assert_twins(model, X, y)


def test_draws_on_the_border_of_a_row():
    of_row = np.array([0, 2, 0, 0, 1, 3, 0])
    draws, rows = np.array([0, 0, 1, 2, 3, 4, 5, 5]), np.empty(8, dtype=np.int64)
    rows_of(draws, of_row, rows)
    np.testing.assert_array_equal(rows, [1, 1, 1, 4, 5, 5, 5, 5])
    np.testing.assert_array_equal(rows, np.searchsorted(np.cumsum(of_row), draws, side="right"))


@pytest.mark.parametrize("name", ["all_features", "laminating", "mas_naive", "mas_1q", "mas_q1"])
def test_equals_reference_for_many_rounds_on_digits(name):
    X, y = load_digits(return_X_y=True)
    X, y = X.astype(np.uint8)[:200], y[:200]
    model = AdaBoostMH(sampler=name, n_estimators=30, random_state=1)
    if name.startswith("mas"):
        model.set_params(families=np.split(np.arange(24), 3), max_cost=3)
    assert_twins(model, X[:, 20:44], y)
    assert model.train_loss_[-1] < model.train_loss_[0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_reference_on_scores_beyond_exp(n_classes):
    """Rows that are told apart at once: α at its cap, 400 rounds, exp(-y f) below any float64."""
    X = np.arange(12, dtype=np.uint8)[:, None] % n_classes
    model = AdaBoostMH(n_estimators=400)
    if n_classes == 2:
        assert_twins(model, X, X[:, 0])
        assert set(model.stumps_.edge) == {1.0}
    else:
        X, y = np.repeat(np.arange(4, dtype=np.uint8), 2)[:, None], np.arange(8) // 2 % 3
        model.set_params(n_estimators=600)
        model.fit(X, y)
        assert_same_rounds(model, reference_of(model, X, y))
    assert np.isfinite(model.log_train_loss_).all()
    assert np.isfinite(model.stumps_.alpha).all()
    np.testing.assert_array_equal(model.train_loss_, np.exp(model.log_train_loss_))
    if n_classes == 2:
        assert model.train_loss_[-1] == 0 > model.log_train_loss_[-1] + 4000


@pytest.mark.parametrize("seed", range(6))
def test_real_numbers_equal_the_reference_on_their_bins(seed):
    rng = np.random.default_rng([2016, seed])
    X = rng.normal(size=(400, 4))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = -0.0
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=400), [-1, 1])
    model = AdaBoostMH(n_estimators=8, sampler="uniform_naive", max_cost=2, random_state=seed)
    theirs, codes = assert_twins_on_bins(model, X, y)
    *_, scores = reference.staged_scores(theirs, codes, 3)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    whole = np.abs(10 * X).astype(np.uint8)
    a = AdaBoostMH(n_estimators=8).fit(whole, y)
    b = AdaBoostMH(n_estimators=8).fit(whole.astype(float), y)  # fewer than 255: every midpoint
    assert_same_model(a, b)
    np.testing.assert_array_equal(a.predict(whole), b.predict(whole.astype(np.int64)))


# --- by hand ---------------------------------------------------------------------------------


def test_by_hand():
    # See the reference's test: cuts 1.5 and 3.5, α = ½ log 3 and ½ log 5.
    X, y = np.array([[1], [2], [3], [4]], dtype=np.uint8), ["no", "yes", "no", "yes"]
    model = AdaBoostMH(n_estimators=2, feature_costs=[3.0], split_cost=0.25).fit(X, y)
    np.testing.assert_array_equal(model.stumps_.threshold, [1.5, 3.5])
    np.testing.assert_allclose(model.stumps_.alpha, [np.log(3) / 2, np.log(5) / 2], rtol=1e-8)
    np.testing.assert_allclose(model.train_loss_, np.sqrt([0.75, 0.75 * 5 / 9]), rtol=1e-8)
    np.testing.assert_array_equal(model.predict(X), ["no", "no", "no", "yes"])
    np.testing.assert_array_equal(model.sampling_cost_, [[4, 4], [4, 4]])
    np.testing.assert_array_equal(list(model.staged_cost(X)), [[3.25] * 4, [3.5] * 4])
    np.testing.assert_array_equal(model.prediction_cost(X, split_cost=1.0), 5.0)
    np.testing.assert_array_equal(model.evaluations(X), 2)
    np.testing.assert_array_equal(model.acquired_features(X), [[True]] * 4)


def test_groups_are_paid_for_once_and_constants_are_free():
    X = np.array([[0, 1, 0], [1, 1, 0], [1, 0, 0], [1, 1, 1]], dtype=np.uint8)
    model = AdaBoostMH(n_estimators=12, feature_costs=[2, 2, 9], feature_groups=[5, 5, 1])
    model.fit(X, [0, 0, 1, 1])
    bills = [bill[0] for bill in model.staged_cost(X)]
    first_of = {m: list(model.stumps_.feature).index(m) for m in set(model.stumps_.feature)}
    assert {-1, 0, 1, 2} & set(first_of) >= {1, 2}
    expected = [
        2.0 * any(first_of.get(m, 99) <= t for m in (0, 1)) + 9.0 * (first_of[2] <= t)
        for t in range(12)
    ]
    assert bills == expected
    # The group for 8, and its features for 2 each besides; the other group costs nothing.
    model.set_params(group_costs={5: 8.0, 1: 0.0})
    with_remainders = [
        8.0 * any(first_of.get(m, 99) <= t for m in (0, 1))
        + sum(2.0 * (first_of.get(m, 99) <= t) for m in (0, 1))
        + 9.0 * (first_of[2] <= t)
        for t in range(12)
    ]
    assert [bill[0] for bill in model.staged_cost(X)] == with_remainders
    assert_same_bills(model, X)


@pytest.mark.parametrize("options", [{}, TREES | {"initial_weights": "balanced"}])
def test_the_bill_never_rises_when_a_feature_becomes_free(options):
    rng = np.random.default_rng(13)
    X, y = draw_data(rng, 60, 8, 3)
    prices = rng.random(8) * 10.0 ** rng.integers(-6, 6, 8)
    model = AdaBoostMH(n_estimators=6, split_cost=0.1, **options).fit(X, y)
    before, acquired = model.prediction_cost(X, feature_costs=prices), model.acquired_features(X)
    assert len(np.unique(acquired, axis=0)) > 1 or not options  # of trees rows pay for their paths
    for m in range(8):
        after = model.prediction_cost(X, feature_costs=np.where(np.arange(8) == m, 0.0, prices))
        assert (after[acquired[:, m]] < before[acquired[:, m]]).all()
        np.testing.assert_array_equal(after[~acquired[:, m]], before[~acquired[:, m]])


@pytest.mark.parametrize(
    ("options", "used"), [({}, [[270]] * 5), (TREES, [[270]] * 2 + [[270, 280]] * 3)]
)
def test_many_features_are_marked_sparsely(options, used):
    X = np.zeros((5, 300), dtype=np.uint8)
    X[2:, 270], X[4:, 280] = 1, 1
    marked = AdaBoostMH(n_estimators=1, **options).fit(X, [0, 0, 1, 1, 0]).acquired_features(X)
    assert sparse.issparse(marked)
    assert [row.nonzero()[0].tolist() for row in marked.toarray()] == used


# --- samplers as objects ---------------------------------------------------------------------


class InTurn(Sampler):
    """Feature 0, 1, 2, … and what it was told."""

    def begin(self, problem):
        self.next, self.told = 0, []

    def propose(self, problem):
        self.next += 1
        edges = problem.edges(np.array([self.next - 1]))
        self.told.append(int(edges[0]) / problem.weights.total)
        problem.edges(np.array([self.next - 1]))  # searched, and paid for, once
        return Proposal(np.array([self.next - 1]), 7)

    def update(self, feature, edge):
        assert edge == self.told[-1]


def in_turn() -> reference.Sampler:
    """The same for the reference: one function, and a look that it lists."""

    def propose(t, weights, rng):
        features = np.array([t])
        return reference.Proposal(features, 7, ((features, None),)), t + 1

    return reference.Sampler(lambda problem, rng: 0, propose)


def test_a_sampler_of_ones_own():
    """A fourteenth method is one class, and in the reference one function."""
    X, y = draw_data(np.random.default_rng(5), 50, 6, 3)
    mine = InTurn()
    model = AdaBoostMH(sampler=mine, n_estimators=6, random_state=0)
    assert_twins(model, X, y, twin=in_turn)
    assert not hasattr(mine, "told")  # a copy was used
    assert all(m in (-1, t) for t, m in enumerate(model.stumps_.feature))
    np.testing.assert_array_equal(model.sampling_cost_, [[7, 50]] * 6)
    assert clone(model).sampler is not mine


@pytest.mark.parametrize("features", [[], [3], [-1], [0, 0], [0.5], [[0]]])
def test_a_sampler_that_proposes_nonsense_is_told_so(features):
    class Nonsense(Sampler):
        def propose(self, problem):
            return Proposal(np.array(features), 0)

    with pytest.raises(ValueError, match="must propose"):
        AdaBoostMH(sampler=Nonsense()).fit(np.eye(3, dtype=np.uint8), [0, 1, 1])


def test_every_sampler_of_the_reference_is_registered():
    """The converse, that every registered name has a twin, is what `NAMES` are used for."""
    twins = {
        name
        for module in (feature_sampling, adaptive_sampling)
        for name, value in vars(module).items()
        if "Sampler" in str(getattr(value, "__annotations__", {}).get("return"))
    }
    parts = {"fixed_family", "mas_with_pilot"}  # of "best_family" and of the MAS variants
    assert twins - parts == set(SAMPLERS)


def test_best_family_says_which():
    X, y = draw_data(np.random.default_rng(6), 100, 6, 2)
    families = [[0, 1], [2, 3], [5, 4]]
    model = AdaBoostMH(sampler=BEST_FAMILY, families=families, n_estimators=5, random_state=3)
    model.fit(X, y)
    alone = [clone(model).set_params(sampler=FixedFamily(k)).fit(X, y) for k in range(3)]
    assert model.best_sampler_ == int(np.argmin([m.train_loss_[-1] for m in alone]))
    np.testing.assert_array_equal(model.train_loss_, alone[model.best_sampler_].train_loss_)


LISTS = {
    "scales": (
        [UCB(2.0), Exp3P(8.0), EpsilonGreedy(0.5)],
        [
            feature_sampling.ucb(2.0),
            feature_sampling.exp3p(8.0),
            feature_sampling.epsilon_greedy(0.5),
        ],
    ),
    "tasters": (
        [Tasting1Q(1), Tasting1Q(3), TastingQ1(2)],
        [
            feature_sampling.tasting_1q(1),
            feature_sampling.tasting_1q(3),
            feature_sampling.tasting_q1(2),
        ],
    ),
    "constants of Exp3.P": (
        [Exp3P(2.0**n, 0.1, 1.0) for n in range(2)],
        [feature_sampling.exp3p(2.0**n, 0.1, 1.0) for n in range(2)],
    ),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("seed", range(4))
def test_a_list_of_samplers(name, seed):
    rng = np.random.default_rng(seed)
    X, y = draw_data(rng, 40, 12, int(rng.integers(2, 5)))
    samplers, twins = LISTS[name]
    families = draw_families(rng, 12)
    model = AdaBoostMH(
        sampler=samplers, families=families, n_estimators=12, max_cost=2, random_state=seed
    )
    assert_twins(model, X, y, twin=twins)
    alone = clone(model).set_params(sampler=samplers[model.best_sampler_]).fit(X, y)
    np.testing.assert_array_equal(model.train_loss_, alone.train_loss_)
    assert (model.sampling_cost_[:, 1] > alone.sampling_cost_[:, 1]).all()


def test_families_are_computed_once_for_each_row():
    rng = np.random.default_rng(0)
    X, y = draw_data(rng, 64, 12, 3)
    families = [np.arange(6), np.arange(6, 12)]
    for sampler in ("all_features", Laminating(4, 8), "tasting_q1"):
        model = AdaBoostMH(
            sampler=sampler, families=families, n_estimators=30, max_cost=2, random_state=0
        ).fit(X, y)
        assert (model.family_rows_ >= 0).all()
        assert (model.family_rows_.sum(axis=0) == 64).all()  # 30 rounds come by all rows
    first = AdaBoostMH(sampler="tasting_1q", families=families, n_estimators=2).fit(X, y)
    np.testing.assert_array_equal(first.family_rows_, [[64, 64], [0, 0]])


@pytest.mark.parametrize("weak_learner", ["stump", "hamming_tree"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_some_rounds_are_those_of_all(weak_learner, n_classes):
    """Staged predictions after chosen rounds have the bits of those after every round."""
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 9, size=(700, 6)).astype(np.uint8)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.integers(0, 3, 700)) % n_classes
    model = AdaBoostMH(n_estimators=12, weak_learner=weak_learner, n_leaves=3).fit(X, y)
    wanted = [1, 4, 5, 12]
    for staged in (model.staged_decision_function, model.staged_predict):
        each = list(staged(X))
        some = list(staged(X, rounds=wanted))
        np.testing.assert_array_equal(some, [each[t - 1] for t in wanted])
    assert list(model.staged_predict(X, rounds=iter([]))) == []


@pytest.mark.parametrize("rounds", [[0, 2], [3, 3], [4, 2], [6], [1.5], [True]])
def test_rounds_that_a_model_does_not_have(rounds):
    X = np.arange(12, dtype=np.uint8)[:, None]
    model = AdaBoostMH(n_estimators=5).fit(X, X[:, 0] % 3)
    with pytest.raises(ValueError, match="ound"):
        list(model.staged_predict(X, rounds=rounds))
