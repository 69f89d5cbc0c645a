"""Stumps on Haar-like features, on integral images, against the bytes that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.kernels.decorators import kernel
from algorithms.stumps.haar import (
    HaarFeatures,
    HaarStumps,
    check_features,
    corners_of,
    deviation_at,
    goes_right,
    haar_stumps,
    integral_images,
)
from datasets.features.faces import haar, haar_columns

WINDOW = (24, 24)
FEATURES = HaarFeatures(*haar_columns.outlines(haar_columns.feature_names(WINDOW, 20)), WINDOW)


def windows() -> np.ndarray:
    """Noise, slopes, constant windows, halves, one bright pixel, and hardly any contrast."""
    found = np.random.default_rng(0).integers(0, 256, (40, *WINDOW), dtype=np.uint8)
    found[1] = (np.arange(24) * 7 + np.arange(24)[:, None] * 3).astype(np.uint8)
    found[2], found[3] = 131, 0
    found[4] = np.where(np.arange(24) < 12, 0, 255)
    found[5] = np.where(np.arange(24) < 12, 200, 0)[:, None]
    found[6], found[6, 3, 4] = 0, 255
    found[7], found[7, 20, 4] = 90, 91
    found[8:20] //= 64
    return found


def test_corners_give_the_difference_of_the_means():
    corners, found = corners_of(FEATURES), windows()
    integral, deviation = haar.prepared(found)
    for k, kind in enumerate(haar.KINDS):
        chosen = FEATURES.kinds == k
        places = corners.row[chosen] * 25 + corners.column[chosen]
        difference = (integral[:, places].astype(np.int64) * corners.times[chosen]).sum(axis=2)
        expected = haar.values(integral, deviation, WINDOW, kind, 20)
        np.testing.assert_array_equal(
            difference / corners.area[chosen] / deviation[:, None], expected
        )


def test_corners_that_two_rectangles_share_are_read_once():
    used = np.count_nonzero(corners_of(FEATURES).times, axis=1)
    assert [sorted(set(used[FEATURES.kinds == k])) for k in range(5)] == [[6], [6], [8], [8], [9]]


@kernel
def _answers(stumps, images, at, deviation, out):
    for t in range(len(out)):
        out[t] = goes_right(stumps, t, images.sums, at, deviation)


def test_answers_are_those_of_the_bytes_at_every_cut():
    found, corners = windows(), corners_of(FEATURES)
    columns = haar_columns.computed(found, 20)
    feature, cut = (part.ravel() for part in np.meshgrid(np.arange(100), np.arange(257)))
    stumps = haar_stumps(corners, feature, cut, 24)
    assert isinstance(stumps, HaarStumps)
    answers = np.empty(len(cut), dtype=bool)
    exact = 0
    for window, row in zip(found, columns.T, strict=True):
        images = integral_images(window)
        deviation = deviation_at(images, 0, *WINDOW)
        _answers(stumps, images, 0, deviation, answers)
        np.testing.assert_array_equal(answers, row[feature] >= cut)
        exact += np.sum(np.abs(window.astype(float).std() - deviation) < 1e-9)
    assert exact >= len(found) - 2  # the two constant windows have a deviation of 1


def test_values_at_a_threshold_are_decided_by_the_byte_itself():
    """Halves of 200 and 0 have a value of exactly two standard deviations: byte 192."""
    window = windows()[5]
    upper = HaarFeatures(np.array([1]), np.array([[0, 0, 24, 24]]), WINDOW)
    images, answers = integral_images(window), np.empty(3, dtype=bool)
    cuts = np.array([191, 192, 193])
    stumps = haar_stumps(corners_of(upper), np.zeros(3, dtype=np.int64), cuts, 24)
    _answers(stumps, images, 0, deviation_at(images, 0, *WINDOW), answers)
    assert answers.tolist() == [True, True, False]


def test_integral_images_of_all_sizes():
    for shape in ((1, 1), (5, 3), (30, 41)):
        picture = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
        images = integral_images(picture)
        for sums, values in ((images.sums, picture), (images.squares, picture.astype(int) ** 2)):
            expected = np.zeros((shape[0] + 1, shape[1] + 1), dtype=np.int64)
            expected[1:, 1:] = values.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)
            np.testing.assert_array_equal(sums.reshape(expected.shape), expected)
        assert images.sums.dtype == np.int32


def test_large_pictures_do_not_overflow():
    picture = np.full((2_910, 2_910), 255, dtype=np.uint8)
    images = integral_images(picture)
    assert images.sums.dtype == np.int64
    assert images.sums[-1] == 255 * 2_910**2 > 2**31
    assert images.squares[-1] == 255**2 * 2_910**2


WRONG = {
    "number": (FEATURES._replace(kinds=FEATURES.kinds[:-1]), "has 100 features, but kinds"),
    "kind": (FEATURES._replace(kinds=np.full(100, 5)), "kinds must be 0 to 4"),
    "negative kind": (FEATURES._replace(kinds=np.full(100, -1)), "kinds must be 0 to 4"),
    "window": (FEATURES._replace(window=(19, 19)), "in a window of 19×19 pixels"),
    "no window": (FEATURES._replace(window=(0, 24)), "A window must have 1 to"),
    "huge window": (FEATURES._replace(window=(2**11, 2**11)), "A window must have 1 to"),
    "floats": (FEATURES._replace(boxes=FEATURES.boxes + 0.5), "must be whole numbers"),
    "empty": (FEATURES._replace(boxes=FEATURES.boxes[:, [0, 1, 0, 1]]), "cannot have the outline"),
    "outside": (FEATURES._replace(boxes=FEATURES.boxes - 24), "cannot have the outline"),
    "uneven": (
        FEATURES._replace(kinds=np.zeros(100, int), boxes=np.tile([0, 0, 3, 3], (100, 1))),
        r"Feature 0, of kind 0, cannot have the outline \[0, 0, 3, 3\]",
    ),
    "none": (None, "features must be HaarFeatures"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_descriptions_are_refused(wrong):
    features, message = WRONG[wrong]
    with pytest.raises(ValueError, match=message):
        check_features(features, 100)
