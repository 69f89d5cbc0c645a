"""The descriptors of Scene-15: each image's from itself alone, and small cases worked by hand."""

import numpy as np
import pytest

import datasets
from datasets.features.scenes import (
    binary_patterns,
    detectors,
    intensities,
    oriented_filters,
    regions,
    self_similarity,
    spatial_hog,
    textons,
    words,
)
from datasets.features.scenes.descriptors import DESCRIPTORS, detector_family, families
from datasets.features.scenes.learned import learned_arrays
from datasets.features.scenes.learning import learn
from datasets.synthetic.pictures import Pictures

CATEGORIES = Pictures("categories", (128, 128, 3), 101)
PICTURES = Pictures("pictures", (200, 200), 15)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Codebooks and detectors learned on two drawn pictures of each of 101 categories."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield learn(*CATEGORIES.draw(202, 0, "train"), "0" * 64)


@pytest.fixture(scope="module")
def drawn():
    return PICTURES.draw(3, 0, "train")[0]


NAMES = ("gist", "spatial_hog", "lbp", "self_similarity", "texton", "geometric_texton")
ALL = (*NAMES, "geometric_intensity", "detectors")


@pytest.mark.parametrize("k", range(len(ALL)), ids=ALL)
def test_a_descriptor_depends_on_its_own_picture_only(learned, drawn, k):
    family = families(learned)[k]
    assert family.name == ALL[k]
    whole = family.columns(drawn)
    np.testing.assert_array_equal(family.columns(drawn[2:3])[0], whole[2])
    np.testing.assert_array_equal(family.columns(drawn[::-1])[::-1], whole)
    assert len(np.unique(whole, axis=0)) == len(drawn)


def test_layout_of_the_columns(learned):
    sizes = [family.size((200, 200)) for family in families(learned)]
    assert len(DESCRIPTORS) == 108
    assert sum(sizes) == DESCRIPTORS[-1].columns.stop == 24_371
    for descriptor, size, first in zip(
        DESCRIPTORS, sizes[:-1], np.cumsum([0, *sizes]), strict=False
    ):
        assert descriptor.columns == slice(first, first + size)
    assert DESCRIPTORS[7].columns == slice(sum(sizes[:-1]), sum(sizes[:-1]) + 84)


@pytest.mark.parametrize("k", [0, 57, 100])
def test_a_detector_alone_gives_what_all_give(learned, drawn, k):
    every = families(learned)[-1].columns(drawn)
    alone = detector_family(learned, k).columns(drawn)
    np.testing.assert_array_equal(alone, every[:, 84 * k : 84 * (k + 1)])


def test_what_is_learned_depends_on_the_pictures_and_is_checked(learned, monkeypatch, tmp_path):
    found = learned_arrays(learned)
    assert found["hog_words"].shape == (300, 36)
    assert found["similarity_words"].shape == (300, 30)
    assert found["textons"].shape == (256, 32)
    assert found["detectors"].shape == (101, 900)
    for name in ("hog_words", "similarity_words", "textons", "detectors"):
        np.testing.assert_array_equal(found[name], np.rint(found[name]))
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path))
    with pytest.raises(datasets.DataUnavailable, match="data fetch scene15"):
        learned_arrays(learned)


def test_products_are_exact_in_single_precision(learned):
    found = learned_arrays(learned)
    for name, largest in (("detectors", 3_190), ("hog_words", 2_800), ("textons", 2_800)):
        assert np.linalg.norm(found[name], axis=1).max() * largest < 2**24


def test_detectors_answer_to_their_own_category(learned):
    arrays = learned_arrays(learned)
    drawn, labels = CATEGORIES.draw(202, 0, "train")
    scores = np.empty((202, 101))
    for i, picture in enumerate(drawn):
        small = detectors.resized(datasets.features.pixels.grey(picture[None])[0], 48)
        window = detectors.windows(small).reshape(-1)
        scores[i] = (arrays["detectors"] @ window - arrays["detector_offset"]) / arrays[
            "detector_own"
        ]
    own = scores[np.arange(202), labels]
    np.testing.assert_allclose(own.reshape(2, 101).mean(axis=0), 1, rtol=1e-5)
    assert (own > np.median(scores, axis=1)).mean() > 0.95


def test_pooling_is_the_largest_in_each_cell():
    scores = np.random.default_rng(0).normal(size=(6, 5, 3))
    found = detectors.pooled(scores)
    rows, columns = [0, 0, 1, 2, 2, 3], [0, 0, 1, 2, 3]  # floor(4 r / 6), floor(4 c / 5)
    cell = np.add.outer(4 * np.array(rows), columns)
    for k in range(16):
        np.testing.assert_array_equal(found[5 + k], scores[cell == k].max(axis=0))
    np.testing.assert_array_equal(found[0], scores.max(axis=(0, 1)))
    np.testing.assert_array_equal(found[1], found[[5, 6, 9, 10]].max(axis=0))


def test_nearest_word_is_the_first_of_the_nearest():
    rng = np.random.default_rng(1)
    points = rng.integers(0, 9, (200, 4)).astype(np.float32)
    book = rng.integers(0, 9, (30, 4)).astype(np.float32)
    squares = ((points[:, None] - book) ** 2).sum(axis=2)
    np.testing.assert_array_equal(words.nearest(points, book), squares.argmin(axis=1))
    grid = words.nearest(points.reshape(10, 20, 4), book)
    np.testing.assert_array_equal(grid, squares.argmin(axis=1).reshape(10, 20))


