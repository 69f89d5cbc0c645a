"""The one cost meter: what predictions cost, row by row, for every method of the suite.

The first use of a feature by a row pays its acquisition, later uses are free; features that one
acquisition brings together (a group) are paid for together; every evaluated split node or base
classifier pays its evaluation cost. Costs are in the user's own unit.

Prices are rounded to one grid ``2**-k`` fixed by the prices and the size of the model, so the
bill of a row is exact in whatever order it is added up, and does not depend on other rows.
"""

import math

import numpy as np
from scipy import sparse

_BLOCK_ROWS = 8192  # rows billed at a time; bounds the temporary memory


def _numbers(values, name: str) -> np.ndarray:
    """Return values as a new float64 array; text is refused even where it looks like numbers."""
    try:
        given = np.asarray(values)
        if given.dtype.kind in "US" or any(isinstance(v, str | bytes) for v in given.flat):
            raise TypeError
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, one for each feature.") from None


def check_feature_costs(costs, n_features: int, name: str = "feature_costs") -> np.ndarray:
    """Validate a price list.

    Parameters
    ----------
    costs : (d,) array-like of float or None
        Price of each feature, in the user's unit; None means that all are free.
    n_features : int
        Number d of features.
    name : str
        What to call it in messages.

    Returns
    -------
    (d,) float64

    Raises
    ------
    ValueError
        If prices are missing, negative or infinite, or their number is not d.
    """
    if costs is None:
        return np.zeros(n_features)
    costs = _numbers(costs, name)
    if costs.shape != (n_features,):
        raise ValueError(
            f"{name} must have one value for each of the {n_features} features, "
            f"got an array of shape {costs.shape}."
        )
    for problem, where in (
        ("missing (NaN)", np.isnan(costs)),
        ("infinite", np.isinf(costs)),
        ("negative", costs < 0),
    ):
        if np.any(where):
            m = int(np.argmax(where))
            raise ValueError(f"{name} must not be {problem}; feature {m} has {costs[m]}.")
    return costs + 0.0  # -0.0 becomes 0.0


def check_split_cost(split_cost: float) -> float:
    """Validate the price of one split node: a finite number, not negative (else ValueError)."""
    try:
        if isinstance(split_cost, str | bytes):  # "1" is a slip, not a price
            raise TypeError
        price = float(split_cost)
    except (TypeError, ValueError):
        raise ValueError(f"split_cost must be a number, got {split_cost!r}.") from None
    if not (math.isfinite(price) and price >= 0):
        raise ValueError(f"split_cost must be a finite number >= 0, got {split_cost!r}.")
    return price


def feature_units(feature_groups, n_features: int) -> np.ndarray:
    """Acquisition unit of each feature.

    Parameters
    ----------
    feature_groups : (d,) array-like of int or None
        Group label of each feature; features with the same label are acquired together.
        None: each feature by itself.
    n_features : int
        Number d of features.

    Returns
    -------
    (d,) int64
        Numbers 0, 1, …, in the order of the groups' first features.

    Raises
    ------
    ValueError
        If there is not exactly one whole-number label for each feature.
    """
    if feature_groups is None:
        return np.arange(n_features, dtype=np.int64)
    labels = np.asarray(feature_groups)
    if labels.shape != (n_features,):
        raise ValueError(
            f"feature_groups must have one label for each of the {n_features} features, "
            f"got an array of shape {labels.shape}."
        )
    whole = labels.dtype.kind in "iu" or (
        labels.dtype.kind == "f" and np.all(np.isfinite(labels) & (labels == np.rint(labels)))
    )
    if not whole:
        raise ValueError("feature_groups must be whole numbers, one label for each feature.")
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[which]


def acquisition_units(
    feature_costs, feature_groups, n_features: int, name: str = "feature_costs"
) -> tuple[np.ndarray, np.ndarray]:
    """Units of acquisition and their prices.

    Parameters
    ----------
    feature_costs : (d,) array-like of float or None
        Price of each feature; equal within a group, where it is the price of the group.
    feature_groups : (d,) array-like of int or None
        See :func:`feature_units`.
    n_features : int
        Number d of features.
    name : str
        What to call the costs in messages.

    Returns
    -------
    units : (d,) int64
        Unit of each feature.
    prices : (n_units,) float64
        Price of each unit.

    Raises
    ------
    ValueError
        If costs are negative, missing or infinite, differ within a group, or the number of
        costs or labels is not d.
    """
    costs = check_feature_costs(costs=feature_costs, n_features=n_features, name=name)
    units = feature_units(feature_groups, n_features)
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
    return units, prices


def split_node_prices(
    split_cost: float, feature_sharing, n_features: int
) -> tuple[np.ndarray, np.ndarray]:
    """Price of evaluating a split node, by how many rows share the feature's value.

    Parameters
    ----------
    split_cost : float
        α, the price of one evaluation.
    feature_sharing : (d,) array-like of float or None
        ε_m, how many rows share one evaluation on feature m (section 5.2 of the CEGB paper);
        None: 1.
    n_features : int
        Number d of features.

    Returns
    -------
    prices : (S,) float64
        α/ε for each distinct ε, in ascending order of ε.
    kind : (d,) int64
        Which of the S prices a split on each feature pays.

    Raises
    ------
    ValueError
        If the price is negative or not finite, or a sharing number is not positive.
    """
    price = check_split_cost(split_cost)
    if feature_sharing is None:
        return np.array([price]), np.zeros(n_features, dtype=np.int64)
    sharing = _numbers(feature_sharing, "feature_sharing")
    if sharing.shape != (n_features,):
        raise ValueError(
            f"feature_sharing must have one value for each of the {n_features} features, "
            f"got an array of shape {sharing.shape}."
        )
    if not np.all(np.isfinite(sharing) & (sharing > 0)):
        raise ValueError("feature_sharing must be finite and greater than 0 for every feature.")
    distinct, kind = np.unique(sharing, return_inverse=True)
    return price / distinct, kind.astype(np.int64)


