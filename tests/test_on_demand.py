"""Prediction on demand: every call accounted for, none twice, and equal to the full matrix."""

from __future__ import annotations

import os
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference.boosting
import reference.on_demand
import reference.trees
from algorithms.boosting import Boosted
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.costs import feature_units
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.metered_forest import MeteredForest
from algorithms.on_demand import OnDemandPredictor, OnDemandResult, _Batch
from algorithms.trees.forest import Forest
from benchmarks import latency
from datasets import load
from tests.twins import METER

NEEDS_MIRROR = pytest.mark.skipif(
    not os.environ.get("COST_AWARE_BOOSTING_MIRROR"),
    reason="COST_AWARE_BOOSTING_MIRROR is not set: no real data to read",
)


class Functions(dict):
    """A function for each acquisition unit of a model, which reads it from a matrix by row number.

    `calls` lists (key, rows) as they came, `seconds` what each function measured of itself;
    `pause` is how long the functions of some keys sleep for each row.
    """

    def __init__(self, model, X, pause=None):
        super().__init__()
        self.calls, self.seconds, self.pause = [], {}, pause or {}
        groups = model.feature_groups
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


def assert_on_demand(model, X, *, batch_size=1024, pause=None, proba=False):
    """Predict on demand; assert that all equals the full matrix and every call is accounted for."""
    functions = Functions(model, X, pause)
    predictor = OnDemandPredictor(model, functions, batch_size=batch_size)
    result = (predictor.predict_proba if proba else predictor.predict)(np.arange(len(X)))
    expected = model.predict_proba(X) if proba else model.predict(X)
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
    units = feature_units(model.feature_groups, acquired.shape[1])
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
    """One byte for each row and feature would take 2 GB here."""
    n_features, n_rows = 100_000, 20_000
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
    assert peak < 5e7
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
    kinds = (CEGBClassifier, GBRTClassifier) if n_classes else (CEGBRegressor, GBRTRegressor)
    forest = small_forest([random_tree(rng, d) for _ in range(n_columns * rng.integers(0, 6))])
    classes = [f"class {c}" for c in range(n_classes)] if n_classes else None
    initial = rng.normal(size=n_columns)
    model = kinds[rng.integers(2)](**parameters)
    model = fitted(model, forest, initial, d, float(rng.choice([0.1, 1.0])), classes)
    X = rng.integers(0, 5, (int(rng.integers(1, 20)), d)) / 2 - 0.25 * (rng.random(d) < 0.3)
    return model, X


def reference_model(model):
    """Return the reference's form of an estimator's trees."""
    forest, n_columns = model.trees_, len(model.initial_scores_)
    trees = []
    for begin, end in zip(forest.tree[:-1], forest.tree[1:], strict=True):
        part = Forest(forest.tree, *(values[begin:end] for values in forest[1:]))
        left = np.where(part.left >= 0, part.left - begin, -1)
        right = np.where(part.left >= 0, left + 1, -1)
        trees.append(
            reference.trees.Tree(part.feature, part.threshold, left, right, part.value, *part[5:8])
        )
    rounds = [trees[t : t + n_columns] for t in range(0, len(trees), n_columns)]
    return reference.boosting.Model(rounds, model.initial_scores_, model._learning_rate, [])


def assert_equals_twin(model, X, functions, result):
    bought = Functions(model, X)
    prices = {name: getattr(model, name) for name in METER}
    twin = reference.on_demand.predict(
        reference_model(model), bought, range(len(X)), X.shape[1], **prices
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
@settings(max_examples=80, deadline=None)
def test_equals_the_twin_and_the_full_matrix(seed):
    model, X = random_model(np.random.default_rng(seed))
    proba = hasattr(model, "classes_")
    for batch_size in (1, 7, len(X)):
        functions, result = assert_on_demand(model, X, batch_size=batch_size, proba=proba)
        twin = assert_equals_twin(model, X, functions, result)
        if batch_size == 1:  # one row at a time: the very same calls in the same order
            assert functions.purchases() == twin.purchases


# --- fitted models, real data --------------------------------------------------------------------

SMALL = {"n_estimators": 8, "max_leaves": 8, "n_threads": 1}


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
    again = assert_on_demand(model, X, batch_size=batch_size, proba=True)[1]
    np.testing.assert_array_equal(again.cost, result.cost)


@pytest.fixture(scope="module")
def real_covertype(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path_factory.mktemp("cache")))
        return load("covertype", data="real")


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
        warnings.simplefilter("ignore", UserWarning)
        model = CEGBRegressor().fit(np.eye(3), [2.5, 2.5, 2.5])
        one_class = CEGBClassifier().fit(np.eye(3), ["a", "a", "a"])
    result = OnDemandPredictor(model, {}).predict(["x", "y"])
    np.testing.assert_array_equal(result.predictions, [2.5, 2.5])
    assert not result.acquired.any()
    assert not result.cost.any()
    assert result.calls_by_function == {}
    labels = OnDemandPredictor(one_class, {}).predict(["x", "y", "z"]).predictions
    assert labels.tolist() == ["a", "a", "a"]


