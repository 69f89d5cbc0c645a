"""Selection: what is chosen within a budget, by hand; curves; the scorer; the assertion."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, check_scoring, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTRegressor
from algorithms.greedy_miser import GreedyMiserRegressor
from algorithms.selection import (
    BudgetSearchCV,
    assert_budget,
    cost_curve,
    cost_scorer,
    prediction_cost,
)
from algorithms.selection.curve import on_frontier
from algorithms.selection.search import _ScoreAndCost, best_within

COSTS = [1.0, 4.0, 10.0]
GRID = {"tradeoff": [1e-4, 3e-3, 1e-2, 4.6e-2]}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=240)
    noise = rng.normal(size=(3, 240)) * np.array([[2.0], [1.0], [0.2]])
    return (truth + noise).T, truth > 0, np.repeat(np.arange(24), 10)


def classifier(**options):
    return CEGBClassifier(n_estimators=8, max_leaves=4, feature_costs=COSTS, n_threads=1, **options)


# --- search -----------------------------------------------------------------------------------


def measured_by_hand(X, y, folds, candidates):
    """Mean validation score and cost of each candidate."""
    table = []
    for params in candidates:
        fits = [(classifier(**params).fit(X[a], y[a]), b) for a, b in folds]
        score = np.mean([accuracy_score(y[b], model.predict(X[b])) for model, b in fits])
        cost = np.mean([model.prediction_cost(X[b]).mean() for model, b in fits])
        table.append((score, cost))
    return np.array(table).T


def test_the_choice_is_what_one_finds_by_hand(data):
    X, y, _ = data
    folds = list(StratifiedKFold(3).split(X, y))
    score, cost = measured_by_hand(X, y, folds, [{"tradeoff": t} for t in GRID["tradeoff"]])
    assert np.ptp(cost) > 1  # else nothing is chosen by cost
    chosen = []
    for budget in (cost.min(), np.median(cost), np.inf):
        search = BudgetSearchCV(classifier(), GRID, budget=budget, cv=folds).fit(X, y)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], score)
        np.testing.assert_array_equal(search.cv_results_["mean_test_cost"], cost)
        allowed = [i for i in range(4) if cost[i] <= budget]
        best = max(allowed, key=lambda i: (score[i], -cost[i]))
        assert search.best_index_ == best
        assert search.best_params_ == {"tradeoff": GRID["tradeoff"][best]}
        assert (search.best_score_, search.best_cost_) == (score[best], cost[best])
        assert search.cv_results_["rank_test_score"][best] == 1
        assert search.cv_results_["within_budget"].sum() == len(allowed)
        whole = classifier(**search.best_params_).fit(X, y)
        np.testing.assert_array_equal(search.predict(X), whole.predict(X))
        np.testing.assert_array_equal(search.prediction_cost(X), whole.prediction_cost(X))
        assert search.score(X, y) == whole.score(X, y)
        chosen.append(best)
    assert len(set(chosen)) > 1


def test_rounds_are_measured_without_further_fits(data):
    X, y, _ = data
    fits = []

    class Counted(CEGBClassifier):
        def fit(self, X, y, **options):
            fits.append(len(X))
            return super().fit(X, y, **options)

    model = Counted(max_leaves=4, feature_costs=COSTS, n_estimators=8)
    grid = {"tradeoff": [1e-4, 1e-2]}
    each = BudgetSearchCV(model, {**grid, "n_estimators": [1, 3, 8]}, budget=10, cv=3).fit(X, y)
    fits.clear()
    search = BudgetSearchCV(model, grid, budget=10, rounds=[8, 1, 3], cv=3).fit(X, y)
    assert len(fits) == 2 * 3 + 1
    by_params = [
        {
            (p["tradeoff"], p["n_estimators"]): (score, cost)
            for p, score, cost in zip(
                s.cv_results_["params"],
                s.cv_results_["mean_test_score"],
                s.cv_results_["mean_test_cost"],
                strict=True,
            )
        }
        for s in (each, search)
    ]
    assert by_params[0] == by_params[1]
    assert search.best_params_ == each.best_params_
    assert search.cv_results_["param_n_estimators"].tolist() == [1, 3, 8] * 2
    assert len(pd.DataFrame(search.cv_results_)) == 6


def test_groups_weights_clone_and_draws(data):
    X, y, groups = data
    seen = []

    class Spy(CEGBClassifier):
        def fit(self, X, y, *, sample_weight=None):
            seen.append((frozenset(X[:, 0]), len(sample_weight)))
            return super().fit(X, y, sample_weight=sample_weight)

    search = BudgetSearchCV(
        Spy(n_estimators=2, feature_costs=COSTS),
        {"tradeoff": np.geomspace(1e-4, 1e-2, 50)},
        budget=20,
        n_iter=2,
        random_state=3,
        cv=GroupKFold(4),
    )
    again = clone(search)
    assert again.get_params()["budget"] == 20
    search.fit(X, y, groups=groups, sample_weight=np.ones(len(y)))
    for values, n_weights in seen[:-1]:
        inside = np.isin(X[:, 0], list(values))
        assert n_weights == inside.sum() == 180
        for group in range(24):  # whole or not at all
            assert inside[groups == group].all() or not inside[groups == group].any()
    assert not hasattr(again, "best_params_")
    again.fit(X, y, groups=groups, sample_weight=np.ones(len(y)))
    assert again.best_params_ == search.best_params_
    assert len(search.cv_results_["params"]) == 2


def test_costs_are_weighted_like_scores(data):
    X, y, _ = data
    model = classifier().fit(X, y)
    weights = np.arange(len(y), dtype=float)
    measured = _ScoreAndCost(check_scoring(model), None)(model, X, y, sample_weight=weights)
    assert measured["score"] == model.score(X, y, sample_weight=weights)
    assert measured["cost"] == np.average(model.prediction_cost(X), weights=weights)
    unweighted = _ScoreAndCost(lambda model, X, y: model.score(X, y), [2])
    assert unweighted(model, X, y, sample_weight=weights)["score@2"] == model.first_rounds(2).score(
        X, y
    )


def test_through_a_pipeline(data):
    X, y, _ = data
    pipeline = make_pipeline(StandardScaler(), classifier())
    grid = {"cegbclassifier__tradeoff": GRID["tradeoff"]}
    search = BudgetSearchCV(pipeline, grid, budget=9, rounds=[2, 8], cv=3).fit(X, y)
    best = search.best_estimator_
    assert best[-1].n_estimators == search.best_params_["cegbclassifier__n_estimators"]
    scaled = best[0].transform(X)
    np.testing.assert_array_equal(search.prediction_cost(X), best[-1].prediction_cost(scaled))
    # A search is itself a step and a metered model.
    outer = make_pipeline(FunctionTransformer(), search).fit(X, y)
    np.testing.assert_array_equal(prediction_cost(outer, X), search.prediction_cost(X))
    assert search.best_cost_ <= 9


def test_missing_values_are_learned_from_or_refused(data):
    """Here they tell the class; what does not take them says so, also through pipelines."""
    X, y, _ = data
    X = np.where(y[:, None] & (np.arange(3) == 0), np.nan, X)
    search = BudgetSearchCV(classifier(), GRID, budget=3, rounds=[2, 8], cv=3).fit(X, y)
    assert (search.best_score_, search.best_cost_) == (1.0, 1.0)
    model = search.best_estimator_
    curve = cost_curve(make_pipeline(StandardScaler(), model).fit(X, y), X, y)
    assert curve["score"].iloc[-1] == model.score(X, y) == 1.0
    assert curve["cost"].tolist() == [1.0] * len(curve)
    assert get_tags(search).input_tags.allow_nan

    class Whole(CEGBClassifier):
        """As cascades are: what is missing must be filled in before."""

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = False
            return tags

    whole = Whole(n_estimators=2, feature_costs=COSTS)
    for step, rows in (
        (whole, X),
        (make_pipeline("passthrough", whole), pd.DataFrame(X)),
        (whole, X.astype(object).tolist()),
    ):
        with pytest.raises(ValueError, match=r"which Whole does not take: .*Pipeline\.$"):
            BudgetSearchCV(step, {}, budget=9, cv=2).fit(rows, y)
    with pytest.raises(ValueError, match="which Whole does not take"):
        cost_curve(whole.fit(data[0], y), X, y)
    filled = make_pipeline(SimpleImputer(), whole)
    assert BudgetSearchCV(filled, {}, budget=np.inf, cv=2).fit(X, y).best_score_ > 0.5
    assert not get_tags(BudgetSearchCV(whole, {}, budget=9)).input_tags.allow_nan


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (classifier(), {"budget": 0.5}, ValueError, r"below the cheapest candidate, \{.*prediction "
         r"cost is 1"),
        (classifier(), {"budget": -1}, ValueError, "budget must be a finite number >= 0"),
        (classifier(), {"budget": 5, "rounds": [0]}, ValueError, "rounds must be a whole number"),
        (classifier(), {"budget": 5, "rounds": 3}, ValueError, "rounds must be None or a list"),
        (LogisticRegression(), {"budget": 5}, TypeError, "LogisticRegression has no prediction_c"),
    ],
)  # fmt: skip
def test_refusals_are_sentences(data, model, options, error, message):
    X, y, _ = data
    grid = {"tradeoff": [3e-2]} if isinstance(model, CEGBClassifier) else {"C": [1.0]}
    with pytest.raises(error, match=message):
        BudgetSearchCV(model, grid, cv=2, **options).fit(X, y)


def test_ties_go_to_the_cheaper_then_the_first():
    assert best_within([1.0, 2.0, 2.0, 2.0], [1.0, 5.0, 4.0, 4.0], 5) == 2
    assert best_within([1.0, np.nan], [1.0, 0.5], 1) == 0
    assert best_within([1.0], [2.0], 1.9) == -1


# --- scorer, curve, assertion -------------------------------------------------------------------


def test_the_scorer_stands_beside_others(data):
    X, y, _ = data
    results = cross_validate(
        classifier(), X, y, cv=2, scoring={"accuracy": "accuracy", "cost": cost_scorer}
    )
    trained, held_out = next(StratifiedKFold(2).split(X, y))
    model = classifier().fit(X[trained], y[trained])
    assert results["test_cost"][0] == -model.prediction_cost(X[held_out]).mean()

    class Wrong(LogisticRegression):
        def prediction_cost(self, X):
            return [1.0]

    with pytest.raises(ValueError, match="one number for each of 240 rows"):
        cost_scorer(Wrong().fit(X, y), X)


def test_a_curve_is_the_model_cut_short(data):
    X, y, _ = data
    model = make_pipeline(StandardScaler(), classifier()).fit(X, y)
    scaled = model[0].transform(X)
    for scoring, score_of in (
        (None, lambda m: accuracy_score(y, m.predict(scaled))),
        ("roc_auc", lambda m: roc_auc_score(y, m.decision_function(scaled))),
        (lambda m, X, y: -np.mean(m.predict_proba(X)[:, 0]), None),
    ):
        curve = cost_curve(model, X, y, scoring=scoring)
        assert curve["rounds"].tolist() == list(range(1, 9))
        if score_of is None:
            score_of = lambda m: -np.mean(m.predict_proba(scaled)[:, 0])  # noqa: E731
        for row in curve.itertuples():
            shorter = model[-1].first_rounds(row.rounds)
            assert row.score == score_of(shorter)
            assert row.cost == shorter.prediction_cost(scaled).mean()
        for row in curve.itertuples():
            better = (curve.score >= row.score) & (curve.cost <= row.cost)
            better &= (curve.score > row.score) | (curve.cost < row.cost)
            assert row.on_frontier == (not better.any())
    dearer = cost_curve(model, X, y, feature_costs=np.multiply(COSTS, 2))
    np.testing.assert_allclose(dearer["cost"], 2 * curve["cost"])


def test_curves_of_regressors_and_refusals(data):
    X, _, _ = data
    model = GreedyMiserRegressor(n_estimators=3, feature_costs=COSTS).fit(X, X[:, 1])
    assert cost_curve(model, X, X[:, 1])["score"].iloc[-1] == model.score(X, X[:, 1])
    with pytest.raises(TypeError, match="LogisticRegression has no staged_predict"):
        cost_curve(LogisticRegression(), X, X[:, 1])
    with pytest.raises(ValueError, match="has no rounds"):
        cost_curve(CEGBRegressor(n_estimators=0).fit(X, X[:, 1]), X, X[:, 1])
    assert on_frontier([1, 1, 1, 0, np.nan], [2, 2, 3, 1, 0]).tolist() == [True] * 2 + [
        False, True, False]  # fmt: skip


def test_the_assertion_says_what_it_measured(data):
    X, y, _ = data
    model = classifier().fit(X, y)
    score, cost = assert_budget(model, X, y, min_score=0.5, max_cost=15)
    assert (score, cost) == (model.score(X, y), model.prediction_cost(X).mean())
    with pytest.raises(AssertionError, match=rf"cost {cost:.6g} is above max_cost=0.5 \(score "):
        assert_budget(model, X, y, max_cost=0.5)
    with pytest.raises(AssertionError, match=r"score .* below min_score=1.5 and the mean"):
        assert_budget(model, X, y, min_score=1.5, max_cost=0)
    assert_budget(model, X, y, min_score=-1, scoring=lambda m, X, y: -0.5)
    with pytest.raises(ValueError, match="needs min_score, max_cost or both"):
        assert_budget(model, X, y)
    with pytest.raises(ValueError, match="min_score must be a number"):
        assert_budget(model, X, y, min_score="high")


def test_prices_in_decimals_are_within_their_sum():
    """Three features of 0.1 are within 0.3, in the assertion and in the search."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + X[:, 1] + X[:, 2]
    model = GBRTRegressor(n_estimators=5, feature_costs=[0.1, 0.1, 0.1], min_samples_leaf=2)
    model.fit(X, y)
    np.testing.assert_allclose(model.prediction_cost(X), 0.3)
    assert assert_budget(model, X, y, max_cost=0.3).cost > 0.3
    with pytest.raises(AssertionError, match="above max_cost"):
        assert_budget(model, X, y, max_cost=0.2999999)
    assert best_within([0.5, 0.6], [0.1, 0.1 + 0.2], 0.3) == 1
    assert best_within([0.5, 0.6], [0.1, 0.3001], 0.3) == 0
    search = BudgetSearchCV(model, {"max_depth": [3]}, budget=0.3, n_iter=1, cv=2)
    assert search.fit(X, y).cv_results_["within_budget"].all()
