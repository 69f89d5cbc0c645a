"""Table 3 of the adaptive sampling paper: thirteen methods on Caltech-101."""

from __future__ import annotations

from experiments.adaptive_sampling_2014.cells.grid import LARGE_PICTURE_SEEDS
from experiments.adaptive_sampling_2014.show.tables import make_table

ARTEFACT = make_table(
    "caltech101",
    minutes={"smoke": 0.8, "laptop": 8, "overnight": 52, "paper": 300},
    seeds=LARGE_PICTURE_SEEDS,
)
