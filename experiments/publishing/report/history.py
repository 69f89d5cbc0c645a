"""Reads asv's history, ``results/asv/<machine>/<commit>-<environment>.json``.

Read are the files, in version 2 of asv's format, not asv's Python interface: that one promises
nothing to other programs. Only its detection of steps is asked, two functions of lists of numbers,
for what asv's own pages would name as regressions.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from experiments.publishing.output import DamagedResults
from experiments.publishing.report.chart import Point, Series, draw, number

_FORMAT, _MACHINE_FORMAT = 2, 1
_NEEDED = ("commit_hash", "date", "env_name", "result_columns", "results")
_LATEST = 8
"""Commits in the table of numbers."""

_CHARTED = 20
"""Latest commits in the charts: more would be a page of over a megabyte; asv's own have all."""

_REGRESSION = 0.05
"""Smallest relative rise that is named, asv's own default."""

_CONFIRMED = 2
"""Commits that were measured behind a step."""

_NOISE = 3.0
"""A step is above so many times the usual change of its line, see :func:`_usual_change`."""

_BETTER_LOW = ("time", "peakmemory", "memory")
"""Types of benchmarks of which a rise is a regression; asv does not know it of the others."""

_SCALES = {
    "seconds": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB")),
}


@dataclass(frozen=True)
class Commit:
    """A commit that was measured."""

    hash: str  # First eight digits
    date: int  # Milliseconds since 1970, UTC

    @property
    def day(self) -> str:
        """Its day in UTC: ``2026-11-25``."""
        return f"{datetime.fromtimestamp(self.date / 1000, UTC):%Y-%m-%d}"


@dataclass(frozen=True)
class Chart:
    """What is drawn of a benchmark."""

    title: str  # With the value of the first parameter, where there are several
    labels: list[str]  # Of its lines: the other parameters
    drawing: Markup  # SVG


@dataclass(frozen=True)
class Rise:
    """A step up that asv's detection finds in a line, and that no later commit took back."""

    label: str  # Of the line
    unit: str  # Of the values
    last: Commit  # last, first: The last measured one before the step, and the first after it
    first: Commit
    value: float  # value, reached: Before, and the least after it
    reached: float

    def __str__(self) -> str:
        change = 100 * (self.reached / self.value - 1) if self.value else math.inf
        return (
            f"{self.label}: {number(self.value)} to {number(self.reached)} {self.unit} "
            f"({change:+.0f} %) between {self.last.hash} and {self.first.hash}, {self.first.day}"
        )


@dataclass(frozen=True)
class Benchmark:
    """The history of one benchmark."""

    name: str  # For example ``cegb.Cegb.time_fit``
    title: str  # title, unit: For a reader
    unit: str
    series: list[Series]  # One for each combination of parameters
    # One for each value of the first parameter, if there are several parameters; none where fewer
    # than two commits were measured, or where an accuracy or cost never moved
    charts: list[Chart]
    commits: list[Commit]  # One for each point of a line
    falls: bool  # Whether less is better, so that a rise is a regression

    def rises(self) -> list[Rise]:
        """Return what asv's detection of steps finds above a line's noise."""
        if not self.falls:
            return []
        lines = (_rises(line, self.unit, self.commits) for line in self.series)
        return [rise for line in lines for rise in line]


@dataclass(frozen=True)
class Machine:
    """Everything measured on one machine in one kind of environment.

    Attributes
    ----------
    name, environment : str
        As asv calls them.
    facts : str
        What ``machine.json`` says of it.
    commits : list of Commit
        Oldest first.
    benchmarks : list of Benchmark
        In alphabetical order.
    """

    name: str
    environment: str
    facts: str
    commits: list[Commit]
    benchmarks: list[Benchmark]

    def regressions(self) -> list[str]:
        """Return what asv's detection of steps finds, with the names of the benchmarks."""
        return [f"{one.title}, {rise}" for one in self.benchmarks for rise in one.rises()]

    def latest(self) -> list[tuple[int, Commit]]:
        """Return the last commits, newest first, with their position."""
        return list(enumerate(self.commits))[: -_LATEST - 1 : -1]