# --- rows of all kinds, names, what groups may answer --------------------------------------------


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (FORK_X, np.ndarray),
        (pd.DataFrame(FORK_X, index=list("edcba")), pd.DataFrame),
        (pd.Series(list(FORK_X), index=[4, 3, 2, 1, 0]), pd.Series),
        (sparse.coo_matrix(FORK_X), sparse.csr_matrix),
        (FORK_X.tolist(), list),
        (tuple(map(tuple, FORK_X)), list),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_kinds_of_rows(rows, kind):
    seen = []

    def column(m):
        def compute(part):
            seen.append(part)
            table = part.toarray() if sparse.issparse(part) else np.array(list(part))
            table = part.to_numpy() if isinstance(part, pd.DataFrame) else table
            return table[:, m]

        return compute

    result = OnDemandPredictor(fork_model(), {m: column(m) for m in range(4)}).predict(rows)
    np.testing.assert_array_equal(result.predictions, fork_model().predict(FORK_X))
    assert {type(part) for part in seen} == {kind}


def test_names_of_columns():
    rng = np.random.default_rng(8)
    table = pd.DataFrame(rng.normal(size=(300, 3)), columns=["age", "height", "blood"])
    model = CEGBRegressor(**SMALL, tradeoff=0.0).fit(table, table["age"] * table["blood"])
    functions = {
        "age": lambda part: part["age"],
        1: lambda part: part["height"].to_numpy(),
        "blood": lambda part: part["blood"].tolist(),
    }
    result = OnDemandPredictor(model, functions, batch_size=64).predict(table)
    np.testing.assert_array_equal(result.predictions, model.predict(table))
    assert list(result.calls_by_function) == ["age", 1, "blood"]
    with pytest.raises(ValueError, match=r"two functions for feature 0 \('age'\)"):
        OnDemandPredictor(model, functions | {0: len})
    with pytest.raises(ValueError, match="no such feature"):
        OnDemandPredictor(model, functions | {"weight": len})
    del functions["blood"]
    with pytest.raises(ValueError, match=r"no function for: feature 2 \('blood'\)"):
        OnDemandPredictor(model, functions)


def group_model():
    """Groups 5 = features 0, 1 and 9 = features 2, 3, of which a tree tests all but 3."""
    model = CEGBRegressor(feature_groups=[5, 5, 9, 9])
    return fitted(model, small_forest([FORK]), [0.0], 4)


def group_functions(second):
    return {5: lambda rows: FORK_X[rows][:, :2], 9: second}


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: FORK_X[rows][:, 2:],
        lambda rows: FORK_X[rows][:, 2:].tolist(),
        lambda rows: pd.DataFrame(FORK_X[rows][:, 2:]),
        lambda rows: {2: FORK_X[rows][:, 2]},
        lambda rows: {3: FORK_X[rows][:, 3], 2: FORK_X[rows][:, 2].astype(np.float32)},
    ],
)
def test_a_group_answers_an_array_or_a_mapping(answer):
    result = OnDemandPredictor(group_model(), group_functions(answer)).predict(range(5))
    np.testing.assert_array_equal(result.predictions, group_model().predict(FORK_X))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: FORK_X[rows][:, 2], r"returned shape \(3,\); \(3, 2\) is wanted"),
        (lambda rows: FORK_X[rows][:, 1:], r"returned shape \(3, 3\); \(3, 2\) is wanted"),
        (lambda rows: {3: FORK_X[rows][:, 3]}, "left out feature 2"),
        (lambda rows: {0: FORK_X[rows][:, 0]}, "returned 0, which is not in the group"),
        (lambda rows: {2: [1.0, 2.0]}, r"for 2 returned shape \(2,\); \(3,\) is wanted"),
    ],
)
def test_a_group_answers_wrongly(answer, message):
    with pytest.raises(ValueError, match=message) as caught:
        OnDemandPredictor(group_model(), group_functions(answer)).predict(range(5))
    assert "group 9 (features 2, 3), asked for 3 rows" in str(caught.value)


def named_group_model():
    """The same with names of columns."""
    model = group_model()
    model.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    return model


@pytest.mark.parametrize("order", [["c", "d"], ["d", "c"], ["c"]])
def test_a_table_with_names_is_read_by_name(order):
    table = pd.DataFrame(FORK_X, columns=["a", "b", "c", "d"])
    functions = {5: lambda rows: rows[["b", "a"]], 9: lambda rows: rows[order]}
    result = OnDemandPredictor(named_group_model(), functions).predict(table)
    np.testing.assert_array_equal(result.predictions, group_model().predict(FORK_X))


