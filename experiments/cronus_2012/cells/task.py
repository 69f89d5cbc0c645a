"""A data set as Cronus sees it: two classes, copies of the negatives, a score, and the trees.

The paper replicates each negative ten times "to make our evaluation more realistic" (section 4).
In training a row weight of 10 stands for the copies; in evaluation rows are repeated, and every
mean over rows counts a negative ten times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from algorithms.costs import PriceList, price_list
from algorithms.forest_costs import staged_bill
from algorithms.gbrt import GBRTRegressor
from algorithms.metrics import average_precision_at_k, mean_over_queries, precision_at_k
from experiments.cell import Cell
from experiments.evaluate import prices_of

PLACES = 5
"""Places of the precision, precision@5."""


@dataclass(frozen=True)
class Part:
    """Rows of one part of a data set."""

    X: np.ndarray  # (n, d) float64
    signs: np.ndarray  # (n,) float64: +1 and -1
    copies: np.ndarray  # (n,) float64: how many inputs each row stands for
    query: np.ndarray | None  # (n,) int64, or None: None: one detection task, no queries

    @cached_property
    def repeated(self) -> np.ndarray:
        """Row of each input: a row with 10 copies comes 10 times."""
        return np.repeat(np.arange(len(self.copies)), self.copies.astype(np.int64))

    def mean(self, values: np.ndarray) -> float:
        """Return the mean over inputs, copies included."""
        return float(np.average(values, weights=self.copies))

    def scores(self, values: np.ndarray) -> np.ndarray:
        """Return precision@5 of the copied inputs of each query, or one average precision."""
        relevant = (self.signs > 0).astype(np.float64)
        rows = self.repeated
        if self.query is None:
            nobody = np.zeros(len(rows), dtype=np.int64)
            score = average_precision_at_k(relevant[rows], values[rows], nobody, len(rows))
            return np.array([score])
        return precision_at_k(
            relevant[rows], values[rows], self.query[rows], PLACES, per_query=True
        )

    def score(self, values: np.ndarray) -> float:
        """Return the mean of :meth:`scores` over queries."""
        return mean_over_queries(self.scores(values))

    def told(self, values: np.ndarray) -> dict:
        """Return the ``score``, and as ``queries`` that of each query."""
        scores = self.scores(values)
        return {"score": mean_over_queries(scores), "queries": scores}


def part_of(cell: Cell, dataset, name: str) -> Part:
    """Return one part as the cell wants it."""
    y = getattr(dataset, f"y_{name}")
    signs = np.where(y >= cell.params["relevant_from"], 1.0, -1.0)
    copies = np.where(signs > 0, 1.0, float(cell.params["times"]))
    return Part(getattr(dataset, f"X_{name}"), signs, copies, getattr(dataset, f"query_{name}"))


def listed_prices(dataset) -> PriceList:
    """Return the prices as bills need them."""
    return price_list(*prices_of(dataset).values(), dataset.n_features)


def training_weights(cell: Cell, train: Part) -> np.ndarray:
    """Return the copies that training is given: all of them, or one of each row."""
    return train.copies if cell.params["train_copies"] else np.ones_like(train.copies)


def unfitted(cell: Cell, dataset, n_trees: int | None = None) -> GBRTRegressor:
    """Return gradient boosted regression trees before they are fitted, with the set's prices."""
    return GBRTRegressor(
        max_leaves=None,
        growth="breadth_first",
        n_threads=1,
        **prices_of(dataset),
        **{**cell.params["trees"], **({} if n_trees is None else {"n_estimators": n_trees})},
    )


def boosted(cell: Cell, dataset, n_trees: int | None = None) -> GBRTRegressor:
    """Return gradient boosted regression trees of the targets -1 and +1; see :func:`unfitted`."""
    train = part_of(cell, dataset, "train")
    model = unfitted(cell, dataset, n_trees)
    return model.fit(train.X, train.signs, sample_weight=training_weights(cell, train))


def bills(model: GBRTRegressor, dataset, tree_cost: float) -> Iterator[float]:
    """Yield the paper's bill of a row after each tree: all features so far, and e per tree."""
    return staged_bill(model.trees_, 1, listed_prices(dataset), tree_cost)
