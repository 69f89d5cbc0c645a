"""From scores to areas and ranks, and a test of those that were trained on every data set.

Data sets are what is counted: divisions and price lists of one are averaged, for they share rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from experiments.leaderboard.kept import CONSTANT
from experiments.leaderboard.nested import LEVEL, nested
from experiments.leaderboard.questions import ABLATION

AREAS = ["dataset", "prices", "division", "method", "area"]
RANKING = ["rank", "method", "area", "low", "high", "own_area", "mean_rank", "n_sets"]
_FIELD = ["dataset", "prices", "division"]


def bounds(scores: pd.DataFrame) -> pd.DataFrame:
    """Give what areas are normalised by: each division's constant, and its best score, if better.

    The best is that of any method at any budget; variants in :data:`ABLATION` do not count, nor
    does the budget of one feature.
    """
    counted = scores[(scores["one_feature"] == 0) & ~scores["method"].isin(ABLATION)]
    low = counted[counted["method"] == CONSTANT].groupby(_FIELD)["score"].first()
    found = pd.DataFrame({"low": low, "high": counted.groupby(_FIELD)["score"].max()})
    return found[found["high"] > found["low"]].reset_index()


def areas(scores: pd.DataFrame, within: pd.DataFrame) -> pd.DataFrame:
    """Give the area under each method's score against the logarithm of the budget.

    Scores are normalised for each division of a field (:func:`bounds`): 0 is what answers always
    alike, 1 the best. Between budgets the line is straight; the width is 1. A method that has
    nothing within a budget is there what answers always alike. The budget of one feature does not
    count.
    """
    lines, of = [], scores[(scores["one_feature"] == 0) & (scores["method"] != CONSTANT)]
    for (*where, method), curve in of.merge(within, on=_FIELD).groupby([*_FIELD, "method"]):
        curve = curve.sort_values("budget")
        x = np.log(curve["budget"].to_numpy())
        y = ((curve["score"] - curve["low"]) / (curve["high"] - curve["low"])).to_numpy()
        lines.append((*where, method, np.trapezoid(y, x) / (x[-1] - x[0])))
    return pd.DataFrame(lines, columns=AREAS)


def by_division(table: pd.DataFrame) -> pd.DataFrame:
    """Average the areas of price lists: divisions of data sets down, methods across.

    A method without some price list of a data set is averaged over those it has.
    """
    keys = ["dataset", "division"]
    return table.pivot_table(index=keys, columns="method", values="area", aggfunc="mean")


def by_dataset(table: pd.DataFrame) -> pd.DataFrame:
    """Average over divisions, too: data sets down."""
    return by_division(table).groupby("dataset").mean()


def imputed(table: pd.DataFrame) -> pd.DataFrame:
    """Give areas in which who could not be trained on a field is what answers always alike: 0."""
    wide = table.pivot_table(index=_FIELD, columns="method", values="area").fillna(0.0)
    return wide.stack().rename("area").reset_index()[AREAS]


def in_sets(wide: pd.DataFrame) -> list[np.ndarray]:
    """Give the values of a column by division as an array for each data set."""
    return [values.to_numpy() for _, values in wide.dropna().groupby("dataset")]


def ranking(table: pd.DataFrame) -> pd.DataFrame:
    """Rank the methods.

    Returns
    -------
    DataFrame
        The largest mean area first. In `area`, with its interval over data sets, a method is on
        fields that it cannot be trained on what answers always alike; in `own_area` these are
        absent. `mean_rank` is of those trained on every field, among themselves. Who was on one
        data set alone comes last and has neither `rank` nor interval.
    """
    table = table[~table["method"].isin(ABLATION)]
    if table.empty:
        return pd.DataFrame(columns=RANKING)
    all_there = by_division(imputed(table))
    found = {method: nested(in_sets(all_there[method])) for method in all_there}
    own = by_dataset(table)
    lines = pd.DataFrame(
        {
            "method": list(found),
            "area": [one.mean for one in found.values()],
            "low": [one.low for one in found.values()],
            "high": [one.high for one in found.values()],
            "own_area": own.mean()[list(found)].to_numpy(),
            "mean_rank": mean_ranks(table).reindex(list(found)).to_numpy(),
            "n_sets": own.count()[list(found)].to_numpy(),
        }
    ).round(4)
    alone = lines["n_sets"] < 2
    lines.loc[alone, ["low", "high"]] = np.nan
    lines = lines.assign(alone=alone).sort_values(["alone", "area"], ascending=[True, False],
                                                  kind="stable")  # fmt: skip
    ranks = np.where(lines["alone"], np.nan, np.arange(1, len(lines) + 1))
    lines.insert(0, "rank", pd.array(ranks, dtype="Float64").astype("Int64"))
    return lines[RANKING].reset_index(drop=True)


def on_every_field(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the methods that were trained on every field; no variants."""
    table = table[~table["method"].isin(ABLATION)]
    n_fields = len(table[_FIELD].drop_duplicates())
    there = table.groupby("method").size()
    return table[table["method"].isin(there.index[there == n_fields])]


def mean_ranks(table: pd.DataFrame) -> pd.Series:
    """Give the mean rank over data sets of those that were trained on every field; 1 is best."""
    whole = by_dataset(on_every_field(table))
    return whole.round(9).rank(axis=1, ascending=False).mean()


class Critical(NamedTuple):
    """Friedman's test, and Nemenyi's critical difference, of those trained on every field."""

    ranks: pd.Series  # Mean rank over data sets by method, best first
    difference: float  # Mean ranks that differ by less are no difference, for all pairs together
    p: float  # Friedman's, of "all are alike"
    n_sets: int


def critical(table: pd.DataFrame) -> Critical | None:
    """Test the methods that were trained on every field; None if there are too few of either."""
    whole = by_dataset(on_every_field(table))
    n, k = whole.shape
    if n < 3 or k < 3:
        return None
    ranks = np.array([rankdata(-np.round(row, 9)) for row in whole.to_numpy()])
    p = float(friedmanchisquare(*whole.round(9).to_numpy().T).pvalue)
    q = float(studentized_range.ppf(LEVEL, k, np.inf)) / np.sqrt(2.0)
    mean = pd.Series(ranks.mean(axis=0), index=whole.columns).sort_values(kind="stable")
    return Critical(mean, q * float(np.sqrt(k * (k + 1) / (6.0 * n))), p, n)
