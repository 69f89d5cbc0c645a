"""One training in a process of its own, so that the peak of its memory is that of nothing else."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import psutil

from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.greedy_miser import GreedyMiserRegressor
from experiments.cells.racing import n_splits

_ROOT = Path(__file__).resolve().parents[3]
_FEW = 200
"""Rows of a first fit, which loads the kernels."""


def in_child(folder: Path, options: dict) -> dict:
    """Fit a :class:`GreedyMiserRegressor` to arrays in files, in a process of its own."""
    path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    child = subprocess.run(
        [sys.executable, "-m", __name__, str(folder), json.dumps(options)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(child.stdout.splitlines()[-1])


def fit_and_tell(folder: Path, options: dict) -> dict:
    """Fit in this process; see :func:`in_child`."""
    X, y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))
    _fit({**options, "n_estimators": 2}, np.array(X[:_FEW]), np.array(y[:_FEW]))
    X, y = (np.load(folder / f"{name}.npy") for name in ("X", "y"))
    before = _reset_peak()
    begun = time.perf_counter()
    model = _fit(options, X, y)
    seconds = time.perf_counter() - begun
    return {
        "fit_seconds": float(f"{seconds:.4g}"),
        "data_bytes": X.nbytes + y.nbytes,
        "beside_bytes": max(_peak() - before, 1),
        "n_splits": n_splits(model),
    }


def _fit(options: dict, X: np.ndarray, y: np.ndarray) -> GreedyMiserRegressor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        return GreedyMiserRegressor(**options).fit(X, y)


def _reset_peak() -> int:
    """Let the peak begin anew where the system can, and return the memory held now, in bytes.

    Where it cannot the peak may be one from before the fit, and what is told is too much.
    """
    refs = Path("/proc/self/clear_refs")
    if refs.exists() and os.access(refs, os.W_OK):
        refs.write_text("5", encoding="ascii")
    return psutil.Process().memory_info().rss


def _peak() -> int:
    """Return the peak of the memory held, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (li for li in status.read_text(encoding="ascii").splitlines() if "VmHWM" in li)
        return 1024 * int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    print(json.dumps(fit_and_tell(Path(sys.argv[1]), json.loads(sys.argv[2]))))
