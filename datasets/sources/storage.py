"""The cache folder: where it is, its locks, atomic files, and decoded tables.

A file in the cache is either whole or absent: everything is written under another name in the
same folder and renamed at the end. Decoded tables are ``.npy`` files with a JSON index that
carries their SHA-256, so that a cell of an experiment does not parse 75 MB of text again.

What stands in the place of one of our files and is none (a folder, say) is named and set aside
under another name; nothing that we did not write is ever deleted.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from datasets.errors import CacheFull, ChecksumMismatch, DamagedData, DataUnavailable

CACHE_VARIABLE = "COST_AWARE_BOOSTING_CACHE"
FULL_CHECK_BYTES = 256 * 2**20
"""Decoded tables up to this size are hashed on every read; larger ones by size (and `verify`)."""

_DISK_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NUMPY_DISK_FULL = re.compile(r"\d+ requested and \d+ written|Not enough free space")
"""NumPy's own words where it writes an array to a full disk; they come without an error number."""
_IN_THE_WAY = {errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY}


def cache_folder() -> Path:
    """Give the cache folder: ``COST_AWARE_BOOSTING_CACHE`` or the user's cache directory."""
    import pooch

    configured = os.environ.get(CACHE_VARIABLE, "").strip()
    if configured:
        return Path(os.path.expanduser(configured))
    return pooch.os_cache("cost-aware-boosting")


def announce(text: str) -> None:
    """Say something to the user, on stderr so that tables on stdout stay clean."""
    print(text, file=sys.stderr, flush=True)


def file_sha256(path: Path) -> str:
    """Give the SHA-256 of a file in hex, reading it in pieces."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def disk_is_full(error: OSError) -> bool:
    """Say whether an error means that a file did not fit: no space, no quota, or a size limit."""
    return error.errno in _DISK_FULL or (
        error.errno is None and _NUMPY_DISK_FULL.search(str(error)) is not None
    )


@contextlib.contextmanager
def full_disk_named(folder: Path, what: str) -> Iterator[None]:
    """Turn "no space left" inside the block into a :class:`CacheFull` that names the folder."""
    try:
        yield
    except OSError as error:
        if disk_is_full(error):
            raise CacheFull(folder, what) from error
        raise


@contextlib.contextmanager
def obstacle_named() -> Iterator[None]:
    """Turn a file in the place of a folder, or the reverse, into a :class:`DataUnavailable`."""
    try:
        yield
    except OSError as error:
        if error.errno not in _IN_THE_WAY:
            raise
        raise DataUnavailable(
            f"the cache cannot be used: {error.filename2 or error.filename} is in the way "
            f"({error.strerror}). Next: remove it, or set {CACHE_VARIABLE} to another folder."
        ) from error


def set_aside(path: Path, wanted: str) -> Path | None:
    """Rename what is in the way of one of our files, and say so; nothing is deleted."""
    if not os.path.lexists(path) or (path.is_dir() if wanted == "folder" else path.is_file()):
        return None
    kind = "a folder" if path.is_dir() else "no folder" if wanted == "folder" else "no plain file"
    number = 1
    while os.path.lexists(place := path.with_name(f"{path.name}.set-aside-{number}")):
        number += 1
    os.rename(path, place)
    announce(f"{path} is {kind} where a {wanted} should be: set aside as {place.name}")
    return place


def new_array(path: Path, dtype: np.dtype | type, shape: tuple[int, ...]) -> np.memmap:
    """Make a ``.npy`` file to be filled piece by piece, with its space on the disk.

    On a full disk a mapped page that has no space yet is a crash of the process, not an error.
    """
    array = np.lib.format.open_memmap(path, "w+", dtype, shape)
    with open(path, "r+b") as handle:
        reserve(handle, path.stat().st_size)
    return array


def reserve(handle, n_bytes: int) -> None:
    """Reserve space on the disk for an open file, where the system can."""
    if hasattr(os, "posix_fallocate") and n_bytes:
        os.posix_fallocate(handle.fileno(), 0, n_bytes)


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold an advisory lock beside ``target``, so that two processes fetch it once.

    The system releases it if the process ends; the empty ``.lock`` file stays.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(target.with_name(f".{target.name}.lock"))
    try:
        lock.acquire(blocking=False)
    except Timeout:
        announce(f"waiting for another process that is preparing {target.name}")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file by way of another one beside it, forced to disk before it is renamed.

    Its name is random: two containers on one volume may have equal process numbers. A file that is
    there keeps its mode, and a link is written through.
    """
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def decoded(
    dataset: str, key: str, build: Callable[[Path], dict | None]
) -> tuple[dict[str, np.ndarray], dict]:
    """Read decoded tables from the cache, building them first where they are missing."""
    folder = cache_folder() / dataset / "decoded" / key
    try:
        if (found := _if_there(folder)) is not None:
            return found
    except DamagedIndex as error:
        announce(f"{error}: the tables are decoded anew")
    try:
        with obstacle_named(), full_disk_named(folder.parent, key), locked(folder):
            with contextlib.suppress(DamagedIndex):
                if (found := _if_there(folder)) is not None:  # another process was faster
                    return found
            _build(folder, build)
    except PermissionError:
        return _in_memory(build)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return _in_memory(build)
    return read_decoded(folder)


