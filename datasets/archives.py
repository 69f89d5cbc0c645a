"""Reading archives without trusting them."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath, PureWindowsPath

from datasets.storage import full_disk_named


class UnsafeArchive(ValueError):
    """A member of an archive would be written outside its folder, or is not a plain file."""


def unpack(archive: Path, folder: Path, members: Collection[str] | None = None) -> list[Path]:
    """Unpack plain files of a zip or tar archive into a folder.

    Parameters
    ----------
    archive : Path
        A zip file, or a tar file in any compression.
    folder : Path
        Where the files go; created if missing.
    members : collection of str, optional
        Only these; all by default.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    UnsafeArchive
        Before anything is written, if any member's path leaves the folder or a member is a link
        or a device.
    KeyError
        If a wanted member is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    opener = _unpack_zip if zipfile.is_zipfile(archive) else _unpack_tar
    with full_disk_named(folder, archive.name):
        return opener(archive, folder, members)


def safe_path(folder: Path, member: str) -> Path:
    """Give the path of a member inside ``folder``, or raise :class:`UnsafeArchive`."""
    parts = PurePosixPath(member.replace("\\", "/"))
    if parts.is_absolute() or PureWindowsPath(member).drive or ".." in parts.parts:
        raise UnsafeArchive(f"archive member {member!r} points outside its folder")
    target = folder / parts
    if not target.resolve().is_relative_to(folder.resolve()):
        raise UnsafeArchive(f"archive member {member!r} points outside its folder")
    return target


def _wanted(names: list[str], members: Collection[str] | None, archive: Path) -> set[str]:
    missing = set(members or ()) - set(names)
    if missing:
        raise KeyError(f"{archive.name} has no member {sorted(missing)[0]!r}")
    return set(names if members is None else members)


def _unpack_zip(archive: Path, folder: Path, members: Collection[str] | None) -> list[Path]:
    with zipfile.ZipFile(archive) as opened:
        plain = [info for info in opened.infolist() if not info.is_dir()]
        targets = {info.filename: safe_path(folder, info.filename) for info in plain}
        wanted = _wanted(list(targets), members, archive)
        written = []
        for info in plain:
            if info.filename in wanted:
                with opened.open(info) as source:
                    written.append(_write(source, targets[info.filename]))
    return written


def _unpack_tar(archive: Path, folder: Path, members: Collection[str] | None) -> list[Path]:
    with tarfile.open(archive) as opened:
        plain = [info for info in opened.getmembers() if not info.isdir()]
        for info in plain:
            if not info.isfile():
                raise UnsafeArchive(f"archive member {info.name!r} is a link or a device")
        targets = {info.name: safe_path(folder, info.name) for info in plain}
        wanted = _wanted(list(targets), members, archive)
        written = []
        for info in plain:
            if info.name in wanted:
                with opened.extractfile(info) as source:
                    written.append(_write(source, targets[info.name]))
    return written


def _write(source, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(target, "wb") as handle:
            shutil.copyfileobj(source, handle, 2**20)
    except OSError:
        target.unlink(missing_ok=True)
        raise
    return target
