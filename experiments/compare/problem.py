"""The file of a table cut into three parts, which every trial reads."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from datasets.dataset import checksum
from datasets.sources.storage import set_aside, write_atomically
from experiments.compare.own_columns import OwnColumns
from experiments.methods.problem import ARRAYS, PARTS, ClassWeight, Part, Problem


def write(folder: Path, arrays: dict[str, np.ndarray | None], meta: dict[str, Any]) -> Path:
    """Write a problem for the workers to read; return the file.

    Parameters
    ----------
    folder : Path
        Created; the file is named after its content, so that none is ever another problem's.
    arrays : dict
        ``X_train, y_train, query_train, …`` and ``feature_costs``; None is left out. Classes are
        numbers of ``classes`` in `meta`.
    meta : dict
        Everything else, JSON-able; ``class_weight``, if any: "balanced", or one number a class;
        ``own``, if columns are of text: :meth:`OwnColumns.to_json`.
    """
    text = np.frombuffer(json.dumps(meta, sort_keys=True).encode(), dtype=np.uint8)
    kept = {name: array for name, array in arrays.items() if array is not None} | {"meta": text}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"data-{checksum(kept)[:16]}.npz"
    set_aside(path, "file")
    content = io.BytesIO()
    np.savez(content, **kept)
    write_atomically(path, content.getvalue())
    return path


def load(name: str, *, scale: str = "", data: str = "", seed: int = 0) -> Problem:
    """Read a problem that :func:`write` wrote.

    Parameters
    ----------
    name : str
        Path of the file.
    scale, data, seed : ignored
        As workers call every loader.
    """
    with np.load(name, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    meta = json.loads(arrays["meta"].tobytes())
    names = meta["names"]
    classes = None if meta["classes"] is None else np.array(meta["classes"])
    parts = {}
    for part in PARTS:
        values = {key: arrays.get(f"{key}_{part}") for key in ARRAYS}
        values["X"] = pd.DataFrame(values["X"], columns=names)
        if classes is not None:
            values["y"] = classes[values["y"]]
        parts[part] = Part(**values)
    return Problem(
        task=meta["task"],
        metric=meta["metric"],
        parts=parts,
        feature_costs=arrays["feature_costs"],
        feature_groups=meta["feature_groups"],
        group_costs=meta["group_costs"],
        split_cost=meta["split_cost"],
        provenance={"checksum": checksum(arrays)},
        class_weight=_by_class(meta.get("class_weight"), meta["classes"]),
        own=OwnColumns.of_json(meta["own"]) if "own" in meta else None,
    )


def _by_class(stored: str | list[float] | None, classes: list | None) -> ClassWeight:
    """Give weights of classes by class, which a file has in the order of its classes."""
    if stored is None or isinstance(stored, str):
        return stored
    return dict(zip(classes or (), stored, strict=True))
