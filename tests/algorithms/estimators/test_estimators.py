"""The estimators among scikit-learn's: its checks, its tools, and all kinds of input."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import algorithms
from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from algorithms.budget_forest import BudgetForestClassifier
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.cronus import CronusClassifier
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier
from algorithms.mddag import MDDAGClassifier
from algorithms.raykar_cascade import RaykarCascadeClassifier
from algorithms.registry.registered import ESTIMATORS
from tests.algorithms.estimators.kinds import TREE_CLASSIFIERS as CLASSIFIERS
from tests.algorithms.estimators.kinds import TREE_REGRESSORS as REGRESSORS
from tests.algorithms.estimators.kinds import TREES, small_size, takes

# One row may be a leaf: else the checks' small data give constant models, which pass anything.
CHECKED = [
    *(cls(n_estimators=5, min_samples_leaf=1, n_threads=1) for cls in TREES),
    *(
        cls(**small_size(cls, n_estimators=5, min_samples_leaf=1), n_threads=1)
        for cls in ESTIMATORS
        if cls not in TREES and cls not in (CronusClassifier, MDDAGClassifier)
    ),
    # Episodes draw rows by their number: what is the same whatever their order is descent.
    MDDAGClassifier(
        **small_size(MDDAGClassifier, n_estimators=5, min_samples_leaf=1),
        solver="descent",
        n_threads=1,
    ),
    # Copies of rows give what weights give to seven digits where the problem is convex only.
    CronusClassifier(
        **small_size(CronusClassifier, n_estimators=5, min_samples_leaf=1) | {"max_cycles": 0},
        n_threads=1,
    ),
    CEGBRegressor(
        n_estimators=5,
        learning_rate=0.5,
        min_samples_leaf=2,
        split_cost=0.5,
        growth="breadth_first",
    ),
    CEGBClassifier(
        n_estimators=5, min_samples_leaf=1, max_leaves=None, max_bins=4, second_order=False
    ),
    GreedyMiserClassifier(
        n_estimators=5, min_samples_leaf=1, charging="authors", budget=40.0, max_depth=2
    ),
    AdaBoostMH(n_estimators=5, sampler=Laminating(n_examples=10**6), n_threads=1),
    AdaBoostMH(n_estimators=5, sampler="mas_q1", random_state=0, n_threads=1),
    AdaBoostMH(
        n_estimators=5,
        weak_learner="hamming_tree",
        n_leaves=4,
        initial_weights="balanced",
        smoothing=0.01,
        n_threads=1,
    ),
]


def expected_failures(estimator) -> dict[str, str]:
    """What stumps fail: scikit-learn gives its own trees a least weight of leaves."""
    of_trees = isinstance(getattr(estimator, "estimator", None), GBRTRegressor)
    if not takes(type(estimator), "class_weight") or type(estimator) in TREES or of_trees:
        return {}
    failures = {
        "check_class_weight_classifiers": "a stump may cut off where only rows of next to no "
        "weight are, and votes there as strongly as where all the weight is"
    }
    if getattr(estimator, "sampler", None) == "mas_q1":
        failures["check_sample_weight_equivalence_on_dense_data"] = (
            "draws examples: those it draws of a row's copies are not those it draws of the row"
        )
    return failures


# Those of one class beside each other have all but their kernels from it. Of what trains for long
# the promises are asked one by one, of all estimators, in this folder.
ONE_A_KIND = {
    id(one)
    for one in {
        type(one).__base__ if is_classifier(one) else "regressors": one
        for one in CHECKED
        if not isinstance(
            one,
            BudgetForestClassifier | CronusClassifier | MDDAGClassifier | RaykarCascadeClassifier,
        )
    }.values()
}


@pytest.mark.parametrize(
    "estimator",
    [pytest.param(one, marks=[] if id(one) in ONE_A_KIND else pytest.mark.slow) for one in CHECKED],
    ids=lambda one: type(one).__name__,
)
def test_scikit_learn_checks(estimator):
    check_estimator(estimator, expected_failed_checks=expected_failures(estimator), on_skip=None)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X[:, 0] + np.abs(X[:, 1]) * X[:, 2] + 0.2 * rng.normal(size=300)
    return X, y


def target(cls, y, n_classes=3):
    return y if cls in REGRESSORS else np.digitize(y, [0.0, 1.0][: n_classes - 1])


SMALL = {"n_estimators": 4, "max_leaves": 6, "min_samples_leaf": 5}


def small(cls, **parameters):
    return small_size(cls, n_estimators=4, max_leaves=6, max_depth=3) | parameters


def same_model(a, b, X):
    for name, values in a.trees_._asdict().items():
        np.testing.assert_array_equal(values, getattr(b.trees_, name), name)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.prediction_cost(X), b.prediction_cost(X))


# --- scikit-learn's tools --------------------------------------------------------------------


@pytest.mark.parametrize("cls", TREES)
def test_kinds_and_parameters(cls):
    assert is_regressor(cls()) == (cls in REGRESSORS)
    assert is_classifier(cls()) == (cls in CLASSIFIERS)
    signature = inspect.signature(cls.__init__).parameters
    assert all(p.kind is p.KEYWORD_ONLY for name, p in signature.items() if name != "self")
    kept = {
        "n_estimators", "learning_rate", "max_depth", "min_samples_leaf", "split_cost",
        "feature_costs", "feature_groups", "group_costs", "max_bins", "early_stopping_rounds",
        "n_threads", "random_state",
    }  # fmt: skip
    kept |= {"max_leaves", "growth"} if takes(cls, "max_leaves") else set()
    if cls.__name__.startswith("CEGB"):
        kept |= {"tradeoff", "model_feature_costs", "stop_on_negative_gain"}
    if cls.__name__.startswith("GreedyMiser"):
        kept |= {"tradeoff", "budget", "tree_cost", "charging"}
    assert kept <= set(cls().get_params())
    for name in signature:
        assert name == "self" or f"    {name} : " in cls.__doc__


@pytest.mark.parametrize("cls", TREES)
def test_clone_and_refit(cls, data):
    X, y = data[0], target(cls, data[1])
    costs = np.array([1.0, 2, 0, 0.5, 3])
    model = cls(**small(cls), feature_costs=costs, split_cost=0.1)
    other = clone(model)
    assert other.feature_costs is not model.feature_costs
    model.fit(X, y)
    assert not hasattr(other, "trees_")
    same_model(other.fit(X, y), model, X)
    before = {name: values.copy() for name, values in model.trees_._asdict().items()}
    model.fit(X[:, ::-1], y)  # nothing of the first fit is left
    same_model(model.fit(X, y), other, X)
    for name, values in before.items():
        np.testing.assert_array_equal(values, getattr(model.trees_, name))
    np.testing.assert_array_equal(costs, [1.0, 2, 0, 0.5, 3])


@pytest.mark.parametrize("cls", TREES)
def test_pipeline_and_search(cls, data):
    X, y = data[0], target(cls, data[1])
    pipeline = make_pipeline(StandardScaler(), cls(**small(cls)))
    plain = cls(**small(cls)).fit(X, y)
    # Standardising moves thresholds with the values and changes no decision on the training rows.
    np.testing.assert_array_equal(pipeline.fit(X, y).predict(X), plain.predict(X))
    name = cls.__name__.lower()
    by_leaves = takes(cls, "max_leaves")
    size, choices = ("max_leaves", [2, 8]) if by_leaves else ("max_depth", [1, 3])
    pipeline.set_params(**{f"{name}__n_estimators": 30})  # after four, some are at their priors
    search = GridSearchCV(pipeline, {f"{name}__{size}": choices}, cv=2).fit(X, y)
    assert search.best_params_ == {f"{name}__{size}": choices[1]}
    scores = cross_val_score(cls(**small(cls, n_estimators=30)), X, y, cv=3)
    assert scores.min() > (0.4 if cls in REGRESSORS else 0.6)


@pytest.mark.parametrize("cls", TREES)
def test_first_rounds(cls, data, tmp_path):
    X, y = data[0], data[1] if is_regressor(cls()) else np.round(data[1]) > 0
    model = cls(**small_size(cls, n_estimators=5)).fit(X, y)
    whole, stages = model.predict(X), [*model.staged_predict(X)]
    for k, stage in enumerate(stages, 1):
        shorter = model.first_rounds(k)
        np.testing.assert_array_equal(shorter.predict(X), stage)
        np.testing.assert_array_equal(shorter.prediction_cost(X), [*model.staged_cost(X)][k - 1])
    shorter.save(tmp_path / "shorter")
    np.testing.assert_array_equal(cls.load(tmp_path / "shorter").predict(X), stage)
    assert model.first_rounds(2).n_estimators_ == 2
    assert len(set(model.first_rounds(0).predict(X).tolist())) == 1
    np.testing.assert_array_equal(model.predict(X), whole)  # as it was
    for wrong in (-1, len(stages) + 1, 1.5, True):
        with pytest.raises(ValueError, match="n_rounds must be a whole number from 0 to"):
            model.first_rounds(wrong)


@pytest.mark.parametrize("cls", TREES)
def test_pickle_and_joblib(cls, data, tmp_path):
    X, y = data[0], target(cls, data[1])
    model = cls(**small(cls), feature_costs=np.arange(5.0)).fit(X, y)
    same_model(pickle.loads(pickle.dumps(model)), model, X)
    joblib.dump(model, tmp_path / "model")
    same_model(joblib.load(tmp_path / "model"), model, X)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_fits_in_concurrent_threads(data, n_threads):
    X, y = np.tile(data[0], (40, 4)), np.tile(data[1], 40)
    models = [GBRTRegressor(**SMALL | {"max_leaves": n}, n_threads=n_threads) for n in range(2, 8)]
    alone = [clone(model).fit(X, y) for model in models]
    together = joblib.Parallel(n_jobs=3, backend="threading")(
        joblib.delayed(model.fit)(X, y) for model in models
    )
    for a, b in zip(alone, together, strict=True):
        same_model(a, b, X[:50])
    with ThreadPoolExecutor(3) as pool:
        predictions = list(pool.map(lambda model: model.predict(X), alone))
    for model, prediction in zip(alone, predictions, strict=True):
        np.testing.assert_array_equal(model.predict(X), prediction)


def test_a_failed_fit_does_not_hold_up_the_next(data):
    """What raises inside the boosting loop must give the threads back."""
    X, y = data

    def metric(y, scores, query_id):
        raise RuntimeError("broken metric")

    with pytest.raises(RuntimeError, match="broken metric"):
        GBRTRegressor(**SMALL, eval_metric=metric).fit(X, y, eval_set=(X, y))
    worker = threading.Thread(target=GBRTRegressor(**SMALL).fit, args=(X, y), daemon=True)
    worker.start()
    worker.join(timeout=60)
    assert not worker.is_alive()


# --- kinds of input --------------------------------------------------------------------------


def layouts(X):
    padded = np.zeros((2 * len(X), 2 * X.shape[1]))
    padded[::2, ::2] = X
    big_endian = X.astype(">f8")
    read_only = X.copy()
    read_only.flags.writeable = False
    return {
        "Fortran order": np.asfortranarray(X),
        "strided": padded[::2, ::2],
        "reversed": X[::-1].copy()[::-1],
        "list": X.tolist(),
        "big endian": big_endian,
        "read only": read_only,
        "object": X.astype(object),
        "frame": pd.DataFrame(X),
    }


@pytest.mark.parametrize("cls", TREES)
@pytest.mark.parametrize("kind", list(layouts(np.zeros((2, 2)))))
def test_memory_layouts(cls, kind, data):
    X, y = data[0], target(cls, data[1])
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    expected = cls(**small(cls)).fit(X, y, sample_weight=weights)
    other = cls(**small(cls)).fit(layouts(X)[kind], y.tolist(), sample_weight=weights.tolist())
    same_model(other, expected, X)
    np.testing.assert_array_equal(other.predict(layouts(X)[kind]), expected.predict(X))
    np.testing.assert_array_equal(other.evaluations(layouts(X)[kind]), expected.evaluations(X))


@pytest.mark.parametrize("cls", TREES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8, bool])
def test_narrow_numbers(cls, dtype, data):
    X, y = data[0], target(cls, data[1])
    narrow = (X > 0) if dtype is bool else np.abs(3 * X).astype(dtype)
    expected = cls(**small(cls)).fit(narrow.astype(np.float64), y)
    same_model(cls(**small(cls)).fit(narrow, y), expected, narrow)


@pytest.mark.parametrize("cls", TREES)
def test_a_validation_set_may_be_float32(cls, data):
    X, y = data[0].astype(np.float32), target(cls, data[1])
    half = len(X) // 2
    for train in (X, X.astype(np.float64)):
        expected, model = cls(**small(cls)), cls(**small(cls))
        expected.fit(train[:half], y[:half], eval_set=(X[half:].astype(np.float64), y[half:]))
        model.fit(train[:half], y[:half], eval_set=(X[half:], y[half:]))
        assert len(model.validation_scores_) > 0
        np.testing.assert_array_equal(model.validation_scores_, expected.validation_scores_)


@pytest.mark.parametrize("validated", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_float32_is_not_copied(weighted, validated):
    rng = np.random.default_rng(3)
    X = rng.random((100_000, 20), dtype=np.float32)
    y, weights = X[:, 0] + X[:, 1], 1.0 + rng.integers(0, 2, len(X)) if weighted else None
    model = GBRTRegressor(n_estimators=2, max_leaves=2, n_threads=1)
    model.fit(  # compiles all that is needed
        X[:100],
        y[:100],
        sample_weight=None if weights is None else weights[:100],
        eval_set=(X[:100], y[:100]) if validated else None,
    )
    validation = (X, y) if validated else None
    tracemalloc.start()
    try:
        model.fit(X, y, sample_weight=weights, eval_set=validation)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    n_rows = len(X) + validated * len(X)
    assert peak < X.size + 80 * n_rows  # bins, and what each row has; a copy alone: 8 * X.size


def test_input_is_left_alone(data):
    X, y = data[0].copy(), data[1].copy()
    X[0, 0], y[0] = -0.0, -0.0
    weights = np.ones(len(y))
    weights[5] = 0.0
    copies = X.copy(), y.copy(), weights.copy()
    model = CEGBRegressor(**SMALL).fit(X, y, sample_weight=weights, eval_set=(X, y))
    model.predict(X)
    model.prediction_cost(X)
    for now, before in zip((X, y, weights), copies, strict=True):
        np.testing.assert_array_equal(now.view(np.int64), before.view(np.int64))


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize(
    "names",
    [
        ["no", "perhaps", "yes"],
        np.array(["no", "perhaps", "yes"], dtype=object),
        [-3, 5, 100],
        [-1.0, 0.0, 2.0],
        pd.Categorical(["low", "mid", "top"]),
        np.array(["2026-11-28", "2026-11-29", "2027-01-01"], dtype="M8[ns]"),
        np.array(["yes", "yes\0", "yes\0\0"], dtype=object),
    ],
    ids=["strings", "objects", "integers", "floats", "categories", "dates", "NUL"],
)
def test_class_labels(cls, names, data, tmp_path):
    X, y = data[0], target(cls, data[1])
    expected = cls(**small(cls)).fit(X, y)
    named = pd.Series(names)[y] if isinstance(names, pd.Categorical) else np.asarray(names)[y]
    model = cls(**small(cls)).fit(X, named, eval_set=(X, named))
    order = np.asarray(names)
    np.testing.assert_array_equal(model.classes_, order)
    np.testing.assert_array_equal(model.predict(X), order[expected.predict(X)])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    for labels, numbers in zip(model.staged_predict(X), expected.staged_predict(X), strict=True):
        np.testing.assert_array_equal(labels, order[numbers])
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(cls.load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_probabilities_and_labels_agree(cls, n_classes, data):
    X, y = data[0], target(cls, data[1], n_classes)
    model = cls(**small(cls)).fit(X, y)
    scores, shares = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == ((300,) if n_classes == 2 else (300, 3))
    assert shares.shape == (300, n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-15)
    if n_classes == 2:
        np.testing.assert_array_equal(model.predict(X), (scores > 0).astype(int))
        np.testing.assert_allclose(np.log(shares[:, 1] / shares[:, 0]), scores, rtol=0, atol=1e-12)
    else:
        np.testing.assert_array_equal(model.predict(X), np.argmax(scores, axis=1))
        ratio = np.log(shares[:, 1:] / shares[:, :1])
        np.testing.assert_allclose(ratio, scores[:, 1:] - scores[:, :1], rtol=0, atol=1e-12)
    for staged, last in (
        (model.staged_decision_function(X), scores),
        (model.staged_predict_proba(X), shares),
        (model.staged_predict(X), model.predict(X)),
    ):
        stages = list(staged)
        assert len(stages) == model.n_estimators_ == 4
        np.testing.assert_array_equal(stages[-1], last)


def test_equal_scores_go_to_the_first_class():
    X, y = np.array([[0.0], [0.0]]), np.array(["b", "a"])
    for cls in CLASSIFIERS:
        with pytest.warns(ConstantModelWarning, match="constant"):
            model = cls(min_samples_leaf=1).fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), 0)
        np.testing.assert_array_equal(model.predict(X), ["a", "a"])


@pytest.mark.parametrize("cls", TREES)
def test_queries_are_checked_only(cls, data):
    X, y = data[0], target(cls, data[1])
    queries = np.repeat(np.arange(30)[::-1], 10)
    same_model(cls(**small(cls)).fit(X, y, query_id=queries), cls(**small(cls)).fit(X, y), X)
    same_model(
        cls(**small(cls)).fit(X, y, query_id=queries.astype(str)), cls(**small(cls)).fit(X, y), X
    )


@pytest.mark.parametrize("cls", TREES)
def test_rows_of_weight_zero_are_left_out(cls, data):
    X, y = data[0], target(cls, data[1])
    kept = np.arange(len(y)) % 3 > 0
    weighted = cls(**small(cls)).fit(X, y, sample_weight=kept.astype(float))
    same_model(weighted, cls(**small(cls)).fit(X[kept], y[kept]), X)
    odd = X.copy()
    odd[~kept] = 1e9  # nor do they enter the bins
    same_model(weighted, cls(**small(cls)).fit(odd, y, sample_weight=kept.astype(float)), X)


def test_every_estimator_that_learns_is_registered():
    """One that learns wears `all_or_nothing`; what only reads a fitted model does not."""
    learning = set()
    for module in pkgutil.iter_modules(algorithms.__path__, "algorithms."):
        for name, value in vars(importlib.import_module(module.name)).items():
            learns = hasattr(getattr(value, "fit", None), "__wrapped__")
            if learns and value.__module__ == module.name and not name.startswith("_"):
                learning.add(value)
    assert set(ESTIMATORS) == learning
    assert len(ESTIMATORS) == len(set(ESTIMATORS))
