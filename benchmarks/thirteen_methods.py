"""All thirteen methods on the complete MNIST, timed: ``python -m benchmarks.thirteen_methods``.

1,000 rounds, three repetitions each, every method at the same cost as the paper counts (ten passes
of one feature over all examples a round). The goal is half an hour on two cores with at most 4 GB
resident. The bandits have their parameter given: tuning it is counted apart, as in the paper.

Resident memory holds what is read of the feature file, which the system may drop at any time, and
what the process itself has allocated; both are printed. Needs Linux (``/proc/self``).
"""

from __future__ import annotations

import time
from pathlib import Path

import click
import numpy as np

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.feature_sampling import BEST_FAMILY, SAMPLERS
from algorithms.kernels.decorators import available_threads
from datasets import features

from .memory import status

METHODS = [BEST_FAMILY, *(name for name in SAMPLERS if name != "all_features")]
GOAL_MINUTES, GOAL_GB = 30, 4
WARM_UP = 2  # rounds that compile or load the kernels, not counted


def train(name: str, data, rounds: int, seed: int, n_threads: int) -> AdaBoostMH:
    """Train with one method on all features."""
    model = AdaBoostMH(
        n_estimators=rounds,
        sampler=name,
        families=data.families,
        random_state=seed,
        n_threads=n_threads,
    )
    return model.fit(data.train.T, data.y_train)  # Fortran order: the file itself is used


def measure(name: str, data, rounds: int, repetitions: int, n_threads: int) -> dict[str, float]:
    """Seconds of all repetitions, their loss and test error, and the peak of the memory."""
    train(name, data, WARM_UP, 0, n_threads)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    seconds, losses, errors = 0.0, [], []
    for seed in range(repetitions):
        begin = time.perf_counter()
        model = train(name, data, rounds, seed, n_threads)
        seconds += time.perf_counter() - begin
        losses.append(model.log_train_loss_[-1] / np.log(10))
        errors.append(np.mean(model.predict(data.test.T) != data.y_test))
    return {
        "seconds": seconds,
        "loss": float(np.mean(losses)),
        "error": float(np.mean(errors)),
        "peak": status("VmHWM") / 1e9,
        "own": status("RssAnon") / 1e9,
    }


@click.command()
@click.option("--rounds", default=1_000, show_default=True)
@click.option("--repetitions", default=3, show_default=True)
@click.option("--scale", default="paper", show_default=True, help="paper is the complete MNIST.")
@click.option("--threads", "n_threads", default=min(2, available_threads()), show_default=True)
@click.option("--only", default="", help="Only the methods whose name contains this.")
def main(rounds: int, repetitions: int, scale: str, n_threads: int, only: str) -> None:
    """Print the time that each method takes."""
    data = features.load("mnist", scale=scale)
    methods = [name for name in METHODS if only in name]
    print(
        f"{data.train.shape[0]:,} features, {data.train.shape[1]:,} examples "
        f"({data.provenance['kind']}), {rounds:,} rounds, {repetitions} repetitions, "
        f"{n_threads} thread(s)"
    )
    print(f"{'':16s} seconds  ms/round  log10 loss  test error  peak GB  of it own")
    total, peak = 0.0, 0.0
    for name in methods:
        m = measure(name, data, rounds, repetitions, n_threads)
        total, peak = total + m["seconds"], max(peak, m["peak"])
        print(
            f"{name:16s} {m['seconds']:7.1f} {1e3 * m['seconds'] / rounds / repetitions:9.2f} "
            f"{m['loss']:11.3f} {m['error']:11.2%} {m['peak']:8.2f} {m['own']:9.2f}",
            flush=True,
        )
    print(
        f"{len(methods)} methods: {total / 60:.1f} minutes of training (goal {GOAL_MINUTES}), "
        f"at most {peak:.2f} GB resident (goal {GOAL_GB})"
    )


if __name__ == "__main__":
    main()
