"""A forest of another library predicts what the library's own predict gives, or is refused."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from algorithms.interop import MeteredForest, from_catboost, from_lightgbm, from_scikit_learn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
COUNTS, RATES = RNG.poisson(np.exp(1 + X[:, 0])), RNG.uniform(size=200)


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma"])
def test_scikit_learn(loss, tmp_path):
    model = HistGradientBoostingRegressor(loss=loss, max_iter=5).fit(X, COUNTS + 1)
    forest = from_scikit_learn(model)
    np.testing.assert_allclose(forest.predict(X), model.predict(X))
    forest.save(tmp_path / "model")
    again = MeteredForest.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), forest.predict(X))


@pytest.mark.parametrize(
    "options",
    [
        *({"objective": name} for name in ("regression", "poisson", "tweedie", "quantile")),
        *({"objective": name} for name in ("cross_entropy", "cross_entropy_lambda")),
        {"reg_sqrt": True},
    ],
)
def test_lightgbm(options):
    lightgbm = pytest.importorskip("lightgbm")
    y = RATES if "cross" in options.get("objective", "") else COUNTS
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1, **options).fit(X, y)
    np.testing.assert_allclose(from_lightgbm(model).predict(X), model.predict(X))


def test_catboost():
    catboost = pytest.importorskip("catboost")
    options = {"iterations": 5, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(loss_function="Poisson", **options).fit(X, COUNTS)
    np.testing.assert_allclose(from_catboost(model).predict(X), model.predict(X))
    several = catboost.CatBoostClassifier(loss_function="MultiLogloss", **options)
    with pytest.raises(ValueError, match="several labels"):
        from_catboost(several.fit(X, (X[:, :2] > 0).astype(int)))
