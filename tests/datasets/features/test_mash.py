"""The nineteen families of `mash`: how many, frozen, and a value of each kind by hand."""

import numpy as np
import pytest
import pywt

from datasets import features, registered
from datasets.features import cell_gradients, mash, padded_transforms, rectangle_sums
from datasets.features.families import SHAPES, Family
from datasets.features.pixels import central_differences
from tests.datasets.features.test_features import pictures


def family(name: str) -> Family:
    """One of the nineteen."""
    return next(one for one in mash.NINETEEN if one.name == name)


def image(rows) -> np.ndarray:
    """One image, (1, h, w[, 3])."""
    return np.array(rows, dtype=np.uint8)[None]


# --- all of them ----------------------------------------------------------------------------------


def test_the_images_are_those_of_the_set():
    assert "mnist_mash" not in registered.names()
    assert registered.images_named("mnist_mash") == registered.images_named("mnist") == "mnist"
    assert registered.modules_of("mnist_mash") == ("datasets.mnist", "datasets.features.mash")
    ours, first = (features.images_of(name, scale="smoke") for name in ("mnist_mash", "mnist"))
    np.testing.assert_array_equal(ours.train, first.train)
    assert ours.provenance["checksum"] == first.provenance["checksum"]


# --- transforms -----------------------------------------------------------------------------------


def test_fourier_magnitude_and_phase():
    rows = np.random.default_rng(0).integers(0, 256, (3, 6))
    wide = np.zeros((4, 8))
    wide[:3, :6] = rows
    spectrum = np.fft.fft2(wide)
    magnitude, phase = family("fourier").compute(image(rows)).reshape(2, 4, 8).astype(int)
    level = 255 * np.log1p(np.abs(spectrum) / 32**0.5) / np.log1p(255 * 32**0.5)
    assert np.abs(magnitude - level).max() < 0.51
    turned = np.abs(phase - (127.5 + 127.5 * np.angle(spectrum) / np.pi))
    assert np.minimum(turned, 255 - turned).max() < 0.51
    # A flat plane has one coefficient, and nothing has the phase 0.
    flat = family("fourier").compute(np.full((1, 4, 4), 255, np.uint8)).reshape(2, 16)
    assert flat[0].tolist() == [255] + [0] * 15
    assert set(flat[1].tolist()) == {128}


def test_haar_by_hand_and_against_the_library():
    columns = family("haar").compute(image([[10, 20], [30, 60]])).reshape(2, 2)
    # Means of rows: 15, 45, half differences -5, -15; then of columns.
    details = {(0, 1): -10, (1, 0): -15, (1, 1): 5}
    assert columns[0, 0] == 30
    for place, value in details.items():
        assert columns[place] == round(128 + 127 * np.sign(value) * (abs(value) / 127.5) ** 0.5)
    rows = np.random.default_rng(1).integers(0, 256, (4, 4))
    mean, *_ = pywt.wavedec2(rows.astype(float), "haar", level=2)
    assert family("haar").compute(image(rows))[0, 0] == np.floor(mean[0, 0] / 4 + 0.5)
    # An image that is no square goes on along its longer side; the padding is black.
    assert family("haar").compute(np.full((1, 8, 2), 100, np.uint8)).tolist()[0][:2] == [100, 128]
    assert family("haar").compute(np.full((1, 3, 2), 100, np.uint8))[0, 0] == 75


@pytest.mark.parametrize("radius", [1, 2])
def test_box_sums_are_sums_over_mirrored_windows(radius):
    values = np.random.default_rng(2).integers(0, 100, (2, 5))
    wide = np.concatenate((values[:, :radius][:, ::-1], values, values[:, ::-1][:, :radius]), 1)
    expected = [[wide[i, j : j + 2 * radius + 1].sum() for j in range(5)] for i in range(2)]
    np.testing.assert_array_equal(padded_transforms.box_sums(values, radius, 1), expected)


def test_blurred_gradient():
    assert [padded_transforms.blur_radius(SHAPES[name], 3) for name in mash.NAMES] == [5, 6, 11]
    assert [padded_transforms.blur_radius(SHAPES[name], 6) for name in mash.NAMES] == [3, 3, 6]
    # A ramp has the same gradient everywhere but in the first and last column.
    ramp = np.tile(np.arange(0, 180, 3, dtype=np.uint8), (1, 60, 1))
    columns = family("blurred_gradient_narrow").compute(ramp).reshape(60, 60)
    assert columns[30, 30] == round(255 * (6 / (255 * 2**0.5)) ** 0.5)
    assert columns[30, 0] < columns[30, 30]
    assert (columns == columns[0]).all()


