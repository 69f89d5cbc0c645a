"""Reads a file into columns: text stays text unless all of a column is plainly numbers."""

from __future__ import annotations

import contextlib
import csv
import functools
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import psutil

from algorithms.raw_tables.fields import key
from algorithms.validation.prices import listed
from experiments.compare.fields import (
    Blocks,
    Column,
    Refused,
    column_of_series,
    column_of_texts,
)

_TIMES_AS_LARGE = 4
"""Memory that reading and training take, in sizes of the file."""

_FIELDS_AT_A_TIME = 1_000_000
_LONGEST_FIELD = 2**31 - 1
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True)
class Table:
    """Columns of a file; iterates over their names."""

    file: str  # Name of the file, for messages
    columns: dict[str, Column]  # By the file's own spelling of the names, in its order
    n_rows: int
    # Numbers, from 1, of the columns without a name, which are in no other attribute
    nameless: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return self.n_rows

    def named(self, name: str) -> str | None:
        """Give the file's own spelling of a name, None if it has no such column."""
        return self._by_key.get(key(name))

    @functools.cached_property
    def _by_key(self) -> dict[str, str]:
        return {key(own): own for own in self.columns}


def shown(name: Path | str) -> str:
    """Give a file's name, or an option, as it can be written: what is no UTF-8 is replaced."""
    text = name if isinstance(name, str) else name.name
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read_table(path: Path, texts: Collection[str] | None = None) -> Table:
    """Read a CSV or Parquet file."""
    size, free = path.stat().st_size, psutil.virtual_memory().available
    file = shown(path)
    if _TIMES_AS_LARGE * size > free:
        raise Refused(
            f"{file} has {size / 1e9:.1f} GB, and {free / 1e9:.1f} GB of memory are free: "
            f"take a sample of its rows that has at most {free / _TIMES_AS_LARGE / 1e9:.1f} GB."
        )
    wanted = None if texts is None else {key(name) for name in texts}
    if path.suffix.lower() in (".parquet", ".pq"):
        table = _parquet(path, file, wanted)
    else:
        table = _csv(path, file, wanted)
    if table.n_rows == 0:
        raise Refused(f"{file} has no rows.")
    return table


def _refuse_repeated(names: Sequence[str], file: str) -> None:
    keys = [key(name) for name in names]
    counts = Counter(keys)
    repeated = dict.fromkeys(name for name, k in zip(names, keys, strict=True) if counts[k] > 1)
    if repeated:
        raise Refused(
            f"{file} has several columns of one name ({listed(list(repeated))}): give each its own "
            "(blanks around a name do not count)."
        )


# --- CSV ----------------------------------------------------------------------------------------


def _csv(path: Path, file: str, wanted: set[str] | None) -> Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines, _long_fields():
            return _table(_rows(csv.reader(lines, strict=True), file), file, wanted)
    except UnicodeDecodeError as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise Refused(f"{file} is no CSV file in UTF-8 that can be read: {why}.") from None


@contextlib.contextmanager
def _long_fields() -> Iterator[None]:
    """Let the module csv take fields of any length, such as a text in a column to be dropped."""
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _rows(reader, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank, with the number of the line where it begins."""
    begin = 1
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip(" ")):
                yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        why = {
            "unexpected end of data": "a quoted field is never closed",
            "',' expected after '\"'": "text follows the quote that closes a field (a quote "
            "within a quoted field is written twice)",
        }.get(str(error), str(error))
        raise Refused(f"{file} is no CSV file: in the row of line {begin} {why}.") from None


def _table(rows: Iterator[tuple[int, list[str]]], file: str, wanted: set[str] | None) -> Table:
    first, header = next(rows, (1, []))
    _check_header(header, file)
    names = {number: name for number, name in enumerate(header) if key(name)}
    _refuse_repeated(list(names.values()), file)
    keeps_text = {n for n, name in names.items() if wanted is None or key(name) in wanted}
    blocks = {number: Blocks(number in keeps_text) for number in names}
    n_rows = 0
    for numbers, fields in _in_blocks(_of_one_width(rows, first, len(header), file), len(header)):
        n_rows += len(numbers)
        for number, block in blocks.items():
            block.add(fields[number], numbers)
    columns = {names[number]: column_of_texts(block) for number, block in blocks.items()}
    nameless = tuple(n + 1 for n in range(len(header)) if n not in names)
    return Table(file, columns, n_rows, nameless)


def _check_header(header: list[str], file: str) -> None:
    """Refuse what is no line of names with commas between them."""
    if any("\0" in name for name in header):
        raise Refused(f"{file} is no CSV file in UTF-8: it has NUL bytes, as UTF-16 does.")
    if len(header) == 1:
        for separator, words in _OTHER_SEPARATORS.items():
            if separator in header[0]:
                raise Refused(
                    f"The fields of {file} are separated by {words}: write it with commas (and "
                    "numbers with a decimal point)."
                )


def _of_one_width(rows, first: int, width: int, file: str) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows:
        if len(row) != width:
            raise Refused(
                f"{file} has {len(row)} fields in line {line}, and its header (line {first}) has "
                f"{width}: take out or add commas, also at the ends of lines, and quote text that "
                "has some."
            )
        yield line, row


def _in_blocks(rows, width: int) -> Iterator[tuple[list[int], list[tuple[str, ...]]]]:
    """Yield the numbers of some lines, and their fields column by column."""
    size = max(1, _FIELDS_AT_A_TIME // max(1, width))
    lines: list[int] = []
    block: list[list[str]] = []
    for line, row in rows:
        lines.append(line)
        block.append(row)
        if len(block) == size:
            yield lines, list(zip(*block, strict=True))
            lines, block = [], []
    if block:
        yield lines, list(zip(*block, strict=True))


# --- Parquet ------------------------------------------------------------------------------------


def _parquet(path: Path, file: str, wanted: set[str] | None) -> Table:
    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise Refused(
            f"Reading {file} needs the package pyarrow, which is not installed: install it, "
            "or write the table as CSV."
        ) from None
    except Exception as error:  # each engine has its own kinds
        _refuse_repeated(_names_in_parquet(path), file)
        why = " ".join(str(error).split()).rstrip(".")
        raise Refused(f"{file} is no Parquet file that can be read: {why}.") from None
    # Whoever wrote it had columns for an index; one without a name numbers the rows.
    levels = [n for n, name in enumerate(frame.index.names) if name is not None]
    series = [frame.index.get_level_values(n).to_series() for n in levels]
    series += [frame.iloc[:, n] for n in range(frame.shape[1])]
    names = [str(frame.index.names[n]) for n in levels] + [str(name) for name in frame.columns]
    _refuse_repeated([name for name in names if key(name)], file)
    columns = {
        name: column_of_series(values, wanted is None or key(name) in wanted)
        for name, values in zip(names, series, strict=True)
        if key(name)
    }
    nameless = tuple(n + 1 for n, name in enumerate(names) if not key(name))
    return Table(file, columns, len(frame), nameless)


def _names_in_parquet(path: Path) -> list[str]:
    """Names of the columns of a file that pandas cannot read; none if nobody can."""
    try:
        from pyarrow import parquet

        return [str(name) for name in parquet.read_schema(path).names]
    except Exception:  # it is no Parquet file, or another engine reads it
        return []
