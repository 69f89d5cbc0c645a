"""From which size several machines pay: ``python -m benchmarks.distributed``.

Of boosted trees, and of AdaBoost.MH's stumps. Two times are measured here, on local processes.
*Exchange*: asking two workers and adding up what they answer, with so few rows that computing is
next to nothing, from fits of few and of many rounds. *Row*: processor time for a row and a round on
one thread, from fits here.

The rest is **an estimate on paper**: no network was measured. On M machines of one thread each, a
round on n rows takes

    n * row / M  +  exchanges * exchange  +  histograms * M * bytes / bandwidth

with `bytes` of one exchange's histograms, which all M machines send to one process; on one machine
it takes ``n * row``. A tree of L leaves takes L + 1 exchanges, each with a histogram of 16 bytes
for each bin of each feature (equal hessians); a stump takes two, one of them with 8 bytes for each
bin of each feature and label. Several machines pay from

    n = (exchanges * exchange + histograms * M * bytes / bandwidth) / (row * (1 - 1 / M))

rows on. An exchange with more than two workers takes longer than one with two, and one over a
network than one over the loopback; machines with more threads divide `row`, and pay later.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import click
import numpy as np

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.gbrt import GBRTRegressor

N_FEATURES, LEAVES, BINS, CLASSES = 28, 31, 255, 10
FEW_ROWS, MANY_ROWS = 1_000, 200_000
FEW_ROUNDS, MANY_ROUNDS = 5, 25
BANDWIDTH = 10e9 / 8  # bytes a second: 10 Gb/s
MACHINES = (2, 4, 8, 16)


class Boosting(NamedTuple):
    """What is boosted in a round, and what workers tell for it."""

    name: str
    bytes: int  # of one exchange's histograms
    histograms: int  # exchanges that have some
    exchanges: int

    def model(self, n_rounds: int):
        """Give a model of so many rounds, on one thread."""
        if self.name == "stump":
            return AdaBoostMH(n_estimators=n_rounds, n_threads=1)
        options = {"max_leaves": LEAVES, "min_samples_leaf": 2}
        return GBRTRegressor(n_estimators=n_rounds, n_threads=1, **options)

    def target(self, X: np.ndarray) -> np.ndarray:
        """Give numbers with interactions, or as many classes of them."""
        y = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3])
        if self.name == "stump":
            return np.digitize(y, np.quantile(y, np.arange(1, CLASSES) / CLASSES))
        return y

    def seconds(self, X, y, clock) -> float:
        """Seconds a round without what comes before the first."""
        seconds = []
        for n_rounds in (1, FEW_ROUNDS, MANY_ROUNDS):  # the first compiles and warms up
            start = clock()
            self.model(n_rounds).fit(X, y)
            seconds.append(clock() - start)
        return (seconds[2] - seconds[1]) / (MANY_ROUNDS - FEW_ROUNDS)

    def overhead(self, machines: int, exchange: float) -> float:
        """Seconds a round that one machine does not take, by the formula above."""
        sending = self.histograms * machines * self.bytes / BANDWIDTH
        return self.exchanges * exchange + sending


KINDS = (
    Boosting("tree", 16 * BINS * N_FEATURES, LEAVES + 1, LEAVES + 1),
    Boosting("stump", 8 * BINS * N_FEATURES * CLASSES, 1, 2),
)


def make_rows(n_rows: int) -> np.ndarray:
    """Draw normal features."""
    return np.random.default_rng(0).normal(size=(n_rows, N_FEATURES))


def seconds_of_an_exchange(kind: Boosting) -> float:
    """Ask two local processes, whose rows take no time."""
    import dask.array as da
    from distributed import Client, LocalCluster

    X = make_rows(FEW_ROWS)
    y = kind.target(X)
    here = kind.seconds(X, y, time.perf_counter)
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster, direct_to_workers=True),
    ):
        X = da.from_array(X, chunks=(FEW_ROWS // 2, N_FEATURES))
        there = kind.seconds(X, y, time.perf_counter)
    return (there - here) / kind.exchanges


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([kind.name for kind in KINDS]))
def main(names: tuple[str, ...]) -> None:
    """Measure, and print the estimate: of trees, of stumps, or of both."""
    for kind in KINDS:
        if names and kind.name not in names:
            continue
        exchange = seconds_of_an_exchange(kind)
        X = make_rows(MANY_ROWS)
        row = kind.seconds(X, kind.target(X), time.process_time) / MANY_ROWS
        of = f"{LEAVES} leaves" if kind.name == "tree" else f"{CLASSES} classes"
        print(f"measured: an exchange with 2 local processes, {1e3 * exchange:.1f} ms")
        print(f"measured: a row and {kind.name}, {of}, {N_FEATURES} features, {1e9 * row:.0f} ns")
        sending = 1e3 * kind.bytes / BANDWIDTH
        print(f"on paper: histograms of {kind.bytes:,} bytes, {sending:.2f} ms at 10 Gb/s")
        print(f"machines  overhead a {kind.name}, s  pays from (rows; an estimate)")
        for machines in MACHINES:
            overhead = kind.overhead(machines, exchange)
            rows = overhead / (row * (1.0 - 1.0 / machines))
            print(f"{machines:8d}  {overhead:18.3f}  {rows:,.0f}")


if __name__ == "__main__":
    main()
