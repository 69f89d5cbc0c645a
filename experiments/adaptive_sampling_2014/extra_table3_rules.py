"""Beside the adaptive sampling paper: Table 3 by the rules of Tables 1, 2 and 4, to 1,000 rounds.

Laminating's Q leaves five examples or more, M.A.S. Q.1 and Laminating take any of equals, UCB meets
the families in a random order; Laminating with other Q and the exhaustive search stand beside.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.adaptive_sampling_2014.cells.grid import LARGE_PICTURE_SEEDS
from experiments.adaptive_sampling_2014.cells.headline import make_cells
from experiments.adaptive_sampling_2014.show.tables import make_table

IMAGES = "caltech101"


_TABLE = make_table(
    IMAGES,
    minutes={"smoke": 0.8, "laptop": 15, "overnight": 60, "paper": 300},
    cells=make_cells,
    seeds=LARGE_PICTURE_SEEDS,
)
ARTEFACT = replace(
    _TABLE,
    id=f"{_TABLE.id}-rules",
    title="Adaptive sampling, Table 3 by the rules of Tables 1, 2 and 4: Caltech-101",
    shows="Table 3 again, with Laminating's Q, equals and UCB's order as in the other tables.",
)
