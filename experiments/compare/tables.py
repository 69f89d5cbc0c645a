"""Reads a user's table and price list; whatever does not fit is refused in one sentence."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from algorithms.prices.by_name import listed

_TIMES_AS_LARGE = 4
"""Memory that reading and training take, in sizes of the file."""


class Refused(ValueError):
    """An input that cannot be compared on; one sentence that says what to do."""


@dataclass(frozen=True)
class Prices:
    """What features cost.

    Attributes
    ----------
    feature_costs : (d,) float64
    feature_groups : list of str or None
        Label of what is acquired together; a feature that comes alone has its own name.
    group_costs : dict of str to float or None
        Price of each label, where features are paid besides.
    origin : str
        Who says so, for the axis and the summary.
    """

    feature_costs: np.ndarray
    feature_groups: list[str] | None
    group_costs: dict[str, float] | None
    origin: str

    def cheapest(self) -> float:
        """Least that a row pays for its first feature."""
        if self.group_costs is None:
            return float(np.min(self.feature_costs))
        groups = [self.group_costs[label] for label in self.feature_groups]
        return float(np.min(self.feature_costs + np.array(groups)))

    def positive(self) -> np.ndarray:
        """Prices above 0 that a first use can have: (n,) float64."""
        groups = [] if self.group_costs is None else list(self.group_costs.values())
        prices = np.concatenate([self.feature_costs, groups])
        return prices[prices > 0]


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV or Parquet file.

    Raises
    ------
    Refused
        If it is too large, cannot be read, has no rows, or two columns of one name.
    """
    size, free = path.stat().st_size, psutil.virtual_memory().available
    if _TIMES_AS_LARGE * size > free:
        raise Refused(
            f"{path.name} has {size / 1e9:.1f} GB, and {free / 1e9:.1f} GB of memory are free: "
            f"take a sample of its rows that has at most {free / _TIMES_AS_LARGE / 1e9:.1f} GB."
        )
    if path.suffix.lower() in (".parquet", ".pq"):
        table = _parquet(path)
    else:
        table = _csv(path)
    if table.empty:
        raise Refused(f"{path.name} has no rows.")
    return table


