"""The cells of Tables 1 to 4, and how far their columns may drift."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.adaptive_sampling_2014.cells.methods import KEYS
from experiments.cell import Cell, Tolerance

MAX_COST = 10
"""Cost of a round, in passes of one feature over all examples (section 6.5)."""

ROUNDS = {"smoke": 10, "laptop": 1_000, "overnight": 10_000, "paper": 10_000}
TABLE_ROUNDS = {
    "smoke": (10,),
    "laptop": (10, 100, 1_000),
    "overnight": (10, 100, 1_000, 10_000),
    "paper": (10, 100, 1_000, 10_000),
}
SEEDS = {"smoke": 2, "laptop": 5, "overnight": 5, "paper": 10}
LARGE_PICTURE_SEEDS = {**SEEDS, "smoke": 1}
"""Of sets whose features take seconds for each draw, however few pictures there are."""

KEY_COLUMNS = ("budget", "rounds")

TOLERANCES = {
    "used_rounds": Tolerance(absolute=1, relative=0.05),
    "log10_loss": Tolerance(absolute=0.03),
    "test_error": Tolerance(absolute=4.0),
    "paper_cost": Tolerance(relative=0.05),
    "evaluations": Tolerance(relative=0.05),
    "tuning_evaluations": Tolerance(relative=0.05),
    "feature_seconds": Tolerance(absolute=1e-4, relative=0.05),
    "tuning_feature_seconds": Tolerance(absolute=1e-4, relative=0.05),
    "prediction_ms": Tolerance(absolute=5e-4, relative=0.2),
    "families": Tolerance(absolute=2),
    # Recorded only: where two trainings end alike it jumps, and the loss judges what comes of it.
    "kept": Tolerance(absolute=40),
    "short": Tolerance(absolute=1),
}
"""A decision that falls otherwise on another processor changes all later ones."""


def rounds_1_2_5(last: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50, ... up to a last round."""
    series = [m * 10**k for k in range(len(str(last))) for m in (1, 2, 5)]
    return [t for t in series if t <= last]


def rounds_by_eighths(last: int) -> list[int]:
    """Return eight rounds a decade, as even as whole numbers allow, up to a last round."""
    n = 8 * len(str(last))
    return sorted({t for k in range(n + 1) if (t := round(10 ** (k / 8))) <= last} | {last})


def params_of(
    scale: str, series: Callable[[int], list[int]] = rounds_1_2_5, timed: bool = False
) -> dict[str, Any]:
    """Return the parameters that all cells of a scale have.

    Parameters
    ----------
    scale : str
    series : callable
        Rounds at which the curve is read, up to the last round.
    timed : bool
        Whether the training is timed.
    """
    last = ROUNDS[scale]
    return {
        "n_estimators": last,
        "max_cost": MAX_COST,
        "rounds": series(last),
        "tables": list(TABLE_ROUNDS[scale]),
        "timed": timed,
    }


def make_cells(dataset: str, scale: str, seeds: range) -> list[Cell]:
    """Return a cell for each seed and method."""
    return [Cell(dataset, name, params_of(scale), seed) for seed in seeds for name in KEYS]
