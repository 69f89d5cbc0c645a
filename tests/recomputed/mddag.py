"""Effects of the claims on MDDAG, from the words of its README and of the claims."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from functools import cache

from tests.experiments.published_rows import by_seed, correlation, lines

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
        self.dearest = max((run[3] for run in runs if run[0] > 0), default=-math.inf)
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

    def ends(self):
        """From the first run that the rule chooses to the dearest of all."""
        return min((run[3] for run in self.chosen), default=math.inf), self.dearest

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


def shared(runs, panel, methods):
    """First and last budget that all have on every division."""
    seeds = seeds_of(runs, panel)
    ends = {method: [runs[panel, method, seed].ends() for seed in seeds] for method in methods}
    first = max(end[0] for of_method in ends.values() for end in of_method)
    return first, min(min(end[1] for end in of_method) for of_method in ends.values())


def lead(runs, panel, better, worse, low, high):
    """Mean lead by seed over the budgets above `low` and up to `high`; NaN if there are none."""
    first, last = shared(runs, panel, (better, worse))
    last, seeds = min(high, last), seeds_of(runs, panel)
    budgets = grid(max(low, first), last) if max(low, first) <= last else []
    budgets = [b for b in budgets if low < b <= last]
    if not budgets:
        return [math.nan] * len(seeds)
    return [
        statistics.mean(
            runs[panel, better, seed].at(b) - runs[panel, worse, seed].at(b) for b in budgets
        )
        for seed in seeds
    ]


BUDGETS = {
    "i-low": ("mddag_i", "mddag_exp", 0.0, 5.0),
    "exp-high": ("mddag_exp", "mddag_i", 5.0, math.inf),
    "exp-shares-high": ("mddag_exp_shares", "mddag_i", 5.0, math.inf),
    "exp-slow-high": ("mddag_exp_slow", "mddag_i", 5.0, math.inf),
}


def at_rate(claim):
    """Panel, name without the rate, and the runs at it."""
    name, rate = claim[2:].rsplit("-at-", 1)
    return claim[0], name, all_runs("mddag-figure2", f"tpr_{rate}")


def ahead(claim):
    panel, name, runs = at_rate(claim)
    if "-above-" in name:
        rival = name.removeprefix("low-above-").replace("-", "_")
        better, worse, low, high = "mddag_i", rival, 0.0, 5.0
    else:
        better, worse, low, high = BUDGETS[name]
    return lead(runs, panel, better, worse, low, high)


def reaching(runs, panel, methods, budget):
    """Those of the methods that have runs up to a budget on every division, and from it on."""
    spans = {method: shared(runs, panel, (method,)) for method in methods}
    return [method for method, (first, last) in spans.items() if first <= budget <= last]


def inside(runs, panel, methods, low, margin):
    """Margin and mean lead of whoever is best in training, over the best cascade in training."""
    last = max(shared(runs, panel, (method,))[1] for method in (*methods, *CASCADES))
    leads = defaultdict(list)
    for budget in grid(low, max(low, last)):
        groups = [reaching(runs, panel, group, budget) for group in (methods, CASCADES)]
        if not all(groups):
            continue
        for seed in seeds_of(runs, panel):
            ours, theirs = (
                runs[panel, best, seed].at(budget)
                for best in (
                    max(group, key=lambda m: runs[panel, m, seed].trained(budget))
                    for group in groups
                )
            )
            leads[seed].append(ours - theirs)
    return [
        margin + statistics.mean(leads[s]) if leads[s] else math.nan for s in seeds_of(runs, panel)
    ]


def within_margin(claim):
    panel, name, runs = at_rate(claim)
    methods, low, margin = {
        "competitive": (("mddag_i", "mddag_exp"), 5.0, 0.01),
        "adaboost": (("adaboost",), 1.0, 0.02),
        "adaboost-high": (("adaboost",), 5.0, 0.02),
    }[name]
    return inside(runs, panel, methods, low, margin)


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
    first, last = shared(runs, panel, (method,))
    first = max(first, 3.0)
    last = min(last, shared(runs, panel, ("adaboost",))[1] / 2)
    budgets = sorted({min(b, last) for b in grid(first, last)}) if first <= last else []
    return [
        0.01
        + statistics.mean(
            runs[panel, method, seed].at(b) - runs[panel, "adaboost", seed].at(2 * b)
            for b in budgets
        )
        if budgets
        else math.nan
        for seed in seeds_of(runs, panel)
    ]


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
