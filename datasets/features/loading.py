"""Load the features of a set of images, computing what is not in the cache."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from numbers import Integral

import numpy as np

from datasets.errors import UnknownDataset
from datasets.features.families import NAMES, check_images, families_of
from datasets.features.feature_set import FeatureSet
from datasets.features.store import PARTS, columns_of, complete
from datasets.images import ImageSet
from datasets.loading import load_images
from datasets.registered import images_named, spec


def images_of(name: str, *, scale: str = "laptop", data: str = "auto", seed: int = 0) -> ImageSet:
    """Give the images whose features :func:`load` gives."""
    if name not in NAMES:
        raise UnknownDataset(name, NAMES)
    images = load_images(images_named(name), scale=scale, data=data, seed=seed)
    first = spec(images_named(name)).first
    if scale not in first:
        return images
    n_train, n_test = first[scale]
    if len(images.train) <= n_train and len(images.test) <= n_test:
        return images
    rows = (
        f"the first {min(n_train, len(images.train)):,} of {len(images.train):,} training and the "
        f"first {min(n_test, len(images.test)):,} of {len(images.test):,} test images"
    )
    train = images.train[:n_train]
    return ImageSet(
        name=images.name,
        train=train,
        y_train=images.y_train[:n_train],
        test=images.test[:n_test],
        y_test=images.y_test[:n_test],
        n_valid=images.n_valid * len(train) // len(images.train),
        provenance={**images.provenance, "rows": rows},
    )


def load(
    name: str,
    *,
    scale: str = "laptop",
    data: str = "auto",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = True,
) -> FeatureSet:
    """Load the features of a set of images, computing and keeping what is not in the cache.

    Parameters
    ----------
    name : str
        One of :data:`datasets.features.NAMES`.
    scale : {"laptop", "smoke", "paper"}, default "laptop"
        All that the source gives, but of MNIST the first 45,000 training images and of CIFAR-10 the
        first 10,000 training and test images; a small synthetic; all.
    data : {"auto", "real", "synthetic"}, default "auto"
        As :func:`datasets.load`.
    seed : int, default 0
        Which images synthetic data draws; real images are the same for all seeds.
    n_jobs : int or None, default None
        Processes that compute, 1 or more; None for as many as there are processors.
    progress : bool, default True
        Draw a progress bar on standard error while computing.

    Returns
    -------
    FeatureSet
        Memory-mapped columns, families, measured times.

    Raises
    ------
    UnknownDataset
        If the set has no families.
    ValueError
        If the images do not have the size that the families are made for, or `n_jobs` is no such
        number.
    DataUnavailable, ChecksumMismatch
        As :func:`datasets.load`; also if the cache cannot be written.
    """
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs >= 1):
        raise ValueError(f"n_jobs must be None or a whole number >= 1, got {n_jobs!r}.")
    families = families_of(name)
    images = images_of(name, scale=scale, data=data, seed=seed)
    parts = {part: getattr(images, part) for part in PARTS}
    for part in parts.values():
        check_images(name, part)
    columns = columns_of(name, families, parts, images.provenance["checksum"])
    index = complete(columns, n_jobs, progress)
    digest = hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()
    names = tuple(family.name for family in families)
    return FeatureSet(
        name=name,
        train=columns.open("train"),
        test=columns.open("test"),
        y_train=images.y_train,
        y_test=images.y_test,
        names=names,
        categories=tuple(family.category for family in families),
        families=[
            np.arange(first, first + size, dtype=np.int64)
            for first, size in zip(columns.offsets, columns.sizes, strict=False)
        ],
        provenance={
            **images.provenance,
            "families": dict(zip(names, columns.sizes, strict=True)),
            "features_checksum": digest,
        },
    )


def load_features(
    name: str, *, scale: str = "laptop", data: str = "auto", seed: int = 0
) -> FeatureSet:
    """Load the families of features of a set of images, computing those that are not yet stored.

    Arguments and errors are those of :func:`load`, which this calls.
    """
    features = load(name, scale=scale, data=data, seed=seed)
    record = dict(features.provenance)
    images, columns = record.pop("checksum"), record["features_checksum"]
    selection = record.pop("rows", "all")
    both = hashlib.sha256(f"{images} {selection} {columns}".encode()).hexdigest()
    added = {"checksum": both, "images_checksum": images, "selection": selection}
    return replace(features, provenance={**record, **added})
