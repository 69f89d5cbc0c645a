"""INRIA Person: colour windows of 128×64 pixels, with a standing person (1) or without (0).

Citation: N. Dalal and B. Triggs, Histograms of oriented gradients for human detection, CVPR (2005).
For research use.

Two forms of the set, very different in what they have:

whole
    The official archive (1 GB, ``data fetch inria_person``). 2,416 training and 1,126 test windows
    with persons, reflections among them, cut out of files with a margin of 16 and 3 pixels; 1,218
    and 453 pictures without persons, from which windows are drawn at random (10 each, as Dalal and
    Triggs do; their places depend on the picture's name alone). Laptop scale takes the first
    window of each picture. The training and test parts are the official ones.
part
    A mirror's archive of training windows: one of each pair of a person's window and its
    reflection (and one both, which is left out: 1,208 remain, with their reflections the official
    2,416), and one window from each picture without persons, chosen by a rule unknown to us.
    There are no test windows, so that a third of the *pictures* tests, drawn once for all seeds;
    windows of one picture, and pictures that share a window pixel for pixel, stay on one side.
    Persons get their reflections back on the side where they are. Pictures of one scene taken one
    after the other may still be on both sides: errors are then lower than on the official test
    set. A quarter of the windows without persons were stored as JPEG files, no window with one
    was: a trace that a classifier can find.

:func:`images` gives bytes; features of one's own start there. :func:`datasets.load` gives mean grey
levels of blocks of 4×4 pixels (512 features; all 24,576 values would take gigabytes) and sets a
fifth of the training windows aside for validation by seed, window by window: one may validate while
its reflection trains.

The smallest scale draws synthetic data (:mod:`datasets.synthetic`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from datasets.images import ImageSet, ImageSpec, coarse_table
from datasets.registry import Request
from datasets.sources.find import Form, RawFile, find
from datasets.sources.pictures import PictureError, check_size, names_of, pictures
from datasets.sources.storage import decoded, new_array
from datasets.splits import split_generator
from datasets.synthetic.pictures import Pictures

HEIGHT, WIDTH = 128, 64
BLOCK = 4
VALID_SHARE, TEST_SHARE = 5, 3
"""One of so many training windows validates; one of so many pictures of the part tests."""
PER_PICTURE = 10
"""Windows drawn from each picture without persons."""
FOLDERS = {
    ("train", 1): "96X160H96/Train/pos",
    ("train", 0): "Train/neg",
    ("test", 1): "70X134H96/Test/pos",
    ("test", 0): "Test/neg",
}
MARGINS = {"train": 16, "test": 3}
"""Pixels around a window in the official files with persons."""
LEAST = {("train", 1): 2_400, ("train", 0): 1_200, ("test", 1): 1_100, ("test", 0): 450}
"""Fewer files than this, and the official archive (it has no published digest) is not whole."""
MISSING = {
    "whole": "nothing",
    "part": "the official test windows and the pictures without persons; of these there is one "
    "training window each, a quarter of them from JPEG files, as no window with a person is, which "
    "a classifier can notice; photographs of one scene may lie on both sides of the split",
}
SYNTHETIC = Pictures(
    "inria_person", (HEIGHT, WIDTH, 3), 2, shares=dict.fromkeys(("train", "test"), 2 / 3)
)
FILE = RawFile(
    folder="inria_person",
    title="INRIA Person",
    terms="for research use (INRIA); cite Dalal and Triggs (2005)",
    advice="run python -m experiments data fetch inria_person where ftp.inrialpes.fr can be "
    "reached (1 GB), or put INRIAPerson.tar into the folder inria_person/ of "
    "COST_AWARE_BOOSTING_MIRROR.",
    forms=(
        Form(
            filename="INRIAPerson.tar",
            reader="whole",
            size=1_016_094_720,
            urls=("ftp://ftp.inrialpes.fr/pub/lear/douze/data/INRIAPerson.tar",),
        ),
        Form(
            filename="inria_train_windows_64x128.tar",
            reader="part",
            sha256="19cdae1a492f9392e0d7c6b0cedb849cca32ff2c2d13d3e1cf920fe98a55374f",
            size=34_703_360,
        ),
    ),
)


def _real_images(request: Request) -> ImageSet:
    archive = find(FILE)
    reader = archive.form.reader
    decode = {"whole": _decode_whole, "part": _decode_part}[reader]
    digest = archive.sha256 or f"{archive.path.stat().st_size}bytes"
    key = f"{reader}-v1-{digest[:16]}"
    arrays, facts = decoded("inria_person", key, lambda out: decode(archive.path, out))
    rows = {part: slice(None) for part in ("train", "test")}
    rule = "a third of the pictures tests, the same for all seeds; persons with their reflections"
    if reader == "whole":
        n_windows = 1 if request.scale == "laptop" else PER_PICTURE
        rows = {part: slice(facts[part][0] + n_windows * facts[part][1]) for part in rows}
        rule = f"the official parts; {n_windows} of the windows without persons from each picture"
    labels = {part: arrays[f"y_{part}"][rows[part]].astype(np.int64) for part in rows}
    n_valid = len(labels["train"]) // VALID_SHARE
    counts = ", ".join(
        f"{part} {y.sum()} with and {(y == 0).sum()} without persons" for part, y in labels.items()
    )
    return ImageSet(
        name="inria_person",
        train=arrays["train"][rows["train"]],
        y_train=labels["train"],
        test=arrays["test"][rows["test"]],
        y_test=labels["test"],
        n_valid=n_valid,
        provenance={
            "source": archive.source,
            "files": [archive.record()],
            "missing": MISSING[reader],
            "split_rule": f"{rule} ({counts}); {n_valid} of the training windows validate",
        },
    )


# --- the part ------------------------------------------------------------------------------------


def _decode_part(archive: Path, out: Path) -> None:
    """Write the windows of both sides, persons first, then their reflections, then the others."""
    by_name = {}
    for name, picture in pictures(archive, _is_part):
        check_size(f"{archive}, {name}", picture, HEIGHT, WIDTH)
        by_name[name] = picture
    if len({name.split("/")[0] for name in by_name}) != 2:
        raise PictureError(f"{archive}: windows with persons, or those without, are missing")
    by_name = without_reflections({name: by_name[name] for name in sorted(by_name)})
    test = windows_that_test(by_name)
    for part, wanted in (("train", False), ("test", True)):
        chosen = [name for name in by_name if (name in test) == wanted]
        with_person = np.array([by_name[name] for name in chosen if name.startswith("positive/")])
        without = np.array([by_name[name] for name in chosen if name.startswith("negative/")])
        windows = (with_person, with_person[:, :, ::-1], without)
        np.save(out / f"{part}.npy", np.concatenate(windows))
        labels = np.repeat([1, 0], [2 * len(with_person), len(without)])
        np.save(out / f"y_{part}.npy", labels.astype(np.uint8))


def _is_part(name: str) -> bool:
    return re.fullmatch(r"(positive|negative)/[^/]+\.(png|jpg)", name) is not None


def without_reflections(windows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Leave out a person's window that is the reflection of another one."""
    kept, seen = {}, set()
    for name, window in windows.items():
        if name.startswith("positive/"):
            if window.tobytes() in seen:
                continue
            seen.add(window[:, ::-1].tobytes())
        kept[name] = window
    return kept


