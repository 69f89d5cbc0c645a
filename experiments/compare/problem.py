"""A table cut into training, validation and test part, as every trial reads it."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from algorithms.estimators.fitting import weights_by_class
from algorithms.kernels.arrays import read_only
from datasets.dataset import checksum
from datasets.sources.storage import set_aside, write_atomically
from experiments.compare.own_columns import OwnColumns

PARTS = ("train", "valid", "test")
ClassWeight = None | str | dict[Any, float]
_ARRAYS = ("X", "y", "query", "cluster", "weight")


@dataclass(frozen=True)
class Part:
    """Rows of one part; trials share them, so that their arrays cannot be written to."""

    X: pd.DataFrame  # Features with their names, float64
    y: np.ndarray  # Classes as the user writes them, numbers, or grades
    query: np.ndarray | None  # Query of each row, in blocks
    # What is resampled together: query or group; None: each row by itself
    cluster: np.ndarray | None
    weight: np.ndarray | None

    def __post_init__(self) -> None:
        for name in _ARRAYS[1:]:
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(values))

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Problem:
    """What is compared on.

    Attributes
    ----------
    task : {"classification", "regression", "ranking"}
    metric : str
        See :mod:`experiments.compare.metrics`.
    parts : dict of str to Part
    feature_costs : (d,) float64
    feature_groups : list of str or None
    group_costs : dict of str to float or None
    split_cost : float
    provenance : dict
        ``checksum`` of all that trials read.
    class_weight : None, "balanced" or dict of class to float
        What rows that are fitted count besides, by their class; a class that is not there 1. Scores
        are not weighted by it.
    own : OwnColumns or None
        The table's own columns, where some are of text; the features here are numbers.
    categorical : list of str or None
        Features that are categories, where the features are those columns.
    """

    task: str
    metric: str
    parts: dict[str, Part]
    feature_costs: np.ndarray
    feature_groups: list[str] | None
    group_costs: dict[str, float] | None
    split_cost: float
    provenance: dict[str, Any]
    class_weight: ClassWeight = None
    own: OwnColumns | None = None
    categorical: list[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_costs", read_only(self.feature_costs))

    @property
    def prices(self) -> dict[str, Any]:
        """Prices as every cost meter takes them."""
        return {
            "feature_costs": self.feature_costs,
            "split_cost": self.split_cost,
            "feature_groups": self.feature_groups,
            "group_costs": self.group_costs,
        }

    @property
    def fit(self) -> Part:
        """Rows that models are fitted to: the training part, or more (:func:`with_validation`)."""
        return self.parts.get("fit", self.parts["train"])

    def fit_weight(self, part: Part | None = None) -> np.ndarray | None:
        """Give what rows count in a fit, those of :attr:`fit` if no part is given.

        Returns
        -------
        (n,) float64 or None
            None if all count alike.
        """
        part = self.fit if part is None else part
        if self.class_weight is None:
            return part.weight
        classes, numbers = np.unique(part.y, return_inverse=True)
        return weights_by_class(self.class_weight, classes, numbers, part.weight)

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return list(self.parts["train"].X.columns)


def with_validation(problem: Problem) -> Problem:
    """Give a problem whose models are fitted to training and validation rows together."""
    train, valid = problem.parts["train"], problem.parts["valid"]
    joined = {
        name: None
        if getattr(train, name) is None
        else np.concatenate([getattr(train, name), getattr(valid, name)])
        for name in _ARRAYS[1:]
    }
    both = Part(X=pd.concat([train.X, valid.X], ignore_index=True), **joined)
    return replace(problem, parts={**problem.parts, "fit": both})


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
        values = {key: arrays.get(f"{key}_{part}") for key in _ARRAYS}
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
