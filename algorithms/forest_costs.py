"""What a forest costs as the papers on test-time budgets bill it: features once, and e per tree.

Beside the meter of :mod:`algorithms.costs`, by which each row pays for what its own paths use, this
is the bill of a whole model: every feature that any tree uses is paid once, and so is each tree.
A tree without a split is a constant and costs nothing. Prices and budgets are what they are written
as: 0.1 is one tenth, not the binary number next to it, so that ten trees of 0.1 cost 1. The
reference is :mod:`reference.forest_costs`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from .costs import PriceList
from .trees.forest import Forest
from .trees.miser_penalty import Steps

_MOST_STEPS = 2**60  # of a budget: three prices more still fit 64 bits


def as_written(price: float) -> Fraction:
    """Return the shortest decimal number that is read as this price, exactly."""
    return Fraction(repr(float(price)))


def _step_size(prices: Iterable[Fraction], budget: Fraction) -> Fraction:
    """Return the largest number that all affordable prices are multiples of, or 2**-60 of B."""
    affordable = {price for price in prices if 0 < price <= budget}
    if not affordable:
        return budget + 1
    denominator = math.lcm(*[price.denominator for price in affordable])
    step = Fraction(math.gcd(*[int(price * denominator) for price in affordable]), denominator)
    return step if budget <= _MOST_STEPS * step else budget / _MOST_STEPS


def in_steps(
    prices: PriceList, tree_cost: float, budget: float | None, max_trees: int
) -> Steps | None:
    """Count prices and a budget in steps.

    A step is the largest number that all affordable prices are multiples of. Only where a budget
    has more than ``2**60`` of them are they longer, ``2**-60`` of it, and prices rounded up.
    """
    if budget is None or budget == math.inf:
        return None
    shared, own = ([as_written(price) for price in each] for each in (prices.shared, prices.own))
    tree, most = as_written(tree_cost), as_written(budget)
    if sum(shared) + sum(own) + max_trees * tree <= most:
        return None
    step = _step_size([*shared, *own, tree], most)
    limit = math.floor(most / step)

    def steps(price: Fraction) -> int:
        return min(math.ceil(price / step), limit + 1)

    by_unit, by_feature = ([steps(price) for price in each] for each in (shared, own))
    return Steps(
        np.array(by_unit, dtype=np.int64), np.array(by_feature, dtype=np.int64), steps(tree), limit
    )


def staged_bill(
    forest: Forest, trees_per_round: int, prices: PriceList, tree_cost: float
) -> Iterator[float]:
    """Bill after each round: every feature of the forest once, and e per tree that splits."""
    units, features = (
        np.zeros(len(prices.shared), dtype=bool),
        np.zeros(len(prices.own), dtype=bool),
    )
    total = Fraction(0)
    for first in range(0, forest.n_trees, trees_per_round):
        roots = forest.tree[first : first + trees_per_round + 1]
        total += int(np.count_nonzero(forest.left[roots[:-1]] >= 0)) * as_written(tree_cost)
        tested = np.unique(forest.feature[roots[0] : roots[-1]])
        for m in tested[tested >= 0]:
            u = prices.unit[m]
            if not features[m]:
                total += as_written(prices.own[m])
            if not units[u]:
                total += as_written(prices.shared[u])
            features[m] = units[u] = True
        yield float(total)
