"""Other libraries' own ways to heed prices: CatBoost's penalties, LightGBM's early stop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.compare.fitting import named, shape
from experiments.compare.other_libraries import catboost, lightgbm_meter
from experiments.compare.problem import Problem
from experiments.compare.trained import Exits, Trained

_MARGINS = np.geomspace(0.05, 20.0, 12)
_EVERY = (1, 2, 5, 10, 20)


def catboost_first_use(problem: Problem, draw: Mapping) -> Trained:
    """Penalise a feature once, when the model first uses it; λ is that of all rows together."""
    return catboost(
        problem,
        draw,
        score_function="L2",
        first_feature_use_penalties=problem.feature_costs.tolist(),
        penalties_coefficient=draw["tradeoff"] * len(problem.fit),
    )


def catboost_per_object(problem: Problem, draw: Mapping) -> Trained:
    """Penalise a feature for each row that first needs it."""
    return catboost(
        problem,
        draw,
        score_function="L2",
        per_object_feature_penalties=problem.feature_costs.tolist(),
        penalties_coefficient=draw["tradeoff"],
    )


def lightgbm_early_stop(problem: Problem, draw: Mapping) -> Trained:
    """Let rows leave as LightGBM's ``pred_early_stop`` does, for each margin of a list.

    A row leaves after every so many trees if twice the size of its score is above the margin,
    which for two classes is a likelihood: 1 / (1 + exp(-margin / 2)).
    """
    meter = lightgbm_meter(problem, draw)
    every = _EVERY[min(int(draw["u"][4] * len(_EVERY)), len(_EVERY) - 1)]
    every = min(every, max(1, meter.n_estimators_))
    parameters = named(problem, draw, shape(problem, draw))
    return Exits(meter, parameters, "likelihood", every, likelihoods(_MARGINS))


def likelihoods(margins: np.ndarray) -> np.ndarray:
    """Give the likelihood of the larger of two classes at a margin of LightGBM's."""
    return 1.0 / (1.0 + np.exp(-np.asarray(margins) / 2.0))
