"""The suite's own boosted trees as methods: CEGB, Greedy Miser, GBRT, early exits from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from experiments.compare.by_sets import takes_categories
from experiments.compare.fitting import fitted, named, one_of, shape
from experiments.compare.problem import Problem
from experiments.compare.trained import Exits, Rounds, Trained

_N_THRESHOLDS = 12
_EXIT_DISTANCES = (1, 2, 5, 10, 20)


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


def _gbrt_model(problem: Problem, draw: Mapping):
    kind = one_of(problem, GBRTClassifier, GBRTRegressor)
    return fitted(kind(**shape(problem, draw), **_given(problem)), problem, draw)


@takes_categories
def gbrt(problem: Problem, draw: Mapping) -> Trained:
    """Train without prices."""
    return Rounds(_gbrt_model(problem, draw), named(problem, draw, shape(problem, draw)))


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


def early_exit(problem: Problem, draw: Mapping) -> Trained:
    """Train without prices, and let rows leave at thresholds."""
    model, options = _gbrt_model(problem, draw), named(problem, draw, shape(problem, draw))
    every = _EXIT_DISTANCES[min(int(draw["u"][4] * len(_EXIT_DISTANCES)), 4)]
    every = min(every, max(1, model.n_estimators_))
    if problem.task == "ranking":
        spread = float(np.std(problem.parts["train"].y))
        thresholds = spread * np.geomspace(0.01, 10, _N_THRESHOLDS)
        return Exits(model, options, "proximity", every, thresholds)
    least = 1 / len(model.classes_)
    shares = 1 - np.geomspace(0.001, 0.98, _N_THRESHOLDS)
    return Exits(model, options, "likelihood", every, least + (1 - least) * shares)
