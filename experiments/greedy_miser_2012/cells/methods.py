"""What a cell of Figure 1 measures, by its method: Cronus, or what is trained on the grades.

Cronus's trees, grid and choice of hyper-parameters are those of its own paper's cells: two classes,
copies of the negatives, precision@5. What it has become is measured here as every other method of
this figure: NDCG@5 of the grades, every document once, the bill of all features of the trees that a
document is shown to until it leaves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from algorithms.cronus import CronusClassifier
from experiments.cell import Cell, rounded
from experiments.cronus_2012.cells.cascades import Trainer, cascade_path, choose
from experiments.cronus_2012.cells.task import boosted, part_of
from experiments.greedy_miser_2012.cells.bisect_path import bisect_path
from experiments.greedy_miser_2012.cells.measure import score, trace


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Measure one method on one draw of one data set.

    Parameters
    ----------
    cell : Cell
        ``algorithm`` is ``cronus``, or one of
        :func:`experiments.greedy_miser_2012.cells.measure.trace`. Of Cronus the parameter
        ``cascade`` holds those of a cell of its own paper's figures, and ``bisected``, where it
        stands, says that the gaps of its curve are bisected.
    dataset : Dataset

    Returns
    -------
    list of dict
        As :func:`~experiments.greedy_miser_2012.cells.measure.trace`; of Cronus a row for each λ,
        with the number of its trees as ``rounds``.
    """
    return cronus(cell, dataset) if cell.algorithm == "cronus" else trace(cell, dataset)


def cronus(cell: Cell, dataset) -> list[dict]:
    """Walk Cronus's path of λ; see :func:`run_cell`. ``best`` is 1 at its best λ by validation.

    With ``bisected`` among the parameters λ is bisected afterwards where the path leaves a gap in
    the paper's cost; each such cascade starts from its neighbour of the next larger λ, as the path
    does.
    """
    own = Cell(cell.dataset, "cronus", cell.params["cascade"], cell.seed)
    trainer = Trainer(own, dataset, boosted(own, dataset))
    valid = part_of(own, dataset, "valid")
    chosen = choose(trainer, valid, own.params["grid"], own.params["tuning_steps"])
    models, rows = {}, {}

    def keep(tradeoff: float, model: CronusClassifier) -> float:
        key = {"panel": cell.params["panel"], "tradeoff": tradeoff}
        key |= {"limit": 0.0, "exit": 0.0, "rounds": int(model.coef_.any(axis=0).sum())}
        models[tradeoff] = model
        rows[tradeoff] = {**key, "best": 0, **measured(model, dataset)}
        return rows[tradeoff]["valid_cost_paper"]

    def train(tradeoff: float) -> float:
        start = models[min(other for other in models if other > tradeoff)]
        return keep(tradeoff, trainer.fit(tradeoff, chosen, start=start))

    path = cascade_path(trainer, chosen)
    costs = {rounded(tradeoff): keep(rounded(tradeoff), model) for tradeoff, model, _ in path}
    if cell.params.get("bisected"):
        for _ in bisect_path(costs, train):
            pass
    best = max(rows.values(), key=lambda row: (row["valid_score"], -row["valid_cost_paper"]))
    best["best"] = 1
    return [*rows.values()]


def measured(model: CronusClassifier, dataset) -> Mapping[str, float]:
    """Return scores, both bills, and the mean number of trees that test documents are shown to."""
    until = np.array([model.coef_[:k].any(axis=0).sum() for k in range(1, len(model.coef_) + 1)])
    values = {}
    for part in ("valid", "test"):
        X, query = getattr(dataset, f"X_{part}"), getattr(dataset, f"query_{part}")
        values[f"{part}_score"] = score(model.ranking_score(X, query), dataset, part)
        values[f"{part}_cost"] = float(np.mean(model.prediction_cost(X)))
        values[f"{part}_cost_paper"] = float(np.mean(model.forest_cost_until_exit(X)))
    values["test_trees"] = float(np.mean(until[model.exit_stage(dataset.X_test) - 1]))
    return {name: rounded(value) for name, value in values.items()}
