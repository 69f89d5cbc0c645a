"""CBCL faces: archives, bad ones too, and the divisions of the training part."""

import hashlib
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import datasets
from datasets import cbcl, cbcl_windows
from datasets.cbcl_windows import alike, divisions, rows_of
from datasets.errors import ChecksumMismatch, DamagedData
from datasets.images import images_checksum
from datasets.sources.pictures import read_pgm
from tests.datasets.contract import NEEDS_MIRROR
from tests.datasets.face_archives import (
    MIRROR,
    OFFICIAL,
    SIZES,
    contents,
    member,
    official,
    packed,
    pgm,
    whole,
)
from tests.datasets.picture_archives import changed, check_refused, noise, put

# --- the archives --------------------------------------------------------------------------------


def test_windows_are_in_order_of_class_and_name(cache, monkeypatch, few_faces):
    links = {"train/face/zz.pgm": "../../../etc/passwd", "test/face/dir": "/"}
    put(monkeypatch, cache, cbcl_windows, MIRROR, packed(contents() | {"README": b"x"}, links))
    images = cbcl.images(data="real")
    assert isinstance(images.train, np.memmap)
    for part in ("train", "test"):
        np.testing.assert_array_equal(getattr(images, part), few_faces[part])
        expected = np.repeat([1, 0], [SIZES[part, 1], SIZES[part, 0]])
        np.testing.assert_array_equal(getattr(images, f"y_{part}"), expected)
    record = images.provenance
    assert record["checksum"] == images_checksum(images)
    assert "cmu_23000" in record["missing"]
    assert cbcl.images(data="real", seed=3).provenance["checksum"] == record["checksum"]
    loaded = datasets.load_images("cbcl_divided", data="real")
    assert loaded.provenance["checksum"] == record["checksum"]


@pytest.mark.parametrize("make", [official, packed], ids=["nested", "flat"])
def test_official_archive_has_one_window_more(cache, monkeypatch, few_faces, make):
    put(monkeypatch, cache, cbcl_windows, OFFICIAL, make(whole()))
    images = cbcl.images(data="real")
    assert images.provenance["missing"] == "nothing"
    np.testing.assert_array_equal(images.train, few_faces["train"])
    np.testing.assert_array_equal(images.test[:-1], few_faces["test"])  # by name it is the last one
    np.testing.assert_array_equal(images.test[-1], noise(99, 19, 19))


@pytest.mark.parametrize("filename", [MIRROR, OFFICIAL])
def test_other_pixels_are_not_this_set(cache, monkeypatch, few_faces, filename):
    found = whole() if filename == OFFICIAL else contents()
    found[member("train", 0, 5)] = pgm(noise(1234, 19, 19))
    put(monkeypatch, cache, cbcl_windows, filename, packed(found))
    check_refused(cbcl.images, cache / "cbcl", "pixels of train/", ChecksumMismatch)


def test_comment_in_a_header_is_passed_over():
    picture = noise(0, 19, 19)
    np.testing.assert_array_equal(
        read_pgm("a", pgm(picture, b"# made by hand\n"), (19, 19)), picture
    )


def cut_inside(found: dict[str, bytes]) -> bytes:
    inner = packed({k: v for k, v in found.items() if k.startswith("train")})
    return packed({"faces/face.train.tar.gz": inner[:-300], "faces/face.test.tar.gz": inner})


def bomb(found: dict[str, bytes]) -> bytes:
    """An archive that unpacks to more than it may, which the test makes 4 MB."""
    return packed({"train/face/other.txt": bytes(2**23), **found})


NAME = member("train", 1, 3)
GOOD = pgm(noise(0, 19, 19))


def with_picture(content: bytes | None):
    """Replace or remove one picture."""
    return lambda found: packed(changed(found, {NAME: content}))


