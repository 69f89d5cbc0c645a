"""Daimler pedestrians: grey windows of 36×18 pixels, with a pedestrian (1) or without (0).

Citation: S. Munder and D. M. Gavrila, An experimental study on pedestrian classification, PAMI 28
(2006). For research use, not commercially. MDDAG's "DPED" benchmark.

Two forms, very different in what they are; a title in the provenance says which one it is:

official
    The base set: five disjoint parts (1, 2, 3, T1, T2) of 4,800 windows with and 5,000 without a
    pedestrian. Each pedestrian is there six times, reflected and moved by a few pixels, always in
    one part: **the five parts are the divisions**. The archive has no published digest; it is taken
    only if it holds exactly these windows.
inria
    Where that archive cannot be had: the windows of :mod:`datasets.inria_person` (at laptop scale,
    its training and test parts together) in grey and resized to 36×18 by area. Both sets show a
    standing person with a margin in windows twice as high as wide; INRIA's are from photographs,
    sharp and in any light, Daimler's from a camera in a car. Windows fall into blocks of 16
    neighbours (those of one picture follow each other); a window goes with the block of the first
    one that is its reflection or that it is alike (a correlation of 0.9 or more), and blocks are
    drawn into five divisions.

Repetition ``seed``: division ``seed`` mod 5 tests, the next one validates, three train. From 5 on
each block of five repetitions draws blocks of neighbours of all five parts into divisions anew.

The table has 2,000 Haar-like features, 400 of each kind (:mod:`datasets.features.faces`), each one
byte, at cost 1. :func:`columns` gives as many as wanted, memory-mapped, and :func:`images` pixels.

The smallest scale draws synthetic data (:mod:`datasets.synthetic`).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from datasets import inria_person, vj_faces
from datasets.cbcl_windows import divisions
from datasets.errors import CacheFull, DataUnavailable
from datasets.features.faces.haar_columns import WindowSpec
from datasets.features.pixels import grey
from datasets.resizing import resized
from datasets.sources.archives import TooLarge, damage_named, opened_tar
from datasets.sources.find import Form, RawFile, find
from datasets.sources.pictures import PictureError, read_pgm
from datasets.sources.storage import decoded
from datasets.synthetic.pictures import Pictures

SHAPE = (36, 18)
PARTS = ("1", "2", "3", "T1", "T2")
COUNTS = {1: 4_800, 0: 5_000}
"""Windows of each class in each part of the official archive."""
SYNTHETIC = Pictures("daimler_pedestrians", SHAPE, 2, shares={"train": 24 / 49})
BLOCK = 16
"""Neighbours among INRIA's windows that are never torn apart."""
SIZES = {"smoke": 750, "real": 5_000}
"""Windows of the synthetic set at the smallest scale and at the others."""
LIMIT, LARGEST = 2**28, 2**12
"""Bytes that the archive may hold unpacked (49,000 files of about 700), and one PGM file."""
WANTED = re.compile(r"(?:.*/)?(1|2|3|T1|T2)/(ped_examples|non-ped_examples)/([^/]+)\.pgm")
FOLDERS = {"ped_examples": 1, "non-ped_examples": 0}
TITLES = {
    "official": "Daimler pedestrians",
    "inria": "INRIA Person at 36×18, in place of Daimler pedestrians",
}
FILE = RawFile(
    folder="daimler_pedestrians",
    title="Daimler pedestrians (base set)",
    terms="for research use, not commercially (Daimler AG); cite Munder and Gavrila (2006)",
    advice="allow access to www.lookingatpeople.com, or put DC-ped-dataset_base.tar.gz into the "
    "folder daimler_pedestrians/ of COST_AWARE_BOOSTING_MIRROR. INRIA Person takes its place.",
    forms=(
        Form(
            filename="DC-ped-dataset_base.tar.gz",
            reader="official",
            urls=(
                "http://www.lookingatpeople.com/data/Daimler/pami06-munder-gavrila/"
                "DC-ped-dataset_base.tar.gz",
            ),
        ),
    ),
)


def windows() -> tuple[dict[str, np.ndarray], dict]:
    """Give all windows, decoded into the cache once, and of which of the two forms they are.

    ``windows``, (n, 36, 18) uint8; ``y``; ``group``, the block that each goes with; ``fold``.
    """
    try:
        archive = find(FILE)
    except CacheFull:
        raise
    except DataUnavailable as error:
        return _inria_windows(error)
    digest = archive.sha256 or f"{archive.path.stat().st_size}bytes"
    arrays, _ = decoded(
        "daimler_pedestrians",
        f"official-v2-{digest[:16]}",
        lambda out: _decode_official(archive.path, out),
    )
    return arrays, {
        "title": TITLES["official"],
        "source": archive.source,
        "files": [archive.record()],
        "missing": "nothing",
    }


