"""Frozen editions beside the living leaderboard."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

KEPT = ("scores.csv", "ranking.csv", "chosen.csv", "skipped.csv", "lost.csv", "meta.json")


class Taken(ValueError):
    """An edition cannot have this name; the message says why."""


def freeze(published: Path, name: str) -> Path:
    """Copy what is published into ``editions/NAME``; an edition is never written again.

    Raises
    ------
    Taken
        If the name is none for a folder, or there is such an edition.
    """
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) is None:
        raise Taken(f"An edition's name has letters, digits, '.', '_' and '-' alone, not {name!r}.")
    folder = published / "editions" / name
    if folder.exists():
        raise Taken(f"There is an edition {name} already, and editions do not change.")
    folder.mkdir(parents=True)
    for file in KEPT:
        shutil.copyfile(published / file, folder / file)
    return folder
