"""From finished trials to what each method scores at each budget: chosen on validation rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from algorithms.selection.search import best_within
from experiments.leaderboard import kept
from experiments.leaderboard.budgets import declared
from experiments.leaderboard.fields import Field
from experiments.leaderboard.kept import CONSTANT

WHERE = ["dataset", "prices", "division"]
JUDGED = [*WHERE, "method", "budget", "one_feature", "score", "cost"]


def chosen(trials: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """Choose for each method and budget the best validation score within it.

    Returns
    -------
    DataFrame
        The lines of `trials` that are chosen, with the `budget` they are chosen at.
    """
    found = []
    measured = trials[trials["cut"].notna()]
    for _, of_method in measured.groupby("method", sort=True):
        for budget in budgets:
            within = of_method[of_method["budget"] <= budget]
            last = within.drop_duplicates("trial", keep="last")  # a trial's lines ascend
            at = best_within(last["valid_score"], last["valid_cost"], budget)
            if at >= 0:
                found.append(last.iloc[[at]].assign(budget=budget))
    return pd.concat(found) if found else measured


def judged(
    field: Field, division: int, trials: pd.DataFrame, budgets: Sequence[float] = ()
) -> pd.DataFrame:
    """Give the test score of each method at each budget; without a model that of the constant.

    Budgets are the declared ones, the first of which is that of one feature, if no others are
    given.
    """
    one_feature = () if budgets else declared()[field.name][:1]
    budgets = budgets or declared()[field.name]
    constant = trials.loc[trials["method"] == CONSTANT, "test_score"].iloc[0]
    best = chosen(trials, budgets).set_index(["method", "budget"])
    lines = []
    trained = trials.loc[trials["trial"].notna(), "method"]
    for method in [CONSTANT, *sorted(trained.unique())]:
        for budget in budgets:
            score, cost = constant, 0.0
            if (method, budget) in best.index:
                score, cost = best.loc[(method, budget), ["test_score", "test_cost"]]
            where = (field.dataset, field.prices, division, method, budget)
            lines.append((*where, int(budget in one_feature), score, cost))
    return pd.DataFrame(lines, columns=JUDGED)


def divisions_of(folder: Path, fields: Iterable[Field], most: int) -> dict[Field, list[int]]:
    """Give the divisions of each field that are finished."""
    return {
        field: [d for d in range(1, most + 1) if kept.path_of(folder, field, d).exists()]
        for field in fields
    }


def all_judged(folder: Path, divisions: dict[Field, list[int]]) -> pd.DataFrame:
    """Give the scores of all divisions."""
    tables = [
        judged(field, division, kept.read(folder, field, division))
        for field, of_field in divisions.items()
        for division in of_field
    ]
    return pd.concat(tables, ignore_index=True)


def over_divisions(scores: pd.DataFrame) -> pd.DataFrame:
    """Average scores and costs over divisions; ``spread`` is the scores' standard deviation."""
    keys = ["dataset", "prices", "method", "budget", "one_feature"]
    grouped = scores.groupby(keys, sort=True)
    found = grouped[["score", "cost"]].mean().assign(spread=grouped["score"].std())
    return found.round(6).reset_index()


def reasons(folder: Path, divisions: dict[Field, list[int]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Say who could not take part where, and how many trials gave nothing, with a reason each."""
    tables = [
        kept.read(folder, field, division).assign(dataset=field.dataset, prices=field.prices)
        for field, of_field in divisions.items()
        for division in of_field
    ]
    every = pd.concat(tables)
    every = every[every["method"] != CONSTANT]
    keys = ["dataset", "prices", "method"]
    skipped = every[every["trial"].isna()].drop_duplicates(keys)[[*keys, "why"]]
    first = every[every["trial"].notna() & (every["seconds"].notna() | every["why"].notna())]
    counted = first.groupby(keys, sort=True).agg(
        trials=("trial", "size"), lost=("why", "count"), why=("why", "first")
    )
    return skipped.reset_index(drop=True), counted[counted["lost"] > 0].reset_index()
