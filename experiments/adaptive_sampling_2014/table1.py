"""Table 1 of the adaptive sampling paper: thirteen methods on MNIST."""

from __future__ import annotations

from experiments.adaptive_sampling_2014.cells.headline import make_cells
from experiments.adaptive_sampling_2014.show.tables import make_table

ARTEFACT = make_table(
    "mnist",
    minutes={"smoke": 0.3, "laptop": 13, "overnight": 115, "paper": 900},
    cells=make_cells,
)
"""Also with other families of features."""
