"""One row at a time: the table of ``python -m benchmarks.latency --only rows``.

500 trees of 31 leaves, grown by this package and by LightGBM on the same seeded data; rows of the
test set one after the other, so that no row's path is in the caches by itself. Beside ours:
LightGBM's ``Booster.predict``, its C function for single rows, and LightGBM's trees as C code that
tl2cgen wrote and gcc compiled, the last two called through ctypes with addresses made beforehand.
All on one thread. The programs take turns, each with all rows; medians of processor time over the
turns, which other work on the machine disturbs less than elapsed time, but does.
"""

from __future__ import annotations

import contextlib
import ctypes
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from .followed.suite import THREADS, task

ROWS, TREES, LEAVES = 1000, 500, 31


def rows_in_turn(programs: dict[str, tuple[Callable, list]], runs: int) -> dict[str, float]:
    """Median microseconds of processor time a row, of programs that take turns."""
    micros: dict[str, list[float]] = {name: [] for name in programs}
    for run in range(runs + 1):
        for name, (program, rows) in programs.items():
            begin = time.process_time()
            for row in rows:
                program(row)
            if run:
                micros[name].append(1e6 * (time.process_time() - begin) / len(rows))
    return {name: statistics.median(values) for name, values in micros.items()}


def _addresses(rows: list[np.ndarray]) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(row.ctypes.data) for row in rows]


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


def peers(X, y, rows, trees: int, folder: Path) -> Iterator[tuple[str, Callable, list]]:
    """Names, functions and arguments of what runs beside ours; what is not installed is left out.

    Raises
    ------
    AssertionError
        If two ways to ask the same trees give other scores.
    """
    try:
        import lightgbm
    except ImportError:
        return
    from .peers import settings

    parameters = settings(X.shape[1], lazy=False) | {"num_threads": 1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y, params=parameters), trees)
    expected = booster.predict(np.array(rows), raw_score=True)
    as_tables = [row[None] for row in rows]
    yield "LightGBM, Booster.predict", partial(booster.predict, num_threads=1), as_tables
    ways = {"LightGBM, C function for single rows": lightgbm_fast(booster, rows)}
    with contextlib.suppress(ImportError):
        ways["LightGBM's trees in C (tl2cgen)"] = compiled_c(booster, folder)
    addresses = _addresses(rows)
    for name, way in ways.items():
        np.testing.assert_allclose([way(at) for at in addresses], expected, rtol=0, atol=1e-9)
        yield name, way, addresses


def one_row(runs: int, trees: int) -> dict[str, float]:
    """Microseconds of processor time a row of each way to predict single rows."""
    from algorithms.gbrt import GBRTClassifier

    X, y, Z, _, _ = task("dense")
    model = GBRTClassifier(n_estimators=trees, max_leaves=LEAVES, n_threads=1).fit(X, y)
    fast, rows = model.fast_predictor(), [row.copy() for row in Z[:ROWS]]
    np.testing.assert_array_equal([fast.scores(row)[0] for row in rows],
                                  model.decision_function(Z[:ROWS]))  # fmt: skip
    out = np.empty(1)
    programs = {
        "ours, predict": (model.predict, [row[None] for row in rows]),
        "ours, fast_predictor()": (fast, rows),
        "the same, scores into a given array": (lambda row: fast.scores(row, out), rows),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, program, given in peers(X, y, rows, trees, Path(folder)):
            programs[name] = program, given
        return rows_in_turn(programs, runs)


def table(runs: int, trees: int) -> str:
    """Microseconds a row of each way to predict single rows, as Markdown."""
    micros = one_row(runs, trees)
    lines = [f"| {trees} trees of {LEAVES} leaves, one row | µs of processor time |", "|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {value:.1f} |" for name, value in micros.items())])
