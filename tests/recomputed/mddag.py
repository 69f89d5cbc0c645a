"""Effects of the claims on MDDAG, from the words of its README and of the claims."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

from tests.experiments.published_rows import by_seed, mean_of_known


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


def division_runs(rows, quality):
    """For each seed the runs of each method."""
    grouped = defaultdict(list)
    for row in rows:
        if row.get("node", "-1") == "-1":
            grouped[int(row["seed"]), row["method"]].append(row)
    found = defaultdict(dict)
    for (seed, method), mine in sorted(grouped.items()):
        found[seed][method] = Runs(mine, quality, method != "adaboost")
    return list(found.values())


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


# --- the claims -----------------------------------------------------------------------------------

CASCADES = ("viola_jones", "fcboost", "bourdev_cascade")
BY_ACCURACY = ("mddag_i", "mddag_i_accuracy")
EXPONENTIAL = ("mddag_exp", "mddag_exp_shares", "mddag_exp_slow")
MOST = ("mddag_i", "mddag_exp", "mddag_exp_slow")


def ahead(better, worse, low, high):
    return lambda rows: [
        lead(one, better, worse, low, high) for one in division_runs(rows, "tpr_10")
    ]


def twofold(*methods):
    """NDCG above AdaBoost.MH with twice as many base classifiers."""

    def effects(rows):
        found = []
        for division in division_runs(rows, "ndcg"):
            theirs = division["adaboost"]
            last = max(min(max(division[m].dearest for m in methods), theirs.dearest / 2), 3.0)
            budgets = grid(3.0, last)
            budgets = [b for b in budgets if b <= max(last, budgets[0]) * (1 + 1e-9)]
            leads = [best(division, methods, b) - theirs.at(2 * b) for b in budgets]
            found.append(mean_of_known(leads))
        return found

    return effects


def of_policies(effect):
    """By seed, over MDDAG.I's policies."""

    def effects(rows):
        mine = [
            row
            for row in rows
            if (row["method"], row["node"]) == ("mddag_i", "-1")
            and float(row.get("negative_weight", 1)) == 1  # else β means something else
        ]
        return [effect(one) for one in by_seed(mine).values()]

    return effects


def fewer_with_beta(rows):
    betas = [math.log(float(row["tradeoff"])) for row in rows]
    evaluated = [math.log1p(float(row["test_evaluations"])) for row in rows]
    return -statistics.correlation(betas, evaluated)


def not_overfitted(rows):
    excess = [float(row["test_objective"]) - float(row["train_objective"]) for row in rows]
    return -statistics.mean(excess)


CLAIMS = {
    **{
        f"mddag-low-above-{name.replace('_', '-')}": ahead(("mddag_i",), (name,), 1.0, 5.0)
        for name in CASCADES
    },
    "mddag-competitive": ahead(MOST, CASCADES, 1.0, 30.0),
    "mddag-i-low": ahead(BY_ACCURACY, EXPONENTIAL, 1.0, 5.0),
    "mddag-exp-high": ahead(EXPONENTIAL, BY_ACCURACY, 5.0, 20.0),
    "mddag-adaboost": ahead(("adaboost",), CASCADES, 1.0, 30.0),
    "mddag-twofold-i": twofold("mddag_i"),
    "mddag-twofold-exp": twofold(*EXPONENTIAL),
    "mddag-not-overfitted": of_policies(not_overfitted),
    "mddag-beta": of_policies(fewer_with_beta),
}
