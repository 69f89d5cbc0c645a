"""CEGB: the estimator against its reference, its limits and its invariants."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from reference import cegb as reference
from tests.twins import assert_same_predictions, assert_same_trees, awkward_data


def draw_parameters(rng, n_features):
    """One random setting of everything CEGB has."""
    groups = rng.integers(0, max(1, n_features // 2), n_features) if rng.random() < 0.3 else None

    def prices(scale):
        drawn = rng.choice([0.0, 0.1, 1.0, 1.0, 5.0, 20.0], n_features) * scale
        if groups is not None:
            for group in np.unique(groups):
                drawn[groups == group] = drawn[groups == group][0]
        return drawn

    return {
        "n_estimators": int(rng.integers(1, 7)),
        "learning_rate": float(rng.choice([1.0, 0.1, 0.3])),
        "max_leaves": rng.choice([2, 3, 8, 16, None]),
        "max_depth": rng.choice([None, None, 1, 3, 4]),
        "min_samples_leaf": int(rng.choice([1, 1, 2, 5, 20])),
        "growth": str(rng.choice(["best_first", "breadth_first"])),
        "tradeoff": float(rng.choice([0.0, 1e-4, 1e-2, 0.1, 1.0])),
        "split_cost": float(rng.choice([0.0, 0.25, 0.1])),
        "feature_costs": prices(1.0) if rng.random() < 0.7 else None,
        "model_feature_costs": prices(10.0) if rng.random() < 0.5 else None,
        "feature_groups": groups,
        "feature_sharing": rng.choice([1.0, 4.0, 64.0], n_features) if rng.random() < 0.3 else None,
        "max_bins": int(rng.choice([2, 3, 16, 255])),
        "stop_on_negative_gain": bool(rng.random() < 0.8),
        "second_order": bool(rng.random() < 0.7),
        "init": str(rng.choice(["mean", "zero"])),
        "min_hessian_leaf": float(rng.choice([1e-3, 0.0, 0.5])),
    }


def draw_weights(rng, n_samples):
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(0, 4, n_samples).astype(float)
    if kind == 1:
        return rng.random(n_samples) * 10.0 ** rng.integers(-3, 4)
    return None


def meter(parameters):
    names = ("feature_costs", "split_cost", "feature_groups", "feature_sharing")
    return {name: parameters[name] for name in names}


def fit_both(X, y, loss, weights, parameters, **fit):
    estimator = CEGBRegressor if loss == "squared" else CEGBClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours = estimator(**parameters).fit(X, y, sample_weight=weights, **fit)
    labels = y if loss == "squared" else np.searchsorted(ours.classes_, y)
    theirs = reference.fit(X, labels, loss=loss, sample_weight=weights, **parameters, **fit)
    return ours, theirs


@pytest.mark.parametrize("seed", range(60))
def test_equals_reference(seed):
    rng = np.random.default_rng([2017, seed])
    loss = ("squared", "logistic", "multinomial")[seed % 3]
    n_samples, n_features = int(rng.integers(30, 300)), int(rng.integers(1, 10))
    X, y = awkward_data(rng, n_samples, n_features, loss)
    weights = draw_weights(rng, n_samples)
    parameters = draw_parameters(rng, n_features)
    ours, theirs = fit_both(X, y, loss, weights, parameters)
    assert_same_trees(ours, theirs)
    Z = np.concatenate([X, rng.normal(size=(17, n_features))])
    assert_same_predictions(ours, theirs, reference, Z, meter(parameters))
