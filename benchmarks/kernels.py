"""Single kernels, ready to be called: for ``make bench-kernels`` and for :mod:`benchmarks.gate`.

Each imports what it needs by itself: an earlier version may lack one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

N_ROWS = 50_000
Program = Callable[[], object]


def node(rows: np.ndarray, rng: np.random.Generator):
    """Layout of 16 columns of 255 bins, derivatives, histograms of nothing yet, and their sums."""
    from algorithms.trees import histogram
    from algorithms.trees.binning import bin_matrix

    layout = bin_matrix(rng.normal(size=(N_ROWS, 16)), None, 255, 1).layout
    pairs = rng.integers(-(2**29), 2**29, N_ROWS), rng.integers(1, 2**28, N_ROWS)
    gh, sums = np.column_stack(pairs).astype(np.int32), np.empty(3, dtype=np.int64)
    hists = histogram.allocate(layout, 1, N_ROWS, histogram.words_of(gh, False))
    histogram.collect(rows, 0, len(rows), gh, hists.words, hists.chunk_sums[0], sums)
    return layout, gh, hists, tuple(sums)


def histograms(share: int) -> Program:
    """16 columns of a share of the rows."""
    from algorithms.trees import histogram

    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(N_ROWS)[: N_ROWS // share]).astype(np.int32)
    layout, gh, hists, _ = node(rows, rng)
    program = partial(histogram.build, layout, 0, rows, 0, len(rows), gh, hists, 0, 0)
    program()
    assert hists.count[0, : layout.column_code[1]].sum() == len(rows)
    return program


def split() -> Program:
    """The best of 16 features and 255 bins."""
    from algorithms.trees import histogram, splitter

    rows = np.arange(N_ROWS, dtype=np.int32)
    layout, gh, hists, total = node(rows, np.random.default_rng(0))
    histogram.build(layout, 0, rows, 0, N_ROWS, gh, hists, 0, 0)
    scale, scratch = splitter.Scale(2.0**-30, 2.0**-30, 1.0), splitter.allocate_scratch(1)
    gains, cuts = np.zeros(16), np.zeros(16, dtype=np.int16)
    of_node = layout, 0, 16, hists, 0, total, scale, (1, 20), scratch, 0
    program = partial(splitter.scan_features, *of_node, gains, cuts)
    program()
    assert gains.max() > 0
    return program


def marks() -> Program:
    """Rows that have used each of 64 features."""
    from algorithms.trees import penalty

    used = np.random.default_rng(0).integers(0, 2**63, (N_ROWS, 1)).astype(np.uint64)
    rows, counts = np.arange(N_ROWS, dtype=np.int32), np.zeros(64, dtype=np.int64)
    gh = np.ones((N_ROWS, 2), dtype=np.int32)
    program = partial(penalty.count_marks, used, rows, gh, counts)
    program()
    assert counts[0] == int((used[:, 0] & np.uint64(1)).sum())
    return program


def prediction(walk: bool) -> Program:
    """1,000 rows, 500 trees of 31 leaves."""
    from algorithms.cegb import CEGBRegressor
    from algorithms.kernels.decorators import threads
    from algorithms.trees.predictor import add_scores, bit_vectors, walk_scores

    X = np.random.default_rng(0).normal(size=(5_000, 16))
    model = CEGBRegressor(n_estimators=500, n_threads=1).fit(X, X[:, 0] * X[:, 1])
    X, forest = X[:1_000], model.trees_
    contributions = model.learning_rate * forest.value
    blocks = bit_vectors(forest, contributions, 1)

    def program() -> np.ndarray:
        out = np.tile(model.initial_scores_, (len(X), 1))
        with threads(1, X.size):
            if walk:
                walk_scores(forest, 0, contributions, X, out)
            else:
                add_scores(blocks, X, out, 1)
        return out

    np.testing.assert_array_equal(program()[:, 0], model.predict(X))
    return program


def labelled(share: float = 0.0):
    """Bytes of 16 columns, a share of them zero, and the weights of ten labels."""
    from algorithms.stumps.pair_weights import PairWeights

    rng = np.random.default_rng(0)
    targets = np.where(rng.integers(0, 10, N_ROWS)[:, None] == np.arange(10), 1, -1)
    codes = rng.integers(0, 256, (16, N_ROWS)).astype(np.uint8)
    codes[rng.random(codes.shape) < share] = 0
    codes.flags.writeable = False
    return codes, PairWeights(targets.astype(np.int8))


def stump_search(share: float) -> Program:
    """The best stump of 16 columns and ten labels."""
    from algorithms.stumps.search import DefaultCodes, search

    codes, pairs = labelled(share)
    every = np.arange(16)
    program = partial(search, codes, every, pairs.signed, 1, None, DefaultCodes(codes).of(every))
    assert program().edges.min() >= abs(pairs.signed.sum(axis=0, dtype=np.int64)).sum()
    return program


def edges() -> Program:
    """Edges of ten labels on one column."""
    from algorithms.stumps.search import label_edges

    codes, pairs = labelled()
    out = np.empty(pairs.signed.shape[1], dtype=np.int64)
    program = partial(label_edges, codes[0], 100, pairs.signed, out)
    program()
    side = np.where(codes[0] > 100, 1, -1)
    np.testing.assert_array_equal(out, side @ pairs.signed.astype(np.int64))
    return program


def pair_weights() -> Program:
    """Weights of ten labels after a round."""
    codes, pairs = labelled()
    program = partial(pairs.add, codes[0], 100, np.full(10, 1e-9))
    program()
    assert pairs.total == pairs.of_row.sum()
    return program


KERNELS: dict[str, Callable[[], Program]] = {
    "histogram, all rows": partial(histograms, 1),
    "histogram, an eighth of the rows": partial(histograms, 8),
    "split": split,
    "lazy marks": marks,
    "prediction, bit vectors": partial(prediction, False),
    "prediction, walk": partial(prediction, True),
    "stump search, dense": partial(stump_search, 0.0),
    "stump search, four fifths zero": partial(stump_search, 0.8),
    "label edges": edges,
    "pair weights": pair_weights,
}
"""What makes each ready: it runs the kernel once, and checks what that gives."""
