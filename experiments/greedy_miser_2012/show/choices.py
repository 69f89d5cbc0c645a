"""What each of our choices changes: what figures draw and claims judge."""

from __future__ import annotations

import pandas as pd

from experiments.greedy_miser_2012.show.panels import PANELS

SHOWN = tuple(panel for panel in PANELS if panel.key in ("c", "d", "f"))
"""Real ranking sets with published prices, or our own by stream."""

SAYS = {
    "authors": "free only after the round, each node pays anew, nodes always split "
    "(the authors' program)",
    "all_splits": "nodes always split, whatever the impurity does",
    "leaves_8": "8 leaves instead of 16 (what depth 4 is in the authors' program)",
    "start_at_mean": "starts from the mean grade instead of H = 0",
    "bins_63": "63 bins instead of 255",
    "bins_31": "31 bins instead of 255",
    "step_0.05": "step 0.05 instead of 0.1",
    "step_0.2": "step 0.2 instead of 0.1",
    "letor": "chosen and scored by LETOR's NDCG (no discount at rank 2)",
}
"""The table's words for each variant."""


def effects(rows: pd.DataFrame, panel: str, variant: str) -> pd.DataFrame:
    """Return for each seed what a change does: ``score``, difference, and ``cost``, ratio."""
    mine = rows[rows["panel"] == panel].set_index("seed")
    ours, other = (mine[mine["variant"] == v] for v in ("ours", variant))
    cost = ours["test_cost_paper"].where(ours["test_cost_paper"] > 0)
    return pd.DataFrame(
        {
            "score": other["test_score"] - ours["test_score"],
            "cost": other["test_cost_paper"] / cost,
        }
    ).dropna(subset="score")
