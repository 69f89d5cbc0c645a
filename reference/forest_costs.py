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

Before a bill is compared with a budget, prices are rounded up to a grid, 2**-52 of all prices and
trees together, on which sums are exact in any order. A budget is never passed, then; one that is
exactly the sum of prices like 0.1 may fall short by that rounding (whole numbers never do).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reference import costs, grid
from reference.boosting import Model

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


def price_list(n_features, feature_costs, feature_groups, group_costs, tree_cost) -> Prices:
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


def bill(holdings: Holdings, n_trees: int, prices: Prices) -> float:
    """Bill for these holdings and so many trees, as one correctly rounded sum."""
    bought = [*prices.shared[holdings.units], *prices.own[holdings.features]]
    return math.fsum([*bought, *[prices.tree] * n_trees])


# --- The budget ----------------------------------------------------------------------------


def grid_exponent(prices: Prices, max_trees: int) -> int:
    """Exponent k of the grid ``2**-k`` on which all prices and trees together fit in 53 bits."""
    total = math.fsum([*prices.shared, *prices.own, prices.tree * max_trees])
    return grid.SUM_BITS - grid.exponent_of(total) if total > 0 else 0


def grid_bill(holdings: Holdings, n_trees: int, prices: Prices, exponent: int) -> int:
    """:func:`bill` in whole steps of the grid, every price rounded up."""
    bought = [*prices.shared[holdings.units], *prices.own[holdings.features]]
    steps = [math.ceil(math.ldexp(float(price), exponent)) for price in [*bought, prices.tree]]
    return sum(steps[:-1]) + n_trees * steps[-1]


def is_within(
    budget: float, holdings: Holdings, n_trees: int, prices: Prices, exponent: int
) -> bool:
    """Whether the bill on the grid is at most the budget."""
    steps = grid_bill(holdings, n_trees, prices, exponent)  # below 2**53: exact as a float
    return math.ldexp(steps, -exponent) <= budget


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
    holdings, n_trees = nothing_held(prices), 0
    for trees_of_round in model.rounds:
        for tree in trees_of_round:
            n_trees += tree.n_splits > 0
            for m in tree.feature[tree.feature >= 0]:
                hold(holdings, prices, int(m))
        yield bill(holdings, n_trees, prices)


def forest_cost(model: Model, n_features: int, **prices) -> float:
    """Bill of the whole model; prices as in :func:`staged_forest_cost`."""
    stages = list(staged_forest_cost(model, n_features, **prices))
    return stages[-1] if stages else 0.0
