"""The cells of Tables 1 to 4 by the rules of the headline, and what is done otherwise beside them.

The features are the families `mash`, where a set has them. All cells of a table have the same
seeds, none of which the first published rows had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.adaptive_sampling_2014.cells.grid import params_of, rounds_1_2_5
from experiments.adaptive_sampling_2014.cells.methods import (
    KEYS,
    LAMINATING,
    MAS,
    METHODS,
    TASTING,
    group,
)
from experiments.cell import Cell

FAMILIES = {"mnist": "mnist_mash", "inria_person": "inria_person_mash", "cifar10": "cifar10_mash"}
"""Set of images to its features of the headline; its own name has the first families, which
Caltech-101 keeps."""

FIRST_SEED = 5
"""The first published rows had seeds 0 to 4."""

LEAST_EXAMPLES = 5
"""S of Laminating's first iteration is at least this, and Q as large as that allows."""

GIVEN: Mapping[str, Mapping[str, Any]] = {
    "ucb": {"shuffle": True},
    "mas_q1": {"ties": "spread"},
    "laminating": {"ties": "spread", "least_examples": LEAST_EXAMPLES},
}
"""Parameters of the samplers that are not their defaults."""

BESIDE: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(group(MAS), ("by_weight", "n_components")),
    **dict.fromkeys(group(LAMINATING), ("by_weight",)),
    **dict.fromkeys(group(TASTING), ("n_tasted",)),
}
"""What the paper leaves open of the samplers, beside :data:`GIVEN`."""

FIXED_SIZES = {f"laminating_{Q}": Q for Q in (32, 512)}
"""Lines of their own: Laminating with these Q instead."""

EXHAUSTIVE = "exhaustive"
"""The line of the search of all features on all examples in every round."""

EXHAUSTIVE_ROUNDS = {"smoke": 2, "laptop": 100, "overnight": 100, "paper": 1_000}
"""Rounds of it: one costs as much as a thousand of the others', or ten thousand."""

SCALE_BESIDE = {"smoke": "smoke", "laptop": "laptop", "overnight": "laptop", "paper": "paper"}
"""The scale whose rounds the lines beside the paper's methods have: overnight those of laptop."""

UNWEIGHTED = "unweighted_"
"""Before the name of a method that is trained and tested on unweighted examples."""

CLASS_COUNTS = {
    "inria_person": {"train": [10 * 1_219, 2_418], "test": [10 * 453, 1_126]},
}
"""The paper's images without and with persons; ours are weighted to have their shares."""

ONCE = tuple(method.key for method in METHODS if not method.tuned)
"""Methods that are trained once: with these what is done otherwise is tried. The tuned ones take
six sevenths of a table's time."""


def make_cells(images: str, scale: str, seeds: range) -> list[Cell]:
    """Return the cells of a table.

    Parameters
    ----------
    images : str
        Set of images: of Caltech-101 the families are the first ones, else those of
        :data:`FAMILIES`.
    scale, seeds
        What the runner asks for; repetitions begin at :data:`FIRST_SEED`.
    """
    counts = CLASS_COUNTS.get(images)
    weighting = {"class_counts": counts} if counts else {}
    params = params_of(SCALE_BESIDE[scale])
    weighted = params | weighting
    cells, name = [], FAMILIES.get(images, images)
    for seed in (FIRST_SEED + s for s in seeds):
        own = params_of(scale) | weighting
        cells += [Cell(name, key, own | _given(key), seed) for key in KEYS]
        if scale == "smoke" and seed > FIRST_SEED:
            continue
        for line, Q in FIXED_SIZES.items():
            given = {"given": {"ties": "spread", "n_features": Q}, "sampler": "laminating"}
            cells.append(Cell(name, line, weighted | given, seed))
        if counts:
            cells += [
                Cell(name, UNWEIGHTED + key, params | _given(key) | {"sampler": key}, seed)
                for key in ONCE
            ]
        if name != images:
            cells += [Cell(images, key, weighted | _given(key), seed) for key in ONCE]
    return [*cells, *_exhaustive(name, weighted, EXHAUSTIVE_ROUNDS[scale], seeds)]


def _given(key: str) -> dict[str, Any]:
    return {"given": dict(GIVEN[key])} if key in GIVEN else {}


def _exhaustive(name: str, params: dict, last: int, seeds: range) -> list[Cell]:
    """Return the one cell of the exhaustive search, which draws nothing."""
    fewer = {"n_estimators": last, "rounds": rounds_1_2_5(last), "tables": []}
    params = params | fewer | {"sampler": "all_features"}
    return [Cell(name, EXHAUSTIVE, params, FIRST_SEED + s) for s in seeds[:1]]
