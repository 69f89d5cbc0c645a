"""Other libraries' forests under the cost meter: their own scores, leaves and paths, exactly."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

from algorithms.interop import from_catboost, from_lightgbm, from_scikit_learn

PEER = "peer: make setup-peers"
D = 6
PRICES = np.array([0.1, 3.0, 0.5, 1.0, 20.0, 7.0])
SPLIT = 0.25
TASKS = ("regression", "binary", "multiclass")


def make_data(task, seed=0):
    """Rows to train on: coarse, fine and single-precision-hostile columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, D))
    X[:, 0] = rng.integers(0, 6, 900)
    X[:, 1] = rng.integers(-20, 20, 900) / 10
    X[:, 2] = 1 + 1e-7 * rng.integers(0, 12, 900)  # neighbours in float64, ties in float32
    signal = X[:, 0] - 2 * X[:, 1] + 3e6 * (X[:, 2] - 1) + X[:, 3] * X[:, 4] + X[:, 5]
    signal = signal + rng.normal(size=900)
    if task == "regression":
        return X, signal
    if task == "binary":
        return X, (signal > 4).astype(int)
    return X, np.digitize(signal, [0, 4, 8])


def rows_to_judge(meter, X):
    """Fresh rows; and rows that sit on, and to either side of, every threshold of the model."""
    rng = np.random.default_rng(5)
    trees = meter.trees_
    splits = np.flatnonzero(trees.feature >= 0)
    at = X[rng.integers(len(X), size=3 * len(splits))]
    t = trees.threshold[splits]
    # Neighbours in the precision that is compared, and in float64.
    near = [t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf)]
    at[np.arange(len(at)), np.tile(trees.feature[splits], 3)] = np.concatenate(near)
    return np.concatenate([X, rng.normal(size=(300, D)), at])


def bill(meter, X, n_trees=None):
    """Walk every row down every tree in plain Python: cost and features."""
    X, f = meter._check_X(X), meter.trees_
    cost, used, passed = np.zeros(len(X)), np.zeros((len(X), D), dtype=bool), np.zeros(len(X))
    for i, row in enumerate(X):
        for root in f.tree[:-1][:n_trees]:
            node = root
            while f.left[node] >= 0:
                used[i, f.feature[node]] = True
                passed[i] += 1
                x = row[f.feature[node]]
                right = 1 - f.missing_left[node] if np.isnan(x) else x > f.threshold[node]
                node = f.left[node] + int(right)
    cost = used @ PRICES + SPLIT * passed
    return cost, used, passed