def _if_there(folder: Path) -> tuple[dict[str, np.ndarray], dict] | None:
    return read_decoded(folder) if os.path.lexists(folder / "index.json") else None


class DamagedIndex(DamagedData):
    """The index of decoded tables cannot be read, or what it names is not there or no table.

    A table with other bytes than its index says is another matter, a :class:`ChecksumMismatch`.
    """


def read_index(folder: Path) -> dict:
    """Read the index of decoded tables."""
    path = folder / "index.json"
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
        files = index["files"]
        if index.get("sha256", now := _index_sha256(index)) != now:  # older ones have none
            raise ValueError("its own checksum does not match")
        if not isinstance(index["facts"], dict):
            raise TypeError("its facts are no table")
        for name, entry in files.items():
            if name != Path(name).name or not isinstance(entry["sha256"], str):
                raise ValueError(f"{name!r} is no entry")
            if not isinstance(entry["bytes"], int):
                raise TypeError(f"the size of {name} is no number")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedIndex(f"{path} is damaged ({type(error).__name__}: {error})") from error
    return index


def _index_sha256(index: dict) -> str:
    """Give what tells that an index is as it was written: its files, and what the decoder noted."""
    content = json.dumps([index["files"], index["facts"]], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _build(folder: Path, build: Callable[[Path], dict | None]) -> None:
    """Build into a temporary sibling and rename it into place (the caller holds the lock)."""
    set_aside(folder, "folder")
    for abandoned in (folder, *folder.parent.glob(f".{folder.name}.*.tmp")):
        shutil.rmtree(abandoned, ignore_errors=True)  # by a process that was killed
    workspace = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=folder.parent))
    try:
        with full_disk_named(folder.parent, folder.name):
            facts = build(workspace) or {}
            files = {
                path.name: {"sha256": file_sha256(path), "bytes": path.stat().st_size}
                for path in sorted(workspace.glob("*.npy"))
            }
            index = json.loads(json.dumps({"files": files, "facts": facts}))  # as it is read back
            index["sha256"] = _index_sha256(index)
            (workspace / "index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")
            workspace.chmod(0o755)
            os.rename(workspace, folder)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _in_memory(build: Callable[[Path], dict | None]) -> tuple[dict[str, np.ndarray], dict]:
    with tempfile.TemporaryDirectory() as name:
        facts = build(Path(name)) or {}
        paths = sorted(Path(name).glob("*.npy"))
        return {path.stem: np.load(path, allow_pickle=False) for path in paths}, facts


def read_decoded(folder: Path, *, full: bool = False) -> tuple[dict[str, np.ndarray], dict]:
    """Open decoded tables and check them against their index."""
    index = read_index(folder)
    arrays = {}
    for name, entry in index["files"].items():
        path = folder / name
        if not path.is_file():
            raise DamagedIndex(f"{path} is missing or no file")
        size = path.stat().st_size
        small = entry["bytes"] <= FULL_CHECK_BYTES
        if size != entry["bytes"]:
            instead = f"(a file of {size} instead of {entry['bytes']} bytes)"
        else:
            instead = file_sha256(path) if small or full else entry["sha256"]
        if instead != entry["sha256"]:
            advice = f"Delete the folder {folder}; it is made anew from the raw file."
            raise ChecksumMismatch(str(path), entry["sha256"], instead, advice)
        arrays[path.stem] = _mapped(path)
    return arrays, index["facts"]


def _mapped(path: Path) -> np.ndarray:
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # whatever Python's own parser makes of its header
        raise DamagedIndex(f"{path} is damaged ({error})") from error
    if array.dtype.kind not in "biuf":
        raise DamagedIndex(f"{path} is damaged (it holds no numbers but {array.dtype})")
    return array
