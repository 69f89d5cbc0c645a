"""From scores to ranks: areas, Elo, and tests over data sets.

Everything here is computed from ``scores.csv`` alone. Data sets are what is resampled and counted;
the price lists of one are averaged, for they share its rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from experiments.leaderboard.judging import CONSTANT

RESAMPLES = 2000
LEVEL = 0.95
RANKING = ["method", "elo", "low", "high", "mean_rank", "n_sets"]
MEAN_ELO = 1500.0
_UNIT = 400.0 / np.log(10.0)  # Elo points of one unit of log odds
_TIE = 1e-9  # areas nearer than this are equal: scores have six digits


def areas(scores: pd.DataFrame) -> pd.DataFrame:
    """Give the area under each method's score against the logarithm of the budget.

    Scores are normalised for each field: 0 is what answers always alike, 1 the best score of any
    method at any budget. Between budgets the line is straight; the width is 1. A method that has
    nothing within a budget is there what answers always alike.
    """
    lines = []
    for (dataset, prices), field in scores.groupby(["dataset", "prices"], sort=True):
        low = field.loc[field["method"] == CONSTANT, "score"].iloc[0]
        high = field["score"].max()
        if not high > low:
            continue
        for method, curve in field.groupby("method", sort=True):
            if method == CONSTANT:
                continue
            curve = curve.sort_values("budget")
            x = np.log(curve["budget"].to_numpy())
            y = (curve["score"].to_numpy() - low) / (high - low)
            lines.append((dataset, prices, method, np.trapezoid(y, x) / (x[-1] - x[0])))
    return pd.DataFrame(lines, columns=["dataset", "prices", "method", "area"])


def by_dataset(table: pd.DataFrame) -> pd.DataFrame:
    """Average the areas of a data set's price lists: data sets down, methods across.

    A method without some price list of a data set is averaged over those it has.
    """
    return table.pivot_table(index="dataset", columns="method", values="area", aggfunc="mean")


def mean_ranks(table: pd.DataFrame) -> pd.Series:
    """Give each method's mean rank: 1 is the best of those that were trained on a field.

    Ranks are averaged over the price lists of a data set, then over data sets.
    """
    ranks = table.assign(
        rank=table.groupby(["dataset", "prices"])["area"].transform(
            lambda area: rankdata(-np.round(area, 9))
        )
    )
    return ranks.groupby(["method", "dataset"])["rank"].mean().groupby("method").mean()


class Wins(NamedTuple):
    """Who beat whom on each data set."""

    methods: list[str]
    datasets: list[str]
    # (n_datasets, n_methods, n_methods) float64: share of a data set's price lists on which the
    # first has the larger area; ties count half
    won: np.ndarray
    # (n_datasets, n_methods) bool: whether a method was trained on a price list of the data set
    there: np.ndarray


def wins(table: pd.DataFrame) -> Wins:
    """Count who beat whom."""
    methods, datasets = (sorted(table[name].unique()) for name in ("method", "dataset"))
    shape = len(datasets), len(methods), len(methods)
    won, met, there = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2], dtype=bool)
    for (dataset, _), field in table.groupby(["dataset", "prices"]):
        at = datasets.index(dataset)
        area = field.set_index("method")["area"].reindex(methods).to_numpy()
        difference = area[:, None] - area[None, :]
        both = ~np.isnan(difference) & ~np.eye(len(methods), dtype=bool)
        better = np.where(np.abs(difference) <= _TIE, 0.5, difference > 0)
        won[at] += np.where(both, better, 0.0)
        met[at] += both
        there[at] |= ~np.isnan(area)
    return Wins(methods, datasets, won / np.maximum(met, 1.0), there)


def elo(won: np.ndarray) -> np.ndarray:
    """Give the ratings under which what was won is most likely (Bradley and Terry).

    Each method also drew once with one whose rating is 1500, so that who won always has a finite
    rating.

    Parameters
    ----------
    won : (n, n) float64
        How often the first beat the second.

    Returns
    -------
    (n,) float64
    """
    n = len(won)
    games, total = won + won.T, won.sum(axis=1)
    theta = np.zeros(n)
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
        with_mean = 1.0 / (1.0 + np.exp(-theta))
        slope = total + 0.5 - (games * p).sum(axis=1) - with_mean
        curvature = games * p * (1.0 - p)
        of_mean = with_mean * (1.0 - with_mean)
        hessian = np.diag(curvature.sum(axis=1) + of_mean) - curvature
        step = np.linalg.solve(hessian, slope)
        theta = theta + np.clip(step, -2.0, 2.0)
        if np.max(np.abs(step)) < 1e-10:
            break
    return MEAN_ELO + _UNIT * theta


def resampled_elos(counted: Wins, seed: int = 0) -> np.ndarray:
    """Rate resampled data sets: (RESAMPLES, n_methods) float64; NaN for who was on none."""
    rng = np.random.default_rng([seed, 43])
    n = len(counted.datasets)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    ratings = np.empty((RESAMPLES, len(counted.methods)))
    for k, times in enumerate(drawn):
        ratings[k] = elo(np.tensordot(times, counted.won, axes=1))
        ratings[k, ~counted.there[times > 0].any(axis=0)] = np.nan
    return ratings


def ranking(scores: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Rank the methods.

    Returns
    -------
    DataFrame
        ``method, elo, low, high, mean_rank, n_sets``, best Elo first; the interval is of resampled
        data sets, and NaN of a method that was on one alone.
    """
    table = areas(scores)
    if table.empty:
        return pd.DataFrame(columns=RANKING)
    counted = wins(table)
    ratings, tail = elo(counted.won.sum(axis=0)), (1 - LEVEL) / 2
    low, high = np.nanquantile(resampled_elos(counted, seed), [tail, 1 - tail], axis=0)
    low, high = (np.where(counted.there.sum(axis=0) > 1, end, np.nan) for end in (low, high))
    n_sets = table.groupby("method")["dataset"].nunique()
    lines = pd.DataFrame(
        {
            "method": counted.methods,
            "elo": np.rint(ratings),
            "low": np.rint(low),
            "high": np.rint(high),
            "mean_rank": mean_ranks(table).reindex(counted.methods).round(2).to_numpy(),
            "n_sets": n_sets.reindex(counted.methods).to_numpy(),
        }
    )
    order = np.argsort(-ratings, kind="stable")
    return lines.iloc[order].reset_index(drop=True)


class Critical(NamedTuple):
    """Friedman's test, and Nemenyi's critical difference, of those trained on every data set."""

    ranks: pd.Series  # Mean rank over data sets by method, best first
    difference: float  # Mean ranks that differ by less are no difference, for all pairs together
    p: float  # Friedman's, of "all are alike"
    n_sets: int


def critical(table: pd.DataFrame) -> Critical | None:
    """Test the methods that were trained on every data set; None if there are too few of either."""
    whole = by_dataset(table).dropna(axis="columns")
    n, k = whole.shape
    if n < 3 or k < 3:
        return None
    ranks = np.array([rankdata(-np.round(row, 9)) for row in whole.to_numpy()])
    p = float(friedmanchisquare(*whole.round(9).to_numpy().T).pvalue)
    q = float(studentized_range.ppf(LEVEL, k, np.inf)) / np.sqrt(2.0)
    mean = pd.Series(ranks.mean(axis=0), index=whole.columns).sort_values(kind="stable")
    return Critical(mean, q * float(np.sqrt(k * (k + 1) / (6.0 * n))), p, n)
