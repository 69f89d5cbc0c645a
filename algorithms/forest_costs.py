"""What a forest costs as the papers on test-time budgets bill it: features once, and e per tree.

Beside the meter of :mod:`algorithms.costs`, by which each row pays for what its own paths use, this
is the bill of a whole model: every feature that any tree uses is paid once, and so is each tree.
A tree without a split is a constant and costs nothing. The reference is
:mod:`reference.forest_costs`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from .costs import PriceList
from .trees.forest import Forest


def grid_exponent(prices: PriceList, tree_cost: float, max_trees: int) -> int:
    """Exponent k of the grid ``2**-k`` on which all prices and trees together fit in 53 bits.

    Parameters
    ----------
    prices : PriceList
    tree_cost : float
        e, the price of evaluating one tree.
    max_trees : int
        Trees that a forest has at most.

    Returns
    -------
    int
    """
    total = math.fsum([*prices.shared, *prices.own, tree_cost * max_trees])
    return 52 - math.frexp(total)[1] if total > 0 else 0


def staged_bill(
    forest: Forest, trees_per_round: int, prices: PriceList, tree_cost: float
) -> Iterator[float]:
    """Bill after each round: every feature of the forest once, and e per tree that splits.

    Parameters
    ----------
    forest : Forest
    trees_per_round : int
    prices : PriceList
        What the model pays once.
    tree_cost : float
        e, the price of evaluating one tree.

    Yields
    ------
    float
        Correctly rounded.
    """
    units, features = (
        np.zeros(len(prices.shared), dtype=bool),
        np.zeros(len(prices.own), dtype=bool),
    )
    total = Fraction(0)
    for first in range(0, forest.n_trees, trees_per_round):
        roots = forest.tree[first : first + trees_per_round + 1]
        total += int(np.count_nonzero(forest.left[roots[:-1]] >= 0)) * Fraction(tree_cost)
        tested = np.unique(forest.feature[roots[0] : roots[-1]])
        for m in tested[tested >= 0]:
            u = prices.unit[m]
            if not features[m]:
                total += Fraction(float(prices.own[m]))
            if not units[u]:
                total += Fraction(float(prices.shared[u]))
            features[m] = units[u] = True
        yield float(total)
