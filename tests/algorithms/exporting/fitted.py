"""Models to be written in other forms, and rows that take every kind of path."""

from __future__ import annotations

import numpy as np

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier

rng = np.random.default_rng(6)
X = rng.normal(size=(200, 4)) * [1.0, 1e-3, 1e6, 1.0]
X[rng.random(X.shape) < 0.1] = np.nan
_SCORE = np.nan_to_num(X[:, 0]) + 1e3 * np.nan_to_num(X[:, 1]) * (np.isnan(X[:, 2]) + 0.5)
PRICES = {
    "feature_costs": [0.5, 0.1, 2.0, 0.3],
    "feature_groups": ["a", "b", "b", "c"],
    "group_costs": {"a": 1.7, "b": 0.0, "c": 3.3},
    "split_cost": 0.01,
}
SMALL = {"n_estimators": 5, "min_samples_leaf": 5, "n_threads": 1}
WORDS = np.array(["no", "perhaps", "yes"])


def models() -> dict:
    """Fitted models by name: one score, two classes, three classes, and no tree at all."""
    thirds = np.digitize(_SCORE, np.quantile(_SCORE, [0.3, 0.7]))
    return {
        "numbers": CEGBRegressor(**SMALL, **PRICES, max_leaves=9, tradeoff=1e-4).fit(X, _SCORE),
        "two classes": GreedyMiserClassifier(**SMALL, **PRICES).fit(X, _SCORE > 0),
        "three classes": CEGBClassifier(**SMALL, **PRICES, max_leaves=5, tradeoff=1e-4).fit(
            X, WORDS[thirds]
        ),
        "no trees": GBRTRegressor(n_estimators=0).fit(X, _SCORE),
    }


def rows(model) -> np.ndarray:
    """The training rows, and others on, just above and just below every threshold."""
    forest = model.trees_
    split = np.flatnonzero(forest.left >= 0)
    on = np.tile(np.where(np.isnan(X[:1]), 0.0, X[:1]), (3 * len(split), 1))
    for k, node in enumerate(split):
        threshold = forest.threshold[node]
        for j, value in enumerate((-np.inf, threshold, np.inf)):
            if abs(threshold) < 1e300:
                near = threshold if j == 1 else np.nextafter(threshold, value)
                on[3 * k + j, forest.feature[node]] = near
    return np.concatenate([X, on])


def raw_scores(model, Z) -> np.ndarray:
    """Scores (n_samples, n_columns) before any link."""
    answer = getattr(model, "decision_function", model.predict)(Z)
    return answer.reshape(len(Z), -1)
