"""Reading archives without trusting them."""

from __future__ import annotations

import contextlib
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator
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


def members(
    archive: Path, wanted: Callable[[str], bool], inner: str | None = None
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Walk through plain files of a tar archive, writing nothing to the disk.

    Links and devices are passed over, wherever they point: INRIA's archive has some.

    Parameters
    ----------
    archive : Path
        A tar file in any compression, or a zip file that holds one.
    wanted : callable
        Says of a member's name whether it is wanted.
    inner : str, optional
        How the name of the tar file inside a zip file ends, ``"/images.tar.gz"`` say.

    Yields
    ------
    name : str
        Of a wanted member, in the order of the archive.
    read : callable
        Gives its content as bytes; to be called before the next member is asked for.

    Raises
    ------
    tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile
        If the archive is damaged or cut off.
    KeyError
        If a zip file has not exactly one member whose name ends with `inner`.
    """
    with contextlib.ExitStack() as stack:
        if inner is not None and zipfile.is_zipfile(archive):
            outer = stack.enter_context(zipfile.ZipFile(archive))
            names = [name for name in outer.namelist() if name.endswith(inner)]
            if len(names) != 1:
                raise KeyError(f"{archive.name} has {len(names)} members named ...{inner}, not 1")
            stream = stack.enter_context(outer.open(names[0]))
            opened = stack.enter_context(tarfile.open(fileobj=stream, mode="r|*"))
        else:
            opened = stack.enter_context(tarfile.open(archive))
        for info in opened:
            if info.isfile() and wanted(info.name):
                yield info.name, lambda info=info: opened.extractfile(info).read()


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
