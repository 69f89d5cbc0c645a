"""Functions of the user's that compute features: which belong to what, and what they answer.

For :mod:`algorithms.on_demand`; every mistake is a message in the user's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ..validation.prices import (
    acquisition_units,
    column_labels,
    feature_names,
    group_labels,
    listed,
)

if TYPE_CHECKING:
    from ..boosted_trees.estimator import BoostedTrees


class Source(NamedTuple):
    """A function of the user's and what it brings."""

    key: Any  # The user's name for it: a column number or name, or a group label
    name: str  # What messages call it
    function: Callable
    columns: dict[Any, int]  # Column number of each feature that it brings, by number and by name
    features: tuple[int, ...]  # The column numbers, ascending
    tested: tuple[int, ...]  # Those that a row can come to be tested for
    grouped: bool  # Whether the key is a group label


class _Unit(NamedTuple):
    """What one acquisition brings, with or without a function."""

    names: tuple[Any, ...]  # keys that the user may call it by
    label: str
    columns: np.ndarray


def _units(model) -> list[_Unit]:
    d = model.n_features_in_
    names = feature_names(model)
    titles = [str(m) if names is None else f"{m} ({names[m]!r})" for m in range(d)]
    groups = model._priced_by().feature_groups
    if groups is None:
        return [
            _Unit((m,) if names is None else (m, names[m]), f"feature {titles[m]}", np.array([m]))
            for m in range(d)
        ]
    labels = group_labels(groups, d, column_labels(model))
    unit_of = acquisition_units(groups, d, column_labels(model))
    units = []
    order = np.argsort(unit_of, kind="stable")
    for columns in np.split(order, np.cumsum(np.bincount(unit_of))[:-1]):
        label = labels[columns[0]]
        key = label if isinstance(label, str) else int(label)
        inside = ", ".join(titles[m] for m in columns)
        plural = "s" if len(columns) > 1 else ""
        units.append(_Unit((key,), f"group {key!r} (feature{plural} {inside})", columns))
    return units


def sources(model: BoostedTrees, functions: Mapping, asked: np.ndarray) -> dict[int, Source]:
    """Match functions with what the model acquires: the source of each unit that has one.

    `asked` (n_features,) are the features that a row can come to be tested for. ValueError if
    `functions` is no mapping to functions, has a key that the model does not know or two for the
    same feature, or lacks what is asked for.
    """
    what = "feature" if model._priced_by().feature_groups is None else "group"
    units = _units(model)
    needed = [u for u, unit in enumerate(units) if np.any(asked[unit.columns])]
    keys = f"Keys that the model asks for: {listed([units[u].names[-1] for u in needed]) or 'none'}"
    if not isinstance(functions, Mapping):
        raise ValueError(
            f"functions must map each {what} to a function of rows, got {functions!r}. {keys}."
        )
    unit_of_key = {key: u for u, unit in enumerate(units) for key in unit.names}
    names = feature_names(model)
    by_unit: dict[int, Source] = {}
    for key, function in functions.items():
        if key not in unit_of_key:
            raise ValueError(
                f"functions has the key {key!r}, but the model has no such {what}. {keys}."
            )
        u = unit_of_key[key]
        if u in by_unit:
            raise ValueError(f"functions has two functions for {units[u].label}.")
        if not callable(function):
            raise ValueError(f"The function of {units[u].label} is not callable: {function!r}.")
        inside = tuple(units[u].columns.tolist())
        columns: dict[Any, int] = {m: m for m in inside}
        if names is not None:
            columns |= {names[m]: m for m in inside}
        tested = tuple(m for m in inside if asked[m])
        by_unit[u] = Source(key, units[u].label, function, columns, inside, tested, what == "group")
    lacking = [u for u in needed if u not in by_unit]
    if lacking:
        uses, lacks = ("; ".join(units[u].label for u in listed) for listed in (needed, lacking))
        raise ValueError(f"The model uses: {uses}. There is no function for: {lacks}.")
    return by_unit


