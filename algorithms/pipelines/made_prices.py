"""Prices of features that are made of columns: each needs all of its columns, each bought once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..costs import price_list
from ..inputs.types import FeatureCosts, FeatureGroups, GroupCosts


class Purchases(NamedTuple):
    """What can be bought, and what each feature that is made of columns needs of it."""

    # (n_purchases,) float64: of each group of columns, then of each column what it costs besides
    price: np.ndarray
    needs: np.ndarray  # (n_made, n_purchases) bool

    def cost(self, acquired: Any) -> np.ndarray:
        """What rows pay for features: each purchase once."""
        return bought(acquired, self.needs) @ self.price

    def as_groups(self) -> tuple[np.ndarray, np.ndarray, dict[int, float]]:
        """Give the prices in the words of an estimator, whose features are in one group each.

        A feature's group is the dearest purchase that it needs, paid once; what else it needs is
        its own price. Where features need more than one purchase, an estimator that trains with
        these prices, or bills by them, counts a purchase again that another feature has brought:
        it never counts too little.
        """
        priced = np.where(self.needs, self.price, -1.0)
        label = np.argmax(priced, axis=1)
        label[~self.needs.any(axis=1)] = len(self.price)  # of nothing: a constant
        price = np.append(self.price, 0.0)
        own = np.array(
            [
                self.price[[p for p in np.flatnonzero(needs) if p != of]].sum()
                for needs, of in zip(self.needs, label, strict=True)
            ]
        )
        return own, label, {int(p): float(price[p]) for p in np.unique(label)}

    def cost_as_groups(self, acquired: Any) -> np.ndarray:
        """What rows pay for features as an estimator counts by :meth:`as_groups`."""
        own, label, group_costs = self.as_groups()
        in_group = label[:, None] == np.array(list(group_costs))
        by_group = bought(acquired, in_group) @ np.array(list(group_costs.values()))
        return by_group + acquired @ own


def bought(acquired: Any, needs: np.ndarray) -> np.ndarray:
    """Whether each row needs each purchase, (n_samples, n_purchases) bool."""
    return np.asarray(acquired @ needs.astype(np.int64)) > 0


def purchases_of(
    needs: np.ndarray,
    feature_costs: FeatureCosts,
    feature_groups: FeatureGroups = None,
    group_costs: GroupCosts = None,
    names: Sequence[str] | None = None,
) -> Purchases:
    """Say what made features need to be bought, by the prices of columns."""
    prices = price_list(feature_costs, feature_groups, group_costs, needs.shape[1], names)
    of_group = prices.unit[:, None] == np.arange(len(prices.shared))
    besides = np.diag(prices.own > 0)
    of_column = np.concatenate([of_group, besides], axis=1)
    return Purchases(np.concatenate([prices.shared, prices.own]), bought(needs, of_column))
