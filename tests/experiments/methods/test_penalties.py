"""One λ for all libraries, that of Eq. (2), whatever each calls the gain of a split."""

import numpy as np
import pandas as pd
import pytest

from experiments.methods import penalties
from experiments.methods.problem import Part, Problem
from experiments.methods.table import METHODS

PRICED = ("cegb", "lightgbm_cegb", "catboost_per_object", "catboost_first_use")
EXACT = {"random_strength": 0, "bootstrap_type": "No", "l2_leaf_reg": 0}
"""CatBoost without noise, prior or sample: the rule itself."""


def two_columns(task, binary=False):
    """Feature 0 is better and costs 1, feature 1 is worse and free."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (2000, 2)) / 8
    signal = 1.0 * (X[:, 0] > 0.5) + 0.8 * (X[:, 1] > 0.5) + 0.1 * rng.normal(size=2000)
    # The mean is ½ exactly and the start is there: every h is 1 or ¼.
    y = (signal > np.median(signal)).astype(int)
    table = pd.DataFrame(1.0 * (X > 0.5) if binary else X, columns=["dear", "free"])
    part = Part(table, y, None, None, None)
    parts = dict.fromkeys(("train", "valid", "test"), part)
    metric = "accuracy" if task == "classification" else "neg_mean_squared_error"
    return Problem(task, metric, parts, np.array([1.0, 0.0]), None, None, 0.0, {})


def lead_per_row(problem):
    """By how much the dear feature's gain, Eq. (12), exceeds the free one's, per row."""
    part = problem.fit
    X, g = part.X.to_numpy(), 0.5 - part.y
    h = 0.25 if problem.task == "classification" else 1.0

    def gain(m):
        return max(
            sum(g[side].sum() ** 2 / (h * side.sum()) for side in (X[:, m] > t, X[:, m] <= t))
            for t in np.unique(X[:, m])[:-1]
        ) / (2 * len(g))

    return gain(0) - gain(1)


def root(method, problem, tradeoff):
    """The first tree's first question."""
    library = METHODS[method].library
    if library is not None:
        pytest.importorskip(library, reason="peer: make setup-peers")
    draw = {"u": [0.5, 0.0, 0.5, 0.5, 0.5], "rounds": 1, "seed": 3, "tradeoff": tradeoff}
    return METHODS[method].train(problem, draw).model(1).trees_.feature[0]


@pytest.fixture
def exact(monkeypatch):
    original = penalties._catboost
    monkeypatch.setattr(penalties, "_catboost", lambda *given: original(*given) | EXACT)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("method", PRICED)
def test_the_price_means_the_same_to_all(method, task, exact):
    """The root leaves the dear feature for the free one at the λ that Eq. (12) says."""
    problem = two_columns(task)
    switch = lead_per_row(problem)
    assert switch > 0
    assert root(method, problem, 0.98 * switch) == 0
    assert root(method, problem, 1.02 * switch) == 1


def test_catboost_prices_only_the_best_of_binary_features(exact):
    """A limit of CatBoost 1.2 that the head of penalties states; if this fails, it is gone."""
    problem = two_columns("classification", binary=True)
    tradeoff = 1.02 * lead_per_row(problem)
    assert root("catboost_first_use", problem, tradeoff) == 0
    assert root("cegb", problem, tradeoff) == 1


def test_oblivious_trees_make_both_prices_one():
    """Why prices per object are tried with trees that are not oblivious."""
    catboost = pytest.importorskip("catboost", reason="peer: make setup-peers")
    part = two_columns("classification").fit
    X, costs = part.X.to_numpy(), np.array([1.0, 0.0])
    by_model = penalties.catboost_at_first_use(1e-3, costs, len(X), True)
    by_row = {n: v for n, v in by_model.items() if n != "first_feature_use_penalties"}
    by_row["per_object_feature_penalties"] = costs.tolist()
    models = [
        catboost.CatBoostClassifier(
            iterations=5, depth=3, verbose=0, allow_writing_files=False, **own
        ).fit(X, part.y)
        for own in (by_model, by_row)
    ]
    np.testing.assert_array_equal(*(model.predict_proba(X) for model in models))


def test_lightgbm_is_never_given_a_coupled_penalty():
    """They are wrong in LightGBM 4.7: see ``benchmarks/lightgbm_cegb_defect.py``."""
    given = penalties.lightgbm_per_row(1e-3, np.array([1.0, 5.0]))
    assert given == {"cegb_tradeoff": 2e-3, "cegb_penalty_feature_lazy": [1.0, 5.0]}
