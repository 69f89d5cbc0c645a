"""Features by gain and by cost paid, beside scikit-learn and a plain walk."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.tree import DecisionTreeRegressor

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.boosted_trees.estimator import BoostedTrees
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.cost_meter.importances import gain_shares
from algorithms.cost_meter.meter import NoCostsWarning
from algorithms.early_exit import EarlyExit
from algorithms.gbrt import GBRTRegressor
from algorithms.interop import from_scikit_learn
from algorithms.registry.registered import ESTIMATORS
from tests.algorithms.estimators.kinds import REGRESSORS, small_size, takes

rng = np.random.default_rng(7)
X = rng.integers(0, 9, (120, 6)).astype(float)
y = X[:, 0] + 3 * (X[:, 1] > 4) * X[:, 2] + rng.normal(size=120)
SIZE = {"n_estimators": 4, "max_leaves": 6, "min_samples_leaf": 5, "n_threads": 1}
PRICES = {
    "feature_costs": [0.5, 1.0, 0.0, 0.25, 2.0, 0.125], "split_cost": 0.1,
    "feature_groups": [0, 0, 1, 1, 2, 2], "group_costs": {0: 3.0, 1: 0.0, 2: 1.5},
    "feature_sharing": [1.0, 2.0, 1.0, 4.0, 1.0, 1.0],
}  # fmt: skip


def test_gain_is_scikit_learns_of_the_same_tree():
    """One tree on squared error: the gains are the decreases of impurity, but for a factor."""
    tree = DecisionTreeRegressor(max_leaf_nodes=6, min_samples_leaf=5, random_state=0).fit(X, y)
    model = GBRTRegressor(**SIZE | {"n_estimators": 1}).fit(X, y)
    np.testing.assert_array_equal(
        np.sort(model.trees_.feature), np.sort(np.where(tree.tree_.feature < 0, -1,
                                                        tree.tree_.feature)))  # fmt: skip
    np.testing.assert_allclose(model.feature_importances_, tree.feature_importances_, rtol=1e-6)
    assert model.feature_importances_.sum() == pytest.approx(1)
    chosen = SelectFromModel(model, prefit=True, max_features=2, threshold=-np.inf).transform(X)
    assert chosen.shape == (120, 2)


def test_gain_of_nothing_of_losses_and_of_the_largest_numbers():
    with pytest.raises(NotFittedError):
        _ = GBRTRegressor().feature_importances_
    with pytest.warns(UserWarning, match="constant"):
        constant = GBRTRegressor().fit(X, np.ones(120))
    np.testing.assert_array_equal(constant.feature_importances_, np.zeros(6))
    forest = GBRTRegressor(**SIZE).fit(X, y).trees_
    split = forest.feature >= 0
    huge = forest._replace(gain=np.where(split, 1e308, 0.0))
    counts = np.bincount(forest.feature[split], minlength=6)
    np.testing.assert_allclose(gain_shares(huge, 6), counts / counts.sum())
    np.testing.assert_array_equal(gain_shares(forest._replace(gain=-huge.gain), 6), np.zeros(6))


def paid_by_feature(model, prices, row) -> np.ndarray:
    """What one row pays for each feature, step by step."""
    forest, paid, owned = model.trees_, np.zeros(6), set()
    for root in forest.tree[:-1]:
        node = root
        while forest.left[node] >= 0:
            m = forest.feature[node]
            group = prices["feature_groups"][m]
            if ("group", group) not in owned:
                paid[m] += prices["group_costs"][group]
            if m not in owned:
                paid[m] += prices["feature_costs"][m]
            owned |= {("group", group), m}
            paid[m] += prices["split_cost"] / prices["feature_sharing"][m]
            node = forest.left[node] + (row[m] > forest.threshold[node])
    return paid


@pytest.mark.parametrize("cls", [CEGBRegressor, CEGBClassifier])
def test_costs_are_those_of_a_plain_walk_and_add_up_to_the_bill(cls):
    target = y if cls is CEGBRegressor else np.digitize(y, [4, 8])
    model = cls(**SIZE, **PRICES, tradeoff=1e-4).fit(X, target)
    shares = model.cost_importances(X)
    expected = np.mean([paid_by_feature(model, PRICES, row) for row in X], axis=0)
    assert np.count_nonzero(expected) > 2
    np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-12)
    assert shares.sum() == pytest.approx(model.prediction_cost(X).mean(), rel=1e-12)
    dearer = {"feature_costs": np.arange(6.0), "split_cost": 0.0}
    assert model.cost_importances(X, **dearer).sum() == pytest.approx(
        model.prediction_cost(X, **dearer).mean(), rel=1e-12
    )


def test_costs_of_another_librarys_trees():
    theirs = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, y)
    model = from_scikit_learn(theirs, feature_costs=[1, 2, 3, 4, 5, 6], split_cost=0.5)
    bill = model.prediction_cost(X).mean()
    assert model.cost_importances(X).sum() == pytest.approx(bill, rel=1e-12)
    assert bill > 1


@pytest.mark.parametrize(
    "model",
    [GBRTRegressor(**SIZE), AdaBoostMH(n_estimators=2),
     AdaBoostMH(n_estimators=2, weak_learner="hamming_tree", n_leaves=3)],
    ids=["trees", "stumps", "trees of stumps"],
)  # fmt: skip
def test_a_bill_without_any_price_warns(model):
    model.fit(X, y if isinstance(model, GBRTRegressor) else y > 5)
    with pytest.warns(NoCostsWarning, match="No cost was ever given") as caught:
        np.testing.assert_array_equal(model.prediction_cost(X), 0)
    assert len(caught) == 1
    with pytest.warns(NoCostsWarning):
        list(model.staged_cost(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.prediction_cost(X, split_cost=1.0).min() >= 1
        assert np.all(model.prediction_cost(X, feature_costs=np.zeros(6)) == 0)
        model.set_params(feature_costs=np.ones(6)).prediction_cost(X)


CASCADES = [cls for cls in ESTIMATORS if takes(cls, "tree_cost") and takes(cls, "n_threads")]
CASCADES = [cls for cls in CASCADES if not issubclass(cls, BoostedTrees)]


@pytest.mark.parametrize("cls", CASCADES)
def test_a_cascades_bill_without_any_price_warns(cls):
    """Its trees cost 1 by default, which nobody said: it counts them."""
    model = cls(**small_size(cls), n_threads=1).fit(X, y if cls in REGRESSORS else y > 5)
    with pytest.warns(NoCostsWarning, match="each tree that a row passes costs 1") as caught:
        cost = model.prediction_cost(X)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(NoCostsWarning) as caught:
        *_, last = model.staged_cost(X)
    assert [warning.filename for warning in caught] == [__file__]
    np.testing.assert_array_equal(last, cost)
    with pytest.warns(NoCostsWarning, match="so every prediction costs 0"):
        np.testing.assert_array_equal(model.set_params(tree_cost=0.0).prediction_cost(X), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.prediction_cost(X, tree_cost=1.0)
        model.prediction_cost(X, split_cost=0.0)
        model.set_params(tree_cost=2.0).prediction_cost(X)
        model.set_params(tree_cost=1.0, feature_costs=np.ones(6)).prediction_cost(X)


def test_a_bill_until_an_early_exit_without_any_price_warns():
    early = EarlyExit(GBRTRegressor(**SIZE).fit(X, y), rule="proximity", threshold=1.0, every=2)
    with pytest.warns(NoCostsWarning, match="so every prediction costs 0") as caught:
        np.testing.assert_array_equal(early.prediction_cost(X), 0)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        early.prediction_cost(X, tree_cost=1.0)
        early.prediction_cost(X, feature_costs=np.ones(6))