def test_a_table_with_other_names_is_refused():
    table = pd.DataFrame(FORK_X, columns=["a", "b", "c", "d"])
    functions = {5: lambda rows: rows[["a", "b"]], 9: lambda rows: rows[["b", "c"]]}
    with pytest.raises(ValueError, match="returned 'b', which is not in the group"):
        OnDemandPredictor(named_group_model(), functions).predict(table)


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: rows[["c", "d"]][::-1],
        lambda rows: {"c": rows["c"][::-1]},
        lambda rows: {"c": rows["c"], "d": rows["d"].sort_index(ascending=False)},
    ],
)
def test_rows_in_another_order_are_refused(answer):
    table = pd.DataFrame(FORK_X, columns=["a", "b", "c", "d"], index=[3, 0, 8, 2, 5])
    functions = {5: lambda rows: rows[["a", "b"]], 9: answer}
    with pytest.raises(ValueError, match=r"group 9 .* returned them in another order"):
        OnDemandPredictor(named_group_model(), functions).predict(table)


@pytest.mark.parametrize("index", [[3, 0, 8, 2, 5], [1, 1, 1, 2, 2]])
def test_an_index_that_tells_no_order_is_fine(index):
    """A new index, as a merge gives, and labels that are not unique."""
    table = pd.DataFrame(FORK_X, index=index)
    functions = {m: lambda rows, m=m: rows[m].reset_index(drop=True) for m in range(4)}
    functions[0] = lambda rows: rows[0]
    result = OnDemandPredictor(fork_model(), functions).predict(table)
    np.testing.assert_array_equal(result.predictions, fork_model().predict(FORK_X))


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: FORK_X[rows], r"returned shape \(2, 4\); \(2,\) is wanted"),
        (lambda rows: 1.0, r"returned shape \(\); \(2,\) is wanted"),
        (lambda rows: None, r"returned shape \(\)"),
        (lambda rows: [[1.0], [1.0, 2.0]], "returned what is no array"),
        (lambda rows: ["1", "2"], "returned values of dtype <U1"),
        (lambda rows: [1.0, None], "returned values of dtype object"),
        (lambda rows: [1.0, 2j], "returned values of dtype complex128"),
        (lambda rows: {1: [1.0, 2.0]}, "returned a mapping"),
        (lambda rows: [0.0, np.nan], r"1 missing or infinite values, the first \(nan\) for its"),
        (lambda rows: [-np.inf, np.inf], r"2 missing or infinite values, the first \(-inf\)"),
        (lambda rows: np.ma.array([1.0, 2.0], mask=[False, True]), "1 missing .* its row 1"),
        (lambda rows: np.ma.array([np.nan, 2.0], mask=[False, True]), "2 missing .* its row 0"),
    ],
)
def test_a_function_answers_wrongly(answer, message):
    functions = Functions(fork_model(), FORK_X) | {1: answer}
    with pytest.raises(ValueError, match=message) as caught:
        OnDemandPredictor(fork_model(), functions).predict(range(5))
    assert str(caught.value).startswith("The function of feature 1, asked for 2 rows,")


@pytest.mark.parametrize("values", [[1, 2], [True, False], np.float32([1, 2]), np.uint8([1, 2])])
def test_other_numbers_are_fine(values):
    functions = Functions(fork_model(), FORK_X) | {1: lambda rows: values}
    assert OnDemandPredictor(fork_model(), functions).predict(range(5)).predictions[0] == 18.5


@pytest.mark.parametrize("error", [KeyError("sensor"), KeyboardInterrupt(), SystemExit(3)])
def test_a_function_that_fails_leaves_nothing_behind(error):
    functions, fail = Functions(fork_model(), FORK_X), [True]
    read = functions[3]

    def fragile(rows):
        if fail:
            raise error
        return read(rows)

    functions[3] = fragile
    predictor = OnDemandPredictor(fork_model(), functions, batch_size=2)
    if isinstance(error, Exception):
        with pytest.raises(
            RuntimeError, match="feature 3 failed on 2 rows with KeyError"
        ) as caught:
            predictor.predict(range(5))
        assert caught.value.__cause__ is error
    else:
        with pytest.raises(type(error)):
            predictor.predict(range(5))
    fail.clear()
    functions.calls.clear()
    functions.seconds.clear()
    result = predictor.predict(range(5))
    assert isinstance(result, OnDemandResult)
    np.testing.assert_array_equal(result.predictions, fork_model().predict(FORK_X))
    assert_accounted(fork_model(), functions, result)


