"""MDDAG trained otherwise than in Figure 2, at a few β on one pool of base classifiers."""

from __future__ import annotations

import math
import time

import numpy as np

from algorithms.kernels.decorators import kernel
from experiments.cell import Cell, rounded
from experiments.mddag_2012.cells.dags import unfitted
from experiments.mddag_2012.cells.operating import Scored, measured
from experiments.mddag_2012.cells.paths import node_lists
from experiments.mddag_2012.cells.shares import NORMALISED, as_asked
from experiments.mddag_2012.cells.windows import Windows, boosted, windows_of


@kernel
def tie_is_right(scores, label):
    """0-1 loss as printed: wrong only if the margin is below 0."""
    margin = scores[0] if label == 1 else -scores[0]
    return 1.0 if margin < 0.0 else 0.0


@kernel
def literal_exponential(scores, label):
    """Exponential loss as printed, exp(f_2 - f_1) with f_2 = -f_1: the square of the usual one."""
    margin = scores[0] if label == 1 else -scores[0]
    return math.exp(min(-2.0 * margin, 13.0))


VARIANTS = {
    "ours": {},
    "bins_11": {"n_bins": 11},
    "bins_101": {"n_bins": 101},
    "negative_weight_5": {"negative_weight": 5.0},
    "running": {"normalisation": "running"},
    "tie_is_right": {"reward": tie_is_right},
    "rate_0.02": {"learning_rate": 0.02},
    "rate_decreasing": {"rate_schedule": "decreasing"},
    "by_accuracy": {"select": "accuracy"},
    "q_lambda": {"update": "q"},
    "descent": {"solver": "descent"},
    "descent_from_sarsa": {"solver": "descent", "start": "sarsa"},
    "exponential": {"reward": "exponential"},
    "exponential_0.02": {"reward": "exponential", "learning_rate": 0.02},
    "exponential_of_shares": {"reward": "exponential", NORMALISED: True},
    "exponential_of_shares_0.02": {
        "reward": "exponential",
        "learning_rate": 0.02,
        NORMALISED: True,
    },
    "literal_exponential": {"reward": literal_exponential},
    "gaussians": {"value_function": "gaussians"},
}
"""Variant to the parameters of the estimator that it changes."""


def varied(cell: Cell, dataset) -> list[dict]:
    """Train every variant at every β, and measure them all alike."""
    train = windows_of(dataset, "train")
    pool, used = boosted(train, cell.params["n_estimators"])
    train, test = train.of_columns(used), windows_of(dataset, "test").of_columns(used)
    rows = []
    for variant in cell.params["variants"]:
        asked, options = as_asked(pool, VARIANTS[variant])
        for setting, beta in enumerate(cell.params["betas"]):
            model = unfitted(cell, asked, beta=beta, **options)
            begun = time.process_time()
            model.fit(train.X, train.y)
            rows.append(
                {
                    "panel": cell.params["panel"],
                    "variant": variant,
                    "setting": setting,
                    "tradeoff": rounded(beta),
                    **_measured(model, train, test),
                    "fit_seconds": time.process_time() - begun,
                }
            )
    return rows


def _measured(model, train: Windows, test: Windows) -> dict:
    values, seen = {}, []
    for name, part in (("train", train), ("test", test)):
        scores, evaluated = model.decision_function(part.X), model.evaluations(part.X)
        margins = np.where(part.y == model.classes_[1], scores, -scores)
        wrong = float(np.mean(margins <= 0))
        values[f"{name}_error"] = rounded(wrong)
        values[f"{name}_evaluations"] = rounded(float(np.mean(evaluated)))
        values[f"{name}_objective"] = rounded(wrong + model.beta * float(np.mean(evaluated)))
        seen.append(Scored(scores, evaluated, part.background))
    values["test_tpr_05"] = rounded(measured(*seen)["test_tpr_05"])
    values["n_paths"] = len(set(node_lists(model.classification_path(train.X))))
    return values
