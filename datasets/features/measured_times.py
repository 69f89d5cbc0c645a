"""Tables of measured CPU times: reading and writing them, and the measuring itself."""

from __future__ import annotations

import csv
import datetime
import io
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from datasets.sources.storage import write_atomically

LEAST_SECONDS = 0.02
"""A repetition does its work as often as needed to take this long."""


def read_table(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a table as :func:`write_table` writes it."""
    with open(path, encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle)
        if tuple(reader.fieldnames or ()) != tuple(columns):
            raise ValueError(f"{path}: columns are {reader.fieldnames}, not {list(columns)}")
        return list(reader)


def read_times(path: Path, columns: Sequence[str], times: Sequence[str]) -> list[dict[str, str]]:
    """Read a table of which some columns are times: positive and finite."""
    rows = read_table(path, columns)
    for row in rows:
        for name in times:
            if not is_positive(row[name]):
                of_what = [row[key] for key in columns[: columns.index(times[0])]]
                raise ValueError(
                    f"{path}: {', '.join([*of_what, name])}: {row[name]!r} is no positive time"
                )
    return rows


def origin(table: Sequence[Mapping[str, str]], unit: str, measured_on: str) -> str:
    """Say on which processor, when and on what the times of a table were measured."""
    said = {
        f"measured CPU time per {unit}, one thread, {row['processor']}, {row['date']}, on "
        f"{measured_on.format(**row)}"
        for row in table
    }
    return "; ".join(sorted(said))


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Mapping]) -> None:
    """Replace a table, at once."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())


def is_positive(text: str | None) -> bool:
    """Say whether a field holds a positive, finite number."""
    try:
        return 0 < float(text) < np.inf
    except (TypeError, ValueError):
        return False


def least_seconds(*works: Callable[[], object], repetitions: int) -> list[float]:
    """Give the least CPU time of one call of each of several works, measured in turns."""
    calls = []
    for work in works:
        work()
        n = 1
        while _spent(work, n) < LEAST_SECONDS:
            n *= 2
        calls.append(n)
    rounds = [
        [_spent(work, n) / n for work, n in zip(works, calls, strict=True)]
        for _ in range(repetitions)
    ]
    return np.min(rounds, axis=0).tolist()


def milliseconds(*works: Callable[[], object], n_images: int, repetitions: int) -> list[float]:
    """Give the least CPU milliseconds an image of works on so many images, on one thread."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        seconds = least_seconds(*works, repetitions=repetitions)
    return [1e3 * spent / n_images for spent in seconds]


def measured_row(columns: Sequence[str], *values: object) -> dict[str, str]:
    """Give a row of a table: times to four digits, and last by whom and when it was measured."""
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    said = [f"{value:.4g}" if isinstance(value, float) else value for value in values]
    return dict(zip(columns, (*said, processor(), date), strict=True))


def _spent(work: Callable[[], object], n: int) -> float:
    start = time.process_time()
    for _ in range(n):
        work()
    return time.process_time() - start


def processor() -> str:
    """Name the model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
