"""The suite's own boosted trees as methods: CEGB, Greedy Miser, GBRT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from experiments.methods.by_sets import takes_categories
from experiments.methods.fitting import fitted, named, one_of, shape
from experiments.methods.method import our_method
from experiments.methods.problem import Problem
from experiments.methods.trained import Rounds, Trained


@our_method(has_tradeoff=True, takes_categories=True)
@takes_categories
def cegb(problem: Problem, draw: Mapping) -> Trained:
    """Train CEGB with the λ of the draw."""
    kind = one_of(problem, CEGBClassifier, CEGBRegressor)
    options = shape(problem, draw) | {"tradeoff": draw["tradeoff"]}
    model = fitted(kind(**options, **_given(problem)), problem, draw)
    return Rounds(model, named(problem, draw, options))


def _given(problem: Problem) -> dict[str, Any]:
    """Give what a problem says of its features, as parameters."""
    categorical = {"categorical_features": problem.categorical}
    return {**problem.prices, **categorical, "n_threads": 1}


def fitted_gbrt(problem: Problem, draw: Mapping):
    """Fit trees that know no prices."""
    kind = one_of(problem, GBRTClassifier, GBRTRegressor)
    return fitted(kind(**shape(problem, draw), **_given(problem)), problem, draw)


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
    kind = one_of(problem, GreedyMiserClassifier, GreedyMiserRegressor)
    options = shape(problem, draw)
    options["max_depth"] = max(2, round(np.log2(options.pop("max_leaves"))))
    options["tradeoff"] = draw["tradeoff"] * len(problem.fit)
    if "budget" in draw:
        options |= {"budget": draw["budget"], "tree_cost": 0.0}
    unfitted = kind(**options, **_given(problem), init="zero")  # as its paper
    model = fitted(unfitted, problem, draw)
    return Rounds(model, named(problem, draw, options))
