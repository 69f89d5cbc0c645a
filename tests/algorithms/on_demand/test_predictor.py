"""Prediction on demand: every call accounted for, none twice, and equal to the full matrix."""

from __future__ import annotations

import os
import time
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference.boosting
import reference.on_demand
import reference.trees
from algorithms.boosting import Boosted
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.costs import acquisition_units
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.on_demand import OnDemandPredictor
from algorithms.trees.forest import Forest
from datasets import load
from tests.algorithms.estimators.kinds import TREE_CLASSIFIERS, TREE_REGRESSORS
from tests.twins import meter_prices

NEEDS_MIRROR = pytest.mark.skipif(
    not os.environ.get("COST_AWARE_BOOSTING_MIRROR"),
    reason="COST_AWARE_BOOSTING_MIRROR is not set: no real data to read",
)


def groups_of(model):
    """Groups of features; those of its forest, if a pruned one was given none."""
    return getattr(model, "_priced_by", lambda: model)().feature_groups


class Functions(dict):
    """A function for each acquisition unit of a model, which reads it from a matrix by row number.

    `calls` lists (key, rows) as they came, `seconds` what each function measured of itself;
    `pause` is how long the functions of some keys sleep for each row.
    """

    def __init__(self, model, X, pause=None):
        super().__init__()
        self.calls, self.seconds, self.pause = [], {}, pause or {}
        groups = groups_of(model)
        labels = range(X.shape[1]) if groups is None else [int(g) for g in groups]
        for key in dict.fromkeys(labels):
            columns = [m for m, label in enumerate(labels) if label == key]
            self[key] = self.function(key, X, columns[0] if groups is None else columns)

    def function(self, key, X, columns):
        def compute(rows):
            begin = time.perf_counter()
            self.calls.append((key, [int(i) for i in rows]))
            for _ in range(len(rows) if key in self.pause else 0):
                time.sleep(self.pause[key])
            values = X[np.asarray(rows)][:, columns]
            self.seconds[key] = self.seconds.get(key, 0.0) + time.perf_counter() - begin
            return values

        return compute

    def purchases(self):
        """(key, row) of every row of every call."""
        return [(key, row) for key, rows in self.calls for row in rows]


def dense(acquired):
    return acquired.toarray() if sparse.issparse(acquired) else acquired


def assert_on_demand(model, X, *, batch_size=1024, pause=None, method="predict"):
    """Predict on demand; assert that all equals the full matrix and every call is accounted for."""
    functions = Functions(model, X, pause)
    predictor = OnDemandPredictor(model, functions, batch_size=batch_size)
    result = getattr(predictor, method)(np.arange(len(X)))
    expected = getattr(model, method)(X)
    assert result.predictions.dtype == expected.dtype
    np.testing.assert_array_equal(result.predictions, expected)
    np.testing.assert_array_equal(dense(result.acquired), dense(model.acquired_features(X)))
    assert sparse.issparse(result.acquired) == sparse.issparse(model.acquired_features(X))
    np.testing.assert_array_equal(result.evaluations, model.evaluations(X))
    np.testing.assert_array_equal(result.cost, model.prediction_cost(X))
    assert_accounted(model, functions, result)
    return functions, result


def assert_accounted(model, functions, result):
    """Assert that the functions were asked for exactly what was acquired, each row once."""
    acquired = dense(result.acquired)
    units = acquisition_units(groups_of(model), acquired.shape[1])
    purchases = functions.purchases()
    assert len(purchases) == len(set(purchases))
    wanted = set()
    for u, key in enumerate(functions):
        rows = np.flatnonzero(acquired[:, units == u].any(axis=1))
        wanted |= {(key, int(row)) for row in rows}
        assert result.rows_by_function[key] == len(rows)
        assert result.calls_by_function[key] == sum(k == key for k, _ in functions.calls)
    assert set(purchases) == wanted
    assert all(rows for _, rows in functions.calls)  # no call for nothing
    # What is measured from outside holds what the functions measured of themselves.
    for key, seconds in functions.seconds.items():
        least = functions.pause.get(key, 0.0) * result.rows_by_function[key]
        assert least <= seconds <= result.seconds_by_function[key]
    assert sum(result.seconds_by_function.values()) <= result.seconds


def scattered_model(columns, n_features, **parameters):
    """The hand-made trees below, their four features scattered over many columns."""
    trees = [
        [(int(columns[f]) if f >= 0 else f, *rest) for f, *rest in tree] for tree in (FORK, STUMP)
    ]
    return fitted(CEGBRegressor(**parameters), small_forest(trees), [0.5], n_features)


# --- by hand -------------------------------------------------------------------------------------


