"""What could not be reached in this run: hosts, and wheels on the package index, with the reason.

Whoever tries an address in vain notes it here, and nobody tries it again: neither this process
nor those that :func:`noted` is handed to. Nothing is written down, so the next run tries again.
"""

from __future__ import annotations

from collections.abc import Mapping

from datasets.errors import SourceFailed

_REASONS: dict[str, str] = {}


def note(name: str, reason: str) -> SourceFailed:
    """Note that a host (``host:port``) or a wheel (``name==version``) cannot be reached."""
    _REASONS[name] = reason
    return SourceFailed(reason)


def check(name: str) -> None:
    """Raise :class:`SourceFailed` if a host or wheel could not be reached earlier in this run."""
    if name in _REASONS:
        raise SourceFailed(f"{_REASONS[name]} (not tried again in this run)")


def noted() -> dict[str, str]:
    """Return the notes, to hand them to another process on this machine."""
    return dict(_REASONS)


def take(notes: Mapping[str, str]) -> None:
    """Take the notes of another process of this run on this machine."""
    _REASONS.update(notes)


def forget() -> None:
    """Let everything be tried again."""
    _REASONS.clear()
