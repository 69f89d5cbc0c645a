"""Panels of Figure 2: the data sets, and the grid that each method is tried on.

All grids were fixed before any result was looked at; the reasons are in README.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from experiments.artefact import Cell, Tolerance
from experiments.data_kinds import in_words
from experiments.panels import sizes


@dataclass(frozen=True)
class Panel:
    """One data set."""

    key: str  # key, name: Letter in the figures; what titles call the data
    name: str
    dataset: str  # Name for :func:`datasets.load`
    in_smoke: bool = False  # Its synthetic set is part of the smoke scale
    # Suffixes of the false positive rates that it is drawn and judged at
    fprs: tuple[str, ...] = ("10", "05", "01")
    # Share that objects are given by weights in training; None: they are as the data have them
    object_share: float | None = None
    in_laptop: bool = True  # Whether it is part of the laptop scale


PANELS = (
    Panel("a", "VJ faces", "vj_faces", in_smoke=True),
    Panel("b", "CBCL faces, divided", "cbcl_divided"),
    Panel("c", "CBCL faces, official test windows", "cbcl", in_laptop=False),
    # Daimler's base set has 49 % persons, INRIA's windows 67 %, and 245 backgrounds a division: an
    # FPR of 0.01 would be two of them.
    Panel("d", "Pedestrians", "daimler_pedestrians", fprs=("10", "05"), object_share=0.49),
)

CLASSIFIERS = {"smoke": 20, "laptop": 1000, "overnight": 1000, "paper": 1000}
"""N, of AdaBoost."""

EPISODES = {"smoke": 20_000, "laptop": 1_000_000, "overnight": 1_000_000, "paper": 1_000_000}

BETAS = {"smoke": 2, "laptop": 12, "overnight": 12, "paper": 12}
"""How many β, each with each weight of negatives."""

NEGATIVE_WEIGHTS = (1.0, 5.0)
"""What losses of negatives are multiplied by, in a policy and in FCBoost. The two other cascades
set their thresholds by a TPR, which is the same choice."""

BETA_ENDS = (0.1, 1e-5)
"""β, from the largest to the smallest in equal ratios."""

BETA_ENDS_OF_SHARES = (3e-3, 1e-5)
"""The same where the loss is of f/Σα: a vote is then worth a hundredth at most, and less than β
ends the policy at once."""

VIOLA_JONES = ((0.3, 0.5, 0.7), (0.9, 0.95, 0.98, 0.998), (3, 15))
"""FPR and TPR that each stage aims at, and the number of stages. Without a TPR of 0.9 this cascade
has no run at fewer than three base classifiers, and its best ones up to five need 0.95."""

STUMPS_OF_A_STAGE = 200
"""At most, of Viola and Jones's cascade."""

FCBOOST = ((0.004, 0.0008), NEGATIVE_WEIGHTS, (2, 4, 8, 16, 40, 100))
"""η, weights of negatives, and iterations: two or four of them are best up to five classifiers, and
the others leave no gap up to thirty. A larger η ends before three."""

SOFT_CASCADE = ((-8.0, 0.0, 4.0), (0.9, 0.98), (3, 8, 15, 150))
"""α, the TPR of the whole cascade, and how many base classifiers it takes from the pool."""

ROW_KEYS = ("panel", "method", "setting", "node", "next")


def settings(scale: str) -> int:
    """Return how many runs each method but AdaBoost has on each draw of each data set."""
    return BETAS[scale] * len(NEGATIVE_WEIGHTS)


def between(ends: tuple[float, float], n: int) -> list[float]:
    """Return a grid of equal ratios between two ends, three significant digits each."""
    first, last = ends
    return [float(f"{first * (last / first) ** (i / (n - 1)):.3g}") for i in range(n)]


def betas(scale: str, ends: tuple[float, float] = BETA_ENDS) -> list[float]:
    """Return a grid of β between two ends."""
    return between(ends, BETAS[scale])


def dag_setting(scale: str) -> int:
    """Return the place of the β that is nearest to that of Figure 1, of which the DAG is drawn."""
    return min(range(BETAS[scale]), key=lambda i: abs(math.log(betas(scale)[i] / 0.01)))