def assert_metered(meter, X):
    """The meter charges what a plain walk charges; stages end in the whole."""
    few = X[:: max(1, len(X) // 150)]
    cost, used, passed = bill(meter, few)
    np.testing.assert_allclose(meter.prediction_cost(few), cost, rtol=1e-12)
    np.testing.assert_array_equal(meter.acquired_features(few), used)
    np.testing.assert_array_equal(meter.evaluations(few), passed)
    np.testing.assert_array_equal(meter.model_features(), meter.model_features() | used.any(0))
    stages, scores = list(meter.staged_cost(few)), list(meter.staged_raw(few))
    assert len(stages) == len(scores) == meter.n_estimators_
    np.testing.assert_array_equal(stages[-1], meter.prediction_cost(few))
    np.testing.assert_array_equal(scores[-1], meter.predict_raw(few))
    n_outputs = len(meter.initial_scores_)
    np.testing.assert_allclose(stages[2], bill(meter, few, 3 * n_outputs)[0], rtol=1e-12)
    assert 0 < cost.min() < cost.max()


METER = {"feature_costs": PRICES, "split_cost": SPLIT}

# --- LightGBM -----------------------------------------------------------------------------------


def lightgbm_model(task, **parameters):
    lightgbm = pytest.importorskip("lightgbm", reason=PEER)
    X, y = make_data(task)
    objective = {"regression": "regression", "binary": "binary", "multiclass": "multiclass"}
    parameters = {
        "objective": objective[task],
        "num_class": 4 if task == "multiclass" else 1,
        "num_leaves": 13,
        "min_data_in_leaf": 5,
        "num_threads": 1,
        "verbosity": -1,
        **parameters,
    }
    categorical = parameters.pop("categorical", "auto")
    data = lightgbm.Dataset(X, y, categorical_feature=categorical, free_raw_data=False)
    return lightgbm.train(parameters, data, 8), X


@pytest.mark.parametrize("task", TASKS)
def test_lightgbm(task):
    model, X = lightgbm_model(task)
    meter = from_lightgbm(model, **METER)
    X = rows_to_judge(meter, X)
    np.testing.assert_array_equal(meter.predict_raw(X), model.predict(X, raw_score=True))
    np.testing.assert_array_equal(meter.leaves(X), model.predict(X, pred_leaf=True))
    assert_metered(meter, X)
    for rounds, raw in enumerate(meter.staged_raw(X), 1):
        theirs = model.predict(X, raw_score=True, num_iteration=rounds)
        np.testing.assert_array_equal(raw, theirs)


def test_lightgbm_estimator_that_stopped_early():
    lightgbm = pytest.importorskip("lightgbm", reason=PEER)
    X, y = make_data("binary")
    model = lightgbm.LGBMClassifier(n_estimators=80, learning_rate=0.5, verbosity=-1, n_jobs=1)
    model.fit(X[:500], y[:500], eval_X=X[500:], eval_y=y[500:],
              callbacks=[lightgbm.early_stopping(3, verbose=False)])  # fmt: skip
    meter = from_lightgbm(model)
    assert meter.n_estimators_ == model.best_iteration_ < 80
    np.testing.assert_array_equal(meter.predict_raw(X), model.predict(X, raw_score=True))
    assert not meter.prediction_cost(X).any()  # no prices were given


def test_lightgbm_without_any_split():
    model, X = lightgbm_model("regression", min_data_in_leaf=899)
    meter = from_lightgbm(model, **METER)
    np.testing.assert_array_equal(meter.predict_raw(X), model.predict(X, raw_score=True))
    assert not meter.prediction_cost(X).any()
    assert not meter.model_features().any()


def test_lightgbm_takes_tiny_values_for_zero():
    """Its thresholds next to 0 are ±1e-35, and rows on them are read as 0."""
    model, X = lightgbm_model("regression")
    meter = from_lightgbm(model)
    assert (np.abs(meter.trees_.threshold[meter.trees_.feature == 1]) < 1e-34).any()
    X = np.tile(X[:60], (5, 1))
    tiny = float(np.float32(1e-35))
    X[:, 1] = np.repeat([-np.nextafter(tiny, 1), -tiny, 0, tiny, np.nextafter(tiny, 1)], 60)
    leaves = meter.leaves(X)
    np.testing.assert_array_equal(leaves, model.predict(X, pred_leaf=True))
    meter._as_seen = np.asarray
    assert (meter.leaves(X) != leaves).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"categorical": [0]}, "categorical"),
        ({"zero_as_missing": True}, "zero_as_missing"),
        ({"linear_tree": True}, "linear trees"),
        ({"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}, "average"),
    ],
)
def test_lightgbm_models_that_cannot_be_followed(parameters, message):
    model, _ = lightgbm_model("regression", **parameters)
    with pytest.raises(ValueError, match=message):
        from_lightgbm(model)


# --- CatBoost -----------------------------------------------------------------------------------


def catboost_model(task, **parameters):
    catboost = pytest.importorskip("catboost", reason=PEER)
    X, y = make_data(task)
    loss = {"regression": "RMSE", "binary": "Logloss", "multiclass": "MultiClass"}[task]
    model = catboost.CatBoost(
        {
            "iterations": 8,
            "depth": 4,
            "loss_function": loss,
            "thread_count": 1,
            "random_seed": 1,
            "verbose": 0,
            "allow_writing_files": False,
            **parameters,
        }
    )
    return model.fit(X, y), X


