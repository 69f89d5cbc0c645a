"""A cell: one piece of work of a figure or table, and what all cells do with their numbers.

A *cell* trains one model (or a few that belong together) with given parameters on one draw of one
data set, and returns rows of numbers. What is in this file is part of what every stored result
depends on, so that it holds no more than cells need.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

SIGNIFICANT_DIGITS = 6
"""Of every measured value in a row: more would differ between processors."""


def canonical_json(value: Any) -> str:
    """Return `value` as JSON text that is the same for equal values in any order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON-able value as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


@dataclass(frozen=True)
class Cell:
    """One piece of work: an algorithm with its parameters on one draw of a data set.

    Attributes
    ----------
    dataset : str
        Name known to :func:`datasets.load`.
    algorithm : str
        Slug of the algorithm.
    params : Mapping
        Everything else that determines the result; JSON-able.
    seed : int
        Repetition. The data are drawn from (data set, seed), whatever the algorithm, so that
        comparisons are paired.
    alone : bool
        The cell measures time: nothing else runs beside it.
    """

    dataset: str
    algorithm: str
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    alone: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return what determines the result as JSON-able values."""
        return {
            "dataset": self.dataset,
            "algorithm": self.algorithm,
            "params": dict(self.params),
            "seed": self.seed,
        }

    def label(self) -> str:
        """Return one line that names the cell."""
        plain = {n: v for n, v in self.params.items() if not isinstance(v, Mapping | list | tuple)}
        params = ", ".join(f"{name}={value}" for name, value in plain.items())
        return f"{self.dataset} · {self.algorithm} · seed {self.seed} · {params}"


@dataclass(frozen=True)
class Tolerance:
    """How far a column may be from the expected value: `absolute` + `relative` · |expected|."""

    absolute: float = 0.0
    relative: float = 0.0

    def allowed(self, expected):
        """Return the largest deviation allowed from `expected` (number or array)."""
        return self.absolute + self.relative * abs(expected)

    def __str__(self) -> str:
        parts = []
        if self.absolute or not self.relative:
            parts.append(f"{self.absolute:g}")
        if self.relative:
            parts.append(f"{100 * self.relative:g} %")
        return " + ".join(parts)


def rounded(value: float) -> float:
    """Return a number with the significant digits that rows have."""
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")


def at_rounds(staged: Iterable, wanted: Collection[int]) -> dict[int, Any]:
    """Return what a model yields after some of its rounds."""
    kept, last = {}, max(wanted, default=0)
    if last < 1:
        return kept
    for n_rounds, value in enumerate(staged, start=1):
        if n_rounds in wanted:
            kept[n_rounds] = value
        if n_rounds >= last:
            break
    return kept
