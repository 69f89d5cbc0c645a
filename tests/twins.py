"""Holding an estimator against its reference, decision by decision."""

from __future__ import annotations

import warnings

import numpy as np

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from algorithms.trees.predictor import add_scores
from reference import boosting, cegb, costs, forest_costs, gbrt, greedy_miser
from reference.beyond import by_name

KINDS = {
    "cegb": (CEGBRegressor, CEGBClassifier, cegb),
    "gbrt": (GBRTRegressor, GBRTClassifier, gbrt),
    "miser": (GreedyMiserRegressor, GreedyMiserClassifier, greedy_miser),
}
"""Boosted trees: regressor, classifier and reference."""

LOSSES = ("squared", "logistic", "multinomial")
METER = ("feature_costs", "split_cost", "feature_groups", "group_costs", "feature_sharing")
BILL = ("feature_costs", "feature_groups", "group_costs", "tree_cost")
"""Prices of the forest's own bill."""


def estimator_of(kind, loss):
    """The regressor or classifier of a kind of boosted trees."""
    return KINDS[kind][loss != "squared"]


def meter_prices(estimator):
    """Prices of the cost meter."""
    return {name: getattr(estimator, name, None) for name in METER}


def assert_equal_arrays(ours, theirs):
    """Assert that two models have the same arrays: trees, stumps."""
    for name, values in ours._asdict().items():
        np.testing.assert_array_equal(values, getattr(theirs, name), name)


def fit_twins(estimator, reference, X, y, *, weights=None, eval_set=None):
    """Fit the estimator, and the reference with the same parameters; return the reference model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        estimator.fit(X, y, sample_weight=weights, eval_set=eval_set)
    loss = "squared"
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        loss = "logistic" if len(classes) <= 2 else "multinomial"
        # Rows of weight 0 may have labels that do not count.
        y = np.searchsorted(classes, y).clip(0, len(classes) - 1)
        if eval_set is not None:
            eval_set = (eval_set[0], np.searchsorted(classes, eval_set[1]), *eval_set[2:])
    told = {"loss": loss, "sample_weight": weights, "eval_set": eval_set}
    return fit_reference(estimator, reference, X, y, **told)


def fit_reference(estimator, reference, X, y, **told):
    """Fit the reference with the estimator's parameters, as far as it knows them."""
    known = by_name.names(reference)
    parameters = {k: v for k, v in estimator.get_params().items() if k in known}
    return by_name.fit(reference, X, y, **parameters | told)


def assert_twins(estimator, reference, X, y, new_rows=(), **fit):
    """Assert that the estimator equals its reference in all it decides; return the reference."""
    model = fit_twins(estimator, reference, X, y, **fit)
    assert_same_trees(estimator, model)
    np.testing.assert_array_equal(estimator.validation_scores_, model.validation_scores)
    Z = np.concatenate([np.asarray(X, dtype=np.float64), *new_rows])
    assert_same_predictions(estimator, model, Z, meter_prices(estimator))
    d = estimator.n_features_in_
    used = boosting.model_features(model, d)
    np.testing.assert_array_equal(estimator.model_features(), used)
    of_model = getattr(estimator, "model_feature_costs", None)
    assert estimator.model_cost() == costs.model_cost(used, of_model, estimator.feature_groups)
    if hasattr(estimator, "forest_cost"):
        prices = {name: getattr(estimator, name) for name in BILL}
        bills = list(forest_costs.staged_forest_cost(model, d, **prices))
        assert list(estimator.staged_forest_cost()) == bills
        assert estimator.forest_cost() == forest_costs.forest_cost(model, d, **prices)
        assert estimator.budget is None or all(bill <= estimator.budget for bill in bills)
    return model


