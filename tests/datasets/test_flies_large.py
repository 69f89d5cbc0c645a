"""The second stand-in for the flies video: large bodies, few of which touch."""

import numpy as np
import pytest
from scipy import ndimage

import datasets
from datasets import flies_large
from datasets.dataset import checksum
from datasets.errors import DataUnavailable
from datasets.standins.flies import LARGE, _swarm
from tests.datasets.contract import check_contract

SMOKE_FRAME = "9743b454875e8b134dd44131d01167525351a1dfbed0dc40588d0df69a17ea83"


def test_rows():
    data = datasets.load("flies_large", scale="smoke")
    check_contract(data)
    assert data.y_train.mean() == pytest.approx(0.15, abs=0.01)
    with pytest.raises(DataUnavailable, match="flies_large: the paper's video"):
        datasets.load("flies_large", scale="laptop", data="real")


def test_frames_are_frozen():
    image, labels = next(flies_large.frames("test", scale="smoke", seed=0))
    assert checksum({"image": image, "labels": labels}) == SMOKE_FRAME


def test_bodies_are_as_declared_and_at_most_one_in_twenty_touches():
    frames = list(flies_large.frames("valid", scale="laptop", seed=5))
    for image, labels in frames:
        assert image.shape == (1024, 1024)
        areas = np.bincount(labels.ravel())[1:]
        # Ellipses of 40 to 50 by 15 to 20 pixels; some are cut by the edge of the frame.
        assert areas.max() <= np.pi / 4 * 50 * 20 + 40
        assert np.median(areas) >= np.pi / 4 * 40 * 15 - 40
        bodies = np.count_nonzero(areas)
        touching = bodies - ndimage.label(labels > 0, np.ones((3, 3)))[1]
        assert 2 * touching <= 0.05 * LARGE.insects["laptop"]


def test_too_many_do_not_find_room():
    with pytest.raises(ValueError, match="may not find room"):
        _swarm(np.random.default_rng(0), 4, 192, LARGE)


def test_wrong_requests():
    with pytest.raises(ValueError, match="part must be"):
        flies_large.frames("all", scale="smoke", seed=0)
    with pytest.raises(ValueError, match="scale must be"):
        flies_large.frames("train", scale="huge", seed=0)
