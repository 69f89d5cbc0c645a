"""Table 1 of the adaptive sampling paper: thirteen methods on MNIST."""

from __future__ import annotations

from experiments.adaptive_sampling_2014.tables import make_table

# On all 60,000 images a repetition takes four to five minutes of a core: four fit into ten minutes.
ARTEFACT = make_table(
    "mnist",
    minutes={"smoke": 0.3, "laptop": 10, "paper": 700},
    seeds={"smoke": 2, "laptop": 4, "paper": 10},
)
