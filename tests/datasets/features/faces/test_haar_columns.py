"""Columns and tables of Haar-like features alone."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.features.faces import families, haar, haar_columns
from tests.datasets.picture_archives import noise


@pytest.mark.parametrize("shape", [(24, 24), (36, 18), (19, 19)])
def test_columns_are_those_of_each_kind(monkeypatch, shape):
    windows = noise(1, 11, *shape)
    expected = np.concatenate([haar.haar(windows, kind, 30) for kind in haar.KINDS], axis=1).T
    np.testing.assert_array_equal(haar_columns.computed(windows, 30), expected)
    monkeypatch.setattr(haar_columns, "BLOCK_VALUES", 100)  # three windows at a time
    np.testing.assert_array_equal(haar_columns.computed(windows, 30), expected)


def test_names_say_where_the_features_lie():
    names = haar_columns.feature_names((36, 18), 7)
    kinds, boxes = haar_columns.outlines(names)
    assert kinds.tolist() == np.repeat(range(5), 7).tolist()
    for k, kind in enumerate(haar.KINDS):
        np.testing.assert_array_equal(boxes[kinds == k], haar.boxes(kind, (36, 18), 7))
    assert (boxes[:, 2] <= 36).all()
    assert (boxes[:, 3] <= 18).all()
    cbcl_names = families.feature_names()[:1000]
    np.testing.assert_array_equal(
        haar_columns.outlines(cbcl_names).boxes[:200], haar.boxes("two_across", (19, 19), 200)
    )
    for wrong in ("hog_3", "haar_five_0_0_1_1", "haar_four_0_0_1"):
        with pytest.raises(ValueError, match=f"'{wrong}' is no Haar-like feature"):
            haar_columns.outlines([*names, wrong])
    assert haar_columns.outlines([]).boxes.shape == (0, 4)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "5"])
def test_numbers_that_are_none(wrong):
    with pytest.raises(ValueError, match="per_kind must be an integer"):
        haar_columns.families(wrong)


def test_more_features_than_there_are():
    with pytest.raises(ValueError, match="features two_across"):
        haar_columns.computed(noise(0, 2, 6, 6), 10_000)


def test_columns_are_kept_once(cache, monkeypatch):
    windows = noise(2, 9, 24, 24)
    stored, digest = haar_columns.stored("toy", windows, 20)
    assert isinstance(stored, np.memmap)
    np.testing.assert_array_equal(stored, haar_columns.computed(windows, 20))

    def forbidden(*args):
        raise AssertionError("computed again")

    monkeypatch.setattr(haar_columns, "computed", forbidden)
    again, same = haar_columns.stored("toy", windows, 20)
    np.testing.assert_array_equal(again, stored)
    assert same == digest
    for other in ((windows, 21), (windows[:-1], 20)):
        with pytest.raises(AssertionError, match="computed again"):
            haar_columns.stored("toy", *other)
