"""Searching for several weightings at once: each stump is the reference's."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.kernels import decorators
from algorithms.stumps.histograms import best_stumps
from reference import adaboost_mh as reference
from tests.test_adaboost_mh import draw_data


@pytest.mark.parametrize("n_weightings", [1, 8, 11])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_reference(seed, n_weightings, monkeypatch):
    monkeypatch.setattr(decorators, "_PARALLEL_VALUES", 0)
    rng = np.random.default_rng(seed)
    X, _ = draw_data(rng, int(rng.integers(1, 90)), int(rng.integers(1, 11)), 2)
    largest = int(rng.choice([2, 2**30]))  # small weights tie
    signed = rng.integers(-largest, largest + 1, (n_weightings, len(X)))
    signed[0] = np.abs(signed[0])  # no stump is better than a constant vote
    columns = np.ascontiguousarray(X.T)
    found = best_stumps(columns, signed, 1)
    assert found == best_stumps(columns, signed, 2)
    assert len(found) == n_weightings
    assert found[0].feature == -1
    for stump, weights in zip(found, signed, strict=True):
        edge, expected = reference.best_stump(X, weights[:, None], range(X.shape[1]))
        assert (stump.feature, stump.vote, stump.edge) == (
            expected.feature, int(expected.votes[0]), edge,
        )  # fmt: skip
        if stump.feature >= 0:
            column = X[:, stump.feature]
            np.testing.assert_array_equal(column > stump.cut, column > expected.threshold)
            assert stump.cut in column


def test_no_weight_at_all():
    columns = np.arange(12, dtype=np.uint8).reshape(3, 4)
    (found,) = best_stumps(columns, np.zeros((1, 4), dtype=np.int64), 1)
    assert found == (-1, -1, 1, 0)
