"""The feature families of Caltech-101: sizes, values found by hand, independence of the batch."""

import hashlib
import pickle

import numpy as np
import pytest

from datasets.errors import ChecksumMismatch
from datasets.features import gabor, phog, textures, visual_words
from datasets.features.caltech import FAMILIES
from datasets.features.gradients import cell_numbers, differences, image_by_image, luma, opponent

FAMILY_NAMES = [family.name for family in FAMILIES["caltech101"]]
SIDE = 64


def pictures(n=3, side=SIDE, seed=0):
    """Blocks of colour under noise: edges, flat parts and texture."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 200, (n, 4, 4, 3)).repeat(side // 4, axis=1).repeat(side // 4, axis=2)
    return (blocks + rng.integers(0, 30, blocks.shape)).astype(np.uint8)


def grey(levels):
    """Turn grey levels into an image with three equal channels."""
    return np.repeat(np.asarray(levels, dtype=np.uint8)[:, :, None], 3, axis=2)


def step(side=SIDE, dark=40, bright=200):
    """Dark left half, bright right half."""
    return grey(np.where(np.arange(side) < side // 2, dark, bright)[None].repeat(side, axis=0))


def family(name):
    return FAMILIES["caltech101"][FAMILY_NAMES.index(name)]


# Every family


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_columns_do_not_depend_on_the_batch(name):
    images = pictures()
    together = family(name).columns(images)
    assert together.dtype == np.uint8
    for i in reversed(range(len(images))):
        np.testing.assert_array_equal(family(name).columns(images[i : i + 1])[0], together[i])


@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_columns_tell_images_apart_and_stay_in_range_on_extremes(name):
    images = np.stack((*pictures(1), np.zeros((SIDE, SIDE, 3), np.uint8), step(dark=0, bright=255)))
    images = np.concatenate((images, np.full_like(images[:1], 255)))
    columns = family(name).columns(images)
    assert (columns[0] != columns[1]).any()
    assert (columns[1] != columns[2]).any()
    np.testing.assert_array_equal(columns[1], columns[3])  # black and white are equally flat


@pytest.mark.parametrize("name", ["phog_180_0", "words_colour_300_1", "gabor_2"])
def test_a_family_travels_to_a_worker_process(name):
    images = pictures(1)
    copy = pickle.loads(pickle.dumps(family(name)))
    np.testing.assert_array_equal(copy.columns(images), family(name).columns(images))


def test_no_image_gives_no_row():
    assert family("lbp_0").columns(pictures(1)[:0]).shape == (0, 256)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((1, 32, 32), np.uint8), "shape"),
        (np.zeros((1, 32, 32, 3)), "float64"),
        (np.zeros((1, 32, 31, 3), np.uint8), "32×31"),
        (np.zeros((1, 0, 8, 3), np.uint8), "0×8"),
    ],
)
def test_images_of_the_wrong_kind_are_refused(images, message):
    with pytest.raises(ValueError, match=message):
        image_by_image(images, 1, lambda image: image[0, 0])


# Grey levels, differences, cells


def test_opponent_colours_by_hand():
    image = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [77, 77, 77]]], np.uint8)
    grey_levels, red_green, yellow_blue = opponent(image)
    assert grey_levels.tolist() == luma(image).tolist() == [[76, 150, 29, 77]]
    assert red_green.tolist() == [[255, 0, 127, 127]]
    assert yellow_blue.tolist() == [[191, 191, 0, 127]]


def test_differences_repeat_the_edge():
    down, right = differences(np.array([[0, 10, 255], [5, 5, 5]], np.uint8))
    assert right.tolist() == [[10, 255, 245], [0, 0, 0]]
    assert down.tolist() == [[5, -5, -250], [5, -5, -250]]


def test_cells_run_row_by_row():
    assert cell_numbers((4, 4), 1).tolist() == [[0, 0, 1, 1]] * 2 + [[2, 2, 3, 3]] * 2
    assert cell_numbers((4, 4), 0).tolist() == [[0] * 4] * 4


def test_cells_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match="4×6 places cannot be cut into 4 by 4"):
        cell_numbers((4, 6), 2)
    with pytest.raises(ValueError, match="4×4 places"):  # four words a side, eight cells
        family("words_grey_300_3").columns(pictures(1, side=32))


# PHOG


def test_directions_by_hand():
    down, right = np.array([0, 5, 0, -5, 5]), np.array([7, 0, -7, 0, 5])
    assert phog.direction_bins(down, right, 360).tolist() == [0, 10, 20, 30, 5]
    assert phog.direction_bins(down, right, 180).tolist() == [0, 10, 0, 10, 5]


def test_phog_of_a_step_is_one_direction_in_the_cells_that_it_crosses():
    images = np.stack((step(), step(dark=200, bright=40)))
    found = phog.phog(images, degrees=360, level=0)
    assert [np.flatnonzero(row).tolist() for row in found] == [[0], [20]]
    assert found.max() == 255  # all edges in one bin
    unoriented = phog.phog(images, degrees=180, level=0)
    assert [np.flatnonzero(row).tolist() for row in unoriented] == [[0], [0]]


def test_phog_of_level_1_holds_the_share_in_units_of_an_average_cell():
    image = np.zeros((64, 64, 3), np.uint8)
    image[32:] = 160
    edge = phog.phog(image[None], degrees=180, level=1)[0].reshape(4, 20)
    assert set(np.flatnonzero(edge.any(axis=0))) == {10}  # downwards: 90 degrees
    # Left and right alike; Canny marks row 31 or 32, so that all lies in two cells of four.
    rows = edge[:, 10].reshape(2, 2)
    np.testing.assert_array_equal(rows[:, 0], rows[:, 1])
    assert rows.max() == 255  # 2 average cells, cut at 1


def test_phog_value_is_the_square_root_of_the_share():
    both = step(side=64)
    both[32:, :32] = both[32:, 32:] = 120
    found = phog.phog(both[None], degrees=180, level=0)[0]
    shares = (found / 255.0) ** 2
    assert shares.sum() == pytest.approx(1, abs=0.02)
    assert np.count_nonzero(shares) >= 2


# Texture


def test_patterns_of_a_constant_image_are_all_ones():
    found = textures.patterns(np.full((1, 64, 64, 3), 90, np.uint8), level=2)[0].reshape(16, 256)
    assert (found[:, 255] == 255).all()
    assert not found[:, :255].any()


def test_pattern_value_is_the_fourth_root_of_its_share():
    image = np.full((64, 64, 3), 90, np.uint8)
    image[20, 20] = 200  # brighter than all its neighbours; each of them lacks one or two ones
    found = textures.patterns(image[None], level=0)[0]
    assert found[0] == round(255 * (1 / 64**2) ** 0.25)
    assert found[255] >= round(255 * ((64**2 - 9) / 64**2) ** 0.25)


def test_covariance_against_numpy():
    image = pictures(1)[0]
    values = textures.pixel_values(image)
    found = textures.cell_covariances(image, 1)
    corner = values[SIDE // 2 :, : SIDE // 2].reshape(-1, 9)
    np.testing.assert_allclose(found[2], np.cov(corner.T, ddof=0), atol=1e-15)


def test_logarithm_of_a_diagonal_covariance_by_hand():
    found = textures.covariance(np.zeros((1, 8, 8, 3), np.uint8), level=0)[0]
    rows, columns = np.triu_indices(9)
    assert (found[rows != columns] == 128).all()  # 0 lies in the middle
    constant = (np.log(1e-6) + 14) / 15
    place = (np.log(np.var(np.arange(8) / 8) + 1e-6) + 14) / 15
    expected = np.rint(255 * np.array([place] * 2 + [constant] * 7))
    assert found[rows == columns].tolist() == expected.tolist()


# Visual words


def test_descriptor_of_a_step_points_to_the_right():
    image = step(side=32)
    points = visual_words.descriptors(image, False)
    assert points.shape == (4, 16, 128)
    boxes = points[0].reshape(4, 4, 4, 4, 8)
    # Radius 4: the step between columns 15 and 16 lies on the border of the windows 1 and 2.
    assert not boxes[:, [0, 3]].any()
    assert set(np.flatnonzero(boxes[:, 1].reshape(-1, 8).any(axis=0))) == {0}
    # The same 4 boxes see it, all alike: each 1/2 before the cut at 0.2, and again after it.
    assert boxes[1, 1, :, 3, 0].tolist() == [256] * 4


def test_descriptors_are_whole_and_short_enough_for_exact_products():
    points = visual_words.descriptors(pictures(1)[0], True)
    assert (points == np.rint(points)).all()
    length = np.sqrt((points.astype(float) ** 2).sum(axis=2))
    assert (length[points.any(axis=2)] < 530).all()
    assert 530**2 < 2**24


def test_flat_windows_are_the_first_word():
    images = np.full((1, 32, 32, 3), 50, np.uint8)
    found = visual_words.visual_words(images, words=300, colour=False, level=1)[0].reshape(4, 300)
    assert (found[:, 0] == 255).all()
    assert not found[:, 1:].any()


def test_counts_of_a_level_are_those_of_the_next_one_summed():
    images = pictures(1)
    shares = [
        (visual_words.visual_words(images, words=300, colour=True, level=level) / 255.0) ** 2
        for level in (0, 1)
    ]
    mean = shares[1].reshape(4, 300).mean(axis=0)
    np.testing.assert_allclose(shares[0][0], mean, atol=0.01)


@pytest.mark.parametrize(
    ("words", "colour", "digest"),
    [
        (300, False, "5e974439bbbc1ee6"),
        (1000, True, "0ec15ddd81d37a15"),
    ],
)
def test_codebooks_are_the_recorded_ones(words, colour, digest):
    book = visual_words.codebook(words, colour)
    assert book.shape == (words, 384 if colour else 128)
    assert len(np.unique(book, axis=0)) == words
    assert hashlib.sha256(book.astype("<i2")).hexdigest()[:16] == digest


def test_another_photograph_is_refused(monkeypatch):
    monkeypatch.setitem(visual_words.PHOTOGRAPHS, "coffee", "0" * 64)
    visual_words.codebook.cache_clear()
    with pytest.raises(ChecksumMismatch, match="coffee"):
        visual_words.codebook(300, False)


# Gabor filters


def test_filters_have_norm_one_and_no_response_to_a_constant():
    shape = (64, 96)
    for scale in range(3):
        filters = np.fft.irfft2(gabor.transfer(shape, scale), shape)
        np.testing.assert_allclose((filters**2).sum(axis=(1, 2)), 1, rtol=1e-5)
        np.testing.assert_allclose(filters.sum(axis=(1, 2)), 0, atol=1e-5)


@pytest.mark.parametrize(("along", "best"), [(1, 0), (0, 8)])
def test_a_grating_excites_the_filter_of_its_frequency_and_orientation(along, best):
    wave = 100 + 50 * np.cos(2 * np.pi * np.arange(128) / 6)
    image = grey(np.broadcast_to(wave if along == 1 else wave[:, None], (128, 128)))
    found = gabor.responses(image, 1)[:, 32:96, 32:96].mean(axis=(1, 2))
    assert found.argmax() == 16 + best  # the second frequency of scale 1 is 1/6


def test_normalise_against_plain_loops():
    stack = np.random.default_rng(5).normal(size=(4, 6, 7)).astype(np.float32)
    found = gabor.normalise(stack)
    around = np.pad(stack.astype(float), ((0, 0), (1, 1), (1, 1)), mode="symmetric")
    for y, x in ((0, 0), (3, 4), (5, 6)):
        part = around[:, y : y + 3, x : x + 3]
        length = np.sqrt(((part - part.mean()) ** 2).sum())
        expected = (stack[:, y, x] - part.mean()) / max(length, 1)
        np.testing.assert_allclose(found[:, y, x], expected, rtol=1e-4, atol=1e-5)


def test_small_neighbourhoods_are_not_blown_up():
    stack = np.full((1, 5, 5), 0.01, np.float32)
    stack[0, 2, 2] = 0.02
    assert np.abs(gabor.normalise(stack)).max() < 0.02
