"""Missing values (NaN), which no paper here has.

A feature that a training row is missing has one bin more, the last, for those rows, and one
threshold more, :data:`reference.trees.ALL_PRESENT`, which every number is below. A split sends
them right, or left, whichever gains more; with the last threshold all other rows go left and they
go right. Of equal gains that with missing values right is taken, then the lowest threshold. A row
pays for a feature that it asks for, whether the answer is a number or that there is none.

Where no training row of a node is missing the feature, the node's larger side is that of missing
values; where only rows that are not drawn (:mod:`reference.beyond.subsampling`) miss it, the right.
"""

from dataclasses import dataclass

import numpy as np

from reference.trees import Column, Order


@dataclass(frozen=True)
class WithMissing(Column):
    """A feature of numbers that some training rows are missing."""

    def orders(self, G, H, N):
        """Missing values behind the numbers, then before them."""
        return on_either_side(np.arange(len(self.edges)), len(self.edges), N)

    def unseen_left(self, weights, rows, goes_left):
        """Rows that are not drawn and are missing it went right."""
        return bool(np.all(weights.counts)) and super().unseen_left(weights, rows, goes_left)


def on_either_side(present: np.ndarray, missing: int, N) -> list[Order]:
    """Orders of the bins ``present``, with the bin of missing values at either end.

    Missing values alone are tried on the right only.
    """
    right = np.append(present, missing)
    if N[missing] == 0:
        return [Order(right)]
    left = np.append(missing, present)
    return [Order(right, 1, missing_left=False), Order(left, 2, missing_left=True)]
