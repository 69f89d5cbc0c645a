"""Effects of the claims on Cronus, from the words of its README and of the claims."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

from tests.experiments.published_rows import by_seed
from tests.recomputed import curves, divisions

# Each claim is asked of windows, of which curves are drawn, and of queries, which are divided.


def is_divided(rows):
    return "query" in rows[0]


def pools_of(rows):
    """Models by the paper's bill; an early exit may be endless, so its pool has GBRT's, too."""
    pools = curves.by_method(rows, "method", "_paper")
    rules = [pool for name, pool in pools.items() if name.startswith("early_exit_")]
    pools["early_exit"] = curves.together(*rules, pools["gbrt"])
    return pools


def ahead(better, worse):
    def effects(rows):
        if is_divided(rows):
            return divisions.lead(better, worse)(rows)
        pools = pools_of(rows)
        return curves.mean_leads(pools[better], pools[worse], ends=max)

    return effects


def of_the_cheapest(on_queries, effect):
    """An effect of the cheapest model that validates within .01 of GBRT's best, and of that one."""

    def effects(rows):
        if is_divided(rows):
            return on_queries(rows)
        pools = pools_of(rows)
        both = curves.by_validation(pools["cronus"], pools["gbrt"], 0.01)
        return [effect(*pair) for pair in both.values()]

    return effects


def cascades(rows):
    """Per seed: method → lines about stages (price -1) and about stage and price."""
    stages = [row for row in rows if int(row["stage"]) > 0]
    return [
        {
            name: [row for row in mine if row["method"] == name]
            for name in ("cronus", "cronus_initial")
        }
        for mine in by_seed(stages).values()
    ]


def of_stages(rows):
    return [row for row in rows if float(row["price"]) < 0]


def rejects_earlier(rows):
    def remaining(mine):
        return statistics.mean(float(r["hard"]) for r in of_stages(mine) if int(r["stage"]) > 1)

    return [
        remaining(both["cronus_initial"]) - remaining(both["cronus"]) for both in cascades(rows)
    ]


def cheap_first(rows):
    """Share bought in the first stage with trees, of cheap less of dear features bought at all.

    Cheap is up to a fortieth of the highest price, dear from a tenth on. A cascade with one stage
    that has trees has no order, and one that buys none of a kind neither: 0.
    """
    found, top = [], max(float(row["price"]) for row in rows)
    for both in cascades(rows):
        live = [int(row["stage"]) for row in of_stages(both["cronus"]) if int(row["n_trees"])]
        if len(live) < 2:
            found.append(0.0)
            continue
        at_once, at_all = defaultdict(int), defaultdict(int)
        for row in both["cronus"]:
            price, bought = float(row["price"]), int(row["n_features"])
            if price >= 0:
                at_all[price] = max(at_all[price], bought)
                at_once[price] += bought * (int(row["stage"]) == min(live))
        shares = []
        for group in (lambda p: p <= top / 40), (lambda p: p >= top / 10):
            prices = [price for price in at_all if group(price)]
            total = sum(at_all[p] for p in prices)
            shares.append(sum(at_once[p] for p in prices) / total if total else math.nan)
        found.append(0.0 if math.isnan(sum(shares)) else shares[0] - shares[1])
    return found


def across(first, last):
    """Score of one choice above that of another, each the mean over λ."""

    def effects(rows):
        scores = defaultdict(list)
        for row in rows:
            if row["method"] == "cronus":
                scores[row["variant"], int(row["seed"])].append(float(row["test_score"]))
        means = {key: statistics.mean(each) for key, each in scores.items()}
        return [means[last, seed] - means[first, seed] for name, seed in means if name == first]

    return effects


CLAIMS = {
    "cronus-cheaper": of_the_cheapest(
        divisions.saved("cronus"),
        curves.decades_saved,
    ),
    "cronus-marginal-loss": of_the_cheapest(
        divisions.at("cronus", "gbrt", divisions.AS_GOOD),
        lambda mine, end, _: mine["test_score"] - end["test_score"],
    ),
    "cronus-single-above-gbrt": ahead("single_stage", "gbrt"),
    "cronus-initial-above-single": ahead("cronus_initial", "single_stage"),
    "cronus-optimised-above-initial": ahead("cronus", "cronus_initial"),
    "cronus-initial-above-exit": ahead("cronus_initial", "early_exit"),
    "cronus-above-raykar": ahead("cronus", "raykar_cascade"),
    "cronus-above-and-or": ahead("cronus", "and_or_cascade"),
    "cronus-rejects-earlier": rejects_earlier,
    "cronus-cheap-first": cheap_first,
    "cronus-insensitive-stages": across("stages_5", "stages_20"),
    "cronus-insensitive-rejection": across("rejection_0.05", "rejection_0.3"),
}
