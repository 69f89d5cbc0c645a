"""Rows and features drawn at random for each tree.

J. H. Friedman: Stochastic gradient boosting. Computational Statistics & Data Analysis 38 (2002),
pages 367-378: rows without replacement. Features likewise. Shares are rounded down to whole
numbers, at least 1; first a tree's rows are drawn, then its features; of a share of 1 nothing is
drawn.

A row that is not drawn has no gradient, hessian or weight in the tree. It walks down with the
others all the same: its score moves, and what it passes it has used. Where only such rows miss a
feature in a node, missing values go right; so do those of a feature of categories that no row drawn
is missing.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from reference.grid import GridValues, RowWeights


@dataclass(frozen=True)
class Sample:
    """Which rows (n,) and features (d,) bool a tree sees."""

    rows: np.ndarray
    features: np.ndarray

    def values(self, values: GridValues) -> GridValues:
        """Values of the rows drawn, 0 of the others."""
        return GridValues(values.ints * self.rows, values.exponent)

    def weights(self, weights: RowWeights) -> RowWeights:
        """Weights that count only the rows drawn."""
        return replace(weights, counts=weights.counts * self.rows)


class Draws:
    """Samples tree by tree, from one generator."""

    def __init__(self, seed, n_rows: int, n_features: int, subsample: float, colsample: float):
        self.rng = np.random.default_rng(seed)
        self.of = (subsample, n_rows), (colsample, n_features)

    def share(self, share: float, n: int) -> np.ndarray:
        """Which of n (n,) bool are drawn."""
        if share == 1.0:
            return np.ones(n, dtype=bool)
        chosen = self.rng.choice(n, max(1, math.floor(share * n)), replace=False)
        return np.isin(np.arange(n), chosen)

    def skip(self, n_trees: int) -> None:
        """Leave out the samples of trees that are grown already."""
        for _ in range(n_trees):
            self.sample()

    def sample(self) -> Sample:
        """The next tree's sample."""
        return Sample(*[self.share(*part) for part in self.of])
