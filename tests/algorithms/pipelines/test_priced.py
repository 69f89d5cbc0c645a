"""Pipelines with prices of raw columns: bills are those that a naive loop over columns adds up."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.utils.estimator_checks import check_estimator

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier
from algorithms.pipelines import PricedPipeline
from algorithms.selection import BudgetSearchCV, TotalCostScorer, cost_scorer

rng = np.random.default_rng(3)
N = 150
TABLE = pd.DataFrame(
    {
        "colour": rng.choice(["red", "blue", "green"], N),
        "size": np.where(rng.random(N) < 0.2, np.nan, rng.integers(0, 9, N)),
        "weight": rng.normal(size=N),
        "idle": rng.normal(size=N),
    }
)
OF_COLOUR = {"red": 6.0 + TABLE["weight"], "green": 0.5 * TABLE["size"].fillna(9), "blue": 1.0}
Y = np.select([TABLE["colour"] == colour for colour in OF_COLOUR], [*OF_COLOUR.values()])
PRICES = {"colour": 5.0, "size": 2.0, "weight": 3.0, "idle": 100.0}
SMALL = {"n_estimators": 4, "max_leaves": 8, "min_samples_leaf": 5, "n_threads": 1}


def steps(*more):
    return make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour"]),
        (make_pipeline(SimpleImputer(add_indicator=True), *more), ["size", "weight"]),
        remainder="passthrough",
    )


def naive(model, prices, split_cost):
    """Each row's bill, column by column, from what the last step tested."""
    rows = model.pipeline_[:-1].transform(TABLE)
    tested, passed = model.model_.acquired_features(rows), model.model_.evaluations(rows)
    bills = []
    for row, n_passed in zip(tested, passed, strict=True):
        columns = {m for made in np.flatnonzero(row) for m in np.flatnonzero(model.needs_[made])}
        bills.append(sum(prices[TABLE.columns[m]] for m in columns) + split_cost * n_passed)
    return np.array(bills)


def test_one_hot_features_of_a_column_are_one_purchase():
    last = CEGBRegressor(**SMALL, tradeoff=1e-3, split_cost=0.25)
    model = PricedPipeline(make_pipeline(steps(), last), feature_costs=PRICES).fit(TABLE, Y)
    assert model.needs_.astype(int).tolist() == [
        *[[1, 0, 0, 0]] * 3, [0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1],
    ]  # fmt: skip
    bills = model.prediction_cost(TABLE)
    np.testing.assert_array_equal(bills, naive(model, PRICES, 0.25))
    assert len(set(bills)) > 1
    dearer = PRICES | {"colour": 50.0}
    other = model.prediction_cost(TABLE, feature_costs=dearer)
    np.testing.assert_allclose(other, naive(model, dearer, 0.25), rtol=1e-12)
    # Training pays for a column once, too: by hand, with groups of made features.
    rows = model.pipeline_[:-1].transform(TABLE)
    by_hand = clone(last).set_params(
        feature_costs=[5, 5, 5, 2, 3, 2, 100], feature_groups=[0, 0, 0, 1, 2, 1, 3]
    )
    np.testing.assert_array_equal(by_hand.fit(rows, Y).predict(rows), model.predict(TABLE))
    assert model.model_features().tolist() == [True, True, True, False]
    used = model.acquired_features(TABLE)
    assert used.shape == (N, 4)
    assert not used[:, 3].any()
    assert [*model.staged_predict(TABLE)][-1].tolist() == model.predict(TABLE).tolist()


def test_a_made_feature_needs_all_its_columns():
    last = CEGBRegressor(**SMALL, tradeoff=0.0, split_cost=0.25)
    pipeline = make_pipeline(steps(PolynomialFeatures()), last)
    y = TABLE["size"].fillna(0) * TABLE["weight"] + 9 * (TABLE["weight"] > 1) * TABLE["size"].isna()
    model = PricedPipeline(pipeline, feature_costs=PRICES).fit(TABLE, y)
    assert set(model.needs_.sum(axis=1)) == {0, 1, 2}
    bills = model.prediction_cost(TABLE)
    np.testing.assert_allclose(bills, naive(model, PRICES, 0.25), rtol=1e-12)
    rows = model.pipeline_[:-1].transform(TABLE)
    counted = model.model_.prediction_cost(rows)
    assert (counted >= bills - 1e-9).all()
    assert (counted > bills + 1e-9).any()  # or this test would see nothing