def _parquet(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_parquet(path)
    except ImportError:
        raise Refused(
            f"Reading {path.name} needs the package pyarrow, which is not installed: install it, "
            "or write the table as CSV."
        ) from None
    except Exception as error:  # each engine has its own kinds
        why = " ".join(str(error).split()).rstrip(".")
        raise Refused(f"{path.name} is no Parquet file that can be read: {why}.") from None
    if any(name is not None for name in table.index.names):
        table = table.reset_index()  # whoever wrote it had columns for an index
    table.columns = [str(name) for name in table.columns]
    _refuse_repeated(list(table.columns), path.name)
    return table


def _csv(path: Path) -> pd.DataFrame:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = next(csv.reader(file), [])
        _refuse_repeated(head, path.name)
        return pd.read_csv(path, encoding="utf-8-sig", low_memory=False)
    except Refused:
        raise
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise Refused(f"{path.name} is no CSV file in UTF-8 that can be read: {why}.") from None


def _refuse_repeated(names: list[str], file: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise Refused(
            f"{file} has several columns of one name ({listed(repeated)}): give each its own."
        )


def take(table: pd.DataFrame, name: str | None, option: str, file: str) -> pd.Series | None:
    """Give a column that an option names, without missing values; Refused if it is not there."""
    if name is None:
        return None
    if name not in table:
        raise Refused(
            f"{file} has no column {name!r}, which {option} asks for: it has "
            f"{listed(list(table.columns))}."
        )
    column = table[name]
    if column.isna().any():
        raise Refused(
            f"Column {name!r} of {file} ({option}) has {int(column.isna().sum())} missing values: "
            "leave these rows out."
        )
    return column


def feature_matrix(table: pd.DataFrame, names: list[str], file: str) -> np.ndarray:
    """Give features as numbers.

    Parameters
    ----------
    table : DataFrame
    names : list of str
        Columns that are features.
    file : str
        For messages.

    Returns
    -------
    (n, d) float64, C order
        NaN where a value is missing.

    Raises
    ------
    Refused
        If a column is text, a date, or has infinite values.
    """
    if not names:
        raise Refused(f"{file} has no features left beside the columns that the options name.")
    text = [n for n in names if not pd.api.types.is_numeric_dtype(table[n].dtype)]
    if text:
        raise Refused(
            f"Features must be numbers, and these columns of {file} are not: {listed(text)}; "
            "encode them (pandas.get_dummies makes a column of each value; give these one group in "
            "the price list), or leave them out with --drop."
        )
    X = np.ascontiguousarray(table[names].to_numpy(dtype=np.float64, na_value=np.nan))
    infinite = np.isinf(X)
    if infinite.any():
        those = [names[m] for m in np.flatnonzero(infinite.any(axis=0))]
        n_rows = int(infinite.any(axis=1).sum())
        raise Refused(
            f"{file} has infinite values in {n_rows} rows, in the columns {listed(those)}: "
            "leave them empty (missing), or leave rows or columns out."
        )
    return X


def read_prices(path: Path | None, names: list[str]) -> Prices:
    """Read the price list and put it into the order of the features.

    Its columns are ``feature`` and ``cost``, and optionally ``group``. Features of one group are
    acquired together for one price. A line whose feature is the name of a group prices the group;
    its features are then paid besides.

    Parameters
    ----------
    path : Path or None
        None: each feature costs 1.
    names : list of str
        Features.

    Returns
    -------
    Prices

    Raises
    ------
    Refused
        If names are unknown, missing or twice, a cost is no number >= 0, or all are 0.
    """
    if path is None:
        return Prices(np.ones(len(names)), None, None, "1 for each feature (no price list given)")
    lines = read_table(path)
    if not {"feature", "cost"} <= set(lines) <= {"feature", "cost", "group"}:
        raise Refused(
            f"{path.name} must have the columns feature and cost, and at most group besides; it "
            f"has {listed(list(lines.columns))}."
        )
    labels = [str(label) for label in lines["feature"]]
    group_of = _groups(lines, labels, names, path.name)
    priced = set(group_of.values()) - set(names)  # groups that may have a line of their own
    _refuse_mismatch(labels, names, priced, path.name)
    cost = _costs(lines["cost"], labels, path.name)
    feature_costs = np.array([cost[name] for name in names])
    groups = group_costs = None
    if group_of:
        groups = [group_of.get(name, name) for name in names]
        if priced & set(labels):
            group_costs = {label: cost[label] if label in priced else 0.0 for label in groups}
        else:
            _refuse_unequal(groups, feature_costs, path.name)
    if not np.any(feature_costs > 0) and not any((group_costs or {}).values()):
        raise Refused(f"All costs of {path.name} are 0: there is nothing to save.")
    return Prices(feature_costs, groups, group_costs, path.name)


def _groups(lines: pd.DataFrame, labels: list[str], names: list[str], file: str) -> dict[str, str]:
    """Group of each feature that has one."""
    if "group" not in lines:
        return {}
    pairs = zip(labels, lines["group"], strict=True)
    group_of = {label: str(group) for label, group in pairs if not pd.isna(group)}
    clash = [g for g in dict.fromkeys(group_of.values()) if g in names and group_of.get(g) != g]
    if clash:
        raise Refused(
            f"{file} has groups with the name of a feature ({listed(clash)}): rename them."
        )
    return group_of


def _refuse_mismatch(labels, names, groups: set[str], file: str) -> None:
    problems = (
        ([n for n in names if n not in set(labels)], "no cost for the columns"),
        ([n for n in labels if n not in set(names) | groups], "costs for what is no feature:"),
        ([n for n, count in Counter(labels).items() if count > 1], "more than one cost for"),
        (
            sorted(groups - set(labels)) if groups & set(labels) else [],
            "a price for some groups and none for",
        ),
    )
    complaints = [f"{words} {listed(those)}" for those, words in problems if those]
    if complaints:
        raise Refused(
            f"{file} has {' and '.join(complaints)}: give each feature one line (or leave a column "
            "out with --drop)."
        )


def _costs(column: pd.Series, labels: list[str], file: str) -> dict[str, float]:
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    wrong = [label for label, v in zip(labels, values, strict=True) if not 0 <= v < np.inf]
    if wrong:
        raise Refused(f"Costs must be finite numbers of 0 or more; {file} has others for "
                      f"{listed(wrong)}.")  # fmt: skip
    return dict(zip(labels, values.tolist(), strict=True))


def _refuse_unequal(groups: list[str], feature_costs: np.ndarray, file: str) -> None:
    first: dict[str, float] = {}
    unequal = [
        label
        for label, cost in zip(groups, feature_costs, strict=True)
        if first.setdefault(label, cost) != cost
    ]
    if unequal:
        raise Refused(
            f"Features of one group are acquired together and must have one cost; in {file} they "
            f"differ within {listed(list(dict.fromkeys(unequal)))}: make them equal, or give each "
            "group a line of its own with its price."
        )
