"""The features of windows of faces, against naive computations and other libraries."""

import numpy as np
import pytest
from skimage.feature import hog as skimage_hog

from datasets.features.faces import families, haar, haar_columns, hog, patterns
from tests.datasets.picture_archives import noise

SHAPE = (19, 19)


def windows(n: int = 5) -> np.ndarray:
    """Noise, a smooth slope, constant, black and white halves, and one with hardly anything."""
    found = noise(5, n, *SHAPE)
    found[1] = (np.arange(19) * 7 + np.arange(19)[:, None] * 3).astype(np.uint8)
    found[2] = 131
    found[3] = np.where(np.arange(19) < 9, 0, 255)
    found[4], found[4, 0, 0] = 0, 1
    return found


# --- Haar-like -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "expected"), [(19, 63_960), (24, 162_336)])
def test_number_of_all_features_is_the_published_one(side, expected):
    outlines = {kind: haar.all_boxes(kind, (side, side)) for kind in haar.KINDS}
    assert sum(map(len, outlines.values())) == expected
    for kind, found in outlines.items():
        assert len(np.unique(found, axis=0)) == len(found)
        assert (found[:, :2] >= 0).all()
        assert (found[:, 2:] <= side).all()
        extent = found[:, 2:] - found[:, :2]
        assert (extent > 0).all()
        assert (extent % np.array(haar.KINDS[kind].grid) == 0).all()


WHITE = {
    # which pixels of an outline of 12×12 are white, by place
    "two_across": lambda r, c: c < 6,
    "two_down": lambda r, c: r < 6,
    "three_across": lambda r, c: 4 <= c < 8,
    "three_down": lambda r, c: 4 <= r < 8,
    "four": lambda r, c: (r < 6) == (c < 6),
}


