"""Panels: the data sets, the grids tried on them, and what both accountings are called.

All grids were fixed before any score was looked at; the reasons are in README.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.artefact import Cell, Tolerance
from experiments.claims.declared import FIRST_SEED
from experiments.cronus_2012.cells.rows import CHOSEN


@dataclass(frozen=True)
class Panel:
    """One data set."""

    key: str  # key, name: Letter in the figures; what titles call the data
    name: str
    dataset: str  # Name for :func:`datasets.load`
    relevant_from: int = 3  # Smallest label of a positive
    times: int = 10  # Copies of each negative
    # For each stage of the rivals the price that its features may have at most
    limits: tuple[float, ...] = (5, 20, 50, 150, 200)
    tree_cost: float = 1.0  # e, in the unit of the prices
    ranking: bool = True  # Scores are precision@5, else average precision
    # Only its users have the real data: elsewhere synthetic data serves, fewer repetitions do
    licensed: bool = False
    in_smoke: bool = False  # Its synthetic set is part of the smoke scale
    # Methods tried. Where all features cost the same, trees cannot be assigned to stages by price,
    # and the rivals that do so have nothing to say
    families: tuple[str, ...] = ("cronus", "raykar_cascade", "and_or_cascade")
    at_laptop: int = 0  # Repetitions at the laptop scale, at most
    overnight_trees: int = 100  # T overnight. Beside rivals as many as these have
    judged: bool = False  # Only claims ask for it: figures do not show it


_NO_PRICE_BEYOND_100 = (5, 20, 50, 150)
"""Where the highest price is 100, the paper's last pool would be its last but one."""

PANELS = (
    Panel(
        "g",
        "VJ faces",
        "vj_faces",
        relevant_from=1,
        limits=(1,),
        tree_cost=0.1,
        ranking=False,
        families=("cronus",),
        at_laptop=3,
        overnight_trees=1000,
    ),
    Panel("a", "Yahoo! LTR", "yahoo_ltr", licensed=True),
    Panel(
        "b",
        "Yahoo! LTR, a part",
        "yahoo_ltr_sample",
        limits=(5, 20, 50, 150),
        in_smoke=True,
        at_laptop=1,
    ),
    Panel("c", "MQ2008", "mq2008", relevant_from=2, limits=_NO_PRICE_BEYOND_100),
    Panel("d", "ClueWeb09", "clueweb09", relevant_from=2, limits=_NO_PRICE_BEYOND_100),
    Panel("e", "MSLR, a sample", "mslr", limits=_NO_PRICE_BEYOND_100),
    Panel(
        "f",
        "CBCL faces",
        "cbcl",
        relevant_from=1,
        times=1,
        limits=(0.0025, 0.005, 0.02),
        tree_cost=2e-5,
        ranking=False,
        at_laptop=1,
    ),
    Panel(
        "h",
        "CBCL faces, divided",
        "cbcl_divided",
        relevant_from=1,
        times=1,
        limits=(0.0025, 0.005, 0.02),
        tree_cost=2e-5,
        ranking=False,
        families=("cronus",),
        judged=True,
    ),
)

TREES = {"smoke": 20, "laptop": 100, "paper": 5000}
"""T; overnight each panel has its own."""

FEW_TREES = 20
"""T of Yahoo! LTR, which has the most rows and features, at laptop scale and overnight."""

DEPTHS = {"smoke": (4,), "laptop": (1, 2, 3, 4), "overnight": (1, 2, 3, 4), "paper": (1, 2, 3, 4)}
"""Depths of the trees, one of which validation chooses for all methods of a draw."""

STAGES = {"smoke": 4, "laptop": 10, "overnight": 10, "paper": 10}
"""K."""

STEPS = {
    "smoke": (2, 6),
    "laptop": (1, 2, 4, 6, 9, 13, 20),
    "overnight": (1, 3, 6, 8, 11, 13, 16, 18, 21, 23, 26, 28),
    "paper": (*range(10), 12, 16, 22, 30),
}
"""λ, in factors of 1.3 below the smallest that leaves the cascade empty. The paper's ten are
neighbours; those beyond reach for the score of all trees. Overnight's twelve cover three decades:
with seven threshold settings 84 models, as many as each rival has."""

TUNING_STEPS = {"smoke": (4,), "laptop": (3, 9), "overnight": (3, 9), "paper": (3, 6, 9, 14)}
"""λ at which hyper-parameters are compared."""

