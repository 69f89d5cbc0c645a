"""Daimler's pedestrians: the official archive, INRIA's windows in their place, synthetic ones."""

from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import daimler_pedestrians as daimler
from datasets import inria_person
from datasets.features.faces import haar_columns
from datasets.resizing import resized
from datasets.sources.archives import TooLarge
from datasets.sources.pictures import PictureError
from tests.datasets import test_inria_person
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.face_archives import pgm
from tests.datasets.picture_archives import changed, check_refused, noise, put, tar

ARCHIVE = "DC-ped-dataset_base.tar.gz"
COUNTS = {1: 3, 0: 4}


def member(part: str, label: int, i: int) -> str:
    kind = {1: "ped_examples", 0: "non-ped_examples"}[label]
    return f"DC-ped-dataset_base/{part}/{kind}/img_{i:05d}.pgm"


def official() -> dict[str, bytes]:
    """Seven windows in each of five parts, in no order."""
    found = {"DC-ped-dataset_base/readme.txt": b"read me"}
    for p, part in reversed(list(enumerate(daimler.PARTS))):
        for label, n in COUNTS.items():
            for i in reversed(range(n)):
                found[member(part, label, i)] = pgm(noise(100 * p + 10 * label + i, 36, 18))
    return found


@pytest.fixture
def few(monkeypatch):
    """Expect the few windows of :func:`official`."""
    monkeypatch.setattr(daimler, "COUNTS", COUNTS)


# --- the official archive ------------------------------------------------------------------------


def test_official_parts_are_the_divisions(cache, monkeypatch, few):
    put(monkeypatch, cache, daimler, ARCHIVE, tar(official(), "w:gz"))
    images, columns = daimler.images(data="real"), daimler.columns(data="real")
    assert images.train.shape == (35, 36, 18)
    assert columns.fold.tolist() == np.repeat(range(5), 7).tolist()
    assert columns.y.tolist() == [1, 1, 1, 0, 0, 0, 0] * 5
    np.testing.assert_array_equal(images.train[7 * 3 + 2], noise(312, 36, 18))
    np.testing.assert_array_equal(images.train[7 * 4 + 3], noise(400, 36, 18))
    np.testing.assert_array_equal(columns.columns, haar_columns.computed(images.train))
    for seed in (0, 4):
        data = datasets.load("daimler_pedestrians", data="real", seed=seed)
        check_contract(data)
        np.testing.assert_array_equal(data.X_test, columns.columns[:, columns.fold == seed].T)
    record = data.provenance
    assert (record["title"], record["missing"]) == ("Daimler pedestrians", "nothing")
    assert record["split_rule"].startswith("the five official parts")
    assert (data.n_features, data.cost_unit) == (2000, "features")


