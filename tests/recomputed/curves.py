"""Curves of score against cost, as the papers' documents describe them ("How a curve is made").

For each budget 10^(i/12) a method's model with the best validation score among those whose mean
validation cost is within the budget counts, with its score and cost on the test set. Models without
a round (constants) are no models: they cost nothing.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

from tests.experiments.published_rows import number

_WORDS = ("panel", "dataset", "algorithm", "method", "variant", "kind", "right")


def pools(rows, name="algorithm", accounting="") -> dict:
    """(panel, method) → seed → models, with cost by one accounting, the best in front.

    Of models that validate equally well the cheaper one is chosen.
    """
    found = defaultdict(lambda: defaultdict(list))
    for row in rows:
        model = {key: number(text) for key, text in row.items() if key not in _WORDS}
        if model["rounds"] > 0 and not math.isnan(model["valid_score"]):
            model |= {part: model[f"{part}{accounting}"] for part in ("valid_cost", "test_cost")}
            model["right"] = row.get("right")  # which test examples are, as bits
            found[row["panel"], row[name]][int(row["seed"])].append(model)
    for by_seed in found.values():
        for pool in by_seed.values():
            pool.sort(key=lambda model: (-model["valid_score"], model["valid_cost"]))
    return found


def by_method(rows, name="algorithm", accounting="") -> dict:
    """Method → seed → models, of rows of one panel."""
    return {method: of_seeds for (_, method), of_seeds in pools(rows, name, accounting).items()}


def by_validation(mine, rival, margin=0.0) -> dict:
    """Seed → the cheapest model that validates as well as the rival's best, that one, and whether.

    If none does, the one that validates best of those that cost no more than the rival's best.
    """
    found = {}
    for seed, pool in sorted(mine.items()):
        end = rival[seed][0]
        good = [model for model in pool if model["valid_score"] >= end["valid_score"] - margin]
        if good:
            first = min(good, key=lambda model: (model["valid_cost"], -model["valid_score"]))
        else:
            first = next(
                (model for model in pool if model["valid_cost"] <= end["valid_cost"]), pool[0]
            )
        found[seed] = first, end, bool(good)
    return found


def decades_saved(mine, end, is_as_good) -> float:
    """By how many decades the one is cheaper; nothing is saved by a model that is not as good."""
    return math.log10(end["test_cost"] / mine["test_cost"]) if is_as_good else 0.0


def together(*by_seed) -> dict:
    """Models of several methods as if they were one's."""
    every = defaultdict(list)
    for one in by_seed:
        for seed, pool in one.items():
            every[seed] += pool
    order = lambda model: (-model["valid_score"], model["valid_cost"])  # noqa: E731
    return {seed: sorted(pool, key=order) for seed, pool in sorted(every.items())}


def budgets(low, high) -> list[float]:
    """Budgets 10^(i/12) from the first that is at least `low` to the first at least `high`."""
    if low > high:
        return []
    first, last = (math.ceil(12 * math.log10(max(v, 1e-6)) - 1e-9) for v in (low, high))
    return [10 ** (i / 12) for i in range(first, last + 1)]


def best_within(pool, budget):
    """The model that counts at a budget; None if there is none."""
    within = budget * (1 + 1e-12)
    return next((model for model in pool if model["valid_cost"] <= within), None)


def pairs(method, rival, ends=min) -> dict[int, list[tuple[dict, dict]]]:
    """For each seed the two models that count at each budget that both methods have on it.

    Up to the dearest model of the one that ends first, or with `ends` max of either: a method keeps
    its best model beyond its dearest one, so there is one budget at least.
    """
    found = {}
    for seed, pool in method.items():
        costs = [[model["valid_cost"] for model in models] for models in (pool, rival[seed])]
        begins = max(map(min, costs))
        common = budgets(begins, max(begins, ends(map(max, costs))))
        found[seed] = [(best_within(pool, b), best_within(rival[seed], b)) for b in common]
    return found


def mean_leads(method, rival, ends=min) -> list[float]:
    """For each seed the area between two curves over the logarithm of cost, by its width."""
    if not method or not rival:
        return []
    return [
        statistics.mean(mine["test_score"] - other["test_score"] for mine, other in each)
        for each in pairs(method, rival, ends).values()
    ]
