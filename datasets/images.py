"""Sets of images as 8-bit pixels, and the table of pixels that `load` makes of them.

Pixels are bytes. As a :class:`~datasets.dataset.Dataset` they become float64, eight times as much
(MNIST: 55 MB become 440 MB). What computes features of its own from images starts from an
:class:`ImageSet`: its arrays are uint8, memory-mapped from the cache where possible, in a fixed
order that does not depend on the seed, so that features are computed once and rows are chosen by
number.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from datasets.dataset import Dataset, checksum
from datasets.registry import DatasetSpec, Request, serve
from datasets.splits import split_rows


@dataclass(frozen=True)
class ImageSet:
    """Training and test images with their labels.

    Attributes
    ----------
    name : str
        Data set.
    train, test : ndarray of shape (n, height, width) or (n, height, width, 3), uint8
        Grey levels, or red, green and blue. Read-only; their order is the same for every seed of
        real data.
    y_train, y_test : ndarray of shape (n,), int64
        Classes, from 0.
    n_valid : int
        Training images that :meth:`split` sets aside for validation.
    provenance : dict
        As :attr:`datasets.Dataset.provenance`; ``checksum`` is that of the four arrays.
    """

    name: str
    train: np.ndarray
    y_train: np.ndarray
    test: np.ndarray
    y_test: np.ndarray
    n_valid: int
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in (self.train, self.y_train, self.test, self.y_test):
            array.setflags(write=False)

    def split(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Divide the training images, for methods that need validation images.

        Parameters
        ----------
        seed : int
            Repetition, 0 or more.

        Returns
        -------
        train, valid : ndarray of int64
            Numbers of training images, ascending; together all of them.
        """
        n = len(self.y_train)
        train, valid, _ = split_rows(self.name, seed, n, n - self.n_valid, self.n_valid, 0)
        return np.sort(train), np.sort(valid)


def images_checksum(images: ImageSet) -> str:
    """Give the SHA-256 over the four arrays of a set of images, 64 hex digits."""
    names = ("train", "y_train", "test", "y_test")
    return checksum({name: getattr(images, name) for name in names})


def serve_images(spec: DatasetSpec, request: Request, real, standin) -> ImageSet:
    """Choose between real images and stand-in as :func:`datasets.load` does.

    Parameters
    ----------
    spec : DatasetSpec
        The data set.
    request : Request
        Scale, data and seed.
    real, standin : callable
        Request -> ImageSet.

    Returns
    -------
    ImageSet
        With a complete provenance record.

    Raises
    ------
    DataUnavailable, ChecksumMismatch
        As :func:`datasets.load`.
    """
    return serve(replace(spec, real=real, standin=standin), request, checksum=images_checksum)


def pixel_table(images: ImageSet, seed: int) -> Dataset:
    """Give every pixel as a feature of cost 1.

    Parameters
    ----------
    images : ImageSet
        Images.
    seed : int
        Which training images validate.

    Returns
    -------
    Dataset
        X are (n, height·width·channels) grey levels 0..255 as float64, row by row of the image.
    """
    arrays = {"X_test": _flat(images.test), "y_test": np.array(images.y_test)}
    for part, rows in zip(("train", "valid"), images.split(seed), strict=True):
        arrays[f"X_{part}"] = _flat(images.train[rows])
        arrays[f"y_{part}"] = images.y_train[rows]
    names = pixel_names(images.train.shape[1:])
    return Dataset(
        name=images.name,
        task="multiclass",
        **arrays,
        feature_costs=np.ones(len(names)),
        cost_unit="features",
        cost_origin="uniform, 1 per pixel (no costs are known)",
        feature_names=names,
        provenance=dict(images.provenance),
    )


def pixel_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Name the pixels of an image, ``pixel_<row>_<column>`` and the channel if there are several.

    Parameters
    ----------
    shape : tuple of int
        (height, width) or (height, width, 3).
    """
    channels = ("",) if len(shape) == 2 else ("_red", "_green", "_blue")
    return tuple(
        f"pixel_{row}_{column}{channel}"
        for row in range(shape[0])
        for column in range(shape[1])
        for channel in channels
    )


def _flat(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1).astype(np.float64, order="C")
