"""Times the training of Greedy Miser against that of stage-wise regression."""

from __future__ import annotations

from dataclasses import replace

from experiments.cell import Cell
from experiments.cells.racing import n_splits, race
from experiments.greedy_miser_2012.cells.measure import make_estimator, row_weights


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Train both several times, see :func:`experiments.cells.racing.race`.

    Returns
    -------
    list of dict
        One row per method: ``method``, ``tradeoff``, ``n_splits`` (split nodes of the model) and,
        measured, ``fit_seconds`` (median of the fits, arrays to model, compiling excluded).
    """
    free = replace(cell, params={**cell.params, "tradeoff": 0.0})
    models = {
        "stagewise": make_estimator(free, dataset),
        "greedy_miser": make_estimator(cell, dataset),
    }
    weights = row_weights(dataset)
    seconds = race(models, dataset.X_train, dataset.y_train, sample_weight=weights)
    return [
        {
            "method": name,
            "tradeoff": cell.params["tradeoff"],
            "n_splits": n_splits(model),
            "fit_seconds": seconds[name],
        }
        for name, model in models.items()
    ]
