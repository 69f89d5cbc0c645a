"""The search for stumps against the reference, whatever the columns and the number of labels."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.stumps import search as stumps
from algorithms.stumps.pair_weights import PairWeights
from reference import adaboost_mh as reference


def draw_weights(rng, n_samples, n_labels):
    """Weights after two rounds."""
    weights = PairWeights(rng.choice([-1, 1], (n_samples, n_labels)).astype(np.int8))
    codes = rng.integers(0, 256, (2, n_samples)).astype(np.uint8)
    codes.flags.writeable = False
    for column in codes:
        weights.add(column, 99, rng.normal(size=n_labels))
    return weights


@pytest.mark.parametrize("n_chunks", [1, 2, 3])
def test_search_in_chunks_of_any_size(n_chunks):
    """Columns are searched four at a time; a chunk's last may be alone."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, rng.choice([2, 5, 256], 11), (90, 11)).astype(np.uint8)
    weights = draw_weights(rng, 90, 6)
    for n_searched in range(1, 12):
        features = np.sort(rng.choice(11, n_searched, replace=False))
        found = stumps.search(np.ascontiguousarray(X.T), features, weights.signed, n_chunks)
        expected = reference.estimated_edges(X, weights.signed[:, :6].astype(np.int64), features)
        np.testing.assert_array_equal(found.edges, expected)


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 5, 8, 9, 11, 13, 16, 18, 20, 23])
def test_search_with_any_number_of_labels(n_labels):
    """Blocks of 8 labels and what is left over; more rows than the 8192 taken at a time."""
    rng = np.random.default_rng([8, n_labels])
    X, n_samples = rng.integers(0, 4, (9, 8300)).astype(np.uint8), 8300
    X[5:] = np.where(rng.random((4, n_samples)) < 0.9, 255, X[5:])
    weights = draw_weights(rng, n_samples, n_labels)
    assert weights.signed.shape == (n_samples, stumps.n_lanes(n_labels))
    every, signed = np.arange(9), weights.signed[:, :n_labels].astype(np.int64)
    expected = reference.estimated_edges(X.T, signed, every)
    wide = weights.signed.astype(np.int64)
    for given in (weights.signed, wide):
        for defaults in (None, stumps.DefaultCodes(X).of(every), np.where(every == 3, -1, 255)):
            for n_chunks in (1, 2):  # a kernel leaves the memory empty for the next
                found = stumps.search(X, every, given, n_chunks, defaults=defaults)
                np.testing.assert_array_equal(found.edges, expected)
    far = stumps.search(X, every, wide << 20, 1)  # beyond 32 bits
    np.testing.assert_array_equal(far.edges, expected << 20)


@pytest.mark.parametrize("n_chunks", [1, 2])
def test_columns_that_mostly_hold_one_code_are_searched_alike(n_chunks):
    """More rows than a block; the code left out is the most frequent one, another, or absent."""
    rng = np.random.default_rng(5)
    X = np.where(rng.random((12, 5000)) < 0.9, [[0], [255], [7]] * 4, rng.integers(0, 256, 5000))
    X[3:6] = rng.integers(0, 256, (3, 5000))
    X = X.astype(np.uint8)
    weights = draw_weights(rng, 5000, 6)
    every, rows = np.arange(12), rng.integers(0, 5000, 3000)
    known = stumps.DefaultCodes(X)
    np.testing.assert_array_equal(known.of(np.array([4, 1])), [-1, 255])  # before the rest
    defaults = known.of(every)
    np.testing.assert_array_equal(defaults, [0, 255, 7, -1, -1, -1] + [0, 255, 7] * 2)
    for some, signed in ((None, weights.signed), (rows, weights.signed[rows])):
        plain = stumps.search(X, every, signed, n_chunks, some)
        for left_out in (defaults, np.arange(12), np.full(12, 255)):
            found = stumps.search(X, every, signed, n_chunks, some, left_out)
            np.testing.assert_array_equal(found.edges, plain.edges)
            np.testing.assert_array_equal(found.cuts, plain.cuts)
