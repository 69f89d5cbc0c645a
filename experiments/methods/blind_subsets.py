"""Feature subsets as methods: features are taken first, boosted trees then know nothing of costs.

How much is spent is drawn, from the cheapest feature to all of them, evenly in logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.methods.boosted import gbrt
from experiments.methods.fitting import further, log_between
from experiments.methods.method import our_method
from experiments.methods.problem import Problem
from experiments.methods.subsets import price_of, prices_of, within_budget
from experiments.methods.trained import Trained


@our_method(chooses_features=True, takes_categories=True)
def blind_subset(problem: Problem, draw: Mapping) -> Trained:
    """Take what tells most, whatever it costs, as long as it is within what was drawn."""
    return _on_subset(problem, draw, exponent=0.0)


@our_method(chooses_features=True, takes_categories=True)
def priced_subset(problem: Problem, draw: Mapping) -> Trained:
    """Take what tells most for its price."""
    return _on_subset(problem, draw, exponent=1.0)


def _on_subset(problem: Problem, draw: Mapping, exponent: float) -> Trained:
    prices = prices_of(problem)
    d = len(problem.names)
    each = [price_of(prices, [m]) for m in range(d)]
    most, least = price_of(prices, np.arange(d)), min(p for p in each if p > 0)
    budget = log_between(further(draw, 1)[0], least, most)
    columns = within_budget(problem, budget * (1 + 1e-9), exponent, None)
    return gbrt(problem, {**draw, "columns": columns})
