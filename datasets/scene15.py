"""Scene-15: grey pictures of 15 kinds of places, indoors, in towns and in nature.

Citation: S. Lazebnik, C. Schmid and J. Ponce, Beyond bags of features: spatial pyramid matching for
recognizing natural scene categories, CVPR (2006); eight of the classes are A. Oliva and
A. Torralba's (IJCV 2001), five L. Fei-Fei and P. Perona's (CVPR 2005). No licence is stated.

4,485 pictures, 210 to 410 of each class. Two forms of the set:

whole
    The official archive: the original pictures, most about 300×250 pixels.
200×200
    A mirror's copy in which somebody has resized every picture to 200×200 and divided them into
    two folders; that division is not the paper's and is not used. The median correlation with a
    sample of the originals is 0.9986; at least one of 200 sampled pictures is another one.

Features want one size: pictures of the official archive are resized to 200×200 as well, whatever
their aspect ratio. Both forms number the pictures alike, but their pixels differ a little.

**Draws.** For each seed 100 pictures of each class train, 20 validate and the others test (1,500,
300 and 2,685), drawn anew; the paper averages over ten such draws. Of the 100, 30 train the support
vector machines whose decision values are the features, and 70 are the training rows (the paper's
30/70 split, drawn here class by class). Pictures with the same pixels lie on one side of all these
divisions: the copy has 18 such pairs, one of them across two classes. About a dozen further pairs
are nearly alike (the same place a moment later, or the same picture stored twice) and are left to
the draw.

:func:`images` gives pixels, the first 100 pictures of each class as ``train`` and the others as
``test``: that is an order, not a draw. :func:`draw` gives the numbers of the pictures of each part,
:func:`datasets.load` the table of the paper's Figure 3: see :mod:`datasets.features.scenes`.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from datasets import caltech101
from datasets.dataset import Dataset, checksum
from datasets.features.measured_times import write_table
from datasets.features.scenes import prices, tables
from datasets.images import ImageSet, PictureSpec, decoded_images, drawn_images
from datasets.registry import Request, serve
from datasets.scene15_pictures import (
    CLASSES,
    FILE,
    KERNEL,
    SIDE,
    TRAIN,
    VALID,
    draw,
    pixels,
    provenance,
)
from datasets.synthetic.pictures import Pictures
from datasets.synthetic.streams import RECORD

SYNTHETIC = Pictures("scene15", (SIDE, SIDE), len(CLASSES))
SMOKE_SIZES = (12, 3, 15)
SIZES = (1_500, 300, 2_685)
"""Training, validation and test pictures."""
SMOKE_DESCRIPTORS, SMOKE_PER_CLASS = 20, (6, 14, 4, 20)
PER_CLASS = (KERNEL, TRAIN, VALID, 179)
"""Rows of each class that the synthetic set draws for machines, training, validation and test; the
smallest scale draws the first 20 descriptors only, because training 1,620 machines takes longer
than it may."""


def _real_images(request: Request) -> ImageSet:
    arrays, archive = pixels()
    return decoded_images("scene15", arrays, VALID * len(CLASSES), provenance(archive))


def _drawn_images(request: Request) -> ImageSet:
    sizes = SMOKE_SIZES if request.scale == "smoke" else SIZES
    return drawn_images("scene15", SYNTHETIC.draw, sizes, request.seed)


# --- the table of Figure 3 -----------------------------------------------------------------------


def described(*, scale: str = "laptop", data: str = "auto", seed: int = 0) -> tables.Described:
    """Give all pictures' descriptors and a draw, as tables and baselines are made from."""
    request = Request("scene15", scale, data, seed)
    chosen = replace(SPEC, real=_real_described, synthetic=_synthetic_described)
    return serve(chosen, request, checksum=_described_checksum)


def averaged_kernel(
    *, scale: str = "laptop", data: str = "auto", seed: int = 0
) -> tables.AveragedKernel:
    """Give the averaged kernel of all descriptors against all training pictures of a draw.

    For the paper's baseline, a support vector machine with multiple kernels. Arguments and errors
    are those of :func:`described`.
    """
    return tables.averaged_kernel(described(scale=scale, data=data, seed=seed))


def raw_descriptors(
    *, scale: str = "laptop", data: str = "auto", seed: int = 0
) -> tables.RawDescriptors:
    """Give the descriptors of a draw as rows of bytes, with all training pictures in one part.

    For the paper's baseline, a linear model with l1 penalty. Arguments and errors are those of
    :func:`described`.
    """
    return tables.raw_descriptors(described(scale=scale, data=data, seed=seed))


