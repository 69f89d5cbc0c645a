"""Boosted stumps on many Haar-like columns, timed: ``python -m benchmarks.haar_boosting``.

1,000 rounds of AdaBoost.MH that search all 20,000 Haar-like columns of `vj_faces` (where the faces
cannot be had, of their synthetic, and it says so) in each round. The goals on one thread: three
minutes and 1 GB resident. The columns are a file in the cache, computed once and before, and read
as they lie there; resident memory holds what is read of it, which the system may drop at any time,
and what the process itself has allocated: both are printed. Needs Linux (``/proc/self``).
"""

from __future__ import annotations

import time
from pathlib import Path

import click
import numpy as np

from .memory import status

ROUNDS, PER_KIND = 1_000, 4_000
GOAL_MINUTES, GOAL_GB = 3, 1
WARM_UP = 2  # rounds that compile or load the kernels, not counted


@click.command()
@click.option("--rounds", default=ROUNDS, show_default=True)
@click.option("--per-kind", default=PER_KIND, show_default=True, help="Columns of each of 5 kinds.")
@click.option("--threads", "n_threads", default=1, show_default=True)
def main(rounds: int, per_kind: int, n_threads: int) -> None:
    """Print elapsed and processor time, and the peak of the memory."""
    from algorithms.adaboost_mh import AdaBoostMH
    from datasets import vj_faces

    data = vj_faces.columns(per_kind=per_kind)
    X, y = data.columns.T, data.y  # Fortran order: the file itself is used
    print(
        f"{X.shape[1]:,} columns, {X.shape[0]:,} windows ({data.provenance['kind']}), "
        f"{rounds:,} rounds, {n_threads} thread(s)",
        flush=True,
    )
    AdaBoostMH(n_estimators=WARM_UP, n_threads=n_threads).fit(X, y)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    elapsed, spent = time.perf_counter(), time.process_time()
    model = AdaBoostMH(n_estimators=rounds, n_threads=n_threads).fit(X, y)
    elapsed, spent = time.perf_counter() - elapsed, time.process_time() - spent
    print(
        f"{elapsed / 60:.2f} minutes (goal {GOAL_MINUTES}), {spent / 60:.2f} of the processor: "
        f"{1e9 * spent / rounds / X.size:.2f} ns an example and column; at most "
        f"{status('VmHWM') / 1e9:.2f} GB resident (goal {GOAL_GB}), of it "
        f"{status('RssAnon') / 1e9:.2f} not of the file; training error "
        f"{np.mean(model.predict(X) != y):.4f}"
    )


if __name__ == "__main__":
    main()