DAMAGE = {
    "size": (with_picture(pgm(noise(0, 19, 20))), f"{NAME}: 19×20 pixels .*expected 19×19"),
    "huge": (with_picture(b"P5 99999 99999 255\n" + bytes(361)), f"{NAME}: 99999×99999 pixels"),
    "depth": (with_picture(GOOD.replace(b"255", b"65535")), f"{NAME}: grey levels up to 65535"),
    "short": (with_picture(GOOD[:-1]), f"{NAME}: 360 bytes of pixels, expected 361"),
    "long": (with_picture(GOOD + b"x"), f"{NAME}: 362 bytes of pixels"),
    "text": (with_picture(b"P2\n19 19\n255\n" + b"0 " * 361), f"{NAME}: no binary PGM"),
    "page": (with_picture(b"<html>"), f"{NAME}: no binary PGM"),
    "bytes": (with_picture(GOOD + bytes(5000)), f"{NAME}: 5,374 bytes, at most 4,096"),
    "no content": (with_picture(b""), f"{NAME}: no binary PGM"),
    "cut": (lambda found: packed(found)[:-400], "damaged or incomplete archive"),
    "no archive": (lambda found: b"<html>" * 400, "damaged or incomplete archive"),
    "cut inside": (cut_inside, "damaged or incomplete archive"),
    "bomb": (bomb, "bytes unpacked; nothing is kept"),
    "bomb inside": (
        lambda found: packed({"faces/face.train.tar.gz": bomb(found)}),
        "bytes unpacked; nothing is kept",
    ),
    "missing": (with_picture(None), "11 pictures in train/face, 12 expected"),
    "twice": (lambda found: packed(found | {f"again/{NAME}": found[NAME]}), "0003.pgm is there tw"),
    "empty": (lambda found: packed({}), "0 pictures in train/face"),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("filename", [MIRROR, OFFICIAL])
def test_damaged_archive_is_named(cache, monkeypatch, few_faces, filename, damage):
    change, message = DAMAGE[damage]
    monkeypatch.setattr(cbcl_windows, "LIMIT", 2**22)
    put(monkeypatch, cache, cbcl_windows, filename, change(contents()))
    check_refused(cbcl.images, cache / "cbcl", f"{filename}.*{message}", DamagedData)


# --- the divisions -------------------------------------------------------------------------------


def test_alike_windows_are_found():
    rng = np.random.default_rng(0)
    windows = rng.integers(50, 200, (40, 19, 19)).astype(np.float64)
    windows[7] = 0.5 * windows[3] + 20  # another contrast: correlation 1
    windows[9] = windows[7] + rng.normal(0, 8, (19, 19))  # alike by way of 7 or 3
    windows[20] = windows[3]  # alike, but of the other class
    windows[30] = 255 - windows[25]  # opposite
    windows[[11, 14]] = 77  # constant, the same
    windows[16] = 78  # constant, another one
    pictures = np.rint(np.clip(windows, 0, 255)).astype(np.uint8)
    labels = np.repeat([1, 0], 20)
    expected = np.arange(40)
    expected[[7, 9]], expected[14] = 3, 11
    np.testing.assert_array_equal(alike(pictures, labels), expected)
    small = np.corrcoef(pictures[[3, 7, 9]].reshape(3, -1))
    assert small.min() > cbcl_windows.ALIKE


def test_alike_is_what_the_correlation_says():
    rng = np.random.default_rng(1)
    base = rng.integers(0, 256, (30, 1, 361))
    windows = (base + rng.normal(0, 24, (30, 4, 361))).clip(0, 255).astype(np.uint8)
    windows = windows.reshape(-1, 19, 19)
    linked = np.corrcoef(windows.reshape(120, -1)) >= cbcl_windows.ALIKE
    group = np.arange(120)
    for _ in range(120):  # the least number spreads along links
        group = np.array([group[row].min() for row in linked])
    assert 30 < len(np.unique(group)) < 120
    np.testing.assert_array_equal(alike(windows, np.zeros(120)), group)


def test_divisions_are_even_and_keep_groups():
    rng = np.random.default_rng(2)
    labels = np.repeat([1, 0], [400, 600])
    group = np.where(labels == 1, rng.integers(0, 150, 1000), rng.integers(200, 700, 1000))
    fold = divisions(group, labels)
    for leader in np.unique(group):
        assert len(np.unique(fold[group == leader])) == 1
    for label in (0, 1):
        assert np.ptp(np.bincount(fold[labels == label], minlength=5)) <= 1
    np.testing.assert_array_equal(divisions(group, labels), fold)
    digest = hashlib.sha256(divisions(np.arange(100), np.repeat([1, 0], 50)).tobytes())
    assert digest.hexdigest() == FROZEN_DIVISIONS


FROZEN_DIVISIONS = "8c87e78cb1b7aa7fb6ff86f7ff916e08d265364a5e23e3f77c723a70292a0422"


def test_repetitions_from_five_on_divide_anew():
    rng = np.random.default_rng(4)
    labels = np.repeat([1, 0], [100, 150])
    group = np.where(labels == 1, rng.integers(0, 40, 250), rng.integers(50, 120, 250))
    fold = divisions(group, labels)
    first = [rows_of(fold, group, labels, seed, 2)[1] for seed in range(5)]
    for start in (5, 10):
        parts = [rows_of(fold, group, labels, seed, 2) for seed in range(start, start + 5)]
        tested = [test for _, test, _ in parts]
        assert sorted(np.concatenate(tested)) == list(range(250))
        assert not any(np.array_equal(test, other) for test in tested for other in first)
        for k, (train, test, valid) in enumerate(parts):
            assert sorted(np.concatenate((train, test, valid))) == list(range(250))
            np.testing.assert_array_equal(valid, tested[(k + 1) % 5])
            assert not set(group[test]) & set(group[np.concatenate((train, valid))])
        first += tested


# --- real data -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The real windows, decoded once for the tests of this file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield cbcl.images(data="real")


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_windows_are_those_of_the_archive(real):
    """Against another reader: Python's tar files without our bounds, and Pillow."""
    archive = Path(cbcl_windows.find(cbcl_windows.FILE).path)
    read = {}
    with tarfile.open(archive) as content:
        for info in content.getmembers():
            if info.name.endswith(".pgm"):
                with Image.open(content.extractfile(info)) as picture:
                    read[info.name] = np.array(picture)
    for part, n_faces, n_others in (("train", 2_429, 4_548), ("test", 472, 23_572)):
        labels, windows = getattr(real, f"y_{part}"), getattr(real, part)
        assert (labels[:n_faces] == 1).all()
        assert (labels[n_faces:] == 0).all()
        assert len(labels) == n_faces + n_others
        for kind, label in (("face", 1), ("non-face", 0)):
            names = sorted(name for name in read if name.startswith(f"{part}/{kind}/"))
            expected = np.array([read[name] for name in names])
            np.testing.assert_array_equal(windows[labels == label], expected)


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_duplicates_lie_on_one_side(real, tmp_path, monkeypatch):
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path))
    arrays, _ = cbcl_windows.windows()
    fold, groups = arrays["fold"], {}
    for i, picture in enumerate(real.train):
        groups.setdefault(picture.tobytes(), []).append(i)
    same = sorted((group for group in groups.values() if len(group) > 1), key=len)
    assert [len(group) for group in same] == [2, 2, 2, 18]
    assert all(len(set(fold[group])) == 1 for group in same)
    assert (real.train[same[-1]].reshape(18, -1).std(axis=1) == 0).all()
    for label in (0, 1):
        assert np.ptp(np.bincount(fold[real.y_train == label])) <= 1
    # No window has a twin of its class in another division.
    faces = real.train[real.y_train == 1].reshape(2_429, -1)
    correlation = np.corrcoef(faces)
    apart = fold[:2_429, None] != fold[None, :2_429]
    assert correlation[apart].max() < cbcl_windows.ALIKE
    assert correlation[~apart & ~np.eye(2_429, dtype=bool)].max() > 0.99
