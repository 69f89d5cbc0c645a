"""CIFAR-10: the binary version's files, whole and part, and the synthetic set."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import cifar10
from datasets.cifar10 import CifarError
from datasets.images import images_checksum
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.server import Server

FILES = (*cifar10.TRAIN["whole"], cifar10.TEST)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Twenty records a file."""
    monkeypatch.setattr(cifar10, "N_RECORDS", 20)


def batches() -> dict[str, bytes]:
    """Give the contents of all six files."""
    rng = np.random.default_rng(0)
    contents = {}
    for name in FILES:
        records = rng.integers(0, 256, (20, 3073), dtype=np.uint8)
        records[:, 0] = np.arange(20) % 10
        contents[name] = records.tobytes()
    return contents


def archive(contents: dict[str, bytes], mode: str, folder: str = cifar10.FOLDER) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{mode}") as tar:
        for name, content in contents.items():
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def put(monkeypatch, cache, content: bytes, reader: str) -> None:
    """Put an archive into the cache and on record."""
    form = next(form for form in cifar10.FILE.forms if form.reader == reader)
    form = replace(form, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(cifar10, "FILE", replace(cifar10.FILE, forms=(form,)))
    (cache / "cifar10").mkdir(parents=True, exist_ok=True)
    (cache / "cifar10" / form.filename).write_bytes(content)


def test_record_by_hand(monkeypatch):
    monkeypatch.setattr(cifar10, "N_RECORDS", 1)
    red, green, blue = np.zeros((3, 32, 32), dtype=np.uint8)
    red[0, 1], green[1, 0], blue[31, 31] = 7, 8, 9
    content = bytes([6]) + red.tobytes() + green.tobytes() + blue.tobytes()
    images, labels = cifar10.read_batch("a.bin", content)
    assert labels.tolist() == [6]
    assert (images.shape, images.dtype) == ((1, 32, 32, 3), np.uint8)
    assert images[0, 0, 1].tolist() == [7, 0, 0]
    assert images[0, 1, 0].tolist() == [0, 8, 0]
    assert images[0, 31, 31].tolist() == [0, 0, 9]
    assert images.sum() == 24


@pytest.mark.parametrize(("reader", "mode", "n_train"), [("whole", "gz", 100), ("part", "xz", 20)])
def test_whole_and_part(cache, monkeypatch, reader, mode, n_train):
    contents = batches()
    chosen = (*cifar10.TRAIN[reader], cifar10.TEST)
    put(monkeypatch, cache, archive({name: contents[name] for name in chosen}, mode), reader)
    images = cifar10.images(data="real")
    assert images.train.shape == (n_train, 32, 32, 3)
    assert images.test.shape == (20, 32, 32, 3)
    assert isinstance(images.train, np.memmap)
    for i, name in enumerate(cifar10.TRAIN[reader]):
        records = np.frombuffer(contents[name], dtype=np.uint8).reshape(20, 3073)
        planes = images.train[20 * i : 20 * i + 20].transpose(0, 3, 1, 2)
        np.testing.assert_array_equal(planes.reshape(20, -1), records[:, 1:])
        np.testing.assert_array_equal(images.y_train[20 * i : 20 * i + 20], records[:, 0])
    record = images.provenance
    assert (record["missing"] == "nothing") == (reader == "whole")
    assert f"{n_train // 5} of the {n_train} training images" in record["split_rule"]
    assert record["checksum"] == images_checksum(images)
    data = datasets.load("cifar10", data="real", seed=1)
    check_contract(data)
    assert data.n_features == 3072
    assert len(data.y_valid) == n_train // 5
    np.testing.assert_array_equal(data.X_train, images.train[images.split(1)[0]].reshape(-1, 3072))


def test_official_archive_is_fetched(cache, monkeypatch):
    content = archive(batches(), "gz")
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    with Server() as server:
        url = server.page("/cifar-10-binary.tar.gz", content=content)
        form = replace(
            cifar10.FILE.forms[0], urls=(url,), sha256=hashlib.sha256(content).hexdigest()
        )
        monkeypatch.setattr(cifar10, "FILE", replace(cifar10.FILE, forms=(form,)))
        assert cifar10.images(data="real").provenance["source"] == "official"


def without(name: str) -> dict[str, bytes]:
    return {key: content for key, content in batches().items() if key != name}


DAMAGED = {
    "gzip cut": (lambda: archive(batches(), "gz")[:-2000], "damaged or incomplete archive"),
    "bits": (lambda: archive(batches(), "gz")[:50] + b"\xff" * 5000, "damaged or incomplete"),
    "text": (lambda: b"<html>please log in", "damaged or incomplete archive"),
    "file missing": (lambda: archive(without("data_batch_4.bin"), "gz"), "no member .*batch_4"),
    "short file": (
        lambda: archive(batches() | {"data_batch_2.bin": b"0" * 61_459}, "gz"),
        "data_batch_2.bin: 61459 bytes, 20 records are 61460",
    ),
    "class": (
        lambda: archive(batches() | {"test_batch.bin": b"\x0a" * 61_460}, "gz"),
        "test_batch.bin: a class is 10, the last is 9",
    ),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_archive_is_named(cache, monkeypatch, damage):
    make, message = DAMAGED[damage]
    put(monkeypatch, cache, make(), "whole")
    with pytest.raises(CifarError, match=message):
        cifar10.images(data="real")
    assert not list((cache / "cifar10" / "decoded").glob("*/*.npy"))


def test_archive_that_leaves_its_folder(cache, monkeypatch):
    put(monkeypatch, cache, archive(batches(), "gz", folder="../elsewhere"), "whole")
    with pytest.raises(CifarError, match="no member"):
        cifar10.images(data="real")
    assert not list(cache.rglob("elsewhere*"))


def test_no_source_at_all(unreachable, monkeypatch):
    with pytest.raises(datasets.DataUnavailable, match=r"(?s)www\.cs\.toronto\.edu.*Next:"):
        cifar10.images(data="real")


# --- the synthetic set ----------------------------------------------------------------------------


@pytest.mark.slow
def test_smoke_images_are_the_synthetic(offline):
    images = cifar10.images(scale="smoke", seed=1)
    assert (images.train.shape, images.test.shape) == ((300, 32, 32, 3), (200, 32, 32, 3))
    assert len(images.split(0)[1]) == 50
    data = datasets.load("cifar10", scale="smoke", seed=1)
    expected, _ = cifar10.SYNTHETIC.draw(1000, 1, "test")
    np.testing.assert_array_equal(data.X_test, expected.reshape(-1, 3072))
    assert not offline.exists()


# --- real data -----------------------------------------------------------------------------------


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
