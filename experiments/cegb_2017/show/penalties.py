"""What a growing penalty does: what Figure 3 draws and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.cegb_2017.show.panels import PANELS

SHOWN = tuple(panel for panel in PANELS if panel.key in ("a", "a'", "y", "m", "w"))
"""Section 5.1 uses Yahoo! LTR; the other four are real for everybody."""

PROGRAMS_TRADEOFF = 5e-4
"""The authors' gain has no 1/2: if Fig. 3's λ = 0.001 is their program's, it is 5e-4 here."""

CONVERGES_LOWER = 1e-3
LARGE = (3e-4,)
"""λ called large: the largest of the grid below the one that "converges to a lower accuracy"."""


def final(rows: pd.DataFrame, panel: str, algorithm: str, tradeoff: float) -> pd.DataFrame:
    """Return the last stage of each seed's model, indexed by seed.

    Parameters
    ----------
    rows : DataFrame
        ``panel, algorithm, seed, tradeoff, rounds, test_score, test_cost, …``.
    panel, algorithm, tradeoff
        Which model.
    """
    mine = rows[
        (rows["panel"] == panel) & (rows["algorithm"] == algorithm) & (rows["tradeoff"] == tradeoff)
    ]
    return mine.sort_values("rounds").groupby("seed").last()


def decades(expensive: pd.DataFrame, cheap: pd.DataFrame) -> pd.Series:
    """Return log10 of a ratio of final costs; models without any cost give no value."""
    costs = [frame["test_cost"].where(frame["test_cost"] > 0) for frame in (expensive, cheap)]
    return np.log10(costs[0] / costs[1])


def cost_saved(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how many decades the final cost lies below that of λ = 0."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return decades(free, priced).to_numpy()


def score_lost(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how far the final score lies below that of λ = 0."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return (free["test_score"] - priced["test_score"]).to_numpy()


def fewer_buy_dear(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return by how much the share of test rows that buy a dearest feature falls from λ = 0's."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return (free["test_dear"] - priced["test_dear"]).to_numpy()


def deeper_than_paths(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how many decades further best-first trees reach below their mean path.

    Depth of a tree's deepest leaf over the split nodes that a test row passes in it, best-first
    against breadth-first growth.
    """
    grown = (final(rows, panel, m, tradeoff) for m in ("cegb", "cegb_breadth_first"))
    best, breadth = (
        one["mean_depth"] / one["mean_path"].where(one["mean_path"] > 0) for one in grown
    )
    return np.log10(best / breadth).to_numpy()