PLACE = member("T1", 0, 2)
GOOD = pgm(noise(0, 36, 18))
DOUBLED = {f"other/{member('3', 1, 1)}": GOOD}
HUGE = {member("1", 0, 1): b"P5" + bytes(daimler.LARGEST)}
WRONG = {
    "size": ({PLACE: pgm(noise(0, 18, 36))}, f"{PLACE}: 18×36 pixels .*expected 36×18"),
    "cut": ({PLACE: GOOD[:-1]}, f"{PLACE}: 647 bytes of pixels, expected 648"),
    "long": ({PLACE: GOOD + b"x"}, f"{PLACE}: 649 bytes of pixels"),
    "text": ({PLACE: b"<html>"}, f"{PLACE}: no binary PGM file"),
    "depth": ({PLACE: GOOD.replace(b"255", b"254", 1)}, f"{PLACE}: grey levels up to 254"),
    "not whole": ({member("2", 1, 0): None}, "2 windows of class 1 in part 2, 3 expected"),
    "twice": (DOUBLED, "is there twice"),
    "huge": (HUGE, "bytes, at most"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_archive_is_named_and_stops(cache, monkeypatch, few, wrong):
    change, message = WRONG[wrong]
    put(monkeypatch, cache, daimler, ARCHIVE, tar(changed(official(), change), "w:gz"))
    kind = TooLarge if wrong == "huge" else PictureError
    check_refused(daimler.images, cache / "daimler_pedestrians", message, kind)


def test_cut_archive_is_named(cache, monkeypatch, few):
    put(monkeypatch, cache, daimler, ARCHIVE, tar(official(), "w:gz")[:-500])
    check_refused(daimler.images, cache / "daimler_pedestrians", "damaged or incomplete")


def test_links_are_passed_over(cache, monkeypatch, few):
    links = {member("1", 1, 9): "/etc/passwd"}
    put(monkeypatch, cache, daimler, ARCHIVE, tar(official(), "w:gz", links))
    assert len(daimler.images(data="real").train) == 35


# --- INRIA Person in their place -----------------------------------------------------------------


@pytest.fixture
def inria(unreachable, monkeypatch):
    """No way to Daimler's archive, a few of INRIA's windows in the cache."""
    found = test_inria_person.windows()
    content = tar(test_inria_person.files(found))
    put(monkeypatch, unreachable, inria_person, test_inria_person.PART, content)
    monkeypatch.setattr(daimler, "BLOCK", 2)


def test_inria_takes_the_place_and_says_so(inria):
    data = datasets.load("daimler_pedestrians", data="real")
    check_contract(data)
    record = data.provenance
    assert record["kind"] == "real"
    assert record["title"] == "INRIA Person at 36×18, in place of Daimler pedestrians"
    assert "all of Daimler's windows" in record["missing"]
    assert "the official test windows" in record["missing"]
    assert (record["citation"], record["files"][0]["file"]) == (
        "Dalal and Triggs, CVPR (2005)",
        test_inria_person.PART,
    )
    images = daimler.images(data="real")
    theirs = inria_person.images(data="real")
    assert np.bincount(images.y_train).tolist() == [9, 36]
    grey = np.rint(theirs.train[0] @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)
    np.testing.assert_allclose(images.train[0], resized(grey[None], (36, 18))[0], atol=1)


def test_reflections_stay_together(inria):
    columns, images = daimler.columns(data="real"), daimler.images(data="real")
    place = {picture.tobytes(): i for i, picture in enumerate(images.train)}
    persons = np.flatnonzero(images.y_train == 1)
    for i in persons:
        twin = place[np.ascontiguousarray(images.train[i, :, ::-1]).tobytes()]
        assert columns.fold[twin] == columns.fold[i]
    assert len(np.unique(columns.fold)) == 5


def test_groups_of_neighbours_and_reflections():
    windows, labels = noise(3, 60, 36, 18), np.repeat([1, 0], [32, 28])
    windows[16:32] = windows[:16, :, ::-1]
    windows[50] = windows[35, :, ::-1]
    group = daimler.groups(windows, labels)
    expected = np.r_[np.zeros(32), np.repeat([32, 48], [16, 12])]
    expected[50] = 32
    np.testing.assert_array_equal(group, expected)


def test_damaged_archive_is_no_reason_for_inria(inria, cache, monkeypatch):
    form = replace(daimler.FILE.forms[0], sha256="0" * 64)
    monkeypatch.setattr(daimler, "FILE", replace(daimler.FILE, forms=(form,)))
    folder = cache / "daimler_pedestrians"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ARCHIVE).write_bytes(b"another file")
    with pytest.raises(datasets.ChecksumMismatch, match="DC-ped"):
        datasets.load("daimler_pedestrians", data="real")


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_windows(cache):
    columns, images = daimler.columns(data="real"), daimler.images(data="real")
    if columns.provenance["title"] != daimler.TITLES["inria"]:
        assert np.bincount(columns.y).tolist() == [25_000, 24_000]
        return
    assert np.bincount(columns.y).tolist() == [1218, 2416]
    place = {}
    for i, picture in enumerate(images.train):
        place.setdefault(picture.tobytes(), i)
    for i in np.flatnonzero(columns.y == 1):
        twin = place[np.ascontiguousarray(images.train[i, :, ::-1]).tobytes()]
        assert columns.fold[twin] == columns.fold[i]
    for label in (1, 0):
        assert np.ptp(np.bincount(columns.fold[columns.y == label])) <= 2 * daimler.BLOCK
