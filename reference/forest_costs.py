"""What a forest costs as the papers on test-time budgets bill it: features once, and e per tree.

Beside the meter of :mod:`reference.costs`, by which each row pays for what its own paths use, this
is the bill of a whole model: every feature that any tree uses is paid once, and so is each tree.
A tree without a split is a constant and costs nothing.

=========  ======================================================================
symbol     name
=========  ======================================================================
c_α        ``feature_costs``, price per model of a feature
e          ``tree_cost``, evaluating one tree
B          ``budget``, what the bill must not pass
φ_α        0 for what is among the :class:`Holdings`, 1 for the rest
=========  ======================================================================

A group of features shares one price, or has a price of its own (``group_costs``) beside those of
its features; then the first feature used pays both, the others only their own.

Prices and budgets are what they are written as: 0.1 is one tenth, not the binary number next to
it, so that ten trees of 0.1 cost 1. Before a bill is compared with a budget, it is counted in whole
steps of the largest number that all affordable prices are multiples of. Only where a budget has
more than 2**60 such steps are they longer, 2**-60 of it, and prices rounded up: it is never passed.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np

from reference import costs
from reference.boosting import Model
from reference.trees import Tree

# --- What has been paid for ----------------------------------------------------------------


@dataclass(frozen=True)
class Prices:
    """What a model pays once: ``shared`` by unit (``unit[m]`` is that of feature m), and ``own``.

    The unit of a feature is its group; ``own`` is 0 unless groups have prices of their own.
    """

    unit: np.ndarray
    shared: np.ndarray
    own: np.ndarray
    tree: float


@dataclass(frozen=True)
class Holdings:
    """Which units and which features' own prices have been paid."""

    units: np.ndarray
    features: np.ndarray


def price_list(
    n_features: int,
    feature_costs=None,
    feature_groups=None,
    group_costs=None,
    tree_cost: float = 1.0,
) -> Prices:
    """Put all prices side by side; ``group_costs`` maps the label of every group to its price."""
    unit = costs.acquisition_units(feature_groups, n_features)
    return Prices(
        unit, *costs.shared_and_own(feature_costs, feature_groups, group_costs, unit), tree_cost
    )


def nothing_held(prices: Prices) -> Holdings:
    """The holdings of a forest without trees."""
    return Holdings(np.zeros(len(prices.shared), dtype=bool), np.zeros(len(prices.own), dtype=bool))


def copy_of(holdings: Holdings) -> Holdings:
    """The same holdings, to be changed apart."""
    return Holdings(holdings.units.copy(), holdings.features.copy())


def missing_price(holdings: Holdings, prices: Prices, m: int) -> float:
    """What feature m still costs: φ_α c_α, or its unpaid parts (the group's, and its own)."""
    u = prices.unit[m]
    shared = 0.0 if holdings.units[u] else float(prices.shared[u])
    return shared + (0.0 if holdings.features[m] else float(prices.own[m]))


def hold(holdings: Holdings, prices: Prices, m: int) -> None:
    """Pay for feature m and its group."""
    holdings.units[prices.unit[m]] = True
    holdings.features[m] = True


def held_by(some: Iterable[Tree], prices: Prices) -> tuple[Holdings, int]:
    """What trees hold, and how many of them have a split."""
    holdings, n_trees = nothing_held(prices), 0
    for tree in some:
        n_trees += tree.n_splits > 0
        for m in tree.feature[tree.feature >= 0]:
            hold(holdings, prices, int(m))
    return holdings, n_trees


def as_written(price: float) -> Fraction:
    """The shortest decimal number that is read as this price."""
    return Fraction(repr(float(price)))


def bill(holdings: Holdings, n_trees: int, prices: Prices) -> float:
    """Bill for these holdings and so many trees, as one correctly rounded sum."""
    bought = [*prices.shared[holdings.units], *prices.own[holdings.features]]
    return float(sum(map(as_written, bought)) + n_trees * as_written(prices.tree))


# --- The budget ----------------------------------------------------------------------------

MOST_STEPS = 2**60  # of a budget


@dataclass(frozen=True)
class Steps:
    """Prices and budget in whole steps; a price that is never affordable is one more than that."""

    shared: list[int]
    own: list[int]
    tree: int
    limit: int


def step_size(prices: list[Fraction], budget: Fraction) -> Fraction:
    """The largest number that all affordable prices are multiples of; see the header."""
    affordable = [price for price in prices if 0 < price <= budget]
    if not affordable:
        return budget + 1
    denominator = math.lcm(*[price.denominator for price in affordable])
    step = Fraction(math.gcd(*[int(price * denominator) for price in affordable]), denominator)
    return step if budget <= MOST_STEPS * step else budget / MOST_STEPS


def in_steps(prices: Prices, budget: float | None, max_trees: int) -> Steps | None:
    """Prices and budget in steps; None if the budget, if any, is enough for everything."""
    shared, own = ([as_written(price) for price in each] for each in (prices.shared, prices.own))
    tree = as_written(prices.tree)
    if budget in (None, math.inf) or sum(shared + own) + max_trees * tree <= as_written(budget):
        return None
    step = step_size([*shared, *own, tree], as_written(budget))
    limit = math.floor(as_written(budget) / step)

    def steps(price):
        return min(math.ceil(price / step), limit + 1)

    return Steps([*map(steps, shared)], [*map(steps, own)], steps(tree), limit)


def is_within(steps: Steps | None, holdings: Holdings, n_trees: int) -> bool:
    """Whether the bill for these holdings and so many trees is at most the budget."""
    if steps is None:
        return True
    units, features = np.flatnonzero(holdings.units), np.flatnonzero(holdings.features)
    bought = [*[steps.shared[u] for u in units], *[steps.own[m] for m in features]]
    return sum(bought) + n_trees * steps.tree <= steps.limit


# --- The bill of a fitted model ------------------------------------------------------------


def staged_forest_cost(
    model: Model,
    n_features: int,
    *,
    feature_costs=None,
    feature_groups=None,
    group_costs=None,
    tree_cost: float = 1.0,
) -> Iterator[float]:
    """Bill after each round: every feature of the forest once, and e per tree."""
    prices = price_list(n_features, feature_costs, feature_groups, group_costs, tree_cost)
    for t in range(1, len(model.rounds) + 1):
        yield bill(*held_by(chain(*model.rounds[:t]), prices), prices)


def forest_cost(model: Model, n_features: int, **prices) -> float:
    """Bill of the whole model; prices as in :func:`staged_forest_cost`."""
    stages = list(staged_forest_cost(model, n_features, **prices))
    return stages[-1] if stages else 0.0
