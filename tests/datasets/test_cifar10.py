"""CIFAR-10: the binary version's files, whole and part, and the synthetic set."""

import numpy as np
import pytest

import datasets
from datasets import cifar10
from datasets.cifar10 import CifarError
from datasets.images import images_checksum
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.picture_archives import changed, check_refused, noise, put, tar

FILES = (*cifar10.TRAIN["whole"], cifar10.TEST)
WHOLE, PART = "cifar-10-binary.tar.gz", "cifar-10-binary-part.tar.xz"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Twenty records a file."""
    monkeypatch.setattr(cifar10, "N_RECORDS", 20)


def batches(names=FILES) -> dict[str, bytes]:
    """Give the contents of files, all six unless others are named."""
    contents = {}
    for name in names:
        records = noise(FILES.index(name), 20, 3073)
        records[:, 0] = np.arange(20) % 10
        contents[f"{cifar10.FOLDER}/{name}"] = records.tobytes()
    return contents


@pytest.mark.parametrize(("filename", "n_train"), [(WHOLE, 100), (PART, 20)])
def test_whole_and_part(cache, monkeypatch, filename, n_train):
    reader = "whole" if filename == WHOLE else "part"
    contents = batches((*cifar10.TRAIN[reader], cifar10.TEST))
    put(monkeypatch, cache, cifar10, filename, tar(contents, f"w:{filename[-2:]}"))
    images = cifar10.images(data="real")
    assert images.train.shape == (n_train, 32, 32, 3)
    assert images.test.shape == (20, 32, 32, 3)
    assert isinstance(images.train, np.memmap)
    for i, content in enumerate(list(contents.values())[:-1]):
        records = np.frombuffer(content, dtype=np.uint8).reshape(20, 3073)
        planes = images.train[20 * i : 20 * i + 20].transpose(0, 3, 1, 2)
        np.testing.assert_array_equal(planes.reshape(20, -1), records[:, 1:])
        np.testing.assert_array_equal(images.y_train[20 * i : 20 * i + 20], records[:, 0])
    record = images.provenance
    assert record["source"] == "cache"
    assert (record["missing"] == "nothing") == (reader == "whole")
    assert f"{n_train // 5} of the {n_train} training images" in record["split_rule"]
    assert record["checksum"] == images_checksum(images)
    data = datasets.load("cifar10", data="real", seed=1)
    check_contract(data)
    assert data.n_features == 3072
    assert len(data.y_valid) == n_train // 5
    np.testing.assert_array_equal(data.X_train, images.train[images.split(1)[0]].reshape(-1, 3072))


FOURTH, SECOND, TEST = (f"{cifar10.FOLDER}/{FILES[i]}" for i in (3, 1, 5))
ELSEWHERE = {f"../elsewhere/{name}": content for name, content in batches().items()}
DAMAGED = {
    "gzip cut": (lambda: tar(batches(), "w:gz")[:-2000], "damaged or incomplete archive"),
    "bits": (lambda: tar(batches(), "w:gz")[:50] + b"\xff" * 5000, "damaged or incomplete"),
    "text": (lambda: b"<html>please log in", "damaged or incomplete archive"),
    "file missing": (
        lambda: tar(changed(batches(), {FOURTH: None}), "w:gz"),
        "no member .*batch_4",
    ),
    "short file": (
        lambda: tar(batches() | {SECOND: b"0" * 61_459}, "w:gz"),
        "data_batch_2.bin: 61459 bytes, 20 records are 61460",
    ),
    "class": (
        lambda: tar(batches() | {TEST: b"\x0a" * 61_460}, "w:gz"),
        "test_batch.bin: a class is 10, the last is 9",
    ),
    "leaves its folder": (lambda: tar(ELSEWHERE, "w:gz"), "no member"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_archive_is_named(cache, monkeypatch, damage):
    make, message = DAMAGED[damage]
    put(monkeypatch, cache, cifar10, WHOLE, make())
    check_refused(cifar10.images, cache / "cifar10", message, CifarError)
    assert not list(cache.rglob("elsewhere*"))


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_cifar10(cache, monkeypatch):
    monkeypatch.setattr(cifar10, "N_RECORDS", 10_000)
    images = cifar10.images(data="real")
    assert len(images.train) in (10_000, 50_000)
    assert np.bincount(images.y_test).tolist() == [1000] * 10
    assert images.y_test[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    # Means over the whole training set, as published with many models: 125.3, 123.0, 113.9.
    np.testing.assert_allclose(images.train.mean(axis=(0, 1, 2)), [125.3, 123.0, 113.9], atol=1.5)
    assert len(images.split(0)[1]) == len(images.train) // 5
