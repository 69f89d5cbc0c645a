"""What can go wrong with a data set, in the user's words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path


class UnknownDataset(ValueError):
    """No data set has this name; the message suggests near ones."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        known = list(known)
        near = difflib.get_close_matches(str(name).lower(), known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        super().__init__(f"unknown data set {name!r}: {hint}known are {', '.join(known)}")
        self.name = name
        self.near = near
        self.known = known

    def __reduce__(self) -> tuple:
        """Let the error travel between worker processes unchanged."""
        return type(self), (self.name, self.known)


class DataUnavailable(RuntimeError):
    """A data set is unavailable here; the message says what was tried and what to do next."""


class CacheFull(DataUnavailable):
    """The disk under the cache folder is full."""

    def __init__(self, folder: Path, what: str) -> None:
        super().__init__(
            f"no space left in {folder} while writing {what}; nothing was kept of it. "
            "Free some space, or set COST_AWARE_BOOSTING_CACHE to a folder on a larger disk."
        )
        self.folder = folder
        self.what = what

    def __reduce__(self) -> tuple:
        """Let the error travel between worker processes unchanged."""
        return type(self), (self.folder, self.what)


_REPLACE = "Nothing of it is used: replace the file."


class ChecksumMismatch(RuntimeError):
    """A file is not the one whose SHA-256 is on record; it never becomes data."""

    def __init__(self, file: str, expected: str, found: str, advice: str = _REPLACE) -> None:
        text = f"checksum mismatch: {file}\n  expected sha256 {expected}\n  found    sha256 {found}"
        super().__init__(f"{text}\n  {advice}")
        self.file = file
        self.expected = expected
        self.found = found
        self.advice = advice

    def __reduce__(self) -> tuple:
        """Let the error travel between worker processes unchanged."""
        return type(self), (self.file, self.expected, self.found, self.advice)


class DamagedData(ValueError):
    """A file or a picture in it is damaged, incomplete or of another size; the message names it."""


class DamagedFiles(DamagedData):
    """Several files of a data set are damaged."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)

    def __reduce__(self) -> tuple:
        """Let the error travel between worker processes unchanged."""
        return type(self), (self.problems,)


class SourceFailed(Exception):
    """One source could not deliver; the next one is tried. Internal to the package."""


def unavailable(name: str, attempts: Sequence[str], advice: str) -> DataUnavailable:
    """Describe every source tried and the way out."""
    tried = "\n".join(f"  - {line}" for line in attempts) or "  - no source applies"
    return DataUnavailable(f"{name} is unavailable here. Tried:\n{tried}\n  Next: {advice}")
