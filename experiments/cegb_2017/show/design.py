"""The design of Figures 2 and 3: each method's λ, when a training ends, and repetitions.

Declared before any of their rows was computed; README.md has the reasons.
"""

from __future__ import annotations

from experiments.artefact import Cell
from experiments.cegb_2017.show.panels import FIRST_ORDER, Panel, settings

_PER_DECADE = (1.0, 3.0)


def _grid(lowest: int, highest: float) -> tuple[float, ...]:
    """Return λ = 0 and 1, 3, 10, 30, … times 10^lowest, up to a highest value."""
    values = [f * 10.0**k for k in range(lowest, 1) for f in _PER_DECADE]
    # float("3e-05") and not 3 * 1e-05: the λ that is printed is the λ that is used.
    return (0.0, *(float(f"{v:.0e}") for v in values if v <= highest * 1.001))


TRADEOFFS = {
    ("uniform", False): _grid(-4, 3e-1),
    ("uniform", True): _grid(-5, 3e-2),
    ("priced", False): (0.0, *_grid(-6, 1e-2)[2:]),
    ("priced", True): _grid(-6, 3e-3),
}
"""λ for each kind of prices and for first-order gains; nine values each.

That they reach from the price of all features to that of one was tried on costs alone, on
repetition 0, which no row here has.
"""

ROUNDS = {"smoke": 6, "laptop": 300, "overnight": 300, "paper": 2000}
"""Most rounds; a training ends before when its validation score has stopped rising."""

PATIENCE = {"smoke": 3, "laptop": 50, "overnight": 50, "paper": 100}
"""Rounds without a better validation score after which a training ends."""

THINNED = ("a", "b", "e", "f")
"""Panels whose real data only their owners have."""

THINNED_ROUNDS = 60
"""Most rounds in these panels at laptop and overnight scale; overnight they have every other λ, as
all panels at laptop scale."""

REPETITIONS = {"smoke": 2, "laptop": 3, "overnight": 5, "paper": 5}
"""Laptop trains some of the models that overnight trains, so that their rows are the same: every
other λ, of three repetitions."""

UNTIL_IT_ENDS = ("c", "d")
"""Panels of real data on which a cap of 300 rounds ended most trainings: on Covertype 78 % of deep
CEGB's and all of Greedy Miser's."""

UNTIL_IT_ENDS_ROUNDS, UNTIL_IT_ENDS_PATIENCE = 4000, PATIENCE["paper"]
"""Of these panels at all scales but smoke. Accuracy rises slowly and for long: on the repetition
that was timed, Greedy Miser on Covertype ended with a patience of 50 after 1,458 rounds at λ = 0
and after 406 at λ = 3e-4; with 100, after 2,518 at λ = 0."""

FIRST_SEED = 15
"""Repetitions 0 to 9 have been published: 0 to 4 with the grids criticised, 5 to 9 with 150 rounds
and without what ends a training. Of 10 some cells were timed, and their scores seen."""

UNTIL_IT_ENDS_FIRST_SEED = 20
"""Of panels c and d 15 to 19 have been published, too, with at most 300 rounds."""


RIVALS = ("budget_prune", "budget_forest")
OF_THE_RIVALS = ("b", "b'", "c", "d")
"""Methods that the paper itself takes from others, and the panels in which it has them."""

IMPURITIES = (("entropy", 0.05), ("pairs", 15), ("entropy", 0.3), ("pairs", 4))
"""Impurities of BudgetPrune and BudgetRF with their thresholds; smoke scale has the first two.

The rivals' papers do not say theirs; both impurities are their program's.
"""

TREES = {"priced": 140, "uniform": 40}
"""Trees of a forest: those of BudgetPrune's paper, on Yahoo! LTR and on the UCI sets."""

_SMOKE_TREES = 6


def tradeoffs(scale: str, panel: Panel, method: str) -> tuple[float, ...]:
    """Return a method's λ on a panel."""
    if method == "gbrt":
        return (0.0,)
    grid = TRADEOFFS[panel.prices, method in FIRST_ORDER]
    if scale == "smoke":
        return grid[0], grid[len(grid) // 2]
    thinned = scale == "laptop" or (scale == "overnight" and panel.key in THINNED)
    return grid[::2] if thinned else grid


def repetitions(scale: str, panel: Panel, seeds: range) -> range:
    """Return the repetitions of a panel; at laptop scale one where few have the data."""
    return seeds[:1] if panel.key in THINNED and scale == "laptop" else seeds


def cells_of(
    scale: str, panel: Panel, method: str, seed: int, values: tuple[float, ...]
) -> list[Cell]:
    """Return the cells of a method's models on one repetition of a panel, one for each λ."""
    dataset = panel.smoke_dataset if scale == "smoke" else panel.dataset
    if dataset is None:
        return []
    rounds, patience = _ending(scale, panel)
    options = settings(scale, panel, method) | {"n_estimators": rounds, "patience": patience}
    if method != "gbrt":
        options["goes_on"] = True
    if panel.relevant_from is not None:
        options |= {"metric": "average_precision", "divided": False}
    return [
        Cell(
            dataset,
            method,
            {"panel": panel.key, "tradeoff": tradeoff, "settings": options},
            _first_seed(panel) + seed,
        )
        for tradeoff in values
    ]


def _first_seed(panel: Panel) -> int:
    return UNTIL_IT_ENDS_FIRST_SEED if panel.key in UNTIL_IT_ENDS else FIRST_SEED


def without_rivals(cell: Cell) -> bool:
    """Whether a cell is of a method that claims are about."""
    return cell.algorithm not in RIVALS


def forest_cells(scale: str, panel: Panel, method: str, seed: int) -> list[Cell]:
    """Return the cells of a rival's models on one repetition of a panel, one for each impurity.

    Their ``tradeoff`` is the threshold of the impurity, which they have in the place of λ.
    """
    smoke = scale == "smoke"
    dataset = panel.smoke_dataset if smoke else panel.dataset
    if dataset is None or panel.key not in OF_THE_RIVALS:
        return []
    return [
        Cell(
            dataset,
            method,
            {
                "panel": panel.key,
                "tradeoff": threshold,
                "impurity": impurity,
                "n_trees": _SMOKE_TREES if smoke else TREES[panel.prices],
                "settings": {"relevant_from": panel.relevant_from},
            },
            _first_seed(panel) + seed,
        )
        for impurity, threshold in (IMPURITIES[:2] if smoke else IMPURITIES)
    ]


def _ending(scale: str, panel: Panel) -> tuple[int, int]:
    """Return the most rounds of a training, and its patience."""
    if panel.key in UNTIL_IT_ENDS and scale != "smoke":
        return UNTIL_IT_ENDS_ROUNDS, UNTIL_IT_ENDS_PATIENCE
    thinned = panel.key in THINNED and scale in ("laptop", "overnight")
    return THINNED_ROUNDS if thinned else ROUNDS[scale], PATIENCE[scale]
