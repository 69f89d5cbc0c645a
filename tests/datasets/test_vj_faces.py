"""The faces of 24×24 pixels: files, divisions, tables, and the synthetic set."""

import hashlib

import numpy as np
import pytest
from scipy.io import savemat

import datasets
from datasets import vj_faces
from datasets.cbcl_windows import divisions
from datasets.errors import DamagedData
from datasets.features.faces import haar_columns
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.picture_archives import check_refused, noise, recorded

COUNTS = {"faces": 20, "nonfaces": 31}


def pixels(name: str) -> np.ndarray:
    return noise({"faces": 1, "nonfaces": 2}[name], COUNTS[name], 24, 24)


@pytest.fixture
def few(cache, monkeypatch):
    """Put two small files into the cache; gives a function that replaces one."""
    monkeypatch.setattr(vj_faces, "COUNTS", COUNTS)
    monkeypatch.setattr(vj_faces, "BLOCK", 4)
    (cache / "vj_faces").mkdir(parents=True)

    def put(name: str, content: dict) -> None:
        path = cache / "vj_faces" / f"{name}.mat"
        savemat(path, content)
        files = tuple(
            recorded(raw, path.read_bytes()) if raw.forms[0].filename == path.name else raw
            for raw in vj_faces.FILES
        )
        monkeypatch.setattr(vj_faces, "FILES", files)

    for name in COUNTS:
        put(name, {name: np.moveaxis(pixels(name), 0, -1)})
    return put


def test_windows_in_the_order_of_the_files(few):
    images = vj_faces.images(data="real")
    assert isinstance(images.train, np.memmap)
    np.testing.assert_array_equal(images.train[:20], pixels("faces"))
    np.testing.assert_array_equal(images.train[20:], pixels("nonfaces"))
    assert images.y_train.tolist() == [1] * 20 + [0] * 31
    assert images.test.shape == (0, 24, 24)
    assert [record["file"] for record in images.provenance["files"]] == [
        "faces.mat",
        "nonfaces.mat",
    ]
    assert images.provenance["source"] == "cache"
    same = datasets.load_images("vj_faces", data="real", seed=3)
    assert same.provenance["checksum"] == images.provenance["checksum"]


def test_tables_of_real_windows(few):
    columns = vj_faces.columns(data="real")
    assert isinstance(columns.columns, np.memmap)
    expected = haar_columns.computed(vj_faces.images(data="real").train)
    np.testing.assert_array_equal(columns.columns, expected)
    for seed in (0, 6):
        data = datasets.load("vj_faces", data="real", seed=seed)
        check_contract(data)
        rows = columns.rows(seed)
        for part, numbers in rows.items():
            np.testing.assert_array_equal(getattr(data, f"X_{part}"), expected[:, numbers].T)
            np.testing.assert_array_equal(getattr(data, f"y_{part}"), columns.y[numbers])
        assert sorted(np.concatenate(list(rows.values()))) == list(range(51))
        np.testing.assert_array_equal(rows["valid"], columns.rows(seed + 1)["test"])
    # These few windows are one block of faces and one of others.
    assert len(np.unique(columns.group)) == 2
    assert (data.feature_costs == 1).all()
    assert (data.task, data.n_features, data.cost_unit) == ("binary", 2000, "features")
    assert data.feature_names == haar_columns.feature_names((24, 24))
    assert (data.provenance["kind"], data.provenance["missing"]) == ("real", "nothing")


def test_as_many_columns_as_asked_for(few):
    columns = vj_faces.columns(per_kind=11, data="real")
    assert columns.columns.shape == (55, 51)
    assert columns.feature_names == haar_columns.feature_names((24, 24), 11)
    assert not columns.columns.flags.writeable
    assert columns.columns.dtype == np.uint8


def test_neighbours_and_duplicates_stay_together():
    windows, labels = noise(3, 60, 24, 24), np.repeat([1, 0], [25, 35])
    windows[21], windows[22] = windows[2], windows[21]  # faces: a chain of three
    windows[50] = windows[26]
    windows[40] = windows[3]  # of the other class: no reason to stay together
    group = vj_faces.groups(windows, labels, block=8)
    expected = np.r_[np.repeat([0, 8, 16, 24], [8, 8, 8, 1]), 25 + np.arange(35) // 8 * 8]
    expected[[21, 22]], expected[50] = 0, 25
    np.testing.assert_array_equal(group, expected)
    fold = divisions(group, labels)
    for leader in np.unique(group):
        assert len(np.unique(fold[group == leader])) == 1
    assert len(np.unique(fold)) == 5


# --- bad input -----------------------------------------------------------------------------------

WRONG = {
    "shape": np.zeros((24, 24, 19), dtype=np.uint8),
    "size": np.zeros((19, 19, 20), dtype=np.uint8),
    "numbers": np.zeros((24, 24, 20)),
    "name": np.zeros((24, 24, 20), dtype=np.uint8),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_file_is_named_and_stops(few, cache, wrong):
    few("faces", {"nonfaces" if wrong == "name" else "faces": WRONG[wrong]})
    message = r"faces\.mat: holds .*expected"
    check_refused(vj_faces.images, cache / "vj_faces", message, DamagedData)


def test_file_that_is_not_the_one_on_record(few, cache):
    path = cache / "vj_faces" / "nonfaces.mat"
    path.write_bytes(path.read_bytes() + b"\x00")
    with pytest.raises(datasets.ChecksumMismatch, match=r"nonfaces\.mat"):
        datasets.load("vj_faces")


def test_smoke_columns_are_of_the_synthetic_windows(offline):
    columns = vj_faces.columns(scale="smoke", per_kind=3)
    assert columns.columns.shape == (15, 750)
    assert np.bincount(columns.fold).min() == 149
    assert not offline.exists()


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_faces(cache):
    images = vj_faces.images(data="real")
    columns = vj_faces.columns(data="real")
    assert np.bincount(columns.y).tolist() == [7872, 4916]
    flat = images.train.reshape(len(images.train), -1)
    _, same, count = np.unique(flat, axis=0, return_inverse=True, return_counts=True)
    assert (count - 1).sum() == 25
    assert (count > 1).sum() == 19
    for copies in np.flatnonzero(count > 1):
        assert len(np.unique(columns.fold[same == copies])) == 1
        assert columns.y[same == copies].all()
    for label in (1, 0):
        sizes = np.bincount(columns.fold[columns.y == label])
        assert len(sizes) == 5
        assert np.ptp(sizes) <= vj_faces.BLOCK
    faces = images.train[:4916].astype(float)
    assert faces[:, 7:10, 4:20].mean() < faces[:, 13:16, 4:20].mean()  # eyes above cheeks
    some = np.ascontiguousarray(columns.columns[:, ::600])
    np.testing.assert_array_equal(some, haar_columns.computed(images.train[::600]))
    assert hashlib.sha256(some).hexdigest() == FROZEN_COLUMNS
    assert hashlib.sha256(columns.fold).hexdigest() == FROZEN_DIVISIONS


FROZEN_COLUMNS = "90dc0679a4f4c3fdfd530028ab527112b11ebd48cdb7987309bf0efb4e104a3b"
FROZEN_DIVISIONS = "505620d32da7f70668fb6b4a0e819c9ebcfc762d09aefe55bca97a53b19f5059"