def _decode_official(archive: Path, out: Path) -> None:
    """Write the windows part by part, pedestrians first, by file name."""
    pictures = {(part, label): {} for part in PARTS for label in COUNTS}
    with damage_named(archive, PictureError), opened_tar(archive, LIMIT) as tar:
        for info in tar:
            match = WANTED.fullmatch(info.name) if info.isreg() else None
            if match is None:
                continue
            if info.size > LARGEST:
                raise TooLarge(f"{archive}, {info.name}: {info.size:,} bytes, at most {LARGEST:,}")
            place, name = pictures[match[1], FOLDERS[match[2]]], f"{archive}, {info.name}"
            if match[3] in place:
                raise PictureError(f"{name} is there twice")
            place[match[3]] = read_pgm(name, tar.extractfile(info).read(), SHAPE)
    for (part, label), place in pictures.items():
        if len(place) != COUNTS[label]:
            raise PictureError(
                f"{archive}: {len(place)} windows of class {label} in part {part}, "
                f"{COUNTS[label]} expected"
            )
    chosen = [place[name] for place in pictures.values() for name in sorted(place)]
    pixels = np.array(chosen)
    np.save(out / "windows.npy", pixels)
    sizes = [len(place) for place in pictures.values()]
    labels = np.repeat([label for _, label in pictures], sizes)
    np.save(out / "y.npy", labels.astype(np.uint8))
    fold = np.repeat([PARTS.index(part) for part, _ in pictures], sizes)
    np.save(out / "fold.npy", fold.astype(np.int64))
    # The official parts are taken as they are; from repetition 5 on no group is torn apart.
    np.save(out / "group.npy", groups(pixels, labels))


def _inria_windows(reason: DataUnavailable) -> tuple[dict[str, np.ndarray], dict]:
    """Give INRIA's windows at this size."""
    try:
        pictures = inria_person.images(data="real")
    except CacheFull:
        raise
    except DataUnavailable as error:
        raise DataUnavailable(f"{reason}\nNor can INRIA Person take its place: {error}") from error
    record = pictures.provenance

    def decode(out: Path) -> None:
        labels = np.concatenate((pictures.y_train, pictures.y_test))
        order = np.argsort(1 - labels, kind="stable")  # persons first
        parts = [resized(grey(part), SHAPE) for part in (pictures.train, pictures.test)]
        pixels, labels = np.concatenate(parts)[order], labels[order]
        np.save(out / "windows.npy", pixels)
        np.save(out / "y.npy", labels.astype(np.uint8))
        group = groups(pixels, labels)
        np.save(out / "group.npy", group)
        np.save(out / "fold.npy", divisions(group, labels))

    arrays, _ = decoded("daimler_pedestrians", f"inria-v2-{record['checksum'][:16]}", decode)
    return arrays, {
        "title": TITLES["inria"],
        "source": record["source"],
        "files": record["files"],
        "terms": record["terms"],
        "citation": record["citation"],
        "missing": "all of Daimler's windows: INRIA Person's, grey and resized to 36×18, take "
        f"their place; of INRIA Person {record['missing']}",
        "split_rule": "blocks of 16 neighbours fall into five divisions, anew for each five seeds, "
        "reflections and windows "
        "of a class that correlate by 0.9 or more together; division number seed mod 5 tests, the "
        "next one validates, three train",
    }


def groups(pixels: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Group windows that stay together: neighbours, reflections, and those that are alike."""
    upright = pixels.copy()
    for i, picture in enumerate(pixels):  # of a window and its reflection take the same one
        reflected = np.ascontiguousarray(picture[:, ::-1])
        if reflected.tobytes() < picture.tobytes():
            upright[i] = reflected
    return vj_faces.groups(upright, labels, BLOCK)


SPEC = WindowSpec(
    name="daimler_pedestrians",
    task="binary",
    title="Daimler pedestrians, windows of 36×18; INRIA Person at that size where they cannot be "
    "had",
    citation="Munder and Gavrila, An experimental study on pedestrian classification, PAMI 28 "
    "(2006)",
    terms=FILE.terms,
    shape="5 parts of 4,800 windows with a pedestrian and 5,000 without, 2,000 Haar-like "
    "features, 2 classes",
    split_rule="the five official parts are the divisions of seeds 0 to 4, blocks of 16 neighbours "
    "are divided anew for each further five; number seed mod 5 tests, the next one validates, "
    "three train",
    cost_rule="uniform, 1 per Haar-like feature",
    windows=windows,
    drawn=SYNTHETIC,
    drawn_sizes=SIZES,
    files=(FILE,),
)

images, columns = SPEC.images, SPEC.columns
