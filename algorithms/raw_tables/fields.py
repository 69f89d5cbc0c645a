"""What a field of a table says: a number, that a value is missing, or text."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

MISSING = frozenset(
    {"na", "n/a", "#na", "#n/a", "#n/a n/a", "<na>", "nan", "-nan", "null", "none", "1.#ind",
     "-1.#ind", "1.#qnan", "-1.#qnan"}
)  # fmt: skip
"""Fields of a feature that say, in upper or lower case, that a value is missing; so do blanks."""

TRUTH = {"true": 1.0, "false": 0.0}
"""Fields of a feature that say yes or no, in upper or lower case, and their numbers."""

_INFINITE = re.compile(r"[+-]?inf(?:inity)?")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def key(text: str) -> str:
    """Give what names are matched by: without surrounding blanks, in Unicode's form NFC."""
    return unicodedata.normalize("NFC", text).strip()


def says_missing(text: str) -> bool:
    """Whether a field without surrounding blanks says that a value is missing."""
    return not text or text.lower() in MISSING


def plainly(text: str) -> bool:
    """Whether a field is a number as people write it: no zeros that lead, no underscores."""
    return _NUMBER.fullmatch(text) is not None


def is_infinite(text: str) -> bool:
    """Whether a field says "infinite" as programs write it."""
    return _INFINITE.fullmatch(text.strip().lower()) is not None


def number_of(text: str) -> float | None:
    """Give a number, infinite ones included; None for any other text."""
    text = text.strip()
    return float(text) if plainly(text) or is_infinite(text) else None


def text_of(value: Any) -> str:
    """Give a value as text: whole numbers without a point, so that they match a CSV file's."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):  # text of who does not say that it is some
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite():
        return str(int(value)) if value == value.to_integral_value() else f"{value.normalize():f}"
    if isinstance(value, Real):
        value = float(value)
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)
