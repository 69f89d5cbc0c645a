"""GBRT: the estimator against its reference, by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.kernels.decorators import available_threads
from reference import gbrt as reference
from reference.boosting import predict
from tests.twins import (
    assert_same_predictions,
    assert_same_trees,
    assert_twins,
    awkward_data,
    draw_validation,
    draw_weights,
    fit_twins,
    scores_by_bit_vectors,
    with_missing,
)

LOSSES = ("squared", "logistic", "multinomial")


def estimator_of(loss):
    return GBRTRegressor if loss == "squared" else GBRTClassifier


def draw_case(rng, loss):
    """Random data and one random setting of everything GBRT has."""
    n_samples, n_features = int(rng.integers(2, 300)), int(rng.integers(1, 10))
    X, y = awkward_data(rng, n_samples, n_features, loss, n_classes=int(rng.integers(3, 6)))
    parameters = {
        "n_estimators": int(rng.integers(1, 7)),
        "learning_rate": float(rng.choice([1.0, 0.1, 0.3])),
        "max_leaves": rng.choice([2, 3, 8, 16, None]),
        "max_depth": rng.choice([None, None, 1, 3, 4]),
        "min_samples_leaf": int(rng.choice([1, 1, 2, 5, 20])),
        "growth": str(rng.choice(["best_first", "breadth_first"])),
        "max_bins": int(rng.choice([2, 3, 16, 255])),
        "init": str(rng.choice(["mean", "zero"])),
        "min_hessian_leaf": float(rng.choice([1e-3, 0.0, 3.0])),
        "split_cost": float(rng.choice([0.0, 0.1])),
        "feature_costs": rng.choice([0.0, 0.1, 5.0], n_features),
        "feature_sharing": rng.choice([1.0, 64.0], n_features),
    }
    return X, y, draw_weights(rng, n_samples), parameters


@pytest.mark.parametrize("seed", range(18))
def test_equals_reference(seed):
    rng = np.random.default_rng([2001, seed])
    loss = LOSSES[seed % 3]
    X, y, weights, parameters = draw_case(rng, loss)
    new_rows = [rng.normal(size=(17, X.shape[1]))]
    assert_twins(estimator_of(loss)(**parameters), reference, X, y, new_rows, weights=weights)


@pytest.mark.parametrize("seed", range(9))
def test_equals_reference_with_missing_values(seed):
    rng = np.random.default_rng([2003, seed])
    loss = LOSSES[seed % 3]
    X, y, weights, parameters = draw_case(rng, loss)
    X, new_rows = with_missing(rng, X), [with_missing(rng, rng.normal(size=(17, X.shape[1])))]
    assert_twins(estimator_of(loss)(**parameters), reference, X, y, new_rows, weights=weights)


@pytest.mark.parametrize("seed", range(9))
def test_equals_reference_with_a_validation_set(seed):
    rng = np.random.default_rng([2002, seed])
    loss = LOSSES[seed % 3]
    X, y, _, parameters = draw_case(rng, loss)
    eval_set, watch = draw_validation(rng, X, y, loss)
    assert_twins(
        estimator_of(loss)(**parameters | watch | {"n_estimators": 9}),
        reference, X, y, eval_set=eval_set,
    )  # fmt: skip


# --- sizes at which the kernels take another way ---------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.skipif(available_threads() < 2, reason="only one thread: set NUMBA_NUM_THREADS=2")
def test_large_on_one_and_two_threads(loss):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(20_000, 20)), 2)
    score = X[:, 0] + np.sin(2 * X[:, 6]) * X[:, 17] + 0.3 * rng.normal(size=20_000)
    y = score if loss == "squared" else np.digitize(score, [0.0] if loss == "logistic" else [-1, 1])
    options = {"n_estimators": 2, "max_leaves": 12, "learning_rate": 0.5, "min_samples_leaf": 5}
    one, two = (estimator_of(loss)(**options, n_threads=n) for n in (1, 2))
    model = fit_twins(one, reference, X, y)
    two.fit(X, y)
    for each in (one, two):
        assert_same_trees(each, model)
        assert_same_predictions(each, model, X[::11])
    np.testing.assert_array_equal(one._raw_scores(X), two._raw_scores(X))


@pytest.mark.parametrize(
    ("n_estimators", "leaves", "n_blocks"), [(257, 2, 2), (129, 33, 2), (3, 80, 0)]
)
def test_many_trees_in_blocks_of_bit_vectors(n_estimators, leaves, n_blocks):
    """256 trees a block with up to 32 leaves, 128 with up to 64, walking beyond."""
    rng = np.random.default_rng(2)
    n = 2 * leaves + 10
    X = rng.normal(size=(n, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=n)
    model = GBRTRegressor(
        n_estimators=n_estimators, min_samples_leaf=1, max_leaves=leaves, n_threads=1
    )
    theirs = fit_twins(model, reference, X, y)
    assert len(model._bit_vectors) == n_blocks
    assert model.n_estimators_ == n_estimators
    np.testing.assert_array_equal(model._raw_scores(X), predict(theirs, X))
    Z = rng.normal(size=(37, 3))
    assert_same_trees(model, theirs)
    np.testing.assert_array_equal(model._raw_scores(Z), predict(theirs, Z))
    if n_blocks:
        np.testing.assert_array_equal(scores_by_bit_vectors(model, Z), model._raw_scores(Z))


def test_blocks_of_a_multi_class_model_keep_their_columns():
    # 100 rounds of three trees: the second block starts in the middle of a round.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=90), [-0.5, 0.5])
    model = GBRTClassifier(
        n_estimators=100, max_leaves=3, learning_rate=0.05, min_samples_leaf=8, n_threads=1
    )
    theirs = fit_twins(model, reference, X, y)
    assert [len(block.leaf) - 1 for block in model._bit_vectors] == [256, 44]
    np.testing.assert_array_equal(scores_by_bit_vectors(model, X), predict(theirs, X))
    np.testing.assert_array_equal(model._raw_scores(X), predict(theirs, X))


# --- degenerate data -------------------------------------------------------------------------


@pytest.mark.parametrize("classify", [False, True])
@pytest.mark.parametrize(
    "X", [[[1.0]], [[1.0], [2.0]], [[3.0]] * 6, [[0.0], [1.0]] * 4, [[-0.0], [0.0], [5e-324]] * 3]
)
def test_degenerate_data(X, classify):
    X = np.array(X)
    y = np.arange(len(X)) % 3
    estimator = (GBRTClassifier if classify else GBRTRegressor)(
        n_estimators=3, min_samples_leaf=1, learning_rate=0.5
    )
    assert_twins(estimator, reference, X, y if classify else y.astype(float))


def test_a_class_that_no_tree_can_tell_still_takes_its_newton_step():
    """A tree without split in a round that goes on: -G/H, not -G/N."""
    X = np.repeat([0.0, 1.0], 8)[:, None]
    y = np.array([0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 1, 0])
    model = GBRTClassifier(n_estimators=2, min_samples_leaf=1, learning_rate=1.0, init="zero")
    theirs = assert_twins(model, reference, X, y)
    assert [tree.n_splits for tree in theirs.rounds[0]] == [1, 0, 1]
    stump = model.trees_.tree[1]
    # F = 0: p = 1/3, g = 1/3 in 14 rows and -2/3 in two, h = 3/2 * 2/9: -G/H = -(10/3)/(16/3).
    assert model.trees_.value[stump] == pytest.approx(-10 / 16, rel=1e-8)


# --- by hand ---------------------------------------------------------------------------------


def test_two_classes_by_hand():
    # g = ½ ½ -½ ½ -½ -½ at F = 0; by squared error the split after 2 is the first of the best, at
    # half of 1²/2 + 1²/4; Newton steps with h = ¼: -1/(2/4) and 1/(4/4).
    X, y = np.arange(1.0, 7.0)[:, None], np.array(["a", "a", "b", "a", "b", "b"])
    model = GBRTClassifier(
        n_estimators=1, learning_rate=1.0, max_leaves=2, min_samples_leaf=1, init="zero"
    ).fit(X, y)
    forest = model.trees_
    assert (forest.feature[0], forest.threshold[0], forest.gain[0]) == (0, 2.5, 0.375)
    np.testing.assert_array_equal(forest.value, [0, -2, 1])
    np.testing.assert_array_equal(model.decision_function(X), [-2, -2, 1, 1, 1, 1])
    np.testing.assert_array_equal(model.predict(X), ["a", "a", "b", "b", "b", "b"])
    np.testing.assert_array_equal(model.evaluations(X), 1)
    p = 1 / (1 + np.exp(2.0))
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[1 - p, p]], rtol=1e-15)


def test_regression_by_hand():
    # From the mean 3: residuals -2 -2 1 3; the best split is after 2, its sides' means -2 and 2.
    X, y = np.array([[1.0], [2], [3], [4]]), np.array([1.0, 1, 4, 6])
    model = GBRTRegressor(n_estimators=2, learning_rate=0.5, max_leaves=2, min_samples_leaf=2)
    model.fit(X, y)
    assert model.initial_scores_ == [3.0]
    np.testing.assert_array_equal(model.trees_.value, [0, -2, 2, 0, -1, 1])
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages, [[2, 2, 4, 4], [1.5, 1.5, 4.5, 4.5]])
    np.testing.assert_array_equal(model.predict([[2.5], [2.6]]), [1.5, 4.5])  # an edge goes left


def test_costs_enter_the_meter_only():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + X[:, 1]
    prices = {"feature_costs": [1.0, 2.0, 4.0], "split_cost": 0.25}
    free = GBRTRegressor(n_estimators=3, max_leaves=4).fit(X, y)
    priced = GBRTRegressor(n_estimators=3, max_leaves=4, **prices).fit(X, y)
    np.testing.assert_array_equal(free.predict(X), priced.predict(X))
    np.testing.assert_array_equal(free.prediction_cost(X), 0)
    acquired = priced.acquired_features(X)
    expected = acquired @ np.array([1.0, 2.0, 4.0]) + 0.25 * priced.evaluations(X)
    np.testing.assert_array_equal(priced.prediction_cost(X), expected)
    np.testing.assert_array_equal(free.prediction_cost(X, **prices), expected)
    assert priced.model_cost() == 0.0


# --- early stopping --------------------------------------------------------------------------


def test_early_stopping_keeps_the_best_rounds():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(240, 4))
    y = X[:, 0] + rng.normal(size=240)
    eval_set = (X[:80], rng.permutation(y[:80]))  # gets worse sooner or later
    options = {"n_estimators": 40, "learning_rate": 0.5, "max_leaves": 8}
    watched = GBRTRegressor(**options).fit(X, y, eval_set=eval_set)
    stopped = GBRTRegressor(**options, early_stopping_rounds=4).fit(X, y, eval_set=eval_set)
    best = int(np.argmin(watched.validation_scores_)) + 1
    assert len(watched.validation_scores_) == watched.n_estimators_ == 40
    assert stopped.n_estimators_ == best < 36
    assert stopped.trees_.n_trees == best
    np.testing.assert_array_equal(
        stopped.validation_scores_, watched.validation_scores_[: best + 4]
    )
    np.testing.assert_array_equal(stopped.predict(X), list(watched.staged_predict(X))[best - 1])
    losses = [0.5 * np.mean((p - eval_set[1]) ** 2) for p in watched.staged_predict(eval_set[0])]
    np.testing.assert_allclose(watched.validation_scores_, losses, rtol=1e-12)


def test_early_stopping_by_a_metric_maximises_it_and_passes_over_nan():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] + rng.normal(size=100) > 0).astype(int)
    scores = iter([0.5, 0.7, np.nan, 0.7, 0.6, 0.9])
    model = GBRTClassifier(
        n_estimators=6, early_stopping_rounds=3, eval_metric=lambda y, scores_, query: next(scores)
    ).fit(X, y, eval_set=(X, y))
    assert model.n_estimators_ == 2
    np.testing.assert_array_equal(model.validation_scores_, [0.5, 0.7, np.nan, 0.7, 0.6])


def test_a_metric_may_predict_with_another_model():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(100, 2))
    y = X[:, 0]
    other = GBRTRegressor(n_estimators=2).fit(X, y)

    def metric(y, scores, query_id):
        return -float(np.mean((scores[:, 0] - other.predict(X)) ** 2))

    model = GBRTRegressor(n_estimators=3, eval_metric=metric).fit(X, y, eval_set=(X, y))
    assert len(model.validation_scores_) == 3


# --- independent implementations -------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [{"max_depth": 4, "max_leaves": None}, {"max_leaves": 10}])
def test_against_scikit_learn(loss, shape):
    rng = np.random.default_rng(9)
    X = rng.integers(0, 40, (2000, 6)).astype(float)
    score = X[:, 0] + np.abs(X[:, 1] - 20) + 0.1 * X[:, 2] * X[:, 3] + 9 * rng.normal(size=2000)
    bounds = np.quantile(score, [0.5] if loss == "logistic" else [0.3, 0.7])
    y = score if loss == "squared" else np.digitize(score, bounds)
    weights = rng.integers(1, 4, 2000).astype(float)
    shared = {"n_estimators": 15, "learning_rate": 0.2}
    ours = estimator_of(loss)(**shared, **shape, min_samples_leaf=1)
    theirs = (GradientBoostingRegressor if loss == "squared" else GradientBoostingClassifier)(
        **shared, max_leaf_nodes=shape["max_leaves"], max_depth=shape.get("max_depth")
    )
    ours.fit(X, y, sample_weight=weights)
    theirs.fit(X, y, sample_weight=weights)
    name = "predict" if loss == "squared" else "decision_function"
    mine, other = getattr(ours, name)(X), getattr(theirs, name)(X)
    if loss == "multinomial":  # scikit-learn's log priors are shifted to have mean zero
        mine = mine - np.mean(ours.initial_scores_)
    np.testing.assert_allclose(mine, other, rtol=0, atol=2e-9 * np.abs(other).max())
    assert ours.n_estimators_ == 15


@pytest.mark.parametrize("loss", LOSSES)
def test_whole_weights_equal_copies(loss):
    rng = np.random.default_rng(10)
    X, y = awkward_data(rng, 150, 7, loss)
    copies = rng.integers(0, 4, 150)
    for options in ({"max_bins": 255}, {"max_bins": 5}, {"growth": "breadth_first"}):
        parameters = {"n_estimators": 4, "min_samples_leaf": 6, "max_leaves": 5} | options
        weighted = estimator_of(loss)(**parameters).fit(X, y, sample_weight=copies)
        rows = np.repeat(np.arange(150), copies)
        repeated = estimator_of(loss)(**parameters).fit(X[rows], y[rows])
        for name, values in weighted.trees_._asdict().items():
            np.testing.assert_array_equal(values, getattr(repeated.trees_, name), name)
        np.testing.assert_array_equal(weighted._raw_scores(X), repeated._raw_scores(X))
        assert weighted.trees_.n_trees >= 4