START = {
    "penalty": 1e-5,
    "last_penalty": 1e-5,
    "decay": 1.3,
    "positive_weight": 3.5,
    "quantile": 0,
}
"""δ and ω⁺ of the paper, its soft thresholds; small ρ."""

VALUES = {
    "positive_weight": (3.5, 35.0),
    "quantile": (0, 1),
    "penalty": (1e-5, 1e-4),
    "last_penalty": (1e-5, 1e-3),
    "decay": (1.3, 1.1),
}
"""What is tried. ω⁺ = 35 makes up for the ten copies of the negatives."""

GROUPS = (("positive_weight", "quantile"), ("last_penalty",), ("penalty",), ("decay",))
"""Which are tried together, the others as chosen before."""

SINGLE_GROUPS = (("positive_weight", "last_penalty"),)

LIMITS = {
    "smoke": {"max_cycles": 1, "max_evaluations": 10},
    "laptop": {"max_cycles": 10, "max_evaluations": 200},
    "overnight": {"max_cycles": 10, "max_evaluations": 200},
    "paper": {"max_cycles": 10, "max_evaluations": 200},
}
"""Of the optimisation; whether it ended there stands in the column ``capped``."""

EXITS = {
    "proximity": (1 / 16, 1 / 4, 1 / 2, 1.0, 2.0, 4.0),
    "score": (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5),
    "capacity": (0.1, 0.3, 0.5, 0.7, 0.85, 0.95),
    "rank": (5.0, 10.0, 20.0, 40.0, 80.0, 160.0),
}
"""s of early exits, six of each rule; proximity and score in standard deviations of the scores,
these from their mean. With the trees without exits each rule has seven threshold settings, as many
as :data:`REJECTIONS`."""

SIZES = {"smoke": (2,), "laptop": (6, 24), "overnight": (6, 24), "paper": (100, 300, 1000)}
"""Trees in each pool of the rivals, all of which a row pays for that comes to the stage."""

SIZES_OF_LICENSED = {**SIZES, "laptop": (2, 8), "overnight": (2, 8)}

POSITIVE_WEIGHTS = (3.5, 35.0)
"""ω⁺, of AND-OR ν₂ beside ν₁ = 1."""

RAYKAR = {
    "tradeoffs": [1e-6, 1e-5, 1e-4],
    "max_evaluations": 2000,
}
"""λ, and where L-BFGS is stopped."""

AND_OR = {
    "ridges": [1e-3, 1e-2, 1e-1],
    "max_cycles": 50,
    "max_sweeps": 2000,
}
"""τ, and where the descent is stopped."""

REJECTIONS = (-1.0, 0.0, 0.15, 0.3, 0.5, 0.7, 0.9)
"""Threshold settings of every cascade, Cronus's and the rivals': its own (-1), and those that
reject a share of the training inputs at each stage."""

ROW_KEYS = ("panel", "method", "tradeoff", "setting", "rounds", "stage", "price")


def shown(scale: str, panels: Sequence[Panel] = PANELS) -> list[Panel]:
    """Return the panels of a scale."""
    return [panel for panel in panels if scale != "smoke" or panel.in_smoke]


def repetitions(scale: str, panel: Panel, seeds: range) -> range:
    """Return the repetitions of a panel: of a likely synthetic none at laptop, one overnight.

    Of one that figures do not show there are those that claims are judged by.
    """
    if panel.judged and seeds.start < FIRST_SEED:
        return seeds[:0]
    if scale == "laptop":
        return seeds[: panel.at_laptop]
    return seeds[:1] if scale == "overnight" and panel.licensed else seeds


def make_cell(scale: str, panel: Panel, family: str, seed: int, **changed) -> Cell:
    """Return the cell of a family of methods."""
    number = n_trees(scale, panel)
    trees = {"n_estimators": number, "learning_rate": 0.1, "max_depth": 4}
    params = {
        "panel": panel.key,
        "relevant_from": panel.relevant_from,
        "times": panel.times,
        "train_copies": True,
        "tree_cost": panel.tree_cost,
        "trees": trees,
        "depths": list(DEPTHS[scale]),
        **_OF_FAMILY[family](scale, panel),
    }
    return Cell(panel.dataset, family, {**params, **changed}, seed)


def n_trees(scale: str, panel: Panel) -> int:
    """Return T."""
    if panel.licensed and scale in ("laptop", "overnight"):
        return FEW_TREES
    return panel.overnight_trees if scale == "overnight" else TREES[scale]


