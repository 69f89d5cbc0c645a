"""Effects of the claims on Cronus, from the words of its README and of the claims."""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from functools import cache

from tests.experiments.published_rows import by_seed, correlation, lines
from tests.recomputed import curves

NAMES = {"single": "single_stage", "initial": "cronus_initial"}
TUNED = (
    *("ours", "positive_weight_35", "quantile", "last_penalty_1e-3", "penalty_1e-4"),
    "decay_1.1",
)
RULES = ("proximity", "score", "capacity", "rank")


@cache
def models(cost="_paper"):
    """Pools of models; an early exit's limit can be endless, so its pool has GBRT's models, too."""
    rows = lines("cronus-figure2")
    if cost == "n_features":
        rows = [{**row, **dict.fromkeys(("valid_cost", "test_cost"), row[cost])} for row in rows]
    pools = curves.pools(rows, "method", "_paper" if cost == "_paper" else "")
    for panel in {panel for panel, _ in pools}:
        gbrt = pools[panel, "gbrt"]
        names = [name for of, name in pools if of == panel and name.startswith("early_exit_")]
        rules = [pools[panel, name] for name in names]
        for name, one in zip(names, rules, strict=True):
            pools[panel, name] = curves.together(one, gbrt)
        pools[panel, "early_exit"] = curves.together(*rules, gbrt)
    return pools


def method(panel, name):
    return models()[panel, NAMES.get(name, name.replace("-", "_"))]


def above(claim):
    panel, better, worse = re.fullmatch(r"(\w)-(.+)-above-(.+)", claim).groups()
    return curves.mean_leads(method(panel, better), method(panel, worse))


def control(claim):
    panel, name = claim[0], claim[2:].removesuffix("-free-control")
    return curves.mean_leads(method(panel, f"{name}-free"), method(panel, f"{name}-cascade"))


def whole_features(claim):
    pools = models("n_features")
    return curves.mean_leads(pools[claim[0], "single_stage"], pools[claim[0], "plain_l1"])


def saved(panel, name):
    """Decades by which a method is cheaper where it is as good as GBRT within 0.01; 0 if never."""
    found = []
    mine, gbrt = method(panel, name), method(panel, "gbrt")
    for seed, pool in gbrt.items():
        base = pool[0]
        model = curves.first_as_good(mine, seed, base["test_score"] - 0.01)
        found.append(math.log10(base["test_cost"] / model["test_cost"]) if model else 0.0)
    return found


def tenfold(claim):
    return saved(claim[0], "cronus")


def exit_limited(claim):
    return [math.log10(2) - decades for decades in saved(claim[0], "early-exit")]


def proximity(claim):
    mine = method(claim[0], "early-exit-proximity")
    leads = [curves.mean_leads(mine, method(claim[0], f"early-exit-{rule}")) for rule in RULES[1:]]
    return [min(one) for one in zip(*leads, strict=True)]


def slower(claim):
    seconds = defaultdict(list)
    for row in lines("cronus-figure2", "timings.csv"):
        if row["panel"] == claim[0] and row["fit_seconds"]:
            seconds[row["method"], int(row["seed"])].append(float(row["fit_seconds"]))
    name = claim[2:].removesuffix("-slower").replace("-", "_")
    return [
        math.log10(statistics.median(seconds[name, seed]) / statistics.median(times))
        for (other, seed), times in sorted(seconds.items())
        if other == "cronus"
    ]


# --- Figures 3 and 4 ------------------------------------------------------------------------------


@cache
def cascades(artefact, panel):
    """Per seed: method → lines about stages (price -1) and about stage and price."""
    stages = [row for row in lines(artefact) if row["panel"] == panel and int(row["stage"]) > 0]
    return {
        seed: {
            name: [row for row in rows if row["method"] == name]
            for name in ("cronus", "cronus_initial")
        }
        for seed, rows in by_seed(stages).items()
    }


def of_stages(rows):
    return [row for row in rows if float(row["price"]) < 0]


