"""The SEG measure and connected components: twins, limits, cases worked out by hand."""

import math

import numpy as np
import pytest

from experiments.cegb_2017.cells import segmentation as fast
from tests.experiments.cegb_2017 import naive_segmentation as reference


def blocks(n, *places):
    """Label image of n×n pixels with rectangles (label, y0, y1, x0, x1)."""
    image = np.zeros((n, n), dtype=np.int32)
    for label, y0, y1, x0, x1 in places:
        image[y0:y1, x0:x1] = label
    return image


@pytest.mark.parametrize("seed", range(20))
def test_twins_agree(seed):
    rng = np.random.default_rng(seed)
    coarse = rng.random((2, 9, 11))
    scores = np.kron(coarse, np.ones((3, 3))) + 0.3 * rng.random((2, 27, 33))
    frames = []
    for image in scores:
        truth = reference.segment(image, 0.8, 3)
        noisy = image + 0.25 * rng.normal(size=image.shape)
        for threshold, least in ((0.5, 1), (0.8, 4), (1.1, 9), (5.0, 1)):
            result = reference.segment(noisy, threshold, least)
            np.testing.assert_array_equal(fast.segment(noisy, threshold, least), result)
            expected = reference.object_scores(truth, result)
            np.testing.assert_array_equal(fast.object_scores(truth, result), expected)
            frames.append((truth, result))
    pieces = [fast.object_scores(*frame) for frame in frames]
    assert fast.seg_measure(pieces) == reference.seg_measure(frames)
    assert 0 < fast.seg_measure(pieces) < 1


TWO = blocks(12, (3, 0, 4, 0, 4), (7, 6, 9, 6, 12))
EIGHT_PIXELS = blocks(8, (1, 0, 2, 0, 4))


@pytest.mark.parametrize(
    ("truth", "result", "scores"),
    [
        (TWO, TWO, [1.0, 1.0]),
        (TWO, 0 * TWO, [0.0, 0.0]),
        # More than half must be covered: four of eight pixels are not, five are.
        (EIGHT_PIXELS, blocks(8, (1, 0, 2, 0, 2)), [0.0]),
        (EIGHT_PIXELS, blocks(8, (1, 0, 2, 0, 2), (1, 0, 1, 2, 3)), [5 / 8]),
        # Two that touch, found as one: more than half of each, at half the Jaccard index.
        (blocks(10, (1, 0, 4, 0, 3), (2, 0, 4, 3, 6)), blocks(10, (1, 0, 4, 0, 6)), [0.5, 0.5]),
        # The area outside counts against it.
        (blocks(10, (1, 0, 2, 0, 2)), blocks(10, (5, 0, 4, 0, 4)), [4 / 16]),
    ],
)
def test_scores_by_hand(truth, result, scores):
    np.testing.assert_array_equal(fast.object_scores(truth, result), scores)


def test_no_reference_object():
    empty = blocks(8)
    for result in (empty, blocks(8, (1, 0, 2, 0, 2))):
        assert fast.object_scores(empty, result).shape == (0,)
        assert math.isnan(reference.seg_measure([(empty, result)]))
    assert math.isnan(fast.seg_measure([np.zeros(0)]))
    assert math.isnan(fast.seg_measure([]))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
def test_labels_of_any_size(dtype):
    """Labels name objects, their size takes no memory."""
    largest = int(np.iinfo(dtype).max)
    truth = blocks(10, (1, 0, 2, 0, 2), (2, 5, 8, 5, 7)).astype(dtype)
    result = blocks(10, (1, 0, 4, 0, 4), (2, 5, 8, 5, 7)).astype(dtype) * dtype(largest // 2)
    np.testing.assert_array_equal(fast.object_scores(truth, result), [4 / 16, 1.0])


def test_the_mean_is_over_objects_not_frames():
    assert fast.seg_measure([np.array([1.0]), np.array([0.0, 0.0])]) == 1 / 3


def test_components_touch_at_corners_and_specks_are_dropped():
    scores = np.zeros((6, 6))
    scores[0, 0] = scores[1, 1] = scores[2, 2] = 1.0
    scores[5, 5] = 1.0
    assert fast.segment(scores, 0.5, 1).max() == 2
    kept = fast.segment(scores, 0.5, 2)
    assert kept.max() == 1
    assert np.count_nonzero(kept) == 3
    assert fast.segment(scores, 1.0, 1).max() == 0  # a score equal to the threshold is not above


def test_wrong_input():
    image = blocks(4)
    with pytest.raises(ValueError, match="image of shape"):
        fast.segment(np.zeros(4), 0.5, 1)
    with pytest.raises(ValueError, match="truth must be"):
        fast.object_scores(image.astype(float), image)
    with pytest.raises(ValueError, match="result must be"):
        fast.object_scores(image, image - 1)
    with pytest.raises(ValueError, match="different shapes"):
        fast.object_scores(image, blocks(5))
