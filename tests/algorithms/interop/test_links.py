"""A forest of another library predicts what the library's own predict gives, or is refused."""

import numpy as np
import pandas as pd
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


FRAME = pd.DataFrame(X, columns=["first", "second one", "third"])
WALKS = (
    *("predict", "predict_raw", "prediction_cost", "acquired_features", "evaluations"),
    *("staged_predict", "staged_raw", "staged_cost"),
)


@pytest.mark.parametrize("method", WALKS)
def test_the_columns_of_every_frame_are_those_of_training(method):
    forest = from_scikit_learn(HistGradientBoostingRegressor(max_iter=3).fit(FRAME, COUNTS))
    forest.feature_costs = [1.0, 2.0, 3.0]
    ask = getattr(forest, method)

    def walked(rows):
        answer = ask(rows)
        return list(answer) if method.startswith("staged") else [answer]

    for one, other in zip(walked(FRAME), walked(X), strict=True):
        np.testing.assert_array_equal(one, other)
    for wrong in (FRAME[["third", "first", "second one"]], FRAME.rename(columns={"third": "3"})):
        with pytest.raises(ValueError, match="columns have other names or another order"):
            walked(wrong)


@pytest.mark.parametrize("stored", ["exp", {"kind": "exp", "slope": 1.0}, {"kind": "logistic"},
                                    {"kind": "logistic", "slope": -1.0},
                                    {"kind": "softmax", "slope": 1.0}])  # fmt: skip
def test_a_link_that_no_reader_gives_is_refused(tmp_path, stored):
    forest = from_scikit_learn(HistGradientBoostingRegressor(max_iter=2).fit(X, COUNTS))
    header, arrays = forest._contents()
    with pytest.raises(ValueError, match=r"inverse.link|slope|scores"):
        MeteredForest._from_file(header | {"inverse_link": stored}, arrays)
    kept = {"kind": "logistic", "slope": 2.0}
    again = MeteredForest._from_file(header | {"inverse_link": kept}, arrays)
    expected = 1 / (1 + np.exp(-2.0 * forest.predict_raw(X)))
    np.testing.assert_allclose(again.predict(X), expected)
