"""What a cell of the paper's figures measures, by its method."""

from __future__ import annotations

from experiments.cell import Cell
from experiments.cronus_2012.cells.cascades import cronus_rows
from experiments.cronus_2012.cells.depth import grown_as_chosen
from experiments.cronus_2012.cells.rivals import rival_rows

FAMILIES = {
    "cronus": cronus_rows,
    "raykar_cascade": rival_rows,
    "and_or_cascade": rival_rows,
}


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Measure one family of methods on one draw of one data set.

    The family ``cronus`` holds all that starts from the boosted trees, these included, so that
    they are grown once.

    Parameters
    ----------
    cell : Cell
        ``algorithm`` is a key of :data:`FAMILIES`; validation chooses one of ``depths``.
    dataset : Dataset

    Returns
    -------
    list of dict
        See :mod:`experiments.cronus_2012.cells.rows`.
    """
    return FAMILIES[cell.algorithm](grown_as_chosen(cell, dataset), dataset)
