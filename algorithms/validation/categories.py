"""Tables with columns of categories: text, or numbers of which only equality means something.

A column of categories becomes one of codes: the place of each category among those that the model
knows, and NaN for all others. Which it knows is :mod:`reference.beyond.categories`'s rule.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from .columns import LARGEST_WHOLE, Columns, as_list, refuse_one_in_float64, spelled_otherwise

_SHOWN = 40  # characters of a value in a message
_TEXT_DTYPES = ("string", "str", "large_string", "string_view", "utf8", "large_utf8")


class ManyCategoriesWarning(UserWarning):
    """A column has categories that the model does not tell apart; the message says which."""


class Table(NamedTuple):
    """Rows as numbers, and what those of columns of categories stand for."""

    # (n_samples, n_features) float64: in a column of categories the place of each in its list of
    # labels; NaN is missing
    X: np.ndarray
    # Of each column of categories: distinct, ascending, float64 or object (text)
    labels: dict[int, np.ndarray]


# --- Which columns are of categories -----------------------------------------------------------


def categorical_mask(spec: Any, columns: Columns) -> np.ndarray | None:
    """Which columns are of categories."""
    n_features, given = len(columns.values), check_categorical_features("", spec)
    if given is None:
        return None
    if isinstance(given, str):
        mask = np.array([_is_of_categories(column) for column in columns.values], dtype=bool)
        return mask if columns.names is not None and mask.any() else None
    mask, given = np.zeros(n_features, dtype=bool), list(given)
    if given and _is_truth(given[0]):
        if len(given) != n_features:
            raise ValueError(
                f"categorical_features as a mask must have one truth value for each of the "
                f"{n_features} columns, got {len(given)}."
            )
        mask[:] = given
    elif given and isinstance(given[0], str):
        mask[[_place_of(name, columns.names) for name in given]] = True
    elif given:
        if wrong := [one for one in given if not 0 <= one < n_features]:
            raise ValueError(
                f"categorical_features has the place {wrong[0]}, and the {n_features} columns are "
                f"0 to {n_features - 1}."
            )
        mask[given] = True
    return mask if mask.any() else None


def check_categorical_features(_: str, spec: Any) -> Any:
    """Give the parameter as it is; refuse what says of no columns that they are of categories."""
    if spec is None or (isinstance(spec, str) and spec == "from_dtype"):
        return spec
    try:
        given = [] if isinstance(spec, str | dict) else list(spec)
        kinds = {_is_truth, _is_name, _is_place} if not isinstance(spec, str | dict) else ()
    except TypeError:
        kinds = ()
    if any(all(map(kind, given)) for kind in kinds):
        return spec
    raise ValueError(
        'categorical_features must be None, "from_dtype", or a list of names, places or truth '
        f"values, one kind only, got {spec!r:.80}."
    )


def _is_truth(one: Any) -> bool:
    return isinstance(one, bool | np.bool_)


def _is_name(one: Any) -> bool:
    return isinstance(one, str)


def _is_place(one: Any) -> bool:
    return isinstance(one, Integral) and not _is_truth(one)


def _place_of(name: str, names: list | None) -> int:
    if names is None:
        raise ValueError(
            f"categorical_features has the name {name!r}, and the columns of X have none: give a "
            "table, or places."
        )
    if name not in names:
        raise ValueError(f"categorical_features has the name {name!r}, which no column of X has.")
    return names.index(name)


def _is_of_categories(column: Any) -> bool:
    """Whether the dtype of a table's column says that it holds categories, or text."""
    dtype = getattr(column, "dtype", getattr(column, "type", None))
    name = str(dtype).lower()
    if name.startswith(("category", "categorical", "enum", "dictionary")):
        return True
    if name.startswith(_TEXT_DTYPES):
        return True
    if name == "object":  # text, of pandas, if nothing but text is in it
        there = [value for value in column if not is_missing(value)]
        return any(isinstance(value, str) for value in there)
    return False


# --- Reading columns ---------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    """Whether a value stands for none."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def tabulate(columns: Columns, mask: np.ndarray) -> Table:
    """Read all columns as numbers, those of categories as places among their labels."""
    lengths = {len(column) for column in columns.values}
    X = np.empty((max(lengths, default=0), len(columns.values)))
    labels = {}
    for m, column in enumerate(columns.values):
        if mask[m]:
            labels[m], X[:, m] = _factorised(column, columns.called(m))
        else:
            X[:, m] = numbers_of_column(column, columns.called(m))
    return Table(X, labels)


def numbers_of_column(column: Any, called: str) -> np.ndarray:
    """Read a column of numbers; NaN is missing."""
    if hasattr(column, "iloc") and getattr(column.dtype, "kind", "O") not in "biuf":
        column = column.astype(object)  # pandas' own missing values
    values = np.asarray(column)
    if values.dtype.kind in "mM":
        raise ValueError(_no_numbers(called, "dates or times"))
    refuse_one_in_float64(column, called)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    there = [np.nan if is_missing(value) else value for value in values.tolist()]
    texts = [value for value in there if isinstance(value, str)]
    if spelled := spelled_otherwise(texts):
        raise ValueError(f"{called} holds {spelled}.")
    for value in there:
        if isinstance(value, str):
            raise ValueError(
                f"{called} holds text ({_shown(value)}), not numbers: name it in "
                'categorical_features, or give a table and categorical_features="from_dtype".'
            )
        if not isinstance(value, Real):
            raise ValueError(_no_numbers(called, _kind(value)))
    return np.array(there, dtype=np.float64)


