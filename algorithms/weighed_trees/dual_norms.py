"""Dual variables of Cronus's norms, and who uses what, laid out for Newton's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..kernels.decorators import kernel


class Duals(NamedTuple):
    """Dual variables of the norms, each within the unit ball; at the optimum u = x/‖x‖."""

    # penalty, tree: (n_trees,) float64: of |β_t|, and of the roots of a tree's price: their part by
    # this stage's weight
    penalty: np.ndarray
    tree: np.ndarray
    # (n_uses,) float64: of the roots of items' prices, one for each use in a :class:`Uses`
    item: np.ndarray


class Uses(NamedTuple):
    """Which tree needs which item, an entry for each use, ordered by item.

    SciPy's sparse matrices take longer to be made than what is computed with them here.
    """

    start: np.ndarray  # (n_items + 1,) int64: where the uses of each item begin
    item: np.ndarray  # item, tree: (n_uses,) int64
    tree: np.ndarray

    @classmethod
    def of(cls, uses: csr_matrix) -> Uses:
        """Return the uses of a matrix of ones, (n_items, n_trees)."""
        start = uses.indptr.astype(np.int64)
        items = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return cls(start, items, uses.indices.astype(np.int64))

    def by_item(self, values: np.ndarray) -> np.ndarray:
        """Sum of the values of each item's uses, (n_items,) float64."""
        return np.bincount(self.item, weights=values, minlength=len(self.start) - 1)

    def across(self, left: np.ndarray, right: np.ndarray, n_trees: int) -> np.ndarray:
        """leftᵀ right of two matrices with a value for each use: (n_trees, n_trees) float64."""
        out = np.zeros((n_trees, n_trees))
        _across(self.start, self.tree, left, right, out)
        return out

    def within(self, duals: Duals) -> Duals:
        """Return duals shortened to 1 where they are longer."""
        used = np.flatnonzero(np.diff(self.start))
        norm = np.ones(len(self.start) - 1)
        norm[used] = np.sqrt(np.add.reduceat(duals.item * duals.item, self.start[used]))
        item = duals.item * (1.0 / np.maximum(1.0, norm))[self.item]
        return Duals(np.clip(duals.penalty, -1, 1), np.clip(duals.tree, -1, 1), item)


@kernel
def _across(start, tree, left, right, out):
    """Add the products of the uses of each item, by their trees."""
    for item in range(start.shape[0] - 1):
        for a in range(start[item], start[item + 1]):
            for b in range(start[item], start[item + 1]):
                out[tree[a], tree[b]] += left[a] * right[b]
