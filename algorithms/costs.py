"""The one cost meter: what predictions cost, row by row, for every method of the suite.

The first use of a feature by a row pays its acquisition, later uses are free; features that one
acquisition brings together (a group) are paid for together; every evaluated split node or base
classifier pays its evaluation cost. A group with a price of its own (`group_costs`) is paid once,
and each of its features' own price besides. Costs are in the user's own unit.

Prices are rounded to one grid ``2**-k`` fixed by the prices and the size of the model, so the
bill of a row is exact in whatever order it is added up, and does not depend on other rows. All
that make bills (trees, stumps, prediction on demand) take their prices from :class:`GridPrices`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .validation.prices import acquisition_units, in_column_order, prices_by_group
from .validation.types import FeatureCosts, FeatureGroups, GroupCosts

# No sum of so many prices as a model has features, nodes and rows comes near the largest float64.
LARGEST_PRICE = 1e270

_BY_COLUMN = (
    "feature_costs",
    "feature_groups",
    "group_costs",
    "feature_sharing",
    "model_feature_costs",
)
_NO_PRICES = {
    "b": "booleans",
    "c": "complex numbers",
    "M": "dates",
    "m": "time spans",
    "S": "text",
    "U": "text",
}


def _kind(value) -> str:
    """NumPy's letter for the kind of a value; that of an object if it may be a number."""
    return "O" if value is None else np.asarray(value).dtype.kind


def _numbers(values, name: str, each: str = "feature") -> np.ndarray:
    """Return values as a new float64 array; refuse what only looks like numbers."""
    wanted = f"{name} must be numbers, one for each {each}"
    if np.ma.isMaskedArray(values):
        raise ValueError(f"{wanted}, not a masked array: fill it in first.")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise ValueError(f"{wanted}.") from None
    kinds = [array.dtype.kind]
    if array.dtype.kind == "O":
        kinds = [_kind(value) for value in array.flat]
    elif isinstance(values, list | tuple):  # True beside 2 becomes 1 in an array
        kinds += ["b" for value in values if isinstance(value, bool | np.bool_)]
    for kind in kinds:
        if kind in _NO_PRICES:
            raise ValueError(f"{wanted}, not {_NO_PRICES[kind]}.")
    try:
        return np.array(array, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} must be at most {LARGEST_PRICE:g}.") from None
    except (TypeError, ValueError):
        raise ValueError(f"{wanted}.") from None


def _per_feature(values, name: str, n_features: int, feature_names) -> np.ndarray:
    """Return one float64 for each feature, in the order of the columns."""
    numbers = _numbers(in_column_order(values, name, n_features, feature_names), name)
    if numbers.shape != (n_features,):
        raise ValueError(
            f"{name} must have one value for each of the {n_features} features, "
            f"got an array of shape {numbers.shape}."
        )
    return numbers


def check_feature_costs(
    costs: FeatureCosts,
    n_features: int,
    name: str = "feature_costs",
    feature_names: Sequence[str] | None = None,
) -> np.ndarray:
    """Validate a price list."""
    if costs is None:
        return np.zeros(n_features)
    prices = _per_feature(costs, name, n_features, feature_names)
    return _checked_prices(prices, name, [f"feature {m}" for m in range(n_features)])


def _checked_prices(prices: np.ndarray, name: str, owners: list[str]) -> np.ndarray:
    """Return prices that are prices; refuse others, and say whose they are."""
    for problem, where in (
        ("missing (NaN)", np.isnan(prices)),
        ("infinite", np.isinf(prices)),
        ("negative", prices < 0),
        (f"above {LARGEST_PRICE:g}", prices > LARGEST_PRICE),
    ):
        if np.any(where):
            m = int(np.argmax(where))
            raise ValueError(f"{name} must not be {problem}; {owners[m]} has {prices[m]}.")
    return prices + 0.0  # -0.0 becomes 0.0


