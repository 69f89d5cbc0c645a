"""What a model charges by: its own prices, or those of one of its price lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import costs
from ..inputs.price_lists import PriceLists
from ..inputs.types import FeatureCosts, GroupCosts
from ..prices.by_name import column_labels
from ..prices.groups import prices_by_group


class Charged(NamedTuple):
    """Prices in one unit, as estimators of one price list have them."""

    feature_costs: FeatureCosts
    split_cost: float
    group_costs: GroupCosts


def charged(model: Any, n_features: int, unit: str | None = None) -> Charged:
    """Give the prices of a model in a unit.

    Parameters
    ----------
    model : estimator or MeteredForest
        With `feature_costs`, perhaps PriceLists, `split_cost`, `feature_groups`, `group_costs`.
    n_features : int
    unit : str, optional
        A unit of its price lists; None: what it is trained on.

    Returns
    -------
    Charged
        Of several lists with weights w their sum, Σ w · price, of features, groups and splits. Of
        a model with one list its own prices, untouched.

    Raises
    ------
    ValueError
        If the model has no such unit, prices do not fit, or there are prices beside the lists.
    """
    lists = model.feature_costs
    if not isinstance(lists, PriceLists):
        if unit is not None:
            raise ValueError(
                f"prices={unit!r} names one of several price lists, and this model has one: give "
                "it feature_costs=PriceLists(…), or these prices as feature_costs here."
            )
        return Charged(lists, model.split_cost, model.group_costs)
    if model.group_costs is not None or model.split_cost != 0:
        raise ValueError(
            "split_cost and group_costs have no unit beside PriceLists: give them to the lists "
            "(split_costs, group_costs), by unit."
        )
    by_unit = {name: _in(model, lists, name) for name in lists.lists}
    for prices in by_unit.values():
        _check(model, prices, n_features)
    if unit is not None:
        lists.check_unit("prices", unit)
        return by_unit[unit]
    if len(lists.weights) == 1 and set(lists.weights.values()) == {1.0}:
        return by_unit[next(iter(lists.weights))]
    return _weighted(model, [(w, by_unit[name]) for name, w in lists.weights.items()], n_features)


def _in(model: Any, lists: PriceLists, unit: str) -> Charged:
    groups = None if lists.group_costs is None else lists.group_costs[unit]
    prices = model._in_its_spelling(lists[unit])
    return Charged(prices, lists.split_costs.get(unit, 0.0), groups)


def _check(model: Any, prices: Charged, n_features: int) -> None:
    names = column_labels(model)
    groups = (model.feature_groups, prices.group_costs)
    costs.price_list(prices.feature_costs, *groups, n_features, names)
    costs.split_prices(prices.split_cost, model.feature_sharing, n_features, names)


def _weighted(model: Any, parts: list[tuple[float, Charged]], n_features: int) -> Charged:
    names, features, split = column_labels(model), np.zeros(n_features), 0.0
    groups: dict | None = None
    for weight, prices in parts:
        listed = costs.check_feature_costs(prices.feature_costs, n_features, feature_names=names)
        features = features + weight * listed
        split += weight * prices.split_cost
        if prices.group_costs is not None:
            by_label = prices_by_group(prices.group_costs, model.feature_groups, n_features, names)
            groups = {} if groups is None else groups
            for label, price in zip(*by_label, strict=True):
                groups[label] = groups.get(label, 0.0) + weight * price
    return Charged(features, split, groups)
