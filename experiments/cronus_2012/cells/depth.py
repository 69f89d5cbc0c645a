"""How deep the trees are: "limited", the paper says; validation chooses, for all methods alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from experiments.cell import Cell, at_rounds
from experiments.cronus_2012.cells.boosting import checkpoints
from experiments.cronus_2012.cells.cascades import quality
from experiments.cronus_2012.cells.task import bills, boosted, part_of


def with_chosen_depth(cell: Cell, dataset) -> Cell:
    """Return the cell with the depth at which plain boosting is worth most in validation.

    All methods of a draw then start from the same trees, as in the paper. The choice is boosting's,
    so that no other method is favoured by it.

    Parameters
    ----------
    cell : Cell
        ``depths`` of its parameters are tried.
    dataset : Dataset
    """
    depths = cell.params["depths"]
    cells = [_with_depth(cell, depth) for depth in depths]
    if len(cells) == 1:
        return cells[0]
    worth = [_worth(one, dataset) for one in cells]
    return cells[int(np.argmax(worth))]


def _with_depth(cell: Cell, depth: int) -> Cell:
    trees = {**cell.params["trees"], "max_depth": depth}
    return replace(cell, params={**cell.params, "trees": trees})


def _worth(cell: Cell, dataset) -> float:
    """Mean validation score within budgets up to everything, see :func:`.cascades.quality`."""
    model, valid = boosted(cell, dataset), part_of(cell, dataset, "valid")
    rounds = checkpoints(model.n_estimators_)
    scores = at_rounds(map(valid.score, model.staged_predict(valid.X)), rounds)
    e = cell.params["tree_cost"]
    billed = list(bills(model, dataset, e))
    everything = float(np.sum(dataset.feature_costs)) + sum((dataset.group_costs or {}).values())
    most = everything + e * model.n_estimators_
    return quality([(billed[r - 1], scores[r]) for r in rounds], most)
