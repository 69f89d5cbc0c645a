"""Scene-15: archives, draws, the table of decision values, baselines, and the synthetic set."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import caltech101, scene15, scene15_pictures
from datasets.features.scenes import prices, tables
from datasets.features.scenes.svm_features import svm_features
from datasets.images import images_checksum
from datasets.registry import Request
from datasets.scene15_pictures import CLASSES, draw
from tests.datasets.contract import NEEDS_MIRROR
from tests.datasets.picture_archives import changed, check_refused, packed, put, tar, zipped

TAR, ZIP = "scene15_200px_grey.tar", "scene_categories.zip"
PREFIX = {"suburb": "CAL", "coast": "MIT", "office": "PAR"}


@pytest.fixture
def small(monkeypatch):
    """Six pictures of a class are enough, three of them training."""
    for name, value in (("LEAST", 6), ("KERNEL", 1), ("TRAIN", 2)):
        monkeypatch.setattr(scene15_pictures, name, value)


def grey(seed: int, height: int = 200, width: int = 200) -> np.ndarray:
    """A smooth grey picture that JPEG keeps well."""
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 20, width // 20), np.uint8)
    return np.kron(coarse, np.ones((20, 20), dtype=np.uint8))


def contents(filename: str) -> dict[str, bytes]:
    """Seven pictures of each class, in no order; two pairs are the same, one across classes."""
    found = {}
    for k, name in reversed(list(enumerate(CLASSES))):
        for i in (3, 1, 7, 2, 6, 5, 4):
            if filename == TAR:
                member = f"scene15/{'test' if i % 2 else 'train'}/{name}/image_{i:04d}.jpg"
                shape = (200, 200)
            else:
                member = f"{PREFIX.get(name, '')}{name}/image_{i:04d}.jpg"
                shape = (220, 260 + 20 * (i % 3))
            found[member] = packed(grey(100 * k + i, *shape), "jpg", quality=90)
    names = {scene15_pictures._label_and_number(member): member for member in found}
    found[names[0, 6]] = found[names[0, 2]]
    found[names[9, 1]] = found[names[3, 7]]
    return found


def archive(filename: str, found: dict[str, bytes]) -> bytes:
    junk = {"scene15/readme.txt": b"x", "__MACOSX/kitchen/image_0001.jpg": b"x"}
    return tar(found | junk) if filename == TAR else zipped(found | junk)


def put_archive(monkeypatch, cache, filename: str, content: bytes) -> None:
    put(monkeypatch, cache, scene15_pictures, filename, content)
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    monkeypatch.setattr(scene15_pictures, "OFFICIAL_MD5", digest)


# --- the archives --------------------------------------------------------------------------------


@pytest.mark.parametrize("filename", [TAR, ZIP])
def test_pictures_are_in_order_of_class_and_number(cache, monkeypatch, small, filename):
    put_archive(monkeypatch, cache, filename, archive(filename, contents(filename)))
    images = scene15.images(data="real")
    assert isinstance(images.train, np.memmap)
    assert (images.train.shape, images.test.shape) == ((45, 200, 200), (60, 200, 200))
    np.testing.assert_array_equal(images.y_train, np.repeat(np.arange(15), 3))
    np.testing.assert_array_equal(images.y_test, np.repeat(np.arange(15), 4))
    if filename == TAR:
        for label, number, picture in ((4, 1, images.train[12]), (4, 5, images.test[17])):
            difference = picture.astype(int) - grey(100 * label + number)
            assert np.abs(difference).mean() < 3
    assert images.provenance["checksum"] == images_checksum(images)
    copy = "resized to 200×200 by somebody else" in images.provenance["pictures"]
    assert copy == (filename == TAR)
    assert (images.provenance["missing"] == "nothing") != copy
    twins = scene15_pictures.pixels()[0]["twins"]
    both = np.concatenate((images.train, images.test))
    for number, first in enumerate(twins):
        assert (both[number] == both[first]).all()
    assert (twins != np.arange(105)).sum() == 2


PLACE = "scene15/test/store/image_0003.jpg"
COLOURS = np.stack([grey(1), grey(2), grey(3)], axis=2)
WRONG = {
    "cut": ({PLACE: packed(grey(1), "jpg")[:-900]}, "store/image_00"),
    "text": ({PLACE: b"<html>"}, "damaged or no PNG or JPEG"),
    "size": ({PLACE: packed(grey(1, 200, 220), "jpg")}, "200×220 pixels, expected 200×200"),
    "colour": ({PLACE: packed(COLOURS, "jpg")}, "is in colour"),
    "twice": (
        {"scene15/train/store/image_0003.jpg": packed(grey(1), "jpg")},
        "are one picture's names",
    ),
    "no forest": (
        {name: None for name in contents(TAR) if "/forest/" in name},
        "0 pictures of forest, at least 6 expected",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_archive_is_named_and_stops(cache, monkeypatch, small, wrong):
    change, message = WRONG[wrong]
    put_archive(monkeypatch, cache, TAR, archive(TAR, changed(contents(TAR), change)))
    check_refused(scene15.images, cache / "scene15", f"{TAR}.*{message}")


@pytest.mark.parametrize("filename", [TAR, ZIP])
def test_cut_archive_is_named(cache, monkeypatch, small, filename):
    put_archive(monkeypatch, cache, filename, archive(filename, contents(filename))[:-20_000])
    message = "damaged or incomplete|none of the pictures"
    check_refused(scene15.images, cache / "scene15", message)


def test_official_archive_has_its_md5(cache, monkeypatch, small):
    put(monkeypatch, cache, scene15_pictures, ZIP, archive(ZIP, contents(ZIP)))
    message = scene15_pictures.OFFICIAL_MD5
    check_refused(scene15.images, cache / "scene15", message, datasets.ChecksumMismatch)


# --- draws ---------------------------------------------------------------------------------------


def labels_and_twins() -> tuple[np.ndarray, np.ndarray]:
    """As many pictures as the real set; pairs of equal ones, three equal, a pair across classes."""
    labels = np.repeat(np.arange(15), 299)
    twins = np.arange(len(labels))
    twins[[7 * 299 + 2 * k + 1 for k in range(16)]] = [7 * 299 + 2 * k for k in range(16)]
    twins[[7 * 299 + 2]] = 7 * 299
    twins[[7 * 299 + 3]] = 7 * 299
    twins[14 * 299] = 5 * 299
    return labels, twins


@pytest.mark.parametrize("seed", range(4))
def test_draws_divide_all_pictures_and_keep_equal_ones_together(seed):
    labels, twins = labels_and_twins()
    parts = draw(labels, twins, seed)
    assert list(parts) == ["kernel", "train", "valid", "test"]
    every = np.concatenate(list(parts.values()))
    assert sorted(every) == list(range(len(labels)))
    for part, size in (("kernel", 30), ("train", 70), ("valid", 20), ("test", 179)):
        assert np.bincount(labels[parts[part]]).tolist() == [size] * 15
        assert (np.diff(parts[part]) > 0).all()
        assert np.isin(twins[parts[part]], parts[part]).all()


def test_draws_are_frozen_and_differ_by_seed():
    labels, twins = labels_and_twins()
    one, other = draw(labels, twins, 0), draw(labels, twins, 1)
    assert len(np.intersect1d(one["train"], other["train"])) < 400
    digest = hashlib.sha256(b"".join(one[part].astype("<i8").tobytes() for part in one))
    assert digest.hexdigest()[:16] == "6fa8d7a8d292bcbe"


# --- the table -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    return datasets.load("scene15", scale="smoke")


@pytest.fixture(scope="module")
def described():
    return scene15.described(scale="smoke")


def test_groups_and_remainders_add_up(table):
    assert (table.task, table.cost_unit) == ("multiclass", "ms")
    assert table.feature_groups.tolist() == np.repeat(np.arange(20), 15).tolist()
    assert sorted(table.group_costs) == list(range(20))
    assert min(table.group_costs.values()) > 0
    assert (table.feature_costs > 0).all()
    committed = prices.read()
    for group, name in enumerate(("gist", "spatial_hog", "lbp", "self_similarity")):
        price = prices.of_descriptor(committed, name)
        own = table.feature_costs[table.feature_groups == group]
        assert table.feature_names[15 * group].startswith(f"{name}_bedroom")
        whole = table.group_costs[group] + own.sum()
        np.testing.assert_allclose(whole, price.descriptor + price.kernel + 15 * price.machine)
    # What is charged once is nearly all.
    assert table.feature_costs.sum() < 0.1 * sum(table.group_costs.values())


def test_machines_see_the_classes_of_their_own_pictures_only(described):
    few = described.descriptors[:2]
    arguments = (few, described.columns)
    before = svm_features(*arguments, described.labels, described.parts)
    labels = np.zeros_like(described.labels)
    kernel = described.parts["kernel"]
    labels[kernel] = described.labels[kernel]
    after = svm_features(*arguments, labels, described.parts)
    for part in before:
        np.testing.assert_array_equal(after[part], before[part])
    labels[kernel] = described.labels[kernel][::-1]
    assert not np.array_equal(
        svm_features(*arguments, labels, described.parts)["test"], before["test"]
    )


def test_a_row_depends_on_its_own_picture_only(described):
    few = described.descriptors[:2]
    before = svm_features(few, described.columns, described.labels, described.parts)
    changed = described.columns.copy()
    changed[:, described.parts["train"][4]] //= 2
    after = svm_features(few, changed, described.labels, described.parts)
    np.testing.assert_array_equal(after["test"], before["test"])
    rows = (after["train"] != before["train"]).any(axis=1)
    assert np.flatnonzero(rows).tolist() == [4]


def test_averaged_kernel():
    found = scene15.averaged_kernel(scale="smoke", seed=2)
    shapes = [rows.shape for rows in (found.train, found.valid, found.test)]
    assert shapes == [(300, 300), (60, 300), (300, 300)]
    np.testing.assert_allclose(np.diag(found.train), 1)
    np.testing.assert_allclose(found.train, found.train.T)
    assert np.linalg.eigvalsh(found.train).min() > -1e-9
    committed = prices.read()
    names = [d.name for d in tables.DESCRIPTORS[:20]]
    least = sum(prices.of_descriptor(committed, name).descriptor for name in names)
    assert found.kernel_cost > least
    assert found.machine_cost > 0
    assert found.provenance["kind"] == "synthetic"


def test_raw_descriptors(described):
    found = scene15.raw_descriptors(scale="smoke")
    assert found.X_train.shape == (300, 20 * tables.N_VALUES)
    assert found.descriptor.shape == found.X_train.shape[1:]
    assert found.descriptor_costs.shape == (20,)
    numbers = described.parts["test"]
    np.testing.assert_array_equal(found.X_test, described.columns[:, numbers].T)
    assert len(found.y_train) == 300


def test_real_tables_are_made_of_both_archives(monkeypatch):
    """The path of `real`, with descriptors replaced: their computation takes minutes."""
    request, asked = Request("scene15", "laptop", "real", 3), []
    labels, twins = labels_and_twins()
    drawn = scene15.SYNTHETIC.draw(15, 0, "train")
    pool = scene15.images(scale="smoke")
    columns = np.zeros((tables.DESCRIPTORS[-1].columns.stop, len(labels)), dtype=np.uint8)

    class Archive:
        form = scene15_pictures.FILE.forms[1]
        source = "mirror"

        @staticmethod
        def record():
            return {"file": TAR}

    images = replace(
        pool, train=drawn[0], y_train=labels[:1500], test=drawn[0], y_test=labels[1500:]
    )
    monkeypatch.setattr(scene15, "pixels", lambda: ({"twins": twins}, Archive))
    monkeypatch.setattr(scene15, "images", lambda **kwargs: asked.append(kwargs) or images)
    monkeypatch.setattr(caltech101, "images", lambda **kwargs: pool)
    facts = {"learned": "key", "descriptors_checksum": "digest"}
    monkeypatch.setattr(tables, "real_columns", lambda *args: (columns, facts))
    found = scene15._real_described(request)
    assert {part: len(numbers) for part, numbers in found.parts.items()} == {
        "kernel": 450,
        "train": 1050,
        "valid": 300,
        "test": 2685,
    }
    assert len(asked) == 1
    values = {part: np.zeros((len(numbers), 1)) for part, numbers in found.parts.items()}
    monkeypatch.setattr(tables, "features", lambda *args: values)
    np.testing.assert_array_equal(scene15.real(request).test_numbers, found.parts["test"])
    assert "Object Bank's 177" in found.provenance["stands_for"]
    assert found.provenance["missing"].startswith("the pictures' original sizes")


@NEEDS_MIRROR
def test_real_pictures(cache, monkeypatch):
    """Every 15th picture of the mirror's copy; the whole takes minutes."""
    whole = scene15_pictures._label_and_number

    def few(name):
        key = whole(name)
        return key if key is not None and key[1] % 15 == 3 else None

    monkeypatch.setattr(scene15_pictures, "_label_and_number", few)
    for name, value in (("LEAST", 10), ("KERNEL", 3), ("TRAIN", 4)):
        monkeypatch.setattr(scene15_pictures, name, value)
    images = scene15.images(data="real")
    assert np.bincount(images.y_train).tolist() == [7] * 15
    assert len(images.test) > 150
    assert images.train.std(axis=(1, 2)).min() > 5
    assert "resized to 200×200 by somebody else" in images.provenance["pictures"]
    # Coasts have a bright sky over a level horizon.
    coast = images.train[images.y_train == CLASSES.index("coast")].astype(float)
    assert coast[:, :50].mean() > coast[:, 150:].mean() + 10
