"""INRIA Person: the part of a mirror, the official archive, and the synthetic set."""

import numpy as np
import pytest

import datasets
from datasets import inria_person
from datasets.images import images_checksum
from datasets.inria_person import drawn_windows, windows_that_test
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.picture_archives import (
    changed,
    check_refused,
    noise,
    packed,
    put,
    tar,
)

PART, WHOLE = "inria_train_windows_64x128.tar", "INRIAPerson.tar"


def persons() -> dict[str, np.ndarray]:
    """Twelve pictures of one or two persons."""
    found = {f"positive/crop{i:03d}a.png": noise(i, 128, 64, 3) for i in range(12)}
    more = {f"positive/crop{i:03d}c.png": noise(50 + i, 128, 64, 3) for i in range(0, 12, 2)}
    return found | more


def windows() -> dict[str, np.ndarray]:
    """The persons, and nine pictures without."""
    return persons() | {f"negative/{i:03d}a.png": noise(100 + i, 128, 64, 3) for i in range(9)}


def files(found: dict[str, np.ndarray]) -> dict[str, bytes]:
    return {name: packed(window) for name, window in found.items()}


def rows_of(images: np.ndarray, found: dict[str, np.ndarray]) -> list[str]:
    """Name each window, with a ~ if it is reflected."""
    names = {window.tobytes(): name for name, window in found.items()}
    names |= {window[:, ::-1].tobytes(): f"{name}~" for name, window in found.items()}
    return [names[np.ascontiguousarray(window).tobytes()] for window in images]


def test_part_is_divided_by_picture_with_reflections(cache, monkeypatch):
    found = windows()
    put(monkeypatch, cache, inria_person, PART, tar(files(found)))
    images = inria_person.images(data="real")
    assert isinstance(images.train, np.memmap)
    parts = {"train": rows_of(images.train, found), "test": rows_of(images.test, found)}
    assert len(set(parts["train"]) | set(parts["test"])) == 18 * 2 + 9  # each once
    assert len(parts["train"]) + len(parts["test"]) == 18 * 2 + 9
    pictures = {}
    for part, names in parts.items():
        labels = getattr(images, f"y_{part}")
        assert [name.startswith("positive") for name in names] == labels.astype(bool).tolist()
        pictures[part] = {inria_person.picture_of(name.rstrip("~")) for name in names}
        assert (labels == 0).sum() == {"train": 6, "test": 3}[part]
    assert not pictures["train"] & pictures["test"]
    assert len(pictures["test"]) == 4 + 3
    record = images.provenance
    assert record["checksum"] == images_checksum(images)
    assert record["missing"].startswith("the official test windows")
    assert "a third of the pictures tests" in record["split_rule"]
    assert inria_person.images(data="real", seed=5).provenance["checksum"] == record["checksum"]
    data = datasets.load("inria_person", data="real", seed=1)
    check_contract(data)
    assert (data.task, data.n_features) == ("binary", 512)
    np.testing.assert_allclose(data.X_test[0, 17], images.test[0, 4:8, 4:8].mean())
    train, valid = images.split(1)
    np.testing.assert_array_equal(data.y_valid, images.y_train[valid])
    np.testing.assert_allclose(data.X_train[-1, -1], images.train[train[-1], -4:, -4:].mean())


def test_window_that_is_a_reflection_is_left_out(cache, monkeypatch):
    found = windows()
    twin = {"positive/crop003d.png": found["positive/crop003a.png"][:, ::-1]}
    put(monkeypatch, cache, inria_person, PART, tar(files(found | twin)))
    images = inria_person.images(data="real")
    assert len(images.train) + len(images.test) == 18 * 2 + 9


def test_pictures_with_the_same_window_stay_together():
    found = windows()
    chain = ["negative/000a.png", "negative/004a.png", "negative/008a.png", "negative/002a.png"]
    for name in chain:
        found[name] = found[chain[0]]
    found["positive/crop011a.png"] = found["positive/crop000c.png"]
    test = windows_that_test(found)
    assert len({name in test for name in chain}) == 1
    assert len({f"positive/crop{name}.png" in test for name in ("011a", "000a", "000c")}) == 1
    pictures = {name for name in test if name.startswith("negative/")}
    assert len(pictures) in (2, 5)  # 2 of 6 scenes


def test_division_is_frozen():
    found = windows()
    test = windows_that_test(found)
    assert test == windows_that_test(dict(reversed(found.items())))
    assert sorted({inria_person.picture_of(name) for name in test}) == [
        *("negative/003a", "negative/006a", "negative/008a"),
        *("positive/crop001", "positive/crop002", "positive/crop005", "positive/crop006"),
    ]


# --- the official archive ------------------------------------------------------------------------


def official() -> dict[str, bytes]:
    """Six and four windows with persons, three and two pictures without."""
    contents = {}
    for i in range(6):
        contents[f"INRIAPerson/96X160H96/Train/pos/crop{i}a.png"] = packed(noise(i, 160, 96, 3))
    for i in range(4):
        contents[f"INRIAPerson/70X134H96/Test/pos/crop{i}a.png"] = packed(noise(10 + i, 134, 70, 3))
    for part, n, first in (("Train", 3, 20), ("Test", 2, 30)):
        for i in range(n):
            picture = noise(first + i, 150 + i, 128, 3)
            contents[f"INRIAPerson/{part}/neg/{i}.png"] = packed(picture)
        contents[f"INRIAPerson/{part}/pos/whole.png"] = packed(noise(40, 300, 200, 3))
    return contents