def _no_numbers(called: str, what: str) -> str:
    return (
        f"{called} holds {what}, which are neither numbers nor categories: make numbers of them "
        "(days since a date, say), or leave the column out."
    )


def _kind(value: Any) -> str:
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | np.datetime64):
        return "dates or times"
    return f"values of type {type(value).__name__}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _factorised(column: Any, called: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels of a column of categories, ascending, and their places in its rows, NaN if missing."""
    categorical = getattr(column, "cat", None)
    if categorical is not None and hasattr(categorical, "codes"):  # pandas: few are looked at
        labels, place = _factorised(np.array(categorical.categories, dtype=object), called)
        codes = np.asarray(categorical.codes)
        return _only_used(labels, np.append(place, np.nan)[codes])
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":  # an array, or a Series around one
        return _of_numbers(np.asarray(column), called)
    return _of_objects(as_list(column), called)


def _of_numbers(values: np.ndarray, called: str) -> tuple[np.ndarray, np.ndarray]:
    whole = values.dtype.kind in "iu" and len(values) > 0
    if whole and max(int(values.max()), -int(values.min())) > LARGEST_WHOLE:
        raise ValueError(_too_large(called))
    values = values.astype(np.float64) + 0.0
    if np.isinf(values).any():
        raise ValueError(f"{called} has an infinite number as a category: make it missing (NaN).")
    place, present = np.full(len(values), np.nan), ~np.isnan(values)
    labels, place[present] = np.unique(values[present], return_inverse=True)
    return labels, place


def _too_large(called: str) -> str:
    return (
        f"{called} has whole numbers above 2**53 as categories, which float64 cannot tell apart: "
        "make text of them."
    )


def _of_objects(values: list, called: str) -> tuple[np.ndarray, np.ndarray]:
    there = {}
    for value in values:
        if not is_missing(value):
            try:
                there[value] = None
            except TypeError:
                raise ValueError(_no_category(called, value)) from None
    text = [value for value in there if isinstance(value, str)]
    other = [value for value in there if not isinstance(value, str)]
    for value in other:
        if not isinstance(value, Real | np.bool_):
            raise ValueError(_no_category(called, value))
        if isinstance(value, Integral) and abs(int(value)) > LARGEST_WHOLE:
            raise ValueError(_too_large(called))
    if text and other:
        raise ValueError(
            f"{called} mixes text and numbers as categories ({_shown(text[0])} and "
            f"{_shown(other[0])}): make all of it text, or all of it numbers."
        )
    if text:
        labels = np.array(sorted(text), dtype=object)
        places = {label: k for k, label in enumerate(labels)}
        found = [np.nan if is_missing(value) else places[value] for value in values]
        return labels, np.array(found, dtype=np.float64)
    numbers = [np.nan if is_missing(value) else float(value) for value in values]
    return _of_numbers(np.array(numbers, dtype=np.float64), called)


def _no_category(called: str, value: Any) -> str:
    return (
        f"{called} holds {_kind(value)} as categories: only text and numbers are. Make text of "
        "them, or leave the column out."
    )


def _only_used(labels: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Without labels that no row has."""
    present = ~np.isnan(place)
    used, place[present] = np.unique(place[present].astype(np.int64), return_inverse=True)
    return labels[used], place


# --- What a model knows of them ----------------------------------------------------------------


def known_categories(
    table: Table,
    counts: np.ndarray | None,
    exponent: int,
    least: float,
    most: int,
    called: Sequence[str],
) -> dict[int, np.ndarray]:
    """Categories of each column that have a bin; all others count as missing."""
    known = {}
    for m, labels in table.labels.items():
        there = ~np.isnan(table.X[:, m])
        weight = np.zeros(len(labels), dtype=np.int64)
        of_rows = 1 if counts is None else counts[there]
        np.add.at(weight, table.X[there, m].astype(np.int64), of_rows)
        heavy = np.flatnonzero(np.ldexp(weight.astype(np.float64), -exponent) >= least)
        heaviest = heavy[np.argsort(-weight[heavy], kind="stable")][:most]
        known[m] = labels[np.sort(heaviest)]
        if len(heavy) > most or (len(labels) > 1 and not len(heavy)):
            warnings.warn(
                f"{called[m]} has {len(labels)} categories, of which {len(known[m])} are told "
                f"apart: those that weigh at least min_samples_leaf, up to max_bins ({most}), the "
                "heaviest. All others count as missing.",
                ManyCategoriesWarning,
                stacklevel=2,
            )
    return known


def encoded(table: Table, known: dict[int, np.ndarray], called: Sequence[str]) -> np.ndarray:
    """Rows with codes in the place of categories; NaN is missing, too rare, or not known."""
    X = table.X.copy()
    for m, labels in table.labels.items():
        if len(labels) and len(known[m]) and (labels.dtype == object) != (known[m].dtype == object):
            kinds = ("text", "numbers") if labels.dtype == object else ("numbers", "text")
            raise ValueError(f"{called[m]} has {kinds[0]} as categories, and in fit {kinds[1]}.")
        codes = {label: k for k, label in enumerate(known[m].tolist())}
        of_label = [codes.get(label, np.nan) for label in labels.tolist()]
        there = ~np.isnan(X[:, m])
        X[there, m] = np.array(of_label, dtype=np.float64)[X[there, m].astype(np.int64)]
    return X
