"""Effects of the claims on CEGB, from the words of its README and of the claims."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from functools import cache

from tests.experiments.published_rows import lines, number
from tests.recomputed import curves

METHODS = {"deep": "cegb", "shallow": "cegb_shallow"}


@cache
def models(artefact="cegb-figure2", accounting=""):
    """(panel, method) → seed → models, each a dict of numbers."""
    return curves.pools(lines(artefact), "algorithm", accounting)


def mean_leads(panel, method, rival, accounting="", artefact="cegb-figure2"):
    pools = models(artefact, accounting)
    return curves.mean_leads(pools[panel, method], pools[panel, rival])


def ahead(claim):
    panel, word, *paper = claim.split("-")
    return mean_leads(panel, METHODS[word], "greedy_miser", "_paper" if paper else "")


def by_validation(mine, rival):
    """Seed → the cheapest model that validates no worse than the rival's best, and that one.

    If none does, the method's own best.
    """
    found = {}
    for seed, pool in sorted(mine.items()):
        end = rival[seed][0]
        target = min(end["valid_score"], pool[0]["valid_score"])
        good = [model for model in pool if model["valid_score"] >= target]
        found[seed] = min(good, key=lambda model: (model["valid_cost"], -model["valid_score"])), end
    return found


def saving(claim):
    panel, pools = claim.split("-")[0], models()
    both = by_validation(pools[panel, "cegb"], pools[panel, "greedy_miser"]).values()
    if claim.endswith("-kept"):
        return [mine["test_score"] - end["test_score"] for mine, end in both]
    return [math.log10(end["test_cost"] / mine["test_cost"]) for mine, end in both]


# --- Figure 3 -------------------------------------------------------------------------------------


def ends(panel, method, tradeoff):
    """Seed → the last round of a model of Figure 3."""
    pools = models("cegb-figure3")[panel, method]
    return {
        seed: max(
            (model for model in pool if model["tradeoff"] == tradeoff),
            key=lambda model: model["rounds"],
        )
        for seed, pool in sorted(pools.items())
    }


def decades(upper, lower):
    return [math.log10(upper[s]["test_cost"] / lower[s]["test_cost"]) for s in upper]


def of_ends(claim):
    """Claims on λ: similar, cheaper, lower, and dear, which is at 3e-4."""
    panel, word, value = f"{claim}-".split("-", 2)
    free = ends(panel, "cegb", 0.0)
    priced = ends(panel, "cegb", float(value.rstrip("-") or 3e-4))
    if word == "cheaper":
        return decades(free, priced)
    column = "test_dear" if word == "dear" else "test_score"
    lost = [free[seed][column] - priced[seed][column] for seed in free]
    return [0.01 - value for value in lost] if word == "similar" else lost


def unit_costs(claim):
    panel = claim.split("-")[0]
    unit, priced = ends(panel, "cegb_unit_costs", 1e-3), ends(panel, "cegb", 1e-3)
    pairs = zip(decades(unit, priced), decades(unit, ends(panel, "cegb", 0.0)), strict=True)
    return [abs(to_priced) - abs(to_free) for to_priced, to_free in pairs]


def deep(claim):
    """Depth of the deepest leaf over split nodes passed, best first against breadth first."""
    both = [ends(claim.split("-")[0], m, 3e-4).values() for m in ("cegb", "cegb_breadth_first")]
    below = [[model["mean_depth"] / model["mean_path"] for model in grown] for grown in both]
    return [math.log10(a / b) for a, b in zip(*below, strict=True)]


def best_first(claim):
    panel, pools = claim.split("-")[0], models("cegb-figure3")
    return curves.mean_leads(pools[panel, "cegb"], pools[panel, "cegb_breadth_first"])


# --- over queries ---------------------------------------------------------------------------------

FIGURE_3_ALONE = 5e-4
"""λ of deep CEGB that Figure 2 does not have."""


def average_precision(letter, count):
    """AP@5 of a query: the letter is a number to the base 32, its lowest bit the first place."""
    bits = int(letter, 32)
    relevant, total = 0, 0.0
    for place in range(1, 6):
        if bits % 2:
            relevant += 1
            total += relevant / place
        bits //= 2
    return total / int(count)


@cache
def models_of_queries(accounting=""):
    """(panel, method) → seed → models, each with the AP@5 of its ``queries``."""
    rows = lines("cegb-queries")
    counts = {(r["panel"], r["seed"]): r["places"] for r in rows if r["kind"] == "queries"}
    numbered = [
        {**row, "places": str(line)} for line, row in enumerate(rows) if row["kind"] == "model"
    ]
    found = curves.pools(numbered, "algorithm", accounting)
    for (panel, _), by_seed in found.items():
        for seed, pool in by_seed.items():
            for model in pool:
                word = rows[int(model["places"])]["places"]
                pairs = zip(word[1:], counts[panel, str(seed)][1:], strict=True)
                model["queries"] = [average_precision(*pair) for pair in pairs]
    return found


def query_leads(panel, method, rival, accounting="", without=()):
    """For each seed the mean over shared budgets of the difference in AP@5 on each query."""
    pools = models_of_queries(accounting)
    mine = {
        seed: [model for model in pool if model["tradeoff"] not in without]
        for seed, pool in pools[panel, method].items()
    }
    found = {}
    for seed, pairs in curves.pairs(mine, pools[panel, rival]).items():
        differences = [
            [a - b for a, b in zip(one["queries"], other["queries"], strict=True)]
            for one, other in pairs
        ]
        found[seed] = [statistics.mean(query) for query in zip(*differences, strict=True)]
    return found


def query_losses(panel, tradeoff):
    """For each seed how far CEGB's last model lies below that of λ = 0 on each query."""
    found = {}
    for seed, pool in models_of_queries()[panel, "cegb"].items():
        free, priced = (
            max((m for m in pool if m["tradeoff"] == value), key=lambda m: m["rounds"])["queries"]
            for value in (0.0, tradeoff)
        )
        found[seed] = [a - b for a, b in zip(free, priced, strict=True)]
    return found