@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide", "Depthwise"])
@pytest.mark.parametrize("task", TASKS)
def test_catboost(task, policy):
    model, X = catboost_model(task, grow_policy=policy)
    meter = from_catboost(model, **METER)
    X = rows_to_judge(meter, X)
    theirs = model.predict(X, prediction_type="RawFormulaVal")
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(meter.predict_raw(X), theirs, rtol=1e-9, atol=1e-12 * scale)
    leaves = model.calc_leaf_indexes(X)
    if policy == "SymmetricTree":
        np.testing.assert_array_equal(meter.leaves(X), leaves)
    else:  # numbered in another way: the same partition of the rows
        for ours, other in zip(meter.leaves(X).T, leaves.T, strict=True):
            pairs = set(zip(ours.tolist(), other.tolist(), strict=True))
            assert len(pairs) == len(set(ours)) == len(set(other))
    if policy != "SymmetricTree":
        assert_metered(meter, X)
    theirs = model.predict(X, prediction_type="RawFormulaVal", ntree_end=3)
    np.testing.assert_allclose(list(meter.staged_raw(X))[2], theirs, rtol=1e-9, atol=1e-12 * scale)


@pytest.mark.parametrize("task", TASKS)
def test_an_oblivious_tree_asks_every_level_of_every_row(task):
    model, X = catboost_model(task)
    meter = from_catboost(model, **METER)
    used = meter.acquired_features(X)
    np.testing.assert_array_equal(used, np.tile(meter.model_features(), (len(X), 1)))
    # 8 trees of depth 4, whatever the number of classes: one tree serves them all.
    np.testing.assert_array_equal(meter.evaluations(X), np.full(len(X), 32))
    cost = PRICES @ meter.model_features() + 32 * SPLIT
    np.testing.assert_allclose(meter.prediction_cost(X), cost)
    assert len(list(meter.staged_cost(X))) == meter.n_estimators_ == 8


def test_catboost_scale_and_bias():
    model, X = catboost_model("regression")
    model.set_scale_and_bias(0.37, -5.5)
    np.testing.assert_allclose(from_catboost(model).predict_raw(X), model.predict(X), rtol=1e-9)


def test_catboost_compares_in_single_precision():
    """The rounding matters on these rows: in double precision other paths are taken."""
    model, X = catboost_model("regression")
    meter = from_catboost(model)
    X = rows_to_judge(meter, X)
    leaves = meter.leaves(X)
    meter._as_seen = np.asarray
    assert (meter.leaves(X) != leaves).any()


def test_catboost_models_that_cannot_be_followed():
    catboost = pytest.importorskip("catboost", reason=PEER)
    X, y = make_data("regression")
    table = X.astype(object)
    table[:, 0] = X[:, 0].astype(int)
    model = catboost.CatBoostRegressor(iterations=5, verbose=0, allow_writing_files=False)
    with pytest.raises(ValueError, match="not fitted"):
        from_catboost(model)
    model.fit(table, y, cat_features=[0])
    with pytest.raises(ValueError, match=r"numeric features .* categorical_features"):
        from_catboost(model)
    table[:, 0] = np.where(X[:, 0] > 2, "a few words", "some others")
    model.fit(table, y, text_features=[0])
    with pytest.raises(ValueError, match=r"numeric features .* text_features"):
        from_catboost(model)


# --- scikit-learn -------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_hist_gradient_boosting(task):
    X, y = make_data(task)
    kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    model = kind(max_iter=8, max_leaf_nodes=13, min_samples_leaf=5, early_stopping=False)
    model.fit(X, y)
    meter = from_scikit_learn(model, **METER)
    X = rows_to_judge(meter, X)
    raw = model.predict if task == "regression" else model.decision_function
    np.testing.assert_array_equal(meter.predict_raw(X), raw(X))
    assert_metered(meter, X)
    staged = model.staged_predict if task == "regression" else model.staged_decision_function
    for ours, theirs in zip(meter.staged_raw(X), staged(X), strict=True):
        np.testing.assert_array_equal(ours, np.squeeze(theirs))


@pytest.mark.parametrize("task", TASKS)
def test_gradient_boosting(task):
    X, y = make_data(task)
    kind = GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier
    model = kind(n_estimators=8, max_depth=4, random_state=0).fit(X, y)
    meter = from_scikit_learn(model, **METER)
    X = rows_to_judge(meter, X)
    raw = model.predict if task == "regression" else model.decision_function
    np.testing.assert_allclose(meter.predict_raw(X), raw(X), rtol=1e-12, atol=1e-12)
    leaves = model.apply(X)
    np.testing.assert_array_equal(meter.leaves(X), leaves.reshape(len(X), -1))
    assert_metered(meter, X)