def test_pyramid_of_words_by_hand():
    word_of = np.zeros((4, 4), dtype=np.int64)
    word_of[0, 0] = 1
    found = words.pyramid(word_of, 2).reshape(21, 2)
    assert found[0].tolist() == [round(255 * np.sqrt(15 / 16)), round(255 / 4)]
    assert found[1].tolist() == [round(255 * np.sqrt(3 / 4)), round(255 / 2)]
    assert found[5].tolist() == [0, 255]
    assert (found[[2, 3, 4, *range(6, 21)]] == [255, 0]).all()


def test_binary_patterns_of_a_flat_picture():
    found = binary_patterns.binary_patterns(np.full((1, 40, 40), 9, dtype=np.uint8))
    inside = found.reshape(21, 59)[[10, 11, 14, 15]]  # scikit-image sees black beyond the edge
    assert (inside == 255).sum() == (inside > 0).sum() == 4  # one pattern, everywhere
    number = binary_patterns._uniform()
    assert sorted(np.bincount(number)) == [1] * 58 + [198]


def test_regions_share_every_pixel_and_lie_where_they_are_said_to():
    picture = np.full((120, 80), 100, dtype=np.uint8)
    picture[:, 40:] = np.random.default_rng(0).integers(0, 256, (120, 40))
    sky, vertical, porous, ground = regions.region_weights(picture)
    assert (sky + vertical + porous + ground == 16).all()
    assert (sky[:20] == 16).all()
    assert (sky[60:] == 0).all()
    np.testing.assert_array_equal(ground, sky[::-1])
    assert (porous[55:65, :35] == 0).all()
    assert (porous[55:65, 45:70] >= 14).all()  # sums at the edge are smaller
    assert (vertical[55:65, :35] >= 14).all()


def test_intensities_by_region():
    picture = np.zeros((1, 120, 80), dtype=np.uint8)
    picture[:, 60:] = 200
    found = intensities.geometric_intensities(picture).reshape(4, 64)
    assert found[0].tolist() == [255] + [0] * 63
    assert np.flatnonzero(found[3]).tolist() == [50]
    assert found[3, 50] == 255


def test_roughness_is_a_sum_over_nine_by_nine():
    picture = np.random.default_rng(3).integers(0, 256, (30, 40), dtype=np.uint8)
    right, down = datasets.features.pixels.central_differences(picture)
    size = np.abs(right.astype(int)) + np.abs(down)
    found = regions._roughness(picture)
    assert found[12, 20] == size[8:17, 16:25].sum()
    assert found[0, 39] == size[:5, 35:].sum()


def test_spatial_hog_blocks_are_those_of_every_place():
    picture = PICTURES.draw(1, 1, "test")[0][0]
    found = spatial_hog.blocks(picture)
    assert found.shape == (24, 24, 36)
    assert found.max() <= 255
    window = detectors.windows(picture)
    expected = found[3:8, 7:12].transpose(2, 0, 1).reshape(-1)
    np.testing.assert_array_equal(window[3, 7], expected)


def test_self_similarity_equals_a_plain_loop():
    picture = PICTURES.draw(1, 2, "test")[0][0][:80, :90]
    found = self_similarity.similarities(picture)
    small = np.asarray(picture, dtype=np.int64).reshape(40, 2, 45, 2).sum(axis=(1, 3))
    half = (small + 2) // 4
    assert found.shape == (4, 6, 30)  # places 12, 16 … below 28 and 33

    def patch(r, c):
        return half[r - 2 : r + 3, c - 2 : c + 3]

    r, c = 12 + 4, 12 + 8
    best, near = np.zeros(30), 0
    similar = {}
    for dr in range(-10, 11):
        for dc in range(-10, 11):
            distance = np.hypot(dr, dc)
            if 0 < distance <= 10:
                ssd = ((patch(r, c) - patch(r + dr, c + dc)) ** 2).sum()
                ring = 0 if distance <= 3 else 1 if distance <= 5.5 else 2
                turn = np.round(np.arctan2(dr, dc) * 10 / (2 * np.pi), 9) % 10
                similar[dr, dc] = (10 * ring + int(turn), ssd)
                if max(abs(dr), abs(dc)) == 1:
                    near = max(near, ssd)
    for cell, ssd in similar.values():
        best[cell] = max(best[cell], np.exp(-ssd / max(near, 25 * 15**2)))
    np.testing.assert_array_equal(found[1, 2], np.rint(255 * best / best.max()))


def test_oriented_filters_answer_to_their_stripes():
    v, u = np.mgrid[0:96, 0:96]
    for k in (0, 2, 5):
        angle = k * np.pi / 8
        stripes = np.cos(2 * np.pi * 0.125 * (u * np.cos(angle) + v * np.sin(angle)))
        energy = np.abs(oriented_filters.responses(stripes.astype(np.float32), (0.25, 0.125)))
        assert energy[:, 30:66, 30:66].mean(axis=(1, 2)).argmax() == 8 + k
    flat = oriented_filters.responses(np.full((40, 40), 3, dtype=np.float32), (0.25,))
    assert np.abs(flat).max() < 1e-5


def test_filter_responses_of_a_flat_picture_are_nothing():
    found = textons.filter_responses(np.full((32, 48), 77, dtype=np.uint8))
    assert found.shape == (16, 24, 32)
    assert (found == 0).all()


def test_detectors_see_the_whole_picture_at_four_sizes():
    small = detectors.resized(np.full((200, 200), 5, dtype=np.uint8), 72)
    assert small.shape == (72, 72)
    assert (small == 5).all()
    assert detectors.windows(small).shape == (4, 4, 900)