def test_no_row_acquires_twice():
    """The guard fires: a row that is handed the same unit again is an error."""
    predictor = OnDemandPredictor(fork_model(), Functions(fork_model(), FORK_X))
    outputs = (
        np.zeros((5, 1), dtype=np.uint64),
        np.zeros(5, dtype=np.int64),
        np.zeros(5, dtype=np.int64),
        np.zeros((5, 1)),
    )
    batch = _Batch(predictor, np.zeros((4, 5)), outputs)
    batch.hand_over(2, np.array([0, 3]), {2: np.ones(2)})
    batch.hand_over(2, np.array([1, 2]), {2: np.ones(2)})
    with pytest.raises(RuntimeError, match="acquired feature 2 twice"):
        batch.hand_over(2, np.array([4, 3]), {2: np.zeros(2)})
    np.testing.assert_array_equal(batch.values[2], [1, 1, 1, 1, 0])


def test_missing_functions_are_listed_before_any_work():
    functions = Functions(fork_model(), FORK_X)
    del functions[1], functions[3]
    with pytest.raises(ValueError, match="uses: feature 0; feature 1; feature 2; feature 3") as one:
        OnDemandPredictor(fork_model(), functions)
    assert "no function for: feature 1; feature 3." in str(one.value)
    assert functions.calls == []
    with pytest.raises(ValueError, match=r"no function for: group 9 \(features 2, 3\)"):
        OnDemandPredictor(group_model(), {5: len})
    # What no tree tests needs no function.
    model = fitted(CEGBRegressor(), small_forest([STUMP]), [0.0], 4)
    assert OnDemandPredictor(model, {3: lambda rows: rows}).predict([1.0]).predictions == [32.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": object()}, "must be boosted trees"),
        ({"model": CEGBRegressor}, "must be boosted trees"),
        (
            {"model": MeteredForest([], np.zeros(1), 4, as_seen=np.asarray, library="a")},
            "must be boosted trees",
        ),
        ({"model": CEGBRegressor()}, "not fitted"),
        ({"functions": [len, len]}, "must map each feature"),
        ({"functions": {0: 3}}, "function of feature 0 is not callable: 3"),
        ({"functions": {4: len}}, "the key 4, but the model has no such feature"),
        ({"model": group_model(), "functions": {0: len}}, "the key 0, .* no such group"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": True}, "batch_size"),
        ({"batch_size": 2.0}, "batch_size"),
        ({"feature_costs": [1.0, -1.0, 0.0, 0.0]}, "negative"),
    ],
)
def test_wrong_arguments(arguments, message):
    arguments = {"model": fork_model(), "functions": Functions(fork_model(), FORK_X)} | arguments
    with pytest.raises(ValueError, match=message):
        OnDemandPredictor(arguments.pop("model"), arguments.pop("functions"), **arguments)


@pytest.mark.parametrize("rows", ["abc", {1: 2}, {1, 2}, iter([1, 2]), 3, np.array(3.0)])
def test_rows_that_are_no_sequence(rows):
    with pytest.raises(ValueError, match="rows must be an array"):
        OnDemandPredictor(fork_model(), Functions(fork_model(), FORK_X)).predict(rows)


@pytest.mark.parametrize("rows", [[], np.zeros((0, 4)), pd.DataFrame({"id": []}), range(0)])
def test_no_rows(rows):
    with pytest.raises(ValueError, match="rows is empty"):
        OnDemandPredictor(fork_model(), Functions(fork_model(), FORK_X)).predict(rows)


def test_a_regressor_has_no_probabilities():
    with pytest.raises(ValueError, match="CEGBRegressor predicts numbers"):
        OnDemandPredictor(fork_model(), Functions(fork_model(), FORK_X)).predict_proba([0])


def test_the_latency_benchmark_runs(monkeypatch):
    monkeypatch.setattr(latency, "UNIT", 1e-8)
    monkeypatch.setattr(latency, "TREES", 2)
    arguments = ["--data", "digits", "--single", "3", "--many", "300"]
    result = CliRunner().invoke(latency.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    table = [line.split(" | ") for line in result.output.splitlines() if line.startswith("| ")]
    assert [(row[0], row[1], row[2], row[3]) for row in table[1:]] == [
        (f"| {model}", way, request, n_requests)
        for model in ("GBRT", "CEGB")
        for request, n_requests in (("1", "3"), ("256", "2"))
        for way in ("full matrix", "on demand")
    ]


def test_the_latency_benchmark_refuses_other_predictions(monkeypatch):
    def wrong(model, functions, request):
        return lambda rows: np.full(len(rows), -1)

    monkeypatch.setattr(latency, "on_demand", wrong)
    monkeypatch.setattr(latency, "UNIT", 1e-8)
    data = load("digits")
    model = GBRTClassifier(**SMALL).fit(data.X_train, data.y_train)
    with pytest.raises(AssertionError, match="GBRT, on demand: other predictions"):
        list(latency.lines("GBRT", model, data, np.ones(64), {1: 2, 256: 2}))
