"""Caltech-101: colour pictures of 101 kinds of objects.

Citation: L. Fei-Fei, R. Fergus and P. Perona, Learning generative visual models from few training
examples, CVPR workshop (2004). CC BY 4.0.

31 to 800 JPEG files for each category, most about 300×200 pixels, a few of them grey. Classes are
the folders in the order of their names (capitals first), without BACKGROUND_Google.

15 pictures of each category train and 15 test: a fixed drawing from its first 30, the same for all
seeds and all sources, so that a mirror's archive of these 30 serves the same pictures as the
official one. At paper scale the official archive gives 5 more test pictures, as far as there are.

Sizes differ, features want one: :func:`images` resizes every picture to 128×128, whatever its
aspect ratio (from 0.27 to 3.3, half of them between 0.9 and 1.5), averaging where it shrinks.
:func:`datasets.load` gives mean grey levels of blocks of 4×4 pixels (1,024 features) and sets a
fifth of the training pictures aside for validation by seed.

The smallest scale draws synthetic data of five classes (:mod:`datasets.synthetic`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np

from datasets.images import ImageSet, ImageSpec, coarse_table, decoded_images
from datasets.registry import Request
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.pictures import PictureError, names_of, pictures, resized
from datasets.sources.storage import decoded, new_array
from datasets.splits import split_generator
from datasets.synthetic.pictures import Pictures

SIDE, N_CLASSES = 128, 101
N_FIRST, N_TRAIN, N_MORE = 30, 15, 5
"""Pictures of a category drawn from, those that train, and more test pictures at paper scale."""
BLOCK = 4
VALID_SHARE = 5  # one of so many training pictures validates
INNER = "/101_ObjectCategories.tar.gz"
"""Member of the official zip file that holds the pictures."""
SYNTHETIC = Pictures("caltech101", (SIDE, SIDE, 3), 5)
FILE = RawFile(
    folder="caltech101",
    title="Caltech-101",
    terms="CC BY 4.0",
    advice="allow access to data.caltech.edu, or put caltech-101.zip into the folder caltech101/ "
    "of COST_AWARE_BOOSTING_MIRROR.",
    forms=(
        Form(
            filename="caltech-101.zip",
            reader="whole",
            sha256="331234750fc7f77520e50d9565e8b6907b03565e30320da1401130db08c61f91",
            size=137_414_764,
            urls=("https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip",),
        ),
        Form(
            filename="101_ObjectCategories.tar.gz",
            reader="whole",
            sha256="af6ece2f339791ca20f855943d8b55dd60892c0a25105fcd631ee3d6430f9926",
            size=131_740_031,
        ),
        Form(
            filename="101_ObjectCategories_part.tar",
            reader="part",
            sha256="8e2c1eaa7a47d913c37f4daa2809886777d1ba8430faadd9452741e835377e8e",
            size=45_854_720,
        ),
    ),
)


def _real_images(request: Request) -> ImageSet:
    archive = find(FILE)
    arrays, facts = decoded("caltech101", f"v1-{archive.sha256[:16]}", partial(_decode, archive))
    n_test = facts["n_laptop_test"] if request.scale == "laptop" else len(arrays["y_test"])
    n_train = len(arrays["y_train"])
    whole = archive.form.reader == "whole"
    more = n_test > facts["n_laptop_test"]
    extra = f", and up to {N_MORE} drawn from the rest" if more else ""
    first = {part: arrays[part][:n_test] for part in ("test", "y_test")}
    return decoded_images(
        "caltech101",
        {**arrays, **first},
        n_train // VALID_SHARE,
        {
            "source": archive.source,
            "files": [archive.record()],
            "missing": "nothing" if whole else "all but the first 30 pictures of each category",
            "split_rule": f"{N_TRAIN} of the first {N_FIRST} pictures of each category train, the "
            f"others of these test{extra}, the same for all seeds ({n_train} and {n_test} "
            f"pictures); {n_train // VALID_SHARE} of the training pictures validate; resized to "
            f"{SIDE}×{SIDE} pixels",
        },
    )


def _is_picture(name: str) -> bool:
    match = re.fullmatch(r"(\./)?101_ObjectCategories/([^/]+)/image_\d{4}\.jpg", name)
    return match is not None and match[2] != "BACKGROUND_Google"


def _decode(file: Found, out: Path) -> dict[str, int]:
    """Write the pictures that train, and those that test with the extra ones at the end."""
    archive = file.path
    train, test, more = division(names_of(archive, _is_picture, INNER), archive)
    place = {name: ("train", i) for i, (name, _) in enumerate(train)}
    place |= {name: ("test", i) for i, (name, _) in enumerate(test + more)}
    arrays = {}
    for part, chosen in (("train", train), ("test", test + more)):
        shape = (len(chosen), SIDE, SIDE, 3)
        arrays[part] = new_array(out / f"{part}.npy", np.uint8, shape)
        np.save(out / f"y_{part}.npy", np.array([label for _, label in chosen], dtype=np.uint8))
    for name, picture in pictures(archive, lambda name: name in place, INNER):
        part, i = place[name]
        arrays[part][i] = resized(picture, SIDE, SIDE)
    for array in arrays.values():
        array.flush()
    return {"n_laptop_test": len(test)}


def division(
    names: list[str], archive: Path
) -> tuple[list[tuple[str, int]], list[tuple[str, int]], list[tuple[str, int]]]:
    """Draw the pictures that train and test."""
    by_category = defaultdict(list)
    for name in sorted(names):
        by_category[name.split("/")[-2]].append(name)
    if len(by_category) != N_CLASSES:
        raise PictureError(f"{archive}: {len(by_category)} categories, {N_CLASSES} expected")
    train, test, more = [], [], []
    for label, category in enumerate(sorted(by_category)):
        pictures = by_category[category]
        if len(pictures) < N_FIRST:
            raise PictureError(
                f"{archive}: {len(pictures)} pictures of {category}, at least {N_FIRST} expected"
            )
        rng = split_generator(f"caltech101 {category}", 0)
        order = rng.permutation(N_FIRST)
        others = rng.permutation(np.arange(N_FIRST, len(pictures)))
        train += [(pictures[i], label) for i in np.sort(order[:N_TRAIN])]
        test += [(pictures[i], label) for i in np.sort(order[N_TRAIN:])]
        more += [(pictures[i], label) for i in np.sort(others[:N_MORE])]
    return train, test, more


SPEC = ImageSpec(
    name="caltech101",
    task="multiclass",
    title="Caltech-101, colour pictures of 101 categories",
    citation="Fei-Fei, Fergus and Perona, CVPR workshop (2004)",
    terms=FILE.terms,
    shape="15 + 15 pictures (paper scale: up to 20 tests) of each of 101 classes, as a table 1,024 "
    "features",
    split_rule="15 of the first 30 pictures of each category train, 15 test; a fifth of the "
    "training pictures validate",
    cost_rule="uniform, 1 per block of 4×4 pixels",
    real_images=_real_images,
    draw=SYNTHETIC.draw,
    sizes=(1_212, 303, 1_515),
    smoke_sizes=(15, 5, 20),
    table=partial(coarse_table, block=BLOCK, task="multiclass"),
    image_shape=(SIDE, SIDE, 3),
    families="datasets.features.caltech",
    paper_features=360_630,
    files=(FILE,),
    missing="nothing from the official address; a mirror may hold 30 pictures of each category",
)

images = SPEC.images
