"""Plain 95 % intervals, from what DESIGN and the READMEs say of them."""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

from scipy import stats

LEVEL = 0.95
FEWEST_FOR_BOOTSTRAP = 100


class Interval(NamedTuple):
    """An effect, its interval, and how many values it rests on."""

    effect: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0


def of_seeds(values, overlap=0.0) -> Interval:
    """Paired t interval, wider where seeds share test rows (Nadeau and Bengio).

    Where all test rows are the same for every seed the plain interval speaks for them only. What
    does not vary makes no interval.
    """
    known = [value for value in values if not math.isnan(value)]
    n = len(known)
    if n < 2 or max(known) - min(known) < 1e-12:
        return Interval(statistics.mean(known) if known else math.nan, n=n)
    mean, deviation = statistics.mean(known), statistics.stdev(known)
    share = overlap / (1 - overlap) if overlap < 1 else 0.0
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * deviation * math.sqrt(1 / n + share)
    return Interval(mean, mean - half, mean + half, n)


def of_crossed(table) -> Interval:
    """Interval of a mean over trainings and queries that are both drawn anew.

    Parameters
    ----------
    table : list of list of float
        For each repetition the effect on each query. The variance is that of two crossed random
        factors, (MS_s + MS_q - MS_sq) / (S Q), no component of it below 0; the degrees of freedom
        are Satterthwaite's.
    """
    n, n_queries = len(table), len(table[0])
    columns = list(zip(*table, strict=True))
    mean = statistics.mean(map(statistics.mean, table))
    of_row, of_column = list(map(statistics.mean, table)), list(map(statistics.mean, columns))
    squares = [
        (value - of_row[s] - of_column[q] + mean) ** 2
        for s, row in enumerate(table)
        for q, value in enumerate(row)
    ]
    rest = sum(squares) / ((n - 1) * (n_queries - 1))
    rows = max(n_queries * statistics.variance(of_row), rest)
    queries = max(n * statistics.variance(of_column), rest)
    cells = n * n_queries
    variance = (rows + queries - rest) / cells
    spread = sum(
        (square / cells) ** 2 / freedom
        for square, freedom in (
            (rows, n - 1),
            (queries, n_queries - 1),
            (rest, (n - 1) * (n_queries - 1)),
        )
    )
    half = stats.t.ppf((1 + LEVEL) / 2, variance**2 / spread) * math.sqrt(variance)
    return Interval(mean, mean - half, mean + half, n_queries)


def of_trials(places) -> Interval:
    """Clopper and Pearson's interval where a rate comes nearest to the bound on it.

    Parameters
    ----------
    places : list of (bound, failures, trials)
        Their intervals hold together (Bonferroni).
    """
    tail = (1 - LEVEL) / len(places) / 2
    found = []
    for bound, failures, trials in places:
        interval = stats.binomtest(int(failures), int(trials)).proportion_ci(
            1 - 2 * tail, method="exact"
        )
        rate = failures / trials
        found.append(Interval(bound - rate, bound - interval.high, bound - interval.low, trials))
    return min(found, key=lambda one: one.low)


def notes(row, spread, values, paper_effect) -> str:
    """What a published effect says of its limits.

    Parameters
    ----------
    row : dict
        The kind of data.
    spread : {"seeds", "units", "crossed", "trials"}
        Where the uncertainty comes from.
    values : list
        What the effect is the mean of.
    paper_effect : float
        The same effect of the numbers that the paper prints; NaN if it prints none.
    """
    said = ["denied by the paper's own table"] * (paper_effect < 1e-9)
    said += ["synthetic: contains what we built into it"] * (row["data"] == "synthetic")
    if not values:
        return "; ".join([*said, "not run at this scale"])
    if spread == "crossed":
        said.append(f"{len(values)} repetitions × {len(values[0])} queries")
    if spread in ("crossed", "trials"):
        return "; ".join(said)
    what = {"seeds": "repetition", "units": "unit"}[spread]
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "; ".join([*said, f"no {what} has a value"])
    if len(known) < len(values):
        said.append(f"{len(values) - len(known)} of {len(values)} {what}s without a value")
    if len(known) == 1:
        said.append(f"one {what}")
    elif max(known) - min(known) < 1e-12:
        said.append(f"all {len(known)} values are equal")
    elif len(known) < 5 and spread == "seeds":
        said.append("fewer than five repetitions")
    return "; ".join(said)
