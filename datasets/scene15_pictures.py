"""The archives of Scene-15, and the draws from its pictures; see :mod:`datasets.scene15`."""

from __future__ import annotations

import hashlib
import re
from functools import partial
from pathlib import Path

import numpy as np

from datasets.errors import ChecksumMismatch
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.pictures import PictureError, names_of, pictures, resized
from datasets.sources.storage import decoded
from datasets.splits import split_generator

SIDE = 200
CLASSES = (
    *("bedroom", "coast", "forest", "highway", "industrial", "insidecity", "kitchen"),
    *("livingroom", "mountain", "office", "opencountry", "store", "street", "suburb"),
    "tallbuilding",
)
"""The classes, in the order of their labels."""
LEAST = 200
"""Fewer pictures of a class than this, and an archive is not whole."""
KERNEL, TRAIN, VALID = 30, 70, 20
"""Pictures of a class that train support vector machines, that train on them, that validate."""
OFFICIAL_MD5 = "58828019197b2ad0a7efb472e7a85c2a"
"""Of the official archive; no SHA-256 of it is published."""
FILE = RawFile(
    folder="scene15",
    title="Scene-15",
    terms="none stated; cite Lazebnik, Schmid and Ponce (2006)",
    advice="allow access to www-cvr.ai.uiuc.edu, or put scene_categories.zip (md5 "
    f"{OFFICIAL_MD5}) into the folder scene15/ of COST_AWARE_BOOSTING_MIRROR.",
    forms=(
        Form(
            filename="scene_categories.zip",
            reader="whole",
            size=92_000_000,
            urls=(
                "http://www-cvr.ai.uiuc.edu/ponce_grp/data/scene_categories/scene_categories.zip",
            ),
        ),
        Form(
            filename="scene15_200px_grey.tar",
            reader="copy",
            sha256="3984476580b7653f96f3405a525eb718c0ac718a257fe8cb5cd79b2fd93c50fe",
            size=72_550_400,
        ),
    ),
)
_MEMBER = re.compile(r"(?:[^/]+/)*(?:CAL|MIT|PAR)?([a-z]+)/image_(\d{4})\.jpg")
_PARTS = ("train", "test")


def draw(
    labels: np.ndarray,
    twins: np.ndarray,
    seed: int,
    sizes: tuple[int, int, int] = (KERNEL, TRAIN, VALID),
) -> dict[str, np.ndarray]:
    """Draw the pictures of each part; pictures with the same pixels stay together.

    `sizes` pictures of each class are "kernel", which train support vector machines, "train" and
    "valid"; the others are "test". Pictures, or sets of equal ones (`twins` has the first of each),
    are taken in a random order; each goes to the first part that still has room for it in its
    class (in all its classes).
    """
    parts = ("kernel", "train", "valid", "test")
    room = np.tile([[*sizes, len(labels)]], (int(labels.max()) + 1, 1))
    members: dict[int, list[int]] = {}
    for number, first in enumerate(twins.tolist()):
        members.setdefault(first, []).append(number)
    drawn: dict[str, list[int]] = {part: [] for part in parts}
    for first in split_generator("scene15", seed).permutation(list(members)).tolist():
        need = np.bincount(labels[members[first]], minlength=len(room))
        part = next(k for k in range(len(parts)) if (room[:, k] >= need).all())
        room[:, part] -= need
        drawn[parts[part]] += members[first]
    return {part: np.sort(np.array(numbers, dtype=np.int64)) for part, numbers in drawn.items()}


def pixels() -> tuple[dict[str, np.ndarray], Found]:
    """Give all real pictures, decoded."""
    archive = find(FILE)
    arrays, _ = decoded("scene15", f"v1-{archive.sha256[:16]}", partial(_decode, archive))
    return arrays, archive