def draw_weights(rng, n_samples):
    """Row weights: whole, fractional of some scale, or none."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(0, 4, n_samples).astype(float)
    if kind == 1:
        return rng.random(n_samples) * 10.0 ** rng.integers(-3, 4)
    return None


def draw_validation(rng, X, y, loss):
    """A validation set in queries, and parameters that watch it."""
    rows = rng.integers(0, len(y), 40)
    Z = X[rows] + rng.normal(size=(40, X.shape[1])) * rng.choice([0.0, 1.0])
    metrics = {
        "squared": ["loss", "average_precision@3", "precision@5", negative_absolute_error],
        "logistic": ["loss", "accuracy", "average_precision@3", "precision@5", "ndcg@4"],
        "multinomial": ["loss", "accuracy", share_of_hits],
    }[loss]
    watch = {
        "early_stopping_rounds": (None, 1, 2, 3)[rng.integers(4)],
        "eval_metric": metrics[rng.integers(len(metrics))],
    }
    targets = y[rows]
    if "precision@" in str(watch["eval_metric"]) and targets.max() < 1:  # of which none is relevant
        targets = np.digitize(targets, np.quantile(targets, [0.3, 0.7])).astype(np.float64)
        targets[0] = 1.0
    return (Z, targets, np.repeat([3, 1, 7, 5], [10, 5, 15, 10])), watch


def negative_absolute_error(y, scores, query_id):
    """A metric of the user's own."""
    return -float(np.abs(y - scores[:, 0]).mean())


def share_of_hits(y, scores, query_id):
    """A metric of the user's own, for classes."""
    return float((np.argmax(scores, axis=1) == y).mean())


def with_missing(rng, X):
    """Copy of a matrix in which columns are missing nothing, a value, few, many, or all."""
    X = np.array(X, dtype=np.float64)
    for m in range(X.shape[1]):
        kind = rng.integers(6)
        if kind == 0:
            X[rng.integers(len(X)), m] = np.nan
        elif kind < 4:
            X[rng.random(len(X)) < (0.05, 0.3, 0.9)[kind - 1], m] = np.nan
        elif kind == 4 and rng.random() < 0.3:
            X[:, m] = np.nan
    return X


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
            side = forest.missing_left[begin:end]
            np.testing.assert_array_equal(side, tree.missing_left, where)
            assert_same_sets(estimator, begin, tree, where)
            number += 1
    assert number == forest.n_trees


def assert_same_sets(estimator, begin, tree, where) -> None:
    """Assert that splits of categories send the same of them left, and the unseen with NaN."""
    for node, sets in enumerate(tree.sets):
        if sets is None:
            assert not getattr(estimator.trees_, "by_set", np.zeros(begin + node + 1))[begin + node]
            continue
        known = estimator.categories_[int(tree.feature[node])].tolist()
        assert sets.left | sets.right <= set(known)
        left = [known[code] for code in estimator.trees_.codes_left(begin + node)]
        unseen = set(known) - sets.left - sets.right if tree.missing_left[node] else set()
        assert left == sorted(sets.left | unseen), where


def scores_by_bit_vectors(estimator, X) -> np.ndarray:
    """Scores (n, n_columns) from the estimator's bit-vectors, which other forms stand in for."""
    scores = np.tile(estimator.initial_scores_, (len(X), 1))
    add_scores(estimator._bit_vectors, estimator._check_X(X), scores, 1)
    return scores


def assert_same_predictions(estimator, model, X, prices=None) -> None:
    """Assert equal scores, features, evaluations and costs, whole and stage by stage."""
    scores = boosting.predict(model, X)
    rows = estimator._check_X(X) if getattr(estimator, "categories_", None) else X
    np.testing.assert_array_equal(estimator._raw_scores(rows), scores)
    staged = list(estimator._staged_raw_scores(rows))
    expected = list(boosting.staged_scores(model, X))
    assert len(staged) == len(expected)
    for ours, theirs in zip(staged, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    acquired = estimator.acquired_features(X)
    acquired = acquired.toarray() if hasattr(acquired, "toarray") else acquired
    np.testing.assert_array_equal(acquired, boosting.acquired_features(model, X))
    np.testing.assert_array_equal(estimator.evaluations(X), boosting.evaluations(model, X))
    prices = prices or {}
    np.testing.assert_array_equal(
        estimator.prediction_cost(X), boosting.prediction_cost(model, X, **prices)
    )
    staged = estimator.staged_cost(X)
    for ours, theirs in zip(staged, boosting.staged_cost(model, X, **prices), strict=True):
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
