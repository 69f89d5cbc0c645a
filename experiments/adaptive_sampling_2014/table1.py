"""Table 1 of the adaptive sampling paper: thirteen methods on MNIST."""

from __future__ import annotations

from experiments.adaptive_sampling_2014.tables import make_table

# Three repetitions at laptop scale: on all 60,000 images one takes four to five minutes of a core.
ARTEFACT = make_table(
    "mnist",
    minutes={"smoke": 0.3, "laptop": 8, "paper": 700},
    seeds={"smoke": 2, "laptop": 3, "paper": 10},
)
