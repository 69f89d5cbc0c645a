"""Panels of Figure 2: the data sets, and the grid that each method is tried on.

All grids were fixed before any result was looked at; the reasons are in README.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from experiments.artefact import Cell, Tolerance


@dataclass(frozen=True)
class Panel:
    """One data set.

    Attributes
    ----------
    key, name : str
        Letter in the figures; what titles call the data.
    dataset : str
        Name for :func:`datasets.load`.
    in_smoke : bool
        Its stand-in is part of the smoke scale.
    """

    key: str
    name: str
    dataset: str
    in_smoke: bool = False


PANELS = (
    Panel("a", "VJ faces", "vj_faces", in_smoke=True),
    Panel("b", "CBCL faces, divided", "cbcl_divided"),
    Panel("c", "CBCL faces, official test windows", "cbcl"),
    Panel("d", "Pedestrians", "daimler_pedestrians"),
)

TRAINED_AS = {"smoke": "smoke", "laptop": "laptop", "overnight": "laptop", "paper": "paper"}
"""Overnight trains what laptop trains, of more repetitions; see README.md."""

CLASSIFIERS = {"smoke": 20, "laptop": 200, "paper": 1000}
"""N, of AdaBoost."""

EPISODES = {"smoke": 20_000, "laptop": 1_000_000, "overnight": 1_000_000, "paper": 1_000_000}

SETTINGS = {"smoke": 2, "laptop": 12, "overnight": 24, "paper": 24}
"""Runs of each method on each draw of each data set; the same number for all but AdaBoost."""

BETA_ENDS = (0.1, 1e-4)
"""β, from the largest to the smallest in equal ratios."""

VIOLA_JONES = {
    "laptop": ((0.4, 0.6, 0.8), (0.97, 0.995), (3, 10)),
    "paper": ((0.3, 0.45, 0.6, 0.8), (0.97, 0.995), (3, 10, 20)),
}
"""FPR and TPR that each stage aims at, and the number of stages."""

STUMPS_OF_A_STAGE = {"laptop": 50, "paper": 200}
"""At most, of Viola and Jones's cascade."""

FCBOOST = {
    "laptop": ((0.1, 0.02, 0.004, 0.0008), (10, 25, 50)),
    "paper": ((0.3, 0.1, 0.03, 0.01, 0.003, 0.001), (10, 40, 120, 300)),
}
"""η and iterations."""

SOFT_CASCADE = {
    "laptop": ((-8.0, 4.0), (0.9, 0.98), (4, 20, 150)),
    "paper": ((-8.0, 0.0, 4.0), (0.9, 0.98), (4, 20, 150, 500)),
}
"""α, the TPR of the whole cascade, and how many base classifiers it takes from the pool."""

ROW_KEYS = ("panel", "method", "setting", "node", "next")


def betas(scale: str) -> list[float]:
    """Return the grid of β, three significant digits each."""
    first, last = BETA_ENDS
    n = SETTINGS[scale]
    return [float(f"{first * (last / first) ** (i / (n - 1)):.3g}") for i in range(n)]


def dag_setting(scale: str) -> int:
    """Return the place of the β that is nearest to that of Figure 1, of which the DAG is drawn."""
    return min(range(SETTINGS[scale]), key=lambda i: abs(math.log(betas(scale)[i] / 0.01)))


def thinned(grid: list, scale: str) -> list:
    """Return a grid of a rival with as many settings as the scale has, evenly taken."""
    return grid[:: len(grid) // SETTINGS[scale]]


def grid_of(family: str, scale: str) -> list[dict]:
    """Return the settings of a rival, each with what the estimator is given and what rows say.

    Parameters
    ----------
    family : {"viola_jones", "fcboost", "bourdev_cascade"}
    scale : str
    """
    like = "paper" if scale == "paper" else "laptop"
    return thinned(_GRIDS[family](like, CLASSIFIERS[scale]), scale)


def _viola_jones(like: str, largest: int) -> list[dict]:
    return [
        {
            "given": {
                "max_fpr": fpr,
                "min_tpr": tpr,
                "max_stages": stages,
                "max_stumps": min(largest, STUMPS_OF_A_STAGE[like]),
            },
            "about": {"tradeoff": fpr, "detection": tpr, "size": stages},
        }
        for stages, tpr, fpr in product(*reversed(VIOLA_JONES[like]))
    ]


def _fcboost(like: str, largest: int) -> list[dict]:
    return [
        {
            "given": {"eta": eta, "n_estimators": min(size, largest)},
            "about": {"tradeoff": eta, "size": min(size, largest)},
        }
        for size, eta in product(*reversed(FCBOOST[like]))
    ]


def _soft_cascade(like: str, largest: int) -> list[dict]:
    return [
        {
            "given": {"alpha": alpha, "detection_rate": tpr, "n_stages": min(size, largest)},
            "about": {"tradeoff": alpha, "detection": tpr, "size": min(size, largest)},
        }
        for size, tpr, alpha in product(*reversed(SOFT_CASCADE[like]))
    ]


_GRIDS = {
    "viola_jones": _viola_jones,
    "fcboost": _fcboost,
    "bourdev_cascade": _soft_cascade,
}


def shown(scale: str) -> list[Panel]:
    """Return the panels of a scale."""
    return [panel for panel in PANELS if scale != "smoke" or panel.in_smoke]


def make_cell(scale: str, panel: Panel, family: str, seed: int, **changed) -> Cell:
    """Return the cell of a family of methods.

    Parameters
    ----------
    scale, panel, seed
        Which.
    family : str
        Key of :data:`experiments.mddag_2012.cells.measure.FAMILIES`.
    **changed
        Parameters in the place of those declared.
    """
    params, scale = {"panel": panel.key}, TRAINED_AS[scale]
    if family in ("adaboost", "mddag", "bourdev_cascade"):
        params["n_estimators"] = CLASSIFIERS[scale]
    if family == "mddag":
        drawn = panel is PANELS[0] and seed == 0
        params |= {
            "betas": betas(scale),
            "n_episodes": EPISODES[scale],
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
    "paths": Tolerance(absolute=2, relative=0.1),
}
"""What ``check`` lets pass. Policies are learned from exponentials that differ between processors
in the last bits; a learned action may differ, too."""


def panel_title(panel: Panel, record: Mapping) -> str:
    """Return a panel's title: the data, whether they are real, and their sizes."""
    rows = "/".join(f"{record['rows'][part]:,}" for part in ("train", "test"))
    what = "real data" if record["kind"] == "real" else "STAND-IN of ours, not the real data"
    name = record.get("title", panel.name)  # what stands in for a set says so
    return f"({panel.key}) {name}\n{what}, {rows} train/test"
