"""Effects on each query, over divisions of all queries; budgets are shares of a baseline's bill."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

from tests.experiments.published_rows import by_seed, mean_of_known, number

UNLIMITED, AS_GOOD = -1.0, 0.0
"""Names of two choices that no budget makes: the best, and the cheapest that validates as well."""


def difference(ours, other, counts):
    """Of each division {query: effect}, of queries that every one has; the mean over budgets."""

    def effects(rows):
        found = []
        for mine in by_seed([row for row in rows if counts(float(row["budget"]))]).values():
            of_query = defaultdict(list)
            for row in mine:
                of_query[row["query"]].append(number(row[ours]) - number(row[other]))
            found.append({query: mean_of_known(each) for query, each in of_query.items()})
        complete = [
            query
            for query in found[0]
            if not any(math.isnan(one.get(query, math.nan)) for one in found)
        ]
        return [{query: one[query] for query in complete} for one in found]

    return effects


def lead(ours, other):
    return difference(ours, other, lambda budget: budget > 0 and budget != 0.5)


def at(ours, other, budget):
    return difference(ours, other, lambda one: math.isclose(one, budget))


def saved(method):
    """Decades less than the baseline, of the cheapest that validates as well, mean over folds."""

    def effects(rows):
        mine = [row for row in rows if math.isclose(float(row["budget"]), AS_GOOD)]
        found = []
        for one in by_seed(mine).values():
            costs = {row["fold"]: number(row[f"{method}_cost"]) for row in one}
            saved = (0.0 if math.isnan(cost) else -math.log10(cost) for cost in costs.values())
            found.append(statistics.mean(saved))
        return found

    return effects