def remeasure() -> None:
    """Measure the prices on the real pictures of draw 0 and replace the committed tables."""
    scenes, pictures = described(data="real"), images(data="real").train
    learned = scenes.provenance["learned"]
    one_pass = prices.measure_pass(pictures, learned)
    write_table(prices.PASS_TABLE, prices.PASS_COLUMNS, one_pass)
    told = (scenes.columns, scenes.labels, scenes.parts["kernel"])
    write_table(prices.TABLE, prices.COLUMNS, prices.measure(pictures, learned, *told))


def real(request: Request) -> Dataset:
    """Load decision values on real pictures."""
    scenes = _real_described(request)
    made_from = scenes.provenance["descriptors_checksum"] + checksum(scenes.parts)
    key = hashlib.sha256(made_from.encode()).hexdigest()[:16]
    return _table(scenes, f"{request.seed}-{key}")


def synthetic(request: Request) -> Dataset:
    """Draw the synthetic set."""
    return _table(_synthetic_described(request), None)


def _real_described(request: Request) -> tables.Described:
    arrays, archive = pixels()
    pictures = images(data="real")
    caltech = caltech101.images(data="real")
    columns, facts = tables.real_columns(pictures, caltech)
    labels = np.concatenate((pictures.y_train, pictures.y_test))
    return tables.Described(
        descriptors=tables.DESCRIPTORS,
        columns=columns,
        labels=labels,
        parts=draw(labels, arrays["twins"], request.seed),
        provenance={
            **provenance(archive),
            **facts,
            "files": [archive.record(), *caltech.provenance["files"]],
            "stands_for": "101 detectors learned on Caltech-101 for Object Bank's 177; intensities "
            "in four regions by rule for geometric colour",
        },
    )


def _synthetic_described(request: Request) -> tables.Described:
    smoke = request.scale == "smoke"
    per_class = SMOKE_PER_CLASS if smoke else PER_CLASS
    n_descriptors = SMOKE_DESCRIPTORS if smoke else len(tables.DESCRIPTORS)
    descriptors, columns, labels = tables.synthetic_columns(per_class, n_descriptors, request.seed)
    return tables.Described(
        descriptors=descriptors,
        columns=columns,
        labels=labels,
        parts=draw(labels, np.arange(len(labels)), request.seed, per_class[:3]),
        provenance={
            **RECORD,
            "split_rule": f"{', '.join(map(str, per_class))} pictures of each of 15 classes drawn "
            "for support vector machines, training, validation and test",
        },
    )


def _described_checksum(scenes: tables.Described) -> str:
    return checksum({"columns": scenes.columns, "labels": scenes.labels, **scenes.parts})


def _table(scenes: tables.Described, key: str | None) -> Dataset:
    """Give the decision values of a draw with their prices."""
    values = tables.features(scenes, key)
    table = prices.read()
    measured = [prices.of_descriptor(table, one.name) for one in scenes.descriptors]
    parts = ("train", "valid", "test")
    return Dataset(
        name="scene15",
        task="multiclass",
        **{f"X_{part}": values[part] for part in parts},
        **{f"y_{part}": scenes.labels[scenes.parts[part]] for part in parts},
        feature_costs=np.repeat([price.machine for price in measured], len(CLASSES)),
        cost_unit=prices.UNIT,
        cost_origin=prices.origin(table),
        feature_names=tuple(f"{d.name}_{name}" for d in scenes.descriptors for name in CLASSES),
        feature_groups=np.repeat(np.arange(len(measured), dtype=np.int64), len(CLASSES)),
        group_costs={k: price.descriptor + price.kernel for k, price in enumerate(measured)},
        # Each draw trains machines of its own; synthetic data draws pictures of its own.
        test_numbers=scenes.parts["test"] if key is not None else None,
        provenance=scenes.provenance,
    )


SPEC = PictureSpec(
    name="scene15",
    task="multiclass",
    title="Scene-15, decision values of kernel machines on 108 descriptors of grey pictures",
    citation="Lazebnik, Schmid and Ponce, CVPR (2006); features as in Xu, Weinberger and Chapelle, "
    "ICML (2012)",
    terms=FILE.terms,
    shape="1,050 + 300 + 2,685 rows, 1,620 features (15 classes of 108 descriptors), 15 classes; "
    "450 more pictures train the kernel machines",
    split_rule="100 pictures of each class train, 20 validate, the others test, anew for each "
    "seed; 30 of the 100 train the kernel machines, 70 are the training rows; pictures with the "
    "same pixels stay together",
    cost_rule="measured CPU milliseconds per picture: descriptor and kernel row once for the 15 "
    "features of a descriptor, each machine's evaluation besides",
    real=real,
    synthetic=synthetic,
    files=(FILE, caltech101.FILE),
    real_images=_real_images,
    drawn_images=_drawn_images,
    missing="nothing from the official address; a mirror may hold a copy resized to 200×200",
)

images = SPEC.images
