"""Other libraries' own ways to heed prices: penalties, and LightGBM's early stop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.compare.fitting import named, shape
from experiments.compare.other_libraries import catboost, lightgbm, lightgbm_meter
from experiments.compare.problem import Problem
from experiments.compare.trained import Exits, Trained
from experiments.methods import penalties

_MARGINS = np.geomspace(0.05, 20.0, 12)
_EVERY = (1, 2, 5, 10, 20)


def lightgbm_cegb(problem: Problem, draw: Mapping) -> Trained:
    """Penalise a feature for each row that first needs it ("lazy")."""
    given = penalties.lightgbm_per_row(draw["tradeoff"], problem.feature_costs)
    return lightgbm(problem, draw, **given)


def catboost_first_use(problem: Problem, draw: Mapping) -> Trained:
    """Penalise a feature once, when the model first uses it; λ is that of all rows together."""
    classifies = problem.task == "classification"
    given = draw["tradeoff"], problem.feature_costs, len(problem.fit), classifies
    return catboost(problem, draw, **penalties.catboost_at_first_use(*given))


def catboost_per_object(problem: Problem, draw: Mapping) -> Trained:
    """Penalise a feature for each row that first needs it; no oblivious trees, see penalties."""
    drawn = shape(problem, draw)
    given = penalties.catboost_per_object(
        draw["tradeoff"],
        problem.feature_costs,
        drawn["max_leaves"],
        drawn["min_samples_leaf"],
        problem.task == "classification",
    )
    return catboost(problem, draw, **given)


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
