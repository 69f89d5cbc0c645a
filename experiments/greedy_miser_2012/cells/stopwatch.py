"""Times the training of Greedy Miser against that of stage-wise regression."""

from __future__ import annotations

from dataclasses import replace

from experiments.cell import Cell
from experiments.cells.racing import raced
from experiments.greedy_miser_2012.cells.measure import make_estimator, row_weights


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Train both several times, see :func:`experiments.cells.racing.raced`."""
    free = replace(cell, params={**cell.params, "tradeoff": 0.0})
    models = {
        "stagewise": make_estimator(free, dataset),
        "greedy_miser": make_estimator(cell, dataset),
    }
    return raced(cell, models, dataset, sample_weight=row_weights(dataset))
