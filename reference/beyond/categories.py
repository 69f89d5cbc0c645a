"""Features whose values are categories: a split sends a set of them left, whatever their order.

Here a category is a number, for which only equality means something; text stands for its place
among all texts in ascending order.

1. **Known categories.** Of the categories of a column, those that weigh at least
   ``min_samples_leaf`` in the training rows have a bin, in ascending order; if they are more than
   ``max_bins``, the heaviest, of equal ones the lowest. All others are too rare to say anything:
   they count as missing, and so does a category that comes later.
2. **Sets.** In a node, its categories are put in the order of G/H, their sums of gradients and
   hessians; of equal ones the lowest is first. The best split of that order, found as of numbers,
   has the largest gain of all sets (Fisher 1958; Breiman et al. 1984, section 4.2.2), but for
   sets that ``min_samples_leaf`` alone rules out. Of equal gains that with missing values right is
   taken, then the one with fewer categories left.
3. **Several scores.** Each class has a tree of its own in every round, and orders categories by
   the gradients and hessians of its own score.
4. **Whatever else.** A split knows the categories of the node's training rows. All else goes
   where missing values go: what is missing, too rare, new, or was in other nodes only.
5. **Costs.** A row pays for the column, once, as for one of numbers.
"""

from dataclasses import dataclass

import numpy as np

from reference.beyond.missing import WithMissing, on_either_side
from reference.grid import RowWeights
from reference.trees import Limits, Order, column_of


@dataclass(frozen=True)
class Sets:
    """The categories that a split sends left, and those that it sends right."""

    left: frozenset[float]
    right: frozenset[float]

    def goes_left(self, x: np.ndarray, missing_left: bool) -> np.ndarray:
        """Which rows go left; what is in neither set goes where missing values go."""
        left, right = np.isin(x, list(self.left)), np.isin(x, list(self.right))
        return left | (~right & missing_left)


def known_categories(
    x: np.ndarray, weights: RowWeights, max_bins: int, min_samples_leaf: float
) -> np.ndarray:
    """Categories of a column (n,) that have a bin, ascending."""
    present = ~np.isnan(x)
    values, which = np.unique(x[present], return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, which, weights.counts[present])
    heavy = np.flatnonzero(np.ldexp(counts.astype(float), -weights.exponent) >= min_samples_leaf)
    heaviest = sorted(heavy.tolist(), key=lambda k: (-counts[k], k))[:max_bins]
    return values[sorted(heaviest)]


def coded(x: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Places among the known categories instead of categories, NaN for all others."""
    place = np.full(len(x), np.nan)
    for k, category in enumerate(known):
        place[x == category] = k
    return place


@dataclass(frozen=True)
class Categories(WithMissing):
    """A column of categories: bin k is of ``known[k]``, and one more, if any, of all others."""

    known: np.ndarray

    def orders(self, G, H, N):
        """Known categories of the rows, in the order of G/H; of equal ones the lowest first."""
        there = np.flatnonzero(H[: len(self.known)])  # no hessian is 0
        order = there[np.argsort(G[there] / H[there], kind="stable")]
        if len(self.edges) < len(self.known):
            return [Order(order)]
        return on_either_side(order, len(self.known), N)

    def question(self, order, n_left):
        """Sets of the categories that the node has; no threshold."""
        left, right = (
            frozenset(self.known[bins[bins < len(self.known)]].tolist())
            for bins in (order.bins[:n_left], order.bins[n_left:])
        )
        return 0.0, Sets(left, right)


def column_of_categories(x: np.ndarray, weights: RowWeights, limits: Limits) -> Categories:
    """Put a column in bins; what is not known is in the last one, with what is missing."""
    known = known_categories(x, weights, limits.max_bins, limits.min_samples_leaf)
    column = column_of(coded(x, known), weights, limits.max_bins)
    return Categories(column.edges, column.bins, known)
