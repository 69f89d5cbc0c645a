"""Pools of trees that are boosted, joined or assigned before a cascade is trained on them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor

from algorithms.raykar_cascade import RaykarCascadeClassifier
from algorithms.reweighted_trees.pools import assign_pools, boost_pools, join_pools
from tests.test_cronus import PRICES, draw, trees, uses_of
from tests.test_raykar_cascade import LIMITS


@pytest.fixture(scope="module")
def drawn():
    return draw(0, n=150)


@pytest.fixture(scope="module")
def boosted(drawn):
    X, y, weights = drawn
    inner = trees(n_estimators=6, feature_costs=PRICES)
    return boost_pools(inner, X, y, price_limits=LIMITS, sample_weight=weights)


def soft(estimator, limits=LIMITS, **options):
    return RaykarCascadeClassifier(estimator, price_limits=limits, max_evaluations=50, **options)


def test_a_cascade_of_boosted_pools_is_that_of_its_estimator(drawn, boosted):
    X, y, weights = drawn
    inner = trees(n_estimators=6, feature_costs=PRICES)
    whole, of_pools = (soft(e).fit(X, y, sample_weight=weights) for e in (inner, boosted))
    assert len(of_pools.estimator_) == len(LIMITS)
    np.testing.assert_array_equal(of_pools.pools_, whole.pools_)
    np.testing.assert_array_equal(of_pools.coef_, whole.coef_)
    np.testing.assert_array_equal(of_pools.prediction_cost(X), whole.prediction_cost(X))


def test_a_pool_uses_nothing_dearer(boosted):
    uses = uses_of(boosted.responses.forest, 5)
    for k, limit in enumerate(LIMITS):
        assert np.any(uses[:, boosted.stages == k])
        assert not np.any(uses[PRICES > limit][:, boosted.stages == k])


def test_names_and_prices_by_name(drawn, boosted):
    X, y, weights = drawn
    frame = pd.DataFrame(X, columns=list("pqrst"))
    inner = trees(n_estimators=6, feature_costs=dict(zip("tsrqp", PRICES[::-1], strict=True)))
    named = boost_pools(inner, frame, y, price_limits=LIMITS, sample_weight=weights)
    for name, values in boosted.responses.forest._asdict().items():
        np.testing.assert_array_equal(getattr(named.responses.forest, name), values)
    assert soft(named).fit(frame, y).feature_names_in_.tolist() == list("pqrst")


def test_the_first_trees_are_those_of_fewer_rounds(drawn, boosted):
    X, y, weights = drawn
    short = trees(n_estimators=2, feature_costs=PRICES)
    expected = boost_pools(short, X, y, price_limits=LIMITS, sample_weight=weights)
    found = boosted.first_trees(2)
    assert found.stages.tolist() == [0, 0, 1, 1, 2, 2]
    for name, values in expected.responses.forest._asdict().items():
        np.testing.assert_array_equal(getattr(found.responses.forest, name), values)
    assert found.responses.meter.trees_ is found.responses.forest
    assert boosted.stages.tolist() == 6 * [0] + 6 * [1] + 6 * [2]


def test_models_of_other_libraries_are_pools(drawn, tmp_path):
    X, y, _ = drawn
    signs = np.where(y == "yes", 1.0, -1.0)
    cheap = np.where(PRICES > 1, 0.0, X)
    models = [
        GradientBoostingRegressor(n_estimators=n).fit(Z, signs) for n, Z in ((4, cheap), (3, X))
    ]
    model = soft(join_pools(models), (1, 200), feature_costs=PRICES, tradeoff=1e-2)
    model.fit(X, y)
    assert model.pools_.tolist() == [0, 0, 0, 0, 1, 1, 1]
    for k, inner in enumerate(models):
        trees_of = [inner.learning_rate * inner[t, 0].predict(X) for t in range(len(inner))]
        score = model.intercept_[k] + model.coef_[k, model.pools_ == k] @ trees_of
        at = model.exits(X).stage == k + 1
        assert at.any()
        np.testing.assert_allclose(model.exits(X).scores[at], score[at], rtol=1e-12, atol=1e-12)
    model.save(tmp_path / "cascade.zip")
    loaded = RaykarCascadeClassifier.load(tmp_path / "cascade.zip")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_stages_may_be_assigned_in_any_way(drawn):
    X, y, weights = drawn
    whole = trees(n_estimators=4, feature_costs=PRICES)
    whole.fit(X, np.where(y == "yes", 1.0, -1.0), sample_weight=weights)
    pools = assign_pools(whole, [1, 0, 2, 0], 2)  # the third of no stage
    model = soft(pools, (1, 2)).fit(X, y, sample_weight=weights)
    assert ((model.coef_ != 0) == [[False, True, False, True], [True, False, False, False]]).all()
    assert model.acquired_features(X)[:, PRICES > 2].any()  # the limits are not asked
    cut = pools.first_trees(1)
    assert cut.stages.tolist() == [0, 1]
    np.testing.assert_array_equal(cut.responses.forest.value, whole.trees_.take([1, 0]).value)


def test_clones_share_their_pools(boosted):
    assert clone(soft(boosted)).estimator is boosted


def test_what_does_not_fit(drawn, boosted):
    X, y, _ = drawn
    inner = trees(n_estimators=2, feature_costs=PRICES)
    fitted = trees(n_estimators=2).fit(X, np.arange(len(X)) % 2.0)
    narrow = trees(n_estimators=2).fit(X[:, :3], np.arange(len(X)) % 2.0)
    other = GradientBoostingRegressor(n_estimators=1).fit(X, np.arange(len(X)))
    for program, message in [
        (lambda: soft(boosted, (1, 2)).fit(X, y), "each of the 3 pools"),
        (lambda: boost_pools(inner, X, y, price_limits=(2, 1)), "rising numbers"),
        (lambda: boost_pools(other, X, y, price_limits=(1, 2)), "boosted trees of this package"),
        (lambda: boost_pools(inner, X, np.arange(len(X)), price_limits=(1,)), "two classes"),
        (lambda: join_pools([]), "got none"),
        (lambda: join_pools([fitted, narrow]), "the same columns"),
        (lambda: join_pools([fitted, other]), "of one kind"),
        (lambda: join_pools(["trees"]), "fitted additive model"),
        (lambda: assign_pools(fitted, [0], 1), "each of the 2 trees"),
        (lambda: assign_pools(fitted, [0, 3], 2), "from 0 to 2"),
        (lambda: assign_pools(fitted, [0.0, 1.0], 2), "whole number"),
    ]:
        with pytest.raises(ValueError, match=message):
            program()
