"""Cascades, which tell two classes apart, as methods for classes and for rankings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from experiments.methods.fitting import features
from experiments.methods.method import RANKED, our_method
from experiments.methods.problem import Part, Problem
from experiments.methods.trained import Trained

cascade = partial(our_method, RANKED, allow_nan=False, most_classes=2, ranks_within_queries=True)
"""Make the function below it a method that is a cascade."""


def relevant(grades: np.ndarray) -> np.ndarray:
    """Say which rows of a ranking are relevant: the cut between grades nearest to halves."""
    values, counts = np.unique(grades, return_counts=True)
    below = np.cumsum(counts)[:-1]
    return grades >= values[1 + int(np.argmin(np.abs(below - len(grades) / 2)))]


def fitted_to_two(model, problem: Problem, draw: Mapping):
    """Fit a classifier to two classes, or to what is relevant."""
    part = problem.fit
    y = relevant(part.y) if problem.task == "ranking" else part.y
    return model.fit(features(problem, draw), y, sample_weight=problem.fit_weight())


def answers(model, part: Part) -> np.ndarray:
    """Give a cascade's classes, or what it ranks by."""
    if part.query is None:
        return model.predict(part.X)
    return model.ranking_score(part.X, part.query)


class Cascade(Trained):
    """One cascade; its only cut is how it was trained."""

    def __init__(self, model, parameters: Mapping) -> None:
        self._model, self.cuts, self.parameters = model, [0.0], dict(parameters)

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield what it says of the rows, and what they pay."""
        for cut in self.cuts:
            model = self.model(cut)
            yield answers(model, part), model.prediction_cost(part.X)

    def only(self, cut: float) -> None:
        """Keep a cut, whatever its number."""
        self.cuts = [cut] if self.cuts else []

    def model(self, cut: float):
        """Give the cascade."""
        return self._model


class Cascades(Cascade):
    """Cascades that come of one training: `made` gives the one at a cut."""

    def __init__(self, made, cuts: Sequence[float], parameters: Mapping) -> None:
        self._made, self.cuts, self.parameters = made, list(cuts), dict(parameters)

    def model(self, cut: float):
        """Give the cascade at a cut."""
        return self._made(cut)