def test_local_binary_patterns_by_hand():
    rows = image([[9, 5, 1], [5, 5, 6], [9, 0, 5]])
    # Clockwise from the upper left: 9 5 1 6 5 0 9 5 against 5.
    assert family("lbp").compute(rows).tolist() == [[0b10010010]]
    # Row by row 9 5 1 5 5 6 9 0 5 against the mean of 5; the first falls out.
    assert family("ilbp").compute(rows).tolist() == [[0b00001100]]


# --- sums over rectangles -------------------------------------------------------------------------


def test_corners_are_uniform_and_enclose_an_area():
    boxes = rectangle_sums.corner_rectangles("test", (3, 2), 4_000)
    assert (boxes[:, :2] < boxes[:, 2:]).all()
    assert boxes.min() == 0
    assert boxes[:, 2].max() == 3
    assert boxes[:, 3].max() == 2
    heights = np.bincount(boxes[:, 2] - boxes[:, 0])[1:] / len(boxes)
    np.testing.assert_allclose(heights, [3 / 6, 2 / 6, 1 / 6], atol=0.03)


def test_boxed_sums():
    rows = np.random.default_rng(3).integers(0, 256, (5, 4))
    boxes = rectangle_sums.corner_rectangles("boxed sums", rows.shape, 50)
    expected = [np.floor(rows[top:low, left:right].mean() + 0.5) for top, left, low, right in boxes]
    np.testing.assert_array_equal(rectangle_sums.boxed_sums(image(rows), 50)[0], expected)


def test_joint_histogram_of_grey_levels():
    columns = family("histogram_joint").compute(image([[0, 0], [0, 255]]))[0]
    assert columns[0] == round(255 * 0.75**0.5)
    assert columns[511] == round(255 * 0.25**0.5)
    assert np.count_nonzero(columns) == 2


def test_an_edge_by_hand():
    """A bright half: edges lead into it from the left, row by row, and nowhere else upright."""
    levels = image([[10, 10, 90, 90]] * 4)
    right = rectangle_sums.ORIENTATIONS.index((0, 1))
    np.testing.assert_array_equal(
        rectangle_sums.edges_towards(levels, right)[0], [[False, True, False, False]] * 4
    )
    for orientation in (2, 4, 6):
        assert not rectangle_sums.edges_towards(levels, orientation).any()
    # As large a difference beside it: no edge.
    assert not rectangle_sums.edges_towards(image([[10, 50, 90, 90]] * 4), right)[0, :, 0].any()
    turned = np.rot90(levels, axes=(1, 2))
    up = rectangle_sums.ORIENTATIONS.index((-1, 0))
    np.testing.assert_array_equal(
        rectangle_sums.edges_towards(turned, up),
        np.rot90(rectangle_sums.edges_towards(levels, right), axes=(1, 2)),
    )


def test_edges_are_counted_in_rectangles():
    rows = np.random.default_rng(4).integers(0, 256, (8, 8))
    bins = rectangle_sums._choices("oriented edges", 8, 50)
    planes = [rectangle_sums.edges_towards(image(rows), b)[0] for b in range(8)]
    boxes = rectangle_sums.corner_rectangles("oriented edges", (8, 8), 50)
    shares = [
        planes[b][top:bottom, left:right].mean()
        for b, (top, left, bottom, right) in zip(bins, boxes, strict=True)
    ]
    found = rectangle_sums.oriented_edges(image(rows), 50)[0]
    np.testing.assert_array_equal(found, np.rint(255 * np.sqrt(shares)))
    assert len(set(found.tolist())) > 3


@pytest.mark.parametrize(("bins", "oriented"), [(12, True), (9, False)])
def test_a_gradient_is_shared_between_two_bins(bins, oriented):
    first, before, after = rectangle_sums.shared_bins(bins, oriented)
    turn = 2 * np.pi if oriented else np.pi
    for gx, gy in ((100, 0), (0, 100), (-100, 0), (30, -40), (-7, 3)):
        place = (gy + 255) * 511 + gx + 255
        angle = (np.arctan2(gy, gx) * bins / turn) % bins
        assert first[place] == int(round(angle, 9)) % bins
        assert before[place] + after[place] == round(16 * np.hypot(gx, gy))
        assert abs(after[place] - 16 * np.hypot(gx, gy) * (angle % 1)) < 1.01
    assert after[(0 + 255) * 511 + 100 + 255] == 0


