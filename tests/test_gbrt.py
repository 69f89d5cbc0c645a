"""GBRT by hand, and at the sizes at which its kernels take another way."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from reference import gbrt as reference
from reference.boosting import predict
from tests.twins import assert_same_trees, assert_twins, fit_twins, scores_by_bit_vectors

# --- sizes at which the kernels take another way ---------------------------------------------


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


# --- by hand ---------------------------------------------------------------------------------


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


# --- early stopping --------------------------------------------------------------------------


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
