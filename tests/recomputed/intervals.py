"""Intervals, detectable effects and verdicts, from what DESIGN and the READMEs say of them."""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

from scipy import stats

FEWEST_SEEDS = 5


class Interval(NamedTuple):
    """An effect, its interval, what could be detected, and how many values it rests on."""

    effect: float
    low: float = math.nan
    high: float = math.nan
    detectable: float = math.nan
    n: int = 0


def of_seeds(values, level, overlap=0.0) -> Interval:
    """Paired t interval, wider where seeds share test rows (Nadeau and Bengio).

    Where all test rows are the same for every seed the plain interval speaks for them only.
    """
    known = [value for value in values if not math.isnan(value)]
    n = len(known)
    if n < 2:
        return Interval(known[0] if known else math.nan, n=n)
    mean, deviation = statistics.mean(known), statistics.stdev(known)
    if max(known) - min(known) < 1e-12:  # what does not vary is one observation
        return Interval(mean, n=1)
    share = overlap / (1 - overlap) if overlap < 1 else 0.0
    error = deviation * math.sqrt(1 / n + share)
    t, t_power = stats.t.ppf((1 + level) / 2, n - 1), stats.t.ppf(0.8, n - 1)
    return Interval(mean, mean - t * error, mean + t * error, (t + t_power) * error, n)


def of_trials(places, level) -> Interval:
    """Clopper and Pearson's interval where a rate comes nearest to the bound on it.

    Parameters
    ----------
    places : list of (bound, failures, trials)
        Their intervals hold together with `level` (Bonferroni).
    """
    tail = (1 - level) / len(places) / 2
    found = []
    for bound, failures, trials in places:
        interval = stats.binomtest(int(failures), int(trials)).proportion_ci(
            1 - 2 * tail, method="exact"
        )
        found.append(
            Interval(
                bound - failures / trials, bound - interval.high, bound - interval.low, n=trials
            )
        )
    return min(found, key=lambda one: one.low)


def correction(published) -> float:
    """Level of the intervals of an artefact's claims: 95 % for all together.

    Counted are claims on real data, or on what a paper defines, on which something was measured.
    """
    judged = [row for row in published if row["data"] in ("real", "no data") and measured(row)]
    return 1 - 0.05 / max(1, len(judged))


def measured(row) -> bool:
    """Whether there are rows on a published claim; what is denied says it by its effect."""
    if row["verdict"] == "denied by the paper's own table":
        return bool(row["effect"])
    return row["verdict"] != "not run at this scale"


def verdict(row, spread, paper_effect, has_rows) -> str:
    """Verdict of a published claim, from its numbers.

    Parameters
    ----------
    row : dict
        Effect, interval and smallest effect of interest, and the kind of data.
    spread : {"seeds", "units", "trials"}
        Where the uncertainty comes from.
    paper_effect : float
        The same effect of the numbers that the paper prints; NaN if it prints none.
    has_rows : bool
        Whether anything was run.
    """
    if paper_effect < 1e-9:
        return "denied by the paper's own table"
    if row["data"] == "stand-in":
        return "not testable here"
    if not has_rows:
        return "not run at this scale"
    if not row["low"] or int(row["n"]) < (FEWEST_SEEDS if spread == "seeds" else 2):
        return "inconclusive"
    effect, low, high, smallest = (
        float(row[name]) for name in ("effect", "low", "high", "smallest_effect")
    )
    if high < smallest:
        return "not reproduced"
    return "reproduced" if low > 0 and effect >= smallest else "inconclusive"