def _of_boosting(scale: str, panel: Panel) -> dict:
    rules = EXITS if panel.ranking else {"score": EXITS["score"]}
    if scale == "smoke":
        rules = {rule: grid[1:2] for rule, grid in rules.items()}
    every = 5 if n_trees(scale, panel) <= 100 else 10
    return {"every": every, "exits": {rule: list(grid) for rule, grid in rules.items()}}


def _of_cronus(scale: str, panel: Panel) -> dict:
    def grid(groups):
        # Of small synthetic data several settings score the same: what is chosen would be chance.
        groups = () if scale == "smoke" else groups
        names = {name for group in groups for name in group}
        return {
            "start": START,
            "groups": [list(group) for group in groups],
            "values": {name: list(VALUES[name]) for name in sorted(names)},
        }

    return {
        **_of_boosting(scale, panel),
        "rejections": _rejections(scale),
        "n_stages": STAGES[scale],
        "rejection": 0.15,
        "steepness": 50.0,
        "limits": LIMITS[scale],
        "steps": list(STEPS[scale]),
        "tuning_steps": list(TUNING_STEPS[scale]),
        "grid": grid(GROUPS),
        "single_grid": grid(SINGLE_GROUPS),
    }


def _rejections(scale: str) -> list[float]:
    return list(REJECTIONS[::3] if scale == "smoke" else REJECTIONS)


def _of_rival(own: dict, first: str):
    def of_panel(scale: str, panel: Panel) -> dict:
        weights = POSITIVE_WEIGHTS[:1] if scale == "smoke" else POSITIVE_WEIGHTS
        grid = {**own, first: own[first][:1]} if scale == "smoke" else own
        return {
            "limits": list(panel.limits),
            "sizes": list((SIZES_OF_LICENSED if panel.licensed else SIZES)[scale]),
            "positive_weights": list(weights),
            "control": True,
            "rejections": _rejections(scale),
            **grid,
        }

    return of_panel


_OF_FAMILY = {
    "cronus": _of_cronus,
    "raykar_cascade": _of_rival(RAYKAR, "tradeoffs"),
    "and_or_cascade": _of_rival(AND_OR, "ridges"),
}

_COST = Tolerance(absolute=0.01, relative=0.05)
_SHARE = Tolerance(absolute=0.02)
TOLERANCES = {
    "valid_score": Tolerance(absolute=0.03),
    "valid_cost": _COST,
    "valid_cost_paper": _COST,
    "test_score": Tolerance(absolute=0.03),
    "test_cost": _COST,
    "test_cost_paper": _COST,
    "tied_score": Tolerance(absolute=0.03),
    "objective": Tolerance(absolute=1e-4, relative=0.02),
    "hard": _SHARE,
    "soft": _SHARE,
    "threshold": Tolerance(absolute=0.02),
    "n_trees": Tolerance(absolute=1, relative=0.05),
    "n_features": Tolerance(absolute=1, relative=0.05),
    "n_listed": Tolerance(),
    "depth": Tolerance(),
    "capped": Tolerance(absolute=1),
    "penalty": Tolerance(relative=0.3),
    "last_penalty": Tolerance(relative=0.3),
    "decay": Tolerance(),
    "positive_weight": Tolerance(),
    "quantile": Tolerance(),
}
"""What ``check`` lets pass. The optimisation is not convex: its ends are those of one kind of
processor to a percent."""

ABOUT_STAGES = ("stage", "price", "hard", "soft", "threshold", "n_listed")
"""Columns that say nothing of a whole model."""

TUNED = tuple(name for name in CHOSEN if name != "positive_weight")
"""Columns of hyper-parameters that are one value for all models of a method and draw; those of the
plain ℓ1 penalty are its ``setting``."""

MODEL_KEYS = tuple(key for key in ROW_KEYS if key not in ABOUT_STAGES)
MODEL_TOLERANCES = {
    name: tolerance for name, tolerance in TOLERANCES.items() if name not in (*ABOUT_STAGES, *TUNED)
}
"""Keys and tolerances of a table of whole models."""


def score_label(panel: Panel) -> str:
    """Return what the score axis shows."""
    return "test precision@5" if panel.ranking else "test average precision"


def cost_label(panel: Panel, record: Mapping, accounting: str) -> str:
    """Return what the cost axis shows, with its unit; `accounting` is "_paper" or "", the meter."""
    what = "all features of every tree until exit" if accounting else "features on its own paths"
    return f"{what}, and {panel.tree_cost:g} per tree\n[{record['cost_unit']}], mean over inputs"
