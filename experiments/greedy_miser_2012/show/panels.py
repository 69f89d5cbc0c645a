"""Panels: the data sets, the λ and rivals tried on them, and what both accountings are called.

All grids were fixed before any curve or claim was computed; the reasons are in README.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.artefact import Cell, Tolerance


@dataclass(frozen=True)
class Panel:
    """One data set."""

    key: str  # key, name: Letter in the figures; what titles call the data
    name: str
    dataset: str  # Name for :func:`datasets.load`
    # Prices of the feature subsets: each holds all features up to that price, and the last price
    # that there is would hold all of them
    limits: tuple[float, ...]
    # False: stage-wise regression and Greedy Miser only, as on the left of Figure 1
    rivals: bool = True
    ranking: bool = True  # Scores are NDCG@5, else accuracy
    tree_cost: float = 1.0  # e of Eq. (3), in the unit of the prices
    # Only its users have the real data: elsewhere synthetic data serves, fewer repetitions do
    licensed: bool = False
    in_smoke: bool = False  # Its synthetic set is part of the smoke scale


PANELS = (
    Panel("a", "Yahoo! LTR, full", "yahoo_ltr", (1, 20, 100), rivals=False, licensed=True),
    Panel("b", "Yahoo! LTR, small", "yahoo_ltr_small", (1, 20, 100), licensed=True, in_smoke=True),
    Panel("c", "Yahoo! LTR, a part", "yahoo_ltr_sample", (1, 20, 100), in_smoke=True),
    Panel("d", "MQ2008", "mq2008", (1, 10, 20, 50)),
    Panel("e", "ClueWeb09", "clueweb09", (1, 10, 20, 50)),
    Panel("f", "MSLR, a sample", "mslr", (1, 10, 20, 50)),
    Panel("g", "Thyroid", "thyroid", (1, 12, 15), ranking=False, tree_cost=0.0, in_smoke=True),
)
"""The paper's subsets of Yahoo! hold prices up to 1, 20, 100 and 200; 200 is all of them, which is
stage-wise regression itself. Prices of thyroid count with the group's 2.10: 11.41,
14.51 and 22.78 beside the free-standing 1.00; in dollars a tree costs nothing."""

LEFT_TRADEOFFS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""λ of Figure 1 (left) and of Figure 2."""

RIGHT_TRADEOFFS = (0.0, 1 / 16, 1 / 4, 1.0, 4.0)
"""λ of Figure 1 (right)."""

BEYOND = (16.0, 64.0, 256.0)
"""λ beyond the paper's, for the cheap end of the cost axis."""

WITH_EXITS = {"smoke": (1.0,), "laptop": (1.0, 16.0)}
WITH_EXITS |= dict.fromkeys(("overnight", "paper"), (1 / 4, 1.0, 4.0, 16.0))
"""λ of Greedy Miser with early exits, which the paper names as future work."""

WITH_CRONUS = {"smoke": "c", **dict.fromkeys(("laptop", "overnight", "paper"), "cdef")}
"""Panels on which Cronus is drawn, with the trees and the grid of its own paper's Figure 2: the
real ranking sets, which both papers' figures have here."""

BISECTED = "f"
"""Panels of them on which λ is bisected at each gap of Cronus's curve: of those on which a verdict
on Cronus had been drawn."""

FIRST_SEEDS = {"f": 5}
"""Of Figure 1's panels whose repetitions 0 to 4 had been published before their design changed."""

MARGINS = (1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)
"""s of early exits by proximity, in standard deviations of the grades."""

ROUNDS_BETWEEN_EXITS = 1
"""The paper has 300 exits, one every ten of 3,000 trees; of our models, which validation cuts at 10
to 300 rounds, one every ten would leave few."""

LIKELIHOODS = (0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
"""s of early exits by the largest class likelihood."""

ROUNDS = {"smoke": 12, "laptop": 300, "overnight": 3000, "paper": 3000}
ROUNDS_OF_LICENSED = {**ROUNDS, "laptop": 100}
"""Of the two Yahoo! panels, which have the most features: their trees take the most time."""

TRADEOFFS = {
    "smoke": (0.0, 1.0),
    "laptop": tuple(sorted({*LEFT_TRADEOFFS, *RIGHT_TRADEOFFS, *BEYOND})),
}
TRADEOFFS |= {"overnight": TRADEOFFS["laptop"], "paper": TRADEOFFS["laptop"]}

SEEDS_OF_LICENSED = 1
"""But for the paper's scale: without the licensed files no verdict is drawn on them."""


def settings(scale: str, panel: Panel) -> dict:
    """Return the estimator's parameters that are the same for all of a panel's models.

    Trees of depth four have 16 leaves; a child has at least 20 rows' weight.
    """
    rounds = (ROUNDS_OF_LICENSED if panel.licensed else ROUNDS)[scale]
    return {
        "n_estimators": rounds,
        "learning_rate": 0.1,
        "max_depth": 4,
        "min_samples_leaf": 20,
        "charging": "first_use",
        "init": "zero",
    }


def shown(scale: str, panels: Sequence[Panel] = PANELS) -> list[Panel]:
    """Return the panels of a scale."""
    return [panel for panel in panels if scale != "smoke" or panel.in_smoke]


def repetitions(scale: str, panel: Panel, seeds: range) -> range:
    """Return the repetitions of a panel; fewer where only synthetic data can be expected."""
    few = panel.licensed and scale in ("laptop", "overnight")
    return seeds[:SEEDS_OF_LICENSED] if few else seeds


def make_cell(
    scale: str,
    panel: Panel,
    algorithm: str,
    seed: int,
    *,
    tradeoff: float = 0.0,
    limit: float = 0.0,
    exits: tuple[float, ...] = (),
    **changed,
) -> Cell:
    """Return one cell."""
    params = {
        "panel": panel.key,
        "tradeoff": tradeoff,
        "limit": limit,
        "exits": list(exits),
        "rounds_between_exits": ROUNDS_BETWEEN_EXITS,
        "tree_cost": panel.tree_cost,
        # The paper's λ belong to the whole set; on its samples they are scaled, as on other data.
        "as_printed": panel.licensed and scale == "paper",
        "settings": {**settings(scale, panel), **changed},
    }
    return Cell(panel.dataset, algorithm, params, seed)


_COST = Tolerance(absolute=0.01, relative=0.05)
TRACE_TOLERANCES = {
    "best": Tolerance(absolute=0),
    "valid_score": Tolerance(absolute=0.01),
    "valid_cost": _COST,
    "valid_cost_paper": _COST,
    "test_score": Tolerance(absolute=0.01),
    "test_cost": _COST,
    "test_cost_paper": _COST,
    "test_trees": Tolerance(relative=0.05),
}
"""What ``check`` lets pass in rows of :func:`experiments.greedy_miser_2012.cells.measure.trace`."""


def score_label(panel: Panel) -> str:
    """Return what the score axis shows."""
    return "test NDCG@5" if panel.ranking else "test accuracy"


def cost_label(panel: Panel, record: Mapping) -> str:
    """Return what the cost axis of the paper's accounting shows, with its unit."""
    trees = f", and {panel.tree_cost:g} per tree" if panel.tree_cost else ""
    return f"all features of the forest{trees}\n[{record['cost_unit']}]"