def price_exponent(unit_prices: np.ndarray, node_prices: np.ndarray, n_split_nodes: int) -> int:
    """Exponent k of the price grid ``2**-k``, on which no bill exceeds 53 bits.

    The largest bill possible buys every unit and passes every split node of the model.
    """
    largest = math.fsum(unit_prices) + float(np.max(node_prices)) * n_split_nodes
    return 52 - math.frexp(largest)[1] if largest > 0 else 0


def on_grid(prices: np.ndarray, exponent: int) -> np.ndarray:
    """Prices as whole numbers (float64) of grid steps, rounded up.

    Up, because a cheaper list may have a finer grid: to the nearest, other prices could rise a
    little when a feature becomes free.
    """
    return np.ceil(np.ldexp(prices, exponent))


def row_costs(acquired, units: np.ndarray, unit_prices: np.ndarray) -> np.ndarray:
    """Sum of the whole-number prices of the units each row acquired.

    Parameters
    ----------
    acquired : (n, d) bool array or sparse CSR
        Which features each row acquired.
    units : (d,) int64
        Unit of each feature.
    unit_prices : (n_units,) float64
        Whole numbers of grid steps, whose sum is below 2**53.

    Returns
    -------
    (n,) float64, whole numbers
    """
    n_rows, n_units = acquired.shape[0], len(unit_prices)
    if sparse.issparse(acquired):
        entries = acquired.tocoo()
        there = entries.data != 0
        bought = np.unique(
            entries.row[there].astype(np.int64) * n_units + units[entries.col[there]]
        )
        return np.bincount(
            bought // n_units, weights=unit_prices[bought % n_units], minlength=n_rows
        ).astype(np.float64)
    total = np.empty(n_rows)
    by_unit = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[by_unit], np.arange(n_units))
    for begin in range(0, n_rows, _BLOCK_ROWS):
        block = acquired[begin : begin + _BLOCK_ROWS]
        if n_units < len(units):
            block = np.logical_or.reduceat(block[:, by_unit], starts, axis=1)
        total[begin : begin + _BLOCK_ROWS] = block @ unit_prices  # whole numbers: exact
    return total


def prediction_cost(
    acquired,
    node_counts: np.ndarray,
    feature_costs,
    node_prices: np.ndarray,
    n_split_nodes: int,
    feature_groups=None,
) -> np.ndarray:
    """Bill each row for a prediction.

    Parameters
    ----------
    acquired : (n, d) bool array or sparse CSR
        Features tested on the row's paths.
    node_counts : (n, S) or (n,) int64
        Split nodes (or base classifiers) the row passed, by price.
    feature_costs : (d,) array-like of float or None
        Acquisition cost per row, in the user's unit.
    node_prices : (S,) float64
        Price of each kind of evaluation, see :func:`split_node_prices`.
    n_split_nodes : int
        Split nodes of the whole model, at least what any row passes; it fixes the price grid.
        For a stage of a model it is still that of the whole model.
    feature_groups : (d,) array-like of int or None
        Features acquired together.

    Returns
    -------
    (n,) float64
        Cost of each row, in the user's unit. Exact up to the rounding of the prices to the grid.

    Raises
    ------
    ValueError
        If costs are negative, missing or infinite, or differ within a group; if there are more
        evaluations than split nodes; if shapes do not fit.
    """
    units, prices = acquisition_units(feature_costs, feature_groups, acquired.shape[1])
    node_prices = np.atleast_1d(np.asarray(node_prices, dtype=np.float64))
    node_counts = np.asarray(node_counts).reshape(acquired.shape[0], -1)
    if node_counts.shape[1] != len(node_prices):
        raise ValueError(
            f"node_counts must have one column for each of the {len(node_prices)} prices of "
            f"evaluations, got {node_counts.shape[1]}."
        )
    if len(node_counts) and int(np.max(np.sum(node_counts, axis=1))) > n_split_nodes:
        raise ValueError(
            f"A row passed more split nodes than the model has ({n_split_nodes}); "
            "n_split_nodes must count those of the whole model."
        )
    k = price_exponent(prices, node_prices, n_split_nodes)
    total = row_costs(acquired, units, on_grid(prices, k))
    for s, price in enumerate(on_grid(node_prices, k)):
        total += node_counts[:, s] * price
    return np.ldexp(total, -k)


def model_cost(used: np.ndarray, model_feature_costs, feature_groups=None) -> float:
    """Cost that the model pays once, whatever the number of rows, Eq. (5) of the CEGB paper.

    Parameters
    ----------
    used : (d,) bool
        Features that any part of the model tests.
    model_feature_costs : (d,) array-like of float or None
        γ, price per model of each feature, equal within a group.
    feature_groups : (d,) array-like of int or None
        Features acquired together.

    Returns
    -------
    float
        In the user's unit, correctly rounded.

    Raises
    ------
    ValueError
        As :func:`acquisition_units`.
    """
    used = np.asarray(used, dtype=bool)
    units, prices = acquisition_units(
        model_feature_costs, feature_groups, len(used), "model_feature_costs"
    )
    return math.fsum(prices[np.unique(units[used])])
