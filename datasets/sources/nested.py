"""An archive inside an archive, and one large text inside an archive, without filling the disk."""

from __future__ import annotations

import contextlib
import hashlib
import lzma
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from datasets.errors import ChecksumMismatch, DamagedData
from datasets.sources.find import Form, Found, check_file
from datasets.sources.storage import cache_folder, full_disk_named, locked

LIMIT = 2**32
"""Bytes that one member may have unpacked."""
_CHUNK = 2**20
_DAMAGE = (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError)


def inner_archive(outer: Found, inner: Form, folder: str) -> Found:
    """Bring an archive that lies inside another one into the cache, and verify it."""
    target = cache_folder() / folder / inner.filename
    with locked(target):
        if not target.is_file():
            part = target.with_name(target.name + ".part")
            try:
                digest = _copy_member(outer.path, inner.filename, part)
                if digest != inner.sha256:
                    name = f"{inner.filename} in {outer.path}"
                    raise ChecksumMismatch(name, inner.sha256, digest, "Nothing was kept of it.")
                os.replace(part, target)
            finally:
                part.unlink(missing_ok=True)
        return Found(inner, target, outer.source, check_file(inner, target, "Delete it."))


@contextlib.contextmanager
def member_text(archive: Path, name: str, folder: Path) -> Iterator[Path]:
    """Unpack one member for a while."""
    with tempfile.TemporaryDirectory(dir=folder) as room:
        path = Path(room) / name
        _copy_member(archive, name, path)
        yield path


def _copy_member(archive: Path, name: str, target: Path) -> str:
    """Copy the member of this name, wherever it lies, and give its SHA-256."""
    try:
        # Read as a stream: whatever a member is called, nothing but `target` is written.
        with tarfile.open(archive, "r|*") as opened:
            for info in opened:
                if info.isfile() and PurePosixPath(info.name).name == name:
                    with opened.extractfile(info) as source:
                        return _copy(source, target, f"{archive}, {info.name}")
    except PermissionError:
        raise  # says nothing about the archive
    except _DAMAGE as error:
        raise DamagedData(f"{archive}: damaged or incomplete archive ({error})") from error
    raise DamagedData(f"{archive}: no {name} in it")


def _copy(source, target: Path, name: str) -> str:
    digest, size = hashlib.sha256(), 0
    with full_disk_named(target.parent, target.name), open(target, "wb") as handle:
        while piece := source.read(_CHUNK):
            size += len(piece)
            if size > LIMIT:
                raise DamagedData(f"{name}: more than {LIMIT:,} bytes unpacked")
            digest.update(piece)
            handle.write(piece)
    return digest.hexdigest()
