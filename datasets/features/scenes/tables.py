"""From the pictures of Scene-15 to its tables: descriptors, features of a draw, kernels, prices.

Everything is kept in the cache with checksums: codebooks and detectors, the descriptors of all
pictures (once for all draws; an interrupted computation goes on at the next family), the features
of each draw.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from datasets.features.families import source_digest
from datasets.features.scenes import prices
from datasets.features.scenes.descriptors import (
    DESCRIPTORS,
    Descriptor,
    families,
    synthetic_descriptors,
)
from datasets.features.scenes.kernels import Kernel
from datasets.features.scenes.learning import learn
from datasets.features.scenes.svm_features import svm_features
from datasets.features.store import PARTS, columns_of, complete
from datasets.images import ImageSet
from datasets.sources.storage import decoded
from datasets.synthetic.streams import part_generator
from datasets.synthetic.tables import Table

N_CLASSES, N_VALUES, N_FIRST, SPREAD, NOISE = 15, 12, 7, 1.6, 1.1
"""Of the synthetic set; the first descriptors are no detectors."""


@dataclass(frozen=True)
class Described:
    """Descriptors of pictures, and a draw."""

    descriptors: tuple[Descriptor, ...]  # What the columns are
    columns: np.ndarray  # (n_columns, n_pictures) uint8: one row per value
    labels: np.ndarray  # (n_pictures,) int64: classes
    parts: dict[str, np.ndarray]  # "kernel", "train", "valid", "test": numbers of pictures
    # As `Dataset.provenance`
    provenance: dict[str, Any] = field(default_factory=dict)


def real_columns(
    pictures: ImageSet, caltech: ImageSet, n_jobs: int | None = None, progress: bool = True
) -> tuple[np.ndarray, dict[str, str]]:
    """Compute the descriptors of real pictures, or read them from the cache."""
    learned = learn(
        np.concatenate((caltech.train, caltech.test)),
        np.concatenate((caltech.y_train, caltech.y_test)),
        caltech.provenance["checksum"],
    )
    blocks = {part: getattr(pictures, part) for part in PARTS}
    store = columns_of("scene15", families(learned), blocks, pictures.provenance["checksum"])
    index = complete(store, n_jobs, progress)
    digest = hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()
    columns = np.concatenate([store.open(part) for part in PARTS], axis=1)
    return columns, {"learned": learned, "descriptors_checksum": digest}


def synthetic_columns(
    per_class: tuple[int, int, int, int], n_descriptors: int, seed: int
) -> tuple[tuple[Descriptor, ...], np.ndarray, np.ndarray]:
    """Draw the descriptors of the synthetic set: a table, as bytes."""
    descriptors = synthetic_descriptors(N_VALUES)[:n_descriptors]
    # The detectors, which come last, say less.
    noise = np.repeat([NOISE if k < N_FIRST else 2 * NOISE for k in range(n_descriptors)], N_VALUES)
    shares = (1 / N_CLASSES,) * N_CLASSES
    shape = Table(
        "scene15", n_descriptors * N_VALUES, shares, tuple(noise), spread=SPREAD, simple=True
    )
    labels = np.tile(np.arange(N_CLASSES, dtype=np.int64), sum(per_class))
    values = shape.features(labels, part_generator("scene15 descriptors", seed, "train"))
    levels = np.rint(np.clip(128.0 + 32.0 * values, 0.0, 255.0)).astype(np.uint8)
    return descriptors, np.ascontiguousarray(levels.T), labels


def features(described: Described, key: str | None) -> dict[str, np.ndarray]:
    """Give the decision values of a draw for "train", "valid" and "test".

    The cache keeps them under a key and a digest of the programs; without a key they are not kept.
    """
    if key is None:
        computed = _compute(described)
    else:
        name = f"svm-{key}-{_svm_digest()}"
        computed, _ = decoded("scene15", name, functools.partial(_write, described))
    return {part: np.array(array, dtype=np.float64) for part, array in computed.items()}


def _svm_digest() -> str:
    return source_digest("datasets.features.scenes.svm_features")[:16]


def _compute(described: Described, progress: bool = False) -> dict[str, np.ndarray]:
    return svm_features(
        described.descriptors, described.columns, described.labels, described.parts, progress
    )


def _write(described: Described, out: Path) -> None:
    for part, array in _compute(described, progress=True).items():
        np.save(out / f"{part}.npy", array)


# --- what the baselines need ---------------------------------------------------------------------


@dataclass(frozen=True)
class AveragedKernel:
    """The mean of all descriptors' kernels against all training pictures of a draw."""

    # train, valid, test: (n, n_train) float64: rows of the kernel; 1 on the diagonal of `train`
    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray
    y_train: np.ndarray  # y_train, y_valid, y_test: (n,) int64: classes
    y_valid: np.ndarray
    y_test: np.ndarray
    kernel_cost: float  # What descriptors and kernel rows cost a picture, in `cost_unit`
    machine_cost: float  # What the evaluation of one support vector machine on it costs
    cost_unit: str  # cost_unit, cost_origin: As :class:`datasets.Dataset`
    cost_origin: str
    provenance: dict[str, Any]  # As :class:`datasets.Dataset`


