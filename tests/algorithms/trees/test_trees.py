"""The stages of growing a tree, each against a few lines of NumPy or the reference."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms import boosting
from algorithms.cegb import CEGBRegressor
from algorithms.gbrt import GBRTRegressor
from algorithms.trees import grower, histogram, partition, splitter
from algorithms.trees.binning import bin_matrix
from algorithms.trees.forest import add_to_scores
from reference import cegb as reference_cegb
from reference import trees as reference
from reference.beyond.missing import WithMissing
from reference.grid import GridValues, RowWeights
from tests.algorithms.trees.test_binning import bins_of
from tests.twins import assert_twins, awkward_data, scores_by_bit_vectors, with_missing


def binned_data(rng, n, d, n_threads=2):
    return bin_matrix(awkward_data(rng, n, d, "squared")[0], None, 255, n_threads)


def derivatives(rng, n, weighted, largest=2**30):
    """Gradients, hessians (and counts) as the kernels get them."""
    g = rng.integers(-largest, largest, n, endpoint=True)
    h = rng.integers(1, largest, n, endpoint=True)
    if not weighted:
        return np.column_stack([g, h]).astype(np.int32)
    return np.column_stack([g, h, rng.integers(1, 9, n)])


def packed(gh, largest=8):
    """The 32-bit form of rows with weights, and the 64-bit form that stands for the same."""
    weights = np.arange(len(gh)) * 7 % largest + 1
    small = np.column_stack([gh[:, :2], weights]).astype(np.int32)
    large = np.column_stack([small[:, :2].astype(np.int64) * weights[:, None], weights])
    return small, large


def collected(layout, n_slots, rows, start, stop, gh, equal_hessians=False):
    """Histograms of nothing yet, with the words of rows[start:stop], and the sums of these."""
    n_words = histogram.words_of(gh, equal_hessians)
    hists, sums = histogram.allocate(layout, n_slots, len(gh), n_words), np.empty(3, dtype=np.int64)
    gh = histogram.in_halves(gh)
    histogram.collect(rows, start, stop, gh, hists.words, hists.chunk_sums[0], sums)
    return hists, sums


def build(layout, rows, start, stop, gh, hists, slot):
    """The histogram of rows[start:stop] over all tiles."""
    for tile in range(len(layout.tile_start)):
        histogram.build(layout, tile, rows, start, stop, histogram.in_halves(gh), hists, 0, slot)


def sums_by_bin(gh, bins, rows, n_bins):
    """(3, n_bins) sums of gradient, hessian and count, added up one row at a time."""
    out = np.zeros((3, n_bins), dtype=np.int64)
    for k in range(3):
        values = np.ones(len(gh), dtype=np.int64) if k >= gh.shape[1] else gh[:, k]
        np.add.at(out[k], bins[rows], values[rows].astype(np.int64))
    return out


def stored_sums(layout, hists, slot, feature):
    """The histogram's sums of a feature; the default bin of a bundled one is left out (-1)."""
    entry = layout.column_code[layout.feature_column[feature]] + layout.feature_code[feature]
    default, n_bins = layout.feature_default[feature], layout.feature_n_bins[feature]
    kept = [b for b in range(n_bins) if b != default]
    names = ("gradient", "hessian", "count")
    out = np.full((3, n_bins), -1)
    for k, name in enumerate(names):
        out[k, kept] = getattr(hists, name)[slot, entry : entry + len(kept)]
    return out, kept


# --- histograms ------------------------------------------------------------------------------