def naive(window: np.ndarray, outline: np.ndarray, kind: str) -> float:
    """Difference of the means over single pixels, divided by the standard deviation."""
    top, left, bottom, right = map(int, outline)
    white, black = [], []
    for r in range(top, bottom):
        for c in range(left, right):
            place = (12 * (r - top) // (bottom - top), 12 * (c - left) // (right - left))
            (white if WHITE[kind](*place) else black).append(float(window[r, c]))
    deviation = window.astype(np.float64).std()
    return (np.mean(white) - np.mean(black)) / (deviation if deviation > 0 else 1.0)


@pytest.mark.parametrize("kind", list(haar.KINDS))
def test_haar_against_sums_by_loops(kind):
    found, n = windows(), 60
    outlines = haar.boxes(kind, SHAPE, n)
    expected = np.array([[naive(window, box, kind) for box in outlines] for window in found])
    exact = haar.values(*haar.prepared(found), SHAPE, kind, n)
    np.testing.assert_allclose(exact, expected, rtol=1e-12, atol=1e-12)
    columns = haar.haar(found, kind, n)
    np.testing.assert_array_equal(
        columns, np.clip(np.floor(128 + 32 * np.round(exact, 12)), 0, 255).astype(np.uint8)
    )
    assert len(np.unique(columns)) > 20
    assert (columns[2] == 128).all()


def test_what_lies_beyond_four_standard_deviations_is_cut_off():
    window = np.zeros((1, *SHAPE), dtype=np.uint8)
    window[0, 9, 9] = 255
    columns = np.concatenate(
        [haar.haar(window, k, len(haar.all_boxes(k, SHAPE))) for k in haar.KINDS], axis=1
    )
    assert (columns.min(), columns.max()) == (0, 255)


def test_features_are_frozen_and_different():
    for kind in haar.KINDS:
        outlines = haar.boxes(kind, SHAPE, 200)
        assert len(np.unique(outlines, axis=0)) == 200
        with pytest.raises(ValueError, match="read-only"):
            outlines[0, 0] = 1
    assert haar.boxes("two_across", SHAPE, 200)[:3].tolist() == FROZEN
    assert not np.array_equal(haar.boxes("four", SHAPE, 20), haar.boxes("four", (24, 24), 20))
    for n in (0, 10**6):
        with pytest.raises(ValueError, match=f"features four in .*, not {n}"):
            haar.boxes("four", SHAPE, n)


FROZEN = [[0, 0, 13, 16], [0, 1, 12, 17], [0, 1, 17, 15]]


# --- HOG and local binary patterns ---------------------------------------------------------------


def test_hog_against_scikit_image():
    found = noise(3, 5, *SHAPE)
    found[1] = windows()[1]
    columns = hog.hog(found)
    assert columns.shape == (5, hog.n_features(SHAPE))
    assert hog.n_features(SHAPE) == 576
    for window, row in zip(found, columns, strict=True):
        covered = window[np.ix_(np.minimum(np.arange(20), 18), np.minimum(np.arange(20), 18))]
        theirs = skimage_hog(
            covered.astype(float), orientations=9, pixels_per_cell=(4, 4), cells_per_block=(2, 2)
        )
        # Ours rounds magnitudes to 1/16 grey level.
        assert np.abs(row - 255 * np.sqrt(theirs)).max() < 2
    assert hog.prepared(found).shape == (5, 5, 5, 9)


def naive_pattern(window: np.ndarray, r: int, c: int, steps: list[tuple[int, int]]) -> int:
    """Pattern of some neighbours of a pixel, the first one the highest bit; edges repeated."""
    code = 0
    for down, right in steps:
        neighbour = window[min(max(r + down, 0), 18), min(max(c + right, 0), 18)]
        code = 2 * code + int(neighbour >= window[r, c])
    return code


def test_patterns_against_counting():
    found = windows()
    columns = patterns.patterns(found)
    assert columns.shape == (5, patterns.N_FEATURES)
    four_steps = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    eight_steps = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    uniform = [code for code in range(256) if changes(code) <= 2]
    for window, row in zip(found, columns, strict=True):
        expected, whole = [], dict.fromkeys([*uniform, "other"], 0)
        for top in (0, 5, 10):
            for left in (0, 5, 10):
                counts = np.zeros(16)
                for r in range(top, top + 9):
                    for c in range(left, left + 9):
                        counts[naive_pattern(window, r, c, four_steps)] += 1
                expected += np.rint(255 * np.sqrt(counts / 81)).tolist()
        for r in range(19):
            for c in range(19):
                code = naive_pattern(window, r, c, eight_steps)
                whole[code if code in whole else "other"] += 1
        expected += np.rint(255 * np.sqrt(np.array(list(whole.values())) / 361)).tolist()
        assert row.tolist() == expected


def changes(code: int) -> int:
    """Changes between neighbouring bits of a pattern, around the circle."""
    bits = f"{code:08b}"
    return sum(bits[i] != bits[i - 1] for i in range(8))


# --- all of them ---------------------------------------------------------------------------------


def test_families_deliver_what_they_promise():
    found = windows()
    for family in families.FAMILIES:
        columns = family.columns(found)
        np.testing.assert_array_equal(family.columns(found[1:2])[0], columns[1])
        assert len(np.unique(columns)) > 5
    names = families.feature_names()
    assert len(set(names)) == families.N_FEATURES == 1_779
    assert names[0] == "haar_two_across_" + "_".join(map(str, FROZEN[0]))
    assert (names[1000], names[-1]) == ("hog_0", "lbp_202")
    assert np.bincount(families.feature_groups()).tolist() == [1000, 576, 203]
    assert families.GROUPS == ("haar", "hog", "lbp")


def test_what_is_shared_is_what_the_families_use():
    found = windows()
    by_group = {part.group: part.prepare for part in families.PARTS}
    assert by_group["haar"] is haar.prepared
    assert by_group["hog"] is hog.prepared
    assert by_group["lbp"] is patterns.prepared
    np.testing.assert_array_equal(
        hog.prepared(found), hog.gradients.cell_histograms(hog.padded(found), 4, 9, False)
    )


# --- Haar-like columns alone ---------------------------------------------------------------------


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