def small_forest(rows):
    """Forest from trees that are lists of (feature, threshold, left, value); -1 is a leaf."""
    starts = np.cumsum([0, *(len(tree) for tree in rows)])
    nodes = [
        (f, t, left + start if left >= 0 else -1, value)
        for tree, start in zip(rows, starts[:-1], strict=True)
        for f, t, left, value in tree
    ]
    feature, threshold, left, value = zip(*nodes, strict=True) if nodes else ((), (), (), ())
    n = len(nodes)
    return Forest(
        starts.astype(np.int64),
        np.array(feature, dtype=np.int32),
        np.array(threshold, dtype=np.float64),
        np.array(left, dtype=np.int32),
        np.array(value, dtype=np.float64),
        np.zeros(n),
        np.ones(n),
        np.zeros(n, dtype=np.int32),
        np.zeros(n, dtype=np.uint8),
    )


def fitted(model, forest, initial, n_features, learning_rate=1.0, classes=None):
    """An estimator with the given trees, as if it had been fitted."""
    model.n_features_in_ = n_features
    if classes is not None:
        model.classes_ = np.asarray(classes)
    initial = np.array(initial, dtype=np.float64)
    model._set_fitted(Boosted(forest, initial, forest.n_trees // len(initial)), learning_rate)
    return model


LEAF = (-1, 0.0, -1)
# Left of 0 on feature 0 follows feature 1, right of it feature 2; then a stump on feature 3.
FORK = [
    (0, 0.0, 1, 0.0),
    (1, 0.0, 3, 0.0),
    (2, 0.0, 5, 0.0),
    (*LEAF, 1.0),
    (*LEAF, 2.0),
    (*LEAF, 4.0),
    (*LEAF, 8.0),
]
STUMP = [(3, 0.0, 1, 0.0), (*LEAF, 16.0), (*LEAF, 32.0)]
FORK_X = np.array([[0, 0, 9, 0], [1, 9, 0, 0], [1, 9, 1, 1], [0, 1, 9, 1], [1, 9, 0, 1.0]])


def fork_model(**parameters):
    parameters = {"feature_costs": [1.0, 10.0, 100.0, 1000.0], "split_cost": 0.25} | parameters
    return fitted(CEGBRegressor(**parameters), small_forest([FORK, STUMP]), [0.5], 4)


def test_by_hand():
    functions, result = assert_on_demand(fork_model(), FORK_X)
    np.testing.assert_array_equal(result.predictions, [17.5, 20.5, 40.5, 34.5, 36.5])
    np.testing.assert_array_equal(result.cost, [1011.75, 1101.75, 1101.75, 1011.75, 1101.75])
    np.testing.assert_array_equal(result.evaluations, 3)
    # Everybody needs 0; node 1 comes before node 2; all meet again before feature 3.
    assert functions.calls == [(0, [0, 1, 2, 3, 4]), (1, [0, 3]), (2, [1, 2, 4]), (3, [*range(5)])]
    functions, _ = assert_on_demand(fork_model(), FORK_X, batch_size=2)
    assert functions.calls[:4] == [(0, [0, 1]), (1, [0]), (2, [1]), (3, [0, 1])]
    assert [rows for key, rows in functions.calls if key == 3] == [[0, 1], [2, 3], [4]]


def test_groups_by_hand():
    model = fork_model(feature_groups=[7, 7, -2, 7], feature_costs=[5.0, 5.0, 100.0, 5.0])
    functions, result = assert_on_demand(model, FORK_X)
    assert functions.calls == [(7, [0, 1, 2, 3, 4]), (-2, [1, 2, 4])]
    np.testing.assert_array_equal(result.cost, [5.75, 105.75, 105.75, 5.75, 105.75])
    # What the group brings along is not marked unless a tree tests it.
    np.testing.assert_array_equal(result.acquired[0], [True, True, False, True])


@pytest.mark.parametrize("batch_size", [1, 2, 1024])
def test_groups_with_remainders_by_hand(batch_size):
    """The function of a group is called once for a row; its features are billed when tested."""
    model = fork_model(
        feature_groups=[7, 7, -2, 7], group_costs={7: 5.0, -2: 0.0},
        feature_costs=[1.0, 10.0, 100.0, 1000.0],
    )  # fmt: skip
    functions, result = assert_on_demand(model, FORK_X, batch_size=batch_size)
    assert len(functions.purchases()) == 8
    # Rows 0 and 3: the group, then 0, 1 and 3; the others the group, 0, 2 and 3.
    np.testing.assert_array_equal(result.cost, [1016.75, 1106.75, 1106.75, 1016.75, 1106.75])


@pytest.mark.parametrize("n_features", [150, 400])
@pytest.mark.parametrize("grouped", [False, True])
def test_tested_features_far_apart(grouped, n_features):
    """Both forms of `acquired`, and units of which none, one or two features are tested."""
    columns = np.array([n_features - 1, 3, 64, 66])
    X = np.full((5, n_features), 9.0)
    X[:, columns] = FORK_X
    prices = {"feature_costs": np.arange(float(n_features)), "split_cost": 0.25}
    if grouped:
        groups = np.arange(n_features) // 8
        prices |= {"feature_groups": groups, "feature_costs": 1.0 + groups}
    functions, result = assert_on_demand(scattered_model(columns, n_features, **prices), X)
    np.testing.assert_array_equal(result.predictions, fork_model().predict(FORK_X))
    assert len({key for key, _ in functions.calls}) == (3 if grouped else 4)


def test_memory_grows_with_tested_features_only():
    """One byte for each row and feature would take 100 MB here."""
    n_features, n_rows = 100_000, 1_000
    columns = np.array([n_features - 1, 3, 64, 66])
    model = scattered_model(columns, n_features)
    functions = {m: lambda rows, k=k: FORK_X[rows % 5, k] for k, m in enumerate(columns.tolist())}
    predictor = OnDemandPredictor(model, functions)
    predictor.predict(np.arange(5))  # compiles
    tracemalloc.start()
    try:
        result = predictor.predict(np.arange(n_rows))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.5e6
    assert result.acquired.shape == (n_rows, n_features)
    expected = np.resize(fork_model().predict(FORK_X), n_rows)
    np.testing.assert_array_equal(result.predictions, expected)


def test_other_prices():
    predictor = OnDemandPredictor(
        fork_model(), Functions(fork_model(), FORK_X), feature_costs=[0, 1, 0, 2.0], split_cost=0
    )
    cost = predictor.predict(range(5)).cost
    np.testing.assert_array_equal(cost, [3, 2, 2, 3, 2])


# --- random forests, against the twin and the full matrix ----------------------------------------


def random_tree(rng, d):
    """Grow a tree breadth-first; it may be one leaf, and may ask the same thing again."""
    tree, node = [None], 0
    while node < len(tree):
        if len(tree) < 40 and rng.random() < 0.7:
            tree[node] = (int(rng.integers(d)), float(rng.integers(4)) / 2, len(tree), 0.0)
            tree += [None, None]
        else:
            tree[node] = (*LEAF, float(rng.normal()))
        node += 1
    return tree


def random_model(rng):
    """A model with random trees, prices and groups, and rows with many ties."""
    d = int(rng.choice([1, 2, 5, 9, 70, 300], p=[0.1, 0.1, 0.4, 0.2, 0.1, 0.1]))
    n_classes = int(rng.choice([0, 2, 4]))
    n_columns = n_classes if n_classes > 2 else 1
    groups = None if rng.random() < 0.5 else rng.integers(-3, 3, d)
    price = {int(g): float(rng.choice([0.0, 0.1, 1.0, 7.3])) for g in range(-3, max(3, d))}
    parameters = {
        "feature_costs": [price[int(g)] for g in (range(d) if groups is None else groups)],
        "feature_groups": groups,
        "split_cost": float(rng.choice([0.0, 0.01])),
        "feature_sharing": None if rng.random() < 0.5 else rng.choice([1, 4, 16], d),
    }
    kinds = TREE_CLASSIFIERS if n_classes else TREE_REGRESSORS
    forest = small_forest([random_tree(rng, d) for _ in range(n_columns * rng.integers(0, 6))])
    left = (rng.random(len(forest.left)) < 0.5) & (forest.left >= 0)
    forest = forest._replace(missing_left=left.astype(np.uint8))
    if groups is not None and rng.random() < 0.5:
        own = rng.choice([0.0, 0.3, 2.0], d)
        parameters |= {
            "feature_costs": own,
            "group_costs": {k: price[k] for k in set(groups.tolist())},
        }
    classes = [f"class {c}" for c in range(n_classes)] if n_classes else None
    initial = rng.normal(size=n_columns)
    model = kinds[rng.integers(len(kinds))](**parameters)
    model = fitted(model, forest, initial, d, float(rng.choice([0.1, 1.0])), classes)
    X = rng.integers(0, 5, (int(rng.integers(1, 20)), d)) / 2 - 0.25 * (rng.random(d) < 0.3)
    X[rng.random(X.shape) < rng.choice([0.0, 0.2])] = np.nan
    return model, X


def reference_model(model):
    """Return the reference's form of an estimator's trees."""
    forest, n_columns = model.trees_, len(model.initial_scores_)
    trees = []
    for begin, end in zip(forest.tree[:-1], forest.tree[1:], strict=True):
        part = Forest(forest.tree, *(values[begin:end] for values in forest[1:]))
        left = np.where(part.left >= 0, part.left - begin, -1)
        right = np.where(part.left >= 0, left + 1, -1)
        values = part.feature, part.threshold, left, right, part.value, *part[5:]
        trees.append(reference.trees.Tree(*values, sets=(None,) * len(left)))
    rounds = [trees[t : t + n_columns] for t in range(0, len(trees), n_columns)]
    return reference.boosting.Model(rounds, model.initial_scores_, model._learning_rate, [])


def assert_equals_twin(model, X, functions, result):
    bought = Functions(model, X)
    twin = reference.on_demand.predict(
        reference_model(model), bought, range(len(X)), X.shape[1], **meter_prices(model)
    )
    scores = twin.scores
    expected = model._probabilities(scores) if hasattr(model, "classes_") else scores[:, 0]
    np.testing.assert_array_equal(result.predictions, expected)
    np.testing.assert_array_equal(dense(result.acquired), twin.passed > 0)
    np.testing.assert_array_equal(result.evaluations, twin.passed.sum(axis=1))
    np.testing.assert_array_equal(result.cost, twin.cost)
    assert twin.purchases == bought.purchases()
    assert sorted(functions.purchases()) == sorted(twin.purchases)
    return twin


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_equals_the_twin_and_the_full_matrix(seed):
    model, X = random_model(np.random.default_rng(seed))
    method = "predict_proba" if hasattr(model, "classes_") else "predict"
    for batch_size in (1, 7, len(X)):
        functions, result = assert_on_demand(model, X, batch_size=batch_size, method=method)
        twin = assert_equals_twin(model, X, functions, result)
        if batch_size == 1:  # one row at a time: the very same calls in the same order
            assert functions.purchases() == twin.purchases


# --- fitted models, real data --------------------------------------------------------------------

SMALL = {"n_estimators": 8, "max_leaves": 8, "n_threads": 1}


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 7, 898])
@pytest.mark.parametrize("cls", [CEGBClassifier, GBRTClassifier])
def test_digits_with_slow_features(cls, batch_size):
    data = load("digits")
    tradeoff = {"tradeoff": 0.01} if cls is CEGBClassifier else {}
    model = cls(**SMALL, **tradeoff, feature_costs=data.feature_costs)
    model.fit(data.X_train, data.y_train)
    X = data.X_test[:100] if batch_size == 1 else data.X_test
    slow = np.flatnonzero(model.model_features())[:3]
    functions, result = assert_on_demand(
        model, X, batch_size=batch_size, pause=dict.fromkeys(slow.tolist(), 2e-5)
    )
    assert len(result.predictions) == len(X)
    assert set(functions.pause) <= {key for key, _ in functions.calls}
    again = assert_on_demand(model, X, batch_size=batch_size, method="predict_proba")[1]
    np.testing.assert_array_equal(again.cost, result.cost)