def thinned(grid: list, scale: str) -> list:
    """Return a grid of a rival with as many settings as the scale has, evenly taken."""
    return grid[:: len(grid) // settings(scale)]


def grid_of(family: str, scale: str) -> list[dict]:
    """Return the settings of a rival, each with what the estimator is given and what rows say."""
    return thinned(_GRIDS[family](CLASSIFIERS[scale]), scale)


def _viola_jones(largest: int) -> list[dict]:
    return [
        {
            "given": {
                "max_fpr": fpr,
                "min_tpr": tpr,
                "max_stages": stages,
                "max_stumps": min(largest, STUMPS_OF_A_STAGE),
            },
            "about": {"tradeoff": fpr, "detection": tpr, "size": stages},
        }
        for stages, tpr, fpr in product(*reversed(VIOLA_JONES))
    ]


def _fcboost(largest: int) -> list[dict]:
    return [
        {
            "given": {"eta": eta, "negative_weight": weight, "n_estimators": min(size, largest)},
            "about": {"tradeoff": eta, "negative_weight": weight, "size": min(size, largest)},
        }
        for size, weight, eta in product(*reversed(FCBOOST))
    ]


def _soft_cascade(largest: int) -> list[dict]:
    return [
        {
            "given": {"alpha": alpha, "detection_rate": tpr, "n_stages": min(size, largest)},
            "about": {"tradeoff": alpha, "detection": tpr, "size": min(size, largest)},
        }
        for size, tpr, alpha in product(*reversed(SOFT_CASCADE))
    ]


_GRIDS = {
    "viola_jones": _viola_jones,
    "fcboost": _fcboost,
    "bourdev_cascade": _soft_cascade,
}


def shown(scale: str, panels: Sequence[Panel] = PANELS) -> list[Panel]:
    """Return the panels of a scale."""
    part = {"smoke": "in_smoke", "laptop": "in_laptop"}.get(scale)
    return [panel for panel in panels if part is None or getattr(panel, part)]


def make_cell(scale: str, panel: Panel, family: str, seed: int, **changed) -> Cell:
    """Return the cell of a family of methods."""
    params = {"panel": panel.key, "object_share": panel.object_share}
    if family in ("adaboost", "mddag", "bourdev_cascade"):
        params["n_estimators"] = CLASSIFIERS[scale]
    if family == "mddag":
        drawn = panel is PANELS[0] and seed == 0
        params |= {
            "betas": betas(scale),
            "betas_of_shares": betas(scale, BETA_ENDS_OF_SHARES),
            "negative_weights": list(NEGATIVE_WEIGHTS),
            "n_episodes": EPISODES[scale],
            "n_bins": "auto",
            "dag": [dag_setting(scale)] if drawn else [],
        }
    elif family != "adaboost":
        params["grid"] = grid_of(family, scale)
    return Cell(panel.dataset, family, {**params, **changed}, seed)


_RATE = Tolerance(absolute=0.03)
_MEAN = Tolerance(absolute=0.02, relative=0.1)
TOLERANCES = {
    **{
        f"{part}_tpr_{suffix}": _RATE for suffix in ("10", "05", "01") for part in ("train", "test")
    },
    "train_evaluations": _MEAN,
    "test_evaluations": _MEAN,
    "train_objective": Tolerance(absolute=0.01, relative=0.02),
    "test_objective": Tolerance(absolute=0.01, relative=0.02),
    "tradeoff": Tolerance(),
    "size": Tolerance(),
    "detection": Tolerance(),
    "negative_weight": Tolerance(),
    "paths": Tolerance(absolute=2, relative=0.1),
}
"""What ``check`` lets pass. Policies are learned from exponentials that differ between processors
in the last bits; a learned action may differ, too."""


def panel_title(panel: Panel, record: Mapping, parts: Sequence[str] = ("train", "test")) -> str:
    """Return a panel's title: the data, whether they are real, and their sizes."""
    name = record.get("title", panel.name)  # what stands in for a set says so
    return f"({panel.key}) {name}\n{in_words(record)}, {sizes(record, parts)}"
