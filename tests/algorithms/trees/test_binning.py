"""Binning: every edge against the reference, and the memory layout bin by bin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.grid import row_weights
from algorithms.trees import binning
from reference import grid as reference_grid
from reference import trees as reference
from tests.twins import awkward_data, with_missing

EXTREMES = [
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.0, np.nextafter(1, 2), -1.0,
    np.nextafter(1, 0), 1e300, -1e300, 1.7976931348623157e308, -1.7976931348623157e308, 0.1,
    0.1 + 0.2, 0.3,
]  # fmt: skip


def assert_same_edges(x, weights=None, max_bins=255):
    """Assert equal edges, and that the edges keep the values apart."""
    x = np.asarray(x, dtype=np.float64)
    real = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    counts = None if weights is None else row_weights(real, len(x)).counts
    ours = binning.bin_edges(x, counts, max_bins)
    theirs = reference.bin_edges(x, reference_grid.row_weights(real), max_bins)
    np.testing.assert_array_equal(ours, theirs)
    assert not np.any(np.signbit(ours) & (ours == 0))
    assert ours.dtype == np.float64
    assert len(ours) < max_bins
    assert np.all(np.diff(ours) > 0)
    values = np.unique(x)
    between = np.searchsorted(values, ours, side="right")  # values at or below each edge
    assert np.all((between > 0) & (between < len(values)))
    if len(values) <= max_bins:
        np.testing.assert_array_equal(between, np.arange(1, len(values)))
    return ours


def draw_values(rng, n):
    kind = rng.integers(7)
    if kind == 0:
        return rng.choice(EXTREMES, n)
    if kind == 1:
        return rng.normal(size=n) * 10.0 ** rng.integers(-300, 300)
    if kind == 2:
        return rng.integers(0, 6, n) - 0.0
    if kind == 3:
        return np.where(rng.random(n) < 0.9, -0.0, rng.normal(size=n))
    if kind == 4:  # neighbouring numbers
        return (np.float64(1.5).view(np.int64) + rng.integers(0, 400, n)).view(np.float64)
    if kind == 5:
        return np.full(n, 3.25)
    return np.exp(rng.normal(size=n) * 20)


@pytest.mark.parametrize("seed", range(60))
def test_edges(seed):
    rng = np.random.default_rng([1, seed])
    n = int(rng.choice([1, 2, 3, 10, 300, 1000]))
    x = draw_values(rng, n)
    for weights in (None, rng.integers(1, 5, n), rng.random(n) * 10.0 ** rng.integers(-8, 8)):
        for max_bins in (2, 3, 7, 254, 255):
            assert_same_edges(x, weights, max_bins)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=12),
    st.sampled_from([2, 3, 255]),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_edges_of_any_numbers(values, max_bins):
    assert_same_edges(values, None, max_bins)
    assert_same_edges(values, 1 + np.arange(len(values)) % 3, max_bins)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rising_values(dtype):
    """Of any sign, with ties, and whether 32 bits hold them or not."""
    rng = np.random.default_rng(1)
    largest = np.finfo(np.float32).max
    drawn = np.concatenate([rng.normal(size=500), rng.integers(-3, 4, 500) * -1e-40])
    drawn = np.append(drawn, [0.0, -0.0, largest, -largest, 1e-45, -1e-45]).astype(dtype)
    for values in (drawn, rng.permutation(drawn), drawn[:1], np.append(drawn, 1e300)):
        values = values.astype(np.float64)
        order = binning._rising(values)
        np.testing.assert_array_equal(np.sort(order), np.arange(len(values)))
        np.testing.assert_array_equal(values[order], np.sort(values))


@pytest.mark.parametrize("weights", [[1.0, 10.0], [0.5, 1.7]])
def test_weighted_edges_of_float32(weights):
    rng = np.random.default_rng(2)
    x = rng.normal(size=3000).astype(np.float32)
    x[::7] = -0.0
    assert len(assert_same_edges(x, rng.choice(weights, len(x)), 50)) > 40


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.2])
@pytest.mark.parametrize("order", ["C", "F"])
def test_32_and_64_bits_give_the_same_bins(weighted, share, order):
    """The former are sorted as they are: ties, zeros of both signs, missing ones, the extremes."""
    rng = np.random.default_rng(5)
    largest = np.finfo(np.float32).max
    X = rng.normal(size=(600, 5)).astype(np.float32, order=order)
    X[:, 1] = rng.integers(-2, 3, 600) * -1e-45
    X[:, 2] = rng.choice([-0.0, 0.0, 1.0], 600, p=[0.6, 0.3, 0.1])
    X[:2, 3] = largest, -largest
    X[rng.random(X.shape) < share] = np.nan
    X[:, 4] = np.nan
    counts = rng.integers(1, 4, 600) if weighted else None
    narrow, wide = (binning.bin_matrix(part, counts, 40, 1) for part in (X, X.astype(np.float64)))
    for ours, theirs in zip(narrow.edges, wide.edges, strict=True):
        assert ours.dtype == np.float64
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(narrow.layout.codes, wide.layout.codes)


def test_edges_by_hand():
    np.testing.assert_array_equal(assert_same_edges([3.0, 1, 2, 1, 6]), [1.5, 2.5, 4.5])
    # Counts 4 1 1 1 1 4: thirds of 12 are reached at the values 1 and 5.
    x = np.repeat(np.arange(1.0, 7.0), [4, 1, 1, 1, 1, 4])
    np.testing.assert_array_equal(assert_same_edges(x, max_bins=3), [1.5, 5.5])
    np.testing.assert_array_equal(
        assert_same_edges(np.arange(1.0, 7.0), [4, 1, 1, 1, 1, 4], 3), [1.5, 5.5]
    )
    assert len(assert_same_edges([-0.0, 0.0])) == 0
    low, high = -1.7976931348623157e308, 1.7976931348623157e308
    np.testing.assert_array_equal(assert_same_edges([low, high]), [0.0])
    np.testing.assert_array_equal(assert_same_edges([1.0, np.nextafter(1, 2)]), [1.0])
    assert len(assert_same_edges(np.arange(255.0))) == 254
    assert len(assert_same_edges(np.arange(256.0))) == 254
    assert len(assert_same_edges(np.arange(300.0))) == 254


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_of_missing_values(dtype):
    """Those of the numbers, and one behind which the missing ones are."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 300):
        x = draw_values(rng, n).astype(np.float32).astype(dtype).astype(np.float64)
        x[np.isinf(x)] = 0.0
        for share in (0.0, 0.3, 1.0):
            gone = rng.random(n) < share
            gone[0] = True
            missing = np.where(gone, np.nan, x)
            for weights in (np.ones(n), rng.integers(1, 5, n), rng.random(n) + 0.1):
                for max_bins in (2, 7, 255):
                    counts = None if weights[0] == 1 else row_weights(weights, n).counts
                    kept = None if counts is None or gone.all() else counts[~gone]
                    of_numbers = [] if gone.all() else binning.bin_edges(x[~gone], kept, max_bins)
                    ours = binning.bin_edges(missing, counts, max_bins)
                    np.testing.assert_array_equal(ours, [*of_numbers, binning.ALL_PRESENT])
                    real = np.ones(n) if counts is None else weights
                    row = reference_grid.row_weights(np.asarray(real, dtype=float))
                    theirs = reference.bin_edges(missing, row, max_bins)
                    np.testing.assert_array_equal(ours, theirs)


