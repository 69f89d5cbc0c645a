"""pytest-benchmark on single kernels: ``make bench-kernels``."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.kernels.decorators import threads
from algorithms.stumps.pair_weights import PairWeights
from algorithms.stumps.search import DefaultCodes, label_edges, search
from algorithms.trees import histogram, penalty, splitter
from algorithms.trees.binning import bin_matrix
from algorithms.trees.forest import Forest
from algorithms.trees.predictor import add_scores, bit_vectors, walk_scores

N_ROWS = 50_000


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def binned(rng):
    return bin_matrix(rng.normal(size=(N_ROWS, 16)), None, 255, 1)


@pytest.fixture(scope="module")
def gh(rng):
    pairs = rng.integers(-(2**29), 2**29, N_ROWS), rng.integers(1, 2**28, N_ROWS)
    return np.column_stack(pairs).astype(np.int32)


def collected(layout, rows, gh):
    """Histograms of nothing yet, with the words of the rows, and the sums of these."""
    n_words = histogram.words_of(gh, False)
    hists, sums = histogram.allocate(layout, 1, len(gh), n_words), np.empty(3, dtype=np.int64)
    histogram.collect(rows, 0, len(rows), gh, hists.words, hists.chunk_sums[0], sums)
    return hists, sums


@pytest.mark.benchmark(group="histogram: 16 columns")
@pytest.mark.parametrize("share", [1, 8])
def test_histogram(benchmark, binned, gh, rng, share):
    rows = np.sort(rng.permutation(N_ROWS)[: N_ROWS // share]).astype(np.int32)
    hists, _ = collected(binned.layout, rows, gh)
    benchmark(histogram.build, binned.layout, 0, rows, 0, len(rows), gh, hists, 0, 0)
    assert hists.count[0, : binned.layout.column_code[1]].sum() == len(rows)


@pytest.mark.benchmark(group="split: 16 features x 255 bins")
def test_split(benchmark, binned, gh):
    rows = np.arange(N_ROWS, dtype=np.int32)
    hists, sums = collected(binned.layout, rows, gh)
    histogram.build(binned.layout, 0, rows, 0, N_ROWS, gh, hists, 0, 0)
    scale = splitter.Scale(2.0**-30, 2.0**-30, 1.0)
    scratch = splitter.allocate_scratch(1)
    gains, cuts, total = np.zeros(16), np.zeros(16, dtype=np.int16), tuple(sums)
    benchmark(
        splitter.scan_features, binned.layout, 0, 16, hists, 0, total, scale, (1, 20), scratch, 0,
        gains, cuts,
    )  # fmt: skip
    assert gains.max() > 0


@pytest.mark.benchmark(group="lazy marks: rows that have used each of 64 features")
def test_count_marks(benchmark, gh, rng):
    marks = rng.integers(0, 2**63, (N_ROWS, 1)).astype(np.uint64)
    rows, counts = np.arange(N_ROWS, dtype=np.int32), np.zeros(64, dtype=np.int64)
    benchmark(penalty.count_marks, marks, rows, gh, counts)
    assert counts[0] == int((marks[:, 0] & np.uint64(1)).sum())


@pytest.fixture(scope="module")
def model(rng):
    from algorithms.cegb import CEGBRegressor

    X = rng.normal(size=(5_000, 16))
    return CEGBRegressor(n_estimators=500, n_threads=1).fit(X, X[:, 0] * X[:, 1]), X[:1_000]


@pytest.mark.benchmark(group="prediction: 1,000 rows x 500 trees x 31 leaves, one thread")
@pytest.mark.parametrize("form", ["bit-vectors", "walk"])
def test_predict(benchmark, model, form):
    estimator, X = model
    forest: Forest = estimator.trees_
    contributions = estimator.learning_rate * forest.value
    blocks = bit_vectors(forest, contributions, 1)

    def predict():
        out = np.tile(estimator.initial_scores_, (len(X), 1))
        if form == "walk":
            walk_scores(forest, 0, contributions, X, out)
        else:
            add_scores(blocks, X, out, 1)
        return out

    with threads(1, X.size):
        scores = benchmark(predict)
    np.testing.assert_array_equal(scores[:, 0], estimator.predict(X))


@pytest.fixture(scope="module")
def pairs(rng):
    targets = np.where(rng.integers(0, 10, N_ROWS)[:, None] == np.arange(10), 1, -1)
    return PairWeights(targets.astype(np.int8))


@pytest.fixture(scope="module")
def codes(rng):
    values = rng.integers(0, 256, (16, N_ROWS)).astype(np.uint8)
    values.flags.writeable = False
    return values


@pytest.mark.benchmark(group="stumps: 16 columns, 10 labels")
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_stump_search(benchmark, codes, pairs, rng, share):
    columns = np.where(rng.random(codes.shape) < share, np.uint8(0), codes)
    every = np.arange(16)
    defaults = DefaultCodes(columns).of(every)
    stumps = benchmark(search, columns, every, pairs.signed, 1, None, defaults)
    assert stumps.edges.min() >= abs(pairs.signed.sum(axis=0, dtype=np.int64)).sum()


@pytest.mark.benchmark(group="stumps: edges of 10 labels on one column")
def test_label_edges(benchmark, codes, pairs):
    edges = np.empty(pairs.signed.shape[1], dtype=np.int64)
    benchmark(label_edges, codes[0], 100, pairs.signed, edges)
    side = np.where(codes[0] > 100, 1, -1)
    np.testing.assert_array_equal(edges, side @ pairs.signed.astype(np.int64))


@pytest.mark.benchmark(group="stumps: weights after a round, 10 labels")
def test_pair_weights(benchmark, codes, pairs):
    benchmark(pairs.add, codes[0], 100, np.full(10, 1e-9))
    assert pairs.total == pairs.of_row.sum()
