"""How programs are timed beside each other, and how a comparison is written down."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

HEAD = ("", "ours", "peer", "theirs", "ours / theirs", "goal")


def alternate(
    programs: Mapping[str, Callable[[], object]],
    runs: int,
    clock: Callable[[], float] = time.perf_counter,
    of: Callable[[Sequence[float]], float] = statistics.median,
) -> dict[str, float]:
    """Seconds of each program; they run in turn, A B A B …, after one warm-up each."""
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for run in range(runs + 1):
        for name, program in programs.items():
            begin = clock()
            program()
            if run:
                seconds[name].append(clock() - begin)
    return {name: of(values) for name, values in seconds.items()}


class Row(NamedTuple):
    """A line of the table: ours beside a peer, or beside a goal.

    ``most`` is the goal, of the ratio or of ``ours``, and then written with its unit; it and
    ``peer`` with ``theirs`` may be missing. ``drawn`` are the training rows of what the picture of
    :mod:`benchmarks.today` shows, else 0.
    """

    part: str
    what: str
    unit: str
    ours: float
    peer: str | None = None
    theirs: float | None = None
    most: float | None = None
    of: Literal["ratio", "ours"] = "ratio"
    drawn: int = 0

    @property
    def ratio(self) -> float | None:
        """Ours over theirs."""
        return None if self.theirs is None else self.ours / self.theirs

    def goal(self) -> str:
        """Say the goal, and whether it is missed; as printed, so that nothing is contradicted."""
        if self.most is None:
            return ""
        value, unit = (self.ratio, "") if self.of == "ratio" else (self.ours, f" {self.unit}")
        if value is None:
            raise ValueError(f"{self.what}: a goal of a ratio, and nothing to divide by.")
        missed = "" if float(short(value)) <= self.most else ", missed"
        return f"{self.most:g}{unit}{missed}"


def short(value: float) -> str:
    """Three digits, and no more than two after the point: 0.66, 12.3, 1040."""
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}"


def markdown(rows: Iterable[Row]) -> list[str]:
    """Lines of the table, its head first."""
    lines = [f"| {' | '.join(HEAD)} |", "|---" + "|--:" * (len(HEAD) - 1) + "|"]
    for row in rows:
        theirs = "" if row.theirs is None else f"{short(row.theirs)} {row.unit}"
        ratio = "" if row.ratio is None else short(row.ratio)
        cells = (f"{row.part}: {row.what}", f"{short(row.ours)} {row.unit}", row.peer or "", theirs)
        lines.append(f"| {' | '.join((*cells, ratio, row.goal()))} |")
    return lines
