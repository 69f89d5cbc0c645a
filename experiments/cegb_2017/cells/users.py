"""Measures a class of the user's as :mod:`experiments.cegb_2017.cells.measure` does CEGB."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from experiments.cegb_2017.cells.measure import score, speaking_queries
from experiments.cell import Cell
from experiments.evaluate import as_metered
from experiments.methods.problem import of_dataset
from experiments.methods.users_class import followed


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Train a draw of the class in the place of CEGB at a λ; give its row."""
    params, options = cell.params, cell.params["settings"]
    trained_on = dataset
    if options["binarise"]:
        trained_on = replace(dataset, y_train=(dataset.y_train > 0).astype(np.float64))
    rows = followed(
        cell.algorithm,
        params["draw"]["seed"],
        of_dataset(trained_on, split_cost=options["split_cost"]),
        lambda predicted, part: score(predicted, dataset, part, options),
    )
    about = {"panel": params["panel"], "tradeoff": params["tradeoff"], "rounds": 1}
    about |= {"rounds_trained": 1}
    about["speaking_queries"] = speaking_queries(dataset, options["relevant_from"])
    return [about | as_metered(row) for row in rows]
