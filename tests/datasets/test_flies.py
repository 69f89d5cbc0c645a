"""The stand-in for the flies video, and the features of its pixels."""

import numpy as np
import pytest
from scipy import ndimage

import datasets
from datasets import catalogue, flies
from datasets.dataset import checksum
from datasets.errors import DataUnavailable, StandInWarning
from datasets.features import pyramid as features
from datasets.labelled_frames import strata
from datasets.standins import flies as standins_flies

SMOKE_FRAMES = "ce17180d8a5dc8a381aefcba610a0e42bd143a5490751b7fcdcab0b2b7832d7a"


@pytest.fixture(scope="module")
def video():
    return {p: list(flies.frames(p, scale="smoke", seed=0)) for p in ("train", "valid", "test")}


def test_frames_are_frozen(video):
    """Features and rows rest on them; the published numbers on these."""
    arrays = {
        f"{part} {i} {name}": array
        for part, frames in video.items()
        for i, frame in enumerate(frames)
        for name, array in zip(("image", "labels"), frame, strict=True)
    }
    assert checksum(arrays) == SMOKE_FRAMES


def test_shapes_and_numbers_of_frames(video):
    assert {part: len(frames) for part, frames in video.items()} == {
        "train": 2,
        "valid": 1,
        "test": 2,
    }
    for frames in video.values():
        for image, labels in frames:
            assert image.shape == labels.shape == (128, 128)
            assert image.dtype == np.uint8
            assert labels.dtype == np.int32
            assert 4 <= len(np.unique(labels)) <= 9  # some insects may be half out of the frame
    assert standins_flies.FRAMES["laptop"] == {"train": 16, "valid": 4, "test": 20}
    assert standins_flies.SIDE["laptop"] == 1024


def test_a_large_frame():
    image, labels = next(flies.frames("train", scale="laptop", seed=0))
    assert image.shape == (1024, 1024)
    assert len(np.unique(labels)) == 61
    areas = np.bincount(labels.ravel())[1:]
    assert areas.max() <= np.pi / 4 * 25**2 * 0.42 + 20
    ground = image[ndimage.distance_transform_edt(labels == 0) > 30].mean()
    assert 5 < ground - image[labels > 0].mean() < 80
    # Every fifth insect touches another: fewer components than insects.
    assert ndimage.label(labels > 0, np.ones((3, 3)))[1] < 60


def test_insects_move_a_little_and_keep_their_numbers(video):
    (_, first), (_, second) = video["train"]
    moved = 0
    for label in set(np.unique(first)) & set(np.unique(second)) - {0}:
        a, b = (np.argwhere(labels == label).mean(axis=0) for labels in (first, second))
        distance = float(np.hypot(*(a - b)))
        assert distance < 5 * standins_flies.EVERY + 25
        moved += distance > 1
    assert moved >= 3


def test_stretches_are_disjoint_and_seeds_differ(video):
    steps = standins_flies._steps("laptop")
    assert max(steps["train"]) < min(steps["valid"])
    assert max(steps["valid"]) + 100 <= min(steps["test"])
    other = next(flies.frames("train", scale="smoke", seed=1))
    assert (other[0] != video["train"][0][0]).mean() > 0.5


def test_a_part_does_not_depend_on_what_else_is_painted(video):
    image, labels = next(flies.frames("test", scale="smoke", seed=0))
    np.testing.assert_array_equal(image, video["test"][0][0])
    np.testing.assert_array_equal(labels, video["test"][0][1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"part": "all"}, "part must be"),
        ({"scale": "huge"}, "scale must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_wrong_requests(wrong, message):
    given = {"part": "train", "scale": "smoke", "seed": 0} | wrong
    with pytest.raises(ValueError, match=message):
        flies.frames(given.pop("part"), **given)


# --- rows -------------------------------------------------------------------------------------


def test_rows_of_the_data_set():
    data = datasets.load("flies", scale="smoke")
    assert data.provenance["kind"] == "stand-in"
    assert [len(y) for y in (data.y_train, data.y_valid, data.y_test)] == [2000, 1000, 1000]
    assert data.n_features == 32
    assert not data.feature_costs.any()
    assert data.y_train.mean() == pytest.approx(0.15, abs=0.01)
    assert data.feature_names[0] == "gauss1_1px"
    assert "sobel_4px" in data.feature_names


def test_there_is_no_real_set(tmp_path, monkeypatch):
    monkeypatch.delenv("COST_AWARE_BOOSTING_MIRROR", raising=False)
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path))
    with pytest.raises(DataUnavailable, match="no official address"):
        datasets.load("flies", scale="laptop", data="real")
    with pytest.raises(DataUnavailable, match="no official address"):
        datasets.fetch("flies")
    status = {record["name"]: record for record in catalogue.status()}["flies"]
    assert (status["source"], status["present"]) == ("stand-in", False)


