"""What predictions cost: each row pays for the features and split nodes on its own paths.

A feature is paid for once per row, however often the row's paths test it. Features that one
acquisition brings together form a group and are paid for together; with ``group_costs`` the group
has a price of its own, and each feature's price is what remains to be paid for it beside the
group's. The prices are rounded up to one grid, so the sum is exact in any order, and a bill never
rises when a feature becomes free.

=========  ============================================================
symbol     name
=========  ============================================================
β          ``feature_costs``, price per row of a feature (of its group)
γ          ``model_feature_costs``, price per model of a feature
α          ``split_cost``, price of evaluating one split node
ε_m        ``feature_sharing``, rows that share one evaluation
=========  ============================================================
"""

import math

import numpy as np


def acquisition_units(feature_groups, n_features: int) -> np.ndarray:
    """Return the unit (d,) of each feature: its group, in order of the groups' first features."""
    if feature_groups is None:
        return np.arange(n_features)
    labels = list(feature_groups)
    order = list(dict.fromkeys(labels))
    return np.array([order.index(label) for label in labels], dtype=np.int64)


def or_free(prices, n_features: int) -> np.ndarray:
    """Prices (d,); None means free."""
    return np.zeros(n_features) if prices is None else np.asarray(prices, dtype=np.float64)


def unit_prices(costs, units: np.ndarray) -> np.ndarray:
    """Price (n_units,) of each unit: the common cost of its features. None means free."""
    costs = or_free(costs, len(units))
    return np.array([costs[units == u][0] for u in range(int(np.max(units)) + 1)])


def shared_and_own(
    feature_costs, feature_groups, group_costs, units: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Prices (n_units,) of the units, and (d,) what each feature costs besides.

    Without ``group_costs``, from the label of every group to its price, nothing costs anything
    besides.
    """
    if group_costs is None:
        return unit_prices(feature_costs, units), np.zeros(len(units))
    shared = [float(group_costs[label]) for label in dict.fromkeys(feature_groups)]  # as in units
    return np.array(shared), or_free(feature_costs, len(units))


def split_prices(split_cost: float, feature_sharing, n_features: int) -> np.ndarray:
    """Price (d,) of a split node by the feature it tests: α/ε_m."""
    sharing = np.ones(n_features) if feature_sharing is None else np.asarray(feature_sharing)
    return split_cost / sharing.astype(np.float64)


def price_exponent(prices: np.ndarray, split_price: np.ndarray, n_split_nodes: int) -> int:
    """Exponent k of the grid ``2**-k`` on which no row's bill can overflow 53 bits.

    ``prices`` are all that can be paid once: of units, and of features besides.
    """
    largest = math.fsum(prices) + float(np.max(split_price)) * max(1, n_split_nodes)
    return 52 - math.frexp(largest)[1] if largest > 0 else 0


def prediction_cost(
    passed: np.ndarray,
    n_split_nodes: int,
    *,
    feature_costs=None,
    split_cost: float = 0.0,
    feature_groups=None,
    group_costs=None,
    feature_sharing=None,
) -> np.ndarray:
    """Cost (n,) of each row.

    Parameters
    ----------
    passed : (n, d) int
        Split nodes on the row's paths that test each feature.
    n_split_nodes : int
        Split nodes in the whole model (it fixes the grid).
    feature_costs : (d,) float, optional
        Acquisition cost per row.
    split_cost : float
        Price of evaluating a split node.
    feature_groups : (d,) labels, optional
        Features acquired together.
    group_costs : mapping from label to float, optional
        Price of each group; ``feature_costs`` are then paid besides.
    feature_sharing : (d,) float, optional
        By what a split node on each feature is cheaper.
    """
    split_price = split_prices(split_cost, feature_sharing, passed.shape[1])
    units = acquisition_units(feature_groups, passed.shape[1])
    unit_price, own_price = shared_and_own(feature_costs, feature_groups, group_costs, units)
    k = price_exponent(np.concatenate([unit_price, own_price]), split_price, n_split_nodes)
    total = np.zeros(len(passed))
    for u, price in enumerate(unit_price):
        acquired = np.any(passed[:, units == u] > 0, axis=1)
        total = total + acquired * np.ceil(np.ldexp(price, k))
    for m, price in enumerate(own_price):
        total = total + (passed[:, m] > 0) * np.ceil(np.ldexp(price, k))
    for m, price in enumerate(split_price):
        total = total + passed[:, m] * np.ceil(np.ldexp(price, k))
    return np.ldexp(total, -k)


def total_cost(bills, y, predicted, classes, confusion_costs) -> np.ndarray:
    """Turney's cost (n,) of each row: its bill, and the price of its error.

    P. D. Turney, JAIR 2 (1995), section 2.2. ``confusion_costs`` (n_classes, n_classes) has a row
    for each true class and a column for each predicted one: Turney's C, transposed.
    """
    order, matrix = list(classes), np.asarray(confusion_costs, dtype=np.float64)
    errors = [matrix[order.index(a), order.index(b)] for a, b in zip(y, predicted, strict=True)]
    return np.asarray(bills) + np.array(errors)


def model_cost(used: np.ndarray, model_feature_costs, feature_groups=None) -> float:
    """Sum of the per-model costs of the units of which the model uses a feature."""
    units = acquisition_units(feature_groups, len(used))
    prices = unit_prices(model_feature_costs, units)
    return math.fsum(price for u, price in enumerate(prices) if np.any(used[units == u]))
