"""Caltech-101: the official archives, a mirror's part, and the synthetic set."""

import hashlib

import numpy as np
import pytest

import datasets
from datasets import caltech101
from datasets.images import images_checksum
from datasets.sources.pictures import decode, resized
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.picture_archives import (
    changed,
    check_refused,
    noise,
    packed,
    put,
    tar,
    zipped,
)

PART, TAR, ZIP = "101_ObjectCategories_part.tar", "101_ObjectCategories.tar.gz", "caltech-101.zip"
COUNTS = {"Faces": 41, "ant": 31, "wrench": 33}
ROOT = "101_ObjectCategories"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Three categories."""
    monkeypatch.setattr(caltech101, "N_CLASSES", len(COUNTS))


def contents(counts: dict[str, int] = COUNTS) -> dict[str, bytes]:
    """Pictures of different sizes and one grey one, in no order."""
    found = {}
    for k, (category, n) in enumerate(reversed(counts.items())):
        for i in range(n):
            shape = (30 + i, 50 - i, 3) if i else (40, 40)
            found[f"{ROOT}/{category}/image_{i + 1:04d}.jpg"] = packed(
                noise(100 * k + i, *shape), "jpg", quality=90
            )
    return found


def first(n: int) -> dict[str, bytes]:
    return contents(dict.fromkeys(COUNTS, n))


EXTRA = {f"{ROOT}/BACKGROUND_Google/image_0001.jpg": b"x", f"{ROOT}/BACKGROUND_Google/tmp": b"x"}


def archive(filename: str, found: dict[str, bytes]) -> bytes:
    if filename == PART:
        return tar(found)
    inner = tar(found, "w:gz")
    return zipped({f"caltech-101/{TAR}": inner, "x/._" + TAR: b"x"}) if filename == ZIP else inner


@pytest.mark.parametrize("filename", [PART, TAR, ZIP])
def test_pictures_are_divided_within_categories(cache, monkeypatch, filename):
    found = first(30) if filename == PART else contents() | EXTRA
    put(monkeypatch, cache, caltech101, filename, archive(filename, found))
    images = caltech101.images(data="real")
    assert isinstance(images.train, np.memmap)
    assert images.train.shape == images.test.shape == (45, 128, 128, 3)
    assert images.y_train.tolist() == images.y_test.tolist() == [0] * 15 + [1] * 15 + [2] * 15
    names = {
        resized(decode(name, content), 128, 128).tobytes(): name
        for name, content in found.items()
        if "BACKGROUND" not in name
    }
    chosen = [names[picture.tobytes()] for picture in (*images.train, *images.test)]
    assert len(set(chosen)) == 90
    assert max(int(name[-8:-4]) for name in chosen) == 30
    labels = [*images.y_train, *images.y_test]
    assert [name.split("/")[1] for name in chosen] == [sorted(COUNTS)[c] for c in labels]
    digest = hashlib.sha256("".join(name[-8:-4] for name in chosen).encode()).hexdigest()
    assert digest.startswith("b957471afe8ba22b")  # the same from every archive
    assert images.provenance["checksum"] == images_checksum(images)
    paper = caltech101.images(data="real", scale="paper")
    np.testing.assert_array_equal(paper.train, images.train)
    np.testing.assert_array_equal(paper.test[:45], images.test)
    assert images.provenance["source"] == "cache"
    whole = filename != PART
    assert np.bincount(paper.y_test).tolist() == ([20, 16, 18] if whole else [15] * 3)
    assert ("up to 5 drawn from the rest" in paper.provenance["split_rule"]) == whole
    assert (images.provenance["missing"] == "nothing") == whole
    later = {names[picture.tobytes()] for picture in paper.test[45:]}
    assert len(later) == len(paper.test) - 45
    assert all(int(name[-8:-4]) > 30 for name in later)


def test_table_of_blocks(cache, monkeypatch):
    put(monkeypatch, cache, caltech101, PART, tar(first(30)))
    data = datasets.load("caltech101", data="real", seed=2)
    check_contract(data)
    images = caltech101.images(data="real")
    assert (data.n_features, len(data.y_valid)) == (1024, 9)
    column = data.feature_names.index("grey_2_31")
    np.testing.assert_allclose(data.X_test[3, column], images.test[3, 8:12, 124:].mean())


# --- bad input -----------------------------------------------------------------------------------

NAME = f"{ROOT}/ant/image_0007.jpg"
WRONG = {
    "cut": ({NAME: packed(noise(0, 90, 90, 3), "jpg")[:-900]}, f"{NAME}: damaged .*truncated"),
    "empty": ({NAME: b""}, f"{NAME}: damaged or no PNG or JPEG"),
    "text": ({NAME: b"<html>please log in"}, f"{NAME}: damaged or no PNG or JPEG"),
    "too many categories": ({f"{ROOT}/bat/image_0001.jpg": b""}, ": 4 categories, 3 expected"),
    "too few pictures": ({NAME: None}, "29 pictures of ant, at least 30 expected"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_archive_is_named_and_stops(cache, monkeypatch, wrong):
    change, message = WRONG[wrong]
    put(monkeypatch, cache, caltech101, PART, tar(changed(first(30), change)))
    check_refused(caltech101.images, cache / "caltech101", f"{PART}.*{message}")


def test_cut_archive_is_named(cache, monkeypatch):
    put(monkeypatch, cache, caltech101, ZIP, archive(ZIP, contents())[:-5000])
    message = r"caltech-101\.zip: damaged or incomplete archive"
    check_refused(caltech101.images, cache / "caltech101", message)


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_caltech101(cache, monkeypatch):
    monkeypatch.setattr(caltech101, "N_CLASSES", 101)
    images = caltech101.images(data="real")
    assert np.bincount(images.y_train).tolist() == [15] * 101
    assert np.bincount(images.y_test).tolist() == [15] * 101
    pixels = {picture.tobytes() for picture in (*images.train, *images.test)}
    assert len(pixels) > 3000  # nearly all differ
