"""Effects of the claims on Greedy Miser, from the words of its README and of the claims."""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from functools import cache
from itertools import pairwise

from tests.experiments.published_rows import by_seed, claims, correlation, lines
from tests.recomputed import curves

LIMIT = 0.005
"""How much lower a score may be that is "as good" in Figure 1."""


@cache
def own_models(artefact):
    """Pools of the models of each method, by the paper's bill."""
    return curves.pools(lines(artefact), "algorithm", "_paper")


@cache
def models(artefact):
    """The same, with those of λ = 0, which is a limiting case of every method."""
    pools = dict(own_models(artefact))
    for panel, name in list(pools):
        if name in ("greedy_miser", "early_exit", "greedy_miser_early_exit", "stagewise_subsets"):
            pools[panel, name] = curves.together(pools[panel, name], pools[panel, "stagewise"])
    return pools


def best(pool):
    """The model that validation chooses among the whole models, where each validates best."""
    return next(model for model in pool if model["best"] == 1)


def zero(artefact, panel):
    """Seed → the λ = 0 model that validation chooses."""
    return {seed: best(pool) for seed, pool in models(artefact)[panel, "stagewise"].items()}


def above(claim, artefact="miser-figure1"):
    pools = models(artefact)
    rival = claim.split("-above-")[1].replace("-", "_")
    return curves.mean_leads(pools[claim[0], "greedy_miser"], pools[claim[0], rival])


def with_exits(claim):
    pools = models("miser-figure1")
    return curves.mean_leads(
        pools[claim[0], "greedy_miser_early_exit"], pools[claim[0], "greedy_miser"]
    )


def decades_saved(artefact, panel, name, others, margin):
    """By how many decades a method is cheaper where it is as good as others; 0 if it never is."""
    mine, found = models(artefact)[panel, name], []
    for seed, base in others.items():
        model = curves.first_as_good(mine, seed, base["test_score"] - margin)
        found.append(math.log10(base["test_cost"] / model["test_cost"]) if model else 0.0)
    return found


def cheaper(claim):
    name = {"tenth": "greedy_miser", "half": "early_exit"}[claim[2:]]
    return decades_saved("miser-figure1", claim[0], name, zero("miser-figure1", claim[0]), LIMIT)


def gradual(claim):
    by_pair = {}
    names = ("stagewise", "greedy_miser")
    rows = [row for row in lines("miser-figure1") if row["panel"] == claim[0]]
    for mine in by_seed(rows).values():
        score = {
            float(row["tradeoff"]): float(row["test_score"])
            for row in mine
            if row["algorithm"] in names and row["best"] == "1" and float(row["tradeoff"]) <= 4
        }
        for pair in pairwise(sorted(score)):
            by_pair.setdefault(pair, []).append(score[pair[1]] - score[pair[0]])
    widest = max(by_pair.values(), key=lambda steps: abs(sum(steps)))
    side = 1 if sum(widest) > 0 else -1
    return [0.01 - side * step for step in widest]


def own_best(panel, name):
    """Seed → a method's own whole model that validates best; of equals the one of fewer rounds."""
    found = {}
    rows = [r for r in lines("miser-figure1") if (r["panel"], r["algorithm"]) == (panel, name)]
    for seed, mine in by_seed(rows).items():
        whole = [row for row in mine if row["best"] == "1"]
        found[int(seed)] = min(
            whole,
            key=lambda r: (-float(r["valid_score"]), int(r["rounds"]), float(r["tradeoff"])),
        )
    return found


def reaches(claim):
    name = claim.split("-reaches-")[1].replace("-", "_")
    base, own = zero("miser-figure1", claim[0]), own_best(claim[0], name)
    return [LIMIT + float(own[s]["test_score"]) - base[s]["test_score"] for s in sorted(base)]


