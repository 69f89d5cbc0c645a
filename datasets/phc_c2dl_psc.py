"""PhC-C2DL-PSC: phase-contrast microscopy with masks, from the Cell Tracking Challenge.

Citation: M. Maška et al., A benchmark for comparison of cell tracking algorithms, Bioinformatics
30 (2014), pages 1609-1617 (the paper that defines SEG); V. Ulman et al., An objective comparison of
cell-tracking algorithms, Nature Methods 14 (2017). Pancreatic stem cells on a polystyrene
substrate. Terms: those of the challenge; no frame is passed on with this project.

What there is: frames 0 to 11 and 40 to 51 of the first sequence, in a copy that somebody else has
resized from 720×576 to 1024×1024 pixels, with *silver* truth: masks made from the best results of
several programs, not by hand. The copy's label numbers were damaged by its resizing, so that an
object here is a connected component (8 neighbours) of the mask: bodies that touch are one.
Bodies at the edge have no mask, as is the challenge's rule; no row is drawn from the outermost 48
pixels, where they would count as ground.

A row is a pixel: 32 features, eight filters on each of four resolutions
(:mod:`datasets.features.pyramid`), class 1 if it belongs to a body. All features cost 0; what costs
are evaluations, of which :data:`datasets.features.pyramid.SHARING` pixels share one.
:mod:`datasets.labelled_frames` draws rows: frames 0 to 8 train, 9 to 11 validate, 40 to 51 are the
test, and rows come from the first of these. The frames are the same for every seed; it decides
which pixels are drawn.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy import ndimage

from datasets import labelled_frames
from datasets.dataset import Dataset
from datasets.errors import DamagedData
from datasets.registry import DatasetSpec, Request
from datasets.sources.archives import damage_named, members
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.synthetic.streams import RECORD, part_generator
from datasets.synthetic.video import Video

SIZES = {
    "smoke": (2_000, 1_000, 1_000),
    "laptop": (100_000, 20_000, 20_000),
    "paper": (1_000_000, 100_000, 100_000),
}
"""Rows that train, validate and test."""

PARTS = {"train": range(9), "valid": range(9, 12), "test": range(40, 52)}
"""Numbers of the frames of each part."""

SIDE = 1024
MARGIN = 48
"""Pixels at each edge of a frame of which no row is drawn."""

_EIGHT = np.ones((3, 3), dtype=bool)
_MEMBER = re.compile(r"(01/t|01_ST/SEG/man_seg)(\d{3})\.tif")
FILE = RawFile(
    folder="phc_c2dl_psc",
    title="PhC-C2DL-PSC, 24 frames",
    terms="those of the Cell Tracking Challenge (celltrackingchallenge.net): research, with "
    "citation; not to be passed on",
    advice="put PhC-C2DL-PSC_01_24frames.tar.xz into the folder phc_c2dl_psc/ of "
    "COST_AWARE_BOOSTING_MIRROR. The official archive (data.celltrackingchallenge.net/"
    "training-datasets/PhC-C2DL-PSC.zip) has the frames at 720×576 pixels and is not read.",
    forms=(
        Form(
            filename="PhC-C2DL-PSC_01_24frames.tar.xz",
            reader="copy",
            sha256="5ea14734da52263f4f2e34127379b4247ff8c541ad0d50bc24c341e365c8dd42",
            size=5_960_820,
        ),
    ),
)
MISSING = (
    "the second sequence and all but 24 of the 426 frames of the first; the frames' own size "
    "(720×576); the masks' label numbers"
)

SYNTHETIC = {
    "smoke": Video("phc_c2dl_psc", 192, 3, {"train": 2, "valid": 1, "test": 2}),
    "laptop": Video("phc_c2dl_psc", SIDE, 50, {part: len(n) for part, n in PARTS.items()}),
}
"""Its video; the largest scales share one."""


def frames(
    part: str, *, scale: str, seed: int, kind: str = "real"
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give the whole frames of a part, one at a time."""
    if part not in PARTS:
        raise ValueError(f"part must be one of {', '.join(PARTS)}, not {part!r}")
    if kind not in ("real", "synthetic"):
        raise ValueError(f'kind must be "real" or "synthetic", not {kind!r}')
    Request("phc_c2dl_psc", scale, "auto", seed)  # refuses a wrong scale or seed
    return _real_frames(part)[0] if kind == "real" else _synthetic_frames(part, scale, seed)


