"""Times of benchmarks over the fixed kernel's, in one process on one thread: a part of the gate.

``python -m benchmarks.ratios OUT.json PATTERN`` measures the package of its working directory.
Followed are what asv times, at the smallest size, and single kernels. CPU time is read, so what
runs in processes of its own is left out.
"""

from __future__ import annotations

import inspect
import itertools
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from .followed import rows, scanning, special, tracked
from .kernels import KERNELS, Program

SECONDS, TURNS, SHORTEST, LONGEST = 1.0, 3, 0.01, 0.3
"""Least time for a benchmark, least turns, and how long the fixed kernel's turn is in between."""


_rng = np.random.default_rng(0)
_codes, _values = _rng.integers(0, 256, 100_000), _rng.normal(size=100_000)
_some = _rng.permutation(100_000)[:30_000]


def fixed_kernel() -> None:
    """Run for some milliseconds, a little of what kernels do: sum by codes, gather, sort, Python.

    It calls nothing of ours, so no change of the package changes its time.
    """
    np.bincount(_codes, _values, 256)
    np.sort(_values[_some])
    total = 0
    for i in range(5_000):
        total += i & 3


def followed() -> Iterator[tuple[str, Callable[[], Program]]]:
    """Give each benchmark's name, and what makes it ready."""
    for name, make in KERNELS.items():
        yield f"kernels: {name}", make
    for module in (tracked, rows, scanning, special):
        for cls in vars(module).values():
            if inspect.isclass(cls) and cls.__module__ == module.__name__:
                yield from _of_class(cls)


def _of_class(cls: type) -> Iterator[tuple[str, Callable[[], Program]]]:
    timed = [name for name in dir(cls) if name.startswith("time_") and cls is not special.OnDask]
    for method, one in ((method, cls()) for method in timed):
        of = zip(one.param_names, one.params, strict=True)
        values = [each[:1] if name == "rows" else each for name, each in of]
        for given in itertools.product(*values):
            where = f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}.{method}"
            yield f"{where}: {', '.join(map(str, given))}", partial(_ready, one, method, given)


def _ready(one, method: str, given: tuple) -> Program:
    one.setup(*given)
    return partial(getattr(one, method), *given)


def spent(program: Program, n_calls: int = 1) -> float:
    """Seconds of CPU that a call takes, the mean of some."""
    begin = time.process_time()
    for _ in range(n_calls):
        program()
    return (time.process_time() - begin) / n_calls


def ratio(program: Program, seconds: float = SECONDS) -> float:
    """Median time of a call over the fixed kernel's, which take turns of equal length.

    Both find the same processor then, whatever else it does.
    """
    spent(program), spent(fixed_kernel)  # load what they need
    took, of_fixed, found = spent(program), spent(fixed_kernel), []
    end = time.process_time() + seconds
    while len(found) < TURNS or time.process_time() < end:
        turn = min(max(took, SHORTEST), LONGEST)
        of_fixed = spent(fixed_kernel, max(1, round(turn / of_fixed)))
        took = spent(program, max(1, round(turn / took)))
        found.append(took / of_fixed)
    return statistics.median(found)


def main(out: str, pattern: str) -> None:
    """Write the ratios by name; of what cannot be measured, why."""
    found: dict[str, float | str] = {}
    for name, make in followed():
        if re.search(pattern, name):
            try:
                found[name] = ratio(make())
            except Exception as error:  # the gate says so: an earlier version may lack anything
                found[name] = f"{type(error).__name__}: {error}"
    Path(out).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
