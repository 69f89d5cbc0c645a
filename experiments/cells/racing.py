"""Times the training of several models against each other, in turn in one process."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping

import numpy as np

from algorithms.estimators.fitting import ConstantModelWarning
from experiments.cell import Cell

REPEATS = 3
"""Fits of each model; the median counts."""


def race(models: Mapping, X: np.ndarray, y: np.ndarray, **options) -> dict[str, float]:
    """Train each model :data:`REPEATS` times, in an order that turns round each time."""
    seconds = {name: [] for name in models}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        for model in models.values():  # compiles
            n_estimators = model.n_estimators
            model.set_params(n_estimators=2).fit(X, y, **options)
            model.set_params(n_estimators=n_estimators)
        for turn in range(REPEATS):
            for name in sorted(models, reverse=turn % 2 == 1):
                start = time.perf_counter()
                models[name].fit(X, y, **options)
                seconds[name].append(time.perf_counter() - start)
    return {name: float(f"{np.median(each):.4g}") for name, each in seconds.items()}


def raced(cell: Cell, models: Mapping, dataset, **options) -> list[dict]:
    """Train a cell's models several times, see :func:`race`.

    Returns
    -------
    list of dict
        One row per method: ``method``, ``tradeoff``, ``n_splits`` (split nodes of the model) and,
        measured, ``fit_seconds`` (median of the fits, arrays to model, compiling excluded).
    """
    seconds = race(models, dataset.X_train, dataset.y_train, **options)
    return [
        {
            "method": name,
            "tradeoff": cell.params["tradeoff"],
            "n_splits": n_splits(model),
            "fit_seconds": seconds[name],
        }
        for name, model in models.items()
    ]


def n_splits(model) -> int:
    """Return how many split nodes a fitted model has."""
    return int(np.count_nonzero(model.trees_.feature >= 0))
