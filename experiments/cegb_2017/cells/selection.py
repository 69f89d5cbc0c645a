"""Which of the models along a grid of λ and rounds a budget can choose."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

WHOLE_METHOD = ("cegb_as_miser",)
"""Of the method that no claim is about, only what the whole method's budgets can choose stays."""


def choosable(rows: pd.DataFrame, thinned: Collection[str] = ()) -> pd.DataFrame:
    """Leave out what no budget can choose.

    A model grows dearer with each round, so one that validates no better than with fewer rounds
    is never chosen. Each model's last round stays: it says how far its method's costs reach. Of
    panels that are thinned out, and of :data:`WHOLE_METHOD`, only what the whole method's budgets
    can choose stays.
    """
    model = ["panel", "algorithm", "seed", "tradeoff"]
    rows = rows.sort_values([*model, "rounds"], kind="stable")
    better = _best_yet(rows, model)
    last = ~rows.duplicated(model, keep="last")
    thin = rows["panel"].isin(list(thinned)) | rows["algorithm"].isin(WHOLE_METHOD)
    chosen = pd.Series(False, index=rows.index)
    for cost in rows.columns.intersection(["valid_cost", "valid_cost_paper"]):
        by_cost = rows.sort_values([*model[:3], cost], kind="stable")
        chosen |= _best_yet(by_cost, model[:3])
    return rows[last | (better & (chosen | ~thin))]


def _best_yet(rows: pd.DataFrame, within: list[str]) -> pd.Series:
    """Whether a row validates better than all before it."""
    before = rows.groupby(within)["valid_score"].transform(lambda s: s.cummax().shift())
    return before.isna() | (rows["valid_score"] > before)
