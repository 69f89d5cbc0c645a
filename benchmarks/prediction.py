"""Prediction beside other libraries, and on demand: cases of :mod:`benchmarks.peers`."""

from __future__ import annotations

import contextlib
import ctypes
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from algorithms.cegb import CEGBClassifier
from algorithms.gbrt import GBRTClassifier
from algorithms.on_demand import OnDemandPredictor
from datasets import load

from .followed.suite import task
from .timing import Row, alternate
from .training import LEAVES, THREADS, lightgbm, miniboone, ours, xgboost


def many_rows(trees: int = 500) -> list[Row]:
    """Predict 20,000 rows of MiniBooNE on one thread."""
    name, X, y = miniboone()
    model = ours(X, y, trees).set_params(n_threads=1)
    booster, other = lightgbm(X, y, trees), xgboost(X, y, trees)
    other.set_param({"nthread": 1})
    rows = X[:20_000]
    programs = {
        "ours": partial(model.decision_function, rows),
        "LightGBM": partial(booster.predict, rows, raw_score=True, num_threads=1),
        "XGBoost": partial(other.inplace_predict, rows, predict_type="margin"),
    }
    micros = {key: 1e6 * spent / len(rows) for key, spent in alternate(programs, 5).items()}
    own, unit = micros.pop("ours"), "µs a row"
    return [Row(f"{trees} trees", name, unit, own, *peer, 0.8, "ours") for peer in micros.items()]


def lightgbm_fast(booster, rows: list[np.ndarray]) -> Callable[[ctypes.c_void_p], float]:
    """LightGBM's C function for single rows, as a function of a row's address."""
    from lightgbm.basic import _LIB, _safe_call

    raw_scores, float64 = ctypes.c_int(1), ctypes.c_int(1)  # C_API_PREDICT_RAW_SCORE, …_FLOAT64
    prepared, length, out = ctypes.c_void_p(), ctypes.c_int64(), ctypes.c_double()
    _safe_call(
        _LIB.LGBM_BoosterPredictForMatSingleRowFastInit(
            booster._handle, raw_scores, ctypes.c_int(0), ctypes.c_int(-1), float64,
            ctypes.c_int32(len(rows[0])), b"num_threads=1", ctypes.byref(prepared),
        )
    )  # fmt: skip
    predict, to_length, to_out = (
        _LIB.LGBM_BoosterPredictForMatSingleRowFast, ctypes.byref(length), ctypes.byref(out)
    )  # fmt: skip

    def score(address):
        predict(prepared, address, to_length, to_out)
        return out.value

    return score


def compiled_c(booster, folder: Path) -> Callable[[ctypes.c_void_p], float]:
    """LightGBM's trees as compiled C code, as a function of a row's address."""
    import tl2cgen
    import treelite

    model = treelite.frontend.from_lightgbm(booster)
    library = folder / "trees.so"
    tl2cgen.export_lib(model, toolchain="gcc", libpath=library, params={"parallel_comp": THREADS})
    predict, out = ctypes.CDLL(str(library)).predict, ctypes.c_double()
    raw, to_out = ctypes.c_int(1), ctypes.byref(out)

    def score(address):
        out.value = 0.0  # the code adds to it
        predict(address, raw, to_out)
        return out.value

    return score


C_FUNCTION, IN_C = "LightGBM, C function for single rows", "LightGBM's trees in C (tl2cgen)"


def others_by_row(X, y, rows, trees: int, folder: Path) -> Iterator[tuple[str, Callable, list]]:
    """Names, functions and arguments of what predicts single rows beside ours.

    Raises
    ------
    AssertionError
        If two ways to ask the same trees give other scores.
    """
    booster = lightgbm(X, y, trees)
    expected = booster.predict(np.array(rows), raw_score=True)
    as_tables = [row[None] for row in rows]
    yield "LightGBM, Booster.predict", partial(booster.predict, num_threads=1), as_tables
    ways = {C_FUNCTION: lightgbm_fast(booster, rows)}
    with contextlib.suppress(ImportError):
        ways[IN_C] = compiled_c(booster, folder)
    addresses = [ctypes.c_void_p(row.ctypes.data) for row in rows]
    for name, way in ways.items():
        np.testing.assert_allclose([way(at) for at in addresses], expected, rtol=0, atol=1e-9)
        yield name, way, addresses


def one_by_one(way: Callable, given: list) -> list:
    """Ask for one row after the other."""
    return [way(one) for one in given]


