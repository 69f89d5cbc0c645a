"""The suite's cascades of trees as methods: Cronus, Raykar's soft cascade, AND-OR.

They tell two classes apart. Of a ranking they are given whether a row is relevant, and rank by how
far a row comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.cronus import CronusClassifier
from algorithms.gbrt import GBRTRegressor
from algorithms.raykar_cascade import RaykarCascadeClassifier
from experiments.methods import facts
from experiments.methods.fitting import drawn_between, further, named, pick, shape
from experiments.methods.problem import Problem
from experiments.methods.subsets import price_alone
from experiments.methods.trained import Trained
from experiments.methods.two_classes import alone, cascade, fitted_to_two

_MOST_TREES = 100  # a cascade weighs all of them anew in each of its steps
_MOST_STAGES = 5
_POSITIVE_WEIGHTS = (1.0, 2.0, 3.5)


def _trained(kind: type, problem: Problem, draw: Mapping, stages, penalty) -> Trained:
    """Train a cascade of few trees: `stages` of a number drawn, `penalty` a name and its range."""
    u, options = further(draw, 3), shape(problem, draw)
    options["n_estimators"] = min(options["n_estimators"], _MOST_TREES)
    own = stages(u[0]) | ({"tradeoff": draw["tradeoff"]} if "tradeoff" in draw else {})
    name, *ends = penalty
    own |= {name: drawn_between(u[1], *ends), "positive_weight": pick(_POSITIVE_WEIGHTS, u[2])}
    trees = GBRTRegressor(**options, n_threads=1)
    model = kind(trees, **own, **problem.prices, tree_cost=0.0, n_threads=1)
    fitted_to_two(model, problem, draw)
    return alone(model, named(problem, draw, {**options, **own}))


@cascade(has_tradeoff=True)
def cronus(problem: Problem, draw: Mapping) -> Trained:
    """Train Cronus with the λ of the draw."""

    def stages(u: float) -> dict[str, Any]:
        return {"n_stages": 1 + round(u * (_MOST_STAGES - 1))}

    return _trained(CronusClassifier, problem, draw, stages, ("penalty", 1e-5, 1e-2))


@cascade(has_tradeoff=True, unfit=facts.stages_by_price)
def raykar_cascade(problem: Problem, draw: Mapping) -> Trained:
    """Train Raykar's soft cascade with the λ of the draw."""
    stages = partial(price_limits, problem)
    return _trained(RaykarCascadeClassifier, problem, draw, stages, ("ridge", 1e-5, 1e-1))


@cascade(unfit=facts.stages_by_price)
def and_or_cascade(problem: Problem, draw: Mapping) -> Trained:
    """Train AND-OR, in which costs enter by the stages alone."""
    stages = partial(price_limits, problem)
    return _trained(AndOrCascadeClassifier, problem, draw, stages, ("ridge", 1e-4, 1.0))


def price_limits(problem: Problem, u: float) -> dict[str, list[float]]:
    """Give what features may cost at each stage: two stages to five, by quantiles of the prices."""
    n_stages = 2 + round(u * (_MOST_STAGES - 2))
    shares = np.linspace(0, 1, n_stages + 1)[1:]
    limits = np.unique(np.quantile(price_alone(problem), shares, method="higher"))
    return {"price_limits": limits.tolist()}
