"""Ablations: one choice done otherwise on the same draws, and what it does to scores and costs.

Rows have a column ``variant``: :data:`OURS`, or the name of a change. A paper's file lists its
changes, what is read of them, and the lines of its table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from experiments.data_kinds import aside
from experiments.tables import mean_and_deviation, number

OURS = "ours"
"""The variant that changes nothing."""


@dataclass(frozen=True)
class Change:
    """One thing done otherwise than by default."""

    name: str  # name, says: Its value of the column ``variant``; the table's words for it
    says: str
    changes: Mapping[str, Any] = field(default_factory=dict)  # Parameters that change
    panels: tuple[str, ...] = ()  # Keys of the panels it is tried on; empty for all


@dataclass(frozen=True)
class Column:
    """What a table says of a change."""

    head: str
    value: str  # Column of the rows
    # "difference" from ours, "ratio" to ours, or the "level" itself
    shown: str = "level"
    form: str = ".4f"
    spread: str = ".4f"  # Form of the standard deviation; empty for the mean alone
    where: Mapping[str, Any] = field(default_factory=dict)  # The rows it is about


@dataclass(frozen=True)
class Line:
    """A line of a table: a change on some of the rows."""

    labels: tuple[str, ...]
    variant: str
    where: Mapping[str, Any]  # The rows it is about
    base: str = OURS


def of(rows: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that have these values."""
    for name, value in where.items():
        rows = rows[rows[name] == value]
    return rows


def level(rows: pd.DataFrame, variant: str, value: str) -> pd.Series:
    """Return the mean of a value for each seed."""
    return rows[rows["variant"] == variant].groupby("seed")[value].mean()


def difference(rows: pd.DataFrame, variant: str, value: str, base: str = OURS) -> pd.Series:
    """Return by how much a change raises a value, for each seed that both have."""
    return (level(rows, variant, value) - level(rows, base, value)).dropna()


def ratio(rows: pd.DataFrame, variant: str, value: str, base: str = OURS) -> pd.Series:
    """Return how many times as large a change makes a value; NaN where it is 0 without."""
    ours, other = level(rows, base, value).align(level(rows, variant, value), join="inner")
    return other / ours.where(ours > 0)


def table(
    rows: pd.DataFrame, heads: Sequence[str], columns: Sequence[Column], lines: Iterable[Line]
) -> list[str]:
    """Return a table in markdown; of ours themselves it says the level, and 1 for a ratio."""
    titles = [*heads, *(column.head for column in columns)]
    marks = "---|" * len(heads) + "---:|" * len(columns)
    table = [f"| {' | '.join(titles)} |", f"|{marks}"]
    for line in lines:
        mine = of(rows, line.where)
        texts = [*line.labels, *(_text(mine, line, column) for column in columns)]
        table.append(f"| {' | '.join(texts)} |")
    return table


def panel_table(
    rows: pd.DataFrame,
    meta: Mapping[str, Any],
    panels: Sequence,
    changes: Sequence[Change],
    columns: Sequence[Column],
    *,
    with_ours: bool = False,
) -> list[str]:
    """Return a table of each change, and ours before, on each panel that there are rows on."""
    ours = [Change(OURS, "(ours)")] if with_ours else []
    lines = []
    for change in (*ours, *changes):
        for panel in panels:
            where = {"panel": panel.key}
            if len(of(rows, {**where, "variant": change.name})):
                name = f"{panel.name}{aside(meta['data'][panel.dataset])}"
                lines.append(Line((change.says, name), change.name, where))
    return table(rows, ("change", "data"), columns, lines)


def _text(rows: pd.DataFrame, line: Line, column: Column) -> str:
    rows, form = of(rows, column.where), column.form
    if line.variant != line.base and column.shown != "level":
        effect = difference if column.shown == "difference" else ratio
        values = effect(rows, line.variant, column.value, line.base)
    elif column.shown == "ratio":
        return "1"
    else:
        values, form = level(rows, line.variant, column.value), form.lstrip("+")
    if not column.spread:
        return number(values.mean(), form)
    return mean_and_deviation(values, form, column.spread)
