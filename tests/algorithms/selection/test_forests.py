"""Selection tools on forests of other libraries, early exits, and pipelines that end with them."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from algorithms.early_exit import EarlyExit
from algorithms.gbrt import GBRTClassifier
from algorithms.interop import from_lightgbm, from_scikit_learn
from algorithms.selection import assert_budget, cost_curve, cost_scorer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=300) > 0).astype(int)
PRICES = {"feature_costs": [1.0, 2.0, 4.0]}


def scikit_learn():
    model = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=4).fit(X, Y)
    return from_scikit_learn(model, **PRICES), model.predict(X)


def exits():
    gbrt = GBRTClassifier(n_estimators=4, max_leaves=4, **PRICES).fit(X, Y)
    model = EarlyExit(gbrt, rule="likelihood", threshold=0.8)
    return model, model.predict(X)


def booster():
    lightgbm = pytest.importorskip("lightgbm")
    options = {"objective": "binary", "num_leaves": 4, "verbosity": -1, "num_threads": 1}
    model = lightgbm.train(options, lightgbm.Dataset(X, Y), num_boost_round=4)
    return from_lightgbm(model, **PRICES), (model.predict(X) > 0.5).astype(int)


@pytest.mark.parametrize("made", [scikit_learn, exits, booster])
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_scores_and_costs(made, wrapped, scoring):
    model, predicted = made()
    accuracy, cost = np.mean(predicted == Y), model.prediction_cost(X).mean()
    asked = make_pipeline(FunctionTransformer(), model) if wrapped else model
    measured = assert_budget(asked, X, Y, min_score=0.5, max_cost=10, scoring=scoring)
    assert measured == (pytest.approx(accuracy), pytest.approx(cost))
    with pytest.raises(AssertionError, match="is above max_cost"):
        assert_budget(asked, X, Y, max_cost=0.5, scoring=scoring)
    assert cost_scorer(asked, X) == pytest.approx(-cost)
    curve = cost_curve(asked, X, Y, scoring=scoring)
    assert curve["rounds"].tolist() == [1, 2, 3, 4]
    assert curve["score"].iloc[-1] == pytest.approx(accuracy)
    assert curve["cost"].iloc[-1] == pytest.approx(cost)


def test_a_regressor_is_scored_by_what_the_library_predicts():
    rates = np.exp(X[:, 0])
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=4).fit(X, rates)
    forest = from_scikit_learn(model, **PRICES)
    measured = assert_budget(forest, X, rates, max_cost=10)
    assert measured.score == pytest.approx(model.score(X, rates))
