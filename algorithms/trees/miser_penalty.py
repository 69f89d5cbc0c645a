"""What splits pay in Greedy Miser (Xu, Weinberger & Chapelle 2012): features once for the model.

A second penalty of the grower, see :mod:`algorithms.trees.penalty`. Eq. (5) charges a split λ φ c,
the price of what is not free yet; Eq. (4) forbids what would take the bill of Eq. (3) above B. Its
reference is :mod:`reference.greedy_miser`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel
from .penalty import begin_tree, charge, divide, implements, pay

_NO_LIMIT = 2**62  # more steps than any bill has
_SPENT, _TREE_IS_SPLIT = 0, 1  # places in the account


class Steps(NamedTuple):
    """Prices and a budget in whole steps, on which bills are exact."""

    # (n_units,) int64: price of each unit; as of the others, one more than `limit` if it is never
    # affordable
    shared: np.ndarray
    own: np.ndarray  # (n_features,) int64: what each feature costs besides
    tree: int  # e, the price of evaluating one tree
    limit: int  # The budget


class MiserPenalty(NamedTuple):
    """Prices of Eqs. (3) and (5), and what has been paid for already.

    A *unit* is what one acquisition brings: a feature, or a group of them. A feature costs the
    price of its unit and a price of its own. What is *bought* is on the bill of Eq. (3), in whole
    steps (:class:`Steps`); what is *free* (φ = 0) is not charged by Eq. (5). With
    charging at first use both are the same memory.
    """

    tradeoff: float  # lambda
    unit: np.ndarray  # (n_features,) int64
    unit_price: np.ndarray  # (n_units,) float64
    own_price: np.ndarray  # (n_features,) float64
    unit_steps: np.ndarray  # (n_units,) int64, the same prices in steps
    own_steps: np.ndarray  # (n_features,) int64
    tree_steps: int  # e
    limit: int  # B
    bought_units: np.ndarray  # (n_units,) bool
    bought_features: np.ndarray  # (n_features,) bool
    free_units: np.ndarray  # (n_units,) bool
    free_features: np.ndarray  # (n_features,) bool
    account: np.ndarray  # (2,) int64: steps spent so far, and whether the present tree has a split


def _unlimited(shared: np.ndarray, own: np.ndarray) -> Steps:
    """Return steps that tell only whether something costs: no bill comes near their limit."""
    return Steps((shared > 0).astype(np.int64), (own > 0).astype(np.int64), 1, _NO_LIMIT)


@dataclass(frozen=True)
class MiserPrices:
    """The terms of the trade: λ, B, when features become free, and the prices."""

    tradeoff: float  # lambda of Eq. (5)
    # (n_features,) int64: what one acquisition brings: the feature itself, or its group
    unit: np.ndarray
    shared: np.ndarray  # (n_units,): price of each unit
    own: np.ndarray  # (n_features,): what each feature costs besides
    # The prices and B of Eq. (4) in whole steps; None: no bill comes near B, if there is one
    steps: Steps | None
    # Whether features are free from their first use on, or from the end of that round
    at_first_use: bool

    def affords_a_tree(self) -> bool:
        """Whether one tree and the cheapest feature are within the budget."""
        if self.steps is None:
            return True
        cheapest = int(np.min(self.steps.shared[self.unit] + self.steps.own))
        return cheapest + self.steps.tree <= self.steps.limit

    def begin(
        self, n_samples: int, total_weight: int, weight_step: float, n_nodes: int
    ) -> MiserPenalty:
        """Return the accounts before the first tree: nothing has been bought yet.

        Parameters and value are those of :meth:`algorithms.trees.penalty.Charging.begin`.
        """
        steps = _unlimited(self.shared, self.own) if self.steps is None else self.steps
        bought = np.zeros(len(self.shared), dtype=bool), np.zeros(len(self.own), dtype=bool)
        free = bought if self.at_first_use else tuple(held.copy() for held in bought)
        return MiserPenalty(
            tradeoff=self.tradeoff,
            unit=self.unit,
            unit_price=self.shared,
            own_price=self.own,
            unit_steps=steps.shared,
            own_steps=steps.own,
            tree_steps=steps.tree,
            limit=steps.limit,
            bought_units=bought[0],
            bought_features=bought[1],
            free_units=free[0],
            free_features=free[1],
            account=np.zeros(2, dtype=np.int64),
        )

    def end_round(self, penalty: MiserPenalty) -> None:  # Algorithm 1, line 5
        """Make all that has been bought free; at first use it is already."""
        penalty.free_units[:] = penalty.bought_units
        penalty.free_features[:] = penalty.bought_features

    def for_samples(self, penalty: MiserPenalty) -> MiserPenalty:
        """Return the penalty as it is: rows have no accounts."""
        return penalty

    def recount(self, penalty: MiserPenalty, gh: np.ndarray) -> None:
        """Do nothing: rows have no accounts."""

    def go_on(
        self, penalty: MiserPenalty, used: np.ndarray, n_trees: int, acquired: np.ndarray
    ) -> None:
        """Buy what earlier trees use; see :meth:`algorithms.trees.penalty.Charging.go_on`."""
        penalty.bought_units[penalty.unit[used]] = True
        penalty.bought_features[used] = True
        shared = penalty.unit_steps[penalty.bought_units].sum()
        own = penalty.own_steps[penalty.bought_features].sum()
        penalty.account[_SPENT] = shared + own + n_trees * penalty.tree_steps
        self.end_round(penalty)

    def row_accounts(self, penalty: MiserPenalty) -> np.ndarray:
        """Return an array without columns: rows have no accounts."""
        return np.empty((0, 0), dtype=np.int64)


@kernel
def _missing_steps(penalty, feature):  # Eq. (3), what a split adds
    """Steps by which a split on the feature raises the bill."""
    unit = penalty.unit[feature]
    steps = np.int64(0)
    if not penalty.bought_units[unit]:
        steps += penalty.unit_steps[unit]
    if not penalty.bought_features[feature]:
        steps += penalty.own_steps[feature]
    if penalty.account[_TREE_IS_SPLIT] == 0:
        steps += penalty.tree_steps
    return steps


@kernel
def _missing_price(penalty, feature):  # Eq. (5), φ_α c_α
    """What is not free yet of the feature's prices."""
    unit = penalty.unit[feature]
    shared = 0.0 if penalty.free_units[unit] else penalty.unit_price[unit]
    return shared + (0.0 if penalty.free_features[feature] else penalty.own_price[feature])


@implements(begin_tree, MiserPenalty)
def _begin_tree(penalty):
    penalty.account[_TREE_IS_SPLIT] = 0


@implements(charge, MiserPenalty)
def _charge(penalty, leaf, feature, n_rows):
    """λ φ_α c_α of Eq. (5); infinite where Eq. (4) forbids the split."""
    if penalty.account[_SPENT] + _missing_steps(penalty, feature) > penalty.limit:
        return np.inf
    return penalty.tradeoff * _missing_price(penalty, feature)


@implements(pay, MiserPenalty)
def _pay(penalty, node, feature, rows):
    """Put on the bill what the split adds to it."""
    steps = _missing_steps(penalty, feature)
    penalty.account[_SPENT] += steps
    penalty.account[_TREE_IS_SPLIT] = 1
    penalty.bought_units[penalty.unit[feature]] = True
    penalty.bought_features[feature] = True
    return steps > 0


@implements(divide, MiserPenalty)
def _divide(penalty, node, leaves, rows, gh, n_rows):
    """Do nothing: rows have no accounts."""
