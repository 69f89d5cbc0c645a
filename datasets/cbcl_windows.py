"""The archives of CBCL's faces, and the divisions of its training part: :mod:`datasets.cbcl`."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from datasets.errors import ChecksumMismatch
from datasets.sources.archives import Bounded, TooLarge, damage_named, opened_tar
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.pictures import PictureError, read_pgm
from datasets.sources.storage import decoded
from datasets.splits import split_generator

SIDE = 19
KINDS = {1: "face", 0: "non-face"}
COUNTS = {
    "mirror": {"train": {1: 2_429, 0: 4_548}, "test": {1: 472, 0: 23_572}},
    "official": {"train": {1: 2_429, 0: 4_548}, "test": {1: 472, 0: 23_573}},
}
"""Windows that each form must have."""
N_DIVISIONS = 5
ALIKE = 0.9
"""Windows of one class whose grey levels correlate at least so much are never torn apart."""
LIMIT, LARGEST = 2**28, 2**12
"""Bytes that an archive may hold unpacked (the mirror's has 32 million), and one PGM file."""
INNER = re.compile(r"(?:.*/)?face\.(train|test)\.tar\.gz")
WANTED = re.compile(r"(?:.*/)?(train|test)/(face|non-face)/([^/]+)\.pgm")
DIGESTS = {
    "train": "3b87d1f31ec49f10593239c286335317ade6cddd499a1a154597e8ecace56efe",
    "test": "8e10ebb7e864ac7d67b76fd3f74fecab63983491c7899b8be80f6c98c1344b3b",
}
"""SHA-256 of all pixels in the order of :func:`decode`; of the official test windows without the
one that the mirror lacks. The official archive has no published digest of its own."""
NOT_IN_MIRROR = "cmu_23000"
FILE = RawFile(
    folder="cbcl",
    title="MIT CBCL faces",
    terms="for research use; credit the MIT Center for Biological and Computational Learning "
    "(CBCL Face Database #1, http://www.ai.mit.edu/projects/cbcl)",
    advice="allow access to cbcl.mit.edu, or put faces.tar.gz into the folder cbcl/ of "
    "COST_AWARE_BOOSTING_MIRROR.",
    forms=(
        Form(
            filename="faces.tar.gz",
            reader="official",
            urls=("http://cbcl.mit.edu/projects/cbcl/software-datasets/faces.tar.gz",),
        ),
        Form(
            filename="cbcl_faces_pgm.tar.gz",
            reader="mirror",
            sha256="76f2ee968bf3494207eeeb334e5346ee046b8a07e0a51591850a4c94ee544140",
            size=10_075_147,
        ),
    ),
)
MISSING = {
    "official": "nothing",
    "mirror": f"one of the test windows without a face ({NOT_IN_MIRROR})",
}


def windows() -> tuple[dict[str, np.ndarray], Found]:
    """Give all windows, decoded into the cache once, and the archive.

    ``train`` and ``test``, (n, 19, 19) uint8, faces first, each class by file name; ``y_train`` and
    ``y_test``; of each training window ``group``, the first that it is alike, and ``fold``.
    """
    archive = find(FILE)
    digest = archive.sha256 or f"{archive.path.stat().st_size}bytes"
    key = f"{archive.form.reader}-v2-{digest[:16]}"
    arrays, _ = decoded("cbcl", key, lambda out: decode(archive.path, archive.form.reader, out))
    return arrays, archive


def decode(archive: Path, reader: str, out: Path) -> None:
    """Write the windows of an archive as arrays."""
    pictures = {(part, kind): {} for part in ("train", "test") for kind in KINDS.values()}
    for part, kind, name, content in _files(archive):
        place = pictures[part, kind]
        if name in place:
            raise PictureError(f"{archive}: {part}/{kind}/{name}.pgm is there twice")
        place[name] = read_pgm(f"{archive}, {part}/{kind}/{name}.pgm", content, (SIDE, SIDE))
    for part, counts in COUNTS[reader].items():
        chosen = []
        for label, expected in counts.items():
            place = pictures[part, KINDS[label]]
            if len(place) != expected:
                raise PictureError(
                    f"{archive}: {len(place)} pictures in {part}/{KINDS[label]}, {expected} "
                    "expected"
                )
            chosen += [(label, name, place[name]) for name in sorted(place)]
        _check(archive, part, chosen)
        pixels = np.array([picture for _, _, picture in chosen])
        labels = np.array([label for label, _, _ in chosen], dtype=np.uint8)
        np.save(out / f"{part}.npy", pixels)
        np.save(out / f"y_{part}.npy", labels)
        if part == "train":
            group = alike(pixels, labels)
            np.save(out / "group.npy", group)
            np.save(out / "fold.npy", divisions(group, labels))


def _check(archive: Path, part: str, chosen: list[tuple[int, str, np.ndarray]]) -> None:
    """Compare the pixels with those on record."""
    extra = ("test", 0, NOT_IN_MIRROR)
    digest = hashlib.sha256()
    for label, name, picture in chosen:
        if (part, label, name) != extra:
            digest.update(picture.tobytes())
    digest = digest.hexdigest()
    if digest != DIGESTS[part]:
        advice = f"These are not the {part} windows of MIT CBCL faces that the results are of."
        raise ChecksumMismatch(f"{archive}, pixels of {part}/", DIGESTS[part], digest, advice)


def _files(archive: Path) -> Iterator[tuple[str, str, str, bytes]]:
    """Walk through the PGM files of an archive: part, kind, name and content of each."""
    with damage_named(archive, PictureError), opened_tar(archive, LIMIT) as tar:
        for info in tar:
            if not info.isreg():
                continue
            if INNER.fullmatch(info.name):
                yield from _inner_files(f"{archive}, {info.name}", tar.extractfile(info))
            else:
                yield from _file(str(archive), tar, info)


def _inner_files(name: str, stream) -> Iterator[tuple[str, str, str, bytes]]:
    """Walk through an archive inside the archive, unpacked while it is read."""
    import gzip

    with gzip.open(stream, "rb") as unpacked:
        bounded = io.BufferedReader(Bounded(unpacked, LIMIT, name))
        with tarfile.open(fileobj=bounded, mode="r:") as tar:
            for info in tar:
                if info.isreg():
                    yield from _file(name, tar, info)


def _file(archive: str, tar: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator:
    match = WANTED.fullmatch(info.name)
    if match is None:
        return
    if info.size > LARGEST:
        raise TooLarge(f"{archive}, {info.name}: {info.size:,} bytes, at most {LARGEST:,}")
    yield *match.groups(), tar.extractfile(info).read()


# --- the divisions -------------------------------------------------------------------------------


def alike(pixels: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Group windows of one class that are nearly the same, by the first window of each group.

    Two are alike, directly or by way of others, if their grey levels have a correlation of
    :data:`ALIKE` or more, or are the same (constant windows have no correlation). Decided on sums
    of whole numbers below 2^53, so that every machine finds the same groups.
    """
    group = np.arange(len(pixels), dtype=np.int64)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        group[members] = members[_connected(pixels[members])]
    return group


def _connected(pixels: np.ndarray) -> np.ndarray:
    """Give the first member of each window's group, by place."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    flat = pixels.reshape(len(pixels), -1).astype(np.float64)
    n_pixels = flat.shape[1]
    total = flat.sum(axis=1)
    variance = n_pixels * np.square(flat).sum(axis=1) - total * total
    pairs = []
    for start in range(0, len(flat), 500):
        block = slice(start, start + 500)
        product = n_pixels * (flat[block] @ flat.T) - total[block, None] * total
        bound = (ALIKE * ALIKE) * variance[block, None] * variance
        linked = (product > 0) & (product * product >= bound)
        pairs.append(np.argwhere(linked) + np.array([start, 0]))
    _, same = np.unique(flat, axis=0, return_inverse=True)
    first = np.full(same.max() + 1, len(flat), dtype=np.int64)
    np.minimum.at(first, same.ravel(), np.arange(len(flat)))
    pairs.append(np.stack((np.arange(len(flat)), first[same.ravel()]), axis=1))
    row, column = np.concatenate(pairs).T
    links = coo_array((np.ones(len(row), dtype=np.int8), (row, column)), shape=(len(flat),) * 2)
    _, component = connected_components(links, directed=False)
    leader = np.full(component.max() + 1, len(flat), dtype=np.int64)
    np.minimum.at(leader, component, np.arange(len(flat)))
    return leader[component]


def divisions(group: np.ndarray, labels: np.ndarray, block: int = 0) -> np.ndarray:
    """Divide windows into five parts of equal size, groups whole, each class by itself.

    In a drawn order, large groups first, each group goes to the part that has the fewest windows of
    its class. Each block of five repetitions has a draw of its own; 0 is that of the first.
    """
    rng = split_generator("cbcl" if block == 0 else "windows divided anew", block)
    fold = np.empty(len(group), dtype=np.int64)
    for label in (1, 0):
        leaders, size = np.unique(group[labels == label], return_counts=True)
        order = rng.permutation(len(leaders))
        order = order[np.argsort(-size[order], kind="stable")]
        held, part_of = np.zeros(N_DIVISIONS, dtype=np.int64), np.empty(len(leaders), np.int64)
        for k in order:
            part_of[k] = np.argmin(held)
            held[part_of[k]] += size[k]
        members = np.flatnonzero(labels == label)
        fold[members] = part_of[np.searchsorted(leaders, group[members])]
    return fold


def rows_of(
    fold: np.ndarray, group: np.ndarray, labels: np.ndarray, seed: int, n_held: int
) -> tuple[np.ndarray, ...]:
    """Give the windows that train in a repetition, and those of one or two divisions held out.

    Division number `seed` mod 5 comes first: of `fold` below 5, of :func:`divisions` from then on.
    """
    if seed >= N_DIVISIONS:
        fold = divisions(group, labels, seed // N_DIVISIONS)
    held = [(seed + k) % N_DIVISIONS for k in range(n_held)]
    return np.flatnonzero(~np.isin(fold, held)), *(np.flatnonzero(fold == k) for k in held)