def one_row(trees: int = 500, n_rows: int = 1000) -> list[Row]:
    """Predict test rows one after the other, so that no row's path is in the caches by itself."""
    X, y, Z, _, _ = task("dense")
    model = GBRTClassifier(n_estimators=trees, max_leaves=LEAVES, n_threads=1).fit(X, y)
    fast, rows = model.fast_predictor(), [row.copy() for row in Z[:n_rows]]
    scores = [fast.scores(row)[0] for row in rows]
    np.testing.assert_array_equal(scores, model.decision_function(Z[:n_rows]))
    ways = {"predict": (model.predict, [row[None] for row in rows]), "fast_predictor": (fast, rows)}
    with tempfile.TemporaryDirectory() as folder:
        for name, way, given in others_by_row(X, y, rows, trees, Path(folder)):
            ways[name] = way, given

        programs = {name: partial(one_by_one, *way) for name, way in ways.items()}
        seconds = alternate(programs, 5, time.process_time)
    micros = {name: 1e6 * spent / n_rows for name, spent in seconds.items()}
    goals = {
        "LightGBM, Booster.predict": ("predict", 5.0),
        C_FUNCTION: ("fast_predictor", 2.0),
        IN_C: ("fast_predictor", 2.0),
    }
    return [
        Row(
            f"{trees} trees", f"one row, {own}", "µs", micros[own], peer, micros[peer], most, "ours"
        )
        for peer, (own, most) in goals.items()
        if peer in micros
    ]


# --- features that take time ----------------------------------------------------------------------

UNIT = 50e-6  # seconds that a cost of 1 takes


def slow_column(X: np.ndarray, feature: int, seconds: float, rows: np.ndarray) -> np.ndarray:
    """Read a feature, and keep the processor busy for some seconds a row."""
    end = time.perf_counter() + len(rows) * seconds  # sleeping is too coarse for microseconds
    while time.perf_counter() < end:
        pass
    return X[rows, feature]


def on_demand(name: str = "covertype", n_rows: int = 300, trees: int = 50) -> list[Row]:
    """Predict one by one rows whose features take time: all features first, or those asked for.

    The set's features cost next to nothing to read, so each has an artificial time: 50 µs a row for
    each unit of its cost, which is 1, 5, 20, 1, 5, 20, … GBRT does not know the costs.
    """
    data = load(name, data="real")
    costs = np.resize([1.0, 5.0, 20.0], data.n_features)
    shape = {"n_estimators": trees, "max_leaves": 16, "n_threads": 1, "feature_costs": costs}
    rows, part = [], f"{data.name}, {1e3 * UNIT * costs.sum():.4g} ms for all features"
    for model in (GBRTClassifier(**shape), CEGBClassifier(**shape, tradeoff=1e-3)):
        model.fit(data.X_train[:10_000], data.y_train[:10_000])
        accuracy = model.score(data.X_test, data.y_test)
        what = f"a row, {type(model).__name__}, accuracy {accuracy:.3f}"
        took = milliseconds_on_demand(model, data.X_test[:n_rows], costs)
        ours = took.pop("on demand")
        rows += [Row(part, what, "ms", ours, *theirs) for theirs in took.items()]
    return rows


def milliseconds_on_demand(model, X: np.ndarray, costs: np.ndarray) -> dict[str, float]:
    """Mean milliseconds a row of both ways to predict, and what the meter counts.

    Raises
    ------
    AssertionError
        If a way gives other classes than the model.
    """
    read = {m: partial(slow_column, X, m, UNIT * cost) for m, cost in enumerate(costs)}
    predictor = OnDemandPredictor(model, read, batch_size=1)

    def from_all(row: np.ndarray) -> np.ndarray:
        return model.predict(np.column_stack([column(row) for column in read.values()]))

    ways = {
        "all features first": from_all,
        "on demand": lambda row: predictor.predict(row).predictions,
    }
    rows = [*np.arange(len(X))[:, None]]
    for way in ways.values():
        np.testing.assert_array_equal(np.concatenate(one_by_one(way, rows)), model.predict(X))
    programs = {name: partial(one_by_one, way, rows) for name, way in ways.items()}
    seconds = alternate(programs, 1)
    bills = model.prediction_cost(X, split_cost=0.0)
    took = {name: 1e3 * spent / len(X) for name, spent in seconds.items()}
    return took | {"counted cost": 1e3 * UNIT * float(bills.mean())}
