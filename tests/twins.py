"""Holding an estimator against its reference, decision by decision."""

from __future__ import annotations

import numpy as np


def assert_same_trees(estimator, model) -> None:
    """Assert that the trees of a fitted estimator equal the reference model's, bit for bit."""
    forest, number = estimator.trees_, 0
    np.testing.assert_array_equal(estimator.initial_scores_, model.initial_scores)
    assert estimator.n_estimators_ == len(model.rounds)
    for t, trees in enumerate(model.rounds):
        for k, tree in enumerate(trees):
            begin, end = forest.tree[number], forest.tree[number + 1]
            where = f"round {t}, tree {k}"
            np.testing.assert_array_equal(forest.feature[begin:end], tree.feature, where)
            np.testing.assert_array_equal(forest.threshold[begin:end], tree.threshold, where)
            left = forest.left[begin:end]
            np.testing.assert_array_equal(np.where(left >= 0, left - begin, -1), tree.left, where)
            np.testing.assert_array_equal(forest.gain[begin:end], tree.gain, where)
            np.testing.assert_array_equal(forest.count[begin:end], tree.count, where)
            np.testing.assert_array_equal(forest.depth[begin:end], tree.depth, where)
            np.testing.assert_array_equal(forest.value[begin:end], tree.value, where)
            number += 1
    assert number == forest.n_trees


def assert_same_predictions(estimator, model, reference, X, prices=None) -> None:
    """Assert equal scores, features, evaluations and costs, whole and stage by stage."""
    scores = reference.predict(model, X)
    np.testing.assert_array_equal(estimator._raw_scores(X), scores)
    staged = list(estimator._staged_raw_scores(X))
    expected = list(reference.staged_scores(model, X))
    assert len(staged) == len(expected)
    for ours, theirs in zip(staged, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    acquired = estimator.acquired_features(X)
    acquired = acquired.toarray() if hasattr(acquired, "toarray") else acquired
    np.testing.assert_array_equal(acquired, reference.acquired_features(model, X))
    np.testing.assert_array_equal(estimator.evaluations(X), reference.evaluations(model, X))
    prices = prices or {}
    np.testing.assert_array_equal(
        estimator.prediction_cost(X), reference.prediction_cost(model, X, **prices)
    )
    staged = estimator.staged_cost(X)
    for ours, theirs in zip(staged, reference.staged_cost(model, X, **prices), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def awkward_data(rng, n_samples, n_features, loss, n_classes=3):
    """Draw features with ties, constants, duplicates, one-hot columns and extremes, and targets."""
    X = rng.normal(size=(n_samples, n_features))
    for m in range(n_features):
        kind = rng.integers(8)
        if kind == 0:
            X[:, m] = 1.5
        elif kind == 1:
            X[:, m] = rng.integers(0, 4, n_samples)
        elif kind == 2 and m:
            X[:, m] = X[:, m - 1]
        elif kind == 3:
            X[:, m] = (rng.random(n_samples) < 0.1) * rng.integers(1, 4, n_samples)
        elif kind == 4:
            X[:, m] = np.where(rng.random(n_samples) < 0.05, -999.0, X[:, m])
        elif kind == 5:
            X[:, m] = np.nextafter(1.0, rng.choice([0.0, 1.0, 2.0], n_samples))
    if n_features >= 6:  # one-hot columns, which the layout bundles
        X[:, -3:] = np.eye(3)[rng.choice(3, n_samples, p=[0.7, 0.2, 0.1])]
        X[:, -3] = 0.0 if rng.random() < 0.3 else X[:, -3]
    signal = X[:, 0] + np.sin(3 * X[:, -1]) + rng.normal(size=n_samples)
    if loss == "squared":
        y = np.round(signal, 1) if rng.random() < 0.5 else signal * 10.0 ** rng.integers(-6, 7)
    elif loss == "logistic":
        y = (signal > np.median(signal)).astype(np.int64)
    else:
        y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    return X, y