def check_split_cost(split_cost: float) -> float:
    """Validate the price of one split node: a number from 0 to 1e270 (else ValueError)."""
    refused = np.ma.isMaskedArray(split_cost) or _kind(split_cost) in _NO_PRICES
    try:
        if refused or np.ndim(split_cost) > 0:  # "1" is a slip, not a price
            raise TypeError
        price = float(split_cost)
    except (TypeError, ValueError):
        raise ValueError(f"split_cost must be a number, got {split_cost!r}.") from None
    except OverflowError:
        price = math.inf
    if not (math.isfinite(price) and price >= 0):
        raise ValueError(f"split_cost must be a finite number >= 0, got {split_cost!r}.")
    if price > LARGEST_PRICE:
        raise ValueError(f"split_cost must be at most {LARGEST_PRICE:g}, got {split_cost!r}.")
    return price + 0.0


def unit_prices(
    feature_costs: FeatureCosts,
    units: np.ndarray,
    name: str = "feature_costs",
    feature_names: Sequence[str] | None = None,
) -> np.ndarray:
    """Price of each acquisition unit: the common price of its features."""
    costs = check_feature_costs(feature_costs, len(units), name, feature_names)
    _, first = np.unique(units, return_index=True)
    prices = costs[first]
    unequal = costs != prices[units]
    if np.any(unequal):
        m = int(np.argmax(unequal))
        other = int(first[units[m]])
        raise ValueError(
            f"{name} must be equal within a group of features: features {other} and {m} share "
            f"a group but cost {costs[other]} and {costs[m]}."
        )
    return prices


class PriceList(NamedTuple):
    """What is paid once, by a row or by a model."""

    unit: np.ndarray  # (d,) int64: acquisition unit of each feature
    shared: np.ndarray  # (n_units,) float64: price of each unit
    # (d,) float64: what each feature costs beside its unit: 0 unless groups have prices of their
    # own
    own: np.ndarray


def price_list(
    feature_costs: FeatureCosts,
    feature_groups: FeatureGroups,
    group_costs: GroupCosts,
    n_features: int,
    feature_names: Sequence[str] | None = None,
) -> PriceList:
    """Prices of the units, and of the features besides."""
    unit = acquisition_units(feature_groups, n_features, feature_names)
    if group_costs is None:
        shared = unit_prices(feature_costs, unit, feature_names=feature_names)
        return PriceList(unit, shared, np.zeros(n_features))
    labels, by_unit = prices_by_group(group_costs, feature_groups, n_features, feature_names)
    numbers = _numbers(by_unit, "group_costs", "group")
    if numbers.shape != (len(labels),):
        raise ValueError("group_costs must have one number for each group.")
    shared = _checked_prices(numbers, "group_costs", [f"group {label!r}" for label in labels])
    return PriceList(
        unit, shared, check_feature_costs(feature_costs, n_features, feature_names=feature_names)
    )


def split_prices(
    split_cost: float,
    feature_sharing: FeatureCosts,
    n_features: int,
    feature_names: Sequence[str] | None = None,
) -> np.ndarray:
    """Price of evaluating a split node by the feature it tests."""
    price = check_split_cost(split_cost)
    if feature_sharing is None:
        return np.full(n_features, price)
    sharing = _per_feature(feature_sharing, "feature_sharing", n_features, feature_names)
    if not np.all(np.isfinite(sharing) & (sharing > 0)):
        raise ValueError("feature_sharing must be finite and greater than 0 for every feature.")
    with np.errstate(over="ignore"):
        prices = price / sharing
    if np.any(prices > LARGEST_PRICE):
        m = int(np.argmax(prices))
        raise ValueError(
            f"split_cost / feature_sharing must be at most {LARGEST_PRICE:g}; feature {m} shares "
            f"one evaluation among {sharing[m]} rows."
        )
    return prices


def price_exponent(prices: np.ndarray, split_price: np.ndarray, n_split_nodes: int) -> int:
    """Exponent k of the price grid ``2**-k``, on which no bill exceeds 53 bits.

    The largest bill possible pays all `prices` that can be paid once, of units and of features
    besides, and passes every split node of the model.
    """
    largest = math.fsum(prices) + float(np.max(split_price)) * max(1, n_split_nodes)
    return 52 - math.frexp(largest)[1] if largest > 0 else 0


