"""Reading compressed files and archives without trusting them.

Whoever calls has compared the file's SHA-256 with the one on record, where there is one. Nothing is
written under a member's name, and nothing unpacked without a bound: every reader here stops at a
number of bytes that its caller knows, so that a few kilobytes cannot fill the memory or the disk.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import numpy as np

from datasets.errors import DamagedData

LIMIT = 2**32
"""Bytes that an archive may hold unpacked, where its reader does not know better."""
LARGEST_MEMBER = 2**25
"""Bytes of one member, which is read into memory."""
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError),
    *(EOFError, KeyError, NotImplementedError),
)
"""What the standard library raises for damaged or cut-off archives."""
_NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_COMPRESSED = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}


class TooLarge(DamagedData):
    """A compressed file or a member of an archive is larger unpacked than it may be."""


@contextlib.contextmanager
def damage_named(path: Path, kind: type[DamagedData] = DamagedData) -> Iterator[None]:
    """Turn what the standard library says of a damaged archive into an error that names it."""
    try:
        yield
    except DAMAGE as error:
        raise kind(f"{path}: damaged or incomplete archive ({error})") from error


class Bounded(io.RawIOBase):
    """Pass the bytes of a stream through, up to a limit."""

    def __init__(self, stream, limit: int, name: str) -> None:
        self.stream = stream
        self.limit = limit
        self.name = name

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be sought, as the stream below can."""
        return self.stream.seekable()

    def tell(self) -> int:
        """Give the place in the stream."""
        return self.stream.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place from the start or from here, not beyond the limit."""
        place = offset + (self.stream.tell() if whence == io.SEEK_CUR else 0)
        if whence == io.SEEK_END or place > self.limit:
            self._refuse()
        return self.stream.seek(place)

    def readinto(self, buffer) -> int:
        """Read into a buffer."""
        piece = self.stream.read(len(buffer))
        buffer[: len(piece)] = piece
        if self.stream.tell() > self.limit:
            self._refuse()
        return len(piece)

    def _refuse(self) -> None:
        raise TooLarge(f"{self.name}: more than {self.limit:,} bytes unpacked; nothing is kept")


@contextlib.contextmanager
def opened(path: Path, limit: int, member: str | None = None) -> Iterator[io.BufferedReader]:
    """Open the content of a compressed file (gzip, xz, bzip2), or of a member of a zip file."""
    with contextlib.ExitStack() as stack:
        if member is None:
            stream = stack.enter_context(open(path, "rb"))
        else:
            archive = stack.enter_context(zipfile.ZipFile(path))
            _check_total(path, archive.getinfo(member).file_size, limit)
            stream = stack.enter_context(archive.open(member))
        name = str(path) if member is None else f"{path}, {member}"
        stream = stack.enter_context(_decompressed(stream))
        yield stack.enter_context(io.BufferedReader(Bounded(stream, limit, name)))


def _decompressed(stream):
    """Open what a stream holds, by its first bytes; as it is if it is not compressed."""
    start = stream.read(6)
    stream.seek(0)
    for magic, opener in _COMPRESSED.items():
        if start.startswith(magic):
            return opener(stream, "rb")
    return stream


def _check_total(path: Path, n_bytes: int, limit: int) -> None:
    if n_bytes > limit:
        raise TooLarge(f"{path}: {n_bytes:,} bytes unpacked, at most {limit:,} are expected")


def read_npz(path: Path, names: Collection[str], limit: int) -> dict[str, np.ndarray]:
    """Read arrays of an ``.npz`` file; nothing is unpickled."""
    arrays = {}
    with damage_named(path), zipfile.ZipFile(path) as archive:
        sizes = {name: archive.getinfo(f"{name}.npy").file_size for name in names}
        _check_total(path, sum(sizes.values()), limit)
        for name, size in sizes.items():
            with archive.open(f"{name}.npy") as stream:
                content = stream.read(size)
            try:
                # A header may state any shape: NumPy would take the memory for it first.
                header = io.BytesIO(content)
                read_header = _NPY_HEADERS[np.lib.format.read_magic(header)]
                shape, fortran, dtype = read_header(header)
                values = np.frombuffer(content, dtype, offset=header.tell())
                arrays[name] = values.reshape(shape, order="F" if fortran else "C")
            except ValueError as error:
                raise DamagedData(f"{path}, {name}.npy: {error}") from error
    return arrays


def members(
    archive: Path, wanted: Callable[[str], bool], inner: str | None = None
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Walk through plain files of a tar or zip archive, writing nothing to the disk.

    Links and devices are passed over, wherever they point: INRIA's archive has some.
    """
    if inner is None and zipfile.is_zipfile(archive):
        yield from _zip_members(archive, wanted)
        return
    member = None
    if inner is not None and zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as outer:
            names = [name for name in outer.namelist() if name.endswith(inner)]
        if len(names) != 1:
            raise KeyError(f"{archive.name} has {len(names)} members named ...{inner}, not 1")
        member = names[0]
    with opened_tar(archive, LIMIT, member) as tar:
        for info in tar:
            if info.isreg() and wanted(info.name):
                _check_total(f"{archive}, {info.name}", info.size, LARGEST_MEMBER)
                yield info.name, lambda info=info: tar.extractfile(info).read()


def _zip_members(
    archive: Path, wanted: Callable[[str], bool]
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Walk through wanted files of a zip file, as :func:`members` does."""
    with zipfile.ZipFile(archive) as content:
        chosen = [e for e in content.infolist() if not e.is_dir() and wanted(e.filename)]
        _check_total(archive, sum(entry.file_size for entry in chosen), LIMIT)
        for entry in chosen:
            _check_total(f"{archive}, {entry.filename}", entry.file_size, LARGEST_MEMBER)
            yield entry.filename, lambda entry=entry: content.read(entry)


@contextlib.contextmanager
def opened_tar(archive: Path, limit: int, member: str | None = None) -> Iterator[tarfile.TarFile]:
    """Open a tar file in any compression, also inside a zip file; arguments as :func:`opened`."""
    with opened(archive, limit, member) as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
        yield tar