@dataclass(frozen=True)
class RawDescriptors:
    """The descriptors themselves, for a linear model on them."""

    # X_train, X_valid, X_test: (n, n_columns) uint8: all training pictures, validation, test; bytes
    X_train: np.ndarray
    X_valid: np.ndarray
    X_test: np.ndarray
    y_train: np.ndarray  # y_train, y_valid, y_test: (n,) int64: classes
    y_valid: np.ndarray
    y_test: np.ndarray
    descriptor: np.ndarray  # (n_columns,) int64: which descriptor a column belongs to
    # (n_descriptors,) float64: price of computing a descriptor, without kernel or machine
    descriptor_costs: np.ndarray
    cost_unit: str  # cost_unit, cost_origin: As :class:`datasets.Dataset`
    cost_origin: str
    provenance: dict[str, Any]  # As :class:`datasets.Dataset`


def whole_parts(described: Described) -> dict[str, np.ndarray]:
    """Give the parts of a draw with all training pictures in one, ascending."""
    parts = described.parts
    train = np.sort(np.concatenate((parts["kernel"], parts["train"])))
    return {"train": train, "valid": parts["valid"], "test": parts["test"]}


def averaged_kernel(described: Described) -> AveragedKernel:
    """Average the kernels of all descriptors, each with 1 on its diagonal."""
    from threadpoolctl import threadpool_limits

    parts = whole_parts(described)
    total = {part: 0.0 for part in parts}
    with threadpool_limits(1, user_api="blas"):
        for descriptor in described.descriptors:
            rows = described.columns[descriptor.columns]
            kernel = Kernel(descriptor, rows[:, parts["train"]].T)
            for part, numbers in parts.items():
                total[part] = total[part] + kernel.rows(np.ascontiguousarray(rows[:, numbers].T))
    table = prices.read()
    more = len(parts["train"]) / prices.n_reference(table)
    measured = [prices.of_descriptor(table, d.name) for d in described.descriptors]
    return AveragedKernel(
        **{part: array / len(described.descriptors) for part, array in total.items()},
        **{f"y_{part}": described.labels[numbers] for part, numbers in parts.items()},
        kernel_cost=sum(one.descriptor + more * one.kernel for one in measured),
        machine_cost=more * float(np.mean([one.machine for one in measured])),
        cost_unit=prices.UNIT,
        cost_origin=prices.origin(table),
        provenance=described.provenance,
    )


def raw_descriptors(described: Described) -> RawDescriptors:
    """Give the descriptors of a draw as rows of bytes."""
    parts, table = whole_parts(described), prices.read()
    sizes = [d.columns.stop - d.columns.start for d in described.descriptors]
    costs = [prices.of_descriptor(table, d.name).descriptor for d in described.descriptors]
    return RawDescriptors(
        **{
            f"X_{part}": np.ascontiguousarray(described.columns[:, numbers].T)
            for part, numbers in parts.items()
        },
        **{f"y_{part}": described.labels[numbers] for part, numbers in parts.items()},
        descriptor=np.repeat(np.arange(len(sizes)), sizes),
        descriptor_costs=np.array(costs),
        cost_unit=prices.UNIT,
        cost_origin=prices.origin(table),
        provenance=described.provenance,
    )


__all__ = [
    "DESCRIPTORS",
    "AveragedKernel",
    "Described",
    "RawDescriptors",
    "averaged_kernel",
    "features",
    "raw_descriptors",
    "real_columns",
    "synthetic_columns",
]
