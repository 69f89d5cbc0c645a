"""Early exits beside the full model, timed: ``python -m benchmarks.early_exit``."""

from __future__ import annotations

import statistics
import time

from .followed.suite import THREADS, task

ROWS, DOCUMENTS, N_ESTIMATORS = 10_000, 100, 600


def seconds(programs: dict, n_runs: int = 7) -> dict:
    """Median wall-clock seconds of programs that run in turn."""
    spent = {name: [] for name in programs}
    for program in programs.values():
        program()  # compiles
    for _ in range(n_runs):
        for name, program in programs.items():
            begin = time.perf_counter()
            program()
            spent[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in spent.items()}


def main() -> None:
    """Print, for each rule, the share of trees evaluated and the share of the time it takes."""
    import numpy as np

    from algorithms.early_exit import EarlyExit
    from algorithms.gbrt import GBRTRegressor

    X, y, Z, _, costs = task("dense")
    model = GBRTRegressor(
        n_estimators=N_ESTIMATORS, max_leaves=16, n_threads=THREADS, feature_costs=costs
    )
    model.fit(X, y)
    Z = Z[:ROWS]
    query = np.arange(len(Z)) // DOCUMENTS
    print(
        f"{len(Z)} documents, {DOCUMENTS} a query, {model.n_estimators_} trees, {THREADS} threads"
    )
    print(f"{'rule':12} {'s':>6} {'trees':>7} {'time':>7}   (shares of the full prediction's)")
    for rule, s in [("capacity", 1.0), ("capacity", 0.98), ("proximity", 0.8), ("rank", 50)]:
        early = EarlyExit(model, rule=rule, threshold=s)
        trees = early.exits(Z, query).rounds.mean() / model.n_estimators_
        programs = {
            "full": lambda: model.predict(Z),
            "early": lambda early=early: early.predict(Z, query),
        }
        spent = seconds(programs)
        print(f"{rule:12} {s:6g} {trees:7.3f} {spent['early'] / spent['full']:7.3f}")


if __name__ == "__main__":
    main()
