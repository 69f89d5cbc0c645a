"""What a cell of Figure 2 measures, by its family of methods."""

from __future__ import annotations

from experiments.cell import Cell
from experiments.mddag_2012.cells.boosting import adaboost_rows
from experiments.mddag_2012.cells.cascades import fcboost_rows, soft_cascade_rows, viola_jones_rows
from experiments.mddag_2012.cells.dags import mddag_rows

FAMILIES = {
    "adaboost": adaboost_rows,
    "mddag": mddag_rows,
    "viola_jones": viola_jones_rows,
    "fcboost": fcboost_rows,
    "bourdev_cascade": soft_cascade_rows,
}


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Measure one family of methods on one draw of one data set.

    Parameters
    ----------
    cell : Cell
        ``algorithm`` is a key of :data:`FAMILIES`.
    dataset : Dataset

    Returns
    -------
    list of dict
        See :mod:`experiments.mddag_2012.cells.rows`.
    """
    return FAMILIES[cell.algorithm](cell, dataset)
