"""Archives of a few windows in the forms of CBCL's, for its tests."""

import numpy as np

from datasets import cbcl_windows
from tests.datasets.picture_archives import noise, tar

MIRROR, OFFICIAL = "cbcl_faces_pgm.tar.gz", "faces.tar.gz"
SIZES = {("train", 1): 12, ("train", 0): 18, ("test", 1): 3, ("test", 0): 7}
EXTRA = "test/non-face/cmu_23000.pgm"


def pgm(picture: np.ndarray, comment: bytes = b"") -> bytes:
    height, width = picture.shape
    return b"P5\n" + comment + b"%d %d\n255\n" % (width, height) + picture.tobytes()


def member(part: str, label: int, i: int) -> str:
    kind = cbcl_windows.KINDS[label]
    return f"{part}/{kind}/{'face' if part == 'train' else 'cmu_'}{i:04d}.pgm"


def pixels(part: str, label: int) -> np.ndarray:
    """The windows of one folder, by name."""
    seed = sum(SIZES[key] for key in list(SIZES)[: list(SIZES).index((part, label))])
    return np.array([noise(seed + i, 19, 19) for i in range(SIZES[part, label])])


def contents() -> dict[str, bytes]:
    """A few windows of each folder, in no order."""
    found = {}
    for part, label in SIZES:
        for i in reversed(range(SIZES[part, label])):
            found[member(part, label, i)] = pgm(pixels(part, label)[i])
    return found


def whole() -> dict[str, bytes]:
    return contents() | {EXTRA: pgm(noise(99, 19, 19))}


def packed(found: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    return tar(found, "w:gz", links)


def official(found: dict[str, bytes]) -> bytes:
    """The training and the test part as archives inside the archive."""
    inner = {}
    for part in ("train", "test"):
        files = {name: content for name, content in found.items() if name.startswith(part)}
        inner[f"faces/face.{part}.tar.gz"] = packed(files)
    return packed({"faces/README": b"read me", **inner})
