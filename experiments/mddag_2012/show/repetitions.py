"""Effects of each repetition by its own runs: what the preregistered claims judge.

A budget counts in a repetition from where both sides have a run within it; if that is beyond the
range asked for, the first such budget counts alone. Beyond its last run a method keeps that run:
who may evaluate more need not. So no repetition's effect depends on another's, and one more of them
changes nothing of those there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.curves import budgets_between
from experiments.mddag_2012.show.selection import at_budgets, chain, runs_of

SAVING = 2.0
"""AdaBoost.MH evaluates so many times as many base classifiers."""

FEWEST_TREES = 3.0
"""Comparisons begin here: AdaBoost.MH's first base classifier is a constant vote."""


def best_at(
    runs: Mapping[str, pd.DataFrame], methods: Sequence[str], quality: str, budgets: np.ndarray
) -> np.ndarray:
    """Return the test score of the method that is best in training at each budget."""
    chains = [chain(runs[method], quality) for method in methods if method in runs]
    if not chains:
        return np.full(len(budgets), np.nan)
    trained, tested = (
        np.array([at_budgets(chosen, f"{part}_{quality}", budgets) for chosen in chains])
        for part in ("train", "test")
    )
    best = np.argmax(np.where(np.isnan(trained), -np.inf, trained), axis=0)
    return np.take_along_axis(tested, best[None], axis=0)[0]


def lead_of_each(
    rows: pd.DataFrame,
    panel: str,
    better: Sequence[str],
    worse: Sequence[str],
    quality: str,
    low: float,
    high: float,
) -> np.ndarray:
    """Return the mean lead of the best of some methods over the best of others, by repetition."""
    if not _are_there(rows, panel, better, worse):
        return np.empty(0)
    leads = []
    for _, runs in _of(rows, panel, better, worse).groupby("seed", sort=True):
        begins = max(_cheapest(runs, group) for group in (better, worse))
        budgets = _within(low, high, begins) if np.isfinite(begins) else np.empty(0)
        pools = dict(iter(runs.groupby("method")))
        ours, theirs = (best_at(pools, group, quality, budgets) for group in (better, worse))
        leads.append(_mean(ours - theirs))
    return np.array(leads)


def lead_over_twice(rows: pd.DataFrame, panel: str, methods: Sequence[str]) -> np.ndarray:
    """Return the mean lead in NDCG over AdaBoost.MH with twice the budget, by repetition.

    Over the grid's budgets from :data:`FEWEST_TREES` to where the methods' runs, or half of
    AdaBoost's base classifiers, end; over the first alone where they end before.
    """
    if not _are_there(rows, panel, methods, ("adaboost",)):
        return np.empty(0)
    leads = []
    for _, runs in _of(rows, panel, methods, ("adaboost",)).groupby("seed", sort=True):
        ends = runs["test_evaluations"].groupby(runs["method"] == "adaboost").max()
        last = min(ends[False], ends[True] / SAVING)
        budgets = budgets_between(FEWEST_TREES, max(last, FEWEST_TREES))
        budgets = budgets[budgets <= max(last, budgets[0]) * (1 + 1e-9)]
        pools = dict(iter(runs.groupby("method")))
        ours = best_at(pools, methods, "ndcg", budgets)
        leads.append(_mean(ours - best_at(pools, ("adaboost",), "ndcg", SAVING * budgets)))
    return np.array(leads)


def _are_there(rows: pd.DataFrame, panel: str, *groups: Sequence[str]) -> bool:
    """Whether there are rows of any method of each group."""
    return all(len(_of(rows, panel, group)) for group in groups)


def _of(rows: pd.DataFrame, panel: str, *groups: Sequence[str]) -> pd.DataFrame:
    return pd.concat([runs_of(rows, panel, method) for group in groups for method in group])


def _cheapest(runs: pd.DataFrame, methods: Sequence[str]) -> float:
    """What the cheapest run evaluates that the rule can choose; infinite without any."""
    mine = runs[runs["method"].isin(methods) & (runs["train_evaluations"] > 0)]
    return float(mine["test_evaluations"].min()) if len(mine) else np.inf


def _within(low: float, high: float, begins: float) -> np.ndarray:
    """Budgets of the grid above `low`, from `begins` on and up to `high`, at least one."""
    budgets = budgets_between(max(low, begins), max(high, begins))
    budgets = budgets[budgets > low * (1 + 1e-9)]
    return budgets[budgets <= max(high, budgets[0]) * (1 + 1e-9)]


def _mean(differences: np.ndarray) -> float:
    """Mean of what is known; NaN if nothing is."""
    known = differences[~np.isnan(differences)]
    return float(known.mean()) if len(known) else np.nan
