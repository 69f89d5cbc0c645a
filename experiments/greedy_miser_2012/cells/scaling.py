"""Memory and time of trainings on more and more rows of one table."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from datasets import covertype
from experiments.cell import Cell
from experiments.greedy_miser_2012.cells.measure import REFERENCE_RATIO
from experiments.greedy_miser_2012.cells.one_fit import in_child


def run_cell(cell: Cell, dataset) -> list[dict]:
    """Train stage-wise regression and Greedy Miser on the first rows of a drawn order.

    Parameters
    ----------
    cell : Cell
        ``sizes`` of its parameters are numbers of rows, ``tradeoffs`` the λ of each method,
        ``settings`` those of all. Its seed draws the order of the rows.
    dataset : Dataset
        Of Covertype all rows train, whatever its division; of another set the training rows.

    Returns
    -------
    list of dict
        For each number of rows and method what :func:`.one_fit.in_child` tells.
    """
    X, y = _all_rows(dataset)
    order = np.random.default_rng([cell.seed, 2012]).permutation(len(y))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n in cell.params["sizes"]:
            drawn = np.resize(order, n)  # where there are fewer rows they come again
            np.save(folder / "X.npy", X[drawn])
            np.save(folder / "y.npy", y[drawn])
            weight = REFERENCE_RATIO * float(np.sum((y[drawn] - y[drawn].mean()) ** 2))
            for method, tradeoff in cell.params["tradeoffs"].items():
                options = {
                    **cell.params["settings"],
                    "tradeoff": tradeoff * weight / float(np.sum(dataset.feature_costs)),
                    "feature_costs": dataset.feature_costs.tolist(),
                    "n_threads": 1,
                }
                rows.append({"method": method, "n_rows": n, **in_child(folder, options)})
    return rows


def _all_rows(dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return every row of Covertype with classes as 0 and 1, of another set its training rows."""
    if dataset.name == "covertype":
        X, y, _ = covertype.load_full()
        return X, y.astype(np.float64)
    return dataset.X_train, dataset.y_train.astype(np.float64)