def _real_frames(part: str) -> tuple[Iterator[tuple[np.ndarray, np.ndarray]], Found]:
    archive = find(FILE)
    key = f"v1-{archive.sha256[:16]}"
    arrays, _ = decoded("phc_c2dl_psc", key, partial(_decode, archive.path))
    pairs = zip(arrays[f"images_{part}"], arrays[f"labels_{part}"], strict=True)
    return ((np.array(image), labels.astype(np.int32)) for image, labels in pairs), archive


def _synthetic_frames(part: str, scale: str, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    return _video(scale).play(part, seed)


def _video(scale: str) -> Video:
    return SYNTHETIC["smoke" if scale == "smoke" else "laptop"]


def _decode(archive: Path, out: Path) -> None:
    """Write frames and objects of all parts."""
    pictures = {}
    with damage_named(archive):
        for name, read in members(archive, lambda name: _MEMBER.fullmatch(name) is not None):
            kind, number = _MEMBER.fullmatch(name).groups()
            pictures[kind == "01/t", int(number)] = _grey(f"{archive}, {name}", read())
    for part, numbers in PARTS.items():
        for n in numbers:
            if (True, n) not in pictures or (False, n) not in pictures:
                raise DamagedData(f"{archive}: frame {n} or its mask is missing")
        objects = [ndimage.label(pictures[False, n] > 0, _EIGHT)[0] for n in numbers]
        np.save(out / f"images_{part}.npy", np.stack([pictures[True, n] for n in numbers]))
        np.save(out / f"labels_{part}.npy", np.stack(objects).astype(np.uint16))


def _grey(name: str, content: bytes) -> np.ndarray:
    """Decode a TIFF file of one grey picture; its size is looked at first."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=("TIFF",)) as opened:
            if opened.size != (SIDE, SIDE) or opened.mode != "L":
                raise DamagedData(
                    f"{name}: {opened.size[0]}×{opened.size[1]} pixels of mode {opened.mode}, "
                    f"expected {SIDE}×{SIDE} of mode L"
                )
            return np.array(opened)
    except (OSError, SyntaxError, ValueError) as error:
        raise DamagedData(f"{name}: damaged or no TIFF file ({error})") from error


def _rows(request: Request, kind: str) -> dict[str, np.ndarray]:
    """Draw pixels of all parts."""
    arrays, n_train = {}, len(PARTS["train"])
    if kind == "synthetic":
        n_train = _video(request.scale).frames["train"]
    for part, size in zip(PARTS, SIZES[request.scale], strict=True):
        arrays[f"X_{part}"], arrays[f"y_{part}"] = labelled_frames.sample(
            frames(part, scale=request.scale, seed=request.seed, kind=kind),
            n_train if part == "train" else 1,
            size,
            part_generator("phc_c2dl_psc rows", request.seed, part),
            MARGIN if kind == "real" else 0,
        )
    return arrays


def real(request: Request) -> Dataset:
    """Draw pixels of the real frames."""
    _, archive = _real_frames("train")
    record = {"source": archive.source, "files": [archive.record()]}
    return labelled_frames.table("phc_c2dl_psc", _rows(request, "real"), record)


def synthetic(request: Request) -> Dataset:
    """Draw pixels of the synthetic set's video."""
    rows = _rows(request, "synthetic")
    return labelled_frames.table("phc_c2dl_psc", rows, RECORD)


SPEC = DatasetSpec(
    name="phc_c2dl_psc",
    task="binary",
    title="PhC-C2DL-PSC, pixels of 24 frames of phase-contrast microscopy",
    citation="Maška et al., Bioinformatics 30 (2014); Ulman et al., Nature Methods 14 (2017)",
    terms=FILE.terms,
    shape="24 frames of 1024×1024 pixels, 32 features a pixel, 2 classes",
    split_rule="frames 0-8 train, 9-11 validate, 40-51 test; by seed: "
    f"{labelled_frames.SHAPE_RULE}",
    cost_rule=labelled_frames.COST_RULE,
    real=real,
    synthetic=synthetic,
    files=(FILE,),
    missing=MISSING,
)
