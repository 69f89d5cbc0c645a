"""MIT CBCL faces: grey windows of 19×19 pixels, with a face (1) or without (0).

Citation: MIT Center for Biological and Computational Learning, CBCL Face Database #1 (2000);
B. Heisele, T. Poggio and M. Pontil, Face detection in still gray images, A.I. Memo 1687, MIT
(2000). For research use; credit the MIT CBCL.

2,429 + 4,548 training and 472 + 23,573 test windows (faces, others). Two forms of the set:

official
    The official archive. It has no published digest; it is taken only if its pixels are those of
    the mirror's archive, of which we have one (the one window more is not compared).
mirror
    The same PGM files in one archive; one test window without a face is missing (``cmu_23000``).

**Divisions.** Neighbouring training faces are one person a moment later, or the same picture a
little turned or moved: 77 % of the faces have another with a correlation of 0.9 or more. Windows of
one class that are so much alike, directly or by way of others, make a group (1,047 of faces, the
largest of 66; 4,275 of others, the largest of 90), and the training part falls into **five
divisions** that never tear a group apart; sizes differ by at most a window of each class. Exact
duplicates are among them: three pairs of faces, and 18 windows of one constant grey level.
Repetition ``seed`` begins at division ``seed`` mod 5; from 5 on the groups are divided anew for
each block of five repetitions, by a draw of its own.

``cbcl``
    That division validates, the other four train; the **official test windows** test, the same for
    all seeds. They come from other pictures than the training part, are harder, and only 2 % of
    them are faces.
``cbcl_divided``
    The same windows without the official test part: that division tests, the next one validates,
    the other three train.

Both are tables of 1,779 features in three groups (:mod:`datasets.features.faces`): 1,000 Haar-like
ones, HOG, local binary patterns, each one byte, at measured CPU milliseconds. :func:`images` gives
pixels, faces first (its ``split`` tears similar windows apart), :func:`columns` the features as
bytes, one row each, memory-mapped, and the divisions, for those who cannot have all of a table in
memory.

The smallest scale draws synthetic data (:mod:`datasets.synthetic`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from datasets.cbcl_windows import COUNTS, FILE, MISSING, SIDE, divisions, rows_of, windows
from datasets.dataset import Dataset, checksum
from datasets.features.faces import prices, tables
from datasets.features.measured_times import write_table
from datasets.images import (
    ImageSet,
    PictureSpec,
    decoded_images,
    drawn_images,
    images_checksum,
)
from datasets.registry import Request, serve
from datasets.synthetic.pictures import Pictures

_SHARES = {part: n[1] / (n[0] + n[1]) for part, n in COUNTS["mirror"].items()}
SYNTHETIC = Pictures("cbcl", (SIDE, SIDE), 2, shares=_SHARES)
SIZES = {"smoke": (750, 1_000), "real": (6_977, 24_044)}
"""Training and test windows of the synthetic set at the smallest scale and at the others."""


def columns(*, scale: str = "laptop", data: str = "auto", seed: int = 0) -> tables.Columns:
    """Give the features of all windows as bytes, with the divisions of the training part.

    In the order of :func:`images`, whose arguments and errors these are.
    """
    chosen = replace(SPEC, real=_real_columns, synthetic=_drawn_columns)
    return serve(chosen, Request("cbcl", scale, data, seed), checksum=_columns_checksum)


def remeasure() -> None:
    """Measure the prices on the real training windows and replace the committed table."""
    write_table(prices.TABLE, prices.COLUMNS, prices.measure(images(data="real").train))


def _real_images(request: Request) -> ImageSet:
    arrays, archive = windows()
    provenance = {
        "source": archive.source,
        "files": [archive.record()],
        "missing": MISSING[archive.form.reader],
    }
    return decoded_images("cbcl", arrays, int((arrays["fold"] == 0).sum()), provenance)


def _drawn_images(request: Request) -> ImageSet:
    n_train, n_test = SIZES["smoke" if request.scale == "smoke" else "real"]
    n_valid = n_train // 5
    sizes = (n_train - n_valid, n_valid, n_test)
    return drawn_images("cbcl", SYNTHETIC.draw, sizes, request.seed)


def _real_columns(request: Request) -> tables.Columns:
    pictures = _real_images(request)
    arrays, _ = windows()
    train, test, digest = tables.stored(pictures, images_checksum(pictures))
    return tables.Columns(
        train=train,
        test=test,
        y_train=pictures.y_train,
        y_test=pictures.y_test,
        fold=np.array(arrays["fold"]),
        group=np.array(arrays["group"]),
        provenance={**pictures.provenance, "features_checksum": digest},
    )


def _drawn_columns(request: Request) -> tables.Columns:
    pictures = _drawn_images(request)
    group = np.arange(len(pictures.y_train))
    return tables.Columns(
        train=tables.computed(pictures.train),
        test=tables.computed(pictures.test),
        y_train=pictures.y_train,
        y_test=pictures.y_test,
        fold=divisions(group, pictures.y_train),
        group=group,
        provenance=pictures.provenance,
    )


def _columns_checksum(columns: tables.Columns) -> str:
    names = ("train", "y_train", "test", "y_test", "fold")
    return checksum({name: getattr(columns, name) for name in names})


def _table(request: Request, give, divided: bool) -> Dataset:
    """Make the table of a repetition from the columns."""
    columns = give(request)
    n_held = 2 if divided else 1
    rows = rows_of(columns.fold, columns.group, columns.y_train, request.seed, n_held)
    if divided:
        train, test, valid = rows
        sides = {"train": train, "valid": valid, "test": test}
        parts = {part: ("train", numbers) for part, numbers in sides.items()}
    else:
        everything = np.arange(len(columns.y_test))
        parts = {"train": ("train", rows[0]), "valid": ("train", rows[1])}
        parts["test"] = ("test", everything)
    provenance = {**columns.provenance, "split_rule": SPECS[request.name].split_rule}
    return tables.table(request.name, replace(columns, provenance=provenance), parts)


def _spec(name: str, divided: bool, title: str, shape: str, split_rule: str) -> PictureSpec:
    return PictureSpec(
        name=name,
        task="binary",
        title=title,
        citation="MIT Center for Biological and Computational Learning, CBCL Face Database #1 "
        "(2000)",
        terms=FILE.terms,
        shape=shape,
        split_rule=split_rule,
        cost_rule="measured CPU milliseconds per window: integral image, cells' histograms or "
        "pixels' patterns once for the features of a group, each feature besides",
        real=partial(_table, give=_real_columns, divided=divided),
        synthetic=partial(_table, give=_drawn_columns, divided=divided),
        files=(FILE,),
        real_images=_real_images,
        drawn_images=_drawn_images,
        missing="nothing from the official address; a mirror may lack one test window without a "
        "face",
    )


_FEATURES = "1,779 features (1,000 Haar-like, 576 HOG, 203 local binary patterns), 2 classes"
_RULE = (
    "the training part falls into five divisions, anew for each five seeds, that keep windows of a "
    "class that correlate by 0.9 or more together;"
)
SPECS = {
    "cbcl": _spec(
        "cbcl",
        False,
        "MIT CBCL faces, windows of 19×19",
        f"2,429 + 472 windows with a face, 4,548 + 23,573 without, {_FEATURES}",
        f"{_RULE} division number seed mod 5 validates, four train, the official test windows test",
    ),
    "cbcl_divided": _spec(
        "cbcl_divided",
        True,
        "MIT CBCL faces, divisions of the training part only",
        f"2,429 windows with a face, 4,548 without, {_FEATURES}",
        f"{_RULE} division number seed mod 5 tests, the next one validates, three train",
    ),
}
SPEC = SPECS["cbcl"]
images = SPEC.images
