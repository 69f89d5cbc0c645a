"""CIFAR-10: 50,000 + 10,000 colour images of 32×32 pixels, 10 classes.

Citation: A. Krizhevsky, Learning multiple layers of features from tiny images, University of
Toronto (2009). No explicit licence; the author asks to be cited.

The binary version is an archive of six files of 10,000 records: one byte for the class, then 1,024
bytes each of red, green and blue, row by row. A mirror may hold an archive with the first training
file and the test file only (10,000 + 10,000 images); the provenance says what is missing.

:func:`images` gives the pixels as bytes; features of one's own start there. :func:`datasets.load`
gives each of the 3,072 values as a feature (float64, 1.5 GB if the set is complete) and sets a
fifth of the training images aside for validation by seed; the test images are the same for all
seeds.

The smallest scale draws synthetic pictures, for :func:`images` 300 + 200.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets.errors import DamagedData
from datasets.images import ImageSet, ImageSpec, decoded_images, pixel_table
from datasets.registry import Request
from datasets.sources.archives import damage_named, members
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded, new_array
from datasets.synthetic.pictures import Pictures

SIDE, N_CHANNELS, N_CLASSES = 32, 3, 10
SYNTHETIC = Pictures("cifar10", (SIDE, SIDE, N_CHANNELS), N_CLASSES)
N_RECORDS = 10_000
VALID_SHARE = 5  # one of so many training images validates
FOLDER = "cifar-10-batches-bin"
TEST = "test_batch.bin"
TRAIN = {
    "whole": tuple(f"data_batch_{i}.bin" for i in range(1, 6)),
    "part": ("data_batch_1.bin",),
}
MISSING = {
    "whole": "nothing",
    "part": "training images 10,001 to 50,000 (data_batch_2 to data_batch_5)",
}

FILE = RawFile(
    folder="cifar10",
    title="CIFAR-10",
    terms="no explicit licence; cite Krizhevsky (2009)",
    advice="allow access to www.cs.toronto.edu, or put cifar-10-binary.tar.gz into the folder "
    "cifar10/ of COST_AWARE_BOOSTING_MIRROR.",
    forms=(
        Form(
            filename="cifar-10-binary.tar.gz",
            reader="whole",
            sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            size=170_052_171,
            urls=("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
        ),
        Form(
            filename="cifar-10-binary-part.tar.xz",
            reader="part",
            sha256="93e26a4bfc049840d3d43c459538a3729b5a9fd250dffdc9451b16518a5a5f14",
            size=46_422_180,
        ),
    ),
)


class CifarError(DamagedData):
    """An archive or one of its files is not in CIFAR-10's binary format, or is cut off."""


def _real_images(request: Request) -> ImageSet:
    archive = find(FILE)
    arrays, _ = decoded("cifar10", f"v1-{archive.sha256[:16]}", lambda out: _decode(archive, out))
    n_train = len(arrays["y_train"])
    n_valid = n_train // VALID_SHARE
    provenance = {
        "source": archive.source,
        "files": [archive.record()],
        "missing": MISSING[archive.form.reader],
        "split_rule": f"the official test images; {n_valid} of the {n_train} training images "
        "validate",
    }
    return decoded_images("cifar10", arrays, n_valid, provenance)


def _decode(archive: Found, out: Path) -> None:
    """Write the images, memory-mapped one file of 10,000 at a time, and the labels."""
    names = {"train": TRAIN[archive.form.reader], "test": (TEST,)}
    place, pixels, labels = {}, {}, {}
    for part, files in names.items():
        shape = (len(files) * N_RECORDS, SIDE, SIDE, N_CHANNELS)
        pixels[part] = new_array(out / f"{part}.npy", np.uint8, shape)
        labels[part] = np.empty(shape[0], dtype=np.uint8)
        for i, name in enumerate(files):
            place[f"{FOLDER}/{name}"] = part, slice(i * N_RECORDS, (i + 1) * N_RECORDS)
    with damage_named(archive.path, CifarError):
        for name, read in members(archive.path, place.__contains__):
            part, rows = place.pop(name)
            batch = read_batch(f"{archive.path}, {name}", read())
            pixels[part][rows], labels[part][rows] = batch
    if place:
        raise CifarError(f"{archive.path} has no member {min(place)!r}")
    for part in names:
        pixels[part].flush()
        np.save(out / f"y_{part}.npy", labels[part])


def read_batch(name: str, content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Read one file of the binary version."""
    n_bytes = N_RECORDS * (1 + N_CHANNELS * SIDE * SIDE)
    if len(content) != n_bytes:
        raise CifarError(f"{name}: {len(content)} bytes, {N_RECORDS} records are {n_bytes}")
    records = np.frombuffer(content, dtype=np.uint8).reshape(N_RECORDS, -1)
    labels = records[:, 0]
    if labels.max() >= N_CLASSES:
        raise CifarError(f"{name}: a class is {labels.max()}, the last is {N_CLASSES - 1}")
    planes = records[:, 1:].reshape(N_RECORDS, N_CHANNELS, SIDE, SIDE)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), labels.copy()


SPEC = ImageSpec(
    name="cifar10",
    task="multiclass",
    title="CIFAR-10, colour images of 32×32",
    citation="Krizhevsky, Learning multiple layers of features from tiny images (2009)",
    terms=FILE.terms,
    shape="50,000 + 10,000 images, 3,072 features, 10 classes",
    split_rule="the official 10,000 test images; a fifth of the training images validate",
    cost_rule="uniform, 1 per value of a pixel",
    real_images=_real_images,
    draw=SYNTHETIC.draw,
    sizes=(40_000, 10_000, 10_000),
    smoke_sizes=(250, 50, 200),
    smoke_table_sizes=(2_000, 1_000, 1_000),
    table=pixel_table,
    image_shape=(SIDE, SIDE, N_CHANNELS),
    families="datasets.features.nineteen",
    paper_features=29_879,
    first={"laptop": (10_000, 10_000)},  # as many as every source has
    files=(FILE,),
    missing="nothing from the official address; a mirror may hold 10,000 of the training images",
)

images = SPEC.images