def test_auto_warns_and_stands_in(monkeypatch):
    monkeypatch.setitem(flies.SIZES, "laptop", (64, 32, 32))
    monkeypatch.setitem(standins_flies.FRAMES, "laptop", {"train": 2, "valid": 1, "test": 1})
    monkeypatch.setitem(standins_flies.SIDE, "laptop", 128)
    with pytest.warns(StandInWarning, match="FLIES"):
        data = datasets.load("flies", scale="laptop")
    assert data.provenance["kind"] == "stand-in"


def test_strata_fill_up_with_ground():
    labels = np.zeros((64, 64), dtype=np.int32)
    labels[30:32, 30:33] = 1  # six pixels only
    (insect, n_insect), (near, n_near), (far, n_far) = strata(labels, 400)
    assert (n_insect, n_near, n_far) == (6, 60, 334)
    assert len(insect) == 6
    assert len(insect) + len(near) + len(far) == 64 * 64


# --- features ---------------------------------------------------------------------------------


def test_blocks_are_averaged():
    image = np.arange(64, dtype=np.uint8).reshape(8, 8)
    assert features.block_mean(image, 8) == [[31.5]]
    np.testing.assert_array_equal(features.block_mean(image, 1), image)
    assert features.block_mean(image, 4)[0, 1] == image[:4, 4:].mean()
    with pytest.raises(ValueError, match="no whole 8×8 blocks"):
        features.pyramid(np.zeros((8, 12), dtype=np.uint8))


def test_all_pixels_of_a_block_share_a_value(video):
    image = video["train"][0][0]
    pyramid = features.pyramid(image)
    X = pyramid.rows(0, 128).reshape(128, 128, 32)
    for level, size in enumerate(features.LEVELS):
        mine = X[:, :, features.LEVEL == level]
        blocks = mine.reshape(128 // size, size, 128 // size, size, 8)
        np.testing.assert_array_equal(blocks, np.broadcast_to(blocks[:, :1, :, :1], blocks.shape))
        if size < 8:  # …and no larger blocks do
            assert (mine[::size][1::2] != mine[::size][::2]).any()
        assert features.SHARING[features.LEVEL == level].tolist() == [size**2] * 8
    y, x = np.array([0, 17, 127]), np.array([5, 64, 127])
    np.testing.assert_array_equal(pyramid.at(y, x), X[y, x])
    np.testing.assert_array_equal(pyramid.rows(16, 24), X[16:24].reshape(-1, 32))
    np.testing.assert_array_equal(X * 256, np.rint(X * 256))


def test_filters_on_pictures_with_known_answers():
    n = len(features.FILTERS)
    flat = features.filter_bank(np.full((16, 16), 100.0))
    assert flat.shape == (16, 16, n)
    np.testing.assert_allclose(flat[..., :2], 100.0, atol=2**-8)
    np.testing.assert_allclose(flat[..., 2:], 0.0, atol=2**-8)
    ramp = features.filter_bank(np.tile(3.0 * np.arange(32), (32, 1)))[16, 16]
    named = dict(zip(features.FILTERS, ramp, strict=True))
    assert named["sobel"] == pytest.approx(3.0, abs=0.01)
    assert named["structure"] == pytest.approx(3.0, abs=0.01)
    assert named["log"] == pytest.approx(0.0, abs=0.01)
    y, x = np.mgrid[-16:16, -16:16].astype(float)
    bowl = features.filter_bank(0.5 * (0.5 * y**2 - 0.25 * x**2) + 0.3 * x * y)[16, 16]
    named = dict(zip(features.FILTERS, bowl, strict=True))
    low, high = np.linalg.eigvalsh([[0.5, 0.3], [0.3, -0.25]])
    assert named["hessian_high"] == pytest.approx(high, abs=0.01)
    assert named["hessian_low"] == pytest.approx(low, abs=0.01)
    assert named["log"] == pytest.approx(high + low, abs=0.01)
