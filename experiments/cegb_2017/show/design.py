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

THINNED_ROUNDS = {"laptop": 60, "overnight": 60}
"""Most rounds in these panels; overnight they have every other λ, as all panels at laptop scale."""

REPETITIONS = {"smoke": 2, "laptop": 3, "overnight": 5, "paper": 5}
"""Laptop trains some of the models that overnight trains, so that their rows are the same: every
other λ, of three repetitions."""

FIRST_SEED = 15
"""Repetitions 0 to 9 have been published: 0 to 4 with the grids criticised, 5 to 9 with 150 rounds
and without what ends a training. Of 10 some cells were timed, and their scores seen."""


def tradeoffs(scale: str, panel: Panel, method: str) -> tuple[float, ...]:
    """Return a method's λ on a panel.

    Parameters
    ----------
    scale : str
        At smoke scale the first and the middle one.
    panel : Panel
        Its prices choose the grid; see :data:`THINNED_ROUNDS`.
    method : str
        Plain boosting has λ = 0 alone.
    """
    if method == "gbrt":
        return (0.0,)
    grid = TRADEOFFS[panel.prices, method in FIRST_ORDER]
    if scale == "smoke":
        return grid[0], grid[len(grid) // 2]
    thinned = scale == "laptop" or (scale == "overnight" and panel.key in THINNED)
    return grid[::2] if thinned else grid


def repetitions(scale: str, panel: Panel, seeds: range) -> range:
    """Return the repetitions of a panel; at laptop scale one where a stand-in must be expected."""
    return seeds[:1] if panel.key in THINNED and scale == "laptop" else seeds


def cells_of(
    scale: str, panel: Panel, method: str, seed: int, values: tuple[float, ...]
) -> list[Cell]:
    """Return the cells of a method's models on one repetition of a panel, one for each λ.

    Parameters
    ----------
    scale : str
    panel : Panel
    method : str
        All but plain boosting split on at a negative net gain.
    seed : int
        Repetition, from 0; counted from :data:`FIRST_SEED` on.
    values : tuple of float
        λ.
    """
    dataset = panel.smoke_dataset if scale == "smoke" else panel.dataset
    if dataset is None:
        return []
    rounds = THINNED_ROUNDS if panel.key in THINNED else ROUNDS
    options = settings(scale, panel, method) | {
        "n_estimators": rounds.get(scale, ROUNDS[scale]),
        "patience": PATIENCE[scale],
    }
    if method != "gbrt":
        options["goes_on"] = True
    return [
        Cell(
            dataset,
            method,
            {"panel": panel.key, "tradeoff": tradeoff, "settings": options},
            FIRST_SEED + seed,
        )
        for tradeoff in values
    ]
