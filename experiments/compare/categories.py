"""Columns of text as numbers, by one rule for all methods; a column stays one purchase.

What splits categories itself is given these back (:mod:`experiments.compare.own_columns`).

Two values are 0 and 1, in the order of the alphabet. Up to a dozen are a column of 0 and 1 each
("one-hot"), which are acquired together. More are numbered in the order of the alphabet, one
column; so are those of a column whose group has a price of its own, for a group knows no groups
within. A missing value is a value like any other; one that the table lacks, in a test file, is none
of them. Truth values are numbers already. Dates, free text, and numbers with a few words between
are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from algorithms.raw_tables import RawColumn
from algorithms.raw_tables.columns import GONE, levels
from algorithms.raw_tables.fields import number_of
from algorithms.validation.prices import listed
from experiments.compare.fields import Column, Refused, spelling
from experiments.compare.tables import Prices

MOST_COLUMNS = 12
"""Values of a column that get a column each."""

MOST_VALUES = 1000
"""Values of a column at all."""

_BY_SETS = (
    "CEGB, Greedy Miser and GBRT take text as categories, by sets of them, in about half of "
    "their trainings, which are no more than those of others; all else takes it as said, LightGBM, "
    "CatBoost and scikit-learn too, of whose splits by categories the meter knows nothing"
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ].*)?|"
    r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)


def code_of(name: str, column: Column, odd: str, file: str) -> RawColumn:
    """Say how a column becomes numbers."""
    values = sorted(set(levels(column.texts())))
    there = [value for value in values if value != GONE]
    if odd.startswith("values of the kind"):
        raise Refused(f"Column {name!r} of {file} has {odd}: leave it out with --drop.")
    if odd == "dates or times" or all(_DATE.fullmatch(value) for value in there):
        raise Refused(
            f"Column {name!r} of {file} has dates or times: make numbers of them (days since a "
            "day, the month), or leave it out with --drop."
        )
    if spelled := spelling(there):
        raise Refused(
            f"Column {name!r} of {file} has {spelled}, let each begin with a letter if they are "
            "codes, or leave the column out with --drop."
        )
    numbers = [value for value in there if number_of(value) is not None]
    if numbers and 2 * len(numbers) >= len(there):
        raise Refused(
            f"Column {name!r} of {file} has numbers, and {odd}: write all of them as numbers, and "
            "nothing where a value is missing, or leave the column out with --drop."
        )
    n_rows = len(column.text)
    if len(values) > MOST_VALUES or (len(there) > MOST_COLUMNS and 2 * len(there) > n_rows):
        raise Refused(
            f"Column {name!r} of {file} has {len(there):,} different texts in "
            f"{n_rows:,} rows, which is no category: leave it out with --drop."
        )
    if len(values) <= 2:
        return RawColumn(name, tuple(values), "two")
    return RawColumn(name, tuple(values), "columns" if len(values) <= MOST_COLUMNS else "numbers")


def within_groups(
    codes: Sequence[RawColumn], prices: Prices, names: Sequence[str]
) -> list[RawColumn]:
    """Number the values of columns whose group has a price of its own, others beside them."""
    if prices.group_costs is None or prices.feature_groups is None:
        return list(codes)
    label = dict(zip(names, prices.feature_groups, strict=True))
    shared = {one for one in prices.group_costs if prices.feature_groups.count(one) > 1}
    return [
        code._replace(kind="numbers")
        if code.kind == "columns" and (label[code.name] in shared or label[code.name] != code.name)
        else code
        for code in codes
    ]


def expanded(prices: Prices, names: Sequence[str], codes: Mapping[str, RawColumn]) -> Prices:
    """Give the prices of the columns that columns become: those of one are one purchase."""
    several = [name for name in names if name in codes and len(codes[name].made) > 1]
    if not several:
        return prices
    groups = list(names) if prices.feature_groups is None else prices.feature_groups
    of_groups = None if prices.group_costs is None else dict(prices.group_costs)
    costs, labels = [], []
    for name, cost, label in zip(names, prices.feature_costs, groups, strict=True):
        columns = codes[name].made if name in codes else [name]
        own = float(cost)
        if of_groups is not None and len(columns) > 1:  # alone in its group: the group is paid
            of_groups[label] = of_groups.get(label, 0.0) + own
            own = 0.0
        costs += [own] * len(columns)
        labels += [label] * len(columns)
    return replace(
        prices, feature_costs=np.array(costs), feature_groups=labels, group_costs=of_groups
    )


def names_of(names: Sequence[str], codes: Mapping[str, RawColumn], file: str) -> list[str]:
    """Give the names of the columns that columns become; Refused if two are the same."""
    found = [n for name in names for n in (codes[name].made if name in codes else [name])]
    twice = [name for name in dict.fromkeys(found) if found.count(name) > 1]
    if twice:
        raise Refused(
            f"{file} has columns that those made of texts are called, too ({listed(twice)}): "
            "rename them."
        )
    return found


def said_of_unknown(name: str, file: str, values: Sequence[str], n_rows: int) -> str:
    """Say what becomes of values that only another file has."""
    several = "value" if len(values) == 1 else "values"
    return (
        f"column {name!r} of {file} has {len(values):,} {several} that the table lacks "
        f"({listed(values)}), in {n_rows:,} rows: they count as none of its values, and as "
        "missing where text is taken as categories"
    )


def unknown(code: RawColumn, column: Column) -> tuple[list[str], int]:
    """Give the values of another file's column that a column lacks, and their rows."""
    found = [value for value in levels(column.texts()) if value not in code.values]
    return sorted(set(found)), len(found)


def notes_of(codes: Sequence[RawColumn]) -> list[str]:
    """Say in a line each how columns of text were taken, and in one by whom otherwise."""
    if not codes:
        return []
    how = {
        "two": "0 and 1",
        "columns": "a column for each of {n} values, acquired together",
        "numbers": "{n} values numbered in the order of the alphabet",
    }
    lines = [
        f"column {code.name!r} has text, taken as " + how[code.kind].format(n=len(code.values))
        for code in codes
    ]
    return [*lines, _BY_SETS]
