"""From traces of many models to one curve per method: the best score for each budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.cells.gaps import WIDEST_GAP, gaps_between
from experiments.estimates import t_interval

HALF_THE_COST = 0.30103
"""log10(2): the smallest saving that claims call much cheaper, in decades of cost.

A decade is a factor of ten; costs are compared by the logarithm of their ratio.
"""

PER_DECADE = 12
"""Budgets are 10^(i/12), i whole: a grid that does not depend on any result."""


def budgets_between(lowest: float, highest: float) -> np.ndarray:
    """Return the budgets of the grid from the first >= `lowest` to the first >= `highest`."""
    low, high = max(lowest, 1e-6), max(highest, 1e-6)
    first, last = (int(np.ceil(PER_DECADE * np.log10(v) - 1e-9)) for v in (low, high))
    return 10.0 ** (np.arange(first, last + 1) / PER_DECADE)


def choose(pool: pd.DataFrame, budgets: np.ndarray, accounting: str = "") -> np.ndarray:
    """Choose a model for each budget by its validation score."""
    score = pool["valid_score"].to_numpy()
    cost = pool[f"valid_cost{accounting}"].to_numpy()
    order = np.lexsort((np.arange(len(pool)), cost, -np.nan_to_num(score, nan=-np.inf)))
    within = cost[order][None, :] <= budgets[:, None]
    return np.where(within.any(axis=1), order[np.argmax(within, axis=1)], -1)


@dataclass(frozen=True)
class Curves:
    """Test score and cost of one method for each seed and budget."""

    budgets: np.ndarray  # Budgets of the grid
    score: np.ndarray  # score, cost: On the test set, NaN where no model is within the budget
    cost: np.ndarray
    # Whether the models chosen at the budget before and at this one lie on either side of a gap of
    # the seed's models, see :data:`experiments.cells.gaps.WIDEST_GAP`
    over_gap: np.ndarray

    def summary(self) -> tuple[np.ndarray, ...]:
        """Return mean cost, mean score and its 95 % t interval over seeds, one per model set.

        Only budgets at which every seed has a model; of budgets that choose the same models the
        first is kept.
        """
        kept = self._drawn()
        cost, score = self.cost[:, kept], self.score[:, kept]
        return cost.mean(axis=0), score.mean(axis=0), *t_interval(score)

    def gaps(self) -> np.ndarray:
        """Return for each two neighbours of :meth:`summary` whether a gap lies between them."""
        kept = self._drawn()
        cost = self.cost[:, kept].mean(axis=0)
        return self.over_gap[:, kept[1:]].any(axis=0) | (cost[1:] > WIDEST_GAP * cost[:-1])

    def _drawn(self) -> np.ndarray:
        """Return which budgets are drawn, see :meth:`summary`."""
        there = np.flatnonzero(~np.isnan(self.score).any(axis=0))
        both = np.concatenate([self.cost[:, there], self.score[:, there]])
        new = np.r_[True, (np.diff(both, axis=1) != 0).any(axis=0)][: len(there)]
        return there[new]


def of_users(rows: pd.DataFrame) -> list[str]:
    """Return the classes of users (``reproduce --method``) that have rows."""
    return sorted(name for name in rows["algorithm"].unique() if ":" in name)


def curves(rows: pd.DataFrame, panel: str, algorithm: str, accounting: str = "") -> Curves | None:
    """Return the curves of a method in a panel, or None if there are no rows.

    Constant models (round 0, no cost) are left out: a budget has a logarithm.
    """
    pools = _pools(rows, panel, algorithm)
    if not pools:
        return None
    column = f"valid_cost{accounting}"
    lowest = min(pool[column].min() for pool in pools)
    budgets = budgets_between(lowest, max(pool[column].max() for pool in pools))
    score, cost = np.full((2, len(pools), len(budgets)), np.nan)
    over_gap = np.zeros(score.shape, dtype=bool)
    for s, pool in enumerate(pools):
        at = choose(pool, budgets, accounting)
        reached = at >= 0
        over_gap[s] = _jumps(pool[column].to_numpy(), at)
        score[s, reached] = pool["test_score"].to_numpy()[at[reached]]
        cost[s, reached] = pool[f"test_cost{accounting}"].to_numpy()[at[reached]]
    return Curves(budgets, score, cost, over_gap)


def _pools(rows: pd.DataFrame, panel: str, algorithm: str) -> list[pd.DataFrame]:
    """Return the models of a method, those of each seed, in the order of the seeds."""
    mine = rows[(rows["panel"] == panel) & (rows["algorithm"] == algorithm) & (rows["rounds"] > 0)]
    return [pool for _, pool in mine.groupby("seed", sort=True)]


def _jumps(costs: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Say of each budget's model, a place in `costs`, whether a gap lies between it and the last.

    What is chosen grows dearer with the budget, so that each gap is jumped at most once.
    """
    chosen = np.where(at >= 0, costs[at], np.nan)
    before = np.r_[np.nan, chosen[:-1]]
    jumps = np.zeros(len(at), dtype=bool)
    for below, above in gaps_between(costs):
        jumps |= (before <= below) & (chosen >= above)
    return jumps