def by_query(claim):
    """For each seed the effect of a claim on each of its test queries."""
    panel, word, value = f"{claim.removesuffix('-over-queries')}-".split("-", 2)
    value = value.rstrip("-")
    if word == "best":
        return query_leads(panel, "cegb", "cegb_breadth_first")
    if word in METHODS:
        accounting = "_paper" if value else ""
        return query_leads(panel, METHODS[word], "greedy_miser", accounting, (FIGURE_3_ALONE,))
    lost = query_losses(panel, float(value))
    if word == "lower":
        return lost
    return {seed: [0.01 - one for one in each] for seed, each in lost.items()}


def over_queries(claim):
    """For each repetition the effect on each of its queries."""
    return [values for _, values in sorted(by_query(claim).items())]


# --- Figure 4 -------------------------------------------------------------------------------------

NUMBERS = ("valid_score", "valid_cost", "test_score", "test_cost")


@cache
def segmentations():
    """Models by (panel, seed, algorithm, coarsest, λ, rounds), and numbers of their test frames."""
    models_of, frames = {}, defaultdict(list)
    for row in lines("cegb-figure4"):
        name = (
            *(row["panel"], int(row["seed"]), row["algorithm"]),
            *(int(row["coarsest"]), float(row["tradeoff"]), int(row["rounds"])),
        )
        numbers = {column: number(row[column]) for column in NUMBERS}
        if row["kind"] == "score":
            models_of[name] = numbers
        elif row["kind"] == "frame" and row["panel"] != "a":
            frames[name].append(numbers)
    return models_of, frames


def best(names, most=math.inf):
    """The model that validates best within a cost; ties: the cheaper."""
    of = segmentations()[0]
    within = [name for name in names if of[name]["valid_cost"] <= most]
    return max(within, key=lambda name: (of[name]["valid_score"], -of[name]["valid_cost"]))


def split(panel, seed):
    """Names of plain boosting's models (λ = 0 of both kinds) and of CEGB's."""
    names = [name for name in segmentations()[0] if name[:2] == (panel, seed)]
    mine = [name for name in names if name[2] in ("gbrt", "cegb")]
    return [name for name in mine if name[4] == 0], [name for name in mine if name[4] > 0]


def at_half_the_cost(seed=5):
    """Plain boosting at its best, plain boosting and CEGB held to half of that cost."""
    plain, cegb = split("b3", seed)
    chosen = best(plain)
    half = segmentations()[0][chosen]["valid_cost"] / 2
    return chosen, best(plain, half), best(cegb, half)


def by_resolution():
    """The finest resolution alone, and all four, at λ = 0.01, after the rounds that are best."""
    names = [n for n in segmentations()[0] if n[0] in ("b3", "c3") and n[2] == "cegb"]
    return [best([n for n in names if n[3:5] == (level, 0.01)]) for level in (1, 8)]


def of_frames(one, other, effect, column="test_score"):
    frames = segmentations()[1]
    pairs = zip(frames[one], frames[other], strict=True)
    return [effect(a[column], b[column]) for a, b in pairs]


def on_frames(claim):
    plain, cheap, cegb = at_half_the_cost()
    fine, all_four = by_resolution()
    return {
        "b3-similar": lambda: of_frames(plain, cegb, lambda a, b: 0.01 - (a - b)),
        "b3-better-at-half": lambda: of_frames(cegb, cheap, lambda a, b: a - b),
        "b3-coarser-worse": lambda: of_frames(fine, all_four, lambda a, b: a - b),
        "b3-coarser-cheaper": lambda: of_frames(
            fine, all_four, lambda a, b: math.log10(a / b), "test_cost"
        ),
    }[claim]()


# --- training time --------------------------------------------------------------------------------


def training_time(claim):
    dataset, _, name = claim.partition("-")
    seconds = {
        (row["method"], int(row["seed"])): float(row["fit_seconds"])
        for row in lines("cegb-training-time", "timings.csv")
        if row["dataset"] == dataset and row["fit_seconds"]
    }
    return [
        math.log2(1.5 / (time / seconds["gbrt", seed]))
        for (method, seed), time in sorted(seconds.items())
        if method == name.replace("-", "_")
    ]
