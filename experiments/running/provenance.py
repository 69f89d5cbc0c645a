"""Where a result comes from: sources, data, versions of libraries, kind of processor."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.artefact import Artefact
from experiments.cell import Cell, digest
from experiments.running.closure import ROOT, sources_hash

LIBRARIES = ("numpy", "scipy", "numba", "pandas", "scikit-learn")
"""Libraries whose version may change a number."""

# README files describe, the report's template and style show, compiled files follow from sources.
_NOT_SOURCE = {".md", ".html", ".css", ".pyc"}


def hash_files(paths: Iterable[Path], base: Path) -> str:
    """Return one SHA-256 over names (relative to `base`) and contents of files."""
    total = hashlib.sha256()
    for path in sorted(paths):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(base).as_posix()} {content}\n".encode())
    return total.hexdigest()


def _sources(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix not in _NOT_SOURCE
        and not any(p.startswith((".", "__pycache__")) for p in path.relative_to(folder).parts)
    ]


def source_tree_hash() -> str:
    """Hash of everything under version control that can influence a published result."""
    files = [ROOT / name for name in ("pyproject.toml", "requirements.lock")]
    for package in ("algorithms", "datasets", "experiments", "reference"):  # bounds of Theorem 1
        files += _sources(ROOT / package)
    return hash_files(filter(Path.exists, files), ROOT)


@functools.cache
def processor() -> str:
    """Return the kind of processor, as far as results may differ between kinds.

    NumPy's exp and log differ in the last bit between instruction sets, so these are named
    rather than the model.
    """
    try:
        features = np._core._multiarray_umath.__cpu_features__
        widest = [
            name for name in ("AVX512_SKX", "AVX2", "SVE", "ASIMD", "VSX") if features.get(name)
        ]
    except AttributeError:
        widest = []
    return " ".join([platform.machine().lower(), *widest[:1]])


@functools.cache
def _version(library: str) -> str:
    """Version of a library, asked for once: every key of a cell holds some, and one takes a ms."""
    return importlib.metadata.version(library)


def environment() -> dict[str, Any]:
    """Return versions and processor: equal on every machine that may share results."""
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "system": platform.system(),
        "versions": {name: _version(name) for name in LIBRARIES},
        "processor": processor(),
    }


def worker_state(run_module: str, load_module: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return what must agree between the driver and a worker: environment and sources."""
    sources = {name: sources_hash(run_module, load_module, name) for name in names}
    return {**environment(), "sources": sources}


def describe_data(dataset) -> dict[str, Any]:
    """Return provenance, sizes and costs of a data set, for ``meta.json``.

    What depends on the draw, its checksum, is left to the caller, under ``checksums``.
    """
    of_the_draw = ("checksum", "seed")
    record = {k: v for k, v in dataset.provenance.items() if k not in of_the_draw}
    parts = [part for part in ("train", "valid", "test") if hasattr(dataset, f"y_{part}")]
    if hasattr(dataset, "X_train"):
        n_features = dataset.X_train.shape[1]
    else:
        n_features = dataset.n_features
    return {
        **record,
        "rows": {part: len(getattr(dataset, f"y_{part}")) for part in parts},
        "n_features": int(n_features),
        "cost_unit": dataset.cost_unit,
        "cost_origin": dataset.cost_origin,
        "checksums": {},
    }


def row_hashes(X: np.ndarray) -> np.ndarray:
    """Return one number for each row, equal for equal rows."""
    odd = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    total = np.zeros(len(X), dtype=np.uint64)
    for column, factor in enumerate(odd):
        bits = np.ascontiguousarray(X[:, column] + 0.0).view(np.uint64)
        total += (bits ^ (bits >> np.uint64(29))) * factor
    return total


def cell_key(cell: Cell, scale: str, identity: Mapping[str, str], state: Mapping[str, Any]) -> str:
    """Hash of everything that determines a cell's rows."""
    state = {**state, "sources": state["sources"][cell.dataset]}
    return digest([cell.to_json(), scale, dict(identity), state])


def describe_artefact(artefact: Artefact) -> dict[str, Any]:
    """Return what an artefact says of itself, for ``meta.json``."""
    return {
        "id": artefact.id,
        "paper": artefact.paper,
        "title": artefact.title,
        "shows": artefact.shows,
        "paper_numbers": artefact.paper_numbers,
        "timing_columns": list(artefact.timing_columns),
    }


def describe_run(
    artefact: Artefact,
    *,
    scale: str,
    data_mode: str,
    seeds: Iterable[int],
    data: Mapping[str, Mapping[str, Any]],
    command: str,
    jobs: int | None,
    source_tree: str,
) -> dict[str, Any]:
    """Return the content of ``meta.json``; no dates, so that equal runs write equal files."""
    return {
        **describe_artefact(artefact),
        "scale": scale,
        "data_mode": data_mode,
        "data": {name: dict(data[name]) for name in sorted(data)},
        "seeds": list(seeds),
        "source_tree_sha256": source_tree,
        **environment(),
        "processor_model": processor_model(),
        "threads_per_worker": 1,
        "workers": jobs,
        "command": command,
    }


def processor_model() -> str:
    """Return the name that the processor's maker gave it, "" if it is not known."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def default_jobs() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def command_line(arguments: Iterable[str]) -> str:
    """Return the command as a user would type it, without this machine's paths."""
    return " ".join(["python -m experiments", *arguments])
