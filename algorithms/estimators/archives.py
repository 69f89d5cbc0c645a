"""The file format of fitted models: a JSON header and arrays with a checksum, read without trust.

A checksum tells of damage, not of intent: it can be computed anew. Whatever is declared (members,
sizes, shapes, dtypes) is therefore checked before memory is taken for it, and nothing is evaluated
or unpickled. What the arrays mean is for the estimators to check.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import secrets
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ..validation.types import StrPath

FORMAT = "cost-aware-boosting model"
VERSION = 1

# What zipfile, zlib and json raise on a file with a wrong byte.
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    OSError,
    OverflowError,
    RuntimeError,  # RecursionError and NotImplementedError, too
    ValueError,
)

_MEMBERS = ["arrays.npz", "header.json"]
_DEFLATE_RATIO = 1032  # no deflated byte stands for more
# Arrays may unpack to so many bytes: a fixed allowance, and a multiple of the file's own size.
_ALLOWANCE, _MULTIPLE = 2**28, 256
# And to so many rows. A tree's node takes more than a byte of a file, for no two have one child.
_ROWS_ALLOWED, _ROWS_PER_BYTE = 2**18, 2

# Dtype of an array, and the name of each dimension. "… + 1" is one more than what is called so.
ArrayKind: TypeAlias = tuple[Any, ...]

# The header of an .npy file as NumPy writes it for plain numbers, after the length.
_NPY_HEADER = re.compile(
    rb"\{'descr': '([<>|=][a-zA-Z]\d{1,2})', 'fortran_order': (False|True), "
    rb"'shape': \(((?:\d{1,15}(?:, \d{1,15})*)?),?\), \} *\n"
)
_NPY_START = 10  # magic string, version 1.0, length of the header


def digest(header: dict, arrays: bytes) -> str:
    """SHA-256 of a header without its entry ``sha256`` and of the packed arrays, hexadecimal."""
    text = json.dumps({k: v for k, v in header.items() if k != "sha256"}, sort_keys=True)
    return hashlib.sha256(text.encode() + arrays).hexdigest()


def path_of_a_file(path: StrPath) -> Path:
    """Give the path of a file, or of none yet, as such."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be the path of a file, str or path-like, got {path!r:.80}.")
    path = Path(path)
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):  # whoever opens it will say so
        return path
    if not is_file:
        raise ValueError(
            f"{path} is not a saved model, and cannot become one: it is a folder, a device or a "
            "pipe."
        )
    return path


def write_archive(path: Path, header: dict, arrays: bytes) -> None:
    """Write a file; it appears whole or not at all, whoever else writes it at the same time.

    What was there is replaced and leaves its mode; of a link, what it points to.
    """
    path = Path(os.path.realpath(path))
    # Threads have one process number, and so may processes of two machines or containers.
    temporary = path.with_name(f"{secrets.token_hex(8)}.tmp")
    archive = zipfile.ZipFile(temporary, "x")
    try:
        with archive:
            if path.exists():
                os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))
            for name, content in (("header.json", json.dumps(header, indent=1)),
                                  ("arrays.npz", arrays)):  # fmt: skip
                archive.writestr(zipfile.ZipInfo(name), content)  # of no date: equal bytes
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays as the content of a compressed .npz file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def read_archive(path: StrPath) -> tuple[dict, bytes]:
    """Header and packed arrays of a file whose format, version and checksum are right."""
    path = path_of_a_file(path)
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            _check_members(archive, os.fstat(file.fileno()).st_size)
            header = _json(archive.read("header.json"))
            arrays = archive.read("arrays.npz")
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise ValueError(f"{path} is not a saved model, or it is damaged ({error}).") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} is not a saved model of this package.")
    if header.get("version") != VERSION or isinstance(header["version"], bool):
        raise ValueError(
            f"{path} has format version {header.get('version')!r}; this is version {VERSION}."
        )
    if header.get("sha256") != digest(header, arrays):
        raise ValueError(f"{path} is damaged: its checksum does not match.")
    return header, arrays


