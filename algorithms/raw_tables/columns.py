"""Columns of a user's table, each by itself: how it becomes the numbers that a model takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..validation.categories import is_missing, numbers_of_column
from ..validation.columns import as_list
from .fields import TRUTH, is_infinite, number_of, says_missing, text_of

GONE = "(missing)"
"""The level of a column of text for rows where it is missing."""

KINDS = ("number", "two", "columns", "numbers", "category")


class RawColumn(NamedTuple):
    """A column of a table, and what becomes of it.

    Parameters
    ----------
    name : str
    values : sequence of str
        Of a column of text its levels, sorted; a missing value is one, ``(missing)``, if there were
        some. Blanks around a text do not count.
    kind : {"number", "two", "columns", "numbers", "category"}
        ``"number"``: it has numbers, or truth values as 0 and 1. Text: ``"two"`` and ``"numbers"``
        are the place of its level, -1 of a text that is none; ``"columns"`` are a column of 0 and 1
        for each level, all 0 of a text that is none; ``"category"`` is the text itself, for a model
        that knows categories.
    """

    name: str
    values: Sequence[str] = ()
    kind: str = "number"

    @property
    def made(self) -> list[str]:
        """Names of the columns that it becomes."""
        if self.kind == "columns":
            return [f"{self.name}={value}" for value in self.values]
        return [self.name]

    def encode(self, texts: Iterable[str | None]) -> np.ndarray:
        """Give the numbers of a column of text, None where it is missing: (n, k) float64."""
        place = {value: k for k, value in enumerate(self.values)}
        at = np.array([place.get(level, -1) for level in levels(texts)], dtype=np.int64)
        if self.kind == "columns":
            return (at[:, None] == np.arange(len(self.values))).astype(np.float64)
        return at[:, None].astype(np.float64)

    def read(self, column: Any) -> np.ndarray:
        """Give what a model takes for a column of a table of any kind: (n, k), float64 or text.

        ValueError if it holds what it did not hold when the model was trained.
        """
        if self.kind == "number":
            return _numbers(column, f"Column {self.name!r}")[:, None]
        texts = self._texts(as_list(column))
        if self.kind != "category":
            return self.encode(texts)
        found = [None if level == GONE else level for level in levels(texts)]
        return np.array([*found, None], dtype=object)[:-1, None]  # one more: none is no number

    def _texts(self, values: list) -> list[str | None]:
        """Texts of a column; what is no text must be a level, or a reader has changed it."""
        texts = [None if is_missing(value) else text_of(value) for value in values]
        for value, text in zip(values, texts, strict=True):
            if text is not None and not isinstance(value, str) and text not in self.values:
                raise ValueError(
                    f"Column {self.name!r} was text when the model was trained, and holds {text}, "
                    "which is no text and none of its values: read it as text "
                    f"(pandas.read_csv(..., dtype={{{self.name!r}: str}}))."
                )
        return texts


def levels(texts: Iterable[str | None]) -> list[str]:
    """Give the level of each text: without surrounding blanks, and what says "missing" as one."""
    known: dict[str | None, str] = {None: GONE}
    found = []
    for text in texts:
        if text not in known:
            stripped = text.strip()
            known[text] = GONE if says_missing(stripped) else stripped
        found.append(known[text])
    return found


def _numbers(column: Any, called: str) -> np.ndarray:
    """A column of numbers, in whatever way a reader has left them: (n,) float64."""
    dtype = getattr(column, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biufmM":
        values = as_list(column)
        if any(isinstance(value, str) for value in values):
            column = np.array([_number_in(value, called) for value in values], dtype=object)
    found = numbers_of_column(column, called)
    if np.isinf(found).any():
        raise ValueError(f"{called} has infinite numbers: leave them out, as missing (NaN).")
    return found


def _number_in(value: Any, called: str) -> Any:
    """A value of a column of numbers; of a text the number that it says."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if says_missing(text):
        return None
    number = TRUTH.get(text.lower())
    if number is None and not is_infinite(text):
        number = number_of(text)
    if number is None:
        shown = text if len(text) <= 30 else f"{text[:29]}…"
        raise ValueError(
            f"{called} was numbers when the model was trained, and holds {shown!r}: correct it, or "
            "leave it out, as missing (NaN)."
        )
    return number
