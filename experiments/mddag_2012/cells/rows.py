"""The columns that all rows of Figure 2 have."""

from __future__ import annotations

import math

from experiments.cell import Cell, rounded
from experiments.mddag_2012.cells.operating import FPRS

NO_EDGE = -1
"""Node of a row that is about a run, not about an edge of a DAG."""

RATES = tuple(f"{part}_tpr_{suffix}" for suffix in FPRS for part in ("train", "test"))
MEANS = tuple(
    f"{part}_{name}" for name in ("evaluations", "objective") for part in ("train", "test")
)
ABOUT = ("tradeoff", "size", "detection", "negative_weight")
"""What a run was given: β, η, α or the stage FPR; classifiers, iterations or stages; the TPR; what
losses of background windows are multiplied by."""


def run_row(cell: Cell, method: str, setting: int, values: dict, **about) -> dict:
    """Return the row of one run."""
    return _row(cell, method, setting, NO_EDGE, NO_EDGE, {"paths": 0, **values}, about)


def edge_row(cell: Cell, method: str, setting: int, edge: tuple[int, int], paths: int) -> dict:
    """Return the row of an edge of a DAG: how many positive training windows take it."""
    return _row(cell, method, setting, *edge, {"paths": paths}, {})


def _row(cell: Cell, method: str, setting: int, node: int, after: int, values, about) -> dict:
    nothing = dict.fromkeys((*RATES, *MEANS), math.nan)
    measured = {name: rounded(values.get(name, value)) for name, value in nothing.items()}
    return {
        "panel": cell.params["panel"],
        "method": method,
        "setting": int(setting),
        "node": int(node),
        "next": int(after),
        **{name: rounded(about.get(name, 0.0)) for name in ABOUT},
        **measured,
        "paths": int(values["paths"]),
        "fit_seconds": values.get("fit_seconds", 0.0),
    }