def test_scikit_learn_models_that_cannot_be_followed():
    X, y = make_data("regression")
    table = X[:, :2]
    hist = HistGradientBoostingRegressor(categorical_features=[0], max_iter=3)
    with pytest.raises(ValueError, match="categorical"):
        from_scikit_learn(hist.fit(np.abs(table.round()), y))
    forest = RandomForestRegressor(n_estimators=2)
    with pytest.raises(ValueError, match="RandomForestRegressor"):
        from_scikit_learn(forest.fit(X, y))
    started = GradientBoostingRegressor(n_estimators=2, init=forest).fit(X, y)
    with pytest.raises(ValueError, match="init"):
        from_scikit_learn(started)
    with pytest.raises(ValueError, match="fitted"):
        from_scikit_learn(HistGradientBoostingRegressor())


# --- all ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hist_model():
    X, y = make_data("regression")
    return HistGradientBoostingRegressor(max_iter=4).fit(X, y), X


def test_groups_are_paid_for_together(hist_model):
    model, X = hist_model
    prices = np.array([1.0, 1.0, 1.0, 4.0, 4.0, 16.0])
    meter = from_scikit_learn(model, feature_costs=prices, feature_groups=[0, 0, 0, 1, 1, 2])
    used = meter.acquired_features(X)
    wanted = used[:, :3].any(1) + 4.0 * used[:, 3:5].any(1) + 16.0 * used[:, 5]
    np.testing.assert_allclose(meter.prediction_cost(X), wanted)
    other = meter.prediction_cost(X, feature_costs=np.ones(D), split_cost=0.5)
    groups = used[:, :3].any(1) * 1.0 + used[:, 3:5].any(1) + used[:, 5]
    np.testing.assert_allclose(other, groups + 0.5 * meter.evaluations(X))
    by_group = {0: 8.0, 1: 0.5, 2: 0.0}
    meter = from_scikit_learn(
        model, feature_costs=prices, feature_groups=[0, 0, 0, 1, 1, 2], group_costs=by_group
    )
    wanted = used @ prices + 8.0 * used[:, :3].any(1) + 0.5 * used[:, 3:5].any(1)
    np.testing.assert_allclose(meter.prediction_cost(X), wanted)
    with pytest.raises(ValueError, match="no price for 2"):
        from_scikit_learn(model, feature_groups=[0, 0, 0, 1, 1, 2], group_costs={0: 1.0, 1: 2.0})


def test_infinite_values_are_refused_and_missing_ones_where_the_library_does(hist_model):
    model, X = hist_model
    X = X.copy()
    other = GradientBoostingRegressor(n_estimators=2).fit(X, X[:, 0])
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        from_scikit_learn(other).predict_raw(X)
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        from_scikit_learn(model).predict_raw(X)


def missing_data(task):
    """Features 0 and 2 are missing in some rows of the training set, others in new ones only."""
    X, y = make_data(task)
    rng, X = np.random.default_rng(9), np.array(X, dtype=np.float64)
    X[rng.random(len(X)) < 0.3, 0] = np.nan
    X[(rng.random(len(X)) < 0.6) & (y > np.median(y)), 2] = np.nan
    rows = X.copy()
    rows[rng.random(X.shape) < 0.3] = np.nan
    return X, y, rows


def scikit_learn_missing(X, y):
    model = HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=13).fit(X, y)
    return from_scikit_learn(model, **METER), model.predict


def lightgbm_missing(X, y):
    lightgbm = pytest.importorskip("lightgbm", reason=PEER)
    model = lightgbm.LGBMRegressor(n_estimators=8, num_leaves=13, verbosity=-1).fit(X, y)
    return from_lightgbm(model, **METER), model.predict