def advantage(rows: pd.DataFrame, panel: str, better: str, worse: str) -> np.ndarray:
    """Mean difference in test score at equal budget, one value per seed.

    The area between two curves over the logarithm of the budget, divided by its width; for the
    budgets see :func:`scores_at_shared_budgets`.
    """
    both = scores_at_shared_budgets(rows, panel, better, worse)
    return np.array([(one - two).mean() for one, two in both])


def scores_at_shared_budgets(
    rows: pd.DataFrame, panel: str, better: str, worse: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Test scores of two methods at each budget that they share, which each repetition has its own.

    The grid's budgets from the first at which both have a model to the first that reaches the
    dearest model of the one that ends first. Beyond its dearest model a method stays where it is:
    where one ends before the other begins, they share the budget at which the other begins.
    """
    found = []
    pairs = [_pools(rows, panel, method) for method in (better, worse)]
    if not all(pairs):
        return []
    for pair in zip(*pairs, strict=True):
        begins = max(pool["valid_cost"].min() for pool in pair)
        ends = min(pool["valid_cost"].max() for pool in pair)
        # The grid takes a budget for a cost that rounding alone sets above it.
        budgets = budgets_between(begins, max(begins, ends)) * (1 + 1e-9)
        one, two = (pool["test_score"].to_numpy()[choose(pool, budgets)] for pool in pair)
        found.append((one, two))
    return found


_ANY = np.array([np.inf])
"""The budget of whatever costs."""


class Saving(NamedTuple):
    """What one method saves beside another where it validates as well, for each seed."""

    saved: np.ndarray  # In decades of cost on the test set; 0 where no model validates as well
    lost: np.ndarray  # Test score of the other's best less its own
    none: np.ndarray  # Whether no model validates as well


def saving_by_validation(
    rows: pd.DataFrame,
    panel: str,
    better: str,
    worse: str,
    margin: float = 0.0,
    accounting: str = "",
) -> Saving:
    """How much less `better` costs where it validates as well, and what the test set says of it.

    Of `worse` the model with the best validation score, of `better` the cheapest that validates
    no worse than that by more than a margin. If none does there is nothing to save, and the loss is
    that at equal cost: of its models that cost no more the one that validates best. The test set
    chooses nothing, so that neither number rests on its noise. Models that cost nothing are left
    out.
    """
    cost = f"valid_cost{accounting}"
    there = rows[(rows["panel"] == panel) & (rows[cost] > 0) & rows["valid_score"].notna()]
    pools = [
        dict(iter(there[there["algorithm"] == one].groupby("seed"))) for one in (better, worse)
    ]
    found = [
        _saving(pools[0][seed], end.iloc[choose(end, _ANY, accounting)[0]], margin, accounting)
        for seed, end in pools[1].items()
        if seed in pools[0]
    ]
    return Saving(*(np.array([one[i] for one in found]) for i in range(3)))


def as_good(
    own: pd.DataFrame, end: pd.Series, margin: float, accounting: str
) -> tuple[pd.Series, bool]:
    """Return the cheapest model that validates as well as another, and whether there is none.

    If there is none, the one that validates best of those that cost no more, if any does.
    """
    cost = f"valid_cost{accounting}"
    good = own[own["valid_score"] >= end["valid_score"] - margin]
    within = own[own[cost] <= end[cost]] if good.empty else good
    order = [cost, "valid_score"] if len(good) else ["valid_score", cost]
    ascending = [True, False] if len(good) else [False, True]
    pool = own if within.empty else within
    return pool.sort_values(order, ascending=ascending, kind="stable").iloc[0], good.empty


def decades_saved(end: pd.Series, chosen: pd.Series, none: bool, accounting: str) -> float:
    """Return what a model of :func:`as_good` saves on the test set, in decades of cost."""
    billed = f"test_cost{accounting}"
    return 0.0 if none else float(np.log10(end[billed] / chosen[billed]))


def _saving(own: pd.DataFrame, end: pd.Series, margin: float, accounting: str) -> tuple:
    """Return what :class:`Saving` has, of one seed."""
    chosen, none = as_good(own, end, margin, accounting)
    saved = decades_saved(end, chosen, none, accounting)
    return saved, end["test_score"] - chosen["test_score"], none
