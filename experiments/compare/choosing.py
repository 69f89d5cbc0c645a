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
    resampled_scores,
)
from experiments.compare.metrics import Units
from experiments.compare.plan import plain
from experiments.compare.tables import Refused

CONSTANT = ("constant", -1, 0.0)
"""Method, trial and cut of what answers always alike."""

N_LEADING = 3
"""Methods of each budget that an answer before the last judges."""

_BETWEEN = 60
"""Budgets at which curves choose."""


def unreached(rows: pd.DataFrame, budgets: Sequence[float]) -> dict[float, str]:
    """Say of each budget within which no method has a model what the cheapest one costs."""
    if rows.empty:
        raise Refused(
            "No method has found a split worth its cost, in any trial: give more --trials, or more "
            "rows."
        )
    cheapest = rows.loc[rows["valid_cost"].idxmin()]
    least = f"{cheapest['valid_cost']:g} a prediction ({cheapest['method']})"
    below = [budget for budget in sorted(budgets) if not is_within(cheapest["valid_cost"], budget)]
    if len(below) == len(set(budgets)):
        raise Refused(
            f"The budget {plain(max(budgets))} is below the cheapest model, which costs {least}: "
            "raise it, or give more --trials."
        )
    return {
        budget: f"no model within {plain(budget)} was found: the cheapest costs {least}"
        for budget in below
    }


def choose(rows: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """Choose a model of each method for each budget by its validation score."""
    chosen = []
    for budget in sorted(budgets):
        lines = []
        for _, pool in rows.groupby("method", sort=False):
            at = best_within(pool["valid_score"], pool["valid_cost"], budget)
            if at >= 0:
                lines.append({"budget": budget, **pool.iloc[at].to_dict(), "recommended": False})
        if not lines:
            continue
        table = pd.DataFrame(lines)
        at = best_within(table["valid_score"], table["valid_cost"], budget)
        table.loc[at, "recommended"] = True
        chosen.append(table)
    return pd.concat(chosen, ignore_index=True)


def leading(chosen: pd.DataFrame, n: int) -> pd.DataFrame:
    """Keep of each budget the `n` methods that validate best, the recommended one among them."""
    order = chosen.sort_values(
        ["budget", "recommended", "valid_score"], ascending=[True, False, False], kind="stable"
    )
    kept = order.groupby("budget", sort=False).head(n).index
    return chosen.loc[sorted(kept)].reset_index(drop=True)


def gaps(rows: pd.DataFrame, budgets: Sequence[float]) -> list[dict]:
    """Say where a budget stays half unspent because nothing better was found near it.

    Returns
    -------
    list of dict
        ``budget``; ``method``, None for all together; ``below``, the validation cost of the best
        model within the budget, less than half of it; ``above``, that of the next one with a better
        validation score, more than twice `below`.
    """
    found = []
    pools = [(None, rows), *rows.groupby("method", sort=False)]
    for budget in sorted(budgets):
        for method, pool in pools:
            at = best_within(pool["valid_score"], pool["valid_cost"], budget)
            if at < 0:
                continue
            best = pool.iloc[at]
            better = pool.loc[pool["valid_score"] > best["valid_score"], "valid_cost"]
            below, above = float(best["valid_cost"]), float(better.min())
            if below < budget / 2 and above > 2 * below:  # NaN where nothing is better
                found.append({"budget": budget, "method": method, "below": below, "above": above})
    return found


def along_the_costs(rows: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """Choose at the budgets asked for and at many between, for the curves of a picture."""
    costs = rows.loc[rows["valid_cost"] > 0, "valid_cost"]
    between = np.geomspace(costs.min(), costs.max(), _BETWEEN) if len(costs) else []
    # Rounding must not put the first of them below every model.
    least = rows["valid_cost"].min()
    within = [budget for budget in budgets if is_within(least, budget)]
    table = choose(rows, np.union1d(within, np.maximum(between, least)))
    return table.drop_duplicates(["method", "trial", "cut"], ignore_index=True)


def judge(
    chosen: pd.DataFrame, measured: Mapping[tuple, Units], seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, float]]:
    """Say how sure the test scores are, and compare each with the recommended one."""
    keys = list(measured)
    means = resampled_scores([measured[key] for key in keys], seed)
    column = {key: means[:, i] for i, key in enumerate(keys)}
    names = ["method", "trial", "cut"]
    at = [tuple(line) for line in chosen[names].itertuples(index=False)]
    low, high = np.transpose([interval(column[key]) for key in at])
    table = chosen.assign(
        test_score=[measured[key].score() for key in at], test_low=low, test_high=high
    )
    lines = []
    for budget, pool in table.groupby("budget", sort=True):
        best = pool[pool["recommended"]].iloc[0]
        reference = tuple(best[names])
        others = [tuple(line) for line in pool.loc[~pool["recommended"], names].itertuples(False)]
        for key in [*others, CONSTANT]:
            resamples = column[key] - column[reference]
            low, high = interval(resamples)
            lines.append(
                {
                    "budget": budget,
                    "method": key[0],
                    "recommended": best["method"],
                    "difference": measured[key].score() - best["test_score"],
                    "low": low,
                    "high": high,
                    "p": p_value(resamples),
                }
            )
    differences = pd.DataFrame(lines)
    corrected = holm(differences["p"])
    low, high = interval(column[CONSTANT])
    constant = {"test_score": measured[CONSTANT].score(), "test_low": low, "test_high": high}
    return table, differences.assign(p_holm=corrected, real=corrected < 1 - LEVEL), constant
