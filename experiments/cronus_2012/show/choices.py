"""What our choices and the paper's settings change: what figures draw and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.cronus_2012.show.panels import PANELS, Panel

SHOWN = tuple(panel for panel in PANELS if panel.key in ("g", "b", "c"))
"""VJ faces, and real ranking sets: the paper's own and one with five folds."""

INSENSITIVE = ("stages_5", "stages_20", "rejection_0.05", "rejection_0.3")
"""K and ε otherwise. They can matter on VJ faces alone: cascades of MQ2008 hold all trees."""

SAYS = {
    "tied": "who is rejected gets -1, as the paper says (ours: exit stage, then score)",
    "quantile": "θ by quantiles of the inputs that are there (ours: the soft share d_k)",
    "no_copies": "training negatives are not copied",
    "after_step": "leaf values after the step of 0.1 (ours: before)",
    "steepness_20": "γ = 20 instead of 50",
    "steepness_200": "γ = 200 instead of 50",
    "one_start": "optimised from the initialisation only (ours: also from the neighbouring λ)",
    "leaves_8": "trees of 8 leaves instead of 16",
    "zeros_return": "zeros come back in Algorithm 1, its roots smoothed (ours: they stay)",
    "stages_5": "K = 5 instead of 10",
    "stages_20": "K = 20 instead of 10",
    "rejection_0.05": "ε = 0.05 instead of 0.15",
    "rejection_0.3": "ε = 0.3 instead of 0.15",
    "positive_weight_35": "ω⁺ = 35 instead of 3.5",
    "penalty_1e-4": "ρ₁ = 1e-4 instead of 1e-5",
    "last_penalty_1e-3": "ρ_K = 1e-3 instead of 1e-5",
    "decay_1.1": "δ = 1.1 instead of 1.3",
}
"""The table's words for each line; all but ``tied`` are trained."""


def mean_by_seed(rows: pd.DataFrame, panel: str, variant: str, method: str) -> pd.DataFrame:
    """Return the means over λ of one variant, by seed; of "tied", of our own cascades."""
    tied = variant == "tied"
    wanted = "ours" if tied else variant
    mine = rows[(rows["panel"] == panel) & (rows["variant"] == wanted)]
    mine = mine[mine["method"] == method]
    if tied:
        mine = mine.assign(test_score=mine["tied_score"])
    columns = ["valid_score", "test_score", "test_cost_paper", "hard", "n_stages"]
    return mine.groupby("seed")[columns].mean()


def effects(rows: pd.DataFrame, panel: str, variant: str, method: str = "cronus") -> pd.DataFrame:
    """Return for each seed what a change does: ``score``, difference; ``cost``, ratio.

    Both are of means over λ.
    """
    ours, other = (mean_by_seed(rows, panel, v, method) for v in ("ours", variant))
    paid = ours["test_cost_paper"].where(ours["test_cost_paper"] > 0)
    return pd.DataFrame(
        {
            "score": other["test_score"] - ours["test_score"],
            "cost": other["test_cost_paper"] / paid,
        }
    ).dropna(subset="score")


def across(rows: pd.DataFrame, panel: str, first: str, last: str) -> np.ndarray:
    """Return by how much the score of `last` is above that of `first`, one value per seed."""
    scores = (mean_by_seed(rows, panel, v, "cronus")["test_score"] for v in (first, last))
    low, high = scores
    return (high - low).dropna().to_numpy()


def panels_there(rows: pd.DataFrame, variant: str = "ours") -> list[Panel]:
    """Return the panels that a variant was tried on."""
    mine = rows[rows["variant"] == ("ours" if variant == "tied" else variant)]
    return [panel for panel in SHOWN if (mine["panel"] == panel.key).any()]
