"""Labelling of frames: what Figure 4 draws and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

LEVELS = (1, 2, 4, 8)


DATASET, PANEL, LEVEL_PANEL = "phc_c2dl_psc", "b3", "c3"
"""The frames, and the keys of the curves by method and by the resolutions available."""

BY_LEVEL = 1e-2
"""λ of panel c."""


def by_method(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of whole parts; λ = 0 is no CEGB, but with Friedman's plain boosting."""
    mine = rows[(rows["panel"] == PANEL) & (rows["kind"] == "score")]
    plain = mine[(mine["tradeoff"] == 0) & mine["algorithm"].isin(("gbrt", "cegb"))]
    others = mine[mine["tradeoff"] > 0]
    return pd.concat([plain.assign(algorithm="gbrt"), others], ignore_index=True)


def best(pool: pd.DataFrame, most: float = np.inf) -> pd.Series:
    """Return the model with the highest validation SEG within a cost (ties: the cheaper one)."""
    within = pool[(pool["valid_cost"] <= most) & (pool["rounds"] > 0)]
    order = within.sort_values(["valid_score", "valid_cost"], ascending=[False, True])
    return order.iloc[0]


def by_levels(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of panel c: CEGB at one λ by the coarsest resolution available."""
    same = (rows["algorithm"] == "cegb") & (rows["tradeoff"] == BY_LEVEL)
    return rows[same & rows["panel"].isin((PANEL, LEVEL_PANEL))]
