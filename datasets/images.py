"""Sets of images as 8-bit pixels, and the table of pixels that `load` makes of them.

Pixels are bytes. As a :class:`~datasets.dataset.Dataset` they become float64, eight times as much
(MNIST: 55 MB become 440 MB). What computes features of its own from images starts from an
:class:`ImageSet`: its arrays are uint8, memory-mapped from the cache where possible, in a fixed
order that does not depend on the seed, so that features are computed once and rows are chosen by
number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from datasets.dataset import Dataset, checksum, uniform
from datasets.registry import DatasetSpec, Request, serve
from datasets.splits import split_rows
from datasets.synthetic.streams import RECORD

COST_UNIT, COST_ORIGIN = "features", "uniform, 1 per pixel (no costs are known)"


@dataclass(frozen=True)
class ImageSet:
    """Training and test images with their labels."""

    name: str  # Data set
    # train, test: (n, height, width) or (n, height, width, 3), uint8: grey levels, or red, green
    # and blue. Read-only; their order is the same for every seed of real data
    train: np.ndarray
    y_train: np.ndarray  # y_train, y_test: (n,) int64: classes, from 0
    test: np.ndarray
    y_test: np.ndarray
    n_valid: int  # Training images that :meth:`split` sets aside for validation
    # As `Dataset.provenance`; ``checksum`` is that of the four arrays
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in (self.train, self.y_train, self.test, self.y_test):
            array.setflags(write=False)

    @property
    def n_features(self) -> int:
        """Values of one image, that is pixels times colours."""
        return int(np.prod(self.train.shape[1:]))

    @property
    def cost_unit(self) -> str:
        """Unit of the pixels' costs, 1 each."""
        return COST_UNIT

    @property
    def cost_origin(self) -> str:
        """Who says so."""
        return COST_ORIGIN

    def split(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Divide the training images, for methods that need validation images."""
        n = len(self.y_train)
        train, valid, _ = split_rows(self.name, seed, n, n - self.n_valid, self.n_valid, 0)
        return np.sort(train), np.sort(valid)


def images_checksum(images: ImageSet) -> str:
    """Give the SHA-256 over the four arrays of a set of images, 64 hex digits."""
    names = ("train", "y_train", "test", "y_test")
    return checksum({name: getattr(images, name) for name in names})


@dataclass(frozen=True, kw_only=True)
class PictureSpec(DatasetSpec):
    """A data set made of pictures, which it gives as bytes, too."""

    real_images: Callable[[Request], ImageSet]  # Raises DataUnavailable
    drawn_images: Callable[[Request], ImageSet]  # Of synthetic data

    def images(self, *, scale: str = "laptop", data: str = "auto", seed: int = 0) -> ImageSet:
        """Give the pictures as bytes.

        Parameters
        ----------
        scale, data : str
            As :func:`datasets.load`.
        seed : int, default 0
            Which pictures synthetic data draws; real ones are the same for all seeds.

        Returns
        -------
        ImageSet
            Pictures of one size, real ones memory-mapped where the cache can be written.

        Raises
        ------
        ValueError, DataUnavailable, ChecksumMismatch
            As :func:`datasets.load`.
        DamagedData
            If a file with the right checksum cannot be read as what it should be; names it.
        """
        return serve(
            self,
            Request(self.name, scale, data, seed),
            real=self.real_images,
            synthetic=self.drawn_images,
            checksum=images_checksum,
        )


@dataclass(frozen=True, kw_only=True)
class ImageSpec(PictureSpec):
    """One set of images, as its module declares it: what makes bytes makes everything else.

    ``real`` and ``synthetic``, which :func:`datasets.load` calls, are made here: the table of the
    images.
    """

    # ``(n, seed, part) -> (images, labels)``, of a module of synthetic data
    draw: Callable[[int, int, str], tuple[np.ndarray, np.ndarray]]
    # sizes, smoke_sizes: Training, validation and test images of the synthetic set
    sizes: tuple[int, int, int]
    smoke_sizes: tuple[int, int, int]
    # ``(images, seed) -> Dataset``: :func:`pixel_table`, or :func:`coarse_table`, parameters bound
    table: Callable[[ImageSet, int], Dataset]
    image_shape: tuple[int, ...]  # Height, width and, in colour, channels
    # Rows of its table at the smallest scale, if not as many as images
    smoke_table_sizes: tuple[int, int, int] | None = None
    families: str = ""  # Module with the families of features of these images
    paper_features: int = 0  # Features in all in the paper that these families stand for
    # How many of the first training and test images features are computed of, by scale; all where
    # it is not named
    first: dict[str, tuple[int, int]] = field(default_factory=dict)
    real: Callable[[Request], Dataset] = field(init=False, repr=False)
    synthetic: Callable[[Request], Dataset] = field(init=False, repr=False)
    drawn_images: Callable[[Request], ImageSet] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "real", self._real_table)
        object.__setattr__(self, "synthetic", self._drawn_table)
        object.__setattr__(self, "drawn_images", self._drawn_images)

    def _drawn_images(self, request: Request, smoke: tuple[int, int, int] | None = None):
        small = request.scale == "smoke"
        sizes = (smoke or self.smoke_sizes) if small else self.sizes
        return drawn_images(self.name, self.draw, sizes, request.seed)

    def _real_table(self, request: Request) -> Dataset:
        return self.table(self.real_images(request), request.seed)

    def _drawn_table(self, request: Request) -> Dataset:
        return self.table(self._drawn_images(request, self.smoke_table_sizes), request.seed)


def decoded_images(
    name: str, arrays: dict[str, np.ndarray], n_valid: int, provenance: dict[str, Any]
) -> ImageSet:
    """Give images as they are decoded, labels as bytes."""
    labels = {y: arrays[y].astype(np.int64) for y in ("y_train", "y_test")}
    train, test = arrays["train"], arrays["test"]
    return ImageSet(
        name=name, train=train, test=test, **labels, n_valid=n_valid, provenance=provenance
    )


def drawn_images(name: str, draw: Callable, sizes: tuple[int, int, int], seed: int) -> ImageSet:
    """Give the images of synthetic data."""
    n_train, n_valid, n_test = sizes
    train, y_train = draw(n_train + n_valid, seed, "train")
    test, y_test = draw(n_test, seed, "test")
    return ImageSet(
        name=name,
        train=train,
        y_train=y_train,
        test=test,
        y_test=y_test,
        n_valid=n_valid,
        provenance={
            **RECORD,
            "split_rule": f"{len(y_train)} training and {len(y_test)} test images drawn "
            f"independently; {n_valid} of the training images validate",
        },
    )


def pixel_table(images: ImageSet, seed: int) -> Dataset:
    """Give every pixel as a feature of cost 1."""
    arrays = {"X_test": _flat(images.test), "y_test": np.array(images.y_test)}
    for part, rows in zip(("train", "valid"), images.split(seed), strict=True):
        arrays[f"X_{part}"] = _flat(images.train[rows])
        arrays[f"y_{part}"] = images.y_train[rows]
    names, provenance = pixel_names(images.train.shape[1:]), dict(images.provenance)
    return uniform(images.name, "multiclass", arrays, names, provenance, COST_ORIGIN)


def coarse_table(images: ImageSet, seed: int, block: int, task: str) -> Dataset:
    """Give the mean grey level of each block of pixels as a feature of cost 1.

    For sets whose single pixels would take gigabytes as float64.
    """
    arrays = {"X_test": _coarse(images.test, block), "y_test": np.array(images.y_test)}
    table = _coarse(images.train, block)
    for part, rows in zip(("train", "valid"), images.split(seed), strict=True):
        arrays[f"X_{part}"], arrays[f"y_{part}"] = table[rows], images.y_train[rows]
    height, width = images.train.shape[1:3]
    names = tuple(f"grey_{r}_{c}" for r in range(height // block) for c in range(width // block))
    origin = f"uniform, 1 per block of {block}×{block} pixels (no costs are known)"
    return uniform(images.name, task, arrays, names, dict(images.provenance), origin)


def _coarse(images: np.ndarray, block: int) -> np.ndarray:
    """Average (n, h, w, 3) bytes over blocks and channels, a thousand images at a time."""
    n, height, width, _ = images.shape
    shape = (height // block, block, width // block, block * 3)
    table = np.empty((n, shape[0] * shape[2]))
    for start in range(0, n, 1000):
        piece = images[start : start + 1000]
        sums = piece.reshape(len(piece), *shape).sum(axis=(2, 4), dtype=np.int64)
        table[start : start + 1000] = sums.reshape(len(piece), -1) / (3.0 * block * block)
    return table


def pixel_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Name the pixels of an image: ``pixel_<row>_<column>``, and the channel of several."""
    channels = ("",) if len(shape) == 2 else ("_red", "_green", "_blue")
    return tuple(
        f"pixel_{row}_{column}{channel}"
        for row in range(shape[0])
        for column in range(shape[1])
        for channel in channels
    )


def _flat(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1).astype(np.float64, order="C")
