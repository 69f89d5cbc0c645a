"""The plane with three Gaussians."""

import numpy as np
import pytest

import datasets
from datasets import toy
from tests.datasets.contract import PARTS
from tests.datasets.test_datasets import SYNTHETIC


def test_real_points_are_the_simulated_ones(offline):
    """The paper prints no points of its own."""
    data = datasets.load("toy", data="real")
    assert data.provenance["checksum"] == SYNTHETIC["toy"]
    assert "the paper prints neither" in data.provenance["missing"]


def test_clusters_are_those_of_the_rows():
    for seed in (0, 3):
        data, clusters = datasets.load("toy", seed=seed, data="synthetic"), toy.clusters(seed)
        for part in PARTS:
            X, y = getattr(data, f"X_{part}"), getattr(data, f"y_{part}")
            np.testing.assert_array_equal(y, clusters[part] != 2)
            assert np.bincount(clusters[part]).tolist() == [len(y) // 4, len(y) // 4, len(y) // 2]
            for k, centre in enumerate(toy.CENTRES):
                own = X[clusters[part] == k]
                np.testing.assert_allclose(own.mean(axis=0), centre, atol=0.2)
                np.testing.assert_allclose(own.std(axis=0), toy.SPREAD, atol=0.1)
            assert (X * 2**16 == np.rint(X * 2**16)).all()
    with pytest.raises(ValueError, match="seed must be"):
        toy.clusters(-1)


def test_positive_clusters_are_separable_and_the_border_is_noisy():
    data, clusters = datasets.load("toy", data="synthetic"), toy.clusters()["train"]
    along = data.X_train @ np.array([1.0, -1.0]) / np.sqrt(2.0)
    assert (along[clusters == 0] < 0).mean() > 0.999
    assert (along[clusters == 1] > 0).mean() > 0.999
    border = np.sqrt(2.0)  # halfway between neighbouring centres
    wrong = (np.abs(along) > border) != (data.y_train == 1)
    assert 0.01 < wrong.mean() < 0.06
