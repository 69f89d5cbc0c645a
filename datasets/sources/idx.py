"""The idx format of MNIST's files: unsigned bytes in an array of any number of axes.

Layout, all integers big-endian: two zero bytes, one byte for the type of the values (8 = unsigned
byte, the only one read here), one byte for the number of axes, a 32-bit length for each axis, then
the values in C order and nothing after them. The files are compressed with gzip.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from datasets.errors import DamagedData

UNSIGNED_BYTE = 8


class IdxError(DamagedData):
    """A file is no idx file, is damaged, or holds another array than the one expected."""


def read_idx(path: Path, shape: Sequence[int]) -> np.ndarray:
    """Read a gzip-compressed idx file of unsigned bytes."""
    shape = tuple(int(length) for length in shape)
    header = bytes((0, 0, UNSIGNED_BYTE, len(shape)))
    header += b"".join(length.to_bytes(4, "big") for length in shape)
    n_values = math.prod(shape)
    try:
        with gzip.open(path, "rb") as stream:
            start = stream.read(len(header))
            _check_header(path, start, header)
            content = stream.read(n_values)
            n_more = len(stream.read(1)) if len(content) == n_values else 0
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise IdxError(f"{path}: damaged gzip file ({error})") from error
    if len(content) < n_values:
        raise IdxError(f"{path}: cut off, {len(content)} of {n_values} values are there")
    if n_more:
        raise IdxError(f"{path}: more than the {n_values} values that its header states")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def _check_header(path: Path, start: bytes, expected: bytes) -> None:
    """Say in which field a header differs."""
    if start == expected:
        return
    if start[:2] != expected[:2]:
        raise IdxError(f"{path}: no idx file, it begins with {start[:4].hex(' ') or 'nothing'}")
    if start[:4] != expected[:4] and len(start) >= 4:
        raise IdxError(
            f"{path}: an idx file of type {start[2]} with {start[3]} axes, "
            f"expected type {expected[2]} with {expected[3]}"
        )
    if len(start) < len(expected):
        raise IdxError(f"{path}: cut off within its header of {len(expected)} bytes")
    lengths, wanted = (
        " × ".join(str(int.from_bytes(text[i : i + 4], "big")) for i in range(4, len(text), 4))
        for text in (start, expected)
    )
    raise IdxError(f"{path}: holds {lengths} values, expected {wanted}")
