"""Boosted trees that rows leave early as methods."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from algorithms.early_exit import EarlyExit
from experiments.methods.boosted import fitted_gbrt
from experiments.methods.fitting import named, pick, shape
from experiments.methods.method import RANKED, our_method
from experiments.methods.problem import Problem
from experiments.methods.trained import Models, Trained

_N_THRESHOLDS = 12
_DISTANCES = (1, 2, 5, 10, 20)


def exits(model, parameters: Mapping, rule: str, every: int, thresholds) -> Trained:
    """Give boosted trees that rows leave early; the cuts are thresholds."""
    options = {"rule": rule, "every": every}
    cuts = [float(f"{t:.6g}") for t in thresholds] if model.n_estimators_ else []
    return Models(
        lambda cut: EarlyExit(model, threshold=cut, **options),
        cuts,
        {**parameters, **options},
        True,
    )


@our_method(RANKED, allow_nan=False, ranks_within_queries=True, gives="scores")
def early_exit(problem: Problem, draw: Mapping) -> Trained:
    """Train without prices, and let rows leave at thresholds."""
    model, options = fitted_gbrt(problem, draw), named(problem, draw, shape(problem, draw))
    every = pick(_DISTANCES, draw["u"][4])
    every = min(every, max(1, model.n_estimators_))
    if problem.task == "ranking":
        spread = float(np.std(problem.parts["train"].y))
        thresholds = spread * np.geomspace(0.01, 10, _N_THRESHOLDS)
        return exits(model, options, "proximity", every, thresholds)
    least = 1 / len(model.classes_)
    shares = 1 - np.geomspace(0.001, 0.98, _N_THRESHOLDS)
    return exits(model, options, "likelihood", every, least + (1 - least) * shares)
