"""Times the training of CEGB against that of plain gradient boosting, in turn in one process."""

from __future__ import annotations

from dataclasses import replace

from sklearn.base import clone

from experiments.cegb_2017.cells.measure import make_estimator
from experiments.cell import Cell
from experiments.cells.racing import raced


def make_racers(cell: Cell, dataset) -> dict:
    """Return the unfitted estimators of a cell: the same trees, with and without costs."""
    plain, cegb = (
        make_estimator(replace(cell, algorithm=name), dataset) for name in ("gbrt", "cegb")
    )
    every_split = clone(cegb).set_params(stop_on_negative_gain=False)
    return {"gbrt": plain, "cegb": cegb, "cegb_all_splits": every_split}


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Train each method several times, see :func:`experiments.cells.racing.raced`."""
    return raced(cell, make_racers(cell, dataset), dataset)
