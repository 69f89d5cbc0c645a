"""Faces of 24×24 pixels, probably those that Viola and Jones trained on: a face (1) or none (0).

Citation: P. Viola and M. Jones, Robust real-time face detection, IJCV 57 (2004), who trained on
4,916 faces of 24×24 pixels. The files of the course TBMI26 (Linköping University) have as many
and windows of that size without faces; who made them is not said. No terms are stated: for
research use, single pictures are never to be shown or passed on.

4,916 windows with a face, 7,872 without, no official parts. MDDAG's "VJ" benchmark is this set or
one like it.

**Divisions.** Windows that follow each other in the files are near-duplicates: neighbouring windows
without faces overlap. Windows of one class fall into blocks of 64 in the order of the files. A
window goes with the block of the first one that it is alike (a correlation of 0.9 or more, directly
or by way of others, as in :mod:`datasets.cbcl`), so that the 25 exact duplicates of 19 faces stay
on their side. Blocks are drawn into **five divisions** of equal size. Repetition ``seed``:
division ``seed`` mod 5 tests, the next one validates, three train. From 5 on each block of five
repetitions draws the blocks into divisions anew.

The table has 2,000 Haar-like features, 400 of each kind (:mod:`datasets.features.faces`), each one
byte, at cost 1. :func:`columns` gives as many as wanted, memory-mapped, and :func:`images` pixels.

The smallest scale draws synthetic data (:mod:`datasets.synthetic`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets.cbcl_windows import alike, divisions
from datasets.features.faces.haar_columns import WindowSpec
from datasets.sources.find import Form, RawFile, find
from datasets.sources.matlab import read_bytes
from datasets.sources.storage import decoded
from datasets.synthetic.pictures import Pictures

SHAPE = (24, 24)
COUNTS = {"faces": 4_916, "nonfaces": 7_872}
SYNTHETIC = Pictures("vj_faces", SHAPE, 2, shares={"train": COUNTS["faces"] / sum(COUNTS.values())})
BLOCK = 64
"""Neighbours in the files that are never torn apart."""
SIZES = {"smoke": 750, "real": 12_788}
"""Windows of the synthetic set at the smallest scale and at the others."""
TERMS = (
    "none stated; for research use: single pictures are not to be shown or passed on. Cite Viola "
    "and Jones (2004)"
)
_ADDRESS = (
    "https://raw.githubusercontent.com/garred/TBMI26/1b064c63f2b688a938b7f1fd4e3ebbae6b3c942c/"
    "boosting/data/"
)


def _file(name: str, sha256: str, size: int) -> RawFile:
    filename = f"{name}.mat"
    return RawFile(
        folder="vj_faces",
        title=f"faces of 24×24 pixels, {filename}",
        terms=TERMS,
        advice="allow access to raw.githubusercontent.com, or put faces.mat and nonfaces.mat into "
        "the folder vj_faces/ of COST_AWARE_BOOSTING_MIRROR.",
        forms=(Form(filename, name, sha256, size, (_ADDRESS + filename,)),),
    )


FILES = (
    _file("faces", "350e4989e24b4c20ffa3f503ebf30fd525485449ae27ac1771f18af0705e6533", 2_742_544),
    _file(
        "nonfaces", "599dfa842007fc5218bd80ed24ae3d492903dcfaf2261bda485ce3674fe155be", 3_952_581
    ),
)


def windows() -> tuple[dict[str, np.ndarray], dict]:
    """Give all windows, decoded into the cache once, and their provenance.

    ``windows``, (n, 24, 24) uint8, faces first, in the order of the files; ``y``; ``group``, the
    block that each goes with; ``fold``, the division of each.
    """
    files = [find(raw) for raw in FILES]
    key = "v2-" + "-".join(file.sha256[:16] for file in files)
    arrays, _ = decoded("vj_faces", key, lambda out: _decode([f.path for f in files], out))
    sources = "+".join(dict.fromkeys(file.source for file in files))
    return arrays, {"source": sources, "files": [file.record() for file in files]}


def _decode(paths: list[Path], out: Path) -> None:
    """Write windows, labels and divisions as arrays."""
    parts = [
        np.moveaxis(read_bytes(path, name, (*SHAPE, n)), -1, 0)
        for path, (name, n) in zip(paths, COUNTS.items(), strict=True)
    ]
    pixels = np.ascontiguousarray(np.concatenate(parts))
    labels = np.repeat([1, 0], [len(part) for part in parts])
    np.save(out / "windows.npy", pixels)
    np.save(out / "y.npy", labels.astype(np.uint8))
    group = groups(pixels, labels)
    np.save(out / "group.npy", group)
    np.save(out / "fold.npy", divisions(group, labels))


def groups(pixels: np.ndarray, labels: np.ndarray, block: int = BLOCK) -> np.ndarray:
    """Group windows that must stay together: neighbours, and those that are alike."""
    place = np.arange(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        place[members] = members[np.arange(len(members)) // block * block]
    return place[alike(pixels, labels)]


SPEC = WindowSpec(
    name="vj_faces",
    task="binary",
    title="Faces of 24×24 pixels, probably those of Viola and Jones",
    citation="Viola and Jones, Robust real-time face detection, IJCV 57 (2004)",
    terms=TERMS,
    shape="4,916 windows with a face, 7,872 without, 2,000 Haar-like features, 2 classes",
    split_rule="blocks of 64 neighbours fall into five divisions, anew for each five seeds, "
    "windows of a class that correlate by 0.9 or more together; division number seed mod 5 tests, "
    "the next one validates, three train",
    cost_rule="uniform, 1 per Haar-like feature",
    windows=windows,
    drawn=SYNTHETIC,
    drawn_sizes=SIZES,
    files=FILES,
)

images, columns = SPEC.images, SPEC.columns
