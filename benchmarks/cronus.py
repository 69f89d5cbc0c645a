"""Cronus at the paper's size, timed: ``python -m benchmarks.cronus``.

Learning to rank as in the paper, on the synthetic set: 141,397 documents, 519 features with prices,
5,000 trees of depth 4, negatives counted ten times. The goals on two threads: an initialisation in
5 minutes, one whole setting (initialisation and optimisation) in 20, 3 GB beside the rows, and on
one thread a prediction whose speed-up over all trees is at least half the counted one. The trees
are fitted to a part of the rows, for their time is not what is measured here.
"""

from __future__ import annotations

import copy
import statistics
import time
from pathlib import Path
from typing import NamedTuple

import click

from .followed.suite import THREADS

ROWS, TREES, TREE_ROWS = 141_397, 5_000, 10_000
INITIALISATION, SETTING, GIGABYTES, OF_COUNTED = 5, 20, 3, 0.5


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


def status(name: str) -> int:
    """A line of /proc/self/status in bytes: VmRSS, the memory now, or VmHWM, its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    raise OSError(f"/proc/self/status has no {name}")


def yahoo_sized(rows: int, tree_rows: int, trees: int):
    """Training rows of the synthetic set, their classes and weights, prices, and fitted trees."""
    import numpy as np

    import datasets
    from algorithms.gbrt import GBRTRegressor

    data = datasets.load("yahoo_ltr", scale="paper", data="synthetic")
    X, y = data.X_train[:rows].copy(), data.y_train[:rows] >= 3
    weights = np.where(y, 1.0, 10.0)
    model = GBRTRegressor(
        n_estimators=trees,
        max_leaves=None,
        max_depth=4,
        growth="breadth_first",
        n_threads=THREADS,
    )
    part = slice(0, tree_rows)
    model.fit(X[part], np.where(y[part], 1.0, -1.0), sample_weight=weights[part])
    return X, y, weights, data.feature_costs, model


def timed_fit(trees, task, costs, **options):
    """A fitted cascade, seconds, and gigabytes that the peak rises by."""
    from sklearn.frozen import FrozenEstimator

    from algorithms.cronus import CronusClassifier

    X, y, weights = task
    model = CronusClassifier(
        FrozenEstimator(trees), feature_costs=costs, n_threads=THREADS, **options
    )
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    resident, begin = status("VmRSS"), time.perf_counter()
    model.fit(X, y, sample_weight=weights)
    return model, time.perf_counter() - begin, (status("VmHWM") - resident) / 1e9


class SpeedUp(NamedTuple):
    """A cascade's prediction beside that of all trees, on one thread."""

    counted: float  # How many times fewer trees a row passes
    all_trees: float  # all_trees, cascade: Microseconds a row
    cascade: float

    @property
    def measured(self) -> float:
        """How many times faster the cascade is."""
        return self.all_trees / self.cascade


def speed_up(model, trees, X) -> SpeedUp:
    """Compare predictions of these rows, which take turns."""
    model.set_params(n_threads=1)
    trees = copy.copy(trees).set_params(n_threads=1)
    evaluated = model.prediction_cost(X, feature_costs=[0.0] * X.shape[1], split_cost=0.0)
    spent = seconds({"all": lambda: trees.predict(X), "cascade": lambda: model.predict(X)}, 5)
    micros = {name: 1e6 * took / len(X) for name, took in spent.items()}
    return SpeedUp(trees.n_estimators_ / evaluated.mean(), micros["all"], micros["cascade"])


@click.command()
@click.option("--rows", default=ROWS, show_default=True)
@click.option("--trees", default=TREES, show_default=True)
@click.option("--tree-rows", default=TREE_ROWS, show_default=True, help="Rows that trees see.")
@click.option("--tradeoff", default=1e-5, show_default=True, help="lambda.")
def main(rows: int, trees: int, tree_rows: int, tradeoff: float) -> None:
    """Print minutes and peak of the initialisation and of one setting, and speed-ups."""
    X, y, weights, costs, forest = yahoo_sized(rows, tree_rows, trees)
    task = (X, y, weights)
    timed_fit(forest, (X[:1000], y[:1000], weights[:1000]), costs, max_cycles=1)  # compiles
    print(f"{len(X):,} x {X.shape[1]}, {forest.n_estimators_:,} trees, lambda {tradeoff:g}")
    for name, options, goal in (
        ("initialisation", {"max_cycles": 0}, INITIALISATION),
        ("one setting", {}, SETTING),
    ):
        model, spent, peak = timed_fit(forest, task, costs, tradeoff=tradeoff, **options)
        used = [int((weights != 0).sum()) for weights in model.coef_]
        print(f"{name}: {spent / 60:.1f} minutes (goal {goal}), peak {peak:.2f} GB (goal "
              f"{GIGABYTES}), {model.n_evaluations_} evaluations, "
              f"{'stopped by a limit' if model.capped_ else 'at its end'}, objective "
              f"{model.objective_:.6g}, largest gap {model.gaps_.max():.1e}, trees by stage {used}",
              flush=True)  # fmt: skip
        fast = speed_up(model, forest, X[:10_000])
        print(f"  prediction, one thread: {fast.measured:.1f} times faster than all trees, counted "
              f"{fast.counted:.1f} (goal {OF_COUNTED * fast.counted:.1f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
