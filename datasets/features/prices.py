"""What a family of features costs: measured CPU milliseconds per image.

``milliseconds.csv`` is the committed table, and the default everywhere, so that results do not
depend on who measures. ``python -m datasets.features --remeasure`` replaces it: one thread, CPU
time of the process, a block of images at a time as the store computes them and copied to where
they are kept (else a family that only shows the pixels would cost nothing), the least of several
repetitions (other work on the machine only ever adds).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from datasets.features import measured_times
from datasets.features.families import Family, block_length
from datasets.features.measured_times import measured_row, milliseconds, read_times, write_table

TABLE = Path(__file__).with_name("milliseconds.csv")
COLUMNS = ("dataset", "family", "milliseconds", "images", "block", "processor", "date")
REPETITIONS = 5


def read(path: Path | None = None) -> list[dict[str, str]]:
    """Read the table of measured times."""
    return read_times(TABLE if path is None else path, COLUMNS, ("milliseconds",))


def of_family(table: list[dict[str, str]], dataset: str, family: str) -> float:
    """Give the CPU milliseconds per image of a family."""
    for row in table:
        if (row["dataset"], row["family"]) == (dataset, family):
            return float(row["milliseconds"])
    raise ValueError(
        f"no measured time for family {family} of {dataset}. "
        f"Next: python -m datasets.features --remeasure {dataset}"
    )


def origin(table: list[dict[str, str]], dataset: str) -> str:
    """Say on which processor and when the times of a set were measured."""
    mine = [row for row in table if row["dataset"] == dataset]
    where = "{images} images in blocks of {block}"
    return measured_times.origin(mine, "image", where) or "not measured"


def measure(dataset: str, families: Iterable[Family], images: np.ndarray, kind: str) -> list[dict]:
    """Measure the CPU time of families on one block of images, real or synthetic by `kind`."""
    block = np.ascontiguousarray(images[: block_length(images.shape[1:])])
    return [
        measured_row(COLUMNS, dataset, family.name, _milliseconds(family, block), kind, len(block))
        for family in families
    ]


def _milliseconds(family: Family, block: np.ndarray) -> float:
    """Least CPU time to compute an image of a block."""
    kept = np.empty((len(block), family.size(block.shape[1:])), dtype=np.uint8)

    def keep():
        kept[:] = family.columns(block)

    return milliseconds(keep, n_images=len(block), repetitions=REPETITIONS)[0]


def write(measured: list[dict], path: Path | None = None) -> None:
    """Put measured rows into a table, in place of what it has of their sets."""
    path = TABLE if path is None else path
    replaced = {row["dataset"] for row in measured}
    kept = [row for row in read(path) if row["dataset"] not in replaced] if path.exists() else []
    write_table(path, COLUMNS, kept + measured)
