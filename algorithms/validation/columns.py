"""Columns of tables, arrays and lists of rows, and the numbers in them as users have them.

Whole numbers must not become one in float64, other spellings of numbers are told, and what a mask
hides is missing, and never read as a value.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Columns(NamedTuple):
    """Columns of a table, by place; `names` is None of what is no table."""

    values: list[Any]
    names: list | None

    def called(self, m: int) -> str:
        """What to call a column in a message."""
        return f"Column {m}" if self.names is None else f"Column {self.names[m]!r}"


def columns_of(X: Any, names: list | None) -> Columns:
    """Take a table, an array or a list of rows apart."""
    if names is not None:
        if hasattr(X, "iloc"):  # pandas: names may come twice
            return Columns([X.iloc[:, m] for m in range(len(names))], names)
        if hasattr(X, "column_names"):  # Arrow
            return Columns([X.column(m) for m in range(len(names))], names)
        return Columns([X[name] for name in names], names)
    if hasattr(X, "toarray"):
        raise ValueError(
            "X is a sparse matrix, and with categorical_features rows are read densely: give "
            "X.toarray()."
        )
    X = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, got an array of shape {X.shape}.")
    return Columns(list(X.T), None)


def as_list(column: Any) -> list:
    """Values of a column, or of rows, as Python's own."""
    listing = getattr(column, "to_pylist", getattr(column, "tolist", None))
    listing = getattr(column, "to_list", listing)
    return list(column) if listing is None else listing()


LARGEST_WHOLE = 2**53
"""Up to it all whole numbers are float64."""

_NO_FLOAT64 = 2**1023
_BETWEEN = "[.,'\u2019 \u00a0\u202f]"
_THOUSANDS = re.compile(
    rf"[+-]?[1-9]\d{{0,2}}(?P<by>{_BETWEEN})\d{{3}}(?:(?P=by)\d{{3}})*(?:(?!(?P=by))[.,]\d+)?"
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")


def one_in_float64(whole: Iterable[int]) -> tuple[int, int] | None:
    """Two whole numbers that are one in float64; None if there are none."""
    pairs = itertools.pairwise(sorted(set(whole)))
    return next(((a, b) for a, b in pairs if float(a) == float(b)), None)


def _exact(values: Any) -> np.ndarray:
    """Values as an array, of objects where NumPy would make floats of large whole numbers."""
    read = np.asarray(values)
    its_own = isinstance(getattr(values, "dtype", None), np.dtype)
    if its_own or read.dtype.kind != "f" or not np.any(np.abs(read) >= LARGEST_WHOLE):
        return read
    return np.array(as_list(values), dtype=object)


def whole_beyond(values: Any) -> list[int]:
    """Whole numbers of 2**53 and beyond in a column of integers or objects."""
    values = _exact(values)
    if values.dtype.kind in "iu":
        return np.unique(values[(values >= LARGEST_WHOLE) | (values <= -LARGEST_WHOLE)]).tolist()
    if values.dtype.kind != "O":
        return []
    whole = (int(v) for v in values.tolist() if isinstance(v, Integral))
    return [v for v in whole if LARGEST_WHOLE <= abs(v) < _NO_FLOAT64]


def refuse_one_in_float64(column: Any, called: str) -> None:
    """Refuse a column with whole numbers that are one in float64 (ValueError)."""
    if pair := one_in_float64(whole_beyond(column)):
        raise ValueError(
            f"{called} has whole numbers beyond 2**53 that are one in float64 ({pair[0]} and "
            f"{pair[1]}): subtract the smallest from all of them, or leave the column out."
        )


def check_whole_numbers(X: Any, names: list | None) -> None:
    """Refuse rows to be fitted, as the user has them, by :func:`refuse_one_in_float64`."""
    for m, column in enumerate(_columns(X, names)):
        refuse_one_in_float64(column, f"Column {m if names is None else repr(names[m])}")


def _columns(X: Any, names: list | None) -> Iterator[Any]:
    """Columns, as far as what holds them may hold large whole numbers."""
    if names is not None:
        yield from columns_of(X, names).values
    elif hasattr(X, "tocsc"):
        if _may_be_large(X.dtype):
            stored = X.tocsc()
            yield from np.split(stored.data, stored.indptr[1:-1])
    else:
        try:
            X = _exact(X)
        except ValueError:  # rows of several lengths, for which others have a sentence
            return
        if X.ndim == 2 and _may_be_large(X.dtype):
            yield from X.T


def _may_be_large(dtype: np.dtype) -> bool:
    """Whether numbers beyond 2**53 have room: a hundred thousand columns of bytes take seconds."""
    return dtype.kind == "O" or (dtype.kind in "iu" and dtype.itemsize == 8)


def spelled_otherwise(texts: Iterable[str]) -> str:
    """Say how numbers are written, if all texts are some with a decimal comma or by thousands."""
    first: dict[str, str] = {}
    for text in map(str.strip, texts):
        if match := _THOUSANDS.fullmatch(text):
            plain = text.replace(match["by"], "").replace(",", ".")
            if match["by"] == "," and text.count(",") == 1 and "." not in text:
                kind, plain = "thousands separators or decimal commas", f"{plain} or {_point(text)}"
            else:
                kind = "thousands separators"
        elif _DECIMAL_COMMA.fullmatch(text):
            kind, plain = "decimal commas", _point(text)
        else:
            return ""
        first.setdefault(kind, f"numbers with {kind} such as {text!r}: write {plain}")
    plainest = ("decimal commas", "thousands separators")  # tell what others leave open
    return next((first[kind] for kind in (*plainest, *first) if kind in first), "")


def _point(text: str) -> str:
    return text.replace(",", ".")


def hides_values(values: object) -> bool:
    """Whether an array, or an array in a list, is masked and its mask hides something."""
    if isinstance(values, list | tuple):
        return any(np.ma.isMaskedArray(one) and np.ma.is_masked(one) for one in values)
    return np.ma.isMaskedArray(values) and np.ma.is_masked(values)


def refuse_masked(values: object, name: str) -> None:
    """Refuse hidden values where none may be missing."""
    if hides_values(values):
        raise ValueError(
            f"{name} must have all of its values, so that it is not a masked array: fill it in "
            "first."
        )


def masked_as_missing(X: ArrayLike, allow_nan: bool, reader: str) -> Any:
    """Give rows whose hidden values are NaN."""
    if not hides_values(X):
        return X
    if not allow_nan:
        raise ValueError(
            f"X is a masked array: what it hides is missing, and {reader} takes no missing values "
            "(NaN). Give it no masked array: fill it in first."
        )
    X = np.ma.array(X)
    if X.dtype.kind not in "fc":
        exact = X.dtype.kind in "iub" and not whole_beyond(X.compressed())
        X = X.astype(np.float64 if exact else object)
    return X.filled(np.nan)
