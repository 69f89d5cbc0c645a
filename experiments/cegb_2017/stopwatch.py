"""Times the training of CEGB against that of plain gradient boosting, in turn in one process."""

from __future__ import annotations

import time
import warnings

import numpy as np

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from experiments.artefact import Cell

REPEATS = 3
"""Fits of each method; the median counts."""


def make_pair(cell: Cell, dataset) -> dict:
    """Return the unfitted estimators of a cell: the same trees, with and without costs.

    Parameters
    ----------
    cell : Cell
        ``settings`` and ``tradeoff``.
    dataset : Dataset
        Its costs enter CEGB's training.
    """
    given = cell.params["settings"]
    shape = ("n_estimators", "learning_rate", "max_leaves", "max_depth", "min_samples_leaf")
    settings = {name: given[name] for name in (*shape, "growth")}
    settings |= {"feature_groups": dataset.feature_groups, "n_threads": 1}
    ranking = dataset.task == "ranking"
    costs = {
        "tradeoff": cell.params["tradeoff"],
        "feature_costs": dataset.feature_costs,
        "split_cost": given["split_cost"],
    }
    return {
        "gbrt": (GBRTRegressor if ranking else GBRTClassifier)(**settings),
        "cegb": (CEGBRegressor if ranking else CEGBClassifier)(**settings, **costs),
        "cegb_all_splits": (CEGBRegressor if ranking else CEGBClassifier)(
            **settings, **costs, stop_on_negative_gain=False
        ),
    }


def race(cell: Cell, dataset) -> list[dict]:
    """Train each method :data:`REPEATS` times, in an order that turns round each time.

    Returns
    -------
    list of dict
        One row per method: ``method``, ``n_splits`` (split nodes of the model) and, measured,
        ``fit_seconds`` (median of the fits, arrays to model, compiling excluded).
    """
    X, y = dataset.X_train, dataset.y_train
    models = make_pair(cell, dataset)
    seconds = {name: [] for name in models}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No split is worth its cost")
        for model in models.values():  # compiles
            n_estimators = model.n_estimators
            model.set_params(n_estimators=2).fit(X, y)
            model.set_params(n_estimators=n_estimators)
        for turn in range(REPEATS):
            for name in sorted(models, reverse=turn % 2 == 1):
                start = time.perf_counter()
                models[name].fit(X, y)
                seconds[name].append(time.perf_counter() - start)
    return [
        {
            "method": name,
            "tradeoff": cell.params["tradeoff"],
            "n_splits": int(np.count_nonzero(models[name].trees_.feature >= 0)),
            "fit_seconds": float(f"{np.median(seconds[name]):.4g}"),
        }
        for name in models
    ]
