"""Features whose values are categories: a split sends a set of them left, whatever their order.

Shared by all boosted trees (:mod:`reference.trees`); none of the papers has categories. Here a
category is a number, for which only equality means something; text stands for its place among all
texts in ascending order.

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

from reference.grid import RowWeights


@dataclass(frozen=True)
class Sets:
    """The categories that a split sends left, and those that it sends right."""

    left: frozenset[float]
    right: frozenset[float]


def divided(ordered: np.ndarray, n_left: int) -> Sets:
    """Sets of the first ``n_left`` categories and of the others."""
    return Sets(frozenset(ordered[:n_left].tolist()), frozenset(ordered[n_left:].tolist()))


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


def coded(X: np.ndarray, known: dict[int, np.ndarray]) -> np.ndarray:
    """Rows with places among the known categories instead of categories, NaN for all others."""
    X = X.copy()
    for m, categories in known.items():
        place = np.full(len(X), np.nan)
        for k, category in enumerate(categories):
            place[X[:, m] == category] = k
        X[:, m] = place
    return X


def in_order_of_gradient(bins, n_known: int, gradients, hessians) -> np.ndarray:
    """Known categories that rows are of, in the order of G/H; of equal ones the lowest first."""
    G = np.bincount(bins, weights=gradients, minlength=n_known)[:n_known]
    H = np.bincount(bins, weights=hessians, minlength=n_known)[:n_known]
    there = np.flatnonzero(H)  # no hessian is 0
    return there[np.argsort(G[there] / H[there], kind="stable")]


def sent_left(sets: tuple, nodes: np.ndarray, x, missing_left, goes_left) -> np.ndarray:
    """Which rows go left: those at nodes that split categories by their sets, others as they do."""
    goes_left = goes_left.copy()
    for node in np.unique(nodes):
        if sets and sets[node] is not None:
            here = nodes == node
            left, right = np.isin(x, list(sets[node].left)), np.isin(x, list(sets[node].right))
            goes_left[here] = (left | (~right & missing_left))[here]
    return goes_left
