"""Several price lists in one model: trained on one or a weighted sum, metered in all, saved."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.budget_forest import BudgetForestRegressor
from algorithms.budget_prune import BudgetPruneClassifier
from algorithms.cegb import CEGBRegressor
from algorithms.gbrt import GBRTRegressor
from algorithms.greedy_miser import GreedyMiserRegressor
from algorithms.interop import MeteredForest, from_lightgbm
from algorithms.prices import PriceLists
from reference.costs import weighted_prices
from tests.algorithms.estimators.test_files import rewritten

rng = np.random.default_rng(8)
X = rng.normal(size=(90, 3))
Y = X[:, 0] + X[:, 1] * (X[:, 2] > 0)
TABLE = pd.DataFrame(X, columns=["a", "b c", "d"])
LISTS = {"usd": {"d": 4.0, "a": 1.0, "b c": 0.5}, "ms": [30.0, 7.0, 0.3]}
PLAIN = {"usd": [1.0, 0.5, 4.0], "ms": LISTS["ms"]}
SPLITS = {"ms": 0.125}
WORTH = {"usd": 2.0, "ms": 0.1}
SMALL = {"n_estimators": 3, "n_threads": 1, "min_samples_leaf": 5}
KINDS = [
    CEGBRegressor(**SMALL, max_leaves=4, tradeoff=1e-3),
    GreedyMiserRegressor(**SMALL, max_depth=2, tradeoff=1e-3),
    GBRTRegressor(**SMALL, max_leaves=4),
    BudgetForestRegressor(n_estimators=3, n_threads=1, bootstrap=False),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
@pytest.mark.parametrize("train_on", ["ms", WORTH], ids=["one", "sum"])
def test_a_model_of_several_is_that_of_their_sum(kind, train_on, tmp_path):
    lists = PriceLists(LISTS, train_on=train_on, split_costs=SPLITS)
    model = clone(kind).set_params(feature_costs=lists).fit(TABLE, Y)
    weights = {train_on: 1.0} if train_on == "ms" else train_on
    split_cost = weights["ms"] * SPLITS["ms"]
    by_hand = {"feature_costs": weighted_prices(PLAIN, weights), "split_cost": split_cost}
    plain = clone(kind).set_params(**by_hand).fit(TABLE, Y)
    assert plain.trees_.threshold.tobytes() == model.trees_.threshold.tobytes()
    model.save(tmp_path / "model")
    for one in (model, type(model).load(tmp_path / "model")):
        assert one.prediction_cost(TABLE).tobytes() == plain.prediction_cost(TABLE).tobytes()
        for unit, listed in PLAIN.items():
            prices = {"feature_costs": listed, "split_cost": SPLITS.get(unit, 0.0)}
            wanted = plain.prediction_cost(TABLE, **prices)
            assert wanted.max() > 0
            np.testing.assert_array_equal(one.prediction_cost(TABLE, prices=unit), wanted)
            (*_, last) = one.staged_cost(TABLE, prices=unit)
            np.testing.assert_array_equal(last, wanted)
            shares = one.cost_importances(TABLE, prices=unit)
            np.testing.assert_allclose(shares.sum(), wanted.mean())
            assert one.to_frame(prices=unit).equals(plain.to_frame(**prices))


def test_groups_with_prices_in_each_unit():
    groups = {"feature_groups": ["p", "q", "q"]}
    by_unit = {"usd": {"p": 1.0, "q": 5.0}, "ms": {"p": 0.0, "q": 9.0}}
    lists = PriceLists(PLAIN, train_on=WORTH, group_costs=by_unit)
    model = CEGBRegressor(**SMALL, tradeoff=0.1, feature_costs=lists, **groups).fit(X, Y)
    summed = {g: 2.0 * by_unit["usd"][g] + 0.1 * by_unit["ms"][g] for g in "pq"}
    options = {"feature_costs": weighted_prices(PLAIN, WORTH), "group_costs": summed, **groups}
    plain = CEGBRegressor(**SMALL, tradeoff=0.1, **options).fit(X, Y)
    np.testing.assert_array_equal(model.prediction_cost(X), plain.prediction_cost(X))
    plain.set_params(feature_costs=PLAIN["ms"], group_costs=by_unit["ms"])
    np.testing.assert_array_equal(model.prediction_cost(X, prices="ms"), plain.prediction_cost(X))


def test_a_forest_of_another_library(tmp_path):
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is a peer: make setup-peers")
    theirs = lightgbm.LGBMRegressor(n_estimators=2, min_child_samples=5, verbose=-1, n_jobs=1).fit(
        TABLE, Y
    )
    meter = from_lightgbm(theirs, feature_costs=PriceLists(LISTS, train_on="usd"))
    meter.save(tmp_path / "model")
    for one in (meter, MeteredForest.load(tmp_path / "model")):
        for unit, listed in PLAIN.items():
            wanted = meter.prediction_cost(TABLE, feature_costs=listed)
            np.testing.assert_array_equal(one.prediction_cost(TABLE, prices=unit), wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lists": {}}, "a dict from the name of each unit"),
        ({"lists": {1: [1]}}, "a dict from the name of each unit"),
        ({"train_on": "eur"}, "train_on must be 'usd' or 'ms', the units .* got 'eur'"),
        ({"train_on": {"usd": 0.0}}, "some list a weight above 0"),
        ({"train_on": {"usd": -1.0}}, "finite numbers >= 0, got -1.0"),
        ({"train_on": {"usd": np.nan}}, "finite numbers >= 0, got nan"),
        ({"train_on": ["usd"]}, "train_on must be a dict with units as keys"),
        ({"split_costs": {"eur": 1}}, "split_costs must be 'usd' or 'ms'"),
        ({"group_costs": {"usd": {}}}, "group_costs has no prices in 'ms'"),
    ],
)
def test_lists_that_are_none(options, message):
    with pytest.raises(ValueError, match=message):
        PriceLists(**{"lists": PLAIN, "train_on": "usd"} | options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train_on": {"eur": 1.0}}, "train_on must be 'usd' or 'ms'"),
        ({"train_on": 3}, "train_on must be a dict"),
        ({"more": {}}, "do not have the parts that price lists have"),
        ({"price_lists": [1, 2]}, "a dict from the name of each unit"),
        ({"price_lists": {"usd": {"labels": [[1]], "values": [2]}}}, "no lists of labels"),
        (
            {"price_lists": {"usd": {"price_lists": {}}, "ms": [1, 2, 3]}},
            "has names",
        ),
        ({"price_lists": {"usd": [1, 2, -3], "ms": [1, 2, 3]}}, "must not be negative"),
    ],
)
def test_files_with_lists_that_are_none(change, message, tmp_path):
    model = CEGBRegressor(**SMALL, feature_costs=PriceLists(PLAIN, train_on=WORTH)).fit(X, Y)
    model.save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    with zipfile.ZipFile(tmp_path / "model") as archive:
        params = json.loads(archive.read("header.json"))["params"]
    params["feature_costs"] |= change
    with pytest.raises(ValueError, match=message):
        CEGBRegressor.load(rewritten(content, tmp_path, params=params))


def test_what_is_refused_by_models():
    lists = PriceLists(PLAIN, train_on="usd")
    for options, message in (
        ({"feature_costs": lists, "split_cost": 1.0}, "no unit beside PriceLists"),
        ({"feature_costs": PriceLists({**PLAIN, "x": [1, -1, 0]}, train_on="usd")}, "negative"),
        ({"feature_costs": PriceLists({"x": [1]}, train_on="x")}, "one value for each of the 3"),
        ({"feature_costs": lists, "model_feature_costs": lists}, "give the list of one unit"),
        ({"feature_costs": PriceLists(PLAIN, train_on="ms", split_costs={"ms": -1})}, "split_cost"),
    ):
        with pytest.raises(ValueError, match=message):
            CEGBRegressor(**SMALL, **options).fit(X, Y)
    one = CEGBRegressor(**SMALL, feature_costs=PLAIN["usd"]).fit(X, Y)
    with pytest.raises(ValueError, match="prices='ms' names one of several price lists, and this"):
        one.prediction_cost(X, prices="ms")
    model = CEGBRegressor(**SMALL, feature_costs=lists).fit(X, Y)
    with pytest.raises(ValueError, match=r"prices must be 'usd' or 'ms', .* got 'eur'"):
        model.prediction_cost(X, prices="eur")
    with pytest.raises(ValueError, match="one of the model's own lists, or others, not both"):
        model.prediction_cost(X, prices="ms", feature_costs=[1, 2, 3])
    for other in (AdaBoostMH(n_estimators=2), BudgetPruneClassifier()):
        with pytest.raises(ValueError, match="feature_costs is several price lists, and one is"):
            other.set_params(feature_costs=lists).fit(X, Y > 0)
