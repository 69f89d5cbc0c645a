"""The columns that all rows of the paper's figures have."""

from __future__ import annotations

import math

from experiments.cell import Cell, rounded

WHOLE, ALL_PRICES = 0, -1.0
"""Stage and price of a row that is about a whole model."""

SETTING = {
    "tradeoff": 0.0,
    "setting": 0.0,
    "rounds": 0,
}
SCORES = tuple(
    f"{part}_{name}" for part in ("valid", "test") for name in ("score", "cost", "cost_paper")
)
CHOSEN = ("penalty", "last_penalty", "decay", "positive_weight", "quantile")
"""Hyper-parameters that validation chose, 0 where a method has none."""


BY_QUERY = ("valid_queries", "test_queries")
"""Scores of each query, which rows have where the cell's ``by_query`` asks for them."""


def model_row(cell: Cell, method: str, measured: dict, **given) -> dict:
    """Return the row of a whole model."""
    nothing = {"objective": math.nan, "tied_score": math.nan, "capped": 0, "fit_seconds": 0.0}
    values = {name: v for name, v in measured.items() if name not in BY_QUERY}
    row = _row(cell, method, WHOLE, ALL_PRICES, {**nothing, **values}, given)
    if cell.params.get("by_query"):
        row |= {name: measured[name] for name in BY_QUERY}
    return row


def stage_row(cell: Cell, method: str, stage: int, price: float, measured: dict, **given) -> dict:
    """Return the row of one stage, or of the features of one price until it."""
    nothing = dict.fromkeys((*SCORES, "objective", "tied_score"), math.nan)
    nothing |= {"capped": 0, "fit_seconds": 0.0}
    return _row(cell, method, stage, price, {**nothing, **measured}, given)


def _row(cell: Cell, method: str, stage: int, price: float, measured: dict, given: dict) -> dict:
    values = {"hard": math.nan, "soft": math.nan, "threshold": math.nan, "n_listed": 0, **measured}
    whole = ("n_trees", "n_features", "n_listed", "capped")
    return {
        "panel": cell.params["panel"],
        "method": method,
        **SETTING,
        **dict.fromkeys(CHOSEN, 0.0),
        "depth": cell.params["trees"]["max_depth"],
        **{name: v if name == "rounds" else rounded(v) for name, v in given.items()},
        "stage": stage,
        "price": rounded(price),
        **{name: int(v) if name in whole else rounded(v) for name, v in values.items()},
    }