def read_history(folder: Path) -> list[Machine]:
    """Read the history of all machines, the longest first; an empty list if there is none."""
    catalogue_path = folder / "benchmarks.json"
    if not catalogue_path.exists():
        return []
    catalogue = _load(catalogue_path, _FORMAT, ())
    catalogue.pop("version")
    machines = []
    for machine_path in sorted(folder.glob("*/machine.json")):
        facts = _load(machine_path, _MACHINE_FORMAT, ("machine",))
        runs: dict[str, list[Mapping]] = {}
        for path in sorted(machine_path.parent.glob("*.json")):
            if path != machine_path:
                run = _load(path, _FORMAT, _NEEDED)
                runs.setdefault(run["env_name"], []).append(run)
        for environment, benchmarks in sorted(runs.items()):
            machines.append(_machine(facts, environment, benchmarks, catalogue))
    return sorted(machines, key=lambda machine: -len(machine.commits))


def _load(path: Path, version: int, needed: Sequence[str]) -> dict[str, Any]:
    """Read one of asv's files; DamagedResults if it is not what it should be."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["version"] != version:
            raise ValueError(f"version {content['version']} of the format, not {version}")
        if lacking := [name for name in needed if name not in content]:
            raise ValueError(f"it lacks {', '.join(lacking)}")
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedResults(
            f"{path} cannot be read: {error!r}\nRestore it from version control, or remove it."
        ) from error
    return content


def _machine(
    facts: Mapping, environment: str, runs: Sequence[Mapping], catalogue: Mapping[str, Mapping]
) -> Machine:
    runs = sorted(runs, key=lambda run: (run["date"], run["commit_hash"]))
    commits = [Commit(run["commit_hash"][:8], run["date"]) for run in runs]
    benchmarks = (_benchmark(entry, runs, commits) for _, entry in sorted(catalogue.items()))
    return Machine(
        name=facts["machine"],
        environment=environment,
        facts=_facts(facts),
        commits=commits,
        benchmarks=[benchmark for benchmark in benchmarks if benchmark is not None],
    )


def _facts(machine: Mapping[str, str]) -> str:
    """Return what ``machine.json`` says of a machine; asv finds the memory in bytes."""
    said = dict(machine)
    if said.get("num_cpu"):
        said["num_cpu"] += " cores"
    if said.get("ram", "").isdigit():
        said["ram"] = f"{int(said['ram']) / 2**30:.3g} GiB of memory"
    names = ("cpu", "num_cpu", "ram", "os", "arch")
    return ", ".join(said[name] for name in names if said.get(name))


def _benchmark(entry: Mapping, runs: Sequence[Mapping], commits) -> Benchmark | None:
    """Return a benchmark's history, or None if it was never measured in its present version."""
    columns = [_values(entry, run) for run in runs]
    lines: dict[tuple, list[Point | None]] = {
        params: [column.get(params) for column in columns]
        for params in itertools.product(*entry["params"])
    }
    lines = {params: points for params, points in lines.items() if any(points)}
    if not lines:
        return None
    largest = max(point.value for points in lines.values() for point in points if point)
    factor, unit = _scale(entry["unit"], largest)
    scaled = {
        tuple(value.strip("'") for value in params): [
            point.times(1 / factor) if point else None for point in points
        ]
        for params, points in lines.items()
    }
    series = [Series(_label(params), points) for params, points in scaled.items()]
    name = entry["name"]
    title = " ".join(name.rsplit(".", 2)[-2:])
    hashes = [commit.hash for commit in commits]
    falls = entry["type"] in _BETTER_LOW
    return Benchmark(
        name,
        title,
        unit,
        series,
        # Times and memory are read from zero; a drift of accuracy would not be seen so.
        list(_charts(title, unit, scaled, hashes, from_zero=falls)),
        list(commits),
        falls,
    )


