"""Table 2 of the adaptive sampling paper: thirteen methods on the INRIA persons."""

from __future__ import annotations

from experiments.adaptive_sampling_2014.cells.grid import LARGE_PICTURE_SEEDS
from experiments.adaptive_sampling_2014.cells.headline import make_cells
from experiments.adaptive_sampling_2014.show.tables import make_table

ARTEFACT = make_table(
    "inria_person",
    minutes={"smoke": 0.7, "laptop": 4, "overnight": 14, "paper": 900},
    cells=make_cells,
    seeds=LARGE_PICTURE_SEEDS,
)
"""Also with other families of features, and with examples that are not weighted."""
