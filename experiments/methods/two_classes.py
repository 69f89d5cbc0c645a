"""Cascades, which tell two classes apart, as methods for classes and for rankings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from experiments.methods.fitting import fitted
from experiments.methods.method import RANKED, our_method
from experiments.methods.problem import Problem
from experiments.methods.trained import Models, Trained

cascade = partial(
    our_method, RANKED, allow_nan=False, most_classes=2, ranks_within_queries=True, gives="scores"
)
"""Make the function below it a method that is a cascade."""


def relevant(grades: np.ndarray) -> np.ndarray:
    """Say which rows of a ranking are relevant: the cut between grades nearest to halves."""
    values, counts = np.unique(grades, return_counts=True)
    below = np.cumsum(counts)[:-1]
    return grades >= values[1 + int(np.argmin(np.abs(below - len(grades) / 2)))]


def fitted_to_two(model, problem: Problem, draw: Mapping):
    """Fit a classifier to two classes, or to what is relevant."""
    y = problem.fit.y
    return fitted(model, problem, draw, relevant(y) if problem.task == "ranking" else y)


def alone(model, parameters: Mapping) -> Trained:
    """Give a cascade whose only cut is how it was trained."""
    return Models(lambda cut: model, [0.0], parameters)
