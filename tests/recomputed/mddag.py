"""Effects of the claims on MDDAG, from the words of its README and of the claims."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from functools import cache

from tests.experiments.published_rows import by_seed, correlation, lines, mean_of_known

CASCADES = ("viola_jones", "fcboost", "bourdev_cascade")


# --- Figure 1 -------------------------------------------------------------------------------------


def of_toy(claim):
    rows = [row for row in lines("mddag-figure1") if row["method"] == "mddag_i"]
    effect = {
        "easy-use-less": easy_use_less,
        "use-differs": use_differs,
        "few-paths": few_paths,
        "two-paths": two_paths,
    }[claim]
    return [effect(mine) for mine in by_seed(rows).values()]


def points(rows):
    return [row for row in rows if row["record"] == "point"]


def taken(rows):
    """How many points take each path, the most frequent last."""
    return sorted(int(r["first"]) + int(r["second"]) for r in rows if r["record"] == "path")


def easy_use_less(rows):
    return -correlation(
        [float(row["margin"]) for row in points(rows)],
        [int(row["evaluations"]) for row in points(rows)],
    )


def use_differs(rows):
    sizes = [sum(row["cluster"] == k for row in points(rows)) for k in ("0", "1")]
    return max(
        abs(int(row["first"]) / sizes[0] - int(row["second"]) / sizes[1])
        for row in rows
        if row["record"] == "classifier"
    )


def few_paths(rows):
    return math.log10(len(points(rows)) / len(taken(rows)))


def two_paths(rows):
    return sum(taken(rows)[-2:]) / len(points(rows)) - 0.5


# --- Figures 2 and 3 ------------------------------------------------------------------------------


def grid(low, high):
    """Budgets 10^(i/12), from the first that is at least `low` to the first at least `high`."""
    i = -100
    while 10 ** (i / 12) < low * (1 - 1e-9):
        i += 1
    budgets = [10 ** (i / 12)]
    while budgets[-1] < high * (1 - 1e-9):
        i += 1
        budgets.append(10 ** (i / 12))
    return budgets


class Runs:
    """The runs of one method on one division, and section 3.2's rule."""

    def __init__(self, rows, quality, selected):
        runs = [
            (
                float(row["train_evaluations"]),
                float(row[f"train_{quality}"]),
                int(row["setting"]),
                float(row["test_evaluations"]),
                float(row[f"test_{quality}"]),
            )
            for row in rows
        ]
        self.chosen = []
        self.cheapest = min((run[3] for run in runs if run[0] > 0), default=math.inf)
        self.dearest = max((run[3] for run in runs), default=-math.inf)
        if not selected:
            self.chosen = sorted(runs)
            return
        runs = [run for run in runs if run[0] > 0]
        for bound in sorted({run[0] for run in runs}):  # N, wherever something changes
            within = [run for run in runs if run[0] <= bound]
            best = max(run[1] for run in within)
            first = min((run for run in within if run[1] == best), key=lambda run: (run[0], run[2]))
            if first not in self.chosen:
                self.chosen.append(first)

    def at(self, budget, column=4):
        within = [run for run in self.chosen if run[3] <= budget * (1 + 1e-9)]
        return within[-1][column] if within else math.nan

    def trained(self, budget):
        return self.at(budget, column=1)


@cache
def all_runs(artefact, quality):
    """By panel, method and seed."""
    grouped = defaultdict(list)
    for row in lines(artefact):
        if row.get("node", "-1") == "-1":
            grouped[row["panel"], row["method"], row["seed"]].append(row)
    return {key: Runs(rows, quality, key[1] != "adaboost") for key, rows in grouped.items()}


def seeds_of(runs, panel):
    return sorted({key[2] for key in runs if key[0] == panel}, key=int)


def best(division, side, budget):
    """Test score of the method of a side that is best in training at a budget; NaN without one."""
    there = [runs for runs in (division[m] for m in side) if not math.isnan(runs.at(budget))]
    if not there:
        return math.nan
    return max(there, key=lambda runs: runs.trained(budget)).at(budget)


