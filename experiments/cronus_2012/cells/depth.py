"""How deep the trees are: "limited", the paper says; validation chooses, for all methods alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from algorithms.gbrt import GBRTRegressor
from experiments.cell import Cell
from experiments.cronus_2012.cells.quality import quality
from experiments.cronus_2012.cells.task import Part, bills, boosted, part_of
from experiments.evaluate import all_prices, rounds_by_tens


@dataclass(frozen=True)
class Grown:
    """A cell with the depth that validation chose, and its boosted trees."""

    cell: Cell
    trees: GBRTRegressor  # Fitted
    seconds: float  # Processor time of growing them, of one thread


def grown_as_chosen(
    cell: Cell, dataset, grow: Callable = boosted, valid: Part | None = None
) -> Grown:
    """Grow the trees of each depth, and keep those that are worth most in validation.

    All methods of a draw then start from the same trees, as in the paper. The choice is boosting's,
    so that no other method is favoured by it.
    """
    valid = part_of(cell, dataset, "valid") if valid is None else valid
    tried = [_grown(_with_depth(cell, depth), dataset, grow) for depth in cell.params["depths"]]
    if len(tried) == 1:
        return tried[0]
    return tried[int(np.argmax([_worth(one, dataset, valid) for one in tried]))]


def _with_depth(cell: Cell, depth: int) -> Cell:
    trees = {**cell.params["trees"], "max_depth": depth}
    return replace(cell, params={**cell.params, "trees": trees})


def _grown(cell: Cell, dataset, grow: Callable) -> Grown:
    begun = time.process_time()
    trees = grow(cell, dataset)
    return Grown(cell, trees, time.process_time() - begun)


def _worth(grown: Grown, dataset, valid: Part) -> float:
    """Mean validation score within budgets up to everything, see :func:`.quality.quality`."""
    cell, model = grown.cell, grown.trees
    rounds = rounds_by_tens(model.n_estimators_)
    scores = {r: valid.score(model.first_rounds(r).predict(valid.X)) for r in rounds}
    e = cell.params["tree_cost"]
    billed = list(bills(model, dataset, e))
    most = all_prices(dataset) + e * model.n_estimators_
    return quality([(billed[r - 1], scores[r]) for r in rounds], most)
