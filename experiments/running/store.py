"""Finished cells on disk, so that a killed run goes on where it stopped.

An entry is one text file: a header line with the SHA-256 of the rest, then one JSON line per row.
Only the driver writes, each entry atomically; a damaged one is recognised and computed anew.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Sequence
from pathlib import Path

from datasets.sources.storage import set_aside, write_atomically
from experiments.cell import canonical_json

log = logging.getLogger(__name__)

_FORMAT = "cost-aware-boosting cell 1"


class Store:
    """A folder of finished cells."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        """Return where the entry of a key is or would be."""
        return self.folder / key[:2] / f"{key}.jsonl"

    def put(self, key: str, rows: Sequence[dict], seconds: float) -> None:
        """Write an entry; either the whole of it is there afterwards, or nothing."""
        body = "".join(canonical_json(row) + "\n" for row in rows).encode()
        header = {
            "format": _FORMAT,
            "key": key,
            "seconds": round(seconds, 4),
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        path = self.path(key)
        set_aside(path.parent, "folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        set_aside(path, "file")
        write_atomically(path, canonical_json(header).encode() + b"\n" + body)

    def get(self, key: str) -> tuple[list[dict], float] | None:
        """Return (rows, seconds) of an entry, or None if it is missing or damaged."""
        path = self.path(key)
        try:
            header_line, _, body = path.read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        except (IsADirectoryError, NotADirectoryError, PermissionError) as error:
            log.warning(
                "stored result %s cannot be read (%s): computing it again", path, error.strerror
            )
            return None
        try:
            header = json.loads(header_line)
            if header["format"] != _FORMAT or header["key"] != key:
                raise ValueError("it belongs to something else")
            if hashlib.sha256(body).hexdigest() != header["sha256"]:
                raise ValueError("its checksum does not match")
            rows = [json.loads(line) for line in body.decode().splitlines()]
            if not all(isinstance(row, dict) for row in rows):
                raise TypeError("a row has no names")
            seconds = float(header["seconds"])
            if not math.isfinite(seconds):
                raise ValueError("its time is no number")
            return rows, seconds
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            log.warning("stored result %s is damaged (%s): computing it again", path, error)
            return None
