"""The trials of an edition as files: one for each division of a field, each written once.

``trials/FIELD-DIVISION.csv.xz`` has the columns :data:`COLUMNS`. A trial has a line for each budget
from which on another of its cuts is the best by validation rows; the first has its parameters and
its processor time. A trial without a model has one line, and so has a method that cannot take part:
with the reason. The first line is what answers always alike. ``trials/FIELD-tops.csv`` has the
largest λ of each method, and ``trials/meta.json`` what all was computed with.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from datasets.sources.storage import write_atomically
from experiments.cell import Cell
from experiments.leaderboard.fields import Field
from experiments.publishing.tables import PACKED, packed

CONSTANT = "constant"
"""Name of what answers always alike; also what a method is where no model is within the budget."""

MEASURED = ["valid_score", "valid_cost", "test_score", "test_cost"]
COLUMNS = ["method", "trial", "budget", "cut", *MEASURED, "parameters", "seconds", "why"]
FOLDER = "trials"


def path_of(folder: Path, field: Field, division: int) -> Path:
    """Give the file of a division, which are numbered from 1."""
    return folder / f"{field.name}-{division}.csv{PACKED}"


def read(folder: Path, field: Field, division: int) -> pd.DataFrame:
    """Read the trials of a division; none, if there is no file."""
    path = path_of(folder, field, division)
    if not path.exists():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path)


def table_of(
    constant: tuple[float, float],
    finished: Iterable[tuple[Cell, list[dict]]],
    skipped: Mapping[str, str],
) -> pd.DataFrame:
    """Give the lines of what is finished; `constant` is what answers always alike scores."""
    valid, test = constant
    lines: list[dict[str, Any]] = [
        {"method": CONSTANT, "valid_score": valid, "valid_cost": 0.0, "test_score": test,
         "test_cost": 0.0}
    ]  # fmt: skip
    for cell, rows in finished:
        lines += [{"method": cell.algorithm, "trial": cell.params["trial"], **row} for row in rows]
    lines += [{"method": slug, "why": why} for slug, why in skipped.items()]
    return pd.DataFrame(lines, columns=COLUMNS)


def joined(before: pd.DataFrame, further: pd.DataFrame) -> pd.DataFrame:
    """Give the trials of further methods beside those that were there."""
    return pd.concat([before, further[further["method"] != CONSTANT]], ignore_index=True)


def write(folder: Path, field: Field, division: int, table: pd.DataFrame) -> None:
    """Write the trials of a division, methods in the order of the alphabet, the constant first."""
    order = table["method"].where(table["method"] != CONSTANT, "")
    table = table.iloc[order.argsort(kind="stable").to_numpy()].astype({"trial": "Int64"})
    _write(path_of(folder, field, division), table)


def _write(path: Path, table: pd.DataFrame) -> None:
    text = io.StringIO()
    table.to_csv(text, index=False, lineterminator="\n", float_format="%.6g")
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.getvalue().encode()
    write_atomically(path, packed(content) if path.suffix == PACKED else content)


def read_tops(folder: Path, field: Field) -> dict[str, float]:
    """Read the largest λ of the methods that were looked at."""
    path = folder / f"{field.name}-tops.csv"
    if not path.exists():
        return {}
    table = pd.read_csv(path)
    return dict(zip(table["method"], table["top"], strict=True))


def write_tops(folder: Path, field: Field, tops: Mapping[str, float]) -> None:
    """Write them."""
    table = pd.DataFrame(sorted(tops.items()), columns=["method", "top"])
    _write(folder / f"{field.name}-tops.csv", table)


def read_meta(folder: Path) -> dict[str, Any]:
    """Read what all was computed with; nothing, before anything was."""
    path = folder / "meta.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_meta(folder: Path, meta: Mapping[str, Any]) -> None:
    """Write it."""
    text = json.dumps(meta, indent=2, sort_keys=True) + "\n"
    write_atomically(folder / "meta.json", text.encode())