def exit_limited(claim):
    """The share of features in a cost, above ½, where a tree costs 1.

    Of the cheapest of early exits' own models that is as good on the test set.
    """
    found, base = [], zero("miser-figure1", claim[0])
    for seed, own in sorted(own_models("miser-figure1")[claim[0], "early_exit"].items()):
        good = [m for m in own if m["test_score"] >= base[seed]["test_score"] - LIMIT]
        if not good:
            found.append(math.nan)
            continue
        model = min(good, key=lambda m: m["test_cost"])
        found.append(1 - model["test_trees"] / model["test_cost"] - 0.5)
    return found


# --- Figure 2 -------------------------------------------------------------------------------------


@cache
def used(panel):
    """Seed → λ → price → the line on the features of that price."""
    found = defaultdict(lambda: defaultdict(dict))
    for row in lines("miser-figure2"):
        if row["panel"] == panel:
            found[int(row["seed"])][float(row["tradeoff"])][float(row["price"])] = row
    return dict(sorted(found.items()))


def cheap_kept(claim):
    found = []
    for mine in used(claim[0]).values():
        lowest = min(mine[0.0])
        most, none = (int(mine[tradeoff][lowest]["n_used"]) for tradeoff in (max(mine), 0.0))
        found.append(most / none - 0.8)
    return found


def dearer_fall(claim):
    found = []
    for mine in used(claim[0]).values():
        tradeoffs = sorted(mine)
        _, *higher = sorted(mine[0.0])
        found.append(
            statistics.mean(
                correlation(
                    [-tradeoff for tradeoff in tradeoffs],
                    [int(mine[tradeoff][price]["n_used"]) for tradeoff in tradeoffs],
                )
                for price in higher
            )
        )
    return found


def dearest_always(claim):
    missed = [
        any(int(by_price[max(by_price)]["n_used"]) == 0 for by_price in mine.values())
        for mine in used(claim[0]).values()
    ]
    return [(0.5, sum(missed), len(missed))]


def dear_early(claim):
    sentence = claims("miser-figure2")[claim]["sentence"]
    least = float(re.search(r"of price ([\d.]+) or more", sentence).group(1))

    def early(by_price):
        return any(
            0 < int(row["first_round"]) <= int(row["rounds"]) / 10
            for price, row in by_price.items()
            if price >= least
        )

    missed = [not all(map(early, mine.values())) for mine in used(claim[0]).values()]
    return [(0.5, sum(missed), len(missed))]


# --- Figure 3 -------------------------------------------------------------------------------------


def of_method(name):
    return {seed: pool[0] for seed, pool in models("miser-figure3")["s", name].items()}


def half_of_svm(claim):
    return decades_saved(
        "miser-figure3", "s", "greedy_miser", of_method("svm_averaged_kernel"), 0.01
    )


def l1_below(claim):
    return [0.74 - model["test_score"] for model in of_method("l1_raw_descriptors").values()]


def exit_above_half(claim):
    base = zero("miser-figure3", "s")
    saved = decades_saved("miser-figure3", "s", "early_exit", base, 0.01)
    return [math.log10(2) - decades for decades in saved]


# --- beside the paper -----------------------------------------------------------------------------


def step(claim):
    score = {
        (row["variant"], int(row["seed"])): float(row["test_score"])
        for row in lines("miser-choices")
        if row["panel"] == claim[0]
    }
    variant = claim[2:].replace("-", "_")
    seeds = sorted(seed for name, seed in score if name == variant)
    signed = [score[variant, seed] - score["ours", seed] for seed in seeds]
    side = 1 if sum(signed) > 0 else -1
    return [0.005 - side * one for one in signed]


def training_time(claim):
    dataset = claims("miser-training-time")[claim]["dataset"]
    seconds = {
        (row["method"], int(row["seed"])): float(row["fit_seconds"])
        for row in lines("miser-training-time", "timings.csv")
        if row["dataset"] == dataset and row["fit_seconds"]
    }
    return [
        math.log2(1.25 / (time / seconds["stagewise", seed]))
        for (method, seed), time in sorted(seconds.items())
        if method == "greedy_miser"
    ]
