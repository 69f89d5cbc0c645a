"""From which size several machines pay: ``python -m benchmarks.distributed``.

Two times are measured here, on local processes. *Exchange*: asking two workers and adding up what
they answer, with so few rows that computing is next to nothing, from fits of few and of many trees.
*Row*: processor time for a row and a tree on one thread, from fits here.

The rest is **an estimate on paper**: no network was measured. On M machines of one thread each, a
tree of L leaves on n rows takes

    n * row / M  +  (L + 1) * (exchange + M * bytes / bandwidth)

with `bytes` of one histogram, 16 for each bin of each feature (equal hessians), which all M
machines send to one process; on one machine it takes ``n * row``. Several machines pay from

    n = (L + 1) * (exchange + M * bytes / bandwidth) / (row * (1 - 1 / M))

rows on. An exchange with more than two workers takes longer than one with two, and one over a
network than one over the loopback; machines with more threads divide `row`, and pay later.
"""

from __future__ import annotations

import time

import click
import numpy as np

from algorithms.gbrt import GBRTRegressor

N_FEATURES, LEAVES, BINS = 28, 31, 255
FEW_ROWS, MANY_ROWS = 1_000, 200_000
FEW_TREES, MANY_TREES = 5, 25
BANDWIDTH = 10e9 / 8  # bytes a second: 10 Gb/s
MACHINES = (2, 4, 8, 16)
BYTES = 16 * BINS * N_FEATURES


def make_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features and a target with interactions."""
    X = np.random.default_rng(0).normal(size=(n_rows, N_FEATURES))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3])


def per_tree(X, y, clock) -> tuple[float, float]:
    """Seconds a tree without what comes before the first, and leaves a tree."""
    seconds, forests = [], []
    for n_trees in (1, FEW_TREES, MANY_TREES):  # the first compiles and warms up
        model = GBRTRegressor(
            n_estimators=n_trees, max_leaves=LEAVES, min_samples_leaf=2, n_threads=1
        )
        start = clock()
        forests.append(model.fit(X, y).trees_)
        seconds.append(clock() - start)
    leaves = np.count_nonzero(forests[-1].feature < 0) / MANY_TREES
    return (seconds[2] - seconds[1]) / (MANY_TREES - FEW_TREES), leaves


def seconds_of_an_exchange() -> float:
    """Ask two local processes, whose rows take no time."""
    import dask.array as da
    from distributed import Client, LocalCluster

    X, y = make_rows(FEW_ROWS)
    here, _ = per_tree(X, y, time.perf_counter)
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster, direct_to_workers=True),
    ):
        X = da.from_array(X, chunks=(FEW_ROWS // 2, N_FEATURES))
        there, leaves = per_tree(X, y, time.perf_counter)
    return (there - here) / (leaves + 1)


def pays_from(machines: int, exchange: float, row: float) -> float:
    """Rows from which so many machines are faster than one, by the formula above."""
    overhead = (LEAVES + 1) * (exchange + machines * BYTES / BANDWIDTH)
    return overhead / (row * (1.0 - 1.0 / machines))


@click.command()
def main() -> None:
    """Measure, and print the estimate."""
    exchange = seconds_of_an_exchange()
    row = per_tree(*make_rows(MANY_ROWS), time.process_time)[0] / MANY_ROWS
    print(f"measured: an exchange with 2 local processes, {1e3 * exchange:.1f} ms")
    print(f"measured: a row and tree, {LEAVES} leaves, {N_FEATURES} features, {1e9 * row:.0f} ns")
    sending = 1e3 * BYTES / BANDWIDTH
    print(f"on paper: a histogram of {BYTES:,} bytes, {sending:.2f} ms at 10 Gb/s")
    print("machines  overhead a tree, s  pays from (rows; an estimate)")
    for machines in MACHINES:
        overhead = (LEAVES + 1) * (exchange + machines * BYTES / BANDWIDTH)
        print(f"{machines:8d}  {overhead:18.3f}  {pays_from(machines, exchange, row):,.0f}")


if __name__ == "__main__":
    main()
