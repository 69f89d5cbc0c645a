"""What an exception says, in one line."""

from __future__ import annotations

_LONGEST_REASON = 300


def reason(error: BaseException) -> str:
    """Give what an exception says, in one line."""
    said = " ".join(str(error).split())
    if len(said) > _LONGEST_REASON:
        said = said[:_LONGEST_REASON] + " …"
    return f"{type(error).__name__}: {said}".rstrip(": ")
