"""Prices in several units at once, dollars and milliseconds: trained on one, metered in all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any


class PriceLists:
    """Several price lists of one model, each in its own unit.

    It is given to an estimator as `feature_costs`. The estimator trains on one list, or on a
    weighted sum of several, and can make bills in each: ``prediction_cost(X, prices="ms")``.

    Parameters
    ----------
    lists : mapping of str to array-like, dict or Series
        Price of each feature by the name of the unit; what `feature_costs` may be.
    train_on : str or mapping of str to float
        The list that the model is trained on and that bills are in by default, or weights >= 0 of
        several, by which their prices are multiplied before they are added: what a unit of each is
        worth.
    split_costs : mapping of str to float, optional
        Price of evaluating one split node in each unit; 0 in a unit that is not there. It takes the
        place of the estimator's `split_cost`.
    group_costs : mapping of str to dict, optional
        Prices of groups by their labels, in each unit. It takes the place of the estimator's
        `group_costs`.

    Raises
    ------
    ValueError
        If there is no list, a unit is not among the lists, or a weight is no number >= 0 or all
        are 0. Whether prices are prices is checked by `fit`, which knows the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.cegb import CEGBRegressor
    >>> from algorithms.prices import PriceLists
    >>> prices = PriceLists({"usd": [1.0, 10.0], "ms": [300.0, 5.0]}, train_on="usd")
    >>> x = np.arange(100.0)
    >>> model = CEGBRegressor(feature_costs=prices).fit(np.column_stack([x, x]), x >= 50)
    >>> model.prediction_cost([[3.0, 3.0]]), model.prediction_cost([[3.0, 3.0]], prices="ms")
    (array([1.]), array([300.]))
    """

    def __init__(
        self,
        lists: Mapping[str, Any],
        *,
        train_on: str | Mapping[str, float],
        split_costs: Mapping[str, float] | None = None,
        group_costs: Mapping[str, Mapping] | None = None,
    ) -> None:
        if not isinstance(lists, Mapping) or not lists or not all(map(_is_name, lists)):
            raise ValueError("PriceLists needs a dict from the name of each unit to its prices.")
        self.lists = dict(lists)
        weights = {train_on: 1.0} if isinstance(train_on, str) else train_on
        self.weights = {unit: _weight(w) for unit, w in self._of_units("train_on", weights).items()}
        if not any(self.weights.values()):
            raise ValueError("train_on must give some list a weight above 0.")
        self.split_costs = self._of_units("split_costs", split_costs or {})
        self.group_costs = None
        if group_costs is not None:
            self.group_costs = self._of_units("group_costs", group_costs)
            if lacking := [unit for unit in self.lists if unit not in self.group_costs]:
                raise ValueError(
                    f"group_costs has no prices in {lacking[0]!r}: give all units some."
                )

    def _of_units(self, name: str, values: Any) -> dict:
        """Values by unit as a dict; ValueError if they are of none."""
        if not isinstance(values, Mapping):
            raise ValueError(f"{name} must be a dict with units as keys, got {values!r:.80}.")
        for unit in values:
            self.check_unit(name, unit)
        return dict(values)

    def check_unit(self, name: str, unit: object) -> None:
        """Refuse a unit that there is no list of (ValueError that calls it `name`)."""
        if unit not in self.lists:
            known = " or ".join(map(repr, self.lists))
            raise ValueError(f"{name} must be {known}, the units of its price lists, got {unit!r}.")

    def __getitem__(self, unit: str) -> Any:
        """Prices of the features in a unit, as they were given."""
        self.check_unit("The unit", unit)
        return self.lists[unit]

    def map(self, change: Callable[[Any], Any]) -> PriceLists:
        """Give the same with each list of features' prices changed by a function."""
        lists = {unit: change(values) for unit, values in self.lists.items()}
        return PriceLists(
            lists,
            train_on=self.weights,
            split_costs=self.split_costs,
            group_costs=self.group_costs,
        )

    def __repr__(self) -> str:
        return f"PriceLists({list(self.lists)}, train_on={self.weights})"


def _is_name(unit: object) -> bool:
    return isinstance(unit, str) and unit != ""


def _weight(value: object) -> float:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= value < math.inf:
        raise ValueError(f"train_on must have weights that are finite numbers >= 0, got {value!r}.")
    return float(value)
