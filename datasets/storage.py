"""The cache folder: where it is, its locks, atomic files, and decoded tables.

A file in the cache is either whole or absent: everything is written under another name in the
same folder and renamed at the end. Decoded tables are ``.npy`` files with a JSON index that
carries their SHA-256, so that a cell of an experiment does not parse 75 MB of text again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from datasets.errors import CacheFull, ChecksumMismatch

CACHE_VARIABLE = "COST_AWARE_BOOSTING_CACHE"
FULL_CHECK_BYTES = 256 * 2**20
"""Decoded tables up to this size are hashed on every read; larger ones by size (and `verify`)."""

_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def cache_folder() -> Path:
    """Give the cache folder: ``COST_AWARE_BOOSTING_CACHE`` or the user's cache directory."""
    import pooch

    configured = os.environ.get(CACHE_VARIABLE, "").strip()
    return Path(configured).expanduser() if configured else pooch.os_cache("cost-aware-boosting")


def announce(text: str) -> None:
    """Say something to the user, on stderr so that tables on stdout stay clean."""
    print(text, file=sys.stderr, flush=True)


def file_sha256(path: Path) -> str:
    """Give the SHA-256 of a file in hex, reading it in pieces."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@contextlib.contextmanager
def full_disk_named(folder: Path, what: str) -> Iterator[None]:
    """Turn "no space left" inside the block into a :class:`CacheFull` that names the folder."""
    try:
        yield
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise CacheFull(folder, what) from error
        raise


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold an advisory lock beside ``target``, so that two processes fetch it once.

    The lock belongs to the open file and dies with the process; the empty ``.lock`` file stays.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.with_name(f".{target.name}.lock"), "a+b") as handle:
        if not _try_lock(handle):
            announce(f"waiting for another process that is preparing {target.name}")
            _wait_lock(handle)
        try:
            yield
        finally:
            _unlock(handle)


if os.name == "nt":  # pragma: no cover - exercised on Windows only
    import msvcrt
    import time

    def _try_lock(handle) -> bool:
        handle.seek(0)
        try:
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait_lock(handle) -> None:
        while not _try_lock(handle):
            time.sleep(0.2)

    def _unlock(handle) -> None:
        handle.seek(0)
        msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait_lock(handle) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _unlock(handle) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def write_text(path: Path, text: str) -> None:
    """Write a small text file atomically."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def decoded(
    dataset: str, key: str, build: Callable[[Path], dict | None]
) -> tuple[dict[str, np.ndarray], dict]:
    """Read decoded tables from the cache, building them first where they are missing.

    Parameters
    ----------
    dataset : str
        Folder inside the cache.
    key : str
        What determines the content: table, version of the decoder, digest of the raw file.
    build : callable
        Gets an empty folder, writes ``<array>.npy`` files into it, returns JSON-able facts.

    Returns
    -------
    arrays : dict of str to ndarray
        Memory-mapped, read-only.
    facts : dict
        What ``build`` returned.

    Raises
    ------
    ChecksumMismatch
        If a stored table was changed after it was written.
    CacheFull
        If the disk is full; nothing is left behind.

    Notes
    -----
    Where the cache cannot be written (a read-only home), the tables are built in memory.
    """
    folder = cache_folder() / dataset / "decoded" / key
    if not (folder / "index.json").exists():
        try:
            with locked(folder):
                if not (folder / "index.json").exists():
                    _build(folder, build)
        except PermissionError:
            return _in_memory(build)
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
            return _in_memory(build)
    return read_decoded(folder)


def _build(folder: Path, build: Callable[[Path], dict | None]) -> None:
    """Build into a temporary sibling and rename it into place (the caller holds the lock)."""
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
            index = {"files": files, "facts": facts}
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
    """Open decoded tables and check them against their index.

    Parameters
    ----------
    folder : Path
        A folder made by :func:`decoded`.
    full : bool, default False
        Hash tables above ``FULL_CHECK_BYTES`` too.

    Returns
    -------
    arrays, facts
        As :func:`decoded`.
    """
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    arrays = {}
    for name, entry in index["files"].items():
        path = folder / name
        size = path.stat().st_size if path.exists() else -1
        small = entry["bytes"] <= FULL_CHECK_BYTES
        if size != entry["bytes"]:
            found = f"(a file of {size} instead of {entry['bytes']} bytes)"
        else:
            found = file_sha256(path) if small or full else entry["sha256"]
        if found != entry["sha256"]:
            advice = f"Delete the folder {folder}; it is made anew from the raw file."
            raise ChecksumMismatch(str(path), entry["sha256"], found, advice)
        arrays[path.stem] = np.load(path, mmap_mode="r", allow_pickle=False)
    return arrays, index["facts"]
