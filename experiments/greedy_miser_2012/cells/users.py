"""Measures a class of the user's as the cells of Greedy Miser measure the others."""

from __future__ import annotations

from dataclasses import replace

from experiments.cell import Cell
from experiments.evaluate import as_metered
from experiments.greedy_miser_2012.cells.measure import row_weights, score
from experiments.methods.problem import of_dataset
from experiments.methods.users_class import followed


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Train a draw of the class in the place of Greedy Miser at a λ; give its row."""
    problem = of_dataset(dataset)
    weighted = replace(problem.parts["train"], weight=row_weights(dataset))
    rows = followed(
        cell.algorithm,
        cell.params["draw"]["seed"],
        replace(problem, parts={**problem.parts, "train": weighted}),
        lambda predicted, part: score(predicted, dataset, part),
    )
    about = {"panel": cell.params["panel"], "tradeoff": cell.params["tradeoff"]}
    about |= {"limit": 0.0, "exit": 0.0, "rounds": 1, "best": 1, "test_trees": 1.0}
    return [about | as_metered(row) for row in rows]
