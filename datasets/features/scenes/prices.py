"""What the features of Scene-15 cost: measured CPU milliseconds per picture.

``milliseconds.csv`` beside this file is the committed table and the default everywhere, so that
results do not depend on who measures; ``python -m datasets.features --remeasure scene15``
replaces it. For each descriptor, in CPU time of one thread (not elapsed time: other programs may
run beside it), the least of several repetitions, on a block of real pictures:

descriptor
    computing it from the pixels, by itself: what two descriptors have in common is computed twice,
    and each detector makes its own pass over the picture's gradients;
kernel
    comparing the picture with the 450 pictures on which the machines are trained;
machine
    one machine's decision value from these 450 numbers.

A picture pays *descriptor + kernel* once, for the group of 15 features, and *machine* for each
feature, as the paper charges them. The committed table was measured while other programs kept both
processors busy: CPU time leaves their turns out, but not what they take from shared caches, so that
an idle machine may be faster by some tenths. Detectors differ in their numbers only, not in what is
computed: a few of them are measured, all get their median.

``detector_pass.csv`` says which part of a detector's time is the pass over the picture's gradients,
which all detectors could share: :func:`shared_part`. Both times of its line were measured in turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datasets.features import measured_times
from datasets.features.measured_times import measured_row, milliseconds, read_times
from datasets.features.scenes.descriptors import DESCRIPTORS, detector_family, families
from datasets.features.scenes.detectors import N_DETECTORS, SIDES, resized, windows
from datasets.features.scenes.kernels import Kernel
from datasets.features.scenes.svm_features import train_machines

TABLE = Path(__file__).with_name("milliseconds.csv")
COLUMNS = (
    *("descriptor", "descriptor_ms", "kernel_ms", "machine_ms"),
    *("reference", "block", "processor", "date"),
)
PASS_TABLE = Path(__file__).with_name("detector_pass.csv")
PASS_COLUMNS = ("detector_ms", "pass_ms", "block", "processor", "date")
UNIT = "ms"
BLOCK = 26
"""Pictures measured at once, as many as the store computes at once."""
REPETITIONS = 7
MEASURED_DETECTORS = (0, 25, 50, 75, 100)


@dataclass(frozen=True)
class Price:
    """CPU milliseconds per picture of one descriptor, its kernel row and one machine."""

    descriptor: float
    kernel: float
    machine: float


def read(path: Path | None = None) -> list[dict[str, str]]:
    """Read the table."""
    return read_times(TABLE if path is None else path, COLUMNS, COLUMNS[1:6])


def of_descriptor(table: list[dict[str, str]], name: str) -> Price:
    """Give the price of a descriptor; all detectors share one line."""
    wanted = "detector" if name.startswith("detector_") else name
    for row in table:
        if row["descriptor"] == wanted:
            return Price(*(float(row[column]) for column in COLUMNS[1:4]))
    raise ValueError(
        f"no measured time for descriptor {name} of scene15. "
        "Next: python -m datasets.features --remeasure scene15"
    )


def shared_part(path: Path | None = None) -> float:
    """Give the part of a detector's time that is the pass over gradients, the same for all."""
    path = PASS_TABLE if path is None else path
    (row,) = read_times(path, PASS_COLUMNS, PASS_COLUMNS[:2])
    part = float(row["pass_ms"]) / float(row["detector_ms"])
    if part >= 1:
        raise ValueError(f"{path}: the pass takes as long as the detector it is a part of")
    return part


def measure_pass(pictures: np.ndarray, learned: str) -> list[dict]:
    """Measure a detector and the pass over gradients in it, in turns."""
    block = np.ascontiguousarray(pictures[:BLOCK])
    family = detector_family(learned, MEASURED_DETECTORS[0])

    def one_pass() -> None:
        for picture in block:
            for side in SIDES:
                windows(resized(picture, side))

    works = (lambda: family.columns(block), one_pass)
    times = milliseconds(*works, n_images=len(block), repetitions=REPETITIONS)
    return [measured_row(PASS_COLUMNS, *times, len(block))]


def n_reference(table: list[dict[str, str]]) -> int:
    """Give the number of pictures that the table's kernel rows compare with."""
    counts = {int(row["reference"]) for row in table}
    if len(counts) != 1:
        raise ValueError(f"{TABLE}: kernel rows of different lengths: {sorted(counts)}")
    return counts.pop()


def origin(table: list[dict[str, str]]) -> str:
    """Say on which processor and when the times were measured."""
    where = "real pictures in blocks of {block}, kernel rows of {reference}"
    return measured_times.origin(table, "picture", where)


def measure(
    pictures: np.ndarray,
    learned: str,
    columns: np.ndarray,
    labels: np.ndarray,
    reference: np.ndarray,
) -> list[dict]:
    """Measure all prices on the first block of real pictures, kernels against some of them."""
    block = np.ascontiguousarray(pictures[:BLOCK])
    single = {family.name: family for family in families(learned)[:-1]}
    single |= {
        f"detector_{k}": detector_family(learned, k) for k in MEASURED_DETECTORS if k < N_DETECTORS
    }
    times_of: dict[str, list[tuple[float, ...]]] = {}
    for descriptor in DESCRIPTORS:
        if descriptor.name not in single:
            continue
        rows = np.ascontiguousarray(columns[descriptor.columns].T)
        kernel = Kernel(descriptor, rows[reference])
        machines = train_machines(kernel.rows(kernel.reference), labels[reference])
        values = kernel.rows(rows[:BLOCK])
        weights, intercept = machines.weights[:, 0].copy(), machines.intercept[0]
        family, own = single[descriptor.name], rows[:BLOCK]
        times = milliseconds(
            lambda family=family: family.columns(block),
            lambda kernel=kernel, own=own: kernel.rows(own),
            lambda v=values, w=weights, b=intercept: v @ w + b,
            n_images=len(block),
            repetitions=REPETITIONS,
        )
        name = "detector" if descriptor.name.startswith("detector_") else descriptor.name
        times_of.setdefault(name, []).append(times)
    return [
        measured_row(COLUMNS, name, *np.median(times, axis=0), len(reference), len(block))
        for name, times in times_of.items()
    ]


def price_table() -> str:
    """Give a Markdown table of descriptors with their CPU milliseconds per picture."""
    table = read()
    lines = ["| descriptor | descriptor ms | kernel row ms | one machine ms |", "|---|--:|--:|--:|"]
    for row in table:
        times = " | ".join(row[column] for column in COLUMNS[1:4])
        lines.append(f"| {row['descriptor']} | {times} |")
    return "\n".join([*lines, "", f"Times: {origin(table)}."])
