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

_WORDS = ("panel", "dataset", "algorithm", "method", "variant", "kind")


def pools(rows, name="algorithm", accounting="") -> dict:
    """(panel, method) → seed → models, with cost by one accounting, the best in front.

    Of models that validate equally well the cheaper one is chosen.
    """
    found = defaultdict(lambda: defaultdict(list))
    for row in rows:
        model = {key: number(text) for key, text in row.items() if key not in _WORDS}
        if model["rounds"] > 0 and not math.isnan(model["valid_score"]):
            model |= {part: model[f"{part}{accounting}"] for part in ("valid_cost", "test_cost")}
            found[row["panel"], row[name]][int(row["seed"])].append(model)
    for by_seed in found.values():
        for pool in by_seed.values():
            pool.sort(key=lambda model: (-model["valid_score"], model["valid_cost"]))
    return found


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


def pairs(method, rival) -> dict[int, list[tuple[dict, dict]]]:
    """For each seed the two models that count at each budget that both methods have on it.

    A method keeps its best model beyond its dearest one, so there is one budget at least.
    """
    found = {}
    for seed, pool in method.items():
        costs = [[model["valid_cost"] for model in models] for models in (pool, rival[seed])]
        begins = max(map(min, costs))
        common = budgets(begins, max(begins, min(map(max, costs))))
        found[seed] = [(best_within(pool, b), best_within(rival[seed], b)) for b in common]
    return found


def leads(method, rival) -> list[list[float]]:
    """For each seed the difference in test score at each budget that both methods have."""
    return [
        [mine["test_score"] - other["test_score"] for mine, other in each]
        for each in pairs(method, rival).values()
    ]


def mean_leads(method, rival) -> list[float]:
    """For each seed the area between two curves over the logarithm of cost, by its width."""
    if not method or not rival:
        return []
    return [statistics.mean(one) for one in leads(method, rival)]


def chosen(by_seed, seed) -> list[dict]:
    """Models of a seed that count at some budget of the method's grid, cheapest budget first."""
    costs = [model["valid_cost"] for pool in by_seed.values() for model in pool]
    models = [best_within(by_seed[seed], b) for b in budgets(min(costs), max(costs))]
    return [model for model in models if model is not None]


def first_as_good(by_seed, seed, score) -> dict | None:
    """The model at the first budget at which a method scores so high on the test set."""
    return next((m for m in chosen(by_seed, seed) if m["test_score"] >= score), None)
