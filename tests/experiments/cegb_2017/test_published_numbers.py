"""What is published of CEGB's Figures 2 and 3, computed another way: plain Python on rows.csv."""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from functools import cache
from itertools import pairwise

import pytest

from experiments.running.provenance import ROOT

README = " ".join(
    (ROOT / "experiments" / "cegb_2017" / "README.md").read_text(encoding="utf-8").split()
)
RANKING = ("a'", "y", "m", "w", "b'")
REAL = ("c", "d", *RANKING)


@cache
def table(artefact: str, name: str) -> list[dict[str, str]]:
    with open(ROOT / "results" / artefact / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def models(artefact: str = "cegb-figure2") -> dict:
    """(panel, method) → seed → models, each a dict of numbers; constants are left out."""
    pools = defaultdict(lambda: defaultdict(list))
    for row in table(artefact, "rows.csv"):
        if int(row["rounds"]) > 0:
            numbers = {
                k: float(v) for k, v in row.items() if k not in ("panel", "dataset", "algorithm")
            }
            pools[row["panel"], row["algorithm"]][int(row["seed"])].append(numbers)
    return pools


def claims(artefact: str) -> dict[str, dict[str, str]]:
    return {row["claim"]: row for row in table(artefact, "claims.csv")}


def best_within(pool, budget, cost):
    """The model that validates best within a budget; ties: the cheaper."""
    within = [model for model in pool if model[cost] <= budget]
    return max(within, key=lambda model: (model["valid_score"], -model[cost]))


def leads(panel, method, rival, accounting="", artefact="cegb-figure2"):
    """For each seed the leads at the budgets 10^(i/12) that both have models for."""
    pools, cost = models(artefact), "valid_cost" + accounting
    reach = []
    for name in (method, rival):
        costs = [[model[cost] for model in pool] for pool in pools[panel, name].values()]
        reach.append((max(map(min, costs)), min(map(max, costs))))
    low, high = max(r[0] for r in reach), min(r[1] for r in reach)
    first, last = (math.ceil(12 * math.log10(v) - 1e-9) for v in (low, high))
    budgets = [10 ** (i / 12) * (1 + 1e-12) for i in range(first, last + 1)] if low <= high else []
    return {
        seed: [
            best_within(pool, b, cost)["test_score"]
            - best_within(pools[panel, rival][seed], b, cost)["test_score"]
            for b in budgets
        ]
        for seed, pool in pools[panel, method].items()
    }


def mean_lead(*args, **kwargs):
    by_seed = leads(*args, **kwargs).values()
    return statistics.mean(statistics.mean(one) for one in by_seed)


def worst_lead(*args, **kwargs):
    return statistics.mean(min(one) for one in leads(*args, **kwargs).values())


def decades_saved(panel, method, rival):
    """At each seed's highest score that both reach: log10 of the ratio of test costs."""
    saved = []
    for seed in models()[panel, method]:
        pools = [models()[panel, name][seed] for name in (method, rival)]
        every = [[m["valid_cost"] for pool in models()[panel, name].values() for m in pool]
                 for name in (method, rival)]  # fmt: skip
        curves = []
        for pool, costs in zip(pools, every, strict=True):
            low, high = (math.ceil(12 * math.log10(v) - 1e-9) for v in (min(costs), max(costs)))
            budgets = [10 ** (i / 12) * (1 + 1e-12) for i in range(low, high + 1)]
            cheapest = min(m["valid_cost"] for m in pool)
            curves.append([best_within(pool, b, "valid_cost") for b in budgets if b >= cheapest])
        target = min(max(m["test_score"] for m in curve) for curve in curves)
        mine, theirs = (
            next(m["test_cost"] for m in curve if m["test_score"] >= target) for curve in curves
        )
        saved.append(math.log10(theirs / mine))
    return statistics.mean(saved)


WORDS = {"deep": "cegb", "shallow": "cegb_shallow"}


def test_every_effect_of_figure_2():
    published = claims("cegb-figure2")
    assert len(published) == 11 * 4 + 3 * 2
    for claim, row in published.items():
        panel, word, *paper = claim.split("-")
        if word == "saving":
            effect = decades_saved(panel, "cegb", "greedy_miser")
        elif word == "always":
            effect = worst_lead(panel, "cegb_shallow", "greedy_miser")
        else:
            accounting = "_paper" if paper else ""
            effect = mean_lead(panel, WORDS[word], "greedy_miser", accounting)
        assert float(row["effect"]) == pytest.approx(effect, abs=2e-6), claim


def ends(panel, method, tradeoff):
    """Seed → the last round of a model of Figure 3."""
    pools = models("cegb-figure3")[panel, method]
    return {
        seed: max((m for m in pool if m["tradeoff"] == tradeoff), key=lambda m: m["rounds"])
        for seed, pool in pools.items()
    }


def decades(upper, lower):
    return [math.log10(upper[s]["test_cost"] / lower[s]["test_cost"]) for s in upper]


def of_figure_3(panel, name):
    """The mean effect of a claim of Figure 3."""
    word, _, value = name.partition("-")
    free = ends(panel, "cegb", 0.0)
    if name in ("best-first", "every-budget"):
        lead = mean_lead if name == "best-first" else worst_lead
        return lead(panel, "cegb", "cegb_breadth_first", artefact="cegb-figure3")
    if word == "unit":
        unit, priced = ends(panel, "cegb_unit_costs", 1e-3), ends(panel, "cegb", 1e-3)
        pairs = zip(decades(unit, priced), decades(unit, free), strict=True)
        return statistics.mean(abs(a) - abs(b) for a, b in pairs)
    if word == "deep":
        best, breadth = (ends(panel, m, 3e-4) for m in ("cegb", "cegb_breadth_first"))
        ratio = [
            [m["mean_depth"] / m["mean_path"] for m in grown.values()] for grown in (best, breadth)
        ]
        return statistics.mean(math.log10(a / b) for a, b in zip(*ratio, strict=True))
    priced = ends(panel, "cegb", 3e-4 if word == "dear" else float(value))
    if word == "cheaper":
        return statistics.mean(decades(free, priced))
    column = "test_dear" if word == "dear" else "test_score"
    lost = statistics.mean(free[s][column] - priced[s][column] for s in free)
    return 0.01 - lost if word == "similar" else lost


def test_every_effect_of_figure_3():
    published = claims("cegb-figure3")
    assert len(published) == 5 * 9
    for claim, row in published.items():
        panel, _, name = claim.partition("-")
        assert float(row["effect"]) == pytest.approx(of_figure_3(panel, name), abs=2e-6), claim


def widest_gaps(artefact="cegb-figure2"):
    """(panel, method) → the widest ratio of neighbouring costs of one seed's models."""
    return {
        key: max(
            b / a
            for pool in pools.values()
            for a, b in pairwise(sorted({model["valid_cost"] for model in pool}))
        )
        for key, pools in models(artefact).items()
    }


def share_still_rising(panel, method, most=300):
    """For which share of a method's models (λ × seed) the training did not end by itself."""
    models_of = {
        (seed, model["tradeoff"]): model["rounds_trained"]
        for seed, pool in models()[panel, method].items()
        for model in pool
    }
    return statistics.mean(trained >= most for trained in models_of.values())