def _library(value) -> str:
    """Which table library made something: "polars", "pyarrow" or ""; neither is imported."""
    for cls in type(value).__mro__:
        top = cls.__module__.partition(".")[0]
        if top in ("polars", "pyarrow"):
            return top
    return ""


def check_rows(rows: Any) -> tuple[Any, int]:
    """Return rows that :func:`take` can take from, and how many there are.

    ValueError if they are no sequence, or none, or a table of an unknown kind, or some are masked.
    """
    if sparse.issparse(rows):
        rows = rows.tocsr()
    _check_kind(rows)
    shape = getattr(rows, "shape", None)
    unordered = isinstance(rows, str | bytes | Mapping | Set)
    ordered = hasattr(rows, "__getitem__") and (shape is not None or hasattr(rows, "__len__"))
    if unordered or shape == () or not ordered:
        raise ValueError(
            "rows must be an array, a table or a sequence of what the functions understand, "
            f"got {type(rows).__name__}."
        )
    n_rows = len(rows) if shape is None else int(shape[0])
    if n_rows == 0:
        raise ValueError("rows is empty: there is nothing to predict.")
    return rows, n_rows


def _check_kind(rows) -> None:
    """Refuse tables of which rows cannot be taken, and what a function would not see is missing."""
    kind = type(rows).__name__
    if kind == "LazyFrame" or hasattr(rows, "__dask_graph__"):
        what = "collect()" if kind == "LazyFrame" else "compute()"
        raise ValueError(
            f"rows is a {kind}, which is not computed yet: give the table that {what} returns."
        )
    if np.ma.isMaskedArray(rows):
        mask = np.ascontiguousarray(np.ma.getmaskarray(rows)).view(bool)
        if mask.any():
            raise ValueError(
                f"rows is a masked array with {int(mask.sum())} masked values, which the functions "
                "might read: fill them first, with rows.filled(numpy.nan) if they are missing."
            )
    a_table = hasattr(rows, "__dataframe__") or hasattr(rows, "__arrow_c_stream__")
    if a_table and not hasattr(rows, "iloc") and not _library(rows):
        raise ValueError(
            f"rows is a {type(rows).__module__}.{kind}, of which no rows can be taken: give a "
            "table of pandas, polars or Arrow, or an array."
        )


def take(rows: Any, index: np.ndarray) -> Any:
    """Take a part of the rows, by position: of the kind that they are, or else a list."""
    if hasattr(rows, "iloc"):
        return rows.iloc[index]
    library = _library(rows)
    if library == "pyarrow" and hasattr(rows, "take"):  # [i] is a column of a table
        return rows.take(index)
    if library == "polars" or isinstance(rows, np.ndarray) or sparse.issparse(rows):
        return rows[index]
    return [rows[i] for i in index.tolist()]


def check_answer(
    source: Source, answer: object, rows: Any, n_rows: int, *, may_miss: bool = False
) -> dict[int, np.ndarray]:
    """Values (n_rows,) of each column that a row can be tested for, of what a function returned.

    ValueError if they are not finite numbers of the right shape (or missing, NaN or masked, where a
    value may be), or stand in another order of rows.
    """
    asked = f"The function of {source.name}, asked for {n_rows} row{'s' if n_rows > 1 else ''},"
    check_order(asked, rows, answer)
    size = len(source.features)
    if source.grouped and _has_labels(asked, source, answer):
        answer = _by_label(asked, answer)
    if not isinstance(answer, Mapping):
        shapes = [(n_rows,)] if size == 1 else [(n_rows, size)]
        if source.grouped and size == 1:
            shapes.append((n_rows, 1))
        values = _numbers(asked, answer, shapes, may_miss).reshape(n_rows, size)
        by_column = dict(zip(source.features, values.T, strict=True))
    elif source.grouped:
        by_column = {}
        for key, column in answer.items():
            if key not in source.columns:
                raise ValueError(
                    f"{asked} returned {key!r}, which is not in the group: in it are "
                    f"{listed([*source.columns])}."
                )
            if source.columns[key] in by_column:
                raise ValueError(f"{asked} returned feature {key!r} twice.")
            check_order(asked, rows, column)
            of_key = f"{asked} for {key!r}"
            by_column[source.columns[key]] = _numbers(of_key, column, [(n_rows,)], may_miss)
    else:
        raise ValueError(f"{asked} returned a mapping; numbers are wanted.")
    missing = [m for m in source.tested if m not in by_column]
    if missing:
        raise ValueError(f"{asked} left out feature {', '.join(map(str, missing))}.")
    return {m: by_column[m] for m in source.tested}