def _label(params: Sequence[str]) -> str:
    return ", ".join(params) or "all"


def _charts(
    title: str, unit: str, lines: Mapping[tuple, list], hashes: Sequence[str], *, from_zero: bool
) -> Iterator[Chart]:
    """Yield a chart for each value of the first parameter, if there are others to tell apart."""
    groups: dict[tuple, dict[tuple, list]] = {}
    for params, points in lines.items():
        first = params[:1] if len(params) > 1 else ()
        groups.setdefault(first, {})[params[len(first) :]] = points[-_CHARTED:]
    for first, group in groups.items():
        if max(sum(map(bool, points)) for points in group.values()) < 2:
            continue
        if not from_zero and all(_stays(points) for points in group.values()):
            continue  # an accuracy that never moved: the table says it
        series = [Series(_label(params), points) for params, points in group.items()]
        full = ", ".join([title, *first])
        drawing = draw(full, unit, series, hashes[-_CHARTED:], from_zero=from_zero)
        yield Chart(full, [line.label for line in series], drawing)


def _stays(points: Sequence[Point | None]) -> bool:
    """Whether a line has one value only."""
    return len({point.value for point in points if point}) < 2


def _rises(line: Series, unit: str, commits: Sequence[Commit]) -> Iterator[Rise]:
    """Yield what asv's detection of steps finds in a line, with its weights, above its noise.

    asv knows how much samples of one process differ; between processes threads and memory differ
    more. A step that is no larger than :data:`_NOISE` times a line's usual change is none, nor is
    one behind which a single commit was measured: it may be a bad moment of the machine.
    """
    from asv import step_detect  # takes a third of a second, and only a history needs it

    values = [point.value if point else None for point in line.points]
    least = max(_REGRESSION, math.exp(_NOISE * _usual_change(values)) - 1)
    weights = [2 / (p.high - p.low) if p and p.low < p.high else None for p in line.points]
    steps = step_detect.detect_steps(values, weights)
    _, _, rises = step_detect.detect_regressions(steps, least)
    for before, after, value, reached in rises or ():
        if sum(point is not None for point in line.points[after:]) < _CONFIRMED:
            continue
        if reached < value * (1 + least):  # of several steps asv compares the first with the last
            continue
        yield Rise(line.label, unit, commits[before], commits[after], value, reached)


def _usual_change(values: Sequence[float | None]) -> float:
    """Median change from a measured commit to the next, as |log ratio|.

    Of fewer than four commits nothing is usual: it is infinite.
    """
    known = [value for value in values if value]
    changes = [abs(math.log(one / other)) for one, other in itertools.pairwise(known)]
    return statistics.median(changes) if len(changes) > 2 else math.inf


def _scale(unit: str, largest: float) -> tuple[float, str]:
    """Return factor and name of the unit in which numbers are short."""
    scales = _SCALES.get(unit, ((1.0, "" if unit == "unit" else unit),))
    return next((scale for scale in scales if largest >= scale[0]), scales[-1])


def _values(entry: Mapping, run: Mapping) -> dict[tuple, Point]:
    """Return what a run measured of a benchmark, for each combination of parameters.

    As in asv's own pages, results of another version of the benchmark are left out: they measured
    something else.
    """
    if entry["name"] not in run["results"]:
        return {}
    row = dict(zip(run["result_columns"], run["results"][entry["name"]], strict=False))
    if row.get("version") != entry["version"] or row["result"] is None:
        return {}
    return dict(_points(row))


def _points(row: Mapping) -> Iterator[tuple[tuple, Point]]:
    n = len(row["result"])
    lows = row.get("stats_ci_99_a") or [None] * n
    highs = row.get("stats_ci_99_b") or [None] * n
    combinations = itertools.product(*row["params"])
    for params, value, low, high in zip(combinations, row["result"], lows, highs, strict=True):
        if value is None or not math.isfinite(value):
            continue  # failed, or skipped
        if low is None or high is None or not math.isfinite(low + high):
            low = high = value
        yield params, Point(value, low, high)
