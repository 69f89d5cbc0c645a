"""Tables of results as files: CSV, and of more than a megabyte compressed, ``rows.csv.xz``.

pandas reads either by its name. A repository should hold no larger files.
"""

from __future__ import annotations

import contextlib
import csv
import io
import lzma
from pathlib import Path

import numpy as np
import pandas as pd

from datasets.sources.storage import write_atomically

LARGEST = 500_000
"""Bytes of a table that is published as it is."""

PACKED = ".xz"


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as CSV; floats so that they read back as the same number."""
    return table.to_csv(index=False, lineterminator="\n").encode()


def packed(content: bytes) -> bytes:
    """Return a file's content compressed, which the same version of liblzma does alike."""
    return lzma.compress(content, preset=9)


def path_of(folder: Path, name: str) -> Path:
    """Return the file that holds a table: compressed if it is there in that form alone."""
    plain, compressed = folder / name, folder / f"{name}{PACKED}"
    return compressed if compressed.exists() and not plain.exists() else plain


def write_table(folder: Path, name: str, content: bytes) -> None:
    """Write a table, compressed if it is large, in the place of either form."""
    plain, compressed = folder / name, folder / f"{name}{PACKED}"
    if len(content) > LARGEST:
        write_atomically(compressed, packed(content))
        plain.unlink(missing_ok=True)
    else:
        write_atomically(plain, content)
        compressed.unlink(missing_ok=True)


def content_of(path: Path) -> bytes:
    """Return a table's bytes as they were before it was compressed, if it was."""
    content = path.read_bytes()
    if path.suffix != PACKED:
        return content
    try:
        return lzma.decompress(content)
    except lzma.LZMAError as error:
        raise ValueError(f"{path.name}: {error}") from error


def read_rows(path: Path) -> pd.DataFrame:
    """Read a table bit for bit; an empty field is NaN.

    pandas' own parsing of floats is not exact in every version, so Python's is used.
    """
    text = content_of(path).decode()
    if len({len(line) for line in csv.reader(io.StringIO(text, newline=""))}) > 1:
        raise ValueError(f"a line of {path.name} has too few fields")
    table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    return table.apply(numbers)


def numbers(column: pd.Series) -> pd.Series:
    """Return a column of text as whole numbers or floats if all of it are; "" is a float, NaN.

    NumPy asks Python's int and float for each text, which are exact.
    """
    if column.empty:
        return column
    texts = column.to_numpy(dtype=object)
    with contextlib.suppress(ValueError):
        try:
            return pd.Series(texts.astype(np.int64), column.index, name=column.name)
        except OverflowError:
            return column.map(int)
    texts = np.where(texts == "", "nan", texts)
    with contextlib.suppress(ValueError):
        return pd.Series(texts.astype(np.float64), column.index, name=column.name)
    return column
