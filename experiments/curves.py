"""From traces of many models to one curve per method: the best score for each budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from experiments.cells.gaps import WIDEST_GAP, gaps_between

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
    """Choose a model for each budget by its validation score.

    Parameters
    ----------
    pool : DataFrame
        Models of one method on one draw of the data: ``valid_score, valid_cost, …``.
    budgets : (b,) float
        Largest mean validation cost allowed.
    accounting : {"", "_paper"}
        Which cost columns count.

    Returns
    -------
    (b,) int64
        Row number in `pool` of the best validation score among those within the budget (ties:
        cheaper, then the order of the rows), -1 where no model is.
    """
    score = pool["valid_score"].to_numpy()
    cost = pool[f"valid_cost{accounting}"].to_numpy()
    order = np.lexsort((np.arange(len(pool)), cost, -np.nan_to_num(score, nan=-np.inf)))
    within = cost[order][None, :] <= budgets[:, None]
    return np.where(within.any(axis=1), order[np.argmax(within, axis=1)], -1)


@dataclass(frozen=True)
class Curves:
    """Test score and cost of one method for each seed and budget.

    Attributes
    ----------
    budgets : (b,) float
        Budgets of the grid.
    score, cost : (s, b) float
        On the test set, NaN where no model is within the budget.
    cheapest, most_expensive : float
        Budget from which every seed has a model; largest cost that every seed's models reach.
    over_gap : (s, b) bool
        Whether the models chosen at the budget before and at this one lie on either side of a gap
        of the seed's models, see :data:`experiments.cells.gaps.WIDEST_GAP`.
    """

    budgets: np.ndarray
    score: np.ndarray
    cost: np.ndarray
    cheapest: float
    most_expensive: float
    over_gap: np.ndarray

    def summary(self) -> tuple[np.ndarray, ...]:
        """Return mean cost, mean score and its 95 % t interval over seeds, one per model set.

        Only budgets at which every seed has a model; of budgets that choose the same models the
        first is kept.
        """
        kept = self._drawn()
        cost, score = self.cost[:, kept], self.score[:, kept]
        mean, n = score.mean(axis=0), len(score)
        if n < 2:
            return cost.mean(axis=0), mean, mean, mean
        half = special.stdtrit(n - 1, 0.975) * score.std(axis=0, ddof=1) / np.sqrt(n)
        return cost.mean(axis=0), mean, mean - half, mean + half

    def gaps(self) -> np.ndarray:
        """Return for each two neighbours of :meth:`summary` whether a gap lies between them.

        Returns
        -------
        (n - 1,) bool
            Whether on some seed the two models lie on either side of a gap, or the second's mean
            cost is more than twice the first's.
        """
        kept = self._drawn()
        cost = self.cost[:, kept].mean(axis=0)
        return self.over_gap[:, kept[1:]].any(axis=0) | (cost[1:] > WIDEST_GAP * cost[:-1])

    def _drawn(self) -> np.ndarray:
        """Return which budgets are drawn, see :meth:`summary`."""
        there = np.flatnonzero(~np.isnan(self.score).any(axis=0))
        both = np.concatenate([self.cost[:, there], self.score[:, there]])
        new = np.r_[True, (np.diff(both, axis=1) != 0).any(axis=0)][: len(there)]
        return there[new]


def curves(rows: pd.DataFrame, panel: str, algorithm: str, accounting: str = "") -> Curves | None:
    """Return the curves of a method in a panel, or None if there are no rows.

    Constant models (round 0, no cost) are left out: a budget has a logarithm.

    Parameters
    ----------
    rows : DataFrame
        ``panel, algorithm, seed, valid_score, …``.
    panel, algorithm : str
        Which.
    accounting : {"", "_paper"}
        Cost meter, or the paper's own accounting.
    """
    mine = rows[(rows["panel"] == panel) & (rows["algorithm"] == algorithm) & (rows["rounds"] > 0)]
    if mine.empty:
        return None
    pools = [pool for _, pool in mine.groupby("seed", sort=True)]
    column = f"valid_cost{accounting}"
    cheapest = max(pool[column].min() for pool in pools)
    most_expensive = min(pool[column].max() for pool in pools)
    budgets = budgets_between(mine[column].min(), mine[column].max())
    score, cost = np.full((2, len(pools), len(budgets)), np.nan)
    over_gap = np.zeros(score.shape, dtype=bool)
    for s, pool in enumerate(pools):
        at = choose(pool, budgets, accounting)
        reached = at >= 0
        over_gap[s] = _jumps(pool[column].to_numpy(), at)
        score[s, reached] = pool["test_score"].to_numpy()[at[reached]]
        cost[s, reached] = pool[f"test_cost{accounting}"].to_numpy()[at[reached]]
    return Curves(budgets, score, cost, cheapest, most_expensive, over_gap)


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


def advantage(
    rows: pd.DataFrame, panel: str, better: str, worse: str, accounting: str = ""
) -> np.ndarray:
    """Mean difference in test score at equal budget, one value per seed.

    The area between two curves over the logarithm of the budget, divided by its width: the mean
    over the grid's budgets from the first at which both methods have a model on every seed to
    the first that reaches the most expensive model of either.

    Parameters
    ----------
    rows : DataFrame
        As for :func:`curves`.
    panel, better, worse : str
        Positive values say that `better` scores higher.
    accounting : {"", "_paper"}
        As for :func:`curves`.

    Returns
    -------
    (n_seeds,) float64
        NaN if the curves share no budget.
    """
    leads = lead_at_each_budget(rows, panel, better, worse, accounting)
    if leads.size == 0:
        return np.full(len(leads), np.nan)
    return leads.mean(axis=1)


def lead_at_each_budget(
    rows: pd.DataFrame, panel: str, better: str, worse: str, accounting: str = ""
) -> np.ndarray:
    """Difference in test score at each budget that two methods share.

    Parameters
    ----------
    rows, panel, better, worse, accounting
        As for :func:`advantage`, which is the mean over the budgets.

    Returns
    -------
    (n_seeds, n_budgets) float64
    """
    one, two = scores_at_shared_budgets(rows, panel, better, worse, accounting)
    return one - two


def scores_at_shared_budgets(
    rows: pd.DataFrame, panel: str, better: str, worse: str, accounting: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Test scores of two methods at each budget that they share.

    Parameters
    ----------
    rows, panel, better, worse, accounting
        As for :func:`advantage`, whose budgets these are.

    Returns
    -------
    better, worse : (n_seeds, n_budgets) float64
        Empty if one of them has no rows.
    """
    one, two = (curves(rows, panel, method, accounting) for method in (better, worse))
    if one is None or two is None:
        return np.empty((0, 0)), np.empty((0, 0))
    lowest, highest = max(one.cheapest, two.cheapest), min(one.most_expensive, two.most_expensive)
    common = budgets_between(lowest, highest) if lowest <= highest else np.empty(0)
    scores = []
    for curve in (one, two):
        # Beyond its most expensive model a curve stays where it is.
        at = np.clip(np.searchsorted(curve.budgets, common * (1 - 1e-9)), 0, len(curve.budgets) - 1)
        scores.append(curve.score[:, at])
    return scores[0], scores[1]


