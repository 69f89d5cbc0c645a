"""Table 2 of the adaptive sampling paper: thirteen methods on the INRIA persons."""

from __future__ import annotations

from experiments.adaptive_sampling_2014.show.tables import make_table

ARTEFACT = make_table(
    "inria_person", minutes={"smoke": 0.5, "laptop": 2, "overnight": 30, "paper": 300}
)