def provenance(archive: Found) -> dict:
    """Say where real pictures came from and in which form."""
    copy = archive.form.reader == "copy"
    return {
        "source": archive.source,
        "files": [archive.record()],
        "pictures": "a copy resized to 200×200 by somebody else"
        if copy
        else "the original pictures, resized to 200×200 here",
        "missing": "the pictures' original sizes (a copy resized to 200×200; at least one picture "
        "of 200 sampled is another one than the original)"
        if copy
        else "nothing",
    }


def _label_and_number(name: str) -> tuple[int, int] | None:
    """Read class and number off a member's name; None if it is no picture of the set."""
    match = _MEMBER.fullmatch(name)
    if match is None or match[1] not in CLASSES or "__MACOSX" in name:
        return None
    return CLASSES.index(match[1]), int(match[2])


def _decode(file: Found, out: Path) -> None:
    """Write the pictures in the order of class and number, and which are the same."""
    archive = file.path
    _check_md5(file)
    order = _order(names_of(archive, lambda name: _label_and_number(name) is not None), archive)
    place = {name: (part, i) for part in _PARTS for i, (name, _) in enumerate(order[part])}
    arrays = {}
    for part in _PARTS:
        shape = (len(order[part]), SIDE, SIDE)
        arrays[part] = np.lib.format.open_memmap(out / f"{part}.npy", "w+", np.uint8, shape)
        np.save(out / f"y_{part}.npy", np.array([c for _, c in order[part]], dtype=np.uint8))
    for name, picture in pictures(archive, place.__contains__):
        part, i = place[name]
        arrays[part][i] = _grey(f"{archive}, {name}", picture, file.form.reader == "copy")
    first: dict[bytes, int] = {}
    digests = [hashlib.sha256(p).digest() for part in _PARTS for p in arrays[part]]
    twins = [first.setdefault(digest, number) for number, digest in enumerate(digests)]
    np.save(out / "twins.npy", np.array(twins, dtype=np.int64))
    for array in arrays.values():
        array.flush()


def _check_md5(archive: Found) -> None:
    """Compare the official archive with its published MD5; a form of no other digest."""
    if archive.form.reader == "copy":
        return
    with open(archive.path, "rb") as handle:
        digest = hashlib.file_digest(handle, "md5").hexdigest()
    if digest != OFFICIAL_MD5:
        advice = f"(MD5, not SHA-256.) Delete {archive.path} and fetch it anew."
        raise ChecksumMismatch(str(archive.path), OFFICIAL_MD5, digest, advice)


def _order(names: list[str], archive: Path) -> dict[str, list[tuple[str, int]]]:
    """Give (name, class) of the pictures of both parts, by class and number."""
    keyed: dict[tuple[int, int], str] = {}
    for name in names:
        key = _label_and_number(name)
        if key in keyed:
            raise PictureError(f"{archive}: {name} and {keyed[key]} are one picture's names")
        keyed[key] = name
    order: dict[str, list[tuple[str, int]]] = {part: [] for part in _PARTS}
    for label, name in enumerate(CLASSES):
        chosen = [(keyed[key], label) for key in sorted(keyed) if key[0] == label]
        if len(chosen) < LEAST:
            raise PictureError(
                f"{archive}: {len(chosen)} pictures of {name}, at least {LEAST} expected"
            )
        n_train = KERNEL + TRAIN
        order["train"] += chosen[:n_train]
        order["test"] += chosen[n_train:]
    return order


def _grey(name: str, picture: np.ndarray, copy: bool) -> np.ndarray:
    """Give the grey levels of a picture at 200×200."""
    if copy and picture.shape[:2] != (SIDE, SIDE):
        raise PictureError(
            f"{name}: {picture.shape[0]}×{picture.shape[1]} pixels, expected {SIDE}×{SIDE}"
        )
    if (picture != picture[:, :, :1]).any():
        raise PictureError(f"{name}: is in colour, the set's pictures are grey")
    return resized(picture, SIDE, SIDE)[:, :, 0]
