"""The suite's own boosted trees as methods: CEGB, Greedy Miser, GBRT."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.methods.by_sets import takes_categories
from experiments.methods.fitting import fitted, named, shape
from experiments.methods.method import our_method
from experiments.methods.problem import Problem
from experiments.methods.trained import Rounds, Trained
from experiments.methods.trees import paid_once, unfitted


@our_method(has_tradeoff=True, takes_categories=True)
@takes_categories
def cegb(problem: Problem, draw: Mapping) -> Trained:
    """Train CEGB with the λ of the draw."""
    options = shape(problem, draw) | {"tradeoff": draw["tradeoff"]}
    return Rounds(fitted_cegb(problem, draw, options), named(problem, draw, options))


def _fitted(slug: str, problem: Problem, draw: Mapping, options: Mapping):
    features = {**problem.prices, "categorical_features": problem.categorical}
    return fitted(unfitted(slug, problem.task, **features | options), problem, draw)


def fitted_cegb(problem: Problem, draw: Mapping, options: Mapping):
    """Fit CEGB; what `options` say of prices goes before the problem's."""
    return _fitted("cegb", problem, draw, options)


def fitted_gbrt(problem: Problem, draw: Mapping):
    """Fit trees that know no prices."""
    return _fitted("gbrt", problem, draw, shape(problem, draw))


@our_method(takes_categories=True)
@takes_categories
def gbrt(problem: Problem, draw: Mapping) -> Trained:
    """Train without prices."""
    return Rounds(fitted_gbrt(problem, draw), named(problem, draw, shape(problem, draw)))


@our_method(has_tradeoff=True, has_budget=True, takes_categories=True)
@takes_categories
def greedy_miser(problem: Problem, draw: Mapping) -> Trained:
    """Train a model that pays once for all rows: their price of cost together.

    A budget is what its features may cost together. No row pays for more; trees are free, as they
    are for the meter.
    """
    options = shape(problem, draw)
    options["max_depth"] = max(2, round(np.log2(options.pop("max_leaves"))))
    options["tradeoff"] = paid_once(draw["tradeoff"], len(problem.fit))
    if "budget" in draw:
        options |= {"budget": draw["budget"], "tree_cost": 0.0}
    return Rounds(_fitted("greedy_miser", problem, draw, options), named(problem, draw, options))
