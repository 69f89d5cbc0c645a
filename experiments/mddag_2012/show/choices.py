"""What each of our choices changes: what figures draw and claims judge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.mddag_2012.show.panels import PANELS, Panel

SHOWN = tuple(panel for panel in PANELS if panel.key in ("a", "b"))
"""The paper's VJ, and CBCL with windows of one kind on both sides."""

VALUES = (
    "train_objective",
    "test_objective",
    "test_error",
    "test_evaluations",
    "test_tpr_05",
    "n_paths",
)


def mean_by_seed(rows: pd.DataFrame, panel: str, variant: str) -> pd.DataFrame:
    """Return the means over β of one variant, by seed."""
    mine = rows[(rows["panel"] == panel) & (rows["variant"] == variant)]
    return mine.groupby("seed")[list(VALUES)].mean()


def difference(rows: pd.DataFrame, panel: str, variant: str, value: str) -> np.ndarray:
    """Return by how much a change raises a value, mean over β, one value per seed."""
    ours, other = (mean_by_seed(rows, panel, name)[value] for name in ("ours", variant))
    return (other - ours).dropna().to_numpy()


def panels_there(rows: pd.DataFrame) -> list[Panel]:
    """Return the panels that there are rows on."""
    return [panel for panel in SHOWN if (rows["panel"] == panel.key).any()]
