"""Which features windows of faces have: Haar-like ones, HOG and local binary patterns.

What is computed once for all features of a group (the integral image, the histograms of the cells,
the patterns of the pixels) is apart from what each feature takes besides, so that both have a price
(:mod:`datasets.features.faces.prices`). Frozen before any classifier was trained on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from datasets.features.faces import haar, hog, patterns
from datasets.features.families import Family

SHAPE = (19, 19)
"""Height and width of the windows."""
PER_KIND = 200
"""Haar-like features of each kind."""


@dataclass(frozen=True)
class Part:
    """A family of features, and what it shares with the others of its group."""

    family: Family  # Gives the columns
    group: str  # Features of one group share what `prepare` computes
    # Windows -> what is shared. The family computes it itself; it is here to be measured
    prepare: Callable[[np.ndarray], object]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.family.size(SHAPE)


def _haar(kind: str) -> Part:
    compute = partial(haar.haar, kind=kind, n=PER_KIND)
    family = Family(f"haar_{kind}", "Haar-like", lambda shape: PER_KIND, compute)
    return Part(family, "haar", haar.prepared)


PARTS = (
    *(_haar(kind) for kind in haar.KINDS),
    Part(
        Family("hog", "gradient histogram", hog.n_features, hog.hog),
        "hog",
        hog.prepared,
    ),
    Part(
        Family(
            "lbp",
            "local binary patterns",
            lambda shape: patterns.N_FEATURES,
            patterns.patterns,
        ),
        "lbp",
        patterns.prepared,
    ),
)
"""In the order of their columns."""

GROUPS = tuple(dict.fromkeys(part.group for part in PARTS))
"""Groups of features with one shared computation each; a group's label is its place here."""

FAMILIES = tuple(part.family for part in PARTS)
N_FEATURES = sum(part.n_features for part in PARTS)


def feature_names() -> tuple[str, ...]:
    """Name the features: a Haar-like one by its kind and outline, the others by number."""
    names = []
    for part in PARTS:
        name = part.family.name
        if part.group == "haar":
            outlines = haar.boxes(name.removeprefix("haar_"), SHAPE, PER_KIND)
            names += [f"{name}_{'_'.join(map(str, outline))}" for outline in outlines.tolist()]
        else:
            names += [f"{name}_{i}" for i in range(part.n_features)]
    return tuple(names)


def feature_groups() -> np.ndarray:
    """Give the group of each feature, (n_features,) int64."""
    return np.repeat(
        np.array([GROUPS.index(part.group) for part in PARTS], dtype=np.int64),
        [part.n_features for part in PARTS],
    )
