"""Labels as the user writes them: classes, and columns that must be numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from algorithms.raw_tables.fields import MISSING, is_infinite, key, number_of, plainly
from algorithms.validation.prices import listed
from experiments.compare.fields import Column, Refused

_WHOLE = re.compile(r"([+-]?[1-9][0-9]*|0)(?:\.0)?")
_TRUTH = {"true": 1, "false": 0}
_INT64 = np.iinfo(np.int64)
_MOST_DIGITS = 22  # of int64, with sign and ".0"


def as_numbers(column: Column) -> np.ndarray | None:
    """Give a column as numbers, infinite ones included; None if a value is none: (n,) float64."""
    if column.numbers is not None or column.text is None:
        return column.numbers
    number, texts = pd.factorize(column.text)
    values = [number_of(text) for text in texts]
    if any(value is None for value in values):
        return None
    return np.array(values, dtype=np.float64)[number]


def words_beside_numbers(column: Column) -> list[str]:
    """Give texts that say "missing" in a column of which all else is numbers."""
    if column.typed or column.text is None:
        return []
    texts = pd.unique(column.text).tolist()
    words = [text for text in texts if text.strip().lower() in MISSING]
    others = [text for text in texts if text not in words]
    return words if others and all(number_of(text) is not None for text in others) else []


def classes_of(column: Column, name: str) -> tuple[np.ndarray, list]:
    """Number the classes of a target.

    They are whole numbers if all are written as such, 0 and 1 for truth values, else text.
    """
    number, texts = pd.factorize(column.text)
    values = _values(list(texts), column, name)
    classes = sorted(set(values))
    place = {value: i for i, value in enumerate(classes)}
    return np.array([place[value] for value in values], dtype=np.int64)[number], classes


def _values(texts: list[str], column: Column, name: str) -> list:
    """Give the class that each of some different texts stands for."""
    lower = [text.strip().lower() for text in texts]
    untyped_or_boolean = column.boolean or not column.typed
    if untyped_or_boolean and set(lower) <= set(_TRUTH) and len(set(lower)) == len(lower):
        return [_TRUTH[text] for text in lower]
    if column.numbers is not None or not column.typed:
        values = [number_of(text) for text in texts]
        if None not in values:
            if any(is_infinite(text) for text in texts):
                raise Refused(f"The target {name!r} has infinite values: leave these rows out.")
            return _numeric([text.strip() for text in texts], name)
    return _as_text(texts, name)


def _numeric(texts: list[str], name: str) -> list:
    """Give whole numbers, if they say all that their texts say; else the texts."""
    spelling: dict[Decimal | str, str] = {}
    for text in texts:
        first = spelling.setdefault(_exactly(text), text)
        if first != text:
            raise Refused(
                f"The target {name!r} has {first!r} and {text!r}, two texts for one number: write "
                "them alike, or, if they are codes, let each begin with a letter."
            )
    whole = [_whole(text) for text in texts]
    if None in whole or min(whole) < _INT64.min or max(whole) > _INT64.max:
        return texts  # no classifier takes other numbers for classes
    return whole


def _whole(text: str) -> int | None:
    """Give a whole number that is written as Python writes one, or a float."""
    match = _WHOLE.fullmatch(text)
    return int(match[1]) if match and len(text) <= _MOST_DIGITS else None


def _exactly(text: str) -> Decimal | str:
    """Give the number that a text says, all digits of it; the text where that is too much."""
    try:
        return Decimal(text)
    except ArithmeticError:
        return text


def _as_text(texts: list[str], name: str) -> list[str]:
    first: dict[str, str] = {}
    for text in texts:
        other = first.setdefault(key(text), text)
        if other != text:
            raise Refused(
                f"The target {name!r} has {other!r} and {text!r}, which differ only by blanks or "
                "by Unicode's form: write them alike."
            )
        if "\0" in text:
            raise Refused(f"The target {name!r} has NUL characters: take them out.")
    return texts


def numbers_of_classes(column: Column, classes: Sequence[Any]) -> tuple[np.ndarray, list]:
    """Number classes as another file has numbered them."""
    number, texts = pd.factorize(column.text)
    if isinstance(classes[0], str):
        place = {key(label): i for i, label in enumerate(classes)}
        found = [place.get(key(text), -1) for text in texts]
    else:
        by_value = {_exactly(str(label)): i for i, label in enumerate(classes)}
        truth = _TRUTH if list(classes) == [0, 1] else {}
        found = [_place(text.strip(), by_value, truth) for text in texts]
    unknown = [text for text, i in zip(texts, found, strict=True) if i < 0]
    shown = [text if _whole(text) is None else _whole(text) for text in unknown]
    return np.array(found, dtype=np.int64)[number], shown


def _place(text: str, by_value: Mapping[Decimal | str, int], truth: Mapping[str, int]) -> int:
    if plainly(text):
        return by_value.get(_exactly(text), -1)
    return truth.get(text.lower(), -1)


def refuse_unknown(unknown: list, file: str, other: str) -> None:
    """Refuse a file that has classes that the other lacks."""
    if unknown:
        raise Refused(f"{file} has classes that {other} lacks: {listed(unknown)}.")
