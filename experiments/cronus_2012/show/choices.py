"""What our choices and the paper's settings change: what figures draw and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.ablation import OURS, Change, difference, of
from experiments.cronus_2012.show.panels import PANELS

SHOWN = tuple(panel for panel in PANELS if panel.key in ("g", "b", "c"))
"""VJ faces, and real ranking sets: the paper's own and one with five folds."""

INSENSITIVE = ("stages_5", "stages_20", "rejection_0.05", "rejection_0.3")
"""K and ε otherwise. They can matter on VJ faces alone: cascades of MQ2008 hold all trees."""

CHANGES = (
    Change("tied", "who is rejected gets -1, as the paper says (ours: exit stage, then score)"),
    Change("quantile", "θ by quantiles of the inputs that are there (ours: the soft share d_k)"),
    Change("no_copies", "training negatives are not copied"),
    Change("after_step", "leaf values after the step of 0.1 (ours: before)"),
    Change("steepness_20", "γ = 20 instead of 50"),
    Change("steepness_200", "γ = 200 instead of 50"),
    Change(
        "one_start", "optimised from the initialisation only (ours: also from the neighbouring λ)"
    ),
    Change("leaves_8", "trees of 8 leaves instead of 16"),
    Change("zeros_return", "zeros come back in Algorithm 1, its roots smoothed (ours: they stay)"),
    Change("stages_5", "K = 5 instead of 10"),
    Change("stages_20", "K = 20 instead of 10"),
    Change("rejection_0.05", "ε = 0.05 instead of 0.15"),
    Change("rejection_0.3", "ε = 0.3 instead of 0.15"),
    Change("positive_weight_35", "ω⁺ = 35 instead of 3.5"),
    Change("penalty_1e-4", "ρ₁ = 1e-4 instead of 1e-5"),
    Change("last_penalty_1e-3", "ρ_K = 1e-3 instead of 1e-5"),
    Change("decay_1.1", "δ = 1.1 instead of 1.3"),
)
"""All but ``tied`` are trained."""


def with_tied(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a variant "tied": our own cascades, of which who is rejected ties."""
    ours = rows[rows["variant"] == OURS]
    tied = ours.assign(variant="tied", test_score=ours["tied_score"])
    return pd.concat([rows, tied], ignore_index=True)


def across(rows: pd.DataFrame, panel: str, first: str, last: str) -> np.ndarray:
    """Return by how much the score of `last` is above that of `first`, one value per seed."""
    mine = of(rows, {"panel": panel, "method": "cronus"})
    return difference(mine, last, "test_score", first).to_numpy()
