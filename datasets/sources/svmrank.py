"""Lines of SVM-rank, LETOR and LibSVM files: ``label qid:7 1:0.5 3:0.25 # comment``.

Every line is compared with the grammar before a number of it is believed; one that does not fit
is a :class:`datasets.DamagedData` that names file and line. What a line does not list is 0.
Features may stand in any order, none twice. Rows of a query must follow each other: a query that
comes back later would be read as two. Queries with few documents, or without a relevant one, are
no errors: :func:`datasets.ranking.query_facts` counts them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datasets.errors import DamagedData

CHUNK_LINES = 10_000
_NUMBER = rb"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d++)?+"
_LINE = re.compile(
    rb"[ \t]*+(%b)(?:[ \t]++qid:(\d{1,18}))?+((?:[ \t]++\d{1,9}:%b)*+)[ \t]*+(?:#[^\n]*+)?+[\r\n]*+"
    % (_NUMBER, _NUMBER)
)


@dataclass(frozen=True)
class Rows:
    """Rows of a file."""

    X: np.ndarray  # (n, d): features; 0 where a line does not list one
    y: np.ndarray  # (n,) float64: labels
    # (n,) int64, or None: query of each row; None for files without queries
    query: np.ndarray | None
    listed: np.ndarray  # (d,) bool: features that a line lists, with whatever value

    def save(self, out: Path) -> None:
        """Write ``X.npy``, ``y.npy`` and ``query.npy``."""
        for name in ("X", "y", "query"):
            np.save(out / f"{name}.npy", getattr(self, name))


def read_pieces(
    lines: Iterable[bytes],
    name: str,
    n_features: int,
    *,
    has_queries: bool = True,
    complete: bool = False,
    grades: Collection[float] | None = None,
    dtype: type = np.float64,
    chunk_lines: int = CHUNK_LINES,
) -> Iterator[Rows]:
    """Read a file in pieces, so that the text of a large one never lies in memory."""
    check = _LineCheck(name, has_queries)
    chunk: list[tuple[int, bytes, int | None, bytes]] = []
    for number, line in enumerate(lines, start=1):
        parsed = check(number, line)
        if parsed is not None:
            chunk.append((number, *parsed))
        if len(chunk) == chunk_lines:
            yield _rows(chunk, name, n_features, grades, dtype, complete)
            chunk = []
    if chunk:
        yield _rows(chunk, name, n_features, grades, dtype, complete)


def read_rows(lines: Iterable[bytes], name: str, n_features: int, **how) -> Rows:
    """Read a whole file; arguments and errors are those of :func:`read_pieces`."""
    pieces = list(read_pieces(lines, name, n_features, **how))
    if not pieces:
        raise DamagedData(f"{name}: no row in it")
    return Rows(
        np.concatenate([piece.X for piece in pieces]),
        np.concatenate([piece.y for piece in pieces]),
        None if pieces[0].query is None else np.concatenate([piece.query for piece in pieces]),
        np.any([piece.listed for piece in pieces], axis=0),
    )


def save_rows(
    path: Path, name: str, n_features: int, out: Path, *, dtype: type = np.float64, **how
) -> np.ndarray:
    """Write ``X.npy``, ``y.npy`` and ``query.npy`` of a text piece by piece; give what is listed.

    Other arguments and errors are those of :func:`read_pieces`.
    """
    labels, queries = [np.empty(0)], [np.empty(0)]
    listed = np.zeros(n_features, dtype=bool)
    with open(path, "rb") as text:
        n_rows = sum(1 for line in text if line.strip() and not line.lstrip().startswith(b"#"))
    with open(path, "rb") as text, open(out / "X.npy", "wb") as x_file:
        descr = np.dtype(dtype).newbyteorder("<")
        header = {"descr": descr.str, "fortran_order": False, "shape": (n_rows, n_features)}
        np.lib.format.write_array_header_1_0(x_file, header)
        for piece in read_pieces(text, name, n_features, dtype=dtype, **how):
            x_file.write(piece.X.astype(descr).tobytes())
            listed |= piece.listed
            labels.append(piece.y)
            queries.append(piece.query)
    np.save(out / "y.npy", np.concatenate(labels).astype(dtype))
    np.save(out / "query.npy", np.concatenate(queries).astype(np.int64))
    return listed


class _LineCheck:
    """Compares lines with the grammar and remembers the queries that are finished."""

    def __init__(self, name: str, has_queries: bool) -> None:
        self.name = name
        self.has_queries = has_queries
        self.current: int | None = None
        self.seen: set[int] = set()

    def __call__(self, number: int, line: bytes) -> tuple[bytes, int | None, bytes] | None:
        """Give label, query and features of a line; None for a blank one."""
        match = _LINE.fullmatch(line)
        if match is None:
            if not line.strip() or line.lstrip().startswith(b"#"):
                return None
            start = line[:60].decode("ascii", "replace").strip()
            form = "label qid:query feature:value ..."
            raise _damaged(self.name, number, f"{start!r} does not start or go on as {form!r}")
        label, query, features = match.groups()
        if self.has_queries != (query is not None):
            what = "has no qid" if self.has_queries else "has a qid, which this file must not have"
            raise _damaged(self.name, number, what)
        return label, self._in_order(number, query), features

    def _in_order(self, number: int, query: bytes | None) -> int | None:
        if query is None:
            return None
        value = int(query)
        if value != self.current:
            if value in self.seen:
                what = f"query {value} comes back after other queries: its rows must be together"
                raise _damaged(self.name, number, what)
            self.seen.add(value)
            self.current = value
        return value


def _damaged(name: str, number: int, what: str) -> DamagedData:
    return DamagedData(f"{name}, line {number}: {what}")


def _rows(
    chunk: list[tuple[int, bytes, int | None, bytes]],
    name: str,
    n_features: int,
    grades: Collection[float] | None,
    dtype: type,
    complete: bool,
) -> Rows:
    """Turn checked lines into arrays."""
    numbers, labels, queries, features = zip(*chunk, strict=True)
    y = np.array([float(label) for label in labels])
    fits = np.isfinite(y) if grades is None else np.isin(y, sorted(grades))
    if not fits.all():
        row = int(np.argmin(fits))
        expected = "a finite number" if grades is None else f"one of {sorted(grades)}"
        raise _damaged(name, numbers[row], f"label {labels[row].decode()} is not {expected}")
    counts = np.array([text.count(b":") for text in features])
    if complete and (counts != n_features).any():
        row = int(np.argmax(counts != n_features))
        what = f"lists {counts[row]} of the {n_features} features, and all must be there"
        raise _damaged(name, numbers[row], what)
    values = np.fromstring(b" ".join(features).replace(b":", b" "), dtype=np.float64, sep=" ")
    row = np.repeat(np.arange(counts.size), counts)
    column = values[::2].astype(np.int64) - 1
    with np.errstate(over="ignore"):  # what becomes infinite in float32 is refused below
        value = values[1::2].astype(dtype)
    for wrong, what in (
        ((column < 0) | (column >= n_features), f"features are numbered 1 to {n_features}"),
        (~np.isfinite(value), "a value is too large"),
    ):
        if wrong.any():
            raise _damaged(name, numbers[row[np.argmax(wrong)]], what)
    _refuse_repeated(row, column, n_features, name, numbers)
    X = np.zeros((counts.size, n_features), dtype=dtype)
    X[row, column] = value
    listed = np.zeros(n_features, dtype=bool)
    listed[column] = True
    query = None if queries[0] is None else np.array(queries, dtype=np.int64)
    return Rows(X, y, query, listed)


def _refuse_repeated(row, column, n_features: int, name: str, numbers) -> None:
    place = row * n_features + column
    if (np.diff(place) > 0).all():
        return
    place = np.sort(place)
    twice = place[1:][np.diff(place) == 0]
    if twice.size:
        at, feature = divmod(int(twice[0]), n_features)
        raise _damaged(name, numbers[at], f"feature {feature + 1} stands there twice")
