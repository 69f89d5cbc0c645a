"""How long trainings take, each beside the other: what tables say and claims judge."""

from __future__ import annotations

import pandas as pd

from experiments.greedy_miser_2012.show.panels import PANELS, Panel
from experiments.training_time import times_as_long

SHOWN = tuple(panel for panel in PANELS if panel.key in "bcdg")


def ratios(rows: pd.DataFrame, dataset: str) -> pd.Series:
    """Return for each seed how many times as long as stage-wise regression Greedy Miser takes."""
    return times_as_long(rows, dataset, "greedy_miser", "stagewise")


def panels_there(rows: pd.DataFrame) -> list[Panel]:
    """Return the panels whose data sets there are rows on."""
    return [panel for panel in SHOWN if (rows["dataset"] == panel.dataset).any()]
