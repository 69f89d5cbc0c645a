"""Nanoseconds to search one feature on one example, beside the memory's speed.

``python -m benchmarks.stump_search``, with ``--families laptop`` also on the features of images.

A search reads each code (a byte) once, and beside it the weights of the example, 40 bytes for ten
labels, which are shared by four columns or stay in the cache; so no search is faster than the
memory gives bytes. Both are measured here, with the same number of threads at once.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import click
import numpy as np

from algorithms.kernels.decorators import available_threads, threads
from algorithms.stumps.pair_weights import PairWeights
from algorithms.stumps.search import DefaultCodes, search
from datasets import features, mnist

N_LABELS, N_COLUMNS = 10, 256
GOAL = 1.5  # nanoseconds per evaluation and thread
BANDWIDTH_BYTES = 1 << 28


def timed(program: Callable[[], object], runs: int) -> float:
    """Median seconds, after one run that is not counted."""
    seconds = []
    for _ in range(runs + 1):
        begin = time.perf_counter()
        program()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:])


def bandwidth(n_threads: int, runs: int) -> dict[str, float]:
    """Bytes per nanosecond that all threads together read, and copy (a byte copied counts once)."""
    source = np.ones(BANDWIDTH_BYTES, dtype=np.uint8)
    target = np.empty_like(source)
    parts = list(
        zip(np.array_split(source, n_threads), np.array_split(target, n_threads), strict=True)
    )

    def read(pair):
        return int(np.bitwise_or.reduce(pair[0][: len(pair[0]) // 8 * 8].view(np.uint64)))

    def copy(pair):
        np.copyto(pair[1], pair[0])

    with ThreadPoolExecutor(n_threads) as pool:
        return {
            name: BANDWIDTH_BYTES / 1e9 / timed(lambda act=act: list(pool.map(act, parts)), runs)
            for name, act in (("read", read), ("copied", copy))
        }


def seeded_columns(n_rows: int) -> dict[str, np.ndarray]:
    """Columns of three kinds, (N_COLUMNS, n_rows) uint8."""
    rng, shape = np.random.default_rng(2014), (N_COLUMNS, n_rows)
    uniform = rng.integers(0, 256, shape).astype(np.uint8)
    bell = np.clip(rng.normal(100, 20, shape), 0, 255).astype(np.uint8)
    half = np.where(rng.random(shape) < 0.4, np.uint8(0), uniform)
    return {"dense: uniform": uniform, "dense: bell-shaped": bell, "dense: 40 % zeros": half}


def family_columns(scale: str, n_rows: int) -> dict[str, np.ndarray]:
    """Up to N_COLUMNS columns of each feature family of MNIST, evenly spread."""
    loaded = features.load("mnist", scale=scale)
    columns = {}
    for name, family in zip(loaded.names, loaded.families, strict=True):
        sampled = family[np.linspace(0, len(family) - 1, min(N_COLUMNS, len(family))).astype(int)]
        columns[f"family {name}"] = np.ascontiguousarray(loaded.train[sampled, :n_rows])
    return columns


def weights_of(n_rows: int) -> PairWeights:
    """Weights as they are after a few rounds on ten classes."""
    rng = np.random.default_rng(1)
    targets = np.where(rng.integers(0, N_LABELS, n_rows)[:, None] == np.arange(N_LABELS), 1, -1)
    weights = PairWeights(targets.astype(np.int8))
    for _ in range(5):
        codes = rng.integers(0, 256, n_rows).astype(np.uint8)
        codes.flags.writeable = False
        weights.add(codes, 100, 0.2 * rng.normal(size=N_LABELS))
    return weights


def nanoseconds(columns: np.ndarray, weights: PairWeights, n_threads: int, runs: int) -> float:
    """Nanoseconds per evaluation and thread."""
    every = np.arange(len(columns))
    defaults = DefaultCodes(columns).of(every)
    with threads(n_threads, columns.size):
        seconds = timed(
            lambda: search(columns, every, weights.signed, n_threads, None, defaults), runs
        )
    return 1e9 * seconds * n_threads / columns.size


@click.command()
@click.option("--rows", "n_rows", default=60_000, show_default=True, help="Examples.")
@click.option("--runs", default=11, show_default=True, help="Counted runs; the median is shown.")
@click.option("--families", default="", help="Also MNIST's feature families, at this scale.")
def main(n_rows: int, runs: int, families: str) -> None:
    """Print the speed of the search for stumps with ten labels, beside the memory's."""
    pixels = mnist.images().train[:n_rows]
    n_rows = len(pixels)
    sets = {"MNIST's 784 pixels": np.ascontiguousarray(pixels.reshape(n_rows, -1).T)}
    sets |= seeded_columns(n_rows)
    sets |= family_columns(families, n_rows) if families else {}
    counts = [n for n in (1, 2) if n <= available_threads()]
    memory = {n: bandwidth(n, runs) for n in counts}
    for n, speed in memory.items():
        print(
            f"{n} thread(s): {speed['read']:.1f} GB/s read, {speed['copied']:.1f} GB/s copied; "
            f"a byte a search is at least {n / speed['read']:.3f} ns per thread"
        )
    print(
        f"\n{n_rows:,} examples, {N_LABELS} labels, medians of {runs} runs; ns per (example, "
        f"feature) and thread, goal {GOAL}; in brackets the share of the memory's speed"
    )
    for name, columns in sets.items():
        weights = weights_of(columns.shape[1])
        cells = []
        for n in counts:
            value = nanoseconds(columns, weights, n, runs)
            cells.append(f"{value:5.2f} ({n / value / memory[n]['read']:4.0%})")
        sparse = np.mean(DefaultCodes(columns).of(np.arange(len(columns))) >= 0)
        print(f"{name:32s} {'   '.join(cells)}   {sparse:4.0%} mostly one code", flush=True)


if __name__ == "__main__":
    main()