def catboost_missing(X, y, nan_mode="Min", **parameters):
    catboost = pytest.importorskip("catboost", reason=PEER)
    parameters |= {"iterations": 8, "depth": 4, "allow_writing_files": False, "verbose": 0}
    model = catboost.CatBoostRegressor(nan_mode=nan_mode, **parameters).fit(X, y)
    return from_catboost(model, **METER), model.predict


@pytest.mark.parametrize(
    "fit",
    [
        scikit_learn_missing,
        lightgbm_missing,
        catboost_missing,
        lambda X, y: catboost_missing(X, y, "Max", grow_policy="Depthwise"),
    ],
)
def test_missing_values_go_where_the_library_sends_them(fit, tmp_path):
    X, y, rows = missing_data("regression")
    meter, predict = fit(X, y)
    for few in (X, rows):
        np.testing.assert_allclose(meter.predict_raw(few), predict(few), rtol=1e-9, atol=1e-9)
    cost, used, _ = bill(meter, rows[::7])
    np.testing.assert_allclose(meter.prediction_cost(rows[::7]), cost, rtol=1e-12)
    assert (used & np.isnan(rows[::7])).any()  # to ask costs, whatever the answer
    meter.save(tmp_path / "forest")
    again = type(meter).load(tmp_path / "forest")
    np.testing.assert_array_equal(again.predict_raw(rows), meter.predict_raw(rows))


def test_bad_prices_and_shapes_are_refused(hist_model):
    model, X = hist_model
    with pytest.raises(ValueError, match="one value for each of the 6 features"):
        from_scikit_learn(model, feature_costs=[1.0])
    with pytest.raises(ValueError, match="split_cost"):
        from_scikit_learn(model, split_cost=-1.0)
    with pytest.raises(ValueError, match="5 features"):
        from_scikit_learn(model).prediction_cost(X[:, :5])


@pytest.mark.parametrize("convert", [from_lightgbm, from_catboost, from_scikit_learn])
def test_what_is_no_model_is_refused(convert):
    with pytest.raises(ValueError, match=r"needs a .*, got object"):
        convert(object())


# A space, which LightGBM writes as "_".
NAMES = ["blood pressure", "b", "c", "d", "e", "f"]


def scikit_learn_on_a_table(table, y):
    return from_scikit_learn(HistGradientBoostingRegressor(max_iter=4).fit(table, y))


def lightgbm_on_a_table(table, y):
    lightgbm = pytest.importorskip("lightgbm", reason=PEER)
    return from_lightgbm(lightgbm.LGBMRegressor(n_estimators=4, verbosity=-1).fit(table, y))


def catboost_on_a_table(table, y):
    catboost = pytest.importorskip("catboost", reason=PEER)
    model = catboost.CatBoostRegressor(iterations=4, verbose=0, allow_writing_files=False)
    return from_catboost(model.fit(table, y))


@pytest.mark.parametrize("fit", [scikit_learn_on_a_table, lightgbm_on_a_table, catboost_on_a_table])
def test_names_of_columns(fit):
    """Columns in another order would be charged for each other, in silence."""
    X, y = make_data("regression")
    table = pd.DataFrame(X, columns=NAMES)
    meter = fit(table, y)
    for rows in (table, X, pd.DataFrame(X)):
        np.testing.assert_array_equal(meter.predict_raw(rows), meter.predict_raw(X))
    for columns in (NAMES[::-1], [*NAMES[:5], "g"]):
        with pytest.raises(ValueError, match=r"trained on: column [05] is '[fg]', not "):
            meter.prediction_cost(pd.DataFrame(X, columns=columns))
    with pytest.raises(ValueError, match="5 features"):
        meter.prediction_cost(table[NAMES[:5]])
    # A model that was trained without names takes any.
    fit(X, y).predict_raw(table)


def test_an_unfitted_lightgbm_estimator():
    lightgbm = pytest.importorskip("lightgbm", reason=PEER)
    with pytest.raises(ValueError, match="not fitted"):
        from_lightgbm(lightgbm.LGBMClassifier())


@pytest.mark.slow
def test_the_peers_are_not_imported():
    code = "import sys; sys.modules.update(lightgbm=None, catboost=None); import algorithms.interop"
    subprocess.run([sys.executable, "-c", code], check=True)
