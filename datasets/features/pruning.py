"""Columns in the cache that no current family gives: which they are, and their removal.

A change of a family's source, or of a library that it uses, gives the columns another folder
(:mod:`datasets.features.store`); the old one stays, gigabytes of it, until it is pruned.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from datasets.features.faces.families import FAMILIES as FACES
from datasets.features.families import NAMES, Family, families_of
from datasets.features.store import MADE_FROM, made_from
from datasets.registered import names
from datasets.sources.storage import cache_folder, locked


def unused() -> list[dict[str, Any]]:
    """List the folders of columns that nothing here can use any more."""
    records = []
    for place in sorted((cache_folder() / "features").glob("*/*/")):
        reason = _reason(place)
        if reason:
            size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
            records.append({"folder": place, "bytes": size, "reason": reason})
    return records


def _reason(folder: Path) -> str:
    """Say why a folder of columns is of no use; nothing if it is."""
    name = folder.parent.name
    if name not in {*names(), *NAMES}:
        return "no data set has this name"
    current_families = _families(name)
    if current_families is None:
        return ""
    try:
        noted = json.loads((folder / MADE_FROM).read_text(encoding="utf-8"))
        families, libraries = noted["families"], noted["libraries"]
    except FileNotFoundError:
        return "not opened since notes are kept of what columns were made from"
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return f"its note {MADE_FROM} is damaged ({error})"
    current = made_from(current_families)
    if families != current["families"]:
        return "made by other families, or earlier versions of them"
    if libraries != current["libraries"]:
        return "made with other versions of libraries"
    return ""


def _families(name: str) -> tuple[Family, ...] | None:
    """Give the current families of a set; None where they depend on what was learned before."""
    if name in NAMES:
        return families_of(name)
    return FACES if name == "cbcl" else None


def remove(folder: Path) -> None:
    """Remove a folder of columns, when no other process is computing in it."""
    with locked(folder):
        shutil.rmtree(folder)