@pytest.mark.parametrize("equal_hessians", [False, True])
@pytest.mark.parametrize("form", ["unweighted", "weighted", "packed"])
@pytest.mark.parametrize(
    ("n", "start", "stop"), [(500, 0, 500), (500, 37, 38), (500, 9, 9), (90_000, 5, 89_999)]
)
def test_histogram(form, n, start, stop, equal_hessians):
    rng = np.random.default_rng(n)
    binned = binned_data(rng, n, 20)
    gh = derivatives(rng, n, form == "weighted")
    gh[: n // 2, :2] = [-(2**30), 2**30]  # the largest there can be, in block after block
    if equal_hessians:
        gh[:, 1] = 2**30
    summed = gh
    if form == "packed":
        gh, summed = packed(gh, histogram.MOST_PACKED)
    layout = binned.layout
    rows = rng.permutation(n).astype(np.int32)
    hists, sums = collected(layout, 2, rows, start, stop, gh, equal_hessians)
    hists.gradient[:], hists.hessian[:], hists.count[:] = 7, 7, 7  # left over from another node
    build(layout, rows, start, stop, gh, hists, 1)
    for m in range(20):
        bins = bins_of(layout, m, n)
        expected = sums_by_bin(summed, bins, rows[start:stop], layout.feature_n_bins[m])
        ours, kept = stored_sums(layout, hists, 1, m)
        np.testing.assert_array_equal(ours[:, kept], expected[:, kept])
        np.testing.assert_array_equal(sums, expected.sum(axis=1))
    assert np.all(hists.packed == 0)
    assert np.all(hists.gradient[0] == 7)
    assert any(layout.feature_default >= 0)


@pytest.mark.parametrize("width", [1, 3, 7, 8, 13, 64])
@pytest.mark.parametrize("form", ["unweighted", "weighted", "packed"])
def test_histogram_of_tiles_of_any_width(form, width):
    """Codes are read eight, four and one at a time; the last row's end the array."""
    rng, n = np.random.default_rng(width), 300
    X = rng.normal(size=(n, width)).round(1)
    layout = bin_matrix(X, None, 255, 1).layout
    assert list(layout.tile_column) == [0, width]
    gh = summed = derivatives(rng, n, form == "weighted")
    if form == "packed":
        gh, summed = packed(gh)
    rows = np.arange(n, dtype=np.int32)
    hists, _ = collected(layout, 1, rows, 0, n, gh)
    build(layout, rows, 0, n, gh, hists, 0)
    for m in range(width):
        expected = sums_by_bin(summed, bins_of(layout, m, n), rows, layout.feature_n_bins[m])
        np.testing.assert_array_equal(stored_sums(layout, hists, 0, m)[0], expected)


@pytest.mark.parametrize("equal_hessians", [False, True])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("weight", [1, 15, 16, histogram.MOST_PACKED])
def test_blocks_end_where_their_weight_would_not_fit(weight, sign, equal_hessians):
    """Also where every row has the largest values, and all of them fall into one bin."""
    n = 140_000
    layout = binned_data(np.random.default_rng(4), n, 3).layout
    constant = bin_matrix(np.zeros((n, 1)), None, 255, 1).layout
    gh = np.empty((n, 2 if weight == 1 else 3), dtype=np.int32)
    gh[:] = [sign * 2**30, 2**30, weight][: gh.shape[1]]
    rows = np.arange(n, dtype=np.int32)
    expected = [sign * n * weight * 2**30, n * weight * 2**30, n * weight]
    for table in (layout, constant):
        hists, sums = collected(table, 1, rows, 0, n, gh, equal_hessians)
        build(table, rows, 0, n, gh, hists, 0)
        assert list(sums) == expected
        columns = zip(table.column_code[:-1], table.column_code[1:], strict=True)
        for begin, end in columns:
            of_column = slice(begin, end)
            of_bins = hists.gradient, hists.hessian, hists.count
            assert [s[0, of_column].sum() for s in of_bins] == expected


@pytest.mark.parametrize("n_heavy", [0, 1, 600, 4096, 20_000])
def test_heavy_rows_among_light_ones(n_heavy):
    """Some chunks are too heavy for a block, their neighbours are not."""
    rng, n = np.random.default_rng(n_heavy), 20_000
    layout = binned_data(rng, n, 5).layout
    gh, _ = packed(derivatives(rng, n, False))
    gh[:, 2] = 1
    gh[n - n_heavy :, 2] = histogram.MOST_PACKED
    rows = np.arange(n, dtype=np.int32)
    hists, _ = collected(layout, 1, rows, 0, n, gh)
    build(layout, rows, 0, n, gh, hists, 0)
    whole = gh.astype(np.int64)
    whole[:, :2] *= whole[:, 2:]
    for m in range(5):
        ours, kept = stored_sums(layout, hists, 0, m)
        expected = sums_by_bin(whole, bins_of(layout, m, n), rows, layout.feature_n_bins[m])
        np.testing.assert_array_equal(ours[:, kept], expected[:, kept])


@pytest.mark.parametrize("form", ["pairs", "packed", "weighted"])
def test_a_row_by_itself(form):
    pairs = np.array([[-(2**30), 2**30], [5, 3]], dtype=np.int32)
    gh = dict(zip(("packed", "weighted"), packed(pairs, 9), strict=True)).get(form, pairs)
    weights = [1, 1] if form == "pairs" else [1, 8]
    for row, w in enumerate(weights):
        g, h = (int(v) for v in pairs[row])
        assert histogram.of_row(histogram.in_halves(gh), row) == (g * w, h * w, w)


def test_numbers_of_64_bits_are_read_whole():
    numbers = [0, 1, -1, 2**31, -(2**31) - 1, 2**32 - 1, -(2**32), 2**62, -(2**63), 2**63 - 1]
    gh = np.array([np.roll(numbers, k)[:3] for k in range(len(numbers))])
    halves = histogram.in_halves(gh)
    assert [histogram.of_row(halves, row) for row in range(len(gh))] == list(map(tuple, gh))
    np.testing.assert_array_equal(histogram.weights_of(halves), gh[:, 2])


def test_weights_of_each_form():
    pairs = np.array([[-(2**30), 2**30], [5, 3]], dtype=np.int32)
    for gh in packed(pairs, 9):
        assert histogram.weights_of(histogram.in_halves(gh)).tolist() == [1, 8]
    assert histogram.weights_of(histogram.in_halves(pairs)) is None


@pytest.mark.parametrize("weighted", [False, True])
def test_histogram_of_a_sibling(weighted):
    rng = np.random.default_rng(1)
    binned = binned_data(rng, 3000, 20)
    gh, layout = derivatives(rng, 3000, weighted), binned.layout
    rows = np.arange(3000, dtype=np.int32)
    hists, sums = collected(layout, 3, rows, 0, 3000, gh)
    for slot, (start, stop) in enumerate([(0, 3000), (0, 800), (800, 3000)]):
        halves = histogram.in_halves(gh)
        histogram.collect(rows, start, stop, halves, hists.words, hists.chunk_sums[0], sums)
        build(layout, rows, start, stop, gh, hists, slot)
        np.testing.assert_array_equal(sums[:2], gh[start:stop, :2].sum(axis=0, dtype=np.int64))
        assert sums[2] == (gh[start:stop, 2].sum() if weighted else stop - start)
    for tile in range(len(layout.tile_start)):
        histogram.subtract(layout, tile, hists, 0, 1)
    for name in ("gradient", "hessian", "count"):
        sums = getattr(hists, name)
        np.testing.assert_array_equal(sums[0], sums[2])


# --- the best threshold of a feature ---------------------------------------------------------


def draw_limits(rng):
    return splitter.Limits(
        max_leaves=9,
        max_depth=-1,
        min_samples_leaf=float(rng.choice([1, 2, 10, 60])),
        min_hessian_leaf=float(rng.choice([0.0, 0.01, 5.0])),
        best_first=True,
        stop_on_negative_gain=True,
    )


@pytest.mark.parametrize("seed", range(30))
def test_best_threshold_equals_the_reference(seed):
    rng = np.random.default_rng([3, seed])
    n, d, weighted = int(rng.integers(2, 200)), int(rng.integers(1, 12)), bool(seed % 2)
    X = awkward_data(rng, n, d, "squared")[0]
    binned = bin_matrix(with_missing(rng, X) if seed % 3 else X, None, 255, 1)
    gh = derivatives(rng, n, weighted, largest=int(rng.choice([1, 3, 1000])))
    layout = binned.layout
    rows = rng.permutation(n)[: max(1, n // 2)].astype(np.int32)
    hists, total = collected(layout, 1, rows, 0, len(rows), gh)
    build(layout, rows, 0, len(rows), gh, hists, 0)
    counts = gh[:, 2] if weighted else np.ones(n, dtype=np.int64)
    weights = RowWeights(counts.astype(float), counts, 0, float(counts.sum()), True)
    gradients = GridValues(gh[:, 0].astype(float), 4)
    hessians = GridValues(gh[:, 1].astype(float), 7)
    scale = splitter.Scale(2.0**-4, 2.0**-7, 1.0)
    scratch = splitter.allocate_scratch(len(layout.tile_start))
    found = 0
    for turn in range(4):
        limits = draw_limits(rng)
        if turn == 0:
            limits = limits._replace(min_samples_leaf=1.0, min_hessian_leaf=0.0)
        least = splitter.least_steps(scale, limits)
        gains, cuts = np.full(d, np.nan), np.full(d, -9, dtype=np.int16)
        splitter.scan_features(
            layout, 0, d, hists, 0, tuple(int(t) for t in total), scale, least, scratch, 0, gains,
            cuts,
        )  # fmt: skip
        theirs = reference.Limits(
            min_samples_leaf=limits.min_samples_leaf, min_hessian_leaf=limits.min_hessian_leaf
        )
        for m in range(d):
            edges = binned.edges[m]
            missing = reference.ALL_PRESENT in edges
            column = (WithMissing if missing else reference.Column)(edges, bins_of(layout, m, n))
            data = reference.TrainingData(X, None, weights, [column])
            what = gradients, hessians, rows, theirs, reference.NEWTON
            split, expected = reference.best_split(data, 0, *what), (0.0, -1)
            if split is not None:
                side = {None: 0, False: splitter.MISSING_RIGHT, True: splitter.MISSING_LEFT}
                edge = split.order.bins[split.n_left - 1]
                expected = split.raw_gain, edge + side[split.order.missing_left]
            assert (gains[m], cuts[m]) == expected
            found += split is not None
    assert found > 0 or all(len(edges) == 0 for edges in binned.edges) or n < 9


# --- rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 1), (3, 900), (0, 16_384), (1, 16_386), (0, 16_385), (0, 20_480), (77, 30_000)],
)
def test_partition_keeps_the_order_of_either_side(start, stop):
    rng = np.random.default_rng(stop)
    n = 30_000
    binned = binned_data(rng, n, 20)
    layout = binned.layout
    scratch, goes_left = np.empty(n, dtype=np.int32), np.empty(256, dtype=np.uint8)
    chunks = np.empty((2, n // partition.CHUNK + 1), dtype=np.int64)
    assert layout.columns.shape[1] == n
    in_tiles = layout._replace(columns=np.zeros((0, 0), dtype=np.uint8))  # as of many columns
    for m in range(20):
        for cut in {0, int(layout.feature_n_bins[m]) // 2, int(layout.feature_n_bins[m]) - 1}:
            rows = rng.permutation(n).astype(np.int32)
            before = rows.copy()
            partition.fill_goes_left(layout, m, cut, False, goes_left)
            column = layout.feature_column[m]
            read = layout if m % 2 else in_tiles
            middle = partition.partition(
                read, column, rows, scratch, goes_left, chunks, start, stop
            )
            left = bins_of(layout, m, n)[before[start:stop]] <= cut
            inside = before[start:stop]
            assert middle == start + left.sum()
            np.testing.assert_array_equal(rows[start:middle], inside[left])
            np.testing.assert_array_equal(rows[middle:stop], inside[~left])
            np.testing.assert_array_equal(rows[:start], before[:start])
            np.testing.assert_array_equal(rows[stop:], before[stop:])


def test_scores_are_added_up_in_parts_that_cut_through_leaves():
    n = 2 * 2**16 + 5
    rng = np.random.default_rng(6)
    memory = grower.allocate(binned_data(rng, n, 1, 1), 3, 1)
    nodes = memory.nodes
    ends = [0, 1, 70_000, 70_000, n]  # one row, most, none, the rest
    nodes.feature[:] = [0, -1, -1, -1, -1]
    nodes.start[:], nodes.stop[:] = [0, *ends[:-1]], [n, *ends[1:]]
    rows = rng.permutation(n).astype(np.int32)
    values, scores = np.array([9.0, 1.0, 2.0, 3.0, 4.0]), np.full(n, 0.5)
    add_to_scores(nodes, 5, rows, values, 0.1, scores)
    expected = np.empty(n)
    expected[rows] = 0.5 + 0.1 * np.repeat(values[1:], np.diff(ends))
    np.testing.assert_array_equal(scores, expected)


# --- growing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_own", [0, 1, 3])
@pytest.mark.parametrize("growth", ["best_first", "breadth_first"])
def test_few_histograms_change_nothing(monkeypatch, n_own, growth):
    """Leaves without a histogram of their own have their children's built from rows."""
    whole = grower.allocate
    used = []

    def narrow(*arguments):
        memory = whole(*arguments)
        used.append(n_own + 2)
        few = memory.workspace._replace(free_slots=np.empty(n_own + 3, dtype=np.int64))
        return memory._replace(workspace=few)

    monkeypatch.setattr(boosting.grower, "allocate", narrow)
    rng = np.random.default_rng(4)
    X = np.round(rng.normal(size=(250, 8)), 1)
    y = X[:, 0] * X[:, 1] + rng.normal(size=250)
    model = CEGBRegressor(
        n_estimators=3, max_leaves=20, min_samples_leaf=3, growth=growth, tradeoff=1e-3,
        feature_costs=np.arange(8.0), model_feature_costs=np.arange(8.0)[::-1],
    )  # fmt: skip
    assert_twins(model, reference_cegb, X, y)
    assert used == [n_own + 2]
    assert np.max(np.diff(model.trees_.tree)) > 15


def test_a_tree_describes_its_training_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(700, 6))
    y = X[:, 0] * X[:, 1] + rng.normal(size=700)
    weights = rng.integers(1, 4, 700).astype(float)
    model = GBRTRegressor(n_estimators=2, max_leaves=12, min_samples_leaf=9, learning_rate=1.0)
    model.fit(X, y, sample_weight=weights)
    forest, scores = model.trees_, np.full(700, model.initial_scores_[0])
    for begin, end in zip(forest.tree[:-1], forest.tree[1:], strict=True):
        members = {begin: np.arange(700)}
        for node in range(begin, end):
            rows = members[node]
            assert forest.count[node] == weights[rows].sum() >= 9
            left = forest.left[node]
            assert (left < 0) == (forest.feature[node] < 0)
            if left < 0:
                residual = np.average(y[rows] - scores[rows], weights=weights[rows])
                assert forest.value[node] == pytest.approx(residual, abs=1e-7)
                continue
            assert begin < left < end - 1
            assert forest.depth[left] == forest.depth[left + 1] == forest.depth[node] + 1
            side = X[rows, forest.feature[node]] <= forest.threshold[node]
            members[left], members[left + 1] = rows[side], rows[~side]
        for node, rows in members.items():
            if forest.feature[node] < 0:
                scores[rows] += forest.value[node]
    np.testing.assert_allclose(model.predict(X), scores, rtol=1e-12)


@pytest.mark.parametrize("n_leaves", [2, 31, 32, 33, 63, 64, 65])
@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 100])
def test_bit_vectors_equal_walking(n_leaves, n_rows):
    rng = np.random.default_rng(n_leaves)
    X = rng.integers(0, 50, (400, 5)).astype(float)
    y = rng.normal(size=400)
    model = GBRTRegressor(n_estimators=4, max_leaves=n_leaves, min_samples_leaf=1).fit(X, y)
    assert np.max(np.diff(model.trees_.tree)) == 2 * n_leaves - 1
    kinds = [block.mask.dtype for block in model._bit_vectors]
    assert kinds == ([] if n_leaves > 64 else [np.uint32 if n_leaves <= 32 else np.uint64])
    Z = rng.normal(25, 25, size=(n_rows, 5))
    Z[::3] = rng.choice(model.trees_.threshold[model.trees_.feature >= 0], 5)  # on the edge: left
    Z[1::7] = -1e308
    Z[2::7] = 1e308
    walked = list(model._staged_raw_scores(Z))[-1]
    np.testing.assert_array_equal(model._raw_scores(Z), walked)
    if n_leaves <= 64:
        np.testing.assert_array_equal(scores_by_bit_vectors(model, Z), walked)
