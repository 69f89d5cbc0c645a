"""What is kept of the models of a fold, and how validation chooses among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Measured:
    """A model on one part: a score for each query, NaN without a relevant document, and the bill.

    Attributes
    ----------
    scores : (n_queries,) float64
        NDCG@5.
    bill : float
        The paper's, mean over documents, in the unit of the prices.
    trees : float
        What of it trees cost, the rest being features; NaN where nobody asks.
    capped : bool
        Whether its optimisation was stopped before its end.
    """

    scores: np.ndarray
    bill: float
    trees: float = np.nan
    capped: bool = False


Models = dict[tuple, dict[str, Measured]]
"""Setting and length to what the model is on ``valid`` and ``test``."""


@dataclass(frozen=True)
class Pool:
    """What a method may be on a fold, with pooled validation scores and bills."""

    keys: list[tuple]  # Setting and length
    scores: np.ndarray
    bills: np.ndarray

    def best_within(self, budget: float) -> tuple | None:
        """Return the best by validation within a budget, the cheaper of equals; None: no model."""
        within = np.flatnonzero(self.bills <= budget * (1 + 1e-12))
        if not within.size:
            return None
        return self.keys[within[np.lexsort((self.bills[within], -self.scores[within]))[0]]]

    def as_good(self, score: float, bill: float) -> tuple[tuple | None, bool]:
        """Return the cheapest that validates no worse than `score`, and whether there is none.

        If there is none, the best of those that cost no more than `bill`; None: no model.
        """
        good = np.flatnonzero(self.scores >= score)
        if not good.size:
            return self.best_within(bill), True
        return self.keys[good[np.lexsort((-self.scores[good], self.bills[good]))[0]]], False
