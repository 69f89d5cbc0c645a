"""BudgetPrune at the paper's size, timed: ``python -m benchmarks.budget_prune``.

It prunes 40 trees on MiniBooNE's 44,016 training and 18,821
validation rows. The goals: two minutes and 4 GB on two threads.
"""

from __future__ import annotations

import resource
import time

import click
import numpy as np

from .followed.suite import THREADS

MINUTES, GIGABYTES = 2, 4


def forest_of(costs, n_estimators: int):
    """Give an unfitted forest."""
    from algorithms.budget_forest import BudgetForestClassifier

    return BudgetForestClassifier(
        n_estimators=n_estimators,
        impurity="entropy",
        feature_costs=costs,
        n_threads=THREADS,
        random_state=0,
    )


@click.command()
@click.option("--trees", default=40, show_default=True, help="Trees of the forest.")
def main(trees: int) -> None:
    """Print seconds to grow and to prune, prunings, and the peak of memory."""
    from sklearn.frozen import FrozenEstimator

    import datasets
    from algorithms.budget_prune import BudgetPruneClassifier

    data = datasets.load("miniboone", scale="paper", data="real")
    forest = forest_of(np.ones(data.X_train.shape[1]), trees)
    forest.fit(data.X_train[:500], data.y_train[:500])  # compiles
    small = BudgetPruneClassifier(FrozenEstimator(forest))
    small.fit(data.X_train[:500], data.y_train[:500])
    begin = time.perf_counter()
    forest.fit(data.X_train, data.y_train)
    grown = time.perf_counter()
    model = BudgetPruneClassifier(FrozenEstimator(forest))
    model.fit(data.X_train, data.y_train, eval_set=(data.X_valid, data.y_valid))
    pruned = time.perf_counter()
    n_splits = int(np.count_nonzero(forest.trees_.left >= 0))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{trees} trees, {n_splits:,} splits: grown in {grown - begin:.0f} s, {THREADS} threads")
    print(f"{len(model.curve_.cost)} prunings in {pruned - grown:.0f} s (goal {60 * MINUTES})")
    print(f"the process took {peak:.2f} GB at its peak (goal {GIGABYTES})")


if __name__ == "__main__":
    main()
