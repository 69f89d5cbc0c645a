"""Columns of a file: what of their fields is plainly numbers, and what is text."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from algorithms.raw_tables.fields import (
    MISSING,
    TRUTH,
    number_of,
    says_missing,
    text_of,
)
from algorithms.validation.columns import (
    LARGEST_WHOLE,
    one_in_float64,
    spelled_otherwise,
    whole_beyond,
)

_FAST = re.compile(r"[0-9.eE+\n-]*")  # then `float` and this module agree, but for zeros that lead
_LONG_WHOLE = re.compile(r"\s*[+-]?[0-9]{16,300}\s*")  # those of more digits are refused
_LEADING_ZERO = re.compile(r"\n[+-]?0[0-9]")


class Refused(ValueError):
    """An input that cannot be compared on; each argument is a sentence that says what to do."""

    def __str__(self) -> str:
        if len(self.args) == 1:
            return self.args[0]
        return "\n".join([f"{len(self.args)} things are wrong.", *(f"- {s}" for s in self.args)])


class Complaints:
    """All that is wrong with an input, to be told at once."""

    def __init__(self) -> None:
        self.said: list[str] = []

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Keep what is refused inside, and go on."""
        try:
            yield
        except Refused as error:
            self.said += error.args

    def refuse(self) -> None:
        """Refuse the input if anything was refused (Refused)."""
        if self.said:
            raise Refused(*self.said)


@dataclass(frozen=True)
class Column:
    """A column of a file."""

    numbers: np.ndarray | None  # If all fields are plainly numbers; NaN where a value is missing
    # The fields as they are written, where they were kept; None where a value is missing
    text: np.ndarray | None
    # Whether the file says what is a number and what is text, as Parquet does and CSV does not
    typed: bool = False
    boolean: bool = False  # Whether the values are true and false
    odd: str = ""  # What is no number, for messages: ``'red' in line 2``
    alike: tuple[int, int] | None = None  # Different whole numbers that are one in `numbers`

    def texts(self) -> list[str | None]:
        """Give the text of each value, None where it is missing; of numbers without text, too."""
        if self.text is not None:
            return list(self.text)
        return [None if np.isnan(value) else f"{value:g}" for value in self.numbers]

    def is_missing(self) -> np.ndarray:
        """Say of each row whether its value is missing: (n,) bool."""
        if self.text is not None:
            return np.array([text is None for text in self.text], dtype=bool)
        return np.isnan(self.numbers)


class Blocks:
    """A column while its file is read, some rows at a time."""

    def __init__(self, keeps_text: bool) -> None:
        self.keeps_text = keeps_text
        self.odd = ""
        self.texts: list[str | None] = []
        self.numbers: list[np.ndarray] = []
        self._same: dict[str, str] = {}  # one object for equal texts
        self._kinds: set[str] = set()
        self._beyond: set[int] = set()

    def add(self, fields: Sequence[str], lines: Sequence[int]) -> None:
        """Take fields of the next rows, and the numbers of their lines."""
        if self.keeps_text:
            same = self._same
            self.texts += [same.setdefault(f, f) if f and f.strip() else None for f in fields]
        elif not self.odd:
            values = None if "truth" in self._kinds else _fast(fields)
            if values is None:
                values = self._one_by_one(fields, lines)
            else:
                self._kinds.add("number")
            self.numbers.append(values)
            large = np.flatnonzero(np.abs(values) >= LARGEST_WHOLE)
            self._beyond |= whole_numbers(fields[i] for i in large)

    @property
    def alike(self) -> tuple[int, int] | None:
        """Two whole numbers that are one in float64, if there are some."""
        return one_in_float64(self._beyond)

    @property
    def boolean(self) -> bool:
        """Whether there were truth values, and no numbers."""
        return self._kinds == {"truth"}

    def _one_by_one(self, fields: Sequence[str], lines: Sequence[int]) -> np.ndarray:
        values = np.full(len(fields), np.nan)
        for i, field in enumerate(fields):
            text = field.strip()
            if says_missing(text):
                continue
            value, kind = TRUTH.get(text.lower()), "truth"
            if value is None:
                value, kind = number_of(text), "number"
            self._kinds.add(kind)
            if value is None or len(self._kinds) > 1:
                self.odd = f"{_short(field)} in line {lines[i]}"
                break
            values[i] = value
        return values


def whole_numbers(texts: Iterable[str]) -> set[int]:
    """Give the whole numbers among texts, as far as they may be beyond 2**53."""
    return {int(text) for text in texts if _LONG_WHOLE.fullmatch(text)}


def spelling(texts: Iterable[str | None]) -> str:
    """Say how fields write numbers that are not plainly some; "" if one of them is no number."""
    there = [text.strip() for text in texts if text is not None]
    return spelled_otherwise(
        t for t in there if t and t.lower() not in MISSING and number_of(t) is None
    )


def _fast(fields: Sequence[str]) -> np.ndarray | None:
    """Give numbers where all fields are some and none needs a second look, else None."""
    joined = "\n".join(("", *fields))
    if _FAST.fullmatch(joined) is None or _LEADING_ZERO.search(joined) is not None:
        return None
    try:
        if "" in fields:
            return np.array([float(field) if field else np.nan for field in fields])
        return np.array(list(map(float, fields)))
    except ValueError:  # a field with a line break, or no number
        return None


def _short(text: str) -> str:
    return repr(text if len(text) <= 30 else text[:29] + "…")


def column_of_texts(blocks: Blocks) -> Column:
    """Give the column that was read."""
    if blocks.keeps_text:
        return Column(None, _objects(blocks.texts))
    if blocks.odd:
        return Column(None, None, odd=blocks.odd)
    values = np.concatenate(blocks.numbers) if blocks.numbers else np.empty(0)
    return Column(values, None, boolean=blocks.boolean, alike=blocks.alike)


def _objects(values: Sequence) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# --- what a file says the type of ---------------------------------------------------------------


def column_of_series(series: pd.Series, keeps_text: bool) -> Column:
    """Give a column of a file that has types; the text of its values if it is kept."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    dtype = series.dtype
    alike = one_in_float64(whole_beyond(series.dropna().to_numpy()))
    if pd.api.types.is_numeric_dtype(dtype):
        odd, boolean = "", pd.api.types.is_bool_dtype(dtype)
        plain = series.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        series = series.astype(object).where(series.notna(), None)
        odd, boolean = _kinds(series)
        plain = None if odd else series.astype(np.float64).to_numpy()
    text = None
    if keeps_text:
        gone = series.isna()
        text = _objects([None if m else text_of(v) for v, m in zip(series, gone, strict=True)])
    return Column(plain, text, typed=True, boolean=boolean, odd=odd, alike=alike)


def _kinds(values: pd.Series) -> tuple[str, bool]:
    """Say what among objects is no number, in words, and whether all are true or false."""
    there = [value for value in values if value is not None]
    boolean = bool(there) and all(isinstance(value, bool | np.bool_) for value in there)
    for value in there:
        number = isinstance(value, Real | Decimal)
        if not number or (isinstance(value, bool | np.bool_) and not boolean):
            return _words(value), False
    return "", boolean


def _words(value: Any) -> str:
    if isinstance(value, str | bytes):
        return f"text such as {_short(text_of(value))}"
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | np.datetime64):
        return "dates or times"
    return f"values of the kind {type(value).__name__}"
