"""Holds new rows to expected ones, so that a drift in accuracy or cost is noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.artefact import Artefact
from experiments.command_options import in_columns


@dataclass(frozen=True)
class ColumnCheck:
    """How one column of an artefact compares with what is expected."""

    artefact: str  # artefact, column: Which
    column: str
    # expected, now: Values in the row that comes closest to, or goes furthest beyond, what is
    # allowed
    expected: float
    now: float
    tolerance: str  # What is allowed
    outside: int  # outside, rows: Rows beyond the tolerance, and rows compared
    rows: int
    where: str  # Key of that row

    @property
    def passed(self) -> bool:
        """Whether every row is within the tolerance."""
        return self.outside == 0


def compare(
    artefact: Artefact, expected: pd.DataFrame, now: pd.DataFrame
) -> tuple[list[ColumnCheck], list[str]]:
    """Compare rows with expected rows, column by column.

    Parameters
    ----------
    artefact : Artefact
        Its keys match rows, its tolerances judge them.
    expected, now : DataFrame
        Rows.

    Returns
    -------
    columns : list of ColumnCheck
        One for each value column.
    problems : list of str
        Rows or columns that are missing or new; none if all is well.
    """
    keys, problems = artefact.row_keys(), []
    columns = [*keys, *artefact.tolerances]
    lost = [name for name in columns if name not in expected.columns]
    if lost:
        return [], [f"{artefact.id}: the expected values lack the columns {', '.join(lost)}"]
    odd = [name for name in columns if _is_number(expected[name]) != _is_number(now[name])]
    if odd:
        return [], [f"{artefact.id}: expected and present {', '.join(odd)} differ in kind"]
    both = expected[columns].merge(
        now[columns], on=keys, how="outer", suffixes=("_expected", "_now"), indicator=True
    )
    for side, word in (("left_only", "missing"), ("right_only", "new")):
        odd = both[both["_merge"] == side]
        if len(odd):
            first = _where(odd.iloc[0], keys)
            problems.append(f"{artefact.id}: {len(odd)} rows are {word}, for example {first}")
    both = both[both["_merge"] == "both"].reset_index(drop=True)
    if both.empty:
        return [], [*problems, f"{artefact.id}: there is no row to compare"]
    return [_check_column(artefact, name, both, keys) for name in artefact.tolerances], problems


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column)


def _check_column(artefact, name, both, keys) -> ColumnCheck:
    tolerance = artefact.tolerances[name]
    expected = both[f"{name}_expected"].to_numpy(np.float64)
    now = both[f"{name}_now"].to_numpy(np.float64)
    deviation = np.abs(now - expected)
    # A value that is missing on one side only is as wrong as can be.
    deviation[np.isnan(expected) & np.isnan(now)] = 0.0
    deviation[np.isnan(expected) ^ np.isnan(now)] = np.inf
    excess = deviation - np.nan_to_num(tolerance.allowed(expected))
    worst = int(np.argmax(excess))
    return ColumnCheck(
        artefact.id,
        name,
        float(expected[worst]),
        float(now[worst]),
        str(tolerance),
        int(np.count_nonzero(excess > 0)),
        len(both),
        _where(both.iloc[worst], keys),
    )


def _where(row: pd.Series, keys: Sequence[str]) -> str:
    return ", ".join(f"{key}={row[key]}" for key in keys)


def table(columns: Sequence[ColumnCheck]) -> str:
    """Return the comparison as a table for the terminal: the worst row of each column."""
    table = [("artefact", "column", "expected", "now", "tolerance", "rows", "verdict")]
    table += [
        (
            c.artefact,
            c.column,
            f"{c.expected:.6g}",
            f"{c.now:.6g}",
            c.tolerance,
            str(c.rows),
            "ok" if c.passed else f"DRIFT in {c.outside}, worst at {c.where}",
        )
        for c in columns
    ]
    return in_columns(table)
