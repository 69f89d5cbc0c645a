"""The table's own columns beside the numbers made of them: text as categories, each one purchase.

Trials read numbers (:mod:`experiments.compare.categories`). Methods that split categories by sets
take the table's own columns in some of their draws; the others take the numbers, as all other
methods do, since neither is better on all data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from algorithms.raw_tables import RawColumn
from algorithms.raw_tables.columns import GONE

if TYPE_CHECKING:
    from experiments.compare.tables import Prices


@dataclass(frozen=True)
class OwnColumns:
    """Columns as the user's table has them."""

    names: tuple[str, ...]
    codes: dict[str, RawColumn]  # How those of text became numbers
    prices: dict[str, Any]  # ``feature_costs, feature_groups, group_costs`` of these columns

    @classmethod
    def of(cls, names: Sequence[str], codes: Mapping[str, RawColumn], prices: Prices) -> OwnColumns:
        """Take columns and prices as they were before columns of text became numbers."""
        each = {
            "feature_costs": prices.feature_costs.tolist(),
            "feature_groups": prices.feature_groups,
            "group_costs": prices.group_costs,
        }
        return cls(tuple(names), dict(codes), each)

    def to_json(self) -> dict[str, Any]:
        """Give what :meth:`of_json` reads."""
        codes = [list(code) for code in self.codes.values()]
        return {"names": list(self.names), "codes": codes, "prices": self.prices}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> OwnColumns:
        """Read what :meth:`to_json` gave."""
        codes = [RawColumn(*c) for c in stored["codes"]]
        return cls(
            tuple(stored["names"]), {code.name: code for code in codes}, dict(stored["prices"])
        )

    def _blocks(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each column and the places of those of numbers that it became."""
        first = 0
        for name in self.names:
            n = len(self.codes[name].made) if name in self.codes else 1
            yield name, np.arange(first, first + n)
            first += n

    def columns_of(self, places: Sequence[int] | None) -> list[int] | None:
        """Give the columns that some columns of numbers were made of; None stays None."""
        if places is None:
            return None
        taken = [bool(np.isin(block, places).any()) for _, block in self._blocks()]
        return np.flatnonzero(taken).tolist()

    def table(self, X: pd.DataFrame) -> pd.DataFrame:
        """Give the table's own columns back."""
        numbers = X.to_numpy()
        return pd.DataFrame({
            name: _decoded(self.codes[name], numbers[:, block])
            if name in self.codes
            else numbers[:, block[0]]
            for name, block in self._blocks()
        })  # fmt: skip


def raw_columns(names: Sequence[str], own: OwnColumns | None, as_text: bool) -> list[RawColumn]:
    """Give the columns of the user's table; `as_text` for a model that takes text itself."""
    if own is None:
        return [RawColumn(name) for name in names]
    codes = own.codes
    if as_text:
        codes = {name: code._replace(kind="category") for name, code in codes.items()}
    return [codes.get(name, RawColumn(name)) for name in own.names]


def _decoded(code: RawColumn, numbers: np.ndarray) -> pd.Categorical:
    """Give a column's values back: those missing, or that the table lacked, are missing."""
    if code.kind == "columns":
        at = np.where(numbers.any(axis=1), numbers.argmax(axis=1), -1)
    else:
        at = numbers[:, 0].astype(np.int64)
    there = np.array([value != GONE for value in code.values])
    place = np.append(np.where(there, np.cumsum(there) - 1, -1), -1)  # the last one is for -1
    known = [value for value in code.values if value != GONE]
    return pd.Categorical.from_codes(place[at], categories=known)
