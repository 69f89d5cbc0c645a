"""Which features a model uses, by their price, and how early it does so."""

from __future__ import annotations

import numpy as np

from experiments.cell import Cell, rounded
from experiments.evaluate import price_with_group
from experiments.greedy_miser_2012.cells.measure import (
    best_round,
    followed,
    train,
)


def first_uses(model, n_features: int) -> np.ndarray:
    """Return the round, from 1, in which a model first uses each feature; 0: never."""
    forest, n_columns = model.trees_, len(model.initial_scores_)
    round_of = np.repeat(np.arange(forest.n_trees) // n_columns + 1, np.diff(forest.tree))
    first = np.zeros(n_features, dtype=np.int64)
    splits = np.flatnonzero(forest.feature >= 0)[::-1]  # the earliest is written last
    first[forest.feature[splits]] = round_of[splits]
    return first


def usage(cell: Cell, dataset) -> list[dict]:
    """Train the model of a cell and count which features it uses up to its best round."""
    model = train(cell, dataset)
    prices = price_with_group(dataset)
    best = best_round(followed(model, dataset, "valid"))
    first = first_uses(model, len(prices))
    used = (first > 0) & (first <= best)
    rows = []
    for price in np.unique(prices):
        here = prices == price
        rows.append(
            {
                "panel": cell.params["panel"],
                "tradeoff": cell.params["tradeoff"],
                "price": rounded(price),
                "n_features": int(here.sum()),
                "n_used": int((used & here).sum()),
                "first_round": int(min(first[used & here], default=0)),
                "rounds": best,
            }
        )
    return rows
