"""What every set of images promises of its synthetic images, and resizing by area."""

import numpy as np
import pytest

import datasets
from datasets.resizing import resized
from tests.datasets.picture_archives import noise

SMOKE = {
    # shapes of the training and test images, how many of each class, and how many validate
    "caltech101": ((20, 128, 128, 3), (20, 128, 128, 3), [4] * 5, [4] * 5, 5),
    "cbcl": ((750, 19, 19), (1000, 19, 19), [489, 261], [980, 20], 150),
    "cifar10": ((300, 32, 32, 3), (200, 32, 32, 3), [30] * 10, [20] * 10, 50),
    "daimler_pedestrians": ((750, 36, 18), (0, 36, 18), [383, 367], [], 150),
    "inria_person": ((80, 128, 64, 3), (60, 128, 64, 3), [27, 53], [20, 40], 20),
    "mnist": ((300, 28, 28), (200, 28, 28), [30] * 10, [20] * 10, 50),
    "vj_faces": ((750, 24, 24), (0, 24, 24), [462, 288], [], 150),
}


@pytest.mark.parametrize("name", SMOKE)
def test_smoke_images_are_the_synthetic(name, offline):
    images = datasets.load_images(name, scale="smoke", seed=1)
    assert images.provenance["kind"] == "synthetic"
    counts = [np.bincount(labels).tolist() for labels in (images.y_train, images.y_test)]
    n_valid = len(images.split(0)[1])
    assert (images.train.shape, images.test.shape, *counts, n_valid) == SMOKE[name]
    other = datasets.load_images(name, scale="smoke", seed=2)
    assert not np.array_equal(images.train, other.train)
    assert not offline.exists()
    with pytest.raises(datasets.DataUnavailable, match="never reads real data"):
        datasets.load_images(name, scale="smoke", data="real")


@pytest.mark.parametrize(
    ("old", "new"),
    [((128, 64), (36, 18)), ((19, 19), (24, 24)), ((6, 4), (3, 2)), ((5, 7), (5, 7))],
)
def test_resizing_against_repeated_pixels(old, new):
    windows = noise(3, 4, *old)
    fine = windows.repeat(new[0], axis=1).repeat(new[1], axis=2).astype(np.int64)
    sums = fine.reshape(4, new[0], old[0], new[1], old[1]).sum(axis=(2, 4))
    expected = np.floor(sums / (old[0] * old[1]) + 0.5).astype(np.uint8)
    np.testing.assert_array_equal(resized(windows, new), expected)
