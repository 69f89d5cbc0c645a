"""Times the training of several models against each other, in turn in one process."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping

import numpy as np

from algorithms.estimators.fitting import ConstantModelWarning

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


def n_splits(model) -> int:
    """Return how many split nodes a fitted model has."""
    return int(np.count_nonzero(model.trees_.feature >= 0))