@pytest.mark.parametrize("normal", [False, True])
def test_a_bin_is_summed_over_its_rectangle(normal):
    rows = np.random.default_rng(5).integers(0, 256, (9, 9))
    levels = rectangle_sums.normalised(image(rows)) if normal else image(rows)
    gx, gy = (g[0].astype(float) for g in central_differences(levels))
    bins, turn = (9, np.pi) if normal else (12, 2 * np.pi)
    seed = "normalised gradients" if normal else "gradients"
    boxes = rectangle_sums.corner_rectangles(seed, (9, 9), 50)
    expected = []
    for b, (top, left, bottom, right) in zip(
        rectangle_sums._choices(seed, bins, 50), boxes, strict=True
    ):
        apart = (np.arctan2(gy, gx) * bins / turn - b) % bins
        share = np.maximum(0, 1 - np.minimum(apart, bins - apart))
        mean = (share * np.hypot(gx, gy))[top:bottom, left:right].mean()
        expected.append(255 * np.sqrt(mean / (255 * 2**0.5)))
    found = rectangle_sums.gradient_sums(image(rows), 50, bins, not normal, normal)[0]
    assert np.abs(found - expected).max() < 1.5  # magnitudes are in sixteenths of a level
    assert np.abs(found - expected).mean() < 0.35


def test_levels_divided_by_their_surroundings():
    assert (rectangle_sums.normalised(np.full((1, 9, 9), 50, np.uint8)) == 64).all()
    assert (rectangle_sums.normalised(np.zeros((1, 9, 9), np.uint8)) == 0).all()
    spot = np.zeros((1, 12, 12), np.uint8)
    spot[0, 6, 6] = 200  # alone among the 25 pixels of radius 2: five times their RMS, cut
    assert rectangle_sums.normalised(spot)[0, 6, 6] == 255


def test_haar_like_features_are_in_standard_deviations():
    rows = np.tile(np.repeat([50, 150], 4), (8, 1))
    found = rectangle_sums.haar_divided(image(rows), 1_000)[0]
    assert set(found[:200].tolist()) >= {128 - 64, 128}  # dark beside bright: two deviations
    assert (found[200:400] == 128).all()  # nothing changes downwards
    np.testing.assert_array_equal(found, rectangle_sums.haar_divided(image(rows // 2), 1_000)[0])
    assert (rectangle_sums.haar_divided(np.full((1, 8, 8), 9, np.uint8), 10) == 128).all()


# --- cells ----------------------------------------------------------------------------------------


def test_blocks_leave_out_what_fills_no_cell():
    images = pictures((28, 28))
    whole = np.ascontiguousarray(images[:, :24, :24])
    np.testing.assert_array_equal(
        family("hog_blocks_8").compute(images), family("hog_blocks_8").compute(whole)
    )


def test_blurred_orientations_of_a_ramp():
    ramp = np.tile(np.arange(0, 180, 3, dtype=np.uint8), (1, 60, 1))
    columns = family("hog_blurred").compute(ramp).reshape(30, 30, 8)
    assert columns[15, 15, 0] == round(255 * (6 / (255 * 2**0.5)) ** 0.5)
    assert (columns[..., 1:] == 0).all()


def test_pixels_are_shared_by_four_cells():
    """The four cells of eight by eight pixels around each pixel, by their distances."""
    rows = np.random.default_rng(6).integers(0, 256, (16, 16))
    found = cell_gradients.shared_cells(image(rows))[0].sum(axis=-1)
    gx, gy = (g[0].astype(float) for g in central_differences(image(rows)))
    magnitude = np.rint(16 * np.hypot(gx, gy))
    near = np.maximum(0, 1 - np.abs((np.arange(16) + 0.5)[None] - np.array([[4], [12]])) / 8)
    np.testing.assert_allclose(found, 256 * near @ magnitude @ near.T)


def test_felzenszwalb_by_hand():
    """A ramp to the right: one bin in all cells, the same in all blocks of the middle."""
    ramp = np.tile(np.arange(0, 160, 5, dtype=np.uint8), (1, 32, 1))
    columns = family("hog_felzenszwalb").compute(ramp).reshape(4, 4, 31)[1, 1]
    # The bin is half of its block's length, or a little more beside the border: cut at 0.2.
    assert columns[0] == columns[18] == 255
    assert (columns[27:] == round(255 * (1 / 18) ** 0.5)).all()
    assert np.count_nonzero(columns) == 6
    flat = family("hog_felzenszwalb").compute(np.full((1, 28, 28), 7, np.uint8))
    assert not flat.any()
