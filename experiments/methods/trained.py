"""Trained models and the cuts at which they can be used.

A cut costs no further training: after how many rounds a model is stopped, or with which threshold
rows leave it. Each trial is measured at all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from experiments.evaluate import fibonacci_rounds, follow
from experiments.methods.problem import Part


class Trained:
    """A trained model and its cuts.

    Attributes
    ----------
    cuts : list of float
        Rounds or thresholds; empty if the model is constant.
    parameters : dict
        What was drawn, as the method calls it.
    """

    cuts: list[float]
    parameters: dict[str, Any]

    def only(self, cut: float) -> None:
        """Keep one cut, chosen of a model that was trained with the same draw on other rows."""
        self.cuts = [cut] if self.cuts else []

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield predictions and costs of the rows at each cut."""
        raise NotImplementedError

    def model(self, cut: float):
        """Give the model at a cut, to be saved and used."""
        raise NotImplementedError


class Rounds(Trained):
    """Boosted trees, ours or another library's under our meter, after some of their rounds."""

    def __init__(self, model, parameters: Mapping) -> None:
        self._model, self.parameters = model, dict(parameters)
        sizes = np.diff(model.trees_.tree).reshape(-1, len(model.initial_scores_))
        with_splits = 1 + np.flatnonzero((sizes > 1).any(axis=1))
        self.cuts = []
        if len(with_splits):
            self.cuts = fibonacci_rounds(int(with_splits[-1]), int(with_splits[0]))

    def only(self, cut: float) -> None:
        """Keep one cut; a model with fewer rounds is taken whole, one without a split by then not.

        Parameters
        ----------
        cut : float
            Rounds.
        """
        if self.cuts:
            self.cuts = [min(int(cut), self.cuts[-1])] if cut >= self.cuts[0] else []

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield predictions and costs at each cut."""
        return follow(self._model, part.X, self.cuts)

    def model(self, cut: float):
        """Give the model as it was after so many rounds."""
        model = self._model.first_rounds(int(cut))
        model.n_threads = None  # whoever uses it may have all of them
        return model


class Models(Trained):
    """Models that come of one training: `made` gives the one at a cut.

    Where rows rank, the models do by ``ranking_score``; `as_queries` says that their bills differ
    by query, too.
    """

    def __init__(self, made, cuts: Iterable[float], parameters: Mapping, as_queries=False) -> None:
        self.model, self.cuts, self.parameters = made, list(cuts), dict(parameters)
        self._as_queries = as_queries

    def follow(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield predictions and costs at each cut."""
        query = () if part.query is None else (part.query,)
        for cut in self.cuts:
            model = self.model(cut)
            predict = model.ranking_score if query else model.predict
            bill = model.prediction_cost(part.X, *query if self._as_queries else ())
            yield predict(part.X, *query), bill
