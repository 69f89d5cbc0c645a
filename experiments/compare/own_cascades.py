"""The suite's cascades of trees as methods: Cronus, Raykar's soft cascade, AND-OR.

They tell two classes apart. Of a ranking they are given whether a row is relevant, and rank by how
far a row comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.cronus import CronusClassifier
from algorithms.gbrt import GBRTRegressor
from algorithms.raykar_cascade import RaykarCascadeClassifier
from experiments.compare.fitting import further, log_between, named, shape
from experiments.compare.problem import Problem
from experiments.compare.subsets import prices_of
from experiments.compare.trained import Trained
from experiments.compare.two_classes import Cascade, fitted_to_two

_MOST_TREES = 100  # a cascade weighs all of them anew in each of its steps
_MOST_STAGES = 5
_POSITIVE_WEIGHTS = (1.0, 2.0, 3.5)


def _trees(problem: Problem, draw: Mapping) -> tuple[GBRTRegressor, dict[str, Any]]:
    options = shape(problem, draw)
    options["n_estimators"] = min(options["n_estimators"], _MOST_TREES)
    return GBRTRegressor(**options, n_threads=1), options


def _trained(kind: type, problem: Problem, draw: Mapping, own: dict[str, Any]) -> Trained:
    trees, options = _trees(problem, draw)
    model = kind(trees, **own, **problem.prices, tree_cost=0.0, n_threads=1)
    fitted_to_two(model, problem, draw)
    return Cascade(model, named(problem, draw, {**options, **own}))


def cronus(problem: Problem, draw: Mapping) -> Trained:
    """Train Cronus with the λ of the draw."""
    u = further(draw, 3)
    own = {
        "n_stages": 1 + round(u[0] * (_MOST_STAGES - 1)),
        "tradeoff": draw["tradeoff"],
        "penalty": float(f"{log_between(u[1], 1e-5, 1e-2):.4g}"),
        "positive_weight": _one_of(u[2]),
    }
    return _trained(CronusClassifier, problem, draw, own)


def raykar(problem: Problem, draw: Mapping) -> Trained:
    """Train Raykar's soft cascade with the λ of the draw."""
    u = further(draw, 3)
    own = {
        "price_limits": price_limits(problem, u[0]),
        "tradeoff": draw["tradeoff"],
        "ridge": float(f"{log_between(u[1], 1e-5, 1e-1):.4g}"),
        "positive_weight": _one_of(u[2]),
    }
    return _trained(RaykarCascadeClassifier, problem, draw, own)


def and_or(problem: Problem, draw: Mapping) -> Trained:
    """Train AND-OR, in which costs enter by the stages alone."""
    u = further(draw, 3)
    own = {
        "price_limits": price_limits(problem, u[0]),
        "ridge": float(f"{log_between(u[1], 1e-4, 1.0):.4g}"),
        "positive_weight": _one_of(u[2]),
    }
    return _trained(AndOrCascadeClassifier, problem, draw, own)


def _one_of(u: float) -> float:
    return _POSITIVE_WEIGHTS[min(int(u * len(_POSITIVE_WEIGHTS)), len(_POSITIVE_WEIGHTS) - 1)]


def price_limits(problem: Problem, u: float) -> list[float]:
    """Give what features may cost at each stage: two stages to five, by quantiles of the prices."""
    prices = prices_of(problem)
    each = prices.shared[prices.unit] + prices.own
    n_stages = 2 + round(u * (_MOST_STAGES - 2))
    shares = np.linspace(0, 1, n_stages + 1)[1:]
    return np.unique(np.quantile(each, shares, method="higher")).tolist()
