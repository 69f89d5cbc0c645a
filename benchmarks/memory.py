"""Peak memory of a fit, beside what the suite allows itself: ``python -m benchmarks.memory``.

What rises above the loaded data during ``fit`` should be at most the binned matrix (a byte a row
and column, two of up to 32 columns), one bit a row for each feature with a price per row, the
histograms, and 40 bytes a row. Each fit runs in a process of its own, on two numbers of rows; the
difference quotient leaves out what does not depend on the rows: the histograms, the interpreter,
compiled code.

Two numbers are printed. *Arrays*: what the fit asks for, measured with glibc told to give freed
arrays back at once (MALLOC_MMAP_THRESHOLD_). *As it comes*: with glibc as it is, which keeps freed
arrays of less than 32 MB in the thread that used them, and so varies from run to run.

Needs Linux, whose kernel tells a process its peak and lets it start anew (``/proc/self``).
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from algorithms.trees.binning import _FEW_COLUMNS

N_FEATURES = 50
ROWS = (200_000, 400_000)
THREADS = 2
ALLOWED = 40.0  # bytes a row, beside the binned matrix and the marks


class Case(NamedTuple):
    """One kind of fit."""

    name: str
    estimator: str
    n_classes: int
    lazy: bool
    weighted: bool
    n_features: int = N_FEATURES
    dtype: str = "float64"


CASES = [
    Case("GBRT, squared", "GBRTRegressor", 0, False, False),
    Case("GBRT, two classes", "GBRTClassifier", 2, False, False),
    Case("CEGB, squared", "CEGBRegressor", 0, False, False),
    Case("CEGB, squared, lazy costs", "CEGBRegressor", 0, True, False),
    Case("CEGB, two classes", "CEGBClassifier", 2, False, False),
    Case("CEGB, two classes, lazy costs", "CEGBClassifier", 2, True, False),
    Case("CEGB, two classes, lazy costs, row weights", "CEGBClassifier", 2, True, True),
    Case("CEGB, three classes, lazy costs", "CEGBClassifier", 3, True, False),
    Case("28 float32: GBRT, two classes", "GBRTClassifier", 2, False, False, 28, "float32"),
    Case("28 float32: GBRT, squared", "GBRTRegressor", 0, False, False, 28, "float32"),
    Case("28 float32: CEGB, two classes", "CEGBClassifier", 2, False, False, 28, "float32"),
    Case("28 float32: the same, lazy costs", "CEGBClassifier", 2, True, False, 28, "float32"),
]


def allowed_bytes_per_row(case: Case) -> float:
    """Bytes a row that a fit may take: bins, which few columns have twice, marks, and 40."""
    copies = 2 if case.n_features <= _FEW_COLUMNS else 1
    return copies * case.n_features + (case.n_features / 8 if case.lazy else 0.0) + ALLOWED


def status(name: str) -> int:
    """A line of /proc/self/status in bytes: VmRSS, the memory now, or VmHWM, its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    raise OSError(f"/proc/self/status has no {name}")


def measure_fit(case: Case, n_samples: int) -> int:
    """Bytes by which the peak during a fit rises above the loaded data. Runs in a fresh process."""
    import numpy as np

    from algorithms import cegb, gbrt

    rng = np.random.default_rng(0)
    cls = getattr(cegb, case.estimator, None) or getattr(gbrt, case.estimator)
    options = {"n_estimators": 3, "n_threads": THREADS}
    if case.lazy:
        options |= {"feature_costs": np.ones(case.n_features), "tradeoff": 1e-6}

    def draw(n: int):
        X = np.empty((n, case.n_features), dtype=case.dtype)
        for begin in range(0, n, 10_000):
            X[begin : begin + 10_000] = rng.normal(
                size=(len(X[begin : begin + 10_000]), case.n_features)
            )
        score = X[:, 0] + X[:, 1] * X[:, 2]
        y = score if case.n_classes == 0 else np.digitize(score, np.arange(case.n_classes - 1.0))
        return X, y, (1.0 + rng.random(n) if case.weighted else None)

    X, y, weights = draw(20_000)  # compiles or loads the kernels, starts the threads
    cls(**options).fit(X, y, sample_weight=weights)
    X, y, weights = draw(n_samples)
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = status("VmRSS")
    cls(**options).fit(X, y, sample_weight=weights)
    return status("VmHWM") - before


def in_a_process(case: Case, n_samples: int, arrays_only: bool) -> int:
    """Run :func:`measure_fit` in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.memory",
        "--measure",
        json.dumps([case, n_samples]),
    ]
    environment = {k: v for k, v in os.environ.items() if k != "MALLOC_MMAP_THRESHOLD_"}
    if arrays_only:
        environment["MALLOC_MMAP_THRESHOLD_"] = "65536"
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        sys.exit(f"{case.name}: {done.stderr}")
    return int(done.stdout)


def bytes_per_row(case: Case, arrays_only: bool) -> float:
    """Difference quotient of the peaks at the two numbers of rows."""
    small, large = (in_a_process(case, n, arrays_only) for n in ROWS)
    return (large - small) / (ROWS[1] - ROWS[0])


def main() -> None:
    """Print measured and allowed bytes a row."""
    if not Path("/proc/self/clear_refs").exists():
        sys.exit("Peak memory is measured by way of /proc/self, which only Linux has.")
    if sys.argv[1:2] == ["--measure"]:
        case, n_samples = json.loads(sys.argv[2])
        print(measure_fit(Case(*case), n_samples))
        return
    print(f"Bytes a row that rise above the loaded data: {N_FEATURES} features in float64 unless")
    print(f"said, {THREADS} threads")
    print(f"{'fit':<44}{'arrays':>8}{'as it comes':>13}{'allowed':>9}")
    for case in CASES:
        arrays, as_it_comes = bytes_per_row(case, True), bytes_per_row(case, False)
        limit = allowed_bytes_per_row(case)
        verdict = "" if arrays <= limit else f"  {arrays - limit:.0f} too many"
        print(
            f"{case.name:<44}{arrays:>8.1f}{as_it_comes:>13.1f}{limit:>9.1f}{verdict}", flush=True
        )


if __name__ == "__main__":
    main()