def windows_that_test(windows: dict[str, np.ndarray]) -> set[str]:
    """Draw the windows that test: a third of the pictures of either kind, whole."""
    scene = {picture_of(name): picture_of(name) for name in windows}
    first = {}
    for name in sorted(windows):
        own = scene[picture_of(name)]
        same = scene[first.setdefault(windows[name].tobytes(), picture_of(name))]
        if same != own:  # two pictures with the same window are one scene
            scene |= {picture: same for picture, current in scene.items() if current == own}
    rng, test = split_generator("inria_person", 0), set()
    for kind in ("positive/", "negative/"):
        scenes = sorted({scene[picture_of(name)] for name in windows if name.startswith(kind)})
        test |= {scenes[i] for i in rng.permutation(len(scenes))[: len(scenes) // TEST_SHARE]}
    return {name for name in windows if scene[picture_of(name)] in test}


def picture_of(name: str) -> str:
    """Give the picture that a window was cut from, by its name.

    Windows of one picture with persons differ in the last letter (``crop001001a``,
    ``crop001001c``); without persons each picture has one window.
    """
    stem = str(PurePosixPath(name).with_suffix(""))
    return stem[:-1] if name.startswith("positive/") and stem[-1].isalpha() else stem


# --- the whole set -------------------------------------------------------------------------------


def _decode_whole(archive: Path, out: Path) -> dict[str, list[int]]:
    """Write the official windows: persons, then window 0 of every other picture, then window 1...

    Returns the numbers of windows with persons and of pictures without for each part.
    """
    facts = {}
    for part, margin in MARGINS.items():
        names = {label: names_of(archive, _is_in(part, label)) for label in (1, 0)}
        for label, members in names.items():
            if len(members) < LEAST[part, label]:
                raise PictureError(
                    f"{archive}: {len(members)} pictures in INRIAPerson/{FOLDERS[part, label]}, "
                    f"at least {LEAST[part, label]} expected"
                )
        n_with, n_without = len(names[1]), len(names[0])
        shape = (n_with + PER_PICTURE * n_without, HEIGHT, WIDTH, 3)
        windows = new_array(out / f"{part}.npy", np.uint8, shape)
        place = {name: i for i, name in enumerate(names[1])}
        for name, picture in pictures(archive, _is_in(part, 1)):
            check_size(f"{archive}, {name}", picture, HEIGHT + 2 * margin, WIDTH + 2 * margin)
            windows[place[name]] = picture[margin:-margin, margin:-margin]
        place = {name: n_with + i for i, name in enumerate(names[0])}
        for name, picture in pictures(archive, _is_in(part, 0)):
            for k, window in enumerate(drawn_windows(f"{archive}, {name}", picture)):
                windows[place[name] + k * n_without] = window
        windows.flush()
        labels = np.repeat([1, 0], [n_with, PER_PICTURE * n_without]).astype(np.uint8)
        np.save(out / f"y_{part}.npy", labels)
        facts[part] = [n_with, n_without]
    return facts


def _is_in(part: str, label: int) -> Callable[[str], bool]:
    pattern = re.compile(
        rf"(\./)?INRIAPerson/{FOLDERS[part, label]}/[^/.][^/]*\.(png|jpg)", re.IGNORECASE
    )
    return lambda name: pattern.fullmatch(name) is not None


def drawn_windows(name: str, picture: np.ndarray) -> list[np.ndarray]:
    """Draw windows from a picture without persons."""
    down, right = picture.shape[0] - HEIGHT, picture.shape[1] - WIDTH
    if down < 0 or right < 0:
        raise PictureError(
            f"{name}: {picture.shape[0]}×{picture.shape[1]} pixels, a window is {HEIGHT}×{WIDTH}"
        )
    rng = split_generator(f"inria_person {name.rsplit('/', 1)[-1]}", 0)
    rows = rng.integers(0, down + 1, PER_PICTURE)
    columns = rng.integers(0, right + 1, PER_PICTURE)
    return [picture[r : r + HEIGHT, c : c + WIDTH] for r, c in zip(rows, columns, strict=True)]


SPEC = ImageSpec(
    name="inria_person",
    task="binary",
    title="INRIA Person, colour windows of 128×64",
    citation="Dalal and Triggs, CVPR (2005)",
    terms=FILE.terms,
    shape="2,416 + 1,126 windows with persons, 1,218 + 453 pictures without, 24,576 values; as a "
    "table 512 features, 2 classes",
    split_rule="the official parts; where only training windows are there, a third of the pictures "
    "tests; a fifth of the training windows validate",
    cost_rule="uniform, 1 per block of 4×4 pixels",
    real_images=_real_images,
    draw=SYNTHETIC.draw,
    sizes=(1_940, 485, 1_210),  # about as many as the mirror's part has
    smoke_sizes=(60, 20, 60),
    table=partial(coarse_table, block=BLOCK, task="binary"),
    image_shape=(HEIGHT, WIDTH, 3),
    families="datasets.features.nineteen",
    paper_features=230_503,
    files=(FILE,),
    missing="nothing from the official address; a mirror may hold training windows only",
)

images = SPEC.images