@pytest.fixture(scope="module")
def real_covertype(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path_factory.mktemp("cache")))
        return load("covertype", data="real")


@pytest.mark.slow
@NEEDS_MIRROR
@pytest.mark.parametrize("grouped", [False, True])
def test_covertype_with_slow_features(real_covertype, grouped):
    data = real_covertype
    # The wilderness columns say one thing together, and so do the soil types.
    labels = np.r_[np.arange(10), np.full(4, 10), np.full(40, 11)] if grouped else None
    model = CEGBClassifier(
        **SMALL, tradeoff=1e-3, feature_costs=np.full(54, 2.0), feature_groups=labels
    )
    model.fit(data.X_train[:8000], data.y_train[:8000])
    X = data.X_test[:1500]
    for batch_size in (7, 256, 1500):
        functions, result = assert_on_demand(
            model, X, batch_size=batch_size, pause={0: 1e-5, 11: 1e-5}
        )
        assert 0 < len(functions.purchases()) < model.model_features().sum() * len(X)
        # The counted cost is the price times what was asked for: nothing else is paid.
        assert result.cost.sum() == 2.0 * sum(result.rows_by_function.values())


def test_a_loaded_model_and_a_later_fit(tmp_path):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model = GBRTRegressor(**SMALL).fit(X, y)
    model.save(tmp_path / "model.zip")
    assert_on_demand(GBRTRegressor.load(tmp_path / "model.zip"), X)
    before = model.predict(X)
    predictor = OnDemandPredictor(model, Functions(model, X))
    model.fit(X[:, ::-1], -y)
    np.testing.assert_array_equal(predictor.predict(range(200)).predictions, before)


def test_a_constant_model_calls_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        model = CEGBRegressor().fit(np.eye(3), [2.5, 2.5, 2.5])
        one_class = CEGBClassifier().fit(np.eye(3), ["a", "a", "a"])
    result = OnDemandPredictor(model, {}).predict(["x", "y"])
    np.testing.assert_array_equal(result.predictions, [2.5, 2.5])
    assert not result.acquired.any()
    assert not result.cost.any()
    assert result.calls_by_function == {}
    labels = OnDemandPredictor(one_class, {}).predict(["x", "y", "z"]).predictions
    assert labels.tolist() == ["a", "a", "a"]