# --- the layout ------------------------------------------------------------------------------


def bins_of(layout, feature, n_samples):
    """Bin of each row, read out of the layout without the package's kernels."""
    column = layout.feature_column[feature]
    tile = int(np.searchsorted(layout.tile_column, column, side="right")) - 1
    first, last = layout.tile_column[tile], layout.tile_column[tile + 1]
    start = layout.tile_start[tile]
    stored = layout.codes[start : start + n_samples * (last - first)].reshape(n_samples, -1)
    codes = stored[:, column - first].astype(np.int64)
    if len(layout.columns):
        np.testing.assert_array_equal(layout.columns[column], codes)
    default, n_bins = layout.feature_default[feature], layout.feature_n_bins[feature]
    if default < 0:
        return codes
    own = codes - layout.feature_code[feature]
    bins = own + (own >= default)
    return np.where((own >= 0) & (own < n_bins - 1), bins, default)


def assert_layout(X, weights=None, max_bins=255, n_threads=1):
    """Assert that the layout holds the reference's bins, exactly; return it."""
    real = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    counts = None if weights is None else row_weights(real, len(X)).counts
    binned = binning.bin_matrix(X, counts, max_bins, n_threads)
    kept = reference_grid.row_weights(real)
    edges = [reference.bin_edges(X[:, m], kept, max_bins) for m in range(X.shape[1])]
    layout = binned.layout
    assert binned.n_samples == len(X)
    for m in range(X.shape[1]):
        np.testing.assert_array_equal(binned.edges[m], edges[m])
        np.testing.assert_array_equal(
            bins_of(layout, m, len(X)), reference.bin_numbers(X[:, m], edges[m])
        )
        assert layout.feature_n_bins[m] == len(edges[m]) + 1
    assert sorted(layout.tile_features) == list(range(X.shape[1]))
    assert layout.codes.dtype == np.uint8
    n_columns = len(layout.column_code) - 1
    assert len(layout.codes) == len(X) * n_columns
    assert layout.columns.shape == ((n_columns, len(X)) if n_columns <= 32 else (0, 0))
    assert np.all(np.diff(layout.column_code) <= 256)
    return layout


@pytest.mark.parametrize("seed", range(24))
def test_layout(seed, monkeypatch):
    monkeypatch.setattr(binning, "_ROWS_FOR_THREADS", 0)  # two threads, however few rows there are
    if seed % 4:
        monkeypatch.setattr(binning, "_ROWS_AT_ONCE", 64)  # several blocks, the last one is short
    rng = np.random.default_rng([2, seed])
    n, d = int(rng.integers(1, 400)), int(rng.integers(1, 40))
    X, _ = awkward_data(rng, n, d, "squared")
    for m in range(0, d, 5):
        X[:, m] = draw_values(rng, n)
    weights = None if seed % 3 else rng.integers(1, 4, n)
    max_bins = int(rng.choice([2, 3, 16, 255]))
    for n_threads in (1, 2):
        assert_layout(X, weights, max_bins, n_threads)
        layout = assert_layout(with_missing(rng, X), weights, max_bins, n_threads)
        assert layout.codes.dtype == np.uint8