def on_grid(prices: np.ndarray, exponent: int) -> np.ndarray:
    """Prices as whole numbers (int64) of grid steps, rounded up.

    Up, because a cheaper list may have a finer grid: to the nearest, other prices could rise a
    little when a feature becomes free.
    """
    return np.ceil(np.ldexp(prices, exponent)).astype(np.int64)


class GridPrices(NamedTuple):
    """What a row pays for a prediction, in whole steps of the price grid.

    Kernels take it as it is: a row that tests feature m for the first time pays
    ``unit_price[unit[m]]`` unless it owns that unit, and ``own_price[m]``; and each time
    ``split_price[m]``.
    """

    unit: np.ndarray  # (d,) int64: acquisition unit of each feature
    # (n_units,) int64: steps paid at a row's first use of any feature of the unit
    unit_price: np.ndarray
    # (d,) int64: steps paid at a row's first use of the feature itself, beside its unit
    own_price: np.ndarray
    split_price: np.ndarray  # (d,) int64: steps paid for each evaluation on the feature
    exponent: int  # k of the grid ``2**-k``

    @property
    def n_marks(self) -> int:
        """Bits that tell what a row has paid for: its units, then its features if they cost."""
        return len(self.unit_price) + (len(self.own_price) if np.any(self.own_price) else 0)

    def marks(self, features: np.ndarray) -> np.ndarray:
        """Bits, in words of 64, of what is paid for by a row that tests these features."""
        tested = features[features >= 0]
        bits = np.zeros(-(-self.n_marks // 64) * 64, dtype=bool)
        bits[self.unit[tested]] = True
        if np.any(self.own_price):
            bits[len(self.unit_price) + tested[self.own_price[tested] > 0]] = True
        return np.packbits(bits, bitorder="little").view(np.uint64)

    def path_steps(self, features: np.ndarray) -> np.ndarray:
        """Bill of a row after each of the evaluations that it passes."""
        paid = self.split_price[features]
        bought, first = np.unique(self.unit[features], return_index=True)
        paid[first] += self.unit_price[bought]
        tested, first = np.unique(features, return_index=True)
        paid[first] += self.own_price[tested]
        return np.cumsum(paid)

    def cost(self, steps: np.ndarray) -> np.ndarray:
        """Steps of the grid as a cost (float64) in the unit of the prices."""
        return np.ldexp(np.asarray(steps, dtype=np.float64), -self.exponent)


def grid_prices(
    feature_costs: FeatureCosts,
    split_cost: float,
    feature_groups: FeatureGroups,
    feature_sharing: FeatureCosts,
    n_features: int,
    n_split_nodes: int,
    feature_names: Sequence[str] | None = None,
    group_costs: GroupCosts = None,
) -> GridPrices:
    """Prices of a model on its price grid."""
    once = price_list(feature_costs, feature_groups, group_costs, n_features, feature_names)
    per_split = split_prices(split_cost, feature_sharing, n_features, feature_names)
    k = price_exponent(np.concatenate([once.shared, once.own]), per_split, n_split_nodes)
    return GridPrices(
        once.unit, on_grid(once.shared, k), on_grid(once.own, k), on_grid(per_split, k), k
    )


def by_column(model: object) -> bool:
    """Whether columns have prices or groups of their own; if not, all are as good as one."""
    return any(getattr(model, name, None) is not None for name in _BY_COLUMN)


def free_of_charge(n_features: int) -> GridPrices:
    """Prices of nothing, each feature a unit by itself: to see what is acquired and passed."""
    nothing = np.zeros(n_features, dtype=np.int64)
    return GridPrices(np.arange(n_features), nothing, nothing, nothing, 0)


def model_cost(
    used: np.ndarray,
    model_feature_costs: FeatureCosts,
    feature_groups: FeatureGroups = None,
    feature_names: Sequence[str] | None = None,
) -> float:
    """Cost that the model pays once, whatever the number of rows, Eq. (5) of the CEGB paper."""
    used = np.asarray(used, dtype=bool)
    units = acquisition_units(feature_groups, len(used), feature_names)
    prices = unit_prices(model_feature_costs, units, "model_feature_costs", feature_names)
    return math.fsum(prices[np.unique(units[used])])