def lead(division, better, worse, low, high):
    """Mean lead over the budgets above `low` and up to `high` at which both sides have a run.

    If they first have one beyond `high`, that budget counts alone. Beyond its last run a method
    keeps it.
    """
    begins = max(min(division[m].cheapest for m in side) for side in (better, worse))
    if begins == math.inf:
        return math.nan
    budgets = [b for b in grid(max(low, begins), max(high, begins)) if b > low * (1 + 1e-9)]
    budgets = [b for b in budgets if b <= max(high, budgets[0]) * (1 + 1e-9)]
    leads = [best(division, better, b) - best(division, worse, b) for b in budgets]
    return mean_of_known(leads)


def divisions(runs, panel):
    """For each seed the runs of each method."""
    for seed in seeds_of(runs, panel):
        yield {method: mine for (p, method, s), mine in runs.items() if (p, s) == (panel, seed)}


SIDES = {
    "i-low": ("mddag_i", "mddag_exp", 1.0, 5.0),
    "exp-high": ("mddag_exp", "mddag_i", 5.0, 20.0),
    "exp-shares-high": ("mddag_exp_shares", "mddag_i", 5.0, 20.0),
    "exp-slow-high": ("mddag_exp_slow", "mddag_i", 5.0, 20.0),
}


def at_rate(claim):
    """Panel, name without the rate, and the runs at it."""
    name, rate = claim[2:].rsplit("-at-", 1)
    return claim[0], name, all_runs("mddag-figure2", f"tpr_{rate}")


def ahead(claim):
    panel, name, runs = at_rate(claim)
    if "-above-" in name:
        rival = name.removeprefix("low-above-").replace("-", "_")
        better, worse, low, high = "mddag_i", rival, 1.0, 5.0
    else:
        better, worse, low, high = SIDES[name]
    return [lead(one, (better,), (worse,), low, high) for one in divisions(runs, panel)]


def within_margin(claim):
    """Margin and mean lead of whoever is best in training, over the best cascade in training."""
    panel, name, runs = at_rate(claim)
    methods, low, margin = {
        "competitive": (("mddag_i", "mddag_exp"), 1.0, 0.01),
        "adaboost": (("adaboost",), 1.0, 0.02),
        "adaboost-high": (("adaboost",), 5.0, 0.02),
    }[name]
    return [margin + lead(one, methods, CASCADES, low, 30.0) for one in divisions(runs, panel)]


def of_policies(claim):
    """By seed, over MDDAG.I's policies: β against evaluations, or how far they are overfitted."""
    rows = [
        row
        for row in lines("mddag-figure2")
        if (row["panel"], row["method"], row["node"]) == (claim[0], "mddag_i", "-1")
        and float(row.get("negative_weight", 1)) == 1  # else β means something else
    ]
    effect = {"beta": fewer_with_beta, "not-overfitted": not_overfitted}[claim[2:]]
    return [effect(mine) for mine in by_seed(rows).values()]


def fewer_with_beta(rows):
    betas = [math.log(float(row["tradeoff"])) for row in rows]
    evaluated = [math.log1p(float(row["test_evaluations"])) for row in rows]
    return -statistics.correlation(betas, evaluated)


def not_overfitted(rows):
    excess = [float(row["test_objective"]) - float(row["train_objective"]) for row in rows]
    return 0.01 - statistics.mean(excess)


def twofold(claim):
    """0.01 less what is lost in NDCG to AdaBoost.MH with twice as many base classifiers."""
    runs, panel, method = all_runs("mddag-figure3", "ndcg"), claim[0], claim[2:].replace("-", "_")
    found = []
    for division in divisions(runs, panel):
        ours, theirs = division[method], division["adaboost"]
        last = max(min(ours.dearest, theirs.dearest / 2), 3.0)
        budgets = grid(3.0, last)
        budgets = [b for b in budgets if b <= max(last, budgets[0]) * (1 + 1e-9)]
        found.append(0.01 + mean_of_known([ours.at(b) - theirs.at(2 * b) for b in budgets]))
    return found


# --- beside the paper -----------------------------------------------------------------------------


def decreasing_worse(claim):
    """Objective on training windows, mean over β: a decreasing learning rate less a constant."""
    rows = [row for row in lines("mddag-choices") if row["panel"] == claim[0]]
    found = []
    for mine in by_seed(rows).values():
        other, ours = (
            statistics.mean(float(r["train_objective"]) for r in mine if r["variant"] == name)
            for name in ("rate_decreasing", "ours")
        )
        found.append(other - ours)
    return found
