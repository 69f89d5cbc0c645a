"""What is published, read plainly, and the few statistics that recomputing it needs.

Nothing here knows the suite: csv, json, math, statistics. It serves the tests that compute
published numbers another way.
"""

from __future__ import annotations

import csv
import json
import lzma
import math
import statistics
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"


def table(artefact: str, name: str = "rows.csv") -> Path:
    """A published table: as it is, or if it is large compressed."""
    plain = RESULTS / artefact / name
    return plain if plain.exists() else plain.with_name(f"{name}.xz")


def _lines(path: Path) -> list[dict[str, str]]:
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def lines(artefact: str, name: str = "rows.csv") -> list[dict[str, str]]:
    """Lines of a published table, as text."""
    return _lines(table(artefact, name))


@cache
def fresh(artefact: str, dataset: str) -> list[dict[str, str]]:
    """Kept repetitions of a set, as text: what preregistered claims are judged by."""
    return _lines(RESULTS / "primary" / artefact / f"{dataset}.csv.xz")


@cache
def record(artefact: str) -> dict:
    """``meta.json`` of a published artefact."""
    return json.loads((RESULTS / artefact / "meta.json").read_text(encoding="utf-8"))


@cache
def claims(paper: str) -> dict[str, dict[str, str]]:
    """Published preregistered claims of a paper by their id."""
    with (RESULTS / "primary_claims.csv").open(encoding="utf-8", newline="") as file:
        return {row["claim"]: row for row in csv.DictReader(file) if row["paper"] == paper}


def number(text: str) -> float:
    """A published number; NaN where nothing stands."""
    return float(text) if text else math.nan


def readme(paper: str) -> str:
    """README of a paper's folder on one line."""
    path = ROOT / "experiments" / paper / "README.md"
    return " ".join(path.read_text(encoding="utf-8").split())


def published(artefact: str) -> pytest.MarkDecorator:
    """Skip a test of what is not published yet."""
    return pytest.mark.skipif(
        not (RESULTS / artefact / "meta.json").exists(), reason=f"{artefact} is not published yet"
    )


def by_seed(rows) -> dict[str, list]:
    """Rows of each seed, in the order of the seeds."""
    grouped = defaultdict(list)
    for row in sorted(rows, key=lambda row: int(row["seed"])):
        grouped[row["seed"]].append(row)
    return grouped


def ranks(values) -> list[float]:
    """Mean ranks, equal values alike."""
    places = defaultdict(list)
    for place, value in enumerate(sorted(values)):
        places[value].append(place)
    return [statistics.mean(places[value]) for value in values]


def correlation(xs, ys) -> float:
    """Rank correlation; 0 if one side does not vary."""
    if len(set(xs)) < 2 or len(set(ys)) < 2:
        return 0.0
    return statistics.correlation(ranks(xs), ranks(ys))


def mean_of_known(values) -> float:
    """Mean of what is not NaN; NaN if nothing is known."""
    known = [value for value in values if not math.isnan(value)]
    return statistics.mean(known) if known else math.nan