def _check_members(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse other members than a model has, and declared sizes that the file cannot hold."""
    members = archive.infolist()
    if sorted(member.filename for member in members) != _MEMBERS:
        raise ValueError("it does not hold header.json and arrays.npz, each once, and nothing else")
    for member in members:
        stored = member.compress_type == zipfile.ZIP_STORED
        if not stored or member.file_size != member.compress_size or member.file_size > size:
            raise ValueError(f"{member.filename} has another size than the file has room for")


def _json(text: bytes):
    """Parse JSON strictly: no key twice, no NaN, no infinity."""

    def unique(pairs: list) -> dict:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("header.json has a key twice")
        return dict(pairs)

    def refuse(constant: str):
        raise ValueError(f"header.json holds {constant}")

    return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)


def unpacked(
    content: bytes,
    kinds: Mapping[str, ArrayKind],
    optional: frozenset[str] = frozenset(),
    most: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, np.ndarray]:
    """Arrays from the content of an .npz file."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = _array_members(archive, kinds, optional, len(content))
            shapes = {name: _shape(archive, name, *kinds[name]) for name in members}
            _check_sizes({name: (kinds[name], shapes[name][0]) for name in members}, most,
                         _ROWS_ALLOWED + _ROWS_PER_BYTE * len(content))  # fmt: skip
            return {name: _array(archive, name, kinds[name][0], *shapes[name]) for name in members}
    except ValueError:
        raise
    except UNREADABLE as error:
        raise ValueError(f"its arrays are damaged: {error}") from None


def _array_members(archive, kinds, optional, size: int) -> list[str]:
    """Names of the arrays, whose declared sizes are possible."""
    names = []
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in kinds or member.filename != f"{name}.npy":
            raise ValueError(f"it has an unknown array {member.filename!r}")
        if name in names:
            raise ValueError(f"it has the array {name} twice")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its array {name} is compressed in an unknown way")
        if member.file_size > _DEFLATE_RATIO * (member.compress_size + 1):
            raise ValueError(f"its array {name} declares more bytes than its content can unpack to")
        names.append(name)
    absent = [name for name in kinds if name not in names and name not in optional]
    if absent:
        raise ValueError(f"it lacks the array {absent[0]}")
    total = sum(member.file_size for member in archive.infolist())
    if total > _ALLOWANCE + _MULTIPLE * size:
        raise ValueError(f"its arrays would take {total} bytes, too many for such a file")
    return names


def _shape(archive, name: str, dtype: type, *dimensions: str) -> tuple[tuple[int, ...], bool, int]:
    """Shape, whether in Fortran order, and place of the first value; nothing else is read."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as file:
        start = file.read(_NPY_START)
        if len(start) < _NPY_START or start[:8] != b"\x93NUMPY\x01\x00":
            raise ValueError(f"its array {name} is not in NumPy's format 1.0")
        length = int.from_bytes(start[8:], "little")
        match = _NPY_HEADER.fullmatch(file.read(length))
    if match is None:
        raise ValueError(f"its array {name} has an unreadable header")
    descr, fortran, sizes = match.groups()
    shape = tuple(int(n) for n in sizes.split(b", ") if n)
    if descr.decode() != np.dtype(dtype).str or len(shape) != len(dimensions):
        raise ValueError(
            f"its array {name} must have dtype {np.dtype(dtype).str} and {len(dimensions)} "
            f"dimension(s), got {descr.decode()} and {len(shape)}"
        )
    first = _NPY_START + length
    if first + math.prod(shape) * np.dtype(dtype).itemsize != info.file_size:
        raise ValueError(f"its array {name} has another size than its shape {shape} says")
    return shape, fortran == b"True", first


def _check_sizes(
    declared: Mapping[str, tuple[ArrayKind, tuple[int, ...]]], most: Mapping[str, int], rows: int
) -> None:
    """Refuse sizes that contradict the header or each other, or what so small a file can hold."""
    known: dict[str, tuple[int, str]] = {}
    for name, ((_, *dimensions), shape) in declared.items():
        for dimension, size in zip(dimensions, shape, strict=True):
            what = dimension.removesuffix(" + 1")
            size -= what != dimension
            expected, where = known.setdefault(what, (size, name))
            if size != expected:
                raise ValueError(
                    f"its array {name} is for {size} {what}, and its array {where} for {expected}"
                )
            if not 0 <= size <= most.get(what, rows):
                raise ValueError(
                    f"its array {name} is for {size} {what}, where "
                    + (f"its header has {most[what]}" if what in most else "a file has no room")
                )


def _array(archive, name: str, dtype: type, shape, fortran: bool, first: int) -> np.ndarray:
    content = archive.read(f"{name}.npy")
    values = np.frombuffer(content, dtype=dtype, offset=first)
    return np.array(values.reshape(shape, order="F" if fortran else "C"), order="C")
