"""The features of a table: numbers, columns of text made numbers, and what each costs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from algorithms.raw_tables import RawColumn
from experiments.compare import categories
from experiments.compare.fields import Complaints
from experiments.compare.own_columns import OwnColumns
from experiments.compare.reading import Table
from experiments.compare.row_numbers import left_out, numbering
from experiments.compare.tables import Prices, feature_matrix, read_prices


@dataclass(frozen=True)
class Features:
    """Features of a table."""

    X: np.ndarray
    names: list[str]  # Of its columns
    columns: list[str]  # Columns of the table that they are made of, as it spells them
    codes: dict[str, RawColumn]  # How those of text become numbers
    prices: Prices  # Of the d columns; those of one column of the table are one purchase
    own: OwnColumns | None  # The table's own columns, where some are of text
    notes: tuple[str, ...]  # What may surprise

    def of_another_file(self, table: Table) -> np.ndarray:
        """Give the features of a file that has the same columns."""
        own = {name: table.named(name) for name in self.columns}
        codes = {own[name]: code for name, code in self.codes.items()}
        return feature_matrix(table, [own[name] for name in self.columns], codes)

    def only_in(self, table: Table) -> list[str]:
        """Say in a line for each column of text which of another file's values it lacks."""
        found = {name: categories.unknown(code, table.columns[table.named(name)])
                 for name, code in self.codes.items()}  # fmt: skip
        return [categories.said_of_unknown(name, table.file, *of)
                for name, of in found.items() if of[1]]  # fmt: skip


def features_of(
    table: Table,
    special: Sequence[str | None],
    costs: Path | None,
    with_texts: Callable[[Sequence[str]], Table],
) -> Features:
    """Give a table's features and their prices.

    Parameters
    ----------
    table : Table
    special : sequence of str or None
        Columns that are none.
    costs : Path or None
        Price list, by the table's own columns.
    with_texts : callable
        ``names -> Table``: the same table with the texts of these columns, read once more.

    Raises
    ------
    Refused
        If a column is no feature that a method could take, or the price list does not fit.
    """
    columns, notes = left_out(table, [name for name in table if name not in special])
    complaints, prices = Complaints(), None
    with complaints.heard():
        prices = read_prices(costs, columns, [name for name in table if name not in columns])
    text = {n: table.columns[n].odd for n in columns if table.columns[n].numbers is None}
    table = with_texts(list(text)) if text else table
    found = []
    for name, odd in text.items():
        with complaints.heard():
            found.append(categories.code_of(name, table.columns[name], odd, table.file))
    of_no_use = [name for name in text if name not in [code.name for code in found]]
    if len(of_no_use) > 1:
        drop = " ".join(f"--drop {shlex.quote(name)}" for name in of_no_use)
        complaints.said.append(f"What leaves {len(of_no_use)} of these columns out is {drop}.")
    if prices is not None:
        found = categories.within_groups(found, prices, columns)
    codes = {code.name: code for code in found}
    usable = [name for name in columns if name not in of_no_use]
    with complaints.heard():
        if usable or not of_no_use:
            X = feature_matrix(table, usable, codes)
    complaints.refuse()
    names = categories.names_of(columns, codes, table.file)
    numbers = np.isin(names, [name for name in columns if name not in codes])
    notes += numbering(X[:, numbers], [name for name in columns if name not in codes])
    notes += [*categories.notes_of(found), *prices.notes]
    own = OwnColumns.of(columns, codes, prices) if codes else None
    prices = categories.expanded(prices, columns, codes)
    return Features(X, names, columns, codes, prices, own, tuple(notes))
