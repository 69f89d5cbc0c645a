"""Rows and answers as tables of polars and Arrow, masked rows, and tables that cannot be taken."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from algorithms.on_demand.functions import Source, check_answer, check_rows, take

NAMES = list("abc")
X = np.arange(15.0).reshape(5, 3)
GROUP = Source("g", "group 'g'", len, {0: 0, "a": 0, 1: 1, "b": 1}, (0, 1), (0, 1), True)
SINGLE = Source(0, "feature 0", len, {0: 0}, (0,), (0,), False)


def tables(library, values=X):
    columns = {name: values[:, i] for i, name in enumerate(NAMES)}
    if library == "polars":
        polars = pytest.importorskip("polars")
        return [polars.DataFrame(columns)]
    arrow = pytest.importorskip("pyarrow")
    return [arrow.table(columns), arrow.record_batch(columns)]


@pytest.mark.parametrize("n_rows", [5, 2, 1])
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_rows_of_a_table_are_a_table(library, n_rows):
    for table in tables(library, X[:n_rows]):
        rows, n = check_rows(table)
        index = np.arange(n_rows)[::-2]
        part = take(rows, index)
        assert n == n_rows
        assert type(part) is type(table)
        for i, name in enumerate(NAMES):
            np.testing.assert_array_equal(np.asarray(part[name]), X[index, i])


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_rows_of_a_column_are_a_column(library):
    module = pytest.importorskip(library)
    values = ["x", "y", "z"]
    if library == "polars":
        columns = [module.Series(values)]
    else:
        columns = [module.array(values), module.chunked_array([values[:1], values[1:]])]
    for column in columns:
        rows, n = check_rows(column)
        part = take(rows, np.array([2, 0]))
        assert n == 3
        assert type(part) is type(column)
        assert part.to_numpy(
            **({"zero_copy_only": False} if library == "pyarrow" else {})
        ).tolist() == ["z", "x"]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_an_empty_table_is_refused(library):
    for table in tables(library, X[:0]):
        with pytest.raises(ValueError, match="rows is empty"):
            check_rows(table)


def test_a_lazy_table_is_refused_and_says_what_to_do():
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=r"LazyFrame, which is not computed yet: .* collect\(\)"):
        check_rows(polars.LazyFrame({"a": [1.0]}))
    with pytest.raises(ValueError, match=r"returned a LazyFrame: return what collect\(\) gives"):
        check_answer(SINGLE, polars.LazyFrame({"a": [1.0]}), [0], 1)


def test_tables_of_which_no_rows_can_be_taken_are_refused():
    class Lazy(list):
        __dask_graph__ = None

    class Table(list):
        __dataframe__ = None

    with pytest.raises(ValueError, match=r"rows is a Lazy, .* compute\(\)"):
        check_rows(Lazy([1]))
    with pytest.raises(ValueError, match="of which no rows can be taken: give a table of pandas"):
        check_rows(Table([1]))


@pytest.mark.parametrize("dtype", [float, [("a", float), ("b", int)]], ids=["plain", "fields"])
def test_masked_rows_are_refused(dtype):
    rows = np.ma.zeros(4, dtype=dtype)
    assert check_rows(rows)[1] == 4
    rows[1] = np.ma.masked
    with pytest.raises(ValueError, match=r"masked array .* rows.filled\(numpy.nan\)"):
        check_rows(rows)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_group_answers_a_table(library):
    for table in tables(library):
        part = table.select(["b", "a"])
        values = check_answer(GROUP, part, table, 5)
        np.testing.assert_array_equal(values[0], X[:, 0])
        np.testing.assert_array_equal(values[1], X[:, 1])
        with pytest.raises(ValueError, match="returned 'c', which is not in the group"):
            check_answer(GROUP, table, table, 5)
        unnamed = GROUP._replace(columns={0: 0, 1: 1})
        with pytest.raises(ValueError, match="returned a table with named columns"):
            check_answer(unnamed, part, table, 5)


def test_a_column_twice_is_refused():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_arrays([arrow.array([1.0]), arrow.array([2.0])], names=["a", "a"])
    with pytest.raises(ValueError, match="returned feature 'a' twice"):
        check_answer(GROUP, table, [0], 1)


def missing(kind):
    """A column of yes and missing, and one of 1 and missing, as a library writes them."""
    if kind == "pandas":
        yes, one = (
            pd.Series([value, None], dtype=t) for value, t in ((True, "boolean"), (1, "Int64"))
        )
        return yes, one
    module = pytest.importorskip(kind)
    column = module.Series if kind == "polars" else module.array
    return column([True, None]), column([1, None])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_missing_values_of_a_column_are_missing(kind):
    for column in missing(kind):
        values = check_answer(SINGLE, column, [0, 1], 2, may_miss=True)
        np.testing.assert_array_equal(values[0], [1.0, np.nan])
        with pytest.raises(ValueError, match="returned 1 missing or infinite values"):
            check_answer(SINGLE, column, [0, 1], 2)


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_words_are_no_numbers(kind):
    module = pytest.importorskip(kind)
    column = (module.Series if kind == "polars" else module.array)(["1", None])
    with pytest.raises(ValueError, match="numbers are wanted"):
        check_answer(SINGLE, column, [0, 1], 2, may_miss=True)


def test_no_table_library_is_imported_by_rows(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert take(check_rows([4, 5, 6])[0], np.array([2, 0])) == [6, 4]
