"""Sums over uses, beside the same by SciPy's sparse matrices: equal bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from algorithms.reweighted_trees.mixed_norms import Duals, Uses


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_uses_add_up_as_sparse_matrices_do(seed, share):
    """With items that no tree uses, and none used at all."""
    rng = np.random.default_rng(seed)
    table = sparse.csr_matrix((rng.random((7, 12)) < share).astype(float))
    uses, n = Uses.of(table), table.nnz
    left, right, by_tree = rng.normal(size=n), 3 * rng.normal(size=n), rng.normal(size=12)
    A, B = (
        sparse.csr_matrix((values, uses.tree, uses.start), shape=table.shape)
        for values in (left, right)
    )
    np.testing.assert_array_equal(uses.across(left, right, 12), (A.T.tocsr() @ B).toarray())
    np.testing.assert_array_equal(uses.by_item(left * by_tree[uses.tree]), A @ by_tree)
    duals = uses.within(Duals(np.array([2.0, -0.5]), np.array([-3.0]), right))
    norm = np.sqrt(np.asarray(B.multiply(B).sum(axis=1)).ravel())
    expected = B.multiply((1.0 / np.maximum(1.0, norm))[:, None]).tocsr().toarray()
    np.testing.assert_array_equal(duals.item, expected[uses.item, uses.tree])
    np.testing.assert_array_equal(duals.penalty, [1.0, -0.5])
    np.testing.assert_array_equal(duals.tree, [-1.0])
