"""Cronus on a fold of a division, with the trees, grid and choices of its own paper's cells."""

from __future__ import annotations

from algorithms.metrics import ndcg_at_k
from experiments.cell import Cell
from experiments.cronus_2012.cells.cascades import Trainer, cascade_path, choose
from experiments.cronus_2012.cells.depth import with_chosen_depth
from experiments.cronus_2012.cells.task import boosted, part_of
from experiments.greedy_miser_2012.cells.measure import PLACES
from experiments.greedy_miser_2012.cells.models import Measured, Models


def cronus(cell: Cell, dataset) -> Models:
    """Train Cronus along its path of λ and measure each cascade as all methods are measured.

    Parameters
    ----------
    cell : Cell
        ``cascade`` of its parameters holds those of a cell of Cronus's own figures.
    dataset : Dataset
        A fold.

    Returns
    -------
    dict
        A model for each place on the path, so that folds, whose λ differ, can be pooled: λ is so
        many factors below the fold's smallest that leaves a cascade empty.
    """
    own = Cell(cell.dataset, "cronus", cell.params["cascade"], cell.seed)
    own = with_chosen_depth(own, dataset)
    trainer = Trainer(own, dataset, boosted(own, dataset))
    valid = part_of(own, dataset, "valid")
    chosen = choose(trainer, valid, own.params["grid"], own.params["tuning_steps"])
    return {
        ("cronus", place): {part: _measured(model, dataset, part) for part in ("valid", "test")}
        for place, (_, model, _) in enumerate(cascade_path(trainer, chosen))
    }


def _measured(model, dataset, part: str) -> Measured:
    X, y, query = (getattr(dataset, f"{name}_{part}") for name in ("X", "y", "query"))
    return Measured(
        ndcg_at_k(y, model.ranking_score(X, query), query, PLACES, per_query=True),
        float(model.forest_cost_until_exit(X).mean()),
        capped=bool(model.capped_),
    )
