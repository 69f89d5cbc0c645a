"""The columns of the feature families: by hand, by loops, and against other implementations."""

import numpy as np
import pytest
import pywt
from skimage.feature import hog as skimage_hog

from datasets.features import image_transforms
from datasets.features.families import SHAPES
from datasets.features.gradient_histograms import PATTERNS, haar_like, hog, orientation_table
from datasets.features.intensity_histograms import (
    histogram,
    joint_histogram,
    patch_sums,
    random_rectangles,
)
from tests.datasets.features.test_features import NINETEEN, pictures


def grey_pictures(n: int = 5, side: int = 12) -> np.ndarray:
    return pictures((side, side), n)


# --- image transforms ----------------------------------------------------------------------------


COLOURS = [[[255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 9, 9]]]
SPOT = [[0, 0, 0], [0, 160, 0], [0, 0, 0]]
# mean 40; rows: (140 - 20)/4 = 30; columns: (120 - 40)/4 = 20; diagonal: (100 - 60)/4 = 10
DETAILS = [round(127 * (difference / 127.5) ** 0.5) for difference in (30, 20, 10)]
BY_HAND = {
    "grey": (image_transforms.grey, COLOURS, [76, 150, 29, 9]),
    "identity": (image_transforms.identity, COLOURS, [255, 0, 0, 9, 0, 255, 0, 9, 0, 0, 255, 9]),
    "smoothed": (image_transforms.smoothed, SPOT, [10, 20, 10, 20, 40, 20, 10, 20, 10]),
    "haar": (image_transforms.haar, [[100, 40], [20, 0]], [40, *(128 + d for d in DETAILS)]),
    "haar of the negative": (
        *(image_transforms.haar, [[155, 215], [235, 255]]),
        [215, *(128 - d for d in DETAILS)],
    ),
    "lbp of a flat image": (image_transforms.lbp, [[7] * 3] * 3, [255] * 9),
}
CENTRE = {
    # clockwise from the upper left: brighter, five darker, right equal
    "lbp": (image_transforms.lbp, [[9, 1, 1], [1, 5, 5], [1, 1, 1]], 0b1001_0000),
    "ilbp, nothing above the mean": (image_transforms.ilbp, [[0] * 3] * 3, 0),
    "ilbp": (image_transforms.ilbp, [[0] * 3, [0, 9, 0], [0] * 3], 0b1000_0000),
    "ilbp of two": (image_transforms.ilbp, [[9, 0, 0], [0, 9, 0], [0] * 3], 0b1100_0000),
    "ilbp without the ninth": (
        *(image_transforms.ilbp, [[9, 0, 0], [9, 9, 0], [0] * 3]),
        0b1100_0000,
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_transform_by_hand(name):
    transform, rows, expected = BY_HAND[name]
    np.testing.assert_array_equal(transform(np.array([rows], dtype=np.uint8)), [expected])


@pytest.mark.parametrize("name", CENTRE)
def test_pattern_of_the_centre_by_hand(name):
    transform, rows, expected = CENTRE[name]
    assert transform(np.array([rows], dtype=np.uint8))[0, 4] == expected


def test_gradient_by_hand():
    image = np.array([[[0, 10, 255], [0, 20, 255], [0, 30, 255]]], dtype=np.uint8)
    x = image_transforms.gradient(image, "x").reshape(3, 3)
    y = image_transforms.gradient(image, "y").reshape(3, 3)
    magnitude = image_transforms.gradient(image, "magnitude").reshape(3, 3)
    np.testing.assert_array_equal(x, [[128, 255, 128]] * 3)
    np.testing.assert_array_equal(y, [[128] * 3, [128, 138, 128], [128] * 3])
    assert magnitude[0, 1] == round(255 / 2**0.5)
    assert magnitude[1, 1] == round((255**2 + 20**2) ** 0.5 / 2**0.5)
    assert magnitude[0, 0] == 0


def test_fourier_is_the_discrete_transform():
    images = grey_pictures(side=8)
    turns = np.outer(np.arange(8), np.arange(8)) / 8
    matrix = np.exp(-2j * np.pi * turns)
    values = (matrix @ images.astype(float) @ matrix)[:, :, :5].reshape(5, -1)
    values = np.concatenate((values.real, values.imag), axis=1)
    level = np.log1p(np.abs(values) / 8) / np.log1p(255 * 8)
    expected = 128 + 127 * np.sign(values) * np.where(np.abs(values) < 1e-6, 0, level)
    columns = image_transforms.fourier(images)
    assert np.abs(columns - expected).max() < 0.51
    magnitude = image_transforms.fourier_magnitude(images)
    half = values.shape[1] // 2
    length = np.hypot(values[:, :half], values[:, half:])
    assert np.abs(magnitude - 255 * np.log1p(length / 8) / np.log1p(255 * 8)).max() < 0.51
    # A flat image has one coefficient; what vanishes is exactly the middle.
    assert (columns[1, 1:] == 128).all()
    white = np.full((1, 8, 8), 255, np.uint8)
    assert image_transforms.fourier_magnitude(white)[0, 0] == 255


def test_haar_is_as_deep_as_the_sides_divide():
    assert [image_transforms.haar_levels(SHAPES[name]) for name in NINETEEN] == [2, 5, 6]
    images = pictures((28, 28))
    coarsest = pywt.wavedec2(images.astype(float), "haar", level=2)[0] / 4
    columns = image_transforms.haar(images)
    assert columns.shape == (5, 784)
    assert np.abs(columns[:, :49] - coarsest.reshape(5, -1)).max() < 0.51
    assert (columns[1, :49] == 77).all()
    assert (columns[1, 49:] == 128).all()  # a flat image has no details


# --- intensity histograms ------------------------------------------------------------------------


def test_patch_sums_by_loops():
    images = grey_pictures()
    patches = random_rectangles("patch sums", (12, 12), 40)
    assert len(np.unique(patches, axis=0)) > 35
    assert (patches[:, 2:] > patches[:, :2]).all()
    assert patches.min() == 0
    assert patches.max() == 12
    columns = patch_sums(images, 40)
    for image, row in zip(images.astype(int), columns, strict=True):
        for (top, left, bottom, right), value in zip(patches, row, strict=True):
            assert value == np.floor(image[top:bottom, left:right].mean() + 0.5)


def test_histogram_by_hand():
    image = np.array([[0, 0, 0, 16], [255, 255, 255, 255]], dtype=np.uint8)[None]
    columns = histogram(image, bins=16)
    expected = np.zeros(16)
    expected[[0, 1, 15]] = np.rint(255 * np.sqrt([3 / 8, 1 / 8, 4 / 8]))
    np.testing.assert_array_equal(columns, [expected])
    cells = histogram(image, bins=2, grid=(2, 2)).reshape(4, 2)
    np.testing.assert_array_equal(cells, [[255, 0], [255, 0], [0, 255], [0, 255]])


def test_histogram_of_colours_by_hand():
    image = np.array([[[0, 0, 255], [0, 64, 255]]], dtype=np.uint8)[None]
    columns = histogram(image, bins=2, colour=True)
    np.testing.assert_array_equal(columns, [[255, 0, 255, 0, 0, 255]])
    joint = joint_histogram(image, bins=8)[0].reshape(8, 8, 8)
    half = round(255 * 0.5**0.5)
    assert joint[0, 0, 7] == half
    assert joint[0, 2, 7] == half
    assert np.count_nonzero(joint) == 2


# --- gradient histograms -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "cell"), [((28, 28), 4), ((28, 28), 7), ((32, 32, 3), 4), ((24, 40, 3), 8)]
)
def test_hog_is_scikit_images(shape, cell):
    images = pictures(shape)
    columns = hog(images, cell=cell, bins=9, oriented=False)
    for image, row in zip(images, columns, strict=True):
        theirs = skimage_hog(
            image.astype(float),
            orientations=9,
            pixels_per_cell=(cell, cell),
            cells_per_block=(2, 2),
            channel_axis=-1 if len(shape) == 3 else None,
        )
        assert row.shape == theirs.shape
        # Ours rounds magnitudes to 1/16 grey level.
        assert np.abs(row - 255 * np.sqrt(theirs)).max() < 2
        assert np.abs(row - 255 * np.sqrt(theirs)).mean() < 0.3


def test_orientations_by_hand():
    half = orientation_table(9, False).reshape(511, 511)
    full = orientation_table(18, True).reshape(511, 511)

    def bins(gx, gy):
        return half[gy + 255, gx + 255], full[gy + 255, gx + 255]

    assert bins(10, 0) == (0, 0)
    assert bins(-10, 0) == (0, 9)
    assert bins(0, 10) == (4, 4)
    assert bins(0, -10) == (4, 13)
    assert bins(200, -1) == (8, 17)
    assert bins(-200, 1) == (8, 8)
    gy, gx = np.nonzero(np.ones((511, 511)))
    opposite = full[510 - gy, 510 - gx].astype(int)
    far = (gx - 255) ** 2 + (gy - 255) ** 2 > 0
    assert ((full[gy, gx] + 9) % 18 == opposite)[far].all()
    assert (full[gy, gx] % 9 == half[gy, gx]).all()


def test_oriented_hog_tells_an_edge_from_its_negative():
    image = np.zeros((1, 8, 8), dtype=np.uint8)
    image[:, :, 4:] = 200
    edges = np.concatenate((image, 200 - image))
    unoriented = hog(edges, cell=4, bins=9, oriented=False)
    np.testing.assert_array_equal(unoriented[0], unoriented[1])
    oriented = hog(edges, cell=4, bins=18, oriented=True).reshape(2, 4, 18)
    assert set(np.nonzero(oriented[0])[1]) == {0}
    assert set(np.nonzero(oriented[1])[1]) == {9}
    # Four cells of equal length: 1/2 is cut at 0.2, normalised again it is 1/2.
    assert oriented[0, 0, 0] == round(255 * 0.5**0.5)


def test_haar_like_by_loops():
    images = grey_pictures()
    n = 20
    columns = haar_like(images, 5 * n)
    place = 0
    for number, (grid, white, black) in enumerate(PATTERNS):
        for top, left, bottom, right in random_rectangles(f"haar-like {number}", (12, 12), n, grid):
            h, w = (bottom - top) // grid[0], (right - left) // grid[1]
            for image, row in zip(images.astype(float), columns, strict=True):
                means = [
                    np.mean(
                        [
                            image[top + h * t : top + h * b, left + w * lf : left + w * r].mean()
                            for t, lf, b, r in colour
                        ]
                    )
                    for colour in (white, black)
                ]
                expected = np.floor(round((means[0] - means[1] + 256) / 2, 9))
                assert row[place] == expected
            place += 1