def smallest_lead(
    rows: pd.DataFrame, panel: str, better: str, worse: str, accounting: str = ""
) -> np.ndarray:
    """Difference in test score at the budget that is worst for `better`, one value per seed.

    What "always" better says. Each seed's worst budget counts chance against `better`.

    Parameters
    ----------
    rows, panel, better, worse, accounting
        As for :func:`advantage`.

    Returns
    -------
    (n_seeds,) float64
        Empty if the curves share no budget.
    """
    leads = lead_at_each_budget(rows, panel, better, worse, accounting)
    return leads.min(axis=1) if leads.size else np.empty(0)


def saving(
    rows: pd.DataFrame, panel: str, better: str, worse: str, target: float | None = None
) -> np.ndarray:
    """How much less `better` costs than `worse` where both first reach a score.

    Parameters
    ----------
    rows : DataFrame
        As for :func:`curves`.
    panel, better, worse : str
        Positive values say that `better` is cheaper.
    target : float, optional
        The score; by default, for each seed, the highest one that both reach.

    Returns
    -------
    (n_seeds,) float64
        log10 of the ratio of test costs, one value per seed; NaN where one of them never reaches
        the target.
    """
    one, two = curves(rows, panel, better), curves(rows, panel, worse)
    if one is None or two is None:
        return np.empty(0)
    ratios = []
    for s in range(len(one.score)):
        highest = min(np.nanmax(curve.score[s]) for curve in (one, two))
        score = highest if target is None else target
        if score > highest:
            ratios.append(np.nan)
            continue
        first = [int(np.argmax(curve.score[s] >= score)) for curve in (one, two)]
        ratios.append(np.log10(two.cost[s, first[1]] / one.cost[s, first[0]]))
    return np.array(ratios)


def saving_by_validation(
    rows: pd.DataFrame,
    panel: str,
    better: str,
    worse: str,
    margin: float = 0.0,
    accounting: str = "",
) -> tuple[np.ndarray, np.ndarray]:
    """How much less `better` costs where it validates as well, and what the test set says of it.

    Of `worse` the model with the best validation score, of `better` the cheapest that validates
    no worse than that by more than a margin; if none does, its own best. The test set chooses
    nothing, so that neither number rests on its noise. Models that cost nothing are left out.

    Parameters
    ----------
    rows : DataFrame
        As for :func:`curves`.
    panel, better, worse : str
    margin : float
        In the unit of the scores, >= 0.
    accounting : {"", "_paper"}
        As for :func:`curves`.

    Returns
    -------
    saved, lost : (n_seeds,) float64
        log10 of the ratio of test costs, positive where `better` is cheaper; by how much its test
        score is lower. Empty if a method has no rows.
    """
    there = rows[(rows["panel"] == panel) & (rows[f"valid_cost{accounting}"] > 0)]
    pools = [there[there["algorithm"] == method] for method in (better, worse)]
    if any(pool.empty for pool in pools):
        return np.empty(0), np.empty(0)
    ends = pools[1].sort_values(
        ["valid_score", f"valid_cost{accounting}"], ascending=[False, True], kind="stable"
    )
    end = ends.groupby("seed").first()
    own = pools[0].sort_values(
        [f"valid_cost{accounting}", "valid_score"], ascending=[True, False], kind="stable"
    )
    seed = own["seed"]
    target = np.minimum(
        seed.map(end["valid_score"]) - margin, seed.map(own.groupby("seed")["valid_score"].max())
    )
    chosen = own[own["valid_score"] >= target].groupby("seed").first()
    cost = f"test_cost{accounting}"
    saved = np.log10(end[cost] / chosen[cost])
    return saved.to_numpy(), (end["test_score"] - chosen["test_score"]).to_numpy()