@pytest.mark.parametrize("n_threads", [1, 2, 3, 16])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_tables_are_read_in_blocks_however_they_lie(kind, n_threads):
    """By rows, by columns, and as every other row and column of a larger table."""
    n = 2 * binning._ROWS_AT_ONCE + 77
    X = np.random.default_rng(8).normal(size=(n, 13)).astype(kind)
    X[:, 3] = np.arange(n) == n - 1  # one column that hardly ever leaves its bin
    larger = np.zeros((2 * n, 26), dtype=kind)
    larger[::2, ::2] = X
    edges = [binning.bin_edges(X[:, m].astype(np.float64), None, 40) for m in range(13)]
    for table in (X, np.asfortranarray(X), larger[::2, ::2]):
        binned = binning.bin_matrix(table, None, 40, n_threads)
        for m in range(13):
            np.testing.assert_array_equal(binned.edges[m], edges[m])
            np.testing.assert_array_equal(
                bins_of(binned.layout, m, n), np.searchsorted(edges[m], X[:, m].astype(np.float64))
            )


@pytest.mark.parametrize("n_features", [1, 2, 7, 8, 9, 28, 54])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_blocks_of_features_are_even(n_features, n_threads):
    blocks = binning._even_blocks(n_features, 4, n_threads)
    assert [m for block in blocks for m in block] == list(range(n_features))
    widths = [len(block) for block in blocks]
    assert 1 <= min(widths) <= max(widths) <= min(4, min(widths) + 1)
    assert len(blocks) % n_threads == 0 or len(blocks) == n_features


def test_exclusive_features_with_missing_values_share_a_column():
    one_hot = np.eye(5)[np.random.default_rng(4).integers(0, 5, 500)]
    few, most = one_hot * 3.0, one_hot * 3.0
    few[one_hot == 1] = np.nan  # the default bin is that of the zeros
    most[one_hot == 0] = np.nan  # it is that of missing values
    layout = assert_layout(np.column_stack([few, most[:, :2]]))
    assert len(layout.column_code) - 1 < 7
    assert layout.feature_default[-1] == layout.feature_n_bins[-1] - 1
    np.testing.assert_array_equal(layout.feature_missing, True)


def test_exclusive_features_share_a_column():
    rng = np.random.default_rng(3)
    one_hot = np.eye(9)[rng.integers(0, 9, 500)]
    amounts = one_hot[:, :4] * rng.integers(1, 30, (500, 4))  # many bins; default bin is the first
    below = -one_hot[:, 4:7] * rng.integers(1, 30, (500, 3))  # default bin is the last
    around = one_hot[:, 7:] * rng.integers(-5, 6, (500, 2))  # default bin is in the middle
    dense = rng.normal(size=(500, 2))
    X = np.column_stack([amounts, dense[:, :1], below, around, dense[:, 1:]])
    layout = assert_layout(X)
    shared = layout.feature_column[[0, 1, 2, 3, 5, 6, 7, 8, 9]]
    assert len(np.unique(shared)) == 1
    assert len(layout.column_code) - 1 == 3  # the bundle and two dense columns
    assert layout.feature_default[0] == 0
    assert layout.feature_default[5] == layout.feature_n_bins[5] - 1
    assert 0 < layout.feature_default[8] < layout.feature_n_bins[8] - 1
    np.testing.assert_array_equal(layout.feature_default[[4, 10]], -1)


def test_a_single_common_row_forbids_sharing():
    X = np.zeros((400, 2))
    X[:20, 0] = 1.0
    X[20:40, 1] = 1.0
    assert len(assert_layout(X).column_code) - 1 == 1
    X[19, 1] = 1.0
    assert len(assert_layout(X).column_code) - 1 == 2


def test_a_bundle_has_at_most_256_codes():
    # Five features with 100 bins each, never outside bin 0 together.
    X = np.zeros((1000, 5))
    for m in range(5):
        X[m * 100 : m * 100 + 100, m] = np.arange(1, 101)
    layout = assert_layout(X)
    np.testing.assert_array_equal(
        np.unique(layout.feature_column, return_counts=True)[1], [2, 2, 1]
    )
    assert np.all(np.diff(layout.column_code) <= 256)


def test_tiles_cover_all_columns():
    X = np.random.default_rng(4).normal(size=(50, 70))
    for n_threads, n_tiles in ((1, 2), (2, 2), (3, 3), (8, 8), (99, 70)):
        layout = assert_layout(X, n_threads=n_threads)
        assert len(layout.tile_start) == n_tiles
        widths = np.diff(layout.tile_column)
        assert widths.sum() == 70
        assert widths.max() - widths.min() <= 1
    assert len(assert_layout(X[:, :1], n_threads=2).tile_start) == 1