def test_groups_of_raw_columns():
    groups = {"colour": "c", "size": "scale", "weight": "scale", "idle": "i"}
    prices = {"group_costs": {"c": 5.0, "scale": 4.0, "i": 0.0}, "feature_groups": groups}
    own = {"colour": 0.0, "size": 1.0, "weight": 0.0, "idle": 7.0}
    pipeline = make_pipeline(steps(), CEGBRegressor(**SMALL, tradeoff=1e-4))
    model = PricedPipeline(pipeline, feature_costs=own, **prices).fit(TABLE, Y)
    used = model.acquired_features(TABLE)
    wanted = 5.0 * used[:, 0] + used[:, 1] + 4.0 * (used[:, 1] | used[:, 2]) + 7.0 * used[:, 3]
    np.testing.assert_allclose(model.prediction_cost(TABLE), wanted, rtol=1e-12)
    assert len(set(wanted)) > 2


def test_a_classifier_in_searches_with_a_validation_set():
    last = CEGBClassifier(**SMALL, early_stopping_rounds=2)
    model = PricedPipeline(make_pipeline(steps(), last), feature_costs=PRICES)
    assert is_classifier(model)
    held = TABLE[::3], (Y > 1)[::3]
    model.fit(TABLE, Y > 1, eval_set=held, sample_weight=np.ones(N))
    assert len(model.model_.validation_scores_)
    assert model.predict_proba(TABLE).shape == (N, 2)
    assert model.score(TABLE, Y > 1) > 0.8
    assert TotalCostScorer([[0, 9], [9, 0]])(model, TABLE, Y > 1) < 0
    grid = {"pipeline__cegbclassifier__tradeoff": [1e-4, 10.0]}
    plain = PricedPipeline(make_pipeline(steps(), CEGBClassifier(**SMALL)), feature_costs=PRICES)
    search = BudgetSearchCV(plain, grid, n_iter=None, budget=10.0, cv=2).fit(TABLE, Y > 1)
    best = search.best_estimator_
    assert -cost_scorer(best, TABLE) == best.prediction_cost(TABLE).mean()
    only = PricedPipeline(make_pipeline(GBRTClassifier(**SMALL)), feature_costs=[1.0, 2.0])
    only.fit(TABLE[["weight", "idle"]].to_numpy(), Y > 1)
    assert only.prediction_cost(TABLE[["weight", "idle"]].to_numpy()).max() <= 3.0


def test_what_is_refused_leaves_the_earlier_model_whole():
    model = PricedPipeline(make_pipeline(steps(), CEGBRegressor(**SMALL)), feature_costs=PRICES)
    model.fit(TABLE, Y)
    before = model.predict(TABLE)
    priced = CEGBRegressor(**SMALL, feature_costs=[1.0] * 7)
    hiding = make_pipeline(steps(FunctionTransformer(np.abs)), CEGBRegressor(**SMALL))
    for pipeline, costs, error, message in (
        (CEGBRegressor(), PRICES, TypeError, "pipeline must be a Pipeline"),
        (
            make_pipeline(steps(), LogisticRegression()),
            PRICES,
            TypeError,
            "LogisticRegression does",
        ),
        (make_pipeline(steps(), priced), PRICES, ValueError, "a price of made features"),
        (hiding, PRICES, ValueError, "hides the names"),
        (make_pipeline(steps(), CEGBRegressor()), {"colour": 1}, ValueError, "no value for 'size'"),
        (
            make_pipeline(steps(), CEGBRegressor()),
            [1, 2, 3, -1],
            ValueError,
            "must not be negative",
        ),
    ):
        model.set_params(pipeline=pipeline, feature_costs=costs)
        with pytest.raises(error, match=message):
            model.fit(TABLE, Y)
        assert model.predict(TABLE).tobytes() == before.tobytes()


CHECKED = PricedPipeline(
    make_pipeline(StandardScaler(), GBRTClassifier(n_estimators=2, n_threads=1))
)


def test_scikit_learn_checks():
    check_estimator(CHECKED, on_skip=None)
