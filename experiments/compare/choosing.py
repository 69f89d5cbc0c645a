"""Which model of each method at which budget, how good it is, and which differences are real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from algorithms.selection.scoring import is_within
from algorithms.selection.search import best_within
from experiments.compare.intervals import (
    LEVEL,
    holm,
    interval,
    p_value,
    resampled_means,
)
from experiments.compare.metrics import Units
from experiments.compare.tables import Refused

_BETWEEN = 60
"""Budgets at which curves choose."""


def check_budgets(rows: pd.DataFrame, budgets: Sequence[float]) -> None:
    """Refuse a budget within which no method has a model."""
    if rows.empty:
        raise Refused(
            "No method has found a split worth its cost, in any trial: give more --trials, or more "
            "rows."
        )
    cheapest = rows.loc[rows["valid_cost"].idxmin()]
    if not is_within(cheapest["valid_cost"], min(budgets)):
        raise Refused(
            f"The budget {min(budgets):g} is below the cheapest model, which costs "
            f"{cheapest['valid_cost']:g} a prediction ({cheapest['method']}): raise it, or give "
            "more --trials."
        )


def choose(rows: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """Choose a model of each method for each budget by its validation score.

    Parameters
    ----------
    rows : DataFrame
        Every trial at every cut.
    budgets : sequence of float

    Returns
    -------
    DataFrame
        ``budget`` and the columns of `rows`; a method without a model within a budget has no line
        there. ``recommended`` marks the best validation score of each budget (of equal ones the
        cheaper one).
    """
    chosen = []
    for budget in sorted(budgets):
        lines = []
        for _, pool in rows.groupby("method", sort=False):
            at = best_within(pool["valid_score"], pool["valid_cost"], budget)
            if at >= 0:
                lines.append({"budget": budget, **pool.iloc[at].to_dict(), "recommended": False})
        table = pd.DataFrame(lines)
        at = best_within(table["valid_score"], table["valid_cost"], budget)
        table.loc[at, "recommended"] = True
        chosen.append(table)
    return pd.concat(chosen, ignore_index=True)


def along_the_costs(rows: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """Choose at the budgets asked for and at many between, for the curves of a picture.

    Parameters
    ----------
    rows : DataFrame
        Every trial at every cut.
    budgets : sequence of float
        Those asked for.

    Returns
    -------
    DataFrame
        As from :func:`choose`, each model once.
    """
    costs = rows.loc[rows["valid_cost"] > 0, "valid_cost"]
    between = np.geomspace(costs.min(), costs.max(), _BETWEEN) if len(costs) else []
    # Rounding must not put the first of them below every model.
    table = choose(rows, np.union1d(budgets, np.maximum(between, rows["valid_cost"].min())))
    return table.drop_duplicates(["method", "trial", "cut"], ignore_index=True)


def judge(
    chosen: pd.DataFrame, measured: Mapping[tuple, Units], seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Say how sure the test scores are, and compare each with the recommended one.

    Parameters
    ----------
    chosen : DataFrame
        From :func:`choose`.
    measured : mapping of (method, trial, cut) to Units
        Test units of each model chosen.
    seed : int
        Of the resamples.

    Returns
    -------
    table : DataFrame
        `chosen` with ``test_low`` and ``test_high``.
    differences : DataFrame
        ``budget, method, recommended, difference`` (method less recommended), its interval
        ``low, high``, ``p``, ``p_holm`` (corrected for all comparisons of the table) and ``real``.
    """
    keys = list(measured)
    means = resampled_means([measured[key] for key in keys], seed)
    column = {key: means[:, i] for i, key in enumerate(keys)}
    names = ["method", "trial", "cut"]
    at = [tuple(line) for line in chosen[names].itertuples(index=False)]
    low, high = np.transpose([interval(column[key]) for key in at])
    table = chosen.assign(
        test_score=[measured[key].mean() for key in at], test_low=low, test_high=high
    )
    lines = []
    for budget, pool in table.groupby("budget", sort=True):
        best = pool[pool["recommended"]].iloc[0]
        reference = column[tuple(best[names])]
        for _, line in pool[~pool["recommended"]].iterrows():
            resamples = column[tuple(line[names])] - reference
            low, high = interval(resamples)
            lines.append(
                {
                    "budget": budget,
                    "method": line["method"],
                    "recommended": best["method"],
                    "difference": line["test_score"] - best["test_score"],
                    "low": low,
                    "high": high,
                    "p": p_value(resamples),
                }
            )
    kinds = ["budget", "method", "recommended", "difference", "low", "high", "p"]
    differences = pd.DataFrame(lines, columns=kinds)
    corrected = holm(differences["p"])
    return table, differences.assign(p_holm=corrected, real=corrected < 1 - LEVEL)