LINKS = {"INRIAPerson/train_64x128_H96/pos": "../96X160H96/Train/pos", "INRIAPerson/up": "../../x"}


@pytest.fixture
def few(monkeypatch):
    """Expect the few pictures of :func:`official`."""
    least = {("train", 1): 6, ("train", 0): 3, ("test", 1): 4, ("test", 0): 2}
    monkeypatch.setattr(inria_person, "LEAST", least)


def test_official_archive(cache, monkeypatch, few):
    put(monkeypatch, cache, inria_person, WHOLE, tar(official(), links=LINKS))
    paper = inria_person.images(data="real", scale="paper")
    assert (len(paper.train), len(paper.test)) == (6 + 30, 4 + 20)
    assert paper.y_train.tolist() == [1] * 6 + [0] * 30
    assert paper.y_test.tolist() == [1] * 4 + [0] * 20
    np.testing.assert_array_equal(paper.train[2], noise(2, 160, 96, 3)[16:144, 16:80])
    np.testing.assert_array_equal(paper.test[3], noise(13, 134, 70, 3)[3:131, 3:67])
    for k, window in enumerate(drawn_windows("1.png", noise(21, 151, 128, 3))):
        np.testing.assert_array_equal(paper.train[6 + 1 + 3 * k], window)
    laptop = inria_person.images(data="real")
    assert (len(laptop.train), len(laptop.test)) == (6 + 3, 4 + 2)
    np.testing.assert_array_equal(laptop.train, paper.train[:9])
    np.testing.assert_array_equal(laptop.test, paper.test[:6])
    assert laptop.provenance["missing"] == "nothing"
    assert "1 of the windows without persons from each" in laptop.provenance["split_rule"]
    assert "10 of the windows without persons from each" in paper.provenance["split_rule"]


def test_windows_lie_inside_their_picture():
    picture = np.arange(130 * 70).reshape(130, 70, 1).repeat(3, axis=2)
    corners = {int(window[0, 0, 0]) for window in drawn_windows("a.png", picture)}
    assert {corner % 70 for corner in corners} <= set(range(7))
    assert {corner // 70 for corner in corners} <= set(range(3))
    assert len(corners) > 3
    again = drawn_windows("elsewhere/a.png", picture)
    assert {int(window[0, 0, 0]) for window in again} == corners
    assert {int(window[0, 0, 0]) for window in drawn_windows("b.png", picture)} != corners


CROP, SCENE = "positive/crop003a.png", "negative/001a.png"
MARGIN, SMALL = "INRIAPerson/96X160H96/Train/pos/crop2a.png", "INRIAPerson/Test/neg/1.png"
WRONG = {
    "size": (PART, {CROP: packed(noise(0, 128, 65, 3))}, f"{CROP}: 128×65 pixels.*128×64"),
    "axes": (PART, {SCENE: packed(noise(0, 64, 128, 3))}, f"{SCENE}: .*expected 128×64"),
    "cut": (PART, {CROP: packed(noise(0, 128, 64, 3))[:-999]}, f"{CROP}: damaged"),
    "text": (PART, {SCENE: b"<html>"}, f"{SCENE}: damaged or no PNG or JPEG"),
    "margin": (WHOLE, {MARGIN: packed(noise(0, 134, 70, 3))}, f"{MARGIN}: 134×70 .*160×96"),
    "small": (WHOLE, {SMALL: packed(noise(0, 127, 64, 3))}, f"{SMALL}: 127×64 .* is 128×64"),
    "not whole": (WHOLE, {"INRIAPerson/Train/neg/2.png": None}, "2 pictures in .*neg, at least 3"),
    "one kind": (PART, dict.fromkeys(windows(), None) | files(persons()), "those without, are mis"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_archive_is_named_and_stops(cache, monkeypatch, few, wrong):
    filename, change, message = WRONG[wrong]
    contents = official() if filename == WHOLE else files(windows())
    put(monkeypatch, cache, inria_person, filename, tar(changed(contents, change)))
    check_refused(inria_person.images, cache / "inria_person", f"{filename}.*{message}")


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_inria_person(cache):
    images = inria_person.images(data="real")
    if "a third of the pictures" in images.provenance["split_rule"]:
        assert np.bincount(images.y_train).tolist() == [810, 1604]
        assert np.bincount(images.y_test).tolist() == [408, 812]
        sides = [{window.tobytes() for window in part} for part in (images.train, images.test)]
        assert not sides[0] & sides[1]
    for part, labels in ((images.train, images.y_train), (images.test, images.y_test)):
        persons = {window.tobytes() for window in part[labels == 1]}
        assert {np.ascontiguousarray(w[:, ::-1]).tobytes() for w in part[labels == 1]} == persons