def _labels(answer) -> list | None:
    """Labels of the columns of a table; None of anything else."""
    if isinstance(answer, Mapping) or not hasattr(answer, "columns"):
        return None
    if _library(answer) == "pyarrow":  # whose columns are the values
        return list(answer.schema.names)
    return list(answer.columns)


def _has_labels(asked: str, source: Source, answer) -> bool:
    """Whether an answer is a table by whose labels, rather than order, its columns are known."""
    labels = _labels(answer)
    if labels is None or labels == list(range(len(labels))):  # nobody named them
        return False
    knows_names = any(isinstance(name, str) for name in source.columns)
    if not knows_names and any(isinstance(label, str) for label in labels):
        raise ValueError(
            f"{asked} returned a table with named columns, but the columns of X had no names when "
            "the model was fitted: return an array (to_numpy), or a mapping from column numbers."
        )
    return True


def _by_label(asked: str, answer) -> dict:
    """Columns of a table by their labels, each of which must be there once."""
    labels = _labels(answer)
    repeated = next((label for i, label in enumerate(labels) if label in labels[:i]), None)
    if repeated is not None:
        raise ValueError(f"{asked} returned feature {repeated!r} twice.")
    return {label: answer[label] for label in labels}


def check_order(asked: str, rows: Any, answer: Any) -> None:
    """Refuse a pandas answer whose index says that rows were sorted or shuffled."""
    if not (hasattr(rows, "iloc") and hasattr(answer, "iloc")):
        return
    wanted, got = rows.index, answer.index
    if len(wanted) != len(got) or wanted.equals(got) or not (wanted.is_unique and got.is_unique):
        return
    if got.isin(wanted).all():  # other labels, such as 0, 1, … after a merge, tell nothing
        raise ValueError(
            f"{asked} returned them in another order, as its index tells; return them in the order "
            "asked, without an index (to_numpy) if that one means something else."
        )


def _numbers(asked: str, answer, shapes: list[tuple[int, ...]], may_miss: bool) -> np.ndarray:
    """Float64 of one of several shapes, finite or missing, or a ValueError that begins `asked`."""
    if type(answer).__name__ == "LazyFrame":
        raise ValueError(f"{asked} returned a LazyFrame: return what collect() gives.")
    try:
        values = _plain(answer)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{asked} returned what is no array: {error}") from error
    if values.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise ValueError(f"{asked} returned shape {values.shape}; {wanted} is wanted.")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{asked} returned values of dtype {values.dtype}; numbers are wanted.")
    values = values.astype(np.float64)
    wrong = ~np.isfinite(values)
    if np.ma.isMaskedArray(answer):
        wrong |= np.ma.getmaskarray(answer)
    if may_miss:
        values[wrong & ~np.isinf(values)] = np.nan
        wrong = np.isinf(values)
    if wrong.any():
        at = np.unravel_index(int(np.argmax(wrong)), values.shape)
        raise ValueError(
            f"{asked} returned {int(wrong.sum())} {'' if may_miss else 'missing or '}infinite "
            f"values, the first ({values[at]}) for its row {at[0]}."
        )
    return values


def _plain(answer) -> np.ndarray:
    """What a function returned as an array; yes, no and missing of a table's column are numbers."""
    values = np.asarray(answer)
    if values.dtype != object:
        return values
    if hasattr(answer, "iloc"):
        dtypes = np.atleast_1d(np.asarray(answer.dtypes, dtype=object))
        if all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes):
            return answer.to_numpy(dtype=np.float64, na_value=np.nan)
    elif _library(answer) and all(isinstance(v, bool | float | None) for v in values.ravel()):
        return np.array([np.nan if v is None else v for v in values.ravel()]).reshape(values.shape)
    return values