def rejects_earlier(claim):
    def remaining(rows):
        return statistics.mean(float(r["hard"]) for r in of_stages(rows) if int(r["stage"]) > 1)

    return [
        remaining(both["cronus_initial"]) - remaining(both["cronus"])
        for both in cascades("cronus-figure3", claim[0]).values()
    ]


def fewer_stages(claim):
    def with_trees(rows):
        return sum(int(row["n_trees"]) > 0 for row in of_stages(rows))

    return [
        with_trees(both["cronus_initial"]) - with_trees(both["cronus"])
        for both in cascades("cronus-figure3", claim[0]).values()
    ]


@cache
def first_purchases(panel):
    """Per seed of the optimised cascade: price → features (listed, bought at once, bought at all).

    At once is in the first stage that has trees. A cascade with one such stage has no order.
    """
    found = []
    for both in cascades("cronus-figure4", panel).values():
        rows = both["cronus"]
        live = [int(row["stage"]) for row in of_stages(rows) if int(row["n_trees"])]
        if len(live) < 2:
            continue
        first = min(live)
        shares = {}
        for row in rows:
            price, bought = float(row["price"]), int(row["n_features"])
            if price >= 0:
                listed, at_once, most = shares.get(price, (int(row["n_listed"]), 0, 0))
                at_once = bought if int(row["stage"]) == first else at_once
                shares[price] = listed, at_once, max(most, bought)
        found.append(shares)
    return found


def cheap_and_dear(shares):
    """Sums over the cheap prices (to a fortieth of the highest), the dear ones (from a tenth)."""
    top = max(shares)
    groups = (lambda p: p <= top / 40), (lambda p: p >= top / 10)
    return [
        [sum(numbers) for numbers in zip(*(n for p, n in shares.items() if of(p)), strict=True)]
        for of in groups
    ]


def cheap_first(claim):
    found = []
    for shares in first_purchases(claim[0]):
        cheap, dear = cheap_and_dear(shares)
        if cheap and dear:  # of what is bought at all
            both = cheap[2] and dear[2]
            found.append(cheap[1] / cheap[2] - dear[1] / dear[2] if both else math.nan)
    without_order = len(cascades("cronus-figure4", claim[0])) - len(first_purchases(claim[0]))
    return found + [math.nan] * without_order


def most_cheap(claim):
    found = []
    for shares in first_purchases(claim[0]):
        cheap, _ = cheap_and_dear(shares)
        if cheap:
            found.append(cheap[1] / cheap[2] - 0.5 if cheap[2] else math.nan)
    return found


def some_dear(claim):
    """The bound, repetitions without, repetitions."""
    missed = [
        not any(n[1] for price, n in shares.items() if price >= max(shares) / 2)
        for shares in first_purchases(claim[0])
    ]
    return [(0.5, sum(missed), len(missed))]


# --- what our choices change ----------------------------------------------------------------------


@cache
def scores(column):
    """(panel, variant, method) → seed → step of λ → a score."""
    found = defaultdict(lambda: defaultdict(dict))
    for row in lines("cronus-choices"):
        key = row["panel"], row["variant"], row["method"]
        found[key][int(row["seed"])][row["step"]] = float(row[column])
    return found


def mean_scores(column, panel, variant, method):
    """Seed → mean score over the two λ."""
    by_step = scores(column)[panel, variant, method]
    return {seed: statistics.mean(by_step[seed].values()) for seed in sorted(by_step)}


def insensitive(claim):
    """0.02 less what the score differs by."""
    variant = claim[2:].replace("-", "_")
    ours, other = (
        mean_scores("test_score", claim[0], name, "cronus") for name in ("ours", variant)
    )
    return [0.02 - abs(other[seed] - score) for seed, score in ours.items()]


def foretold(claim):
    """Rank correlation over the hyper-parameters that are tuned, each with its other value."""
    both = [
        [mean_scores("valid_score", claim[0], setting, name) for setting in TUNED]
        for name in ("cronus_initial", "cronus")
    ]
    return [correlation(*([one[seed] for one in side] for side in both)) for seed in both[0][0]]
