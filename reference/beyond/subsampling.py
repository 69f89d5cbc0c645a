"""Rows and features drawn at random for each tree.

J. H. Friedman: Stochastic gradient boosting. Computational Statistics & Data Analysis 38 (2002),
pages 367-378: rows without replacement. Features likewise. Shares are rounded down to whole
numbers, at least 1; first a tree's rows are drawn, then its features; of a share of 1 nothing is
drawn.

A row that is not drawn has no gradient, hessian or weight in the tree. It walks down with the
others all the same: its score moves, and what it passes it has used. Where only such rows miss a
feature in a node, missing values go right; so do those of a feature of categories that no row drawn
is missing. A feature that is not drawn is a constant to the tree.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from reference.trees import Column, TrainingData


def samples(
    data: TrainingData, subsample: float, colsample: float, seed, n_before: int
) -> Iterator[TrainingData]:
    """What each tree sees; the draws of the ``n_before`` first trees are left out."""
    rng = np.random.default_rng(seed)
    while True:
        rows = drawn(rng, subsample, data.X.shape[0])
        features = drawn(rng, colsample, data.X.shape[1])
        n_before -= 1
        if n_before < 0:
            yield sample(data, rows, features)


def drawn(rng, share: float, n: int) -> np.ndarray:
    """Which of n (n,) bool are drawn."""
    if share == 1.0:
        return np.ones(n, dtype=bool)
    chosen = rng.choice(n, max(1, math.floor(share * n)), replace=False)
    return np.isin(np.arange(n), chosen)


def sample(data: TrainingData, rows: np.ndarray, features: np.ndarray) -> TrainingData:
    """Rows (n,) and features (d,) bool that are drawn, in the place of all."""
    columns = [
        column if seen else Column(column.edges[:0], np.zeros_like(column.bins))
        for column, seen in zip(data.columns, features, strict=True)
    ]
    weights = replace(data.weights, counts=data.weights.counts * rows)
    return replace(data, weights=weights, columns=columns)
